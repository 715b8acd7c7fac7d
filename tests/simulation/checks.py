"""What must hold once a team has healed, whatever happened before.

What must hold of the team is here; `mail_checks` has what must hold of mail.
"""

from dataclasses import replace
from typing import Final

from crypto.chain import Cursor
from crypto.key_claims import key_claims
from crypto.lane import read_lane
from crypto.roster.view import View
from replica.shared import fold
from replica.shared.kinds import KINDS
from tests.simulation import mail_checks
from tests.simulation.ended import Ended, gather
from tests.simulation.machine import SimMachine
from tests.simulation.network import lanes_of
from tests.simulation.stage import FoundError, Stage


def check(stage: Stage) -> None:
    """Check every promise. Raises FoundError for the first that was broken."""
    ended = gather(stage)
    if ended is None:
        return
    paused = ended.view.unknown is not None
    if paused:  # and nobody is left who may dismiss what nobody reads: all of them wait for an upgrade
        stage.happened["paused for good"] += 1
    for each in _OF_THE_ROSTER if paused else (*_OF_THE_ROSTER, *_OF_THE_REST):
        each(ended)


# All compute the same


def _one_roster(ended: Ended) -> None:
    first = _roster(ended, ended.members[0])
    for machine in ended.members:
        other = _roster(ended, machine)
        differs = [name for name in View.__slots__ if getattr(other, name) != getattr(first, name)]
        if differs:
            raise FoundError(f"{machine.me} and {ended.members[0].me} have other rosters: {differs}")


def _roster(ended: Ended, machine: SimMachine) -> View:
    """The roster of a machine, without strangers who wait: their lanes may be gone before all have seen them.

    A stranger is also who claims the name of a machine with another key than its own. Where some saw such a claim
    that others did not, before it was gone, they do not say the same of who waits under that name.
    """
    team = machine.node.team
    assert team is not None
    claims = [
        set(each.store.db.execute("SELECT replica, fingerprint FROM claims").fetchall())
        for each in ended.members
    ]
    gone = {replica for replica, _ in set.union(*claims) - set.intersection(*claims)}
    return replace(
        team.view, pending=tuple(each for each in team.view.pending if each in ended.lanes.keys() - gone)
    )


def shared(machine: SimMachine) -> dict[str, list[object]]:
    """All that is folded from ops on a machine, row by row, and none of what is only its own."""
    db = machine.store.db
    found: dict[str, list[object]] = {}
    for kind in KINDS:
        query = "SELECT subject, field, value, hlc FROM registers WHERE kind = ? ORDER BY subject, field"
        found[kind] = db.execute(query, (kind,)).fetchall()
    for table in (
        each for each in fold.TABLES if each != "folded"
    ):  # that is how it was judged, not what it is
        found[table] = sorted(db.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
    return found


def _one_state(ended: Ended) -> None:
    first = shared(ended.members[0])
    for machine in ended.members[1:]:
        other = shared(machine)
        differs = [name for name, value in first.items() if other[name] != value]
        if differs:
            name = differs[0]
            raise FoundError(
                f"{machine.me} and {ended.members[0].me} differ in {differs}: {_apart(other[name], first[name])}"
            )


def _apart(one: list[object], other: list[object]) -> str:
    return f"{[row for row in one if row not in other]} against {[row for row in other if row not in one]}"[
        :400
    ]


def _nothing_waits(ended: Ended) -> None:
    for machine in ended.members:
        for table in ("outbox", "unpublished"):
            (count,) = machine.store.db.execute(f"SELECT count(*) FROM {table}").fetchone()
            team = machine.node.team
            if count and team is not None and not team.view.members[machine.me].observer:
                raise FoundError(f"{machine.me} still has {count} rows in {table}")


# Every chain verifies


def _chains_verify(ended: Ended) -> None:
    for machine in ended.members:
        raws = lanes_of_machine(ended, machine)
        claims = key_claims(machine.me, raws, named={machine.identity.fingerprint})
        claim = next((each for each in claims if each.fingerprint == machine.identity.fingerprint), None)
        if claim is None:
            raise FoundError(f"the key of {machine.me} is not in its lane")
        read = read_lane(machine.me, raws, Cursor(), claim.key)
        if read.cursor.halted or read.stall or read.gap:
            raise FoundError(f"the chain of {machine.me} does not verify: {read.cursor.halted or read.stall}")
        own = [
            row[0]
            for row in machine.store.db.execute(
                "SELECT hash FROM ops WHERE replica = ? ORDER BY seq", (machine.me,)
            )
        ]
        if [entry.hash for entry in read.entries] != own:
            raise FoundError(f"the far side and {machine.me} do not have the same chain")


def lanes_of_machine(ended: Ended, machine: SimMachine) -> list[bytes]:
    return lanes_of(ended.stage.network.main).get(machine.me, [])


_OF_THE_ROSTER: Final = (
    _one_roster,
    _chains_verify,
    mail_checks.nothing_local_left,
    mail_checks.only_readers_read,
)
_OF_THE_REST: Final = (
    _one_state,
    _nothing_waits,
    mail_checks.arrived_once,
    mail_checks.work_item_mail_is_somewhere,
    mail_checks.rows_match,
    mail_checks.questions_agree,
    mail_checks.nothing_said_is_unsaid,
)
