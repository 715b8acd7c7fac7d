"""Invite and recovery codes, and the proofs made with them (federation wire 4.4 and 4.6)."""

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.ed25519 import SMALL_ORDER_KEYS
from crypto.encoding import b64u
from crypto.invites import (
    CodeError,
    InviteCode,
    invite_id,
    invite_proof,
    public_of,
    recovery_code,
    recovery_proof,
    recovery_seed,
    verify_invite,
    verify_recovery,
)

TEAM = "0123456789abcdef" * 2
SEED = bytes(range(32))
PUB = public_of(SEED)
BOB = "bob-0000000b"
SIGN_PUB = b64u(bytes(range(32)))
SEED_TEXT = "000G40R40M30E209185GR38E1W8124GK2GAHC5RR34D1P70X3RFG"

seeds = st.binary(min_size=32, max_size=32)


def test_an_invite_code_has_four_parts() -> None:
    assert InviteCode(TEAM, SEED).encode() == f"di1.{TEAM}.{SEED_TEXT}."
    with_relay = InviteCode(TEAM, SEED, "wss://relay.example").encode()
    assert with_relay == f"di1.{TEAM}.{SEED_TEXT}.d3NzOi8vcmVsYXkuZXhhbXBsZQ"


@given(seeds, st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_invite_code_reads_back(seed: bytes, relay: str | None) -> None:
    code = InviteCode(TEAM, seed, relay)
    assert InviteCode.decode(code.encode()) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"di1.{TEAM}.{SEED_TEXT}",
        f"di1.{TEAM}.{SEED_TEXT}..",
        f"di2.{TEAM}.{SEED_TEXT}.",
        f"DI1.{TEAM}.{SEED_TEXT}.",
        f"di1.{TEAM.upper()}.{SEED_TEXT}.",
        f"di1.{TEAM[:-1]}.{SEED_TEXT}.",
        f"di1.{TEAM}.{SEED_TEXT.lower()}.",
        f"di1.{TEAM}.{SEED_TEXT[:-1]}.",
        f"di1.{TEAM}.{SEED_TEXT[:-1]}H.",
        f"di1.{TEAM}.O{SEED_TEXT[1:]}.",
        f"di1.{TEAM}.{SEED_TEXT}.\n",
        f"di1.{TEAM}.{SEED_TEXT}.d3M=",
        f"di1.{TEAM}.{SEED_TEXT}.d3N",
        f"di1.{TEAM}.{SEED_TEXT}._w",
    ],
)
def test_p6_an_invite_code_with_another_spelling_is_refused(text: str) -> None:
    with pytest.raises(CodeError):
        InviteCode.decode(text)


def test_an_invite_code_does_not_show_its_seed() -> None:
    assert "seed" not in repr(InviteCode(TEAM, SEED))


def test_an_invite_is_named_by_the_hash_of_its_public_keys_text() -> None:
    assert invite_id(PUB) == hashlib.sha256(PUB.encode()).hexdigest()[:16]


def test_a_recovery_code_is_thirteen_groups_of_four() -> None:
    code = recovery_code(SEED)
    assert [len(group) for group in code.split("-")] == [4] * 13
    assert code.replace("-", "") == SEED_TEXT


@given(seeds)
def test_a_recovery_code_is_read_in_either_case_with_dashes_anywhere(seed: bytes) -> None:
    code = recovery_code(seed)
    bare = code.replace("-", "").lower()
    for typed in (code, code.lower(), bare, f"-{bare[:5]}--{bare[5:]}-"):
        assert recovery_seed(typed) == seed


@pytest.mark.parametrize(
    "code",
    [
        "",
        SEED_TEXT[:-1],
        SEED_TEXT + "0",
        SEED_TEXT[:-1] + "H",
        "U" + SEED_TEXT[1:],
        "\u017f" + SEED_TEXT[1:],
    ],
    ids=["empty", "short", "long", "set spare bit", "no such letter", "long s"],
)
def test_p5_a_damaged_recovery_code_is_refused(code: str) -> None:
    with pytest.raises(CodeError):
        recovery_seed(code)


Prove = Callable[..., str]
Verify = Callable[..., bool]
KINDS: list[tuple[Prove, Verify]] = [(invite_proof, verify_invite), (recovery_proof, verify_recovery)]


@pytest.mark.parametrize(("prove", "verify"), KINDS, ids=["invite", "recovery"])
def test_a_proof_holds_for_its_team_replica_and_key_alone(prove: Prove, verify: Verify) -> None:
    about = {"team": TEAM, "replica": BOB, "sign_pub": SIGN_PUB}
    proof = prove(SEED, **about)
    assert verify(PUB, proof, **about)
    for changed in ({"team": TEAM[::-1]}, {"replica": "eve-0000000e"}, {"sign_pub": b64u(bytes(32))}):
        assert not verify(PUB, proof, **{**about, **changed})
    assert not verify(public_of(bytes(32)), proof, **about)


def test_a_proof_of_one_kind_is_none_of_the_other() -> None:
    proof = invite_proof(SEED, team=TEAM, replica=BOB, sign_pub=SIGN_PUB)
    assert not verify_recovery(PUB, proof, team=TEAM, replica=BOB, sign_pub=SIGN_PUB)


@pytest.mark.parametrize("proof", ["", "AAAA", "=", "é", b64u(bytes(64))])
def test_a_malformed_proof_proves_nothing(proof: str) -> None:
    assert not verify_invite(PUB, proof, team=TEAM, replica=BOB, sign_pub=SIGN_PUB)


@pytest.mark.parametrize("pub", ["", "AAAA", PUB + "=", *map(b64u, sorted(SMALL_ORDER_KEYS))])
def test_a_malformed_or_small_order_invite_key_proves_nothing(pub: str) -> None:
    forged = b64u((1).to_bytes(32, "little") + bytes(32))
    assert not verify_invite(pub, forged, team=TEAM, replica=BOB, sign_pub=SIGN_PUB)
