"""Rival key claims, and which key is decided (federation wire 2.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from crypto.encoding import b64u
from crypto.keys import KeyBody
from crypto.roster import RosterOp, View, resolve
from crypto.roster.bodies import Admit, Body, Found, Role
from tests.crypto.roster.team import ADA, BOB, CY, DEE, admit, op, revoke


@dataclass(frozen=True, slots=True)
class StubClaim:
    key: KeyBody
    hash: str = "0" * 64


def claim(handle: str, number: int, hash: str = "0" * 64) -> StubClaim:
    return StubClaim(KeyBody(handle, "desk", "dmp", b64u(bytes([number]) * 32), b64u(b"s" * 32)), hash)


ADAS = claim("ada", 1)
BOBS, RIVAL, THIRD = claim("bob", 2), claim("bob", 3), claim("bob", 4)
FOUNDING = op(ADA, 2, 0, Found("Orchard", (), "x"), key=ADAS.key.fingerprint)
Claims = Mapping[str, Sequence[StubClaim]]


def by_ada(seq: int, at: int, body: Admit) -> RosterOp:
    return op(ADA, seq, at, body, key=ADAS.key.fingerprint)


def names(of: StubClaim, role: Role = Role.MEMBER) -> Admit:
    return admit(BOB, role, fingerprint=of.key.fingerprint)


def resolved(claims: Claims, *ops: RosterOp) -> tuple[View, Mapping[str, KeyBody]]:
    return resolve(FOUNDING.hash, claims, [FOUNDING, *ops])


def test_the_founders_key_is_the_one_that_signed_the_pinned_founding() -> None:
    for rivals in ([RIVAL, ADAS], [ADAS, RIVAL]):
        view, decided = resolved({ADA: rivals})
        assert decided == {ADA: ADAS.key}
        assert view.members[ADA].handle == "ada"


def test_an_id_that_one_key_claims_has_that_key_while_it_waits() -> None:
    view, decided = resolved({ADA: [ADAS], BOB: [BOBS]})
    assert decided[BOB] == BOBS.key
    assert view.pending == (BOB,)


def test_a_disputed_id_has_no_key_until_it_is_admitted() -> None:
    view, decided = resolved({ADA: [ADAS], BOB: [BOBS, RIVAL]})
    assert BOB not in decided
    assert view.pending == ()


def test_a_disputed_id_has_the_key_its_admission_names() -> None:
    for named in (BOBS, RIVAL):
        view, decided = resolved({ADA: [ADAS], BOB: [BOBS, RIVAL]}, by_ada(3, 1, names(named)))
        assert decided[BOB] == named.key
        assert view.members[BOB].fingerprint == named.key.fingerprint


def test_a_later_admission_that_names_another_fingerprint_is_void() -> None:
    view, decided = resolved(
        {ADA: [ADAS], BOB: [BOBS, RIVAL]}, by_ada(3, 1, names(BOBS)), by_ada(4, 2, names(RIVAL, Role.ADMIN))
    )
    assert decided[BOB] == BOBS.key
    assert not view.is_admin(BOB)


def test_an_admission_without_rights_decides_nothing() -> None:
    forged = op(DEE, 3, 1, names(RIVAL), key="FP-dee")
    _, decided = resolved({ADA: [ADAS], BOB: [BOBS, RIVAL]}, forged, by_ada(3, 2, names(BOBS)))
    assert decided[BOB] == BOBS.key


def test_a_voided_admission_decides_nothing() -> None:
    cys = claim("cy", 7)
    ops = [
        by_ada(3, 1, admit(CY, Role.ADMIN, fingerprint=cys.key.fingerprint)),
        op(CY, 6, 2, names(RIVAL), key=cys.key.fingerprint),
        by_ada(4, 3, names(BOBS)),
        op(ADA, 5, 4, revoke(CY, 5), key=ADAS.key.fingerprint),
    ]
    _, decided = resolved({ADA: [ADAS], BOB: [BOBS, RIVAL], CY: [cys]}, *ops)
    assert decided[BOB] == BOBS.key


def test_ops_of_a_chain_signed_by_another_key_than_the_decided_one_never_count() -> None:
    claims = {ADA: [ADAS], BOB: [BOBS, RIVAL], CY: [claim("cy", 7)]}
    cys = admit(CY, fingerprint=claims[CY][0].key.fingerprint)
    admission = by_ada(3, 1, names(BOBS, Role.ADMIN))
    by_rival = op(BOB, 2, 2, cys, key=RIVAL.key.fingerprint)
    view, _ = resolved(claims, admission, by_rival)
    assert not view.is_member(CY)
    by_bob = op(BOB, 2, 2, cys, key=BOBS.key.fingerprint)
    view, _ = resolved(claims, admission, by_rival, by_bob)
    assert view.is_member(CY)


def test_a_rival_chain_cannot_push_an_op_out_by_a_smaller_hash_at_its_seq() -> None:
    claims = {ADA: [ADAS], BOB: [BOBS, RIVAL], CY: [claim("cy", 7)]}
    admission = by_ada(3, 1, names(BOBS, Role.ADMIN))
    cys = admit(CY, fingerprint=claims[CY][0].key.fingerprint)
    genuine = replace(op(BOB, 2, 2, cys, key=BOBS.key.fingerprint), hash="f" * 64)
    rival = replace(op(BOB, 2, 2, revoke(CY, 0), key=RIVAL.key.fingerprint), hash="0" * 64)
    view, _ = resolved(claims, admission, genuine, rival)
    assert view.is_member(CY)


def test_a_rival_claim_that_comes_later_does_not_unmake_a_bound_key() -> None:
    admission = by_ada(3, 1, names(BOBS))
    alone, _ = resolved({ADA: [ADAS], BOB: [BOBS]}, admission)
    rivalled, decided = resolved({ADA: [ADAS], BOB: [RIVAL, BOBS, THIRD]}, admission)
    assert rivalled == alone
    assert decided[BOB] == BOBS.key


def test_of_two_key_ops_with_the_same_keys_the_smaller_hash_counts() -> None:
    one, other = claim("bob", 2, "1" * 64), claim("robert", 2, "2" * 64)
    for claims in ([one, other], [other, one]):
        _, decided = resolved({ADA: [ADAS], BOB: claims})
        assert decided[BOB].handle == "bob"


def test_a_revoked_replica_keeps_the_key_it_was_admitted_with() -> None:
    cut = op(ADA, 4, 2, revoke(BOB, 9), key=ADAS.key.fingerprint)
    _, decided = resolved({ADA: [ADAS], BOB: [RIVAL, BOBS]}, by_ada(3, 1, names(BOBS)), cut)
    assert decided[BOB] == BOBS.key


_BODIES: list[Body] = [names(BOBS), names(RIVAL, Role.ADMIN), names(THIRD), revoke(BOB, 3), revoke(ADA, 3)]


@given(st.data())
def test_resolving_is_a_function_of_the_sets_of_claims_and_ops(data: st.DataObject) -> None:
    publishers = [(ADA, ADAS), (BOB, BOBS), (BOB, RIVAL)]
    ops = [
        op(replica, seq, at, body, key=signer.key.fingerprint)
        for (replica, signer), seq, at, body in data.draw(
            st.lists(
                st.tuples(
                    st.sampled_from(publishers),
                    st.integers(3, 6),
                    st.integers(1, 6),
                    st.sampled_from(_BODIES),
                ),
                max_size=8,
            )
        )
    ]
    bobs = data.draw(st.lists(st.sampled_from([BOBS, RIVAL, THIRD]), unique=True))
    view, decided = resolved({ADA: [ADAS], BOB: bobs}, *ops)
    again, decided_again = resolve(
        FOUNDING.hash,
        {BOB: data.draw(st.permutations([*bobs, *bobs[:1]])), ADA: [RIVAL, ADAS, ADAS][1:]},
        data.draw(st.permutations([FOUNDING, *ops, *ops[:2]])),
    )
    assert (view, decided) == (again, decided_again)
    assert any(member.role is Role.ADMIN for member in view.members.values())
