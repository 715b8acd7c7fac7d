"""The trail: what was refused, what came to a halt, and who changed the roster, in the order of its time.

Nothing is written for it but what the store keeps anyway: signed roster ops, mail that its recipients' machines
refused, and problems. Of problems the store remembers also those that have gone (table `trail`), the newest of them.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.timestamp import milliseconds, timestamp
from crypto.canonical import JsonValue
from crypto.roster import RosterOp
from crypto.roster import bodies as said
from replica.node import Node
from replica.quoting import quoted
from replica.records import subjects
from replica.team.roster import Team, named, stored_roster_ops


class Event(StrEnum):
    """What an entry tells of."""

    ROSTER = "roster"  # somebody changed who is in the team, or what they may do
    REFUSAL = "refusal"  # what somebody said was not taken, here or by whom it was for
    HALT = "halt"  # a chain, or this replica's own signing, does not go on
    PROBLEM = "problem"  # something else that a person should know


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One entry. `over` tells that what it says holds no more from then on.

    `at` is when this replica noted it; of a roster op what its author's clock said. `subject` is that of a problem.
    """

    at: str
    event: Event
    subject: str
    text: str
    replica: str | None = None
    seq: int | None = None
    over: bool = False

    def to_json(self) -> dict[str, JsonValue]:
        """The entry for a program."""
        return {
            "at": self.at,
            "event": str(self.event),
            "subject": self.subject,
            "text": self.text,
            "replica": self.replica,
            "seq": self.seq,
            "over": self.over,
        }


_HALTS: Final = (
    *(subjects.HALT, subjects.OWN_STOPPED, subjects.OWN_PAUSED, subjects.OWN_RESTORED),
    subjects.NEWER,
)
_REFUSALS: Final = (
    *(subjects.OP, subjects.ROSTER, subjects.INVITE, subjects.CUT, subjects.OBSERVER, subjects.MALFORMED),
    *(subjects.MAIL_DROP, subjects.COLLISION, subjects.SPEAKS_FOR, subjects.MESSAGE, subjects.TASK),
    *(subjects.AGENT, subjects.CHANNEL, subjects.PRESENCE, subjects.MEMORY, subjects.DOC),
)


def entries(node: Node, since: str = "") -> list[Entry]:
    """What happened at `since` (a timestamp) or later, the oldest first."""
    with node.store.reading() as db:
        team = node.team
        found = [*_problems(db, since), *_refused(db, since), *_roster(db, team)]
    return sorted(each for each in found if each.at >= since)


def _problems(db: sqlite3.Connection, since: str) -> Iterable[Entry]:
    rows = db.execute(
        "SELECT at, subject, text, replica, seq, over FROM trail WHERE at >= ? ORDER BY id", (since,)
    )
    for at, subject, text, replica, seq, over in rows:
        yield Entry(at, _event(subject), subject, text, replica, seq, bool(over))


def _event(subject: str) -> Event:
    kind = subjects.kind_of(subject)
    if kind in _HALTS:
        return Event.HALT
    return Event.REFUSAL if kind in _REFUSALS else Event.PROBLEM


def _refused(db: sqlite3.Connection, since: str) -> Iterable[Entry]:
    rows = db.execute(
        "SELECT message, recipient, refused_json, changed_at FROM remote_rows WHERE refused_json <> '{}' "
        "AND changed_at >= ?",
        (since,),
    )
    for message, recipient, refused, at in rows:
        for replica, why in sorted(json.loads(refused).items()):
            text = f"{replica} refused {message} for {recipient}: {quoted(str(why))}"
            yield Entry(at, Event.REFUSAL, f"mail:{message}", text, replica)


def _roster(db: sqlite3.Connection, team: Team | None) -> Iterable[Entry]:
    if team is None:
        return
    for op in stored_roster_ops(db):
        ignored = team.view.ignored.get(op.hash)
        text = f"{team.describe(op.replica)} {_deed(team, op)}"
        if ignored is not None:
            text += f"; it has no effect: {ignored.value}"
        yield Entry(
            timestamp(op.hlc.ms), Event.ROSTER, f"roster:{op.replica}:{op.seq}", text, op.replica, op.seq
        )


def _time(text: str) -> str:
    """A time that somebody wrote: in quotation marks where it is none."""
    try:
        milliseconds(text)
    except ValueError:
        return quoted(text)
    return text


def _deed(team: Team, op: RosterOp) -> str:
    """What a roster op does, as the end of a sentence that begins with its author."""
    match op.body:
        case said.Found(name=name):
            return f"founded the team {quoted(name)}"
        case said.Admit(replica=replica, handle=handle, role=role, observer=observer):
            what = "as an observer" if observer else f"as {role}"
            return f"let {replica} in, of {named(handle)}, {what}"
        case said.Revoke(replica=replica, reason=reason, cut=cut):
            return f"revoked {team.describe(replica)} after its op {cut.after_seq}: {quoted(reason)}"
        case said.SetRole(replica=replica, role=role):
            return f"made {team.describe(replica)} {role}"
        case said.SetHosts(replica=replica, hosts=hosts):
            whom = ", ".join(map(named, hosts)) or "nobody"
            return f"let {team.describe(replica)} stand in for {whom}"
        case said.CloseLegacy():
            return "declared that logs without signatures, from before the team was founded, count no more"
        case said.SetLicense():
            return "set the team's licence"
        case said.OpenInvite(handle=handle, expires=expires):
            return f"invited {named(handle)}, until {_time(expires)}"
        case said.Recover():
            return "came in with the recovery code"
        case said.SetRecoveryKey():
            return "made a new recovery code"
        case said.SetTransport(kind=kind, url=url):
            return f"moved the team to {kind}{'' if url is None else f' {quoted(url)}'}"
        case said.Dismiss(replica=replica, seq=seq):
            return f"took op {seq} of {team.describe(replica)} out of the roster"
        case said.Malformed():
            return "said something of the roster that cannot be read"
        case said.Unknown():
            return "said something of the roster that only a newer version reads"
