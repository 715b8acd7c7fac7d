"""Who claims an id: the self-signed key ops of a lane (federation wire 2.4)."""

import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from crypto.key_claims import MAX_KEY_CLAIMS, Claim, key_claims
from crypto.op import Op, to_line
from tests.crypto.publisher import ADA, BOB, Publisher, lines

CROWD = sorted((Publisher(fill=n) for n in range(1, 10)), key=lambda each: each.key.fingerprint)
KEY_OPS = lines([each.key_op() for each in CROWD])


def fingerprints(claims: Iterable[Claim]) -> list[str]:
    return [claim.fingerprint for claim in claims]


def chain_of(each: Publisher, *types: str, action: str = "found") -> list[Op]:
    ops = [each.key_op()]
    for type_ in types:
        ops.append(each.sign(ops[-1], type_, {"rv": 1, "action": action}))
    return ops


@given(st.permutations([*KEY_OPS, KEY_OPS[0], b"junk"]))
def test_k4_the_first_four_claims_are_kept_by_fingerprint(found: list[bytes]) -> None:
    claims = key_claims(ADA, found)
    assert fingerprints(claims) == [each.key.fingerprint for each in CROWD[:MAX_KEY_CLAIMS]]
    assert [to_line(claim.op) for claim in claims] == KEY_OPS[:MAX_KEY_CLAIMS]
    assert {claim.roster_op for claim in claims} == {None}


def test_a_claim_that_an_admission_names_is_kept_beyond_the_four() -> None:
    named = CROWD[7].key.fingerprint
    assert fingerprints(key_claims(ADA, KEY_OPS, named=[named]))[-1] == named


def test_a_claim_whose_chain_founds_or_recovers_is_kept_beyond_the_four() -> None:
    for action, kept in (("found", 5), ("recover", 5), ("admit", 4)):
        found = [*KEY_OPS, *lines(chain_of(CROWD[8], "presence", "roster", action=action))]
        assert len(key_claims(ADA, found)) == kept


def test_a_claimed_chain_is_read_up_to_its_first_roster_op_within_eight_ops() -> None:
    each = CROWD[0]
    ops = chain_of(each, *["presence"] * 6, "roster", "roster")
    (claim,) = key_claims(ADA, reversed(lines(ops)))
    assert claim.roster_op == ops[7]
    (claim,) = key_claims(ADA, lines(chain_of(each, *["presence"] * 7, "roster")))
    assert claim.roster_op is None


def test_only_what_the_claimed_key_signed_is_a_claim() -> None:
    each, other = CROWD[0], CROWD[1]
    stolen = other.sign(None, "key", each.key.to_json())
    damaged = json.dumps(json.loads(KEY_OPS[0]) | {"body": {}}).encode()
    late = each.sign(None, "key", each.key.to_json(), prev="1" * 64)
    unlabelled = each.key_op(device="")
    elsewhere = to_line(Publisher(BOB).key_op())
    assert key_claims(ADA, [*lines([stolen, late, unlabelled]), damaged, elsewhere]) == []


def test_a_forged_copy_cannot_hide_the_key_op_it_copies() -> None:
    each, other = CROWD[0], CROWD[1]
    forged = [to_line(other.sign(None, "key", each.key.to_json(), seq=n)) for n in range(1, 20)]
    assert [to_line(claim.op) for claim in key_claims(ADA, [*forged, KEY_OPS[0]])] == [KEY_OPS[0]]


def test_of_two_key_ops_with_one_key_the_smaller_hash_is_the_claim() -> None:
    each = CROWD[0]
    two = sorted([each.key_op(), each.key_op(device="laptop")], key=lambda op: op.hash)
    for found in (lines(two), lines(two[::-1])):
        assert [claim.op for claim in key_claims(ADA, found)] == two[:1]
