"""M4: a new machine of a person, a host or an observer widens who reads; their machines and the senders are told."""

from crypto.roster.bodies import SetHosts
from replica.mail.newly_reading import new_since_the_last
from replica.team import commands
from tests.replica.shared.acts import sign
from tests.replica.world import Machine, World, exchange


def reads(machine: Machine) -> dict[str, str]:
    return {
        subject.partition(":")[2]: text
        for subject, text in machine.problems().items()
        if subject.startswith("reads:")
    }


def new_readers(machine: Machine, to: str) -> list[str]:
    assert machine.node.team is not None
    sent = machine.send(to, "hello")
    return new_since_the_last(machine.node.store.db, machine.node.team, sent)


def test_a_second_machine_of_a_person_is_told_to_the_first_and_to_who_writes_to_them(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    assert reads(bob) == {}
    assert new_readers(ada, "human:bob") == []
    exchange(ada, bob)
    second = w.machine("bob", "bob-phone")
    w.admit(ada, second)
    exchange(ada, bob, second)
    assert "gets the mail of bob" in reads(bob)[second.me]
    assert reads(ada) == {}
    assert new_readers(ada, "human:bob") == [second.me]
    assert new_readers(ada, "human:bob") == []


def test_a_host_that_was_added_is_told_to_the_person_and_forgotten_when_it_hosts_no_more(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    assert new_readers(ada, "human:bob") == []
    sign(ada, SetHosts(cy.me, ("bob",)))
    exchange(ada, bob, cy)
    assert "gets the mail of bob" in reads(bob)[cy.me]
    assert new_readers(ada, "human:bob") == [cy.me]
    sign(ada, SetHosts(cy.me, (), commands.last_verified(ada.node, cy.me)))
    exchange(ada, bob, cy)
    assert reads(bob) == {}


def test_an_observer_is_told_to_everybody(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    assert new_readers(ada, "human:bob") == []
    eye = w.machine("eve")
    code = commands.invite(ada.pass_(), "eve", observer=True)
    commands.join(eye.pass_(), code.encode())
    exchange(ada, bob, eye)
    for each in (ada, bob):
        assert "reads along in all mail" in reads(each)[eye.me]
    assert new_readers(ada, "human:bob") == [eye.me]
