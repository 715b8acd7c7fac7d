"""The tables of peers (section 8.9). Times are milliseconds since 1970.

Functions that write assume an open transaction.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from bindings.a2a.peers.peer import SCHEME, About, Declared, Interface, Peer, PeerState, Skill
from core.message import Delivery, State, Via


class Point(StrEnum):
    """Where the peers' worker and commands commit. A crash test visits each, before and after."""

    PEER = "a2a.peer"  # what is known of a peer
    POSTPONED = "a2a.postponed"  # a delivery or a task that is to be tried later
    RELAYED = "a2a.relayed"  # what a peer accepted
    GIVEN_UP = "a2a.given-up"  # a delivery that is not tried any more
    FOLLOWED = "a2a.followed"  # how far a task's events are recorded
    SKIPPED = "a2a.skipped"  # of which skipped peers the owner was told
    WORD = "a2a.word"  # which task a recorded message tells of


_PEER: Final = "alias, card_url, interface_json, about_json, options_json, state, why, added_at, refresh_at"
_TASK: Final = "alias, task, context, message, direct, begun_at, next_at, failures, noticed_at, is_open"


# Peers


def put(db: sqlite3.Connection, peer: Peer) -> None:
    """Keep a peer as it is now."""
    db.execute(
        f"INSERT OR REPLACE INTO a2a_peers ({_PEER}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            peer.alias,
            peer.card_url,
            json.dumps(asdict(peer.interface)),
            json.dumps(asdict(peer.about)),
            json.dumps(dict(peer.options)),
            str(peer.state),
            peer.why,
            peer.added_at,
            peer.refresh_at,
        ),
    )


def find(db: sqlite3.Connection, alias: str) -> Peer | None:
    """A peer by its alias."""
    row = db.execute(f"SELECT {_PEER} FROM a2a_peers WHERE alias = ?", (alias,)).fetchone()
    return None if row is None else _peer(row)


def state_of(db: sqlite3.Connection, alias: str) -> PeerState | None:
    """The state of a peer; None where there is none."""
    row = db.execute("SELECT state FROM a2a_peers WHERE alias = ?", (alias,)).fetchone()
    return None if row is None else PeerState(row[0])


def every(db: sqlite3.Connection) -> list[Peer]:
    """All peers, by their aliases."""
    return [_peer(row) for row in db.execute(f"SELECT {_PEER} FROM a2a_peers ORDER BY alias")]


def move(db: sqlite3.Connection, alias: str, state: PeerState, why: str = "") -> bool:
    """Change a peer's state; False where it is in it already, or is gone."""
    moved = db.execute(
        "UPDATE a2a_peers SET state = ?, why = ? WHERE alias = ? AND state <> ?",
        (str(state), why, alias, str(state)),
    )
    return moved.rowcount > 0


def refresh_later(db: sqlite3.Connection, alias: str, at: int) -> None:
    """Have a peer's card fetched at another time."""
    db.execute("UPDATE a2a_peers SET refresh_at = ? WHERE alias = ?", (at, alias))


def remove(db: sqlite3.Connection, alias: str) -> bool:
    """Forget a peer; whether there was one. Its tasks and what was sent to it stay known."""
    return db.execute("DELETE FROM a2a_peers WHERE alias = ?", (alias,)).rowcount > 0


def forget_tasks(db: sqlite3.Connection, alias: str) -> None:
    """Forget the tasks of whoever had an alias before: another peer's are its own, whatever it calls them."""
    db.execute("DELETE FROM a2a_peer_tasks WHERE alias = ?", (alias,))
    db.execute("DELETE FROM a2a_peer_words WHERE alias = ?", (alias,))


def _peer(row: tuple[Any, ...]) -> Peer:
    alias, card_url, interface, about, options, state, why, added_at, refresh_at = row
    said: Mapping[str, Any] = json.loads(about)
    return Peer(
        alias,
        card_url,
        Interface(**json.loads(interface)),
        About(
            said["name"],
            said["description"],
            tuple(Skill(**each) for each in said["skills"]),
            tuple(Declared(**each) for each in said["extensions"]),
        ),
        PeerState(state),
        added_at,
        refresh_at,
        json.loads(options),
        why,
    )


# Deliveries


@dataclass(frozen=True, slots=True)
class Sending:
    """A delivery that waits to be relayed; `tries` and `first_at` of those before, 0 where there were none."""

    delivery: Delivery
    tries: int
    first_at: int

    @property
    def alias(self) -> str:
        """Whom it is for."""
        return self.delivery.recipient.removeprefix(SCHEME)

    @property
    def direct(self) -> bool:
        """Whether the peer was addressed itself."""
        return self.delivery.via is Via.DIRECT


_HELD: Final = (
    " FROM deliveries AS d LEFT JOIN a2a_sends AS s ON s.delivery = d.id"
    " WHERE d.state = 'held' AND d.recipient >= 'a2a:' AND d.recipient < 'a2a;' AND s.over IS NULL"
)


def due(db: sqlite3.Connection, now: int, most: int) -> list[Sending]:
    """The held mail of peers whose time has come, the oldest first."""
    rows = db.execute(
        "SELECT d.id, d.message, d.recipient, d.via, d.state, d.session, d.changed_at, s.tries, s.first_at"
        f"{_HELD} AND coalesce(s.next_at, 0) <= ? ORDER BY d.position LIMIT ?",
        (now, most),
    )
    return [
        Sending(
            Delivery(row[0], row[1], row[2], Via(row[3]), State(row[4]), row[5], row[6]),
            row[7] or 0,
            row[8] or 0,
        )
        for row in rows
    ]


def next_due(db: sqlite3.Connection) -> int | None:
    """When the next held delivery, task or card is due; None where nothing waits."""
    times = [
        db.execute(f"SELECT min(coalesce(s.next_at, 0)){_HELD}").fetchone()[0],
        db.execute("SELECT min(next_at) FROM a2a_peer_tasks WHERE is_open = 1").fetchone()[0],
        db.execute("SELECT min(refresh_at) FROM a2a_peers WHERE state = 'active'").fetchone()[0],
        db.execute("SELECT min(0) FROM a2a_skipped").fetchone()[0],
    ]
    return min((int(each) for each in times if each is not None), default=None)


def postpone(db: sqlite3.Connection, one: Sending, now: int, until: int, *, tried: bool) -> None:
    """Try a delivery again at another time; `tried` where it counts as a try, from the first of which it ages."""
    db.execute(
        "INSERT INTO a2a_sends (delivery, alias, tries, first_at, next_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (delivery) DO UPDATE SET tries = excluded.tries, first_at = excluded.first_at,"
        " next_at = excluded.next_at",
        (one.delivery.id, one.alias, one.tries + tried, one.first_at or (now if tried else 0), until),
    )


def try_now(db: sqlite3.Connection, alias: str) -> None:
    """Have everything that waits for a peer tried at once."""
    db.execute("UPDATE a2a_sends SET next_at = 0 WHERE alias = ? AND over IS NULL", (alias,))
    db.execute("UPDATE a2a_peer_tasks SET next_at = 0 WHERE alias = ? AND is_open = 1", (alias,))


def finish(db: sqlite3.Connection, one: Sending, now: int, over: str) -> None:
    """Try a delivery no more; `over` says what became of it: `relayed`, `refused` or `given-up`."""
    db.execute(
        "INSERT INTO a2a_sends (delivery, alias, tries, first_at, next_at, over) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (delivery) DO UPDATE SET next_at = excluded.next_at, over = excluded.over",
        (one.delivery.id, one.alias, one.tries + 1, one.first_at or now, now, over),
    )


def sent_since(db: sqlite3.Connection, alias: str, since: int, since_text: str) -> int:
    """How many messages count for a peer's quota: those addressed to it, and those relayed to it from a channel."""
    (direct,) = db.execute(
        "SELECT count(*) FROM deliveries JOIN messages ON messages.id = deliveries.message"
        " WHERE recipient = ? AND via = 'direct' AND created_at > ?",
        (f"{SCHEME}{alias}", since_text),
    ).fetchone()
    (relayed,) = db.execute(
        "SELECT count(*) FROM a2a_sends JOIN deliveries ON deliveries.id = a2a_sends.delivery"
        " WHERE alias = ? AND over IS NOT NULL AND next_at > ? AND via = 'channel'",
        (alias, since),
    ).fetchone()
    return int(direct + relayed)


# Channels


def skipped(db: sqlite3.Connection, alias: str, now: int) -> None:
    """Remember that a channel's message skipped a peer, for its owner to be told of."""
    db.execute("INSERT OR IGNORE INTO a2a_skipped (alias, at) VALUES (?, ?)", (alias, now))


def to_tell(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Which peers were skipped since their owner was last told, and when first."""
    return [(alias, at) for alias, at in db.execute("SELECT alias, at FROM a2a_skipped ORDER BY alias")]


def told(db: sqlite3.Connection, alias: str) -> None:
    """Forget that a peer was skipped: its owner was told."""
    db.execute("DELETE FROM a2a_skipped WHERE alias = ?", (alias,))


# Tasks


@dataclass(frozen=True, slots=True)
class PeerTask:
    """A task at a peer, which `message` opened; `direct` whether that was addressed to the peer itself."""

    alias: str
    task: str
    context: str
    message: str
    direct: bool
    begun_at: int
    next_at: int
    failures: int = 0
    noticed_at: int = 0
    is_open: bool = True


def open_task(db: sqlite3.Connection, task: PeerTask) -> None:
    """Follow a task; one that is followed already, or was, goes on to be, from its next due time."""
    db.execute(
        f"INSERT INTO a2a_peer_tasks ({_TASK}) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 1) ON CONFLICT (alias, task)"
        " DO UPDATE SET next_at = excluded.next_at, is_open = 1, failures = 0",
        (task.alias, task.task, task.context, task.message, task.direct, task.begun_at, task.next_at),
    )


def tasks_due(db: sqlite3.Connection, now: int, most: int) -> list[PeerTask]:
    """The open tasks to look at now, the most overdue first."""
    rows = db.execute(
        f"SELECT {_TASK} FROM a2a_peer_tasks WHERE is_open = 1 AND next_at <= ? ORDER BY next_at LIMIT ?",
        (now, most),
    )
    return [_task(row) for row in rows]


def task(db: sqlite3.Connection, alias: str, name: str) -> PeerTask | None:
    """A task of a peer by its id."""
    row = db.execute(
        f"SELECT {_TASK} FROM a2a_peer_tasks WHERE alias = ? AND task = ?", (alias, name)
    ).fetchone()
    return None if row is None else _task(row)


def task_of_message(db: sqlite3.Connection, alias: str, message: str) -> PeerTask | None:
    """The task of a peer that a message opened, or that a message from the peer told of."""
    row = db.execute(
        f"SELECT {_TASK} FROM a2a_peer_tasks WHERE alias = ?1 AND (message = ?2 OR task ="
        " (SELECT task FROM a2a_peer_words WHERE message = ?2 AND alias = ?1)) ORDER BY begun_at DESC LIMIT 1",
        (alias, message),
    ).fetchone()
    return None if row is None else _task(row)


def followed(db: sqlite3.Connection, task: PeerTask) -> None:
    """Write down how far a task is followed."""
    db.execute(
        "UPDATE a2a_peer_tasks SET next_at = ?, failures = ?, noticed_at = ?, is_open = ? WHERE alias = ? AND task = ?",
        (task.next_at, task.failures, task.noticed_at, task.is_open, task.alias, task.task),
    )


def open_tasks(db: sqlite3.Connection, alias: str) -> int:
    """How many tasks of a peer are followed."""
    (count,) = db.execute(
        "SELECT count(*) FROM a2a_peer_tasks WHERE alias = ? AND is_open = 1", (alias,)
    ).fetchone()
    return int(count)


def open_questions(db: sqlite3.Connection, alias: str, task: str) -> list[str]:
    """The questions that a peer asked about a task, and nobody answered."""
    rows = db.execute(
        "SELECT messages.id FROM a2a_peer_words AS words JOIN messages ON messages.id = words.message"
        " WHERE words.alias = ? AND words.task = ? AND kind = 'question' AND NOT EXISTS"
        " (SELECT 1 FROM messages AS answer WHERE answer.reply_to = messages.id AND answer.kind = 'answer')",
        (alias, task),
    )
    return [str(message) for (message,) in rows]


def tells_of(db: sqlite3.Connection, message: str, alias: str, task: str) -> None:
    """Remember which task a recorded message tells of."""
    db.execute(
        "INSERT OR IGNORE INTO a2a_peer_words (message, alias, task) VALUES (?, ?, ?)", (message, alias, task)
    )


def _task(row: tuple[Any, ...]) -> PeerTask:
    alias, task, context, message, direct, begun_at, next_at, failures, noticed_at, is_open = row
    return PeerTask(
        alias, task, context, message, bool(direct), begun_at, next_at, failures, noticed_at, bool(is_open)
    )
