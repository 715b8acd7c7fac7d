"""Peers of one machine of a team: federation carries nothing of them (section F.5)."""

import pytest

from bindings.a2a.peers import records
from bindings.a2a.peers.peer import About, Interface, Peer, PeerState
from core.errors import DmpError
from core.message import State
from tests.replica.world import Machine, World, exchange

PEER = "a2a:acme"


def known(machine: Machine) -> None:
    """Make a peer known, as if it had been added."""
    interface = Interface(
        "https://acme.example/a2a", "HTTP+JSON", "", "Authorization", "Bearer ", streaming=False
    )
    peer = Peer("acme", "https://acme.example/card", interface, About("Acme", ""), PeerState.ACTIVE, "", 0)
    with machine.node.store.transaction(records.Point.PEER) as db:
        records.put(db, peer)


def test_a_peer_stays_its_own_machines_member_of_a_channel(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    known(ada)
    ada.node.engine.join("depot", PEER)
    ada.node.engine.join("depot", "human:bob")
    exchange(ada, bob)
    assert bob.node.engine.members("depot") == ("human:bob",)
    assert PEER in ada.node.engine.members("depot")
    assert ada.problems() == {}
    assert bob.problems() == {}


def test_what_a_channel_brings_to_a_peer_goes_to_no_other_machine(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    known(ada)
    for member in (PEER, "human:bob", "human:ada"):
        ada.node.engine.join("depot", member)
    exchange(ada, bob)
    told = ada.send("channel:depot", "The depot is closed.")
    ada.node.engine.join("quay", PEER)
    with pytest.raises(DmpError) as refused:
        ada.send(("channel:quay", "human:bob"), "And you know why.")
    assert (refused.value.code, refused.value.field) == ("forbidden", "to[1]")
    exchange(ada, bob)
    (delivery,) = ada.node.engine.deliveries(told.id)
    assert (delivery.recipient, delivery.state) == (PEER, State.HELD)
    assert bob.inbox() == []
    ada.node.engine.leave("depot", PEER)
    ada.send("channel:depot", "The depot is open.")
    exchange(ada, bob)
    assert bob.bodies() == ["The depot is open."]
    assert ada.problems() == {}
    assert bob.problems() == {}


def test_mail_to_a_peer_alone_is_never_published(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    known(ada)
    before = len(ada.lane())
    ada.send(PEER, "Of Acme alone.")
    exchange(ada, bob)
    assert len(ada.lane()) == before
    assert b"Of Acme" not in b"".join(ada.lane())
    assert bob.count("messages") == 0


def test_a_teammates_message_does_not_reach_a_peer(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    known(ada)
    ada.node.engine.join("depot", PEER)
    ada.node.engine.join("depot", "human:ada")
    exchange(ada, bob)
    bob.send("channel:depot", "Of Bob.")
    exchange(ada, bob)
    assert "Of Bob." in ada.bodies()
    (message,) = [each for each in ada.inbox() if each.body == "Of Bob."]
    assert [each.recipient for each in ada.node.engine.deliveries(message.id)] == ["human:ada"]
    with pytest.raises(DmpError) as refused:
        bob.send(PEER, "hello")
    assert (refused.value.code, refused.value.field) == ("not-found", "to[0]")
