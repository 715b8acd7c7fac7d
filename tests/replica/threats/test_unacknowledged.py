"""T2: own ops that a machine does not acknowledge although it is there are told of, and nobody's silence is."""

from collections.abc import Collection

import pytest

from replica.host.config import Config
from tests.replica.world import Machine, World, exchange
from transports.base import Line
from transports.memory import MemoryTransport

HOUR = 3_600_000


def told(machine: Machine) -> dict[str, str]:
    return {key: text for key, text in machine.problems().items() if key.startswith("unacknowledged:")}


def later(hours: int, *machines: Machine) -> None:
    for machine in machines:
        machine.clock.ms += hours * HOUR


def sync_without(w: World, reader: Machine, hidden: Machine, seq: int) -> None:
    """Let a machine sync with a remote that does not show it another's ops from this seq on."""
    w.remote.hidden[hidden.me] = seq
    reader.sync()
    w.remote.hidden.clear()


def begin(w: World) -> tuple[Machine, Machine, int]:
    """Ada publishes an op that the remote keeps from bob; from that seq on. Ada sees that bob lacks it."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "the news")
    ada.sync()
    seq = ada.chain()[-1].seq
    bob.send("human:ada", "anything new?")
    sync_without(w, bob, ada, seq)
    ada.sync()
    return ada, bob, seq


def test_t2_what_a_machine_that_publishes_does_not_acknowledge_for_a_day_is_told(w: World) -> None:
    ada, bob, seq = begin(w)
    later(23, ada, bob)
    bob.send("human:ada", "hello?")
    sync_without(w, bob, ada, seq)
    ada.sync()
    assert told(ada) == {}
    later(2, ada, bob)
    bob.send("human:ada", "are you there?")
    sync_without(w, bob, ada, seq)
    ada.sync()
    (text,) = told(ada).values()
    assert bob.me in text
    exchange(bob, ada)
    assert told(ada) == {}


def test_t2_a_machine_that_is_silent_is_not_told_of_however_long(w: World) -> None:
    ada, bob, _ = begin(w)
    for _ in range(3):
        later(24 * 30, ada)
        ada.send("human:bob", "and?")
        ada.sync()
        assert told(ada) == {}
    later(24 * 90, bob)
    bob.sync()
    ada.sync()
    assert told(ada) == {}


def test_t2_nothing_is_said_where_the_far_side_shows_no_acknowledgements(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_transport: MemoryTransport, _replicas: Collection[str]) -> list[Line]:
        return []

    ada, bob, seq = begin(w)
    later(30, ada, bob)
    bob.send("human:ada", "are you there?")
    sync_without(w, bob, ada, seq)
    monkeypatch.setattr(MemoryTransport, "acks", none)
    ada.sync()
    assert told(ada) == {}


@pytest.mark.parametrize(("hours", "noted"), [(200, False), (None, False), (26, True)])
def test_t2_how_long_is_a_setting(w: World, hours: int | None, noted: bool) -> None:
    ada, bob, seq = begin(w)
    ada.node.host._config = Config(unacknowledged_hours=hours)
    later(30, ada, bob)
    bob.send("human:ada", "are you there?")
    sync_without(w, bob, ada, seq)
    ada.sync()
    assert bool(told(ada)) is noted
