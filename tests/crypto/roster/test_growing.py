"""A roster that grows op by op comes, at each step, to what a fold of the whole set comes to."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.roster import Decision, FoundingError, GrowingRoster, Key, fold
from crypto.roster.bodies import Body, SetHosts
from crypto.roster.ops import RosterOp, fold_order
from crypto.roster.walk import Walk
from tests.crypto.roster.piles import CLAIMS, KEYS, piles, quarrels
from tests.crypto.roster.team import (
    ADA,
    BOB,
    CY,
    DEE,
    EVE,
    FOUNDING,
    Team,
    admin,
    admit,
    demote,
    key_of,
    promote,
    recover,
    revoke,
)


def _grow(ops: list[RosterOp]) -> None:
    roster = GrowingRoster(FOUNDING.hash, ops[:1], CLAIMS)
    for count, op in enumerate(ops[1:], 2):
        roster.add(op)
        assert roster.view == fold(FOUNDING.hash, ops[:count], KEYS)


@settings(max_examples=200, deadline=None)
@given(piles() | quarrels(10))
def test_ops_that_arrive_in_their_order(pile: list[RosterOp]) -> None:
    _grow([FOUNDING, *(op for op in fold_order(FOUNDING, pile) if op.position > FOUNDING.position)])


@settings(max_examples=50, deadline=None)
@given(piles() | quarrels(10), st.data())
def test_ops_that_arrive_in_any_order(pile: list[RosterOp], data: st.DataObject) -> None:
    _grow([FOUNDING, *data.draw(st.permutations(pile))])


@settings(max_examples=50, deadline=None)
@given(piles() | quarrels(10), st.data())
def test_a_view_need_not_be_read_at_every_step(pile: list[RosterOp], data: st.DataObject) -> None:
    roster = GrowingRoster(FOUNDING.hash, [FOUNDING], CLAIMS)
    for op in data.draw(st.permutations(pile)):
        roster.add(op)
    assert roster.view == fold(FOUNDING.hash, pile, KEYS)


@settings(max_examples=100, deadline=None)
@given(piles() | quarrels(10), st.data())
def test_keys_that_are_announced_between_ops(pile: list[RosterOp], data: st.DataObject) -> None:
    """Before the ops they are for, or after them; and rivals for an id that has one."""
    announced: list[RosterOp | tuple[str, Key]] = [
        (replica, key) for replica, keys in CLAIMS.items() for key in keys.values()
    ]
    rival = replace(KEYS[BOB], fingerprint="FP-rival")
    ops, claims = [FOUNDING], dict[str, dict[str, Key]]()
    roster = GrowingRoster(FOUNDING.hash, ops, claims)
    for each in data.draw(st.permutations([*pile, *announced, (BOB, rival)])):
        if isinstance(each, RosterOp):
            ops.append(each)
            roster.add(each)
        else:
            replica, key = each
            claims.setdefault(replica, {})[key.fingerprint] = key
            roster.announce(replica, key)
        if data.draw(st.booleans()):
            assert roster.view == GrowingRoster(FOUNDING.hash, ops, claims).view
    assert roster.view == GrowingRoster(FOUNDING.hash, ops, claims).view


@settings(max_examples=50, deadline=None)
@given(piles() | quarrels(10))
def test_a_view_that_was_given_out_stays_as_it_was(pile: list[RosterOp]) -> None:
    roster = GrowingRoster(FOUNDING.hash, [FOUNDING], CLAIMS)
    seen = []
    for count, op in enumerate(pile, 1):
        roster.add(op)
        seen.append((count, roster.view))
    for count, view in seen[::7]:
        assert view == fold(FOUNDING.hash, [FOUNDING, *pile[:count]], KEYS)


def test_who_is_let_in_by_the_handle_of_a_member_who_had_revoked_it_before_is_judged_anew() -> None:
    team = Team()
    _grow(
        [
            FOUNDING,
            team.says(ADA, admit(BOB)),
            team.says(BOB, revoke(EVE, 6)),
            team.says(ADA, admit(EVE, handle="bob")),
        ]
    )


def test_a_roster_needs_its_founding() -> None:
    with pytest.raises(FoundingError):
        GrowingRoster("0" * 64, [FOUNDING], CLAIMS)


def _walked(team: Team, *more: RosterOp, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many ops are walked over as these are added to a team."""
    claims = {replica: {key.fingerprint: key} for replica, key in team.keys.items()}
    roster = GrowingRoster(FOUNDING.hash, team.ops, claims)
    steps = 0
    step = Walk.step

    def counted(walk: Walk, op: RosterOp) -> None:
        nonlocal steps
        steps += 1
        step(walk, op)

    with monkeypatch.context() as patch:
        patch.setattr(Walk, "step", counted)
        for op in more:
            roster.add(op)
    assert roster.view == fold(FOUNDING.hash, [*team.ops, *more], team.keys)
    return steps


@pytest.mark.parametrize(
    ("by", "body"),
    [
        (ADA, admit(EVE)),
        (BOB, admin(EVE)),
        (ADA, promote(DEE)),
        (ADA, revoke(DEE, 0)),
        (ADA, demote(BOB, 9)),
        (BOB, SetHosts(DEE, ("carl",))),
        (EVE, recover(DEE)),
        (EVE, revoke(ADA, 0)),
        (DEE, revoke(ADA, 0)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_op_that_touches_no_removal_is_walked_over_alone(
    by: str, body: Body, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Team()
    for replica in (BOB, CY):
        team.says(ADA, admin(replica))
    team.says(ADA, admit(DEE))
    team.says(ADA, revoke(CY, 1))
    made = team.says(by, body)
    team.ops.remove(made)
    assert _walked(team, made, monkeypatch=monkeypatch) == 1


def test_k7_what_is_said_beside_a_contest_decides_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    team = Team()
    for replica in (BOB, CY):
        team.says(ADA, admin(replica))
    for by, whom in ((BOB, CY), (CY, BOB)):
        team.says(by, revoke(whom, 1))
    made = [team.says(ADA, admit(DEE)), team.says(BOB, admit(EVE))]
    for each in made:
        team.ops.remove(each)
    assert _walked(team, *made, monkeypatch=monkeypatch) == 2


@pytest.mark.parametrize(("length", "backwards"), [(300, False), (24, True)])
def test_k7_a_long_chain_of_removals_grows_to_what_it_folds_to(length: int, backwards: bool) -> None:
    """Each admin removes the next: whatever number of them there is, every second one stands."""
    names = [f"r{number}-{number:08x}" for number in range(length)]
    team = Team(keys={name: key_of(name) for name in names})
    for name in names:
        team.says(ADA, admin(name))
    pairs = list(pairwise(names))
    made = [team.says(by, revoke(whom, 1)) for by, whom in (reversed(pairs) if backwards else pairs)]
    claims = {replica: {key.fingerprint: key} for replica, key in team.keys.items()}
    roster = GrowingRoster(FOUNDING.hash, team.ops[: -len(made)], claims)
    for each in made:
        roster.add(each)
    view = team.view
    assert roster.view == view
    by_publisher = {each.replica: view.resolution[each.hash] for each in made}
    assert [by_publisher[by] is Decision.ACCEPTED for by, _ in pairs] == [True, False] * (length // 2 - 1) + [
        True
    ]
