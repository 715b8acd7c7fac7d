"""K3: a remote that keeps the newest ops to itself, or goes back to an older state, is noticed by signed words."""

from crypto.acks import Acks, sign_acks
from crypto.roster.bodies import CutPoint, Revoke
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import sign
from tests.replica.world import Machine, World, exchange


def acknowledge(machine: Machine, through: dict[str, int]) -> None:
    """Publish acknowledgements that say what a machine likes."""
    acks = sign_acks(Acks(machine.me, through, "now"), machine.node.identity.secrets.signer)
    machine.transport.refresh()
    machine.transport.publish(machine.me, [], acks=acks)


def withheld(machine: Machine) -> dict[str, str]:
    return {
        subject.partition(":")[2]: text
        for subject, text in machine.problems().items()
        if subject.startswith("withheld:")
    }


def test_an_acknowledgement_of_what_the_remote_does_not_show_is_noted_with_whose_word_it_is(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    bob.send("human:cy", "the news")
    exchange(bob, cy)
    news = commands.last_verified(cy.node, bob.me).after_seq
    w.remote.hidden[bob.me] = news
    ada.sync()
    (text,) = [withheld(ada)[bob.me]]
    assert f"op {news}" in text
    assert cy.me in text
    w.remote.hidden.clear()
    ada.clock.ms += 1
    cy.send("human:ada", "look again")
    exchange(cy, ada)
    assert withheld(ada) == {}


def test_a_revocation_that_names_a_later_op_than_the_remote_shows_is_noted(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    sign(ada, Revoke(cy.me, CutPoint(999, "5" * 64), "left the team"))
    exchange(ada, bob)
    assert ada.me in withheld(bob)[cy.me]


def test_a_remote_that_was_set_back_is_noted_until_it_is_as_it_was(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    bob.send("human:ada", "one")
    bob.sync()
    ada.sync()
    assert withheld(ada) == {}
    w.remote.hidden[bob.me] = commands.last_verified(ada.node, bob.me).after_seq
    ada.send("human:bob", "two")
    ada.sync()
    ada.sync()
    assert bob.me in withheld(ada)
    w.remote.hidden.clear()
    ada.send("human:bob", "three")
    ada.sync()
    ada.sync()
    assert withheld(ada) == {}


def test_nothing_is_withheld_while_an_op_waits_for_the_clock_or_a_log_is_broken(w: World) -> None:
    """What holds a log up is told as what it is."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    bob.clock.ms += 20 * 60_000
    bob.send("human:ada", "from the future")
    bob.sync()
    cy.clock.ms += 20 * 60_000
    cy.sync()
    ada.sync()
    assert f"clock:{bob.me}" in ada.problems()
    assert withheld(ada) == {}


def test_a_false_word_says_whose_it_is_and_holds_up_nothing(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    bob.send("human:ada", "hello")
    bob.sync()
    acknowledge(cy, {bob.me: 10**15, ada.me: 1, "nobody-0000000a": 7})
    ada.sync()
    assert ada.bodies() == ["hello"]
    assert list(withheld(ada)) == [bob.me]
    assert cy.me in withheld(ada)[bob.me]


def test_the_end_of_a_withheld_revocation_still_counts_once_it_is_shown(w: World) -> None:
    """Bob hears of the revocation late: what cy said past its cut is taken back then."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    w.remote.hidden[ada.me] = commands.last_verified(bob.node, ada.me).after_seq + 1
    commands.revoke(ada.pass_(), cy.me, "laptop stolen")
    thief = Forger(cy)
    thief.publish(
        thief.op(
            "presence", body={"kind": "run", "run": "r-0000aa", "task": None, "runKind": "x", "live": True}
        )
    )
    bob.sync()
    assert bob.count("run_claims") == 1
    w.remote.hidden.clear()
    exchange(bob)
    assert bob.count("run_claims") == 0
