"""Contested removals: the first stable outcome, as brute force finds it (federation wire 5.26, 5.27)."""

from itertools import product

from hypothesis import given, settings

from crypto.roster import Decision, Ignored
from crypto.roster.cases import Cases
from crypto.roster.contested import MAX_CONTESTED, first_stable
from crypto.roster.ops import RosterOp, fold_order
from crypto.roster.reach import Reach
from crypto.roster.removals import Judge
from crypto.roster.rights import Removal
from tests.crypto.roster.piles import charter_for, decisions_on, piles, quarrels, removals
from tests.crypto.roster.reference import Reference
from tests.crypto.roster.team import ADA, BOB, CY, DEE, EVE, FOUNDING, Team, admin, demote, key_of, revoke

ACCEPTED, VOID = Decision.ACCEPTED, Decision.VOID
BRUTE = 6
"""Removals of which brute force can look at every outcome."""


def _cases(pile: list[RosterOp], contested: list[Removal]) -> tuple[Cases, Judge]:
    ops = fold_order(FOUNDING, pile)
    reach = Reach(charter_for(pile), ops)
    return Cases(charter_for(pile), (), contested, reach.grants), Judge(charter_for(pile), reach.grants)


@settings(max_examples=200, deadline=None)
@given(piles())
def test_the_cases_are_what_a_walk_says_of_each_of_them(pile: list[RosterOp]) -> None:
    contested = removals(pile)[:5]
    cases, judge = _cases(pile, contested)
    for chosen in product((False, True), repeat=len(contested)):
        case = sum(1 << bit for bit, accepted in enumerate(chosen) if accepted)
        walk = judge.evaluate([each for each, accepted in zip(contested, chosen, strict=True) if accepted])
        assert [holds >> case & 1 for holds in cases.holds] == [walk.holds(each) for each in contested]
        assert cases.some_admin() >> case & 1 == bool(walk.admins())


@settings(max_examples=200, deadline=None)
@given(piles())
def test_what_was_accepted_before_counts_in_every_case(pile: list[RosterOp]) -> None:
    both = removals(pile)
    before, contested = both[::2], both[1::2][:3]
    ops = fold_order(FOUNDING, pile)
    reach = Reach(charter_for(pile), ops)
    cases = Cases(charter_for(pile), before, contested, reach.grants)
    judge = Judge(charter_for(pile), reach.grants)
    for chosen in product((False, True), repeat=len(contested)):
        case = sum(1 << bit for bit, accepted in enumerate(chosen) if accepted)
        accepted = [each for each, taken in zip(contested, chosen, strict=True) if taken]
        walk = judge.evaluate([*before, *accepted])
        assert [holds >> case & 1 for holds in cases.holds] == [walk.holds(each) for each in contested]


@settings(max_examples=150, deadline=None)
@given(quarrels(BRUTE))
def test_the_first_stable_outcome_is_the_one_that_brute_force_finds_first(pile: list[RosterOp]) -> None:
    contested = removals(pile)
    cases, judge = _cases(pile, contested[::-1])
    outcome = first_stable(cases, contested[::-1], admin_is_sure=False)
    expected = next(Reference(contested, judge.evaluate).stable(), None)
    assert (None if outcome is None else {each.hash for each in outcome.accepted}) == expected


@settings(max_examples=150, deadline=None)
@given(quarrels(BRUTE))
def test_where_one_outcome_alone_is_stable_it_is_the_decision(pile: list[RosterOp]) -> None:
    ops = fold_order(FOUNDING, pile)
    contested = removals(pile)
    reference = Reference(contested, Judge(charter_for(pile), Reach(charter_for(pile), ops).grants).evaluate)
    stable = list(reference.stable())
    decided = frozenset(each.hash for each in decisions_on(charter_for(pile), ops).accepted)
    if len(stable) == 1:
        assert decided == stable[0]
    elif stable:
        assert decided in stable


@settings(max_examples=150, deadline=None)
@given(quarrels(12))
def test_the_grants_behind_a_contest_say_as_much_of_it_as_all(pile: list[RosterOp]) -> None:
    contested = removals(pile)
    reach = Reach(charter_for(pile), fold_order(FOUNDING, pile))
    few = Judge(charter_for(pile), reach.grants_behind(contested)).evaluate(contested[::2])
    every = Judge(charter_for(pile), reach.grants).evaluate(contested[::2])
    assert [few.holds(each) for each in contested] == [every.holds(each) for each in contested]
    assert [few.rank(each.op) for each in contested] == [every.rank(each.op) for each in contested]


def _team(*admins: str) -> Team:
    team = Team()
    for replica in admins:
        team.says(ADA, admin(replica))
    return team


def test_a_circle_of_four_is_won_by_the_best_ranked_and_the_one_across() -> None:
    team = _team(BOB, CY, DEE, EVE)
    made = [team.says(by, revoke(whom, 1)) for by, whom in ((BOB, CY), (CY, DEE), (DEE, EVE), (EVE, BOB))]
    assert [team.view.resolution[each.hash] for each in made] == [ACCEPTED, VOID, ACCEPTED, VOID]


def test_the_best_ranked_loses_where_every_stable_outcome_needs_it_void() -> None:
    """Dee cuts bob and nobody can cut dee, so bob's removal of cy is void whatever bob's rank."""
    team = _team(BOB, CY, DEE)
    bobs = team.says(BOB, revoke(CY, 1))
    cys = team.says(CY, revoke(BOB, 1))
    dees = team.says(DEE, revoke(BOB, 1))
    assert team.view.resolution == {bobs.hash: VOID, cys.hash: ACCEPTED, dees.hash: ACCEPTED}


def test_an_outcome_may_not_leave_a_removal_void_that_only_takes_others_rights() -> None:
    """A circle of three has no stable outcome, and goes by rank."""
    team = _team(BOB, CY, DEE)
    made = [team.says(by, demote(whom, 1)) for by, whom in ((BOB, CY), (CY, DEE), (DEE, BOB))]
    assert [team.view.resolution[each.hash] for each in made] == [ACCEPTED, VOID, ACCEPTED]


def test_a_void_removal_is_excused_by_an_admin_who_would_not_be_left() -> None:
    team = _team(BOB)
    stepping_down = [team.says(each, demote(each, 9), seq=5) for each in (ADA, BOB)]
    view = team.view
    assert [view.resolution[each.hash] for each in stepping_down] == [ACCEPTED, VOID]
    assert view.ignored == {stepping_down[1].hash: Ignored.LAST_ADMIN}


def _ring(team: Team, replicas: list[str]) -> list[RosterOp]:
    return [
        team.says(by, revoke(whom, 1))
        for by, whom in zip(replicas, [*replicas[1:], replicas[0]], strict=True)
    ]


def test_a_contest_past_the_limit_goes_by_rank_alone() -> None:
    """By rank every second one of an even ring stands, as it would by search; of an odd one the first two."""
    names = [f"r{number}-{number:08x}" for number in range(MAX_CONTESTED + 2)]
    team = Team(keys={name: key_of(name) for name in names})
    for name in names:
        team.says(ADA, admin(name))
    made = _ring(team, names)
    resolution = team.view.resolution
    assert [resolution[each.hash] is ACCEPTED for each in made] == [True, False] * (len(names) // 2)


def test_contests_that_do_not_touch_are_settled_apart() -> None:
    """Sixteen rings of four are 64 removals, and yet each is small enough to be searched."""
    team = Team()
    names = [f"r{number}-{number:08x}" for number in range(64)]
    team.keys |= {name: key_of(name) for name in names}
    for name in names:
        team.says(ADA, admin(name))
    made = [each for start in range(0, 64, 4) for each in _ring(team, names[start : start + 4])]
    reach = Reach(team.charter, fold_order(FOUNDING, team.ops))
    assert [len(part) for part in reach.components(removals(team.ops))] == [4] * 16
    resolution = team.view.resolution
    assert [resolution[each.hash] is ACCEPTED for each in made] == [True, False] * 32
