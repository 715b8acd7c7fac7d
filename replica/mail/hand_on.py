"""Handing on mail that waits for a work item to the replica where its session lives now (federation wire 9.G).

The origin of the mail sends it anew; any other that holds it forwards the origin's own op. Each does so once for a
message and a replica, and not where the mail went already: a session that starts there takes it over by itself.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace

from core.engine import Engine
from core.errors import DmpError
from core.message import Message, State, Via
from core.store.messages import answer_to, message_by_id
from core.timestamp import timestamp
from crypto.canonical import JsonValue, decode, parse
from crypto.encoding import b64u
from crypto.op import ABSENT, Op, to_line
from crypto.sealing import unwrap_key
from replica.mail.carried import FORWARD
from replica.mail.local_only import refuse_local_only
from replica.mail.opened import open_op
from replica.mail.payloads import parse_forward
from replica.mail.speaks_for import is_believed
from replica.node import Node
from replica.records import ops, outbox, remote
from replica.records.commits import CommitPoint
from replica.shared.homes import live_replica
from replica.team.roster import Team


def hand_on_held(node: Node, team: Team) -> int:
    """Queue what waits here for sessions that live elsewhere; return how many messages."""
    if team.view.members[node.me].observer:
        return 0  # what it says is believed nowhere
    due = list(_due(node, team))
    if due:
        with node.store.transaction(CommitPoint.HANDED_ON) as db:
            for message, recipient, via, to in due:
                _queue(db, node, message, recipient, via, to)
    return len(due)


def forward_of(db: sqlite3.Connection, node: Node, message_id: str) -> tuple[JsonValue, str] | None:
    """The op of its origin that brought a message here, as JSON, and its content key; None where it is gone."""
    place = remote.carrier_of(db, message_id)
    op = None if place is None else ops.entry_at(db, *place)
    if not isinstance(op, Op):
        return None
    if op.body is not ABSENT:  # it was handed on to this replica too
        given = parse_forward(open_op(node, op))
        assert isinstance(op.body, dict)
        return op.body[FORWARD], given.key
    private = node.identity.secrets.seal_private
    key = unwrap_key(op.sealed, replica=op.replica, seq=op.seq, type=op.type, me=node.me, private=private)
    return parse(decode(to_line(op))).value, b64u(key)


def _due(node: Node, team: Team) -> Iterator[tuple[Message, str, Via, str]]:
    db = node.store.db
    for recipient, waiting in _waiting(db).items():
        to = live_replica(db, team.view, recipient)
        if to is None or to == node.me:
            continue
        for message_id, via in waiting:
            message = message_by_id(db, message_id)
            if message is None or to == message.origin or to in remote.readers_of(db, message_id):
                continue
            if answer_to(db, message_id) is not None:
                continue  # a question that has its answer asks nobody, and who came later would not hear of it
            if message.origin is not None or _may_leave(db, node.engine, message, node.me):
                yield message, recipient, via, to


def _waiting(db: sqlite3.Connection) -> dict[str, list[tuple[str, Via]]]:
    """What waits for each work item: here, or, of this replica's own, at a home."""
    rows = db.execute(
        "SELECT recipient, message, via FROM deliveries WHERE state = ? AND recipient BETWEEN 'task:' AND 'task;' "
        "UNION SELECT r.recipient, r.message, r.via FROM remote_rows AS r JOIN messages AS m ON m.id = r.message "
        "WHERE r.state IN ('forwarded', 'held') AND r.recipient BETWEEN 'task:' AND 'task;' "
        "AND m.origin IS NULL ORDER BY 1, 2",
        (State.HELD,),
    )
    found: dict[str, list[tuple[str, Via]]] = {}
    for recipient, message, via in rows:
        found.setdefault(recipient, []).append((message, Via(via)))
    return found


def _may_leave(db: sqlite3.Connection, engine: Engine, message: Message, me: str) -> bool:
    """Whether mail of this replica's may go to a teammate: nothing from before it was in a team does (9.C1)."""
    if message.hlc is None or not is_believed(db, me, message.sender):
        return False
    if message.sender == engine.host.system_address:
        return False
    replied = None if message.reply_to is None else message_by_id(db, message.reply_to)
    try:
        refuse_local_only(message, replied, message_by_id(db, message.thread), "to")
    except DmpError:
        return False
    return True


def _queue(db: sqlite3.Connection, node: Node, message: Message, recipient: str, via: Via, to: str) -> None:
    row = remote.row_of(db, message.id, recipient)
    if row is None:
        remote.insert(db, remote.forwarded(message.id, recipient, via, [to], timestamp(node.wall())))
    else:
        remote.update(db, replace(row, homes=tuple(sorted({*row.homes, to}))))
    remote.set_readers(db, message.id, [to])
    if message.origin is None:
        target: dict[str, object] = {"recipient": recipient, "via": via, "homes": [to]}
        if message.wake == "request":
            target["wakeAt"] = to
        outbox.add(db, outbox.Kind.MAIL, {"message": message.id, "targets": [target]}, [to])
    else:
        outbox.add(db, outbox.Kind.FORWARD, {"message": message.id, "target": recipient}, [to])
