"""did:key of Ed25519: one name for each key, and nothing else is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings.machine_envelope.did_key import read_did, write_did
from core.errors import DmpError
from crypto.ed25519 import SMALL_ORDER_KEYS

KNOWN = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
"""An example of the did:key method's own description."""

KNOWN_KEY = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"


def test_a_known_key_has_its_known_name() -> None:
    assert read_did(KNOWN).hex() == KNOWN_KEY
    assert write_did(bytes.fromhex(KNOWN_KEY)) == KNOWN


@given(st.binary(min_size=32, max_size=32).filter(lambda key: key not in SMALL_ORDER_KEYS))
def test_what_is_written_is_read_again(key: bytes) -> None:
    assert read_did(write_did(key)) == key


@given(st.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", min_size=40, max_size=50))
def test_a_key_has_one_name(digits: str) -> None:
    for text in (f"did:key:z{digits}", f"did:key:z6Mk{digits[:44]}"):
        try:
            found = read_did(text)
        except DmpError:
            continue
        assert write_did(found) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "did:key:",
        KNOWN.removeprefix("did:key:"),
        KNOWN.upper(),
        KNOWN + "1",
        KNOWN[:-1],
        KNOWN[:-1] + "0",
        KNOWN[:-1] + "é",
        KNOWN + "#" + KNOWN.removeprefix("did:key:"),
        "did:key:z1" + KNOWN.removeprefix("did:key:z"),
        "did:web:example.org",
        "did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc",  # X25519
        "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",  # secp256k1
        "did:key:z" + "z" * 47,
    ],
)
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(DmpError, match="did:key") as refusal:
        read_did(text, "issuer")
    assert refusal.value.field == "issuer"


@pytest.mark.parametrize("key", sorted(SMALL_ORDER_KEYS))
def test_a_key_of_small_order_names_nobody(key: bytes) -> None:
    with pytest.raises(DmpError, match="anybody"):
        read_did(write_did(key))


def test_only_a_whole_key_is_written() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        write_did(b"\x01" * 31)
