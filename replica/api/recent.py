"""The threads of the store, those with the latest messages first (section A.2).

There may be a million messages: an answer looks at the newest few thousand that it needs, and says where to go on.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from core.address import DISPATCH, parse_address
from core.errors import invalid, not_found
from core.message import Message
from core.store.messages import message_by_id
from replica.node import Node

LOOKED_AT: Final = 5_000
"""Messages that are looked at for one answer: a thread may have any number of them."""

_NEWEST: Final = "SELECT id, thread FROM messages WHERE position < ? ORDER BY position DESC LIMIT ?"
_OF_SENDERS: Final = (
    "SELECT id, thread FROM messages WHERE position IN ("
    "SELECT messages.position FROM messages JOIN deliveries ON deliveries.message = messages.id"
    " WHERE deliveries.recipient IN ({marks})"
    " UNION SELECT position FROM messages"
    " WHERE sender IN ({marks}) AND sender >= 'run:' AND sender < 'run;')"
    " ORDER BY position DESC LIMIT ?"
)
_POSITION: Final = "SELECT position FROM messages WHERE id = ?"
_LATEST: Final = "SELECT id FROM messages WHERE thread = ? ORDER BY position DESC LIMIT 1"
_LATER: Final = "SELECT 1 FROM messages WHERE thread = ? AND position >= ? LIMIT 1"
_COUNT: Final = "SELECT count(*) FROM messages WHERE thread = ?"


@dataclass(frozen=True, slots=True)
class Recent:
    """A thread: the message it began with, None where that is not here, the latest, and how many there are."""

    thread: str
    first: Message | None
    latest: Message
    count: int


@dataclass(frozen=True, slots=True)
class Page:
    """Threads, and the message before which to go on; None where there are no more."""

    threads: list[Recent]
    next: str | None


def threads(node: Node, limit: int, about: str | None, before: str | None) -> Page:
    """The threads whose latest messages came before the message `before`, those of one work item with `about`.

    Raises DmpError: `invalid` on `about`, `not-found` on `before`.
    """
    if about is not None and before is not None:
        raise invalid("before", "the threads of a work item come in one page; leave before out")
    with node.store.reading() as db:
        start = 2**62
        if before is not None:
            row = db.execute(_POSITION, (_text(before),)).fetchone()
            if row is None:
                raise not_found("before", "no message has that id; start again from the first page")
            (start,) = row
        if about is None:
            rows = db.execute(_NEWEST, (start, LOOKED_AT)).fetchall()
        else:
            addresses = _of_work_item(node, about)
            query = _OF_SENDERS.format(marks=", ".join("?" * len(addresses)))
            rows = db.execute(query, (*addresses, *addresses, LOOKED_AT)).fetchall()
        found: dict[str, None] = {}
        last: str | None = None
        more = len(rows) == LOOKED_AT
        for message_id, thread in rows:
            if thread not in found and len(found) == limit:
                more = True
                break
            last = message_id
            if before is None or not _goes_on(node, thread, start):
                found[thread] = None
        shown = [each for each in map(partial(_recent, node), found) if each is not None]
        return Page(shown, last if more and about is None else None)


def _goes_on(node: Node, thread: str, start: int) -> bool:
    """Whether a thread was on an earlier page: it has later messages."""
    return node.store.db.execute(_LATER, (thread, start)).fetchone() is not None


def _recent(node: Node, thread: str) -> Recent | None:
    db = node.store.db
    (latest_id,) = db.execute(_LATEST, (thread,)).fetchone()
    latest = message_by_id(db, latest_id)
    if latest is not None and not node.engine.is_published(latest):
        there = node.engine.thread(thread)
        latest = there[-1] if there else None
    if latest is None:
        return None
    (count,) = db.execute(_COUNT, (thread,)).fetchone()
    return Recent(thread, node.engine.message(thread), latest, int(count))


def _of_work_item(node: Node, about: str) -> list[str]:
    """A work item's address and its sessions'."""
    if parse_address(about, "about", DISPATCH).kind != "task":
        raise invalid("about", "threads are about a work item, task:<id>")
    return list(dict.fromkeys((about, *node.host.sessions(about))))


def _text(text: str) -> str:
    """A text that SQLite takes; one that is no Unicode names nothing."""
    return text.encode(errors="replace").decode()
