"""The fold order, and one op per seq (federation wire 5.5, 5.6)."""

from crypto.roster import fold
from crypto.roster.bodies import Found, SetTransport, TransportKind
from crypto.roster.ops import fold_order
from tests.crypto.roster.team import ADA, BOB, FOUNDING, Team, admin, admit, op, promote


def relay(url: str) -> SetTransport:
    return SetTransport(TransportKind.RELAY, url)


def test_clocks_compare_as_numbers_then_by_replica_then_by_seq() -> None:
    expected = [
        op(ADA, 9, 1, relay("a"), counter=9_999),
        op(ADA, 5, 1, relay("b"), counter=10_000),
        op(BOB, 3, 1, relay("c"), counter=10_000),
        op(BOB, 4, 1, relay("d"), counter=10_000),
        op(ADA, 3, 2, relay("e")),
    ]
    assert fold_order(FOUNDING, reversed(expected)) == (FOUNDING, *expected)


def test_k4_of_two_ops_at_one_seq_the_smaller_hash_counts_whichever_came_first() -> None:
    one, other = op(ADA, 3, 1, admin(BOB)), op(ADA, 3, 2, admit(BOB))
    smaller = min(one, other, key=lambda each: each.hash)
    team = Team()
    for pair in ([one, other], [other, one]):
        team.ops = [FOUNDING, *pair]
        assert team.view.members[BOB].role is smaller.body.role  # type: ignore[union-attr]


def test_k4_an_equivocating_admin_shows_two_halves_of_a_team_its_ops_and_both_agree_once_both_are_known() -> (
    None
):
    team = Team()
    team.says(ADA, admin(BOB))
    shared = list(team.ops)
    to_one_half = [op(BOB, 5, 10, admit("cy-0000000c")), op(BOB, 6, 11, promote("cy-0000000c"))]
    to_the_other = [op(BOB, 5, 12, admit("dee-0000000d")), op(BOB, 7, 13, promote("dee-0000000d"))]
    views = [
        fold(FOUNDING.hash, seen, team.keys)
        for seen in (
            [*shared, *to_one_half, *to_the_other],
            [*to_the_other, *shared, *to_one_half],
            [*reversed(to_one_half), *to_the_other, *shared],
        )
    ]
    assert views[0] == views[1] == views[2]
    assert len(views[0].members) == 3


def test_the_founding_never_gives_way_to_another_op_at_its_seq() -> None:
    rivals = [op(ADA, 2, 0, Found("Rival", (), "x"), salt=str(salt)) for salt in range(20)]
    assert any(rival.hash < FOUNDING.hash for rival in rivals)
    team = Team()
    for rival in rivals:
        team.ops = [FOUNDING, rival]
        assert team.view.name == "Orchard"
        assert team.view.is_admin(ADA)
