"""Which foundings a replica may follow (federation wire 4.5)."""

from crypto.roster import Pin, foundings
from crypto.roster.bodies import Found, Malformed
from tests.crypto.roster.team import ADA, BOB, FOUNDING, admit, fp, op

RIVAL = op(BOB, 2, 0, Found("Orchard", (), "y"))


def test_without_a_founding_there_is_nothing_to_follow() -> None:
    seen = foundings([op(ADA, 3, 1, admit(BOB)), op(BOB, 2, 1, Malformed("name"))])
    assert seen.pin is Pin.NONE
    assert seen.provisional is None


def test_one_founding_is_followed_provisionally() -> None:
    seen = foundings([FOUNDING, op(ADA, 3, 1, admit(BOB)), FOUNDING])
    assert seen.pin is Pin.PROVISIONAL
    assert seen.provisional is not None
    assert seen.provisional.team_id == FOUNDING.hash[:32]
    assert (seen.provisional.replica, seen.provisional.fingerprint) == (ADA, fp(ADA))


def test_two_foundings_leave_the_choice_to_a_person_in_any_order() -> None:
    seen = foundings([FOUNDING, RIVAL])
    assert seen == foundings([RIVAL, FOUNDING])
    assert seen.pin is Pin.AMBIGUOUS
    assert seen.provisional is None
    assert {each.replica for each in seen.foundings} == {ADA, BOB}


def test_an_invite_leaves_only_the_founding_it_names() -> None:
    seen = foundings([RIVAL, FOUNDING], invited_to=FOUNDING.hash[:32])
    assert seen.provisional is not None
    assert seen.provisional.hash == FOUNDING.hash
    assert foundings([RIVAL], invited_to=FOUNDING.hash[:32]).pin is Pin.NONE
