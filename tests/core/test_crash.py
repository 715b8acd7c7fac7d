"""A crash before or after each commit of the core loses nothing and doubles nothing (section 6.3)."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from core.commits import CommitPoint
from core.inputs import ReplyInput
from core.message import State
from core.store import Store
from core.store.schema import MIGRATIONS
from tests.core.support import ADA, BOB, LATER_RUN, RUN, TASK, World, draft, world

When = Literal["before", "after"]


class Crash(BaseException):
    """The process is gone."""


class Crasher:
    """An observer that stops the world once at one point."""

    def __init__(self, point: CommitPoint, when: When) -> None:
        self.point, self.when = point, when
        self.visited = False

    def __call__(self, point: str, when: When) -> None:
        if (point, when) == (self.point, self.when) and not self.visited:
            self.visited = True
            raise Crash


# What each point's test does: the call in which the crash falls, on a store prepared by `_prepared`.
CALLS: dict[CommitPoint, Callable[[World], object]] = {
    CommitPoint.SEND: lambda one: one.engine.send(BOB, draft(TASK, "human:ada", idempotency_key="k")),
    CommitPoint.DISPATCHED: lambda one: one.engine.send(BOB, draft(TASK, "human:ada", idempotency_key="k")),
    CommitPoint.CLOSE: lambda one: one.engine.close(_question(one), "over"),
    CommitPoint.MARK_READ: lambda one: one.engine.mark_read(one.engine.deliveries(_question(one))[0].id),
    CommitPoint.SESSION_START: lambda one: one.engine.session_started(LATER_RUN, TASK),
    CommitPoint.MEMBERSHIP: lambda one: one.engine.join("eng", TASK),
    CommitPoint.RECOVER: lambda one: one.engine.recover(),
}


def _prepared(path: Path) -> World:
    one = world(path)
    one.engine.send(BOB, draft("human:ada", kind="question", idempotency_key="q"))
    one.host.failing = {RUN}
    one.engine.send(BOB, draft(TASK, body="waits"))
    one.host.failing = set()
    return one


def _question(one: World) -> str:
    return one.engine.send(BOB, draft(idempotency_key="q")).message.id


def _state(one: World) -> list[str]:
    return list(one.store.db.iterdump())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", CALLS)
def test_a_crash_at_a_commit_leaves_all_of_it_or_none(tmp_path: Path, point: CommitPoint, when: When) -> None:
    one = _prepared(tmp_path / "dmp.db")
    before = _state(one)
    one.store.observer = crasher = Crasher(point, when)
    with pytest.raises(Crash):
        CALLS[point](one)
    assert crasher.visited
    one.store.close()

    again = world(tmp_path / "dmp.db")
    if point not in (CommitPoint.DISPATCHED, CommitPoint.RECOVER):
        assert (_state(again) == before) == (when == "before")
    again.engine.recover()
    _nothing_lost_or_doubled(again)
    if point is not CommitPoint.RECOVER:
        _repeatable(again, point, when)
    again.store.close()


def _nothing_lost_or_doubled(one: World) -> None:
    assert one.store.db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert one.store.db.execute("SELECT count(*) FROM deliveries WHERE state = 'sending'").fetchone() == (0,)
    keyed = one.store.db.execute("SELECT count(*) FROM messages WHERE idempotency_key = 'k'").fetchone()
    assert keyed[0] <= 1


def _repeatable(one: World, point: CommitPoint, when: When) -> None:
    """The caller who saw no result tries again, and the outcome is as if nothing had happened."""
    if point in (CommitPoint.SEND, CommitPoint.DISPATCHED):
        sent = one.engine.send(BOB, draft(TASK, "human:ada", idempotency_key="k"))
        assert sent.replayed == (point is CommitPoint.DISPATCHED or when == "after")
        assert {d.recipient: d.state for d in sent.deliveries} == {
            TASK: State.PUSHED,
            "human:ada": State.NOTIFIED,
        }
    elif point is CommitPoint.CLOSE:
        answer = one.engine.answer_of(_question(one))
        if when == "before":
            assert answer is None
            answer = one.engine.close(_question(one), "over")
        assert answer is not None
        assert [d.state for d in one.engine.deliveries(_question(one))] == [State.ANSWERED]
    elif point is CommitPoint.MARK_READ:
        delivery = one.engine.deliveries(_question(one))[0]
        assert one.engine.mark_read(delivery.id).state is State.READ
    elif point is CommitPoint.MEMBERSHIP:
        one.engine.join("eng", TASK)
        assert one.engine.members("eng") == (TASK,)
    else:
        one.host.change({"startSession": {"workItem": "t-000001", "session": LATER_RUN}})
        one.engine.session_started(LATER_RUN, TASK)
        (waiting,) = [m for _, m in one.engine.inbox(TASK) if m.body == "waits"]
        assert [d.state for d in one.engine.deliveries(waiting.id)] == [State.PUSHED]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_the_tables_are_made_is_made_good_by_opening_again(tmp_path: Path, when: When) -> None:
    with pytest.raises(Crash):
        Store.open(tmp_path / "dmp.db", MIGRATIONS, observer=Crasher(CommitPoint.MIGRATE, when))
    one = world(tmp_path / "dmp.db")
    question = one.engine.send(BOB, draft("human:ada", kind="question")).message
    assert one.engine.reply(ADA, question.id, ReplyInput("yes")).message.kind == "answer"
    one.store.close()


def test_every_commit_point_is_visited_by_these_tests() -> None:
    assert {*CALLS, CommitPoint.MIGRATE} == set(CommitPoint)
