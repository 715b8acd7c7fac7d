"""Sessions: the registers of kind `session`, by their addresses, and which of them live (section 2.2).

A session lives exactly while a process holds its lock file, so one whose process was killed is dead at once.
`live` in its register is what others are told: it began, and nobody has noticed or said that it ended. The
names of the fields are those of a presence op (federation wire 8.2).
"""

import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from core.address import DISPATCH, parse_address
from core.errors import conflict, invalid, not_found
from core.store import registers
from crypto.canonical import JsonValue
from replica.home.locks import Held, Locks
from replica.shared.kinds import SESSION
from replica.shared.runs import EXECUTE

AUXILIARY: Final = "auxiliary"

_ID_BYTES: Final = 5
_PAUSE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Session:
    """A session. `task` is its work item's address, None for an auxiliary one; `replica` runs it.

    `marked_live` is what its register says; whether it lives is for `Sessions.is_live` to tell. `waiting_on` is the
    handle of whom it waits on, as far as that was asked.
    """

    address: str
    task: str | None
    replica: str | None
    marked_live: bool
    started_at: str | None
    ended_at: str | None
    waiting_on: str | None = None

    @property
    def id(self) -> str:
        """Its id."""
        return self.address.partition(":")[2]


class Sessions:
    """The sessions of one replica, and the locks by which they live."""

    def __init__(self, db: sqlite3.Connection, locks: Locks, replica: str) -> None:
        self._db = db
        self._locks = locks
        self._replica = replica

    def find(self, address: str) -> Session | None:
        """The session of an address, or None."""
        fields = registers.fields_of(self._db, SESSION, address)
        return _read(address, fields) if fields else None

    def need(self, address: str) -> Session:
        """The session of an address. Raises DmpError `not-found` on `session`."""
        session = self.find(address)
        if session is None:
            raise not_found(
                "session", f"there is no session {address}; `dmp session list` shows those there are"
            )
        return session

    def every(self) -> list[Session]:
        """All sessions, the one that was made first first."""
        found = [_read(address, fields) for address, fields in registers.subjects(self._db, SESSION).items()]
        return sorted(found, key=lambda session: (session.started_at or "", session.address))

    def of(self, work_item: str) -> list[Session]:
        """A work item's sessions."""
        task = work_item.partition(":")[2]
        found = registers.subjects_with(self._db, SESSION, "task", task)
        return [_read(address, fields) for address, fields in found.items()]

    def is_live(self, address: str) -> bool:
        """Whether a process of this machine is that session now."""
        session = self.find(address)
        return session is not None and session.marked_live and self.is_held(address)

    def live_of(self, work_item: str) -> Session | None:
        """A work item's live session."""
        for session in self.of(work_item):
            if session.marked_live and self.is_held(session.address):
                return session
        return None

    def is_held(self, address: str) -> bool:
        """Whether a process holds a session's lock."""
        return self._locks.is_held(_lock_name(address))

    def make(
        self, random: Callable[[int], bytes], work_item: str | None, address: str | None, *, now: str
    ) -> Session:
        """Make a session that is not live yet, inside an open transaction.

        Raises DmpError `conflict` on `session` when there is one of that address.
        """
        if address is not None and self.find(address) is not None:
            raise conflict("session", f"there is a session {address} already; choose another id")
        address = address or self._unused(random)
        fields: dict[str, JsonValue] = {
            "task": None if work_item is None else work_item.partition(":")[2],
            "runKind": AUXILIARY if work_item is None else EXECUTE,
            "live": False,
            "replica": self._replica,
            "startedAt": now,
        }
        registers.edit(self._db, SESSION, address, fields)
        return _read(address, fields)

    def hold(self, address: str) -> Held:
        """Take a session's lock: this process is the session from here on, once `begin` says so.

        Raises DmpError `conflict` on `session` when another process has it.
        """
        lock = self._locks.take(_lock_name(address))
        if lock is None:
            raise conflict("session", f"{address} is live: another process is attached to it")
        return lock

    def wait_until_free(self, address: str, seconds: float) -> bool:
        """Wait until no process is a session any more; False where that takes longer than `seconds`."""
        until = time.monotonic() + seconds
        while self.is_held(address):
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
        return True

    def begin(self, session: Session) -> None:
        """Mark a session live whose lock is held, inside an open transaction.

        Raises DmpError: `invalid` on `session` for another machine's; `conflict` on `task` while its work
        item has another live session.
        """
        self.need_own(session)
        if session.task is not None:
            self.need_free(session.task, session.address)
        registers.edit(self._db, SESSION, session.address, {"live": True, "endedAt": None})

    def need_free(self, work_item: str, session: str | None = None) -> None:
        """Check that a work item has no live session but this one. Raises DmpError `conflict` on `task`."""
        other = self.live_of(work_item)
        if other is not None and other.address != session:
            raise conflict(
                "task",
                f"{work_item} has a live session, {other.address}, and takes one at a time; end that one first "
                f"with `dmp session end {other.id}`",
            )

    def end(self, session: Session, *, now: str) -> None:
        """Mark a session ended, inside an open transaction; one that is not marked live stays as it is."""
        if session.marked_live:
            registers.edit(self._db, SESSION, session.address, {"live": False, "endedAt": now})

    def need_own(self, session: Session) -> None:
        """Check that a session is this machine's. Raises DmpError `invalid` on `session`."""
        if session.replica != self._replica:
            raise invalid("session", f"{session.address} is a session of another machine")

    def lost(self) -> list[Session]:
        """This machine's sessions that are marked live and whose process is gone."""
        found = registers.subjects_with(self._db, SESSION, "live", True)
        sessions = [_read(address, fields) for address, fields in found.items()]
        return [
            session
            for session in sessions
            if session.replica == self._replica and not self.is_held(session.address)
        ]

    def _unused(self, random: Callable[[int], bytes]) -> str:
        while self.find(address := f"run:r-{random(_ID_BYTES).hex()}") is not None:
            continue
        return address


def address_of(text: str) -> str:
    """The address of a session that is named by its address or its bare id.

    Raises DmpError `invalid` on `session`.
    """
    address = parse_address(text if ":" in text else f"run:{text}", "session", DISPATCH)
    if address.kind != "run":
        raise invalid("session", f"{text} is no session; its address is run:r-…")
    return address.text


def _lock_name(address: str) -> str:
    return parse_address(address, "session", DISPATCH).text.partition(":")[2]


def _read(address: str, fields: Mapping[str, JsonValue]) -> Session:
    def text(name: str) -> str | None:
        value = fields.get(name)
        return value if isinstance(value, str) else None

    task = text("task")
    return Session(
        address=address,
        task=None if task is None else f"task:{task}",
        replica=text("replica"),
        marked_live=fields.get("live") is True,
        started_at=text("startedAt"),
        ended_at=text("endedAt"),
    )
