"""A crash around any commit of using several transports and of moving: nothing is lost, nothing is doubled."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import pytest

from replica.node import opened
from replica.records.commits import CommitPoint
from replica.team.transport import use_git
from tests.replica.killer import OF_TRANSPORTS, KilledError, Killer, When
from tests.replica.transports.places import DISK, GIT, RELAY, Places, main_of, own_lines
from tests.replica.world import Machine, World, world
from transports.memory import MemoryTransport

POINTS = sorted({*OF_TRANSPORTS, CommitPoint.SYNCED, CommitPoint.PUBLISHED, CommitPoint.ROSTER_SIGNED})


def tell(folder: Path, killer: Killer) -> None:
    """Ada, whose machine can die, and bob use a disk besides, move to a relay, and come back."""
    with world(folder) as w:
        w.seed = crc32(bytes(folder))  # no two tellings share ids
        places = Places(w)
        ada, bob = places.team("ada", "bob")
        ada = reopened(w, ada, killer)

        def surely(act: Callable[[], object]) -> None:
            nonlocal ada
            try:
                act()
            except KilledError:
                ada = reopened(w, ada, killer)
                act()

        def everybody() -> None:
            for _ in range(3):
                surely(lambda: places.sync(ada))
                places.sync(bob)

        places.add(bob, DISK)
        surely(lambda: places.add(ada, DISK))
        ada.send("human:bob", "one")
        everybody()
        surely(lambda: places.to_relay(ada))
        ada.send("human:bob", "two")
        bob.send("human:ada", "three")
        everybody()
        surely(lambda: use_git(places.pass_(ada), None))
        ada.send("human:bob", "four")
        everybody()

        assert sorted(bob.bodies()) == ["four", "one", "two"]
        assert ada.bodies() == ["three"]
        for machine in (ada, bob):
            assert main_of(machine) == GIT
            for address in (GIT, DISK):
                assert once(places.lines(address, machine)) == own_lines(machine)
            on_relay = once(places.lines(RELAY, machine))
            assert on_relay == own_lines(machine)[: len(on_relay)]
            assert machine.count("unpublished") == 0
            assert not machine.problems()


def once(lines: Sequence[bytes]) -> list[bytes]:
    """Lines without those that were published again since an answer was lost."""
    return list(dict.fromkeys(lines))


def reopened(w: World, machine: Machine, killer: Killer) -> Machine:
    """The machine after its process ended, in one whose commits are watched."""
    root, clock = machine.directory.root, machine.clock
    machine.node.close()
    node = w.stack.enter_context(opened(root, wall=clock, random=machine.node.random, observer=killer))
    return Machine(node, MemoryTransport(w.remote), clock)


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[str, When]]:
    """How often the story without a death reaches each commit."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        killer = Killer()
        tell(folder / "story", killer)
    return killer.seen


def test_the_story_visits_every_commit_of_transports(reached: Counter[tuple[str, When]]) -> None:
    assert {point for point, _ in reached} >= OF_TRANSPORTS


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", POINTS)
def test_a_crash_around_a_commit_loses_and_doubles_nothing(
    tmp_path: Path, reached: Counter[tuple[str, When]], point: str, when: When
) -> None:
    count = reached[str(point), when]
    for occurrence in sorted({count // 3 + 1, count * 2 // 3 + 1}):
        killer = Killer((str(point), when, occurrence))
        tell(tmp_path / str(occurrence), killer)
        assert killer.done
