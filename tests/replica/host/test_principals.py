"""Who a person may send as and whose mail they read on their own machine (sections 9.1, 13.16)."""

import itertools
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.errors import DmpError
from core.inputs import Sender, SendInput
from core.message import Message, State
from replica.host import agents, attach, items, principals
from replica.host.attach import Attached, Ending, Given, Signals, living
from replica.host.sessions import Session
from replica.node import DirectoryNode, opened
from replica.records.commits import CommitPoint
from tests.replica.world import Clock


@pytest.fixture
def task(node: DirectoryNode) -> str:
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.add(db, node.random, {"title": "Fix it"}, now=node.now()).address


@contextmanager
def live(node: DirectoryNode, task: str | None) -> Iterator[Session]:
    def make() -> Session:
        return node.host.sessions_here.make(node.random, task, None, now=node.now())

    with living(node, make) as session:
        yield session


def send(node: DirectoryNode, to: str, body: str, sender: str = "human:ada") -> Message:
    given = SendInput((to,), "message", body)
    return node.engine.send(principals.sender(node, sender), given).message


def test_by_default_somebody_is_themselves_and_decides(node: DirectoryNode) -> None:
    for address in (None, "human:ada"):
        assert principals.sender(node, address) == Sender("human:ada", can_decide=True)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("human:bob", "forbidden"),
        ("agent:bob/claude", "forbidden"),
        ("agent:dispatch", "forbidden"),
        ("agent:claude", "forbidden"),
        ("run:r-0000aa", "forbidden"),
        ("task:t-0000aa", "forbidden"),
        ("channel:all", "forbidden"),
        ("ada", "invalid"),
    ],
)
def test_nobody_is_anybody_else(node: DirectoryNode, address: str, code: str) -> None:
    with pytest.raises(DmpError) as refused:
        principals.sender(node, address)
    assert (str(refused.value.code), refused.value.field) == (code, "from")


def test_a_session_sends_while_it_lives_and_decides_nothing(node: DirectoryNode, task: str) -> None:
    with live(node, task) as session:
        assert principals.sender(node, session.address) == Sender(session.address, can_decide=False)
    with pytest.raises(DmpError, match="no live session"):
        principals.sender(node, session.address)


def test_the_mail_of_a_session_is_its_work_items_too(node: DirectoryNode, task: str) -> None:
    with live(node, task) as session:
        assert principals.mailboxes(node, session.address) == (session.address, task)
    with live(node, None) as auxiliary:
        assert principals.mailboxes(node, auxiliary.address) == (auxiliary.address,)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("human:bob", "forbidden"),
        ("agent:bob/x", "forbidden"),
        ("agent:ada/x", "not-found"),
        ("run:r-0000aa", "not-found"),
        ("task:t-0000aa", "not-found"),
        ("channel:all", "invalid"),
    ],
)
def test_there_are_no_mailboxes_but_those_that_are_here(node: DirectoryNode, address: str, code: str) -> None:
    with pytest.raises(DmpError) as refused:
        principals.mailboxes(node, address)
    assert str(refused.value.code) == code


@pytest.mark.parametrize("name", ["overseer", "a2a.peer"])
def test_reserved_names_are_no_agents(name: str) -> None:
    with pytest.raises(DmpError, match="reserved"):
        agents.own_address(name, "ada")


def test_another_process_leaves_a_sessions_mail_for_the_one_that_is_it(
    node: DirectoryNode, task: str
) -> None:
    given: list[str] = []

    def give(one: Given) -> None:
        if one.message.body == "broken":
            raise OSError("nobody reads")
        given.append(one.text.splitlines()[1])

    with live(node, task) as session, opened(node.directory.root, wall=Clock()) as other:
        node.host.attached = Attached(session.address, give)
        for body in ("one", "broken", "two"):
            send(other, task, body)
        other.take_up()
        assert [each.state for each, _ in node.engine.inbox(task)] == [State.SENDING] * 3
        node.engine.dispatch_waiting()
        assert [each.state for each, _ in node.engine.inbox(task)] == ["pushed", "held", "pushed"]
        send(node, task, "three")
        send(other, task, "four")
    assert given == ["│ one", "│ two", "│ three"]
    assert [each.state for each, _ in node.engine.inbox(task)] == [
        "pushed",
        "held",
        "pushed",
        "pushed",
        "held",
    ]


def test_a_session_that_ends_with_an_error_is_ended(node: DirectoryNode, task: str) -> None:
    def fail() -> None:
        with live(node, task):
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        fail()
    assert node.host.live_session(task) is None
    (session,) = node.host.sessions_here.of(task)
    assert (session.marked_live, node.host.attached) == (False, None)


@pytest.mark.parametrize(
    ("number", "ending"), [(signal.SIGINT, Ending.INTERRUPTED), (signal.SIGTERM, Ending.STOPPED)]
)
def test_a_signal_ends_a_session_however_busy_the_store_is(
    node: DirectoryNode, task: str, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, ending: Ending
) -> None:
    versions = itertools.count()
    monkeypatch.setattr(attach, "_version", lambda _: next(versions))
    send(node, task, "Waiting already.")
    given: list[Given] = []
    with live(node, task) as session:
        assert attach.attend(node, session, given.append, Signals(caught=number)) is ending
    assert [one.pushed for one in given] == [True]
