"""An engine on a fresh store with a scripted host, for tests of the core."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.address import CORE
from core.dispatchers import Dispatchers
from core.engine import Engine
from core.errors import Code, DmpError
from core.federation import LOCAL, Alone, Federation, Placement, Target
from core.ids import Ulids
from core.inputs import Sender, SendInput
from core.message import Delivery, Message
from core.store import Store
from core.store.schema import MIGRATIONS
from vectors.adapter.given import Given
from vectors.adapter.host import SYSTEM, ScriptedHost

NOW = 1_790_000_000_000

ADA = Sender("human:ada", can_decide=True)
BOB = Sender("human:bob")
HOST = Sender(SYSTEM)

TASK, OTHER_TASK = "task:t-000001", "task:t-000002"
RUN, LATER_RUN, OTHER_RUN = "run:r-000001", "run:r-000011", "run:r-000002"


@dataclass
class World:
    """An engine and what its host is scripted with; `now` is its clock, in milliseconds."""

    store: Store
    host: ScriptedHost
    engine: Engine
    now: int = NOW


def world(
    path: Path | str = ":memory:",
    federation: Federation | None = None,
    dispatchers: Dispatchers | None = None,
    **given: Any,
) -> World:
    """Return a host with the work item t-000001, live in r-000001, unless `given` says otherwise."""
    given.setdefault("workItems", [{"id": "t-000001", "liveSession": RUN}, {"id": "t-000002"}])
    store = Store.open(path, MIGRATIONS)
    host = ScriptedHost(Given.from_json(given), CORE)
    engine = Engine(store, host, lambda: made.now, Ulids(os.urandom), federation, dispatchers)
    made = World(store, host, engine)
    return made


def draft(*to: str, kind: str = "message", body: str = "hi", **rest: Any) -> SendInput:
    """Return a plain send input."""
    return SendInput(to or ("human:bob",), kind, body, **rest)


def refused(code: Code, field: str | None) -> "pytest.RaisesExc[DmpError]":
    """Expect a refusal with a code on a field, which says something to whoever has to fix it."""

    def check(error: DmpError) -> bool:
        return (error.code, error.field) == (code, field) and len(error.message) > 10

    return pytest.RaisesExc(DmpError, check=check)


class Recorder(Alone):
    """A federation that writes down what it is told, and places whom it is told to elsewhere."""

    def __init__(self, elsewhere: Sequence[str] = (), settler: bool = True) -> None:
        self.elsewhere = elsewhere
        self.settler = settler
        self.seen: list[tuple[str, ...]] = []

    def stamp(self) -> str:
        return f"{NOW}.0000.ada-00000001"

    def place(self, message: Message, target: Target) -> Placement:
        return Placement(False, ("bob-00000002",)) if target.recipient in self.elsewhere else LOCAL

    def stored(self, message: Message, placements: Sequence[tuple[Target, Placement]]) -> None:
        self.seen.append(("stored", message.id, *(t.recipient for t, p in placements if p.homes)))

    def moved(self, delivery: Delivery, message: Message) -> None:
        self.seen.append(("moved", delivery.recipient, delivery.state))

    def settles(self, question: Message) -> bool:
        return self.settler

    def answered(self, question: Message, answer: Message) -> None:
        self.seen.append(("answered", question.id, answer.id))

    def participates(self, address: str, message_id: str) -> bool:
        return address in self.elsewhere
