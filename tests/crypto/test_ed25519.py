"""Every replica accepts the same signatures (section F.1; threat K1)."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.ed25519 import (
    SMALL_ORDER_KEYS,
    Acceptance,
    SigningKey,
    libsodium_accepts,
    openssl_accepts,
    verify,
)
from tests.crypto import edwards
from tests.crypto.rfc8032 import CASES, Case

SEED = bytes(range(32))
MESSAGE = b"dispatch-op-v2\n{}"

ORDER_8 = edwards.point("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
TORSION = [edwards.multiply(factor, ORDER_8) for factor in range(8)]

# What a signer of mixed order makes: its private scalar, and the scalar behind its commitment.
PRIVATE, NONCE = 0x1234567, 0x7654321


def mixed_order_signature(
    key_torsion: edwards.Point, commitment_torsion: edwards.Point
) -> tuple[bytes, bytes]:
    """A public key and a signature that verify once both sides are multiplied by 8."""
    public = edwards.encode(edwards.add(edwards.multiply(PRIVATE, edwards.BASE), key_torsion))
    commitment = edwards.encode(edwards.add(edwards.multiply(NONCE, edwards.BASE), commitment_torsion))
    s = (NONCE + edwards.hash_scalar(commitment, public, MESSAGE) * PRIVATE) % edwards.ORDER
    return public, commitment + s.to_bytes(32, "little")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_rfc_8032_signatures_are_made_and_accepted(case: Case) -> None:
    key = SigningKey.from_seed(case.seed)
    assert key.public == case.public
    assert key.sign(case.message) == case.signature
    assert verify(case.public, case.message, case.signature)
    assert not verify(case.public, case.message + b"!", case.signature)


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=100))
def test_what_is_signed_verifies(seed: bytes, message: bytes) -> None:
    key = SigningKey.from_seed(seed)
    assert verify(key.public, message, key.sign(message))


@given(st.integers(0, 64 * 8 - 1))
def test_any_changed_bit_of_a_signature_is_refused(bit: int) -> None:
    key = SigningKey.from_seed(SEED)
    signature = bytearray(key.sign(MESSAGE))
    signature[bit // 8] ^= 1 << bit % 8
    assert not verify(key.public, MESSAGE, bytes(signature))


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        SigningKey.from_seed(bytes(length))


def test_a_signing_key_does_not_show_its_seed() -> None:
    assert "seed" not in repr(SigningKey.from_seed(SEED))


@pytest.mark.parametrize("length", [0, 63, 65, 128])
def test_a_signature_of_another_length_is_refused(length: int) -> None:
    key = SigningKey.from_seed(SEED)
    assert not verify(key.public, MESSAGE, (key.sign(MESSAGE) * 2)[:length])


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_public_key_of_another_length_is_refused(length: int) -> None:
    key = SigningKey.from_seed(SEED)
    assert not verify((key.public * 2)[:length], MESSAGE, key.sign(MESSAGE))


def test_k1_the_small_order_keys_are_all_the_encodings_of_the_eight_points() -> None:
    heights = {point.y for point in TORSION}
    assert len(set(TORSION)) == 8
    assert edwards.multiply(8, ORDER_8) == edwards.NEUTRAL
    encodings = {
        (y | sign << 255).to_bytes(32, "little")
        for height in heights
        for y in (height, height + edwards.P)
        if y < 2**255
        for sign in (0, 1)
    }
    assert encodings == SMALL_ORDER_KEYS
    assert len(SMALL_ORDER_KEYS) == 14


def test_k1_a_small_order_key_accepts_nothing() -> None:
    # With S of zero and a neutral commitment, one message in eight or fewer needs no private key.
    forged = edwards.encode(edwards.NEUTRAL) + bytes(32)
    for public in SMALL_ORDER_KEYS:
        message = next(m for m in map(str.encode, map(str, range(200))) if openssl_accepts(public, m, forged))
        assert not verify(public, message, forged)


def test_k1_mixed_order_signatures_are_accepted_exactly_where_the_plain_equation_holds() -> None:
    accepted = 0
    for key_torsion in TORSION:
        for commitment_torsion in TORSION:
            public, signature = mixed_order_signature(key_torsion, commitment_torsion)
            k = edwards.hash_scalar(signature[:32], public, MESSAGE)
            holds = edwards.add(commitment_torsion, edwards.multiply(k % 8, key_torsion)) == edwards.NEUTRAL
            assert verify(public, MESSAGE, signature) is holds
            accepted += holds
    assert 0 < accepted < 64


@pytest.mark.parametrize("times", [1, 2, 14])
def test_k1_s_at_or_above_the_group_order_is_refused(times: int) -> None:
    key = SigningKey.from_seed(SEED)
    signature = key.sign(MESSAGE)
    s = int.from_bytes(signature[32:], "little") + times * edwards.ORDER
    assert not verify(key.public, MESSAGE, signature[:32] + s.to_bytes(32, "little"))


def test_k1_this_libsodium_gives_the_known_answers() -> None:
    assert Acceptance(libsodium_accepts, openssl_accepts).quick_is_trusted


def test_k1_a_library_that_accepts_mixed_orders_is_not_believed() -> None:
    public, signature = mixed_order_signature(ORDER_8, edwards.NEUTRAL)
    assert edwards.cofactored_accepts(public, MESSAGE, signature)
    upgraded = Acceptance(edwards.cofactored_accepts, openssl_accepts)
    assert not upgraded.quick_is_trusted
    assert not upgraded.verify(public, MESSAGE, signature)
    honest = SigningKey.from_seed(SEED)
    assert upgraded.verify(honest.public, MESSAGE, honest.sign(MESSAGE))


def test_k1_a_library_that_accepts_a_large_s_is_not_believed() -> None:
    def lenient(public: bytes, message: bytes, signature: bytes) -> bool:
        s = int.from_bytes(signature[32:], "little") % edwards.ORDER
        return libsodium_accepts(public, message, signature[:32] + s.to_bytes(32, "little"))

    assert not Acceptance(lenient, openssl_accepts).quick_is_trusted


def test_k1_after_a_surprise_the_library_is_not_asked_again() -> None:
    asked: list[bytes] = []

    def says_yes(public: bytes, message: bytes, signature: bytes) -> bool:
        asked.append(signature)
        return True

    rule = Acceptance(says_yes, openssl_accepts)
    key = SigningKey.from_seed(SEED)
    assert rule.verify(key.public, MESSAGE, key.sign(MESSAGE))
    known_answers = len(asked)
    assert rule.verify(key.public, MESSAGE, key.sign(MESSAGE))
    assert len(asked) == known_answers


def test_k1_a_library_that_refuses_everything_costs_no_signature() -> None:
    rule = Acceptance(lambda *_: False, openssl_accepts)
    key = SigningKey.from_seed(SEED)
    assert rule.verify(key.public, MESSAGE, key.sign(MESSAGE))


def test_every_wycheproof_case_is_answered_as_expected(public_vectors: Path) -> None:
    suite = json.loads((public_vectors / "crypto-vectors" / "wycheproof-ed25519.json").read_text())
    run = 0
    for group in suite["testGroups"]:
        public = bytes.fromhex(group["publicKey"]["pk"])
        for case in group["tests"]:
            accepted = verify(public, bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
            assert accepted is (case["result"] == "valid"), case
            run += 1
    assert run == suite["numberOfTests"] == 151


def test_speccheck_cases_2_and_3_are_accepted_and_the_other_ten_refused(public_vectors: Path) -> None:
    cases = json.loads((public_vectors / "crypto-vectors" / "ed25519-speccheck.json").read_text())
    accepted = [
        number
        for number, case in enumerate(cases)
        if verify(*(bytes.fromhex(case[name]) for name in ("pub_key", "message", "signature")))
    ]
    assert len(cases) == 12
    assert accepted == [2, 3]
