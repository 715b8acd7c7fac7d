"""Who came to read what others write (M4): a new machine, hosts that were added, or an observer widens that silently.

A person's machines say so when it happens. A sender is told who reads with every message, and who is new since the
last one to the same address.
"""

import json
import sqlite3

from core.message import Message
from replica.node import Node
from replica.records import problems, remote, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.team.roster import Team


def note_new_readers(node: Node, team: Team) -> None:
    """Note which machines came to get this person's mail since the last pass, and forget those that left."""
    db, view, whose = node.store.db, team.view, node.handle
    homes = {*view.replicas_of(whose)} - {node.me}
    observers = {name for name, member in view.members.items() if member.observer} - {node.me}
    now = json.dumps(sorted(homes | observers))
    before = get(db, Meta.READ_BY)
    if before == now:
        return
    known = None if before is None else set(json.loads(before))
    with node.store.transaction(CommitPoint.PROBLEM):
        put(db, Meta.READ_BY, now)
        for replica in sorted((homes | observers) - known if known is not None else ()):
            what = (
                f"gets the mail of {whose} from now on, as this machine does"
                if replica in homes
                else "reads along in all mail that leaves from now on, as an observer"
            )
            text = f"{team.describe(replica)} {what}"
            problems.note(db, problems.Problem(subjects.READS.of(replica), text, replica, None, node.now()))
        for replica in (known or set()) - homes - observers:
            problems.clear(db, subjects.READS.of(replica))


def new_since_the_last(db: sqlite3.Connection, team: Team, message: Message) -> list[str]:
    """Replicas that read a message sent here and did not read the one sent before it to the same addresses."""
    observers = {name for name, member in team.view.members.items() if member.observer}
    read: set[str] = set()
    reading: set[str] = set()
    for row in remote.rows_of(db, message.id):
        last = remote.sent_before(db, row)
        if last is not None:
            read.update(remote.readers_of(db, last))
            reading.update(row.homes, observers)
    return sorted(reading.intersection(remote.readers_of(db, message.id)) - read)
