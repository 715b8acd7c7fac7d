"""Settlement: one answer to a question, across replicas (F.6).

The settler of a question is its origin, and only the settler is believed. Elsewhere the first answer seen is
the answer, pending, until the settler names one.
"""

import sqlite3
from typing import Final

from core.answering import answer_deliveries, choose, supersede
from core.errors import DmpError
from core.message import Message, Standing
from core.received import validate_received
from core.store.messages import answers_to, insert_message, message_by_id, set_standing
from core.timestamp import timestamp
from replica.chain.clock import take_reading
from replica.mail.notices import Announcement, notice
from replica.mail.participants import need_participant
from replica.mail.payloads import Settle
from replica.mail.refusals import queue_refusal
from replica.node import Node
from replica.quoting import quoted
from replica.records import problems, subjects

MAX_EARLY_SETTLES: Final = 1_000
"""Settlements of unknown questions kept for one publisher."""

MAX_ANSWERS: Final = 20
"""Answers and closes of one publisher kept for one question: none can crowd out another's."""

LATE_NOTICES: Final = 3
"""Authors of late answers told for one question; the rest find out from the thread."""


def apply_settle(db: sqlite3.Connection, node: Node, publisher: str, entry: Settle, op: str) -> bool:
    """Apply a settle entry, inside an open transaction; True when something changed here. `op` is the opHash.

    One from any other replica than the question's origin is refused and noted.
    """
    question = message_by_id(db, entry.question)
    if question is None:
        return _keep_early(db, node, publisher, entry, op)
    if question.origin != publisher or not question.takes_answer:
        _disbelieve(db, node, publisher, question.id)
        return False
    return _settle(db, node, question, entry.answer, entry.closed, op)


def has_room(db: sqlite3.Connection, question_id: str, publisher: str) -> bool:
    """Whether one more answer of `publisher` to a question is kept, which need not be here yet."""
    kept = sum(1 for answer in answers_to(db, question_id) if answer.origin == publisher)
    return kept < MAX_ANSWERS


def answer_arrived(
    db: sqlite3.Connection, node: Node, answer: Message, question: Message | None
) -> list[Announcement]:
    """What follows from an answer that was just stored; returns notices to announce after the commit."""
    if question is None:
        return []
    if question.origin is None:
        return _at_the_settler(db, node, answer, question)
    row = db.execute(
        "SELECT answer, closed, op FROM settlements WHERE question = ?", (question.id,)
    ).fetchone()
    if row is not None and row[0] == answer.id:
        _settle(db, node, question, *row)
    elif row is not None and answer.standing is not Standing.ACCEPTED:
        # The settler named another, whether or not that one is here: this one is no answer for a moment.
        set_standing(db, answer.id, Standing.SUPERSEDED)
    return []


def question_arrived(db: sqlite3.Connection, node: Node, question: Message) -> None:
    """Check the answers that came before their question, then apply the settlement that did (9.F4, 9.F6)."""
    engine = node.engine
    found: Message | None = None
    for answer in answers_to(db, question.id):
        try:
            validate_received(engine.host, answer.as_sent(), question)
            if answer.origin is not None:
                need_participant(db, engine, answer, answer.origin, question)
        except DmpError as refused:
            set_standing(db, answer.id, Standing.CANDIDATE)  # the settler has the last word
            if answer.origin is not None:
                queue_refusal(db, node, answer.id, answer.origin, str(refused))
        else:
            found = found or answer
    if found is not None:
        choose(db, question.id, found.id, standing=Standing.PENDING, others=Standing.CANDIDATE)
        answer_deliveries(db, engine.federation, question, node.now())
    early = db.execute(
        "SELECT publisher, answer, closed, op FROM early_settles WHERE question = ? ORDER BY publisher",
        (question.id,),
    ).fetchall()
    for publisher, answer_id, closed, op in early:
        if publisher == question.origin:
            _settle(db, node, question, answer_id, closed, op)
        else:
            _disbelieve(db, node, publisher, question.id)
    db.execute("DELETE FROM early_settles WHERE question = ?", (question.id,))


def _at_the_settler(
    db: sqlite3.Connection, node: Node, answer: Message, question: Message
) -> list[Announcement]:
    """The first answer applied is the answer, and its settlement goes out; a later one's author is told."""
    if answer.standing is Standing.ACCEPTED:
        node.engine.federation.answered(question, answer)
        return []
    late = sum(1 for other in answers_to(db, question.id) if other.standing is Standing.SUPERSEDED)
    if late > LATE_NOTICES:
        return []
    body = f"The question {question.id} was already answered; your answer {answer.id} was kept as a reply."
    return [notice(db, node.engine, answer.sender, body, answer, reply=False)]


def _settle(
    db: sqlite3.Connection,
    node: Node,
    question: Message,
    answer_id: str,
    closed: str | None,
    op: str | None,
) -> bool:
    """Make the settler's choice the answer, every other a reply, and the deliveries answered."""
    federation = node.engine.federation
    named = message_by_id(db, answer_id)
    if named is not None and all(each.id != answer_id for each in answers_to(db, question.id)):
        _note_taken(db, node, question, named)
        return False  # it is here, and no answer to this question: nothing follows from it (9.F5)
    before = db.execute("SELECT answer, op FROM settlements WHERE question = ?", (question.id,)).fetchone()
    if before is not None and before[0] != answer_id:
        _note_two_ways(db, node, question.id, question.origin, before[1], op)
    is_new_close = closed is not None and named is None
    if is_new_close and not has_room(db, question.id, question.origin or node.me):
        return False
    db.execute(
        "INSERT INTO settlements (question, answer, closed, op) VALUES (?, ?, ?, ?) ON CONFLICT (question) "
        "DO UPDATE SET answer = excluded.answer, closed = excluded.closed, op = excluded.op",
        (question.id, answer_id, closed, op),
    )
    if is_new_close and closed is not None:
        supersede(db, question.id)
        insert_message(db, _close(db, node, question, answer_id, closed))
    elif not choose(db, question.id, answer_id, standing=Standing.ACCEPTED, others=Standing.SUPERSEDED):
        return False  # it waits for its answer
    answer_deliveries(db, federation, question, node.now())
    return True


def _close(db: sqlite3.Connection, node: Node, question: Message, close_id: str, reason: str) -> Message:
    """The close the settler made, written here: a close never travels as mail (9.F7)."""
    now_ms = node.wall()
    return Message(
        id=close_id,
        thread=question.thread,
        reply_to=question.id,
        sender=node.engine.host.system_address,
        to=(question.sender,),
        kind="answer",
        body=f"Closed: {reason}",
        created_at=timestamp(now_ms),
        data={"type": "x-closed", "reason": reason},
        origin=question.origin,
        hlc=str(take_reading(db, node.me, now_ms)),
        received_at=timestamp(now_ms),
        standing=Standing.ACCEPTED,
    )


def _keep_early(db: sqlite3.Connection, node: Node, publisher: str, entry: Settle, op: str) -> bool:
    """Keep a settlement for its question; the one of the smallest id, an honest publisher's oldest, gives way."""
    before = db.execute(
        "SELECT answer, op FROM early_settles WHERE question = ? AND publisher = ?",
        (entry.question, publisher),
    ).fetchone()
    if before is not None and before[0] != entry.answer:
        _note_two_ways(db, node, entry.question, publisher, before[1], op)
    db.execute(
        "INSERT OR REPLACE INTO early_settles (question, publisher, answer, closed, op) VALUES (?, ?, ?, ?, ?)",
        (entry.question, publisher, entry.answer, entry.closed, op),
    )
    (kept,) = db.execute("SELECT count(*) FROM early_settles WHERE publisher = ?", (publisher,)).fetchone()
    if kept > MAX_EARLY_SETTLES:
        db.execute(
            "DELETE FROM early_settles WHERE publisher = ? AND question = "
            "(SELECT min(question) FROM early_settles WHERE publisher = ?)",
            (publisher, publisher),
        )
    return True


def _note_taken(db: sqlite3.Connection, node: Node, question: Message, named: Message) -> None:
    """A close cannot be written under an id that somebody's message has; who chose it first is not known here."""
    text = (
        f"{question.origin or node.me} settled {quoted(question.id)} with {quoted(named.id)}, which is another message "
        f"here, of {named.origin or node.me}; the question stays as it is"
    )
    subject = subjects.COLLISION.of(named.id)
    problems.note(db, problems.Problem(subject, text, question.origin, None, node.now()))


def _note_two_ways(
    db: sqlite3.Connection,
    node: Node,
    question: str,
    settler: str | None,
    one: str | None,
    other: str | None,
) -> None:
    """One question settled in two ways cannot be prevented; both ops are recorded, and the later counts (M1)."""
    text = (
        f"{settler or node.me} settled {quoted(question)} in two ways, in op {one or 'that is not kept'} and in op "
        f"{other or 'that is not kept'}; the later counts"
    )
    problems.note(db, problems.Problem(subjects.MESSAGE.of(question), text, settler, None, node.now()))


def _disbelieve(db: sqlite3.Connection, node: Node, publisher: str, question: str) -> None:
    problems.note(
        db,
        problems.Problem(
            subjects.MESSAGE.of(question),
            f"{publisher} published a settlement of {quoted(question)}, which is not its question; not believed",
            publisher,
            None,
            node.now(),
        ),
    )
