"""The messages table. Functions that write assume an open transaction."""

import sqlite3
from typing import Any, Final

from core.errors import damaged
from core.gate_data import has_gate_data
from core.ids import ULID_GLOB
from core.message import ABSENT, Absent, Message, Ref, Standing
from core.text import shown
from crypto.canonical import JsonValue, canonical, parse

_COLUMNS: Final = (
    "id, thread, reply_to, sender, recipients, kind, body, created_at, session, refs, data, "
    "urgent, blocking, choices, choice, wake, origin, hlc, received_at, standing, demoted"
)
_INSERT: Final = f"INSERT INTO messages ({_COLUMNS}, idempotency_key, gate) VALUES ({'?, ' * 22}?)"
_BY_ID: Final = f"SELECT {_COLUMNS} FROM messages WHERE id = ?"
_IS_STORED: Final = "SELECT 1 FROM messages WHERE id = ?"
_BY_KEY: Final = f"SELECT {_COLUMNS} FROM messages WHERE sender = ? AND idempotency_key = ?"
_BY_THREAD: Final = f"SELECT {_COLUMNS} FROM messages WHERE thread = ?"
_ANSWER: Final = f"SELECT {_COLUMNS} FROM messages WHERE reply_to = ? AND kind = 'answer'"
_ANSWERS: Final = (
    f"SELECT {_COLUMNS} FROM messages WHERE reply_to = ? AND standing IS NOT NULL ORDER BY position"
)
_QUESTIONS: Final = f"SELECT {_COLUMNS} FROM messages AS question WHERE"
_ANSWERED: Final = "EXISTS (SELECT 1 FROM messages WHERE reply_to = question.id AND kind = 'answer')"
_OPEN: Final = f"{_QUESTIONS} blocking = 1 AND NOT {_ANSWERED} ORDER BY position"
_OPEN_WITH_GATE_DATA: Final = f"{_QUESTIONS} gate = 'waiting' AND NOT {_ANSWERED} ORDER BY position"
_ASKED_BY_SESSIONS: Final = (
    f"{_QUESTIONS} blocking = 1 AND sender >= 'run:' AND sender < 'run;' AND created_at <= ?"
    f" AND NOT {_ANSWERED} ORDER BY position"
)
_WITH_GATE_DATA: Final = f"SELECT {_COLUMNS} FROM messages WHERE gate IS NOT NULL ORDER BY position"
_UNSETTLED: Final = f"{_QUESTIONS} gate = 'waiting' AND {_ANSWERED} ORDER BY position"
_VOIDED: Final = "SELECT id FROM messages WHERE standing = 'voided' ORDER BY position"
# Ids of other hosts and of other forms do not count: one of those may sort after all of ours.
_LAST_ID: Final = (
    f"SELECT id FROM messages WHERE origin IS NULL AND id < 'm-8' AND id GLOB 'm-{ULID_GLOB}'"
    " ORDER BY id DESC LIMIT 1"
)
_STAND: Final = "UPDATE messages SET kind = ?, standing = ? WHERE id = ?"


def insert_message(db: sqlite3.Connection, message: Message, idempotency_key: str | None = None) -> None:
    """Store a message as it is, `standing` included."""
    refs: JsonValue = [ref.to_json() for ref in message.refs]
    choices = message.choices
    db.execute(
        _INSERT,
        (
            message.id,
            message.thread,
            message.reply_to,
            message.sender,
            " ".join(message.to),
            message.kind,
            message.body,
            message.created_at,
            message.session,
            canonical(refs).decode() if refs else None,
            None if isinstance(message.data, Absent) else canonical(message.data).decode(),
            int(message.urgent),
            int(message.blocking),
            None if choices is None else canonical(list(choices)).decode(),
            message.choice,
            message.wake,
            message.origin,
            message.hlc,
            message.received_at,
            message.standing,
            int(message.demoted),
            idempotency_key,
            "waiting" if message.takes_answer and has_gate_data(message.data) else None,
        ),
    )


def message_by_id(db: sqlite3.Connection, message_id: str) -> Message | None:
    """Return a stored message."""
    return _one(db, _BY_ID, message_id)


def is_stored(db: sqlite3.Connection, message_id: str) -> bool:
    """Whether a message is stored: for ids that are mostly new, half of what it costs to ask for the message."""
    return db.execute(_IS_STORED, (message_id,)).fetchone() is not None


def message_by_key(db: sqlite3.Connection, sender: str, idempotency_key: str) -> Message | None:
    """Return the message a sender sent with an idempotency key (section 4.9)."""
    return _one(db, _BY_KEY, sender, idempotency_key)


def messages_of_thread(db: sqlite3.Connection, thread: str) -> list[Message]:
    """Return a thread's messages, in no order."""
    return _all(db, _BY_THREAD, thread)


def answer_to(db: sqlite3.Connection, question: str) -> Message | None:
    """Return the one answer to a question."""
    return _one(db, _ANSWER, question)


def answers_to(db: sqlite3.Connection, question: str) -> list[Message]:
    """Return the answer to a question and every reply that was sent as one, in order of arrival."""
    return _all(db, _ANSWERS, question)


def open_blocking_questions(db: sqlite3.Connection) -> list[Message]:
    """Return the blocking questions and handoffs without an answer, in order of arrival (section 7.1)."""
    return _all(db, _OPEN)


def open_questions_with_gate_data(db: sqlite3.Connection) -> list[Message]:
    """Return the questions and handoffs with gate data and without an answer, in order of arrival."""
    return _all(db, _OPEN_WITH_GATE_DATA)


def blocking_questions_of_sessions(db: sqlite3.Connection, until: str) -> list[Message]:
    """Return the blocking questions that sessions asked no later than `until` and nobody answered."""
    return _all(db, _ASKED_BY_SESSIONS, until)


def questions_with_gate_data(db: sqlite3.Connection) -> list[Message]:
    """Return the questions and handoffs with gate data, answered or not, in order of arrival."""
    return _all(db, _WITH_GATE_DATA)


def unsettled_questions_with_gate_data(db: sqlite3.Connection) -> list[Message]:
    """Return those that are answered, not closed, and whose effect, if any, is not applied."""
    return _all(db, _UNSETTLED)


def voided_answers(db: sqlite3.Connection) -> list[str]:
    """Return the ids of the answers that were voided (section 5.7)."""
    return [row[0] for row in db.execute(_VOIDED)]


def last_message_id(db: sqlite3.Connection) -> str | None:
    """Return the greatest ULID a message created here has."""
    last = db.execute(_LAST_ID).fetchone()
    return None if last is None else str(last[0])


def set_standing(db: sqlite3.Connection, message_id: str, standing: Standing) -> None:
    """Make an answer what `standing` says; one that is not the answer is stored as a message."""
    is_answer = standing in (Standing.ACCEPTED, Standing.PENDING)
    db.execute(_STAND, ("answer" if is_answer else "message", standing, message_id))


def _one(db: sqlite3.Connection, query: str, *texts: str) -> Message | None:
    try:
        row = db.execute(query, texts).fetchone()
    except UnicodeEncodeError:  # a text that is no Unicode names nothing
        return None
    return None if row is None else _message(row)


def _all(db: sqlite3.Connection, query: str, *texts: str) -> list[Message]:
    try:
        return [_message(row) for row in db.execute(query, texts)]
    except UnicodeEncodeError:
        return []


def _message(row: tuple[Any, ...]) -> Message:
    try:
        return _read(row)
    except (ValueError, TypeError, AssertionError):  # none of whose texts may show what the row holds
        raise damaged(f"message {shown(str(row[0]))}") from None


def _read(row: tuple[Any, ...]) -> Message:
    recipients, refs, data, choices, standing = row[4], row[9], row[10], row[13], row[19]
    return Message(
        id=row[0],
        thread=row[1],
        reply_to=row[2],
        sender=row[3],
        to=tuple(recipients.split(" ")),
        kind=row[5],
        body=row[6],
        created_at=row[7],
        session=row[8],
        refs=() if refs is None else tuple(Ref(**ref) for ref in _list(refs)),
        data=ABSENT if data is None else parse(data).value,
        urgent=bool(row[11]),
        blocking=bool(row[12]),
        choices=None if choices is None else tuple(_list(choices)),
        choice=row[14],
        wake=row[15],
        origin=row[16],
        hlc=row[17],
        received_at=row[18],
        standing=None if standing is None else Standing(standing),
        demoted=bool(row[20]),
    )


def _list(text: str) -> list[Any]:
    found = parse(text).value
    assert isinstance(found, list)
    return found
