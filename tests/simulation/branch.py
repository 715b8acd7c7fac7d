"""Acts of those who can write to the branch and have no key of the team's: nobody in it is to blame for them."""

from functools import cache
from random import Random

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.op import Op, OpError, make_op, read_entry, to_line
from replica.node import make_identity
from replica.team import commands
from tests.simulation.machine import SimMachine, new_machine
from tests.simulation.registry import NothingError, act
from tests.simulation.stage import Stage
from tests.simulation.team import admin
from tests.simulation.team import team_of as ready_team
from tests.simulation.villain import WEIGHT, lane, rewritten, some


@act("hostile: steal an invite", 2 * WEIGHT)
def _invite(stage: Stage, machine: SimMachine, random: Random) -> None:
    """A machine that nobody meant joins with the code of somebody else, used or not."""
    admin_ = admin(stage, machine, random)
    ready_team(admin_)
    codes = list(stage.codes)
    if not codes or random.random() < 0.5:
        handle = random.choice(("gus", admin_.handle))
        codes = [commands.invite(stage.pass_of(admin_, random), handle).encode()]
    thief = new_machine("gus", "gus", f"thief-{random.randrange(3)}", stage.time, stage.network)
    if lane(stage.network.side_of(thief.me), thief.me) or lane(stage.network.main, thief.me):
        raise NothingError
    try:
        commands.join(stage.pass_of(thief, random), random.choice(codes))
        stage.thieves[thief.me] = thief.identity
    finally:
        thief.store.close()


@cache
def _strangers() -> list[tuple[str, bytes]]:
    """Key ops of machines that nobody knows."""
    made = []
    for number in range(60):
        random = Random(f"stranger-{number}").randbytes
        identity = make_identity("zed", "z", wall=lambda: 0, random=random)
        secrets = identity.secrets
        body: JsonValue = {
            "handle": "zed",
            "device": "z",
            "build": "none",
            "signPub": secrets.sign_pub,
            "sealPub": secrets.seal_pub,
            "legacy": None,
        }
        op = make_op(
            replica=identity.replica,
            seq=1,
            prev="0" * 64,
            hlc=Reading(1_790_000_000_000, 0, identity.replica),
            type="key",
            signer=secrets.signer,
            body=body,
        )
        made.append((identity.replica, to_line(op)))
    return made


@act("hostile: flood ids", WEIGHT)
def _flood(stage: Stage, machine: SimMachine, random: Random) -> None:
    side = stage.network.side_of(machine.me)
    for replica, line in random.sample(_strangers(), 20):
        side.put(replica, line)


@act("hostile: claim another's id", WEIGHT)
def _rival(stage: Stage, machine: SimMachine, random: Random) -> None:
    """A stranger announces a key of its own for an id that is somebody's."""
    identity = make_identity("zed", "z", wall=lambda: 0, random=random.randbytes)
    secrets = identity.secrets
    body: JsonValue = {
        "handle": machine.handle,
        "device": "z",
        "build": "none",
        "signPub": secrets.sign_pub,
        "sealPub": secrets.seal_pub,
        "legacy": None,
    }
    hlc = Reading(stage.time.now, 0, machine.me)
    op = make_op(
        replica=machine.me, seq=1, prev="0" * 64, hlc=hlc, type="key", signer=secrets.signer, body=body
    )
    stage.network.side_of(machine.me).put(machine.me, to_line(op))


@act("hostile: withhold a lane", WEIGHT)
def _withhold(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Show nobody the end of a lane; or, as well, show again what was kept back before."""
    side = stage.network.side_of(machine.me)
    if random.random() < 0.5:
        side.hidden.clear()
    whose = some(sorted(side.state().lanes), random)
    side.hidden[whose] = random.randrange(1, 60)


@act("hostile: roll back", WEIGHT)
def _roll_back(stage: Stage, machine: SimMachine, random: Random) -> None:
    if not stage.network.keeps_everything and stage.dishonest:
        raise NothingError  # the two versions of a fork are never both on a relay, so not all would see it
    side = stage.network.side_of(machine.me)
    stage.network.remember(side)
    side.roll_back(random.randrange(1, 6))


def _read(line: bytes) -> Op | None:
    """The op of a line; None for a stub, and for what somebody damaged before."""
    try:
        entry = read_entry(line)
    except OpError:
        return None
    return entry if isinstance(entry, Op) else None


@act("hostile: rewrite a lane", WEIGHT)
def _rewrite(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Damage, drop, repeat or reorder lines of a lane, put stubs in their place, or junk between them."""
    side = stage.network.side_of(machine.me)
    raws = lane(side, machine.me)
    at = random.randrange(len(raws)) if raws else 0
    if not raws:
        raise NothingError

    def change(lines: list[bytes]) -> list[bytes]:
        kind = random.randrange(5)
        if kind == 0:
            byte = random.randrange(len(lines[at]))
            lines[at : at + 1] = [lines[at][:byte] + bytes([lines[at][byte] ^ 1]) + lines[at][byte + 1 :]]
        elif kind == 1:
            del lines[at]
        elif kind == 2:
            random.shuffle(lines)
        elif kind == 3:
            lines[at:at] = [b"{}", b"junk", lines[at], lines[at].replace(b'"seq":', b'"seq":9')]
        elif (entry := _read(lines[at])) is not None and entry.type in ("mail", "state"):
            lines[at] = to_line(entry.stub())
        return lines

    stage.network.remember(side)
    made = rewritten(side, machine.me, lambda lines: change(list(lines)))
    if side is stage.network.main:
        stage.network.main = made
    else:
        stage.network.other = made
