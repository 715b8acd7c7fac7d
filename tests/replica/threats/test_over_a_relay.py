"""T2, R4, K2 over a relay: what it loses is published again, what a twin says is not taken, what is gone is named."""

import shutil

import pytest

from core.errors import DmpError
from replica.records.meta import Meta, get
from replica.team import commands
from tests.replica.world import START, Machine, World, exchange
from tests.simulation.network import lanes_of
from tests.simulation.relay import Reaching, RelaySide
from transports.base import TransportError


def moved(w: World, *machines: Machine) -> RelaySide:
    """Let machines that met over the far side in memory meet over a relay from here on."""
    relay = RelaySide("relay", lambda: START)
    relay.fill(lanes_of(w.remote))
    for machine in machines:
        machine.transport = Reaching(relay, machine.node)
    return relay


def test_mail_and_answers_travel_over_a_relay(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    moved(w, ada, bob)
    question = ada.ask("human:bob")
    exchange(ada, bob)
    bob.answer(question, "yes")
    exchange(bob, ada)
    assert [each.body for each in ada.node.engine.thread(question.thread)] == ["Ship it?", "I say yes"]


def test_t2_what_a_restored_relay_lost_is_published_again_and_arrives_once(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    relay = moved(w, ada, bob)
    exchange(ada, bob)
    ada.send("human:bob", "lost afterwards")
    stored = len(lanes_of(relay)[ada.me])
    ada.sync()
    bob.send("human:ada", "read before it was lost")
    exchange(bob, ada)
    while len(lanes_of(relay)[ada.me]) > stored:
        relay.roll_back()
    exchange(ada, bob)
    for machine in (ada, bob):
        assert len(lanes_of(relay)[machine.me]) == len(machine.chain())
    assert bob.bodies() == ["lost afterwards"]
    assert ada.bodies() == ["read before it was lost"]


def test_r4_of_two_copies_of_a_replica_one_stops_for_good(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    relay = moved(w, ada, bob)
    exchange(ada, bob)
    bob.node.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(bob.directory.root, w.folder / "copy")
    copy = w.open(w.folder / "copy")
    copy.transport = Reaching(relay, copy.node)
    bob.send("human:ada", "from the one")
    copy.send("human:ada", "from the other")
    bob.sync()
    with pytest.raises((DmpError, TransportError)):
        copy.sync()
    with pytest.raises(DmpError):
        copy.sync()
    assert get(copy.node.store.db, Meta.STOPPED) is not None
    exchange(ada, bob)
    assert ada.bodies() == ["from the one"]


def test_a_replica_that_is_revoked_is_told_so_by_the_relay(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    moved(w, ada, bob)
    exchange(ada, bob)
    commands.revoke(ada.pass_(), bob.me, "gone")
    with pytest.raises(TransportError, match="revoked this replica"):
        bob.sync()
