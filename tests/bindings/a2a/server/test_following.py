"""What whoever follows tasks is told while one of them cannot be read."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from bindings.a2a.server import following
from bindings.a2a.server.following import Following, Subject
from core.errors import Code, DmpError
from replica.api.workers import Workers
from replica.node import Node
from replica.service.changes import Changes


class Here:
    """Workers that work at once."""

    async def run(self, work: Callable[[Any], Any]) -> Any:
        return work(None)


class Quiet:
    """A store in which nothing is committed."""

    closed = False
    count = 0

    async def after(self, count: int) -> None:
        if count == self.count:
            await asyncio.Event().wait()


def subject(task: str) -> Subject:
    return Subject("agent:ada/a2a.acme", "secret", task, frozenset())


@pytest.mark.parametrize("error", [DmpError(Code.LIMITED, "not now"), RuntimeError("a defect")])
def test_a_task_that_cannot_be_read_keeps_nobody_from_the_others_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    bad = iter([error])

    def look(_: Node, subject: Subject) -> dict[str, Any]:
        if subject.task == "bad" and (found := next(bad, None)) is not None:
            raise found
        return {"id": subject.task}

    async def work() -> None:
        following_ = Following(cast(Workers, Here()), cast(Changes, Quiet()))
        async with following_.follow(subject("bad")) as one, following_.follow(subject("good")) as other:
            assert await other.after(20) == {"id": "good"}
            assert await one.after(20) == {"id": "bad"}
        following_.end()

    monkeypatch.setattr(following, "_look_at", look)
    monkeypatch.setattr(following, "_RETRY_SECONDS", 0.01)
    asyncio.run(work())
