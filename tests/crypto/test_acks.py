"""Acknowledgements are believed only as their replica signed them (federation wire 6.10)."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.acks import MAX_ACKS_BYTES, Acks, AcksError, read_acks, sign_acks
from crypto.canonical import canonical
from crypto.ed25519 import SigningKey
from crypto.encoding import b64u

ADA = "ada-0000000a"
KEY = SigningKey.from_seed(bytes(range(32)))
ACKS = Acks(ADA, {"bob-0000000b": 12, ADA: 3}, "2026-11-30T09:00:00.000Z")
RAW = sign_acks(ACKS, KEY)


def changed(**members: object) -> bytes:
    return json.dumps({**json.loads(RAW), **members}).encode()


def signed(**members: object) -> bytes:
    said = {name: value for name, value in {**json.loads(RAW), **members}.items() if name != "sig"}
    return json.dumps({**said, "sig": b64u(KEY.sign(b"dispatch-ack-v1\n" + canonical(said)))}).encode()


def refused(raw: bytes, replica: str = ADA, public: bytes = KEY.public) -> bool:
    try:
        read_acks(raw, replica=replica, public=public)
    except AcksError:
        return True
    return False


@given(st.dictionaries(st.text(max_size=20), st.integers(0, 2**53 - 1), max_size=5))
@settings(max_examples=30)
def test_signed_acknowledgements_are_read_back(through: dict[str, int]) -> None:
    said = Acks(ADA, through, "now")
    assert read_acks(sign_acks(said, KEY), replica=ADA, public=KEY.public) == said


def test_the_order_of_members_and_white_space_mean_nothing() -> None:
    spread = json.dumps(dict(reversed(json.loads(RAW).items())), indent=2).encode()
    assert read_acks(spread, replica=ADA, public=KEY.public) == ACKS


def test_members_that_are_not_known_are_signed_too() -> None:
    assert read_acks(signed(more=[1]), replica=ADA, public=KEY.public) == ACKS
    assert refused(changed(more=[1]))


@pytest.mark.parametrize(
    "raw",
    [
        changed(through={"bob-0000000b": 13}),
        changed(at="later"),
        changed(sig=b64u(bytes(64))),
        changed(sig=json.loads(RAW)["sig"] + "="),
        changed(sig=None),
        b"[]",
        b"{",
        b"",
    ],
)
def test_any_change_is_refused(raw: bytes) -> None:
    assert refused(raw)


@pytest.mark.parametrize(
    "raw",
    [
        signed(through={"bob-0000000b": -1}),
        signed(through={"bob-0000000b": 2**53}),
        signed(through={"bob-0000000b": True}),
        signed(through={"bob-0000000b": 1.5}),
        signed(through=[1]),
        signed(v=2),
        signed(v=True),
        signed(at=7),
    ],
)
def test_what_is_signed_but_not_acknowledgements_is_refused(raw: bytes) -> None:
    assert refused(raw)


def test_acknowledgements_in_the_folder_of_another_replica_are_refused() -> None:
    assert refused(RAW, replica="bob-0000000b")


def test_acknowledgements_under_another_key_are_refused() -> None:
    assert refused(RAW, public=SigningKey.from_seed(bytes(32)).public)


def test_a_file_over_one_mebibyte_is_refused() -> None:
    assert not refused(RAW + b" " * (MAX_ACKS_BYTES - len(RAW)))
    assert refused(RAW + b" " * (MAX_ACKS_BYTES - len(RAW) + 1))
