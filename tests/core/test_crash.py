"""A crash before or after each commit of the core loses nothing and doubles nothing (section 6.3)."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from core.commits import CommitPoint
from core.engine import Recovered, Sent
from core.errors import Code
from core.inputs import ReplyInput, Sender
from core.message import ABSENT, State
from core.store import Store
from core.store.schema import MIGRATIONS
from tests.core.support import ADA, BOB, HOST, LATER_RUN, RUN, TASK, World, draft, refused, world
from tests.core.test_gates import raise_wake
from tests.core.test_voiding import answered_gate

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
    CommitPoint.SEND: lambda one: _send(one),
    CommitPoint.CLAIM: lambda one: _send(one),
    CommitPoint.DISPATCHED: lambda one: _send(one),
    CommitPoint.CLOSE: lambda one: one.engine.close(_question(one), "over"),
    CommitPoint.MARK_READ: lambda one: one.engine.mark_read(one.engine.deliveries(_question(one))[0].id),
    CommitPoint.SESSION_START: lambda one: one.engine.session_started(LATER_RUN, TASK),
    CommitPoint.MEMBERSHIP: lambda one: one.engine.join("eng", TASK),
    CommitPoint.EFFECT: lambda one: _decide(one),
    CommitPoint.VOID: lambda one: one.engine.recover(),
    CommitPoint.NOTICE: lambda one: _say_too_much(one),
    CommitPoint.RECOVER: lambda one: _recover_without_a_session(one),
}

LATER = {CommitPoint.CLAIM, CommitPoint.DISPATCHED, CommitPoint.EFFECT, CommitPoint.VOID}
"""Points whose call commits something else before them."""


def _prepared(path: Path) -> World:
    """A store with an open question, held mail, an open gate, one that an agent answered, and a push cut short."""
    one = _world(path)
    one.engine.send(BOB, draft("human:ada", kind="question", idempotency_key="q"))
    one.engine.send(Sender(RUN), draft("human:ada", body="a turn", idempotency_key="t"))
    raise_wake(one)
    answered_gate(one)
    one.host.failing = {RUN}
    one.engine.send(BOB, draft(TASK, body="waits"))
    one.host.failing = set()
    one.store.observer = Crasher(CommitPoint.DISPATCHED, "before")
    with pytest.raises(Crash):
        one.engine.send(BOB, draft(TASK, body="cut short"))
    one.store.observer = None
    return one


def _world(path: Path) -> World:
    return world(path, owner="human:owner", limits={"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 1})


def _send(one: World) -> Sent:
    return one.engine.send(BOB, draft(TASK, "human:ada", idempotency_key="k"))


def _question(one: World) -> str:
    return one.engine.send(BOB, draft(idempotency_key="q")).message.id


def _decide(one: World) -> Sent:
    (gate,) = [m.id for m in one.engine.thread(_system_thread(one)) if m.takes_answer]
    return one.engine.reply(ADA, gate, ReplyInput("", choice="deny", idempotency_key="d"))


def _say_too_much(one: World) -> None:
    session = Sender(RUN)
    turn = one.engine.send(session, draft(idempotency_key="t")).message
    with refused(Code.LIMITED, "replyTo"):
        one.engine.send(session, draft("human:ada", reply_to=turn.id))


def _recover_without_a_session(one: World) -> None:
    one.host.change({"endSession": {"workItem": "t-000001"}})
    one.engine.recover()


def _system_thread(one: World) -> str:
    query = "SELECT id FROM messages WHERE sender = ? AND reply_to IS NULL AND id <> 'm-gate'"
    (found,) = one.store.db.execute(query, (HOST.address,)).fetchone()
    return str(found)


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

    again = _world(tmp_path / "dmp.db")
    if point not in LATER:
        assert (_state(again) == before) == (when == "before")
    again.engine.recover()
    _nothing_lost_or_doubled(again)
    _repeatable(again, point, when)
    again.store.close()


def _nothing_lost_or_doubled(one: World) -> None:
    assert one.store.db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert one.store.db.execute("SELECT count(*) FROM deliveries WHERE state = 'sending'").fetchone() == (0,)
    assert one.store.db.execute("SELECT count(*) FROM deliveries WHERE owner IS NOT NULL").fetchone() == (0,)
    assert one.store.db.execute("SELECT count(*) FROM effects WHERE owner IS NOT NULL").fetchone() == (0,)
    keyed = one.store.db.execute("SELECT count(*) FROM messages WHERE idempotency_key = 'k'").fetchone()
    assert keyed[0] <= 1
    assert one.engine.voided() == ["m-bad"]
    notices = [message for _, message in one.engine.inbox("human:owner") if message.reply_to == "m-gate"]
    assert len(notices) == 1


def _repeatable(one: World, point: CommitPoint, when: When) -> None:
    """The caller who saw no result tries again, and the outcome is as if nothing had happened."""
    if point in (CommitPoint.SEND, CommitPoint.CLAIM, CommitPoint.DISPATCHED):
        sent = _send(one)
        assert sent.replayed == (point is not CommitPoint.SEND or when == "after")
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
    elif point is CommitPoint.NOTICE:
        _say_too_much(one)
        told = [message for _, message in one.engine.inbox("human:owner") if message.data is not ABSENT]
        assert len(told) == 1
    elif point is CommitPoint.EFFECT:
        _effect_applied(one, when)
    elif point is CommitPoint.SESSION_START:
        one.host.change({"startSession": {"workItem": "t-000001", "session": LATER_RUN}})
        one.engine.session_started(LATER_RUN, TASK)
        (waiting,) = [m for _, m in one.engine.inbox(TASK) if m.body == "waits"]
        assert [d.state for d in one.engine.deliveries(waiting.id)] == [State.PUSHED]
    else:
        assert one.engine.recover() == Recovered(0, 0, 0, 0)


def _effect_applied(one: World, when: When) -> None:
    """Recovery applied what was not recorded, and only that."""
    applied = [call for call in one.host.calls if call["hook"] == "onAnswered"]
    assert len(applied) == (when == "before")
    assert _decide(one).replayed
    assert one.engine.effects_applied() == [_system_thread(one)]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_push_is_done_once_unless_the_crash_falls_between_it_and_its_commit(
    tmp_path: Path, when: When
) -> None:
    for point in (CommitPoint.SEND, CommitPoint.CLAIM, CommitPoint.DISPATCHED):
        path = tmp_path / f"{point}.db"
        one = _world(path)
        one.store.observer = Crasher(point, when)
        with pytest.raises(Crash):
            _send(one)
        one.store.close()
        again = _world(path)
        again.engine.recover()
        _send(again)
        pushes = [call for call in (*one.host.calls, *again.host.calls) if call["hook"] == "push"]
        assert len(pushes) == (2 if (point, when) == (CommitPoint.DISPATCHED, "before") else 1)
        again.store.close()


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
