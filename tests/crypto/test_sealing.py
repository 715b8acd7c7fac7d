"""Only the recipients of an op can read it, and only in that op (section F.3)."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.bindings._rust import openssl
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from hypothesis import given, settings
from hypothesis import strategies as st
from pyhpke import KEMKey, KEMKeyPair

from crypto.canonical import JsonError, JsonValue, canonical
from crypto.encoding import b64u, sha256_hex, unb64u
from crypto.sealing import (
    MAX_RECIPIENTS,
    KeyWrap,
    SealError,
    can_seal_to,
    hpke_wrap,
    open_sealed,
    open_with_key,
    seal,
    unwrap_key,
)
from tests.crypto.pyhpke_wrap import SUITE, FixedEphemerals, unwrap

ADA, BOB, EVE = "ada-0000000a", "bob-0000000b", "eve-0000000e"
LOW_ORDER = bytes(32)


def private_of(number: int) -> bytes:
    return bytes([number]) * 32


def public_of(private: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


BOB_PRIVATE, EVE_PRIVATE = private_of(1), private_of(2)
RECIPIENTS = {EVE: public_of(EVE_PRIVATE), BOB: public_of(BOB_PRIVATE)}
PAYLOAD: JsonValue = {"message": {"id": "m-1", "body": "Ship it?"}, "targets": []}


def counting() -> Callable[[int], bytes]:
    numbers = count(1)
    return lambda size: bytes([next(numbers)]) * size


def fixed_wrap() -> FixedEphemerals:
    numbers = count(100)
    return FixedEphemerals(lambda: private_of(next(numbers)))


def sealed_by(wrap: KeyWrap = hpke_wrap, payload: JsonValue = PAYLOAD) -> dict[str, Any]:
    return seal(payload, replica=ADA, seq=7, type="mail", recipients=RECIPIENTS, random=counting(), wrap=wrap)


def opened(sealed: Any, **changed: Any) -> JsonValue:
    where: dict[str, Any] = {
        "replica": ADA,
        "seq": 7,
        "type": "mail",
        "me": BOB,
        "private": BOB_PRIVATE,
        **changed,
    }
    return open_sealed(sealed, **where)


def test_every_recipient_reads_what_was_sealed() -> None:
    sealed = sealed_by()
    assert opened(sealed) == opened(sealed, me=EVE, private=EVE_PRIVATE) == PAYLOAD


def test_a_seal_has_the_shape_of_the_wire_with_its_recipients_sorted() -> None:
    sealed = sealed_by()
    assert list(sealed) == ["nonce", "ct", "keys"]
    assert list(sealed["keys"]) == [BOB, EVE]
    assert len(unb64u(sealed["nonce"])) == 12
    assert len(unb64u(sealed["ct"])) == len(canonical(PAYLOAD)) + 16
    assert {len(unb64u(key["enc"])) for key in sealed["keys"].values()} == {32}
    assert {len(unb64u(key["ct"])) for key in sealed["keys"].values()} == {48}


@pytest.mark.parametrize("wrap", [hpke_wrap, fixed_wrap()], ids=["cryptography", "pyhpke"])
def test_either_implementation_opens_what_the_other_sealed(wrap: KeyWrap) -> None:
    sealed = sealed_by(wrap)
    key = sealed["keys"][BOB]
    info = f"dispatch-sealed-v1\n{ADA}\n7\nmail\n{BOB}".encode()
    content_key = unwrap(unb64u(key["enc"]), unb64u(key["ct"]), private=BOB_PRIVATE, info=info)
    assert content_key == bytes([1]) * 32
    assert unwrap_key(sealed, replica=ADA, seq=7, type="mail", me=BOB, private=BOB_PRIVATE) == content_key
    assert opened(sealed) == PAYLOAD


def test_given_the_randomness_a_seal_has_fixed_bytes() -> None:
    sealed = sealed_by(fixed_wrap())
    assert sealed == sealed_by(fixed_wrap())
    assert sealed["nonce"] == b64u(bytes([2]) * 12)
    assert unb64u(sealed["keys"][BOB]["enc"]) == public_of(private_of(100))
    assert unb64u(sealed["keys"][EVE]["enc"]) == public_of(private_of(101))
    assert sha256_hex(canonical(sealed)) == "8eea6582bb90cdabcef9688a7216f9215f4f83bd1e6a56f6154d4b5faf3a20f5"


def test_production_seals_never_share_an_ephemeral_key() -> None:
    sealed = [sealed_by(), sealed_by()]
    assert len({key["enc"] for one in sealed for key in one["keys"].values()}) == 4


@pytest.mark.parametrize(
    "moved", [{"replica": EVE}, {"seq": 8}, {"type": "state"}, {"me": EVE}, {"private": EVE_PRIVATE}]
)
def test_a_seal_moved_to_another_op_or_reader_does_not_open(moved: dict[str, Any]) -> None:
    with pytest.raises(SealError):
        opened(sealed_by(), **moved)


@pytest.mark.parametrize("moved", [{"replica": EVE}, {"seq": 8}, {"type": "state"}])
def test_a_ciphertext_moved_to_another_op_does_not_open_even_with_its_key(moved: dict[str, Any]) -> None:
    where: dict[str, Any] = {"replica": ADA, "seq": 7, "type": "mail", **moved}
    with pytest.raises(SealError):
        open_with_key(sealed_by(), bytes([1]) * 32, **where)


def test_the_content_key_alone_opens_a_forwarded_original() -> None:
    assert open_with_key(sealed_by(), bytes([1]) * 32, replica=ADA, seq=7, type="mail") == PAYLOAD


@pytest.mark.parametrize("content_key", [b"", bytes(16), bytes(31), bytes(32)])
def test_a_wrong_content_key_does_not_open(content_key: bytes) -> None:
    with pytest.raises(SealError):
        open_with_key(sealed_by(), content_key, replica=ADA, seq=7, type="mail")


@settings(max_examples=30)
@given(st.data())
def test_any_changed_bit_does_not_open(data: st.DataObject) -> None:
    sealed = sealed_by()
    holder, name = data.draw(
        st.sampled_from(
            [(sealed, "nonce"), (sealed, "ct"), (sealed["keys"][BOB], "enc"), (sealed["keys"][BOB], "ct")]
        )
    )
    raw = bytearray(unb64u(holder[name]))
    bit = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[bit // 8] ^= 1 << bit % 8
    holder[name] = b64u(bytes(raw))
    with pytest.raises(SealError):
        opened(sealed)


def test_the_bit_of_an_ephemeral_key_that_x25519_ignores_is_bound_by_the_key_schedule() -> None:
    sealed = sealed_by()
    raw = bytearray(unb64u(sealed["keys"][BOB]["enc"]))
    raw[31] ^= 0x80
    sealed["keys"][BOB]["enc"] = b64u(bytes(raw))
    with pytest.raises(SealError):
        opened(sealed)


def damaged() -> dict[str, Callable[[dict[str, Any]], Any]]:
    return {
        "not an object": lambda sealed: None,
        "a list": lambda sealed: [sealed],
        "no keys": lambda sealed: {**sealed, "keys": None},
        "not a recipient": lambda sealed: {**sealed, "keys": {EVE: sealed["keys"][EVE]}},
        "a key that is a string": lambda sealed: {**sealed, "keys": {BOB: "enc"}},
        "no enc": lambda sealed: {**sealed, "keys": {BOB: {"ct": sealed["keys"][BOB]["ct"]}}},
        "an enc that is a number": lambda sealed: {
            **sealed,
            "keys": {BOB: {**sealed["keys"][BOB], "enc": 1}},
        },
        "a low-order enc": lambda sealed: {
            **sealed,
            "keys": {BOB: {**sealed["keys"][BOB], "enc": b64u(LOW_ORDER)}},
        },
        "padded base64": lambda sealed: {**sealed, "nonce": sealed["nonce"] + "="},
        "a short nonce": lambda sealed: {**sealed, "nonce": b64u(bytes(8))},
        "no nonce": lambda sealed: {"ct": sealed["ct"], "keys": sealed["keys"]},
        "a ct without a tag": lambda sealed: {**sealed, "ct": "AAAA"},
        "a ct that is null": lambda sealed: {**sealed, "ct": None},
    }


@pytest.mark.parametrize("damage", damaged().values(), ids=damaged().keys())
def test_a_damaged_seal_is_a_seal_error(damage: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(SealError):
        opened(damage(sealed_by()))


def test_a_payload_need_not_be_canonical_but_must_be_json() -> None:
    def carrying(plaintext: bytes) -> dict[str, Any]:
        aad = f"dispatch-sealed-v1\n{ADA}\n7\nmail".encode()
        ciphertext = AESGCM(bytes([1]) * 32).encrypt(bytes([2]) * 12, plaintext, aad)
        return {**sealed_by(), "ct": b64u(ciphertext)}

    assert opened(carrying(b' {"b": 1.0, "a": "\\ud800"} ')) == {"b": 1, "a": "\ud800"}
    with pytest.raises(SealError, match="not JSON"):
        opened(carrying(b"not json"))


def test_a_payload_without_a_canonical_form_is_not_sealed() -> None:
    with pytest.raises(JsonError):
        sealed_by(payload={"body": "\ud800"})


@pytest.mark.parametrize("recipients", [0, MAX_RECIPIENTS + 1])
def test_an_op_is_sealed_to_1_to_256_recipients(recipients: int) -> None:
    public = public_of(BOB_PRIVATE)
    to = {f"r-{number:08x}": public for number in range(recipients)}
    with pytest.raises(SealError, match=f"{recipients} recipients"):
        seal(None, replica=ADA, seq=1, type="mail", recipients=to, random=counting())


def test_256_recipients_can_be_sealed_to() -> None:
    public = public_of(BOB_PRIVATE)
    to = {f"r-{number:08x}": public for number in range(MAX_RECIPIENTS)}
    sealed = seal(None, replica=ADA, seq=1, type="mail", recipients=to, random=counting())
    assert open_sealed(sealed, replica=ADA, seq=1, type="mail", me="r-000000ff", private=BOB_PRIVATE) is None


@pytest.mark.parametrize(
    "unfit", [LOW_ORDER, bytes(31), bytes([9]) + bytes(32)], ids=["low order", "short", "long"]
)
def test_a_recipient_whose_key_cannot_be_sealed_to_is_refused_by_name(unfit: bytes) -> None:
    assert not can_seal_to(unfit)
    with pytest.raises(SealError, match=EVE):
        seal(None, replica=ADA, seq=1, type="mail", recipients={**RECIPIENTS, EVE: unfit}, random=counting())


def test_wycheproof_agreements_hold_and_low_order_keys_are_refused(public_vectors: Path) -> None:
    suite = json.loads((public_vectors / "crypto-vectors" / "wycheproof-x25519.json").read_text())
    run = 0
    for group in suite["testGroups"]:
        for case in group["tests"]:
            public = bytes.fromhex(case["public"])
            shared = bytes.fromhex(case["shared"])
            fit = can_seal_to(public)
            assert fit is (shared != bytes(32)), case
            if fit:
                private = X25519PrivateKey.from_private_bytes(bytes.fromhex(case["private"]))
                assert private.exchange(X25519PublicKey.from_public_bytes(public)) == shared, case
            else:
                with pytest.raises(ValueError):
                    hpke_wrap(bytes(32), public=public, info=b"")
            run += 1
    assert run == suite["numberOfTests"] == 518


# RFC 9180 test vectors, mode 0 (base), KEM 0x0020, KDF 0x0001, AEAD 0x0002.
RFC_9180 = {
    "info": "4f6465206f6e2061204772656369616e2055726e",
    "skRm": "497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d",
    "pkRm": "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c",
    "skEm": "179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11",
    "enc": "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256",
    "pt": "4265617574792069732074727574682c20747275746820626561757479",
    "aad": "436f756e742d30",
    "ct": "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a",
}


def test_rfc_9180_is_reproduced_by_pyhpke_and_opened_by_cryptography() -> None:
    case = {name: bytes.fromhex(text) for name, text in RFC_9180.items()}
    recipient = X25519PrivateKey.from_private_bytes(case["skRm"])
    assert recipient.public_key().public_bytes_raw() == case["pkRm"]

    ephemeral = X25519PrivateKey.from_private_bytes(case["skEm"])
    pair = KEMKeyPair(*map(KEMKey.from_pyca_cryptography_key, (ephemeral, ephemeral.public_key())))
    reader = KEMKey.from_pyca_cryptography_key(recipient.public_key())
    enc, sender = SUITE.create_sender_context(reader, case["info"], eks=pair)
    assert (enc, sender.seal(case["pt"], case["aad"])) == (case["enc"], case["ct"])

    suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
    # The public interface takes no aad, which sealing leaves empty and the vectors do not.
    opened_text = openssl.hpke._decrypt_with_aad(
        suite, enc + case["ct"], recipient, info=case["info"], aad=case["aad"]
    )
    assert opened_text == case["pt"]
