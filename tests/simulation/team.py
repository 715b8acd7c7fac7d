"""Acts of the roster: who comes, who goes, and what they may do."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from core.errors import Code, DmpError
from crypto.encoding import b64u
from crypto.invites import public_of, recovery_code, recovery_proof, recovery_seed
from crypto.roster.bodies import Admit, Recover, Role, SetHosts, SetRecoveryKey, SetTransport, TransportKind
from replica.records.commits import CommitPoint
from replica.team import commands
from replica.team.admissions import waiting_key
from replica.team.changes import sign_change
from replica.team.roster import Team
from tests.simulation.machine import SimMachine
from tests.simulation.mail import person, pick, send, words
from tests.simulation.registry import NothingError, act
from tests.simulation.stage import Stage
from transports.base import TransportError
from transports.faults import Fault


def team_of(machine: SimMachine) -> Team:
    """The team a machine is in. Raises NothingError."""
    team = machine.node.team
    if team is None or not team.ready(machine.me):
        raise NothingError
    return team


def member(machine: SimMachine, random: Random) -> str:
    """Another member of the team."""
    return pick(random, sorted(team_of(machine).view.members.keys() - {machine.me}))


def change(stage: Stage, machine: SimMachine, random: Random, make: Callable[[], Any]) -> None:
    """Sign a change of the roster, made of what is known after a pull, and publish it."""

    def say() -> None:
        body = make()
        with machine.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
            sign_change(machine.node, db, body)

    stage.pass_of(machine, random).publish(say)


def newcomer(stage: Stage) -> SimMachine:
    """A machine that asked nobody yet."""
    for machine in stage.standing:
        if machine.node.team is None:
            return machine
    raise NothingError


def admin(stage: Stage, machine: SimMachine, random: Random) -> SimMachine:
    """This machine where it is an admin's, else mostly one that is."""
    for each in (machine, *random.sample(stage.standing, len(stage.standing))):
        team = each.node.team
        if team is not None and team.view.is_admin(each.me) and random.random() < 0.9:
            return each
    return machine


def waiting(stage: Stage, machine: SimMachine, random: Random) -> tuple[str, str]:
    """A machine that waits to be admitted, which asks now where none does yet, and its fingerprint."""
    printed = {each.me: each.identity.fingerprint for each in stage.machines}
    if not printed.keys() & set(team_of(machine).view.pending):
        commands.join(stage.pass_of(newcomer(stage), random), None)
        stage.sync(machine, random)
    found = pick(random, sorted(printed.keys() & set(team_of(machine).view.pending)))
    return found, printed[found]


@act("invite and join", 6)
def _invite(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Invite somebody new, who joins at once; who invited admits them in a later pass."""
    machine = admin(stage, machine, random)
    new = newcomer(stage)
    code = commands.invite(stage.pass_of(machine, random), new.handle).encode()
    stage.codes.append(code)
    commands.join(stage.pass_of(new, random), code)


@act("ask to be admitted", 7)
def _ask(stage: Stage, _: SimMachine, random: Random) -> None:
    commands.join(stage.pass_of(newcomer(stage), random), None)


@act("admit", 5)
def _admit(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine = admin(stage, machine, random)
    found, printed = waiting(stage, machine, random)
    commands.admit(stage.pass_of(machine, random), found, printed, random.choice((*Role, Role.MEMBER)))


@act("admit an observer", 4)
def _observer(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine = admin(stage, machine, random)
    found, printed = waiting(stage, machine, random)
    key = waiting_key(machine.store.db, team_of(machine), found, printed)
    body = Admit(found, key.handle, Role.MEMBER, key.fingerprint, observer=True)
    change(stage, machine, random, lambda: body)


@act("revoke", 1.6)
def _revoke(stage: Stage, machine: SimMachine, random: Random) -> None:
    """End a machine, while its mail and that of others to it may be on their way."""
    machine = admin(stage, machine, random)
    commands.revoke(stage.pass_of(machine, random), member(machine, random), words(random))


@act("revoke who is written to", 2)
def _revoke_in_flight(stage: Stage, machine: SimMachine, random: Random) -> None:
    """End a machine after mail to it was written, or even signed, and before it was published (T5)."""
    by = admin(stage, machine, random)
    leaves = member(by, random)
    handle = team_of(by).view.members[leaves].handle
    writers = [each for each in stage.standing if each is not by and each.me != leaves and each.node.team]
    if not writers:
        raise NothingError
    writer = random.choice(writers)
    team_of(writer)
    send(writer, person(writer), [f"human:{handle}", by.address], words(random))
    if random.random() < 0.7:
        signed = stage.pass_of(writer, random, (Fault.LOSE_PUBLISH,))
        with suppress(TransportError):
            signed.run()
    commands.revoke(stage.pass_of(by, random), leaves, words(random))
    stage.sync(writer, random)


@act("make an admin", 1.5)
def _promote(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine = admin(stage, machine, random)
    commands.set_role(stage.pass_of(machine, random), member(machine, random), Role.ADMIN)


@act("make a member", 1)
def _demote(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine = admin(stage, machine, random)
    commands.set_role(stage.pass_of(machine, random), member(machine, random), Role.MEMBER)


@act("change hosts", 2)
def _hosts(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Let a machine deliver for another person too, or no more."""
    machine = admin(stage, machine, random)
    who = pick(random, sorted(team_of(machine).view.members))
    handle = random.choice(sorted({each.handle for each in stage.machines}))

    def make() -> SetHosts:
        held = team_of(machine).view.members.get(who)
        if held is None:
            raise DmpError(Code.NOT_FOUND, "it is in the team no more")
        if handle in held.hosts:
            left = tuple(each for each in held.hosts if each != handle)
            return SetHosts(who, left, commands.last_verified(machine.node, who))
        return SetHosts(who, (*held.hosts, handle))

    change(stage, machine, random, make)


@act("replace the recovery code", 1)
def _recovery_key(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine = admin(stage, machine, random)
    seed = random.randbytes(32)
    team_of(machine)
    change(stage, machine, random, lambda: SetRecoveryKey(public_of(seed)))
    stage.recovery = recovery_code(seed)


@act("recover", 5)
def _recover(stage: Stage, _: SimMachine, random: Random) -> None:
    """Let a new machine in by the recovery code that somebody wrote down."""
    new = newcomer(stage)
    commands.join(stage.pass_of(new, random), None)
    team = new.node.team
    if team is None:
        raise NothingError
    proof = recovery_proof(
        recovery_seed(stage.recovery),
        team=team.view.team_id,
        replica=new.me,
        sign_pub=new.identity.secrets.sign_pub,
    )
    change(stage, new, random, lambda: Recover(proof))


@act("name another transport", 1.6)
def _transport(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine = admin(stage, machine, random)
    team_of(machine)
    url = f"https://{b64u(random.randbytes(6)).lower().replace('_', '-')}.example/team"
    change(stage, machine, random, lambda: SetTransport(TransportKind.GIT, url))
