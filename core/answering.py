"""One answer per question, within a host and across replicas (sections 4.7, F.6).

All of these work inside an open transaction. The answer of a question is its one reply of kind `answer`,
which the table keeps unique; replies that were sent as answers and are not the answer are stored as
messages, with a standing that remembers what they were.
"""

import sqlite3
from dataclasses import replace

from core.delivering import move
from core.federation import Federation
from core.message import Message, Standing, State
from core.store.deliveries import deliveries_of
from core.store.messages import answer_to, answers_to, insert_message, set_standing


def store_answer(
    db: sqlite3.Connection,
    federation: Federation,
    answer: Message,
    question: Message | None,
    now: str,
    idempotency_key: str | None = None,
) -> Message:
    """Store a message of kind `answer` as what it becomes, and return it so.

    The first is the answer: accepted where this host settles the question, else pending; also pending while
    the question is not here (`question` None). A later one is a reply: superseded once an answer is
    accepted, else a candidate. The answer moves the question's deliveries to `answered`.
    """
    standing = _standing(db, federation, answer, question)
    is_answer = standing in (Standing.ACCEPTED, Standing.PENDING)
    stored = replace(answer, kind="answer" if is_answer else "message", standing=standing)
    insert_message(db, stored, idempotency_key)
    if is_answer and question is not None:
        answer_deliveries(db, federation, question, now)
    return stored


def choose(
    db: sqlite3.Connection, question_id: str, answer_id: str, *, standing: Standing, others: Standing
) -> bool:
    """Make one of the stored answers to a question the answer, with `standing`; the rest become `others`.

    A settlement chooses with `ACCEPTED` and `SUPERSEDED`; answers that came before their question are
    ordered with `PENDING` and `CANDIDATE`. False, and nothing changed, when no reply of that id was sent
    as an answer to this question. The question's deliveries are the caller's to move.
    """
    answers = answers_to(db, question_id)
    if all(answer.id != answer_id for answer in answers):
        return False
    for answer in answers:
        if answer.id != answer_id:
            set_standing(db, answer.id, others)
    set_standing(db, answer_id, standing)  # last, since a question has one answer at any moment
    return True


def supersede(db: sqlite3.Connection, question_id: str) -> None:
    """Make every stored answer to a question a reply for good, as before the close that settles it."""
    for answer in answers_to(db, question_id):
        set_standing(db, answer.id, Standing.SUPERSEDED)


def withdraw(
    db: sqlite3.Connection, federation: Federation, answer: Message, question: Message, now: str
) -> None:
    """Turn a pending answer that the settler refused into a reply, and reopen its question's deliveries.

    A human's becomes `notified`, any other `held`, unbound (federation wire 9.E7).
    """
    set_standing(db, answer.id, Standing.SUPERSEDED)
    for delivery in deliveries_of(db, question.id):
        if delivery.state is State.ANSWERED:
            state = State.NOTIFIED if delivery.recipient.startswith("human:") else State.HELD
            move(db, federation, question, delivery, state, None, now)


def answer_deliveries(db: sqlite3.Connection, federation: Federation, question: Message, now: str) -> None:
    """Move every delivery of a question to `answered` (section 4.7)."""
    for delivery in deliveries_of(db, question.id):
        if delivery.state is not State.ANSWERED:
            move(db, federation, question, delivery, State.ANSWERED, delivery.session, now)


def _standing(
    db: sqlite3.Connection, federation: Federation, answer: Message, question: Message | None
) -> Standing:
    assert answer.reply_to is not None
    first = answer_to(db, answer.reply_to)
    if first is None:
        settles = question is not None and federation.settles(question)
        return Standing.ACCEPTED if settles else Standing.PENDING
    return Standing.SUPERSEDED if first.standing is Standing.ACCEPTED else Standing.CANDIDATE
