"""A process of two threads that does everything to one store at once: `python -m tests.core.hammer STORE LOG SECONDS`.

Each thread has a host of its own. What it was told goes to LOG, a JSON line each, for the test to compare with
what the store holds in the end; a refusal the protocol does not foresee ends the process with a traceback.

`python -m tests.core.hammer STORE` is one thread that goes on until it is killed, and says at once on standard
output what it was told.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

from core.dispatchers import Dispatchers
from core.engine import Engine, Sent
from core.errors import Code, DmpError
from core.ids import Ulids
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from core.store import Store
from core.store.schema import MIGRATIONS
from crypto.canonical import JsonValue
from replica.home.dispatchers import LockedDispatchers
from tests.core.quiet import QuietHost

TASKS: Final = tuple(f"task:t-00000{number}" for number in range(1, 5))
PEOPLE: Final = ("human:ada", "human:bob", "human:cyd")
MAILBOXES: Final = (*TASKS, *PEOPLE)
CHANNEL: Final = "everyone"
GATE: Final[JsonValue] = {
    "type": "tool-approval",
    "requestId": "q",
    "runId": "r-000001",
    "tool": "t",
    "input": 1,
    "floor": False,
}

WATCHED: Final = """
CREATE TABLE live (work_item TEXT PRIMARY KEY, session TEXT NOT NULL);
CREATE TABLE sessions (session TEXT PRIMARY KEY, work_item TEXT NOT NULL);
CREATE TABLE transitions (delivery TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL);
CREATE TRIGGER watch AFTER UPDATE OF state ON deliveries WHEN old.state != new.state
    BEGIN INSERT INTO transitions VALUES (old.id, old.state, new.state); END;
"""
"""Which sessions live, for every process to see; and every transition, as SQLite itself saw it."""


class Log(list[dict[str, Any]]):
    """What a host was told, and what its hooks were given."""


class SharedHost(QuietHost):
    """A host whose sessions are in the store, so that every process knows the same ones."""

    gate_types = ("wake", "tool-approval")

    def __init__(self, store: Store, log: Log) -> None:
        self._db = store.db
        self._log = log

    def live_session(self, work_item: str) -> str | None:
        row = self._db.execute("SELECT session FROM live WHERE work_item = ?", (work_item,)).fetchone()
        return None if row is None else str(row[0])

    def is_live(self, session: str) -> bool:
        return self._db.execute("SELECT 1 FROM live WHERE session = ?", (session,)).fetchone() is not None

    def work_item(self, session: str) -> str | None:
        row = self._db.execute("SELECT work_item FROM sessions WHERE session = ?", (session,)).fetchone()
        return None if row is None else str(row[0])

    def sessions(self, work_item: str) -> Collection[str]:
        rows = self._db.execute("SELECT session FROM sessions WHERE work_item = ?", (work_item,))
        return [str(session) for (session,) in rows]

    def reaches(self, _session: str) -> bool:
        return True

    def push(self, session: str, message: Message) -> None:
        if not self.is_live(session):
            raise RuntimeError("it has ended")
        self._log.append({"handed": message.id})

    def notify(self, session: str, message: Message) -> None:
        self.push(session, message)

    def apply_effect(self, gate: Message, _answer: Message) -> None:
        self._log.append({"effect": gate.id})


class Living:
    """One of the test's processes, all of which live until the end."""

    def __init__(self, name: str) -> None:
        self._name = name

    def me(self) -> str:
        return self._name

    def lives(self, _name: str) -> bool:
        return True


class Said(Log):
    """A log that is on standard output by the time a line is written: a kill afterwards loses none."""

    def append(self, line: dict[str, Any]) -> None:
        os.write(1, json.dumps(line).encode() + b"\n")


class Hammer:
    """One thread's host and what it does with it."""

    def __init__(
        self, path: Path, name: str, log: Log | None = None, dispatchers: Dispatchers | None = None
    ) -> None:
        self.log: Log = Log() if log is None else log
        self.random = Random(name)
        self.store = Store.open(path, (*MIGRATIONS, WATCHED))
        self.host = SharedHost(self.store, self.log)
        clock = lambda: time.time_ns() // 1_000_000  # noqa: E731
        self.engine = Engine(
            self.store, self.host, clock, Ulids(os.urandom), None, dispatchers or Living(name)
        )
        self.name = name
        self.count = 0

    def act(self) -> None:
        """Do one thing. Raises what no caller should see."""
        acts = (
            self.send,
            self.send,
            self.ask,
            self.raise_gate,
            self.answer,
            self.answer,
            self.mark,
            self.start,
        )
        act = self.random.choice((*acts, self.engine.recover, self.engine.dispatch_waiting, self.close))
        try:
            act()
        except DmpError as error:
            foreseen = error.code in (Code.CONFLICT, Code.LIMITED) or (
                error.code is Code.INVALID and (error.field or "").startswith("to[")
            )
            if not foreseen:
                raise

    def send(self) -> None:
        person = self.random.choice(PEOPLE)
        live = [self.host.live_session(task) for task in TASKS]
        sessions = [session for session in live if session is not None]
        to = self.random.choice((*MAILBOXES, *sessions, f"channel:{CHANNEL}"))
        key = f"k{self.random.randrange(2000)}" if self.random.random() < 0.3 else None
        urgent = self.random.random() < 0.3
        given = SendInput((to,), "message", "hello", urgent=urgent, idempotency_key=key)
        self.sent(self.engine.send(Sender(person, can_decide=True), given))

    def ask(self) -> None:
        to = self.random.choice(MAILBOXES)
        given = SendInput((to,), "question", "ready?", blocking=True)
        self.sent(self.engine.send(Sender(self.random.choice(PEOPLE)), given))

    def raise_gate(self) -> None:
        choices = ("approve", "approve-session", "deny")
        given = SendInput(("human:ada",), "question", "may it?", blocking=True, choices=choices, data=GATE)
        self.sent(self.engine.send(Sender(QuietHost.system_address), given))

    def answer(self) -> None:
        question = self.some_question()
        if question is not None:
            given = ReplyInput("", choice="deny") if question.choices else ReplyInput("yes")
            sent = self.engine.reply(Sender("human:ada", can_decide=True), question.id, given)
            self.sent(sent)
            self.log.append({"answered": question.id, "by": sent.message.id})

    def close(self) -> None:
        question = self.some_question()
        if question is not None:
            closed = self.engine.close(question.id, "over")
            self.log.append({"answered": question.id, "by": closed.id})

    def mark(self) -> None:
        row = self.store.db.execute("SELECT id FROM deliveries ORDER BY random() LIMIT 1").fetchone()
        if row is not None:
            self.engine.mark_read(row[0])

    def start(self) -> None:
        self.count += 1
        task = self.random.choice(TASKS)
        session = f"run:{self.name}-{self.count}"
        with self.store.transaction("live") as db:
            db.execute("INSERT INTO sessions VALUES (?, ?)", (session, task))
            db.execute("INSERT OR REPLACE INTO live VALUES (?, ?)", (task, session))
        self.engine.session_started(session, task)

    def some_question(self) -> Message | None:
        row = self.store.db.execute(
            "SELECT id FROM (SELECT id FROM messages WHERE kind = 'question' ORDER BY position DESC LIMIT 20)"
            " ORDER BY random() LIMIT 1"
        ).fetchone()
        return None if row is None else self.engine.message(row[0])

    def sent(self, sent: Sent) -> None:
        recipients = sorted(each.recipient for each in sent.deliveries)
        self.log.append({"sent": sent.message.id, "recipients": recipients})


def main(path: Path, log: Path, seconds: float) -> int:
    """Run two threads for some seconds. Return the exit code."""
    failures: list[BaseException] = []
    hammers: list[Hammer] = []
    until = time.monotonic() + seconds

    def run(number: int) -> None:
        try:
            hammer = Hammer(path, f"p{os.getpid()}-{number}")
            hammers.append(hammer)
            while time.monotonic() < until and not failures:
                hammer.act()
            hammer.store.close()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.write_text("".join(json.dumps(line) + "\n" for hammer in hammers for line in hammer.log))
    return len(failures)


def until_killed(path: Path) -> NoReturn:
    """Run one thread, after the recovery with which a host starts."""
    name = f"p{os.getpid()}"
    hammer = Hammer(path, name, Said(), LockedDispatchers(path.parent / "dispatchers"))
    hammer.engine.recover()
    while True:
        hammer.act()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        until_killed(Path(sys.argv[1]))
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])))
