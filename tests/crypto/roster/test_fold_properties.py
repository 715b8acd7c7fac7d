"""What holds for every pile of roster ops: one outcome in any order, an admin, bounded work."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.roster import Decision, fold
from crypto.roster.bodies import Role
from crypto.roster.contested import Contest, by_rank
from crypto.roster.ops import RosterOp, fold_order
from crypto.roster.reach import Reach
from crypto.roster.removals import MAX_EVALUATIONS, Judge
from crypto.roster.rights import Removal
from crypto.roster.walk import Charter, charter_of, removal
from tests.crypto.roster.piles import KEYS, charter_for, decisions_on, piles, quarrels, removals
from tests.crypto.roster.team import (
    ADA,
    BOB,
    FOUNDING,
    Team,
    admin,
    admit,
    demote,
    fp,
    key_of,
    op,
    revoke,
)


@settings(max_examples=100, deadline=None)
@given(piles() | quarrels(10), st.data())
def test_the_order_and_the_number_of_copies_of_the_ops_make_no_difference(
    pile: list[RosterOp], data: st.DataObject
) -> None:
    copies = data.draw(st.lists(st.sampled_from(pile), max_size=4))
    shuffled = data.draw(st.permutations([*pile, *copies]))
    assert fold(FOUNDING.hash, shuffled, KEYS) == fold(FOUNDING.hash, pile, KEYS)


@settings(max_examples=100, deadline=None)
@given(piles() | quarrels(18))
def test_an_admin_always_stands(pile: list[RosterOp]) -> None:
    view = fold(FOUNDING.hash, pile, KEYS)
    assert any(member.role is Role.ADMIN for member in view.members.values())
    assert not view.members.keys() & view.revoked.keys()


@settings(max_examples=100, deadline=None)
@given(piles(), st.data())
def test_what_a_removal_does_not_affect_holds_its_right_with_and_without_it(
    pile: list[RosterOp], data: st.DataObject
) -> None:
    ops = fold_order(FOUNDING, pile)
    charter = charter_for(pile)
    reach = Reach(charter, ops)
    judge = Judge(charter, reach.grants)
    contested = removals(pile)
    if not contested:
        return
    cut = data.draw(st.sampled_from(contested))
    others = data.draw(st.lists(st.sampled_from(contested), unique_by=lambda each: each.hash))
    without, under = judge.evaluate(others), judge.evaluate([*others, cut])
    for each in contested:
        if without.holds(each) or under.holds(each):
            assert reach.could_ever_hold(each)
        if each is not cut and not reach.affects(cut, each):
            assert without.holds(each) == under.holds(each)
        if each is not cut and under.holds(each) and not without.holds(each):
            assert reach.may_give(cut, each)
    for admin_now in set(without.admins()) ^ set(under.admins()):
        assert reach.bit(admin_now) & reach.extent(cut).touches


@settings(max_examples=100, deadline=None)
@given(piles())
def test_unaffected_are_those_that_no_other_one_affects(pile: list[RosterOp]) -> None:
    reach = Reach(charter_for(pile), fold_order(FOUNDING, pile))
    contested = removals(pile)
    assert reach.unaffected(contested) == [
        each
        for each in contested
        if not any(other is not each and reach.affects(other, each) for other in contested)
    ]


@settings(max_examples=100, deadline=None)
@given(piles(size=8))
def test_without_a_contest_a_removal_stands_if_and_only_if_it_holds_its_right_under_the_others(
    pile: list[RosterOp],
) -> None:
    ops = fold_order(FOUNDING, pile)
    charter = charter_for(pile)
    reach = Reach(charter, ops)
    judge = Judge(charter, reach.grants)
    contested = removals(pile)
    if any(reach.affects(one, one) for one in contested) or _circles(reach, contested):
        return
    decisions = decisions_on(charter, ops)
    if decisions.spared:
        return
    for each in contested:
        others = [other for other in decisions.accepted if other.hash != each.hash]
        assert judge.evaluate(others).holds(each) == (each in decisions.accepted)


def _circles(reach: Reach, contested: list[Removal]) -> bool:
    """Whether some contested affect each other in a circle."""
    left = list(contested)
    while free := reach.unaffected(left):
        left = [each for each in left if each not in free]
    return bool(left)


def _hostile(removers: int, others: int) -> list[RosterOp]:
    """Admins who all revoke or demote one another, among thousands of ops of strangers and members."""
    names = [f"r{number}-{number:08x}" for number in range(removers)]
    ops = [FOUNDING, *(op(ADA, 3 + index, 1 + index, admin(each)) for index, each in enumerate(names))]
    for index, each in enumerate(names):
        target = names[(index + 1) % removers]
        body = revoke(target, 1) if index % 2 else demote(target, 1)
        ops.append(op(each, 2, 10_000 - index, body))
    for number in range(others):
        ops.append(op(f"eve-{number % 7:08x}", number, 500 + number, revoke(names[number % removers], 0)))
        ops.append(op(names[number % removers], 10 + number, 500 + number, admit(f"x-{number:08x}")))
    return ops


def _charter(ops: list[RosterOp]) -> Charter:
    claims = {each.replica: {fp(each.replica): key_of(each.replica)} for each in ops}
    return charter_of(FOUNDING, claims, ops)


def test_k7_sixteen_removals_that_cut_each_other_among_thousands_of_ops_take_few_walks() -> None:
    ops = _hostile(16, 2_000)
    charter = _charter(ops)
    ordered = fold_order(FOUNDING, ops)
    decisions = decisions_on(charter, ordered)
    assert decisions.accepted
    assert decisions.evaluations <= 3 * 16
    shuffled = decisions_on(charter, fold_order(FOUNDING, reversed(ops)))
    assert shuffled == decisions


def test_k7_walks_are_bounded_however_many_removals_are_piled_up() -> None:
    ops = _hostile(300, 0)
    for number in range(300):
        ops.append(op(ADA, 1_000 + number, 20_000, demote(ADA, number)))
    charter = _charter(ops)
    decisions = decisions_on(charter, fold_order(FOUNDING, ops))
    assert decisions.evaluations <= 2 * MAX_EVALUATIONS + 20
    walk = Judge(charter, Reach(charter, fold_order(FOUNDING, ops)).grants).evaluate(decisions.accepted)
    assert walk.admins()


def test_k7_a_contest_that_runs_out_of_walks_keeps_what_the_best_ranked_won() -> None:
    ops = _hostile(16, 0)
    ordered = fold_order(FOUNDING, ops)
    charter = _charter(ops)
    judge = Judge(charter, Reach(charter, ordered).grants)
    contested = [found for found in map(removal, ordered) if found is not None]
    contest = Contest((), contested, admin_is_sure=True)
    outcome = by_rank(contest, judge.evaluate, 2)
    unbounded = by_rank(contest, judge.evaluate, MAX_EVALUATIONS)
    assert outcome.accepted == unbounded.accepted[:2]


def test_k7_a_members_flood_of_removals_costs_no_walk() -> None:
    team = Team()
    team.says(ADA, admit(BOB))
    for seq in range(500):
        team.says(BOB, revoke(ADA, seq), seq=100 + seq)
    claims = {replica: {fp(replica): key} for replica, key in team.keys.items()}
    decisions = decisions_on(charter_of(FOUNDING, claims, team.ops), fold_order(FOUNDING, team.ops))
    assert decisions.evaluations == 0
    assert set(team.view.resolution.values()) == {Decision.VOID}
