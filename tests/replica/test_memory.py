"""A replica without a directory does all that one with a directory does, until its process is gone."""

import pytest

from core.errors import Code, DmpError
from replica.chain.guard import PAUSED
from replica.team import commands
from tests.replica.memory import MemoryMachine, image_of, memory_machine
from tests.replica.world import Machine, exchange
from transports.memory import MemoryRemote, MemoryTransport


def team() -> tuple[MemoryRemote, list[tuple[MemoryMachine, Machine]]]:
    remote = MemoryRemote()
    made = [memory_machine(handle, seed) for seed, handle in enumerate(("ada", "bob"))]
    ada, bob = [Machine(each.start(), MemoryTransport(remote), each.clock) for each in made]
    commands.found_team(ada.pass_(), "Orchard")
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    exchange(ada, bob)
    return remote, list(zip(made, (ada, bob), strict=True))


def test_replicas_in_memory_exchange_mail_and_go_on_in_another_process() -> None:
    remote, [(machine, ada), (_, bob)] = team()
    ada.send("human:bob", "before")
    ada = Machine(machine.start(), MemoryTransport(remote), machine.clock)
    ada.send("human:bob", "after")
    exchange(ada, bob)
    assert sorted(bob.bodies()) == ["after", "before"]


def test_equal_seeds_make_equal_teams() -> None:
    (_, one), (_, other) = team(), team()
    assert [machine.lane() for _, machine in one] == [machine.lane() for _, machine in other]


def test_r4_a_store_put_back_from_an_old_image_signs_nothing() -> None:
    remote, [(machine, ada), _] = team()
    image = image_of(machine.store)
    ada.send("human:bob", "lost")
    ada.sync()
    remote.roll_back(1)
    machine.restore(image)
    ada = Machine(machine.start(), MemoryTransport(remote), machine.clock)
    ada.send("human:bob", "again")
    assert ada.sync().paused is not None
    assert PAUSED in ada.problems()


def test_a_replica_without_a_directory_runs_no_programs() -> None:
    machine = memory_machine("ada", 1)
    with pytest.raises(DmpError) as refused:
        machine.start().place.programs(lambda: False)
    assert refused.value.code is Code.UNAVAILABLE
