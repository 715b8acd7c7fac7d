"""Acts of machines and networks: passes, partitions, clocks, copies that are put back."""

from random import Random
from typing import Final

from crypto.roster.ops import RosterOp
from replica.chain.clock import accept_wall_clock
from replica.chain.guard import resume
from replica.records.commits import CommitPoint
from tests.simulation.machine import SimMachine
from tests.simulation.mail import first_with
from tests.simulation.registry import NothingError, act
from tests.simulation.stage import Stage, dismiss
from tests.simulation.team import team_of

_MINUTE: Final = 60_000
_DAY: Final = 24 * 60 * _MINUTE

_JUMPS: Final = (-_DAY, -10 * _MINUTE, -2_000, 2_000, 4 * _MINUTE, 10 * _MINUTE, 90 * _MINUTE, 3 * _DAY)


@act("sync", 12)
def _sync(stage: Stage, machine: SimMachine, random: Random) -> None:
    stage.sync(machine, random)


@act("watch", 3)
def _watch(stage: Stage, machine: SimMachine, random: Random) -> None:
    """A pass of a machine that syncs without end, which tells the others that it is there."""
    machine.node.take_up()
    stage.pass_of(machine, random).run()


@act("partition", 1.5)
def _partition(stage: Stage, _: SimMachine, random: Random) -> None:
    names = sorted(each.me for each in stage.machines)
    stage.network.split(frozenset(random.sample(names, random.randrange(1, len(names)))))


@act("end the partition", 2.5)
def _end(stage: Stage, _: SimMachine, _random: Random) -> None:
    if stage.network.other is None:
        raise NothingError
    stage.network.join()


@act("set a clock", 2)
def _clock(_: Stage, machine: SimMachine, random: Random) -> None:
    machine.clock.skew = random.choice(_JUMPS)


@act("set a clock years ahead", 1)
def _years(_: Stage, machine: SimMachine, _random: Random) -> None:
    machine.clock.skew = 3 * 365 * _DAY


@act("set a clock right", 3)
def _right(stage: Stage, machine: SimMachine, _random: Random) -> None:
    machine, _ = first_with(stage, machine, lambda each: [1] if each.clock.skew else [])
    machine.clock.skew = 0


@act("back up", 2)
def _back_up(_: Stage, machine: SimMachine, _random: Random) -> None:
    machine.keep_backup()


@act("restore", 0.7)
def _restore(stage: Stage, machine: SimMachine, _random: Random) -> None:
    if not stage.network.keeps_everything or not machine.restore():
        raise NothingError  # what an old copy lacks may be nowhere else
    stage.restored.add(machine.me)
    machine.node.take_up()


@act("restart", 1)
def _restart(stage: Stage, machine: SimMachine, _random: Random) -> None:
    """Kill the process between two acts."""
    stage.revive(machine)


@act("resume", 1)
def _resume(_: Stage, machine: SimMachine, _random: Random) -> None:
    resume(machine.node)


@act("believe the clock", 1.5)
def _believe(_: Stage, machine: SimMachine, _random: Random) -> None:
    if machine.clock.skew > 30 * _DAY:
        raise NothingError  # only somebody who errs would, and then starts over
    with machine.store.transaction(CommitPoint.RESUMED) as db:
        accept_wall_clock(db, machine.clock())


@act("speak a newer roster", 2.2)
def _newer(_: Stage, machine: SimMachine, random: Random) -> None:
    """A build of later says something about the roster that this one cannot read."""
    team_of(machine)
    with machine.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
        machine.node.signer.append(db, "roster", {"rv": 2, "action": f"later-{random.randrange(100)}"})


@act("dismiss", 14)
def _dismiss(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Take out what this build cannot read."""

    def unread(each: SimMachine) -> list[RosterOp]:
        team = each.node.team
        found = None if team is None or not team.view.is_admin(each.me) else team.view.unknown
        return [] if found is None else [found]

    machine, (unknown,) = first_with(stage, machine, unread)
    dismiss(stage.pass_of(machine, random), unknown)
