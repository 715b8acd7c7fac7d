"""What a roster forbade that was not known whole counts once it is: after void cuts, and of supposed observers."""

from crypto.roster.bodies import Admit, CutPoint, Revoke, Role
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import put_body, sign, title_of
from tests.replica.world import Machine, World, exchange


def team_of_three(w: World) -> list[Machine]:
    """Ada the founder, bob an admin too, and cy."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob, cy)
    return [ada, bob, cy]


def void_what_bob_says_next(ada: Machine, bob: Machine, cut: CutPoint) -> None:
    """Ada revokes bob as of before what he said since."""
    sign(ada, Revoke(bob.me, cut, "laptop stolen"))
    exchange(ada, bob)


def test_mail_after_a_void_cut_is_read_and_only_once(w: World) -> None:
    ada, bob, cy = team_of_three(w)
    question = ada.ask("human:cy")
    exchange(ada, cy)
    cut = commands.last_verified(ada.node, bob.me)
    commands.revoke(bob.pass_(), cy.me, "I say so")
    still_here = Forger(cy)
    answer = {
        "id": "m-answer",
        "thread": question.thread,
        "replyTo": question.id,
        "kind": "answer",
        "choice": "yes",
        "body": "I say yes",
    }
    still_here.publish(still_here.mail(ada, body="still here"), still_here.mail(ada, **answer))
    ada.sync()
    assert ada.bodies() == []
    assert f"cut:{cy.me}" in ada.problems()
    void_what_bob_says_next(ada, bob, cut)
    assert sorted(ada.bodies()) == ["I say yes", "still here"]
    assert f"cut:{cy.me}" not in ada.problems()
    ada.sync()
    assert len(ada.bodies()) == 2
    assert ada.count("beyond_cut") == 0


def test_mail_after_a_cut_stays_unread_while_the_cut_stands(w: World) -> None:
    ada, bob, cy = team_of_three(w)
    commands.revoke(bob.pass_(), cy.me, "I say so")
    thief = Forger(cy)
    thief.publish(thief.mail(ada, body="still here"))
    exchange(ada, bob)
    assert ada.bodies() == bob.bodies() == []


def test_shared_state_after_a_void_cut_counts_again(w: World) -> None:
    ada, bob, cy = team_of_three(w)
    cut = commands.last_verified(ada.node, bob.me)
    commands.revoke(bob.pass_(), cy.me, "I say so")
    still_here = Forger(cy)
    still_here.publish(
        still_here.op("task", body=put_body("t-0000aa", cy.node.now(), title="Water the trees"))
    )
    ada.sync()
    assert title_of(ada) is None
    void_what_bob_says_next(ada, bob, cut)
    assert title_of(ada) == "Water the trees"


def test_mail_of_who_was_taken_for_an_observer_is_read_once_the_admission_before_that_is_known(
    w: World,
) -> None:
    ada, bob, cy = team_of_three(w)
    eve = w.machine("eve")
    commands.join(eve.pass_(), None)
    exchange(ada, bob)
    key = eve.node.identity.fingerprint
    sign(ada, Admit(eve.me, "eve", Role.MEMBER, key))  # and her machine is offline from here on
    bob.clock.ms += 60_000
    sign(bob, Admit(eve.me, "eve", Role.MEMBER, key, observer=True))
    exchange(bob, cy)
    member = Forger(eve)
    member.publish(member.mail(cy, body="I am one of you"))
    cy.sync()
    assert cy.bodies() == []
    assert f"observer:{eve.me}" in cy.problems()
    exchange(ada, cy)
    assert cy.bodies() == ["I am one of you"]
    assert f"observer:{eve.me}" not in cy.problems()
    assert cy.count("beyond_cut") == 0


def test_mail_of_an_observer_stays_unread(w: World) -> None:
    ada, bob, cy = team_of_three(w)
    eve = w.machine("eve")
    commands.join(eve.pass_(), None)
    ada.sync()
    sign(ada, Admit(eve.me, "eve", Role.MEMBER, eve.node.identity.fingerprint, observer=True))
    spy = Forger(eve)
    spy.publish(spy.mail(cy, body="let me say something"))
    exchange(ada, bob, cy)
    exchange(ada, bob, cy)
    assert cy.bodies() == []
    assert cy.count("beyond_cut") == 1
