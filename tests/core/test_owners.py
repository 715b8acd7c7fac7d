"""Who dispatches: each `sending` delivery and each effect has one process at a time (sections 5.5, 6.3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.commits import CommitPoint
from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender
from core.message import Message, State
from tests.core.support import ADA, OTHER_RUN, OTHER_TASK, RUN, TASK, World, draft, world
from tests.core.test_effects import GRANT, raise_scope
from tests.core.test_gates import raise_wake

DENY = ReplyInput("", choice="deny")


class Named:
    """One of several processes that a test lets live and die."""

    def __init__(self, name: str, living: set[str]) -> None:
        self._name, self._living = name, living
        living.add(name)

    def me(self) -> str:
        return self._name

    def lives(self, name: str) -> bool:
        return name in self._living


class GoneError(BaseException):
    """The process in hand is gone."""


@pytest.fixture
def living() -> set[str]:
    return set()


@pytest.fixture
def make(tmp_path: Path, living: set[str]) -> Iterator[Callable[[str], World]]:
    """Makes a process of a name on one store."""
    made: list[World] = []

    def process(name: str) -> World:
        made.append(world(tmp_path / "dmp.db", dispatchers=Named(name, living), owner="human:ada"))
        return made[-1]

    yield process
    for one in made:
        one.store.close()


def reaches_nothing(one: World) -> None:
    one.host.reaches = lambda _session: False  # type: ignore[method-assign]


def owners(one: World) -> list[str | None]:
    return [row[0] for row in one.store.db.execute("SELECT owner FROM deliveries ORDER BY position")]


def pushed(*processes: World) -> list[str]:
    """The messages these processes pushed, as often as they did."""
    return [call["message"] for one in processes for call in one.host.calls if call["hook"] == "push"]


@contextmanager
def dying(one: World) -> Iterator[None]:
    """Within this, the process dies in its first hook."""

    def dies(*_: object) -> None:
        raise GoneError

    for hook in ("push", "apply_effect"):
        setattr(one.host, hook, dies)
    with pytest.raises(GoneError):
        yield


def cut_short(one: World) -> Message:
    """Send to a live session, and die in the push; the name is left to live on or not."""
    with dying(one):
        one.engine.send(ADA, draft(TASK))
    (message,) = one.store.db.execute("SELECT id FROM messages ORDER BY position DESC LIMIT 1").fetchone()
    found = one.engine.message(message)
    assert found is not None
    return found


def test_mail_for_a_session_another_process_reaches_waits_for_it_unowned(
    make: Callable[[str], World],
) -> None:
    sender, attached = make("sender"), make("attached")
    reaches_nothing(sender)
    sent = sender.engine.send(ADA, draft(TASK, "human:bob"))
    assert [delivery.state for delivery in sent.deliveries] == [State.SENDING, State.NOTIFIED]
    assert owners(sender) == [None, None]
    assert sender.engine.recover().retried == sender.engine.recover().reverted == 0
    assert sender.engine.dispatch_waiting() == ()
    (delivery,) = attached.engine.dispatch_waiting()
    assert (delivery.message, delivery.state, delivery.session) == (sent.message.id, State.PUSHED, RUN)
    assert attached.engine.dispatch_waiting() == ()
    assert pushed(sender, attached) == [sent.message.id]
    assert owners(sender) == [None, None]


def test_a_process_takes_up_only_what_it_reaches(make: Callable[[str], World]) -> None:
    sender, attached = make("sender"), make("attached")
    for one in (sender, attached):
        one.host.change({"startSession": {"workItem": "t-000002", "session": OTHER_RUN}})
    reaches_nothing(sender)
    attached.host.reaches = lambda _session: _session == OTHER_RUN  # type: ignore[method-assign]
    sender.engine.send(ADA, draft(RUN, OTHER_RUN))
    assert [delivery.recipient for delivery in attached.engine.dispatch_waiting()] == [OTHER_RUN]


def test_mail_for_a_session_that_ended_is_left_to_recovery(make: Callable[[str], World]) -> None:
    sender, attached = make("sender"), make("attached")
    reaches_nothing(sender)
    message = sender.engine.send(ADA, draft(TASK)).message
    attached.host.change({"endSession": {"workItem": "t-000001"}})
    assert attached.engine.dispatch_waiting() == ()
    assert attached.engine.deliveries(message.id)[0].state is State.SENDING
    assert attached.engine.recover().reverted == 1
    assert attached.engine.deliveries(message.id)[0].state is State.HELD


def test_a_store_that_fails_at_the_claim_leaves_the_mail_to_whoever_comes(
    make: Callable[[str], World],
) -> None:
    one = make("one")

    def busy(point: str, when: str) -> None:
        if point == CommitPoint.CLAIM:
            raise DmpError(Code.UNAVAILABLE, "the store is busy, try again")

    one.store.observer = busy
    sent = one.engine.send(ADA, draft(TASK, "human:bob"))
    assert [delivery.state for delivery in sent.deliveries] == [State.SENDING, State.NOTIFIED]
    assert owners(one) == [None, None]
    one.store.observer = None
    assert [delivery.state for delivery in one.engine.dispatch_waiting()] == [State.PUSHED]


def test_a_session_start_leaves_its_mail_to_the_process_that_reaches_the_session(
    make: Callable[[str], World],
) -> None:
    starter, attached = make("starter"), make("attached")
    starter.host.failing = {RUN}
    starter.engine.send(ADA, draft(TASK))
    reaches_nothing(starter)
    (claimed,) = starter.engine.session_started(RUN, TASK)
    assert claimed.state is State.SENDING
    assert [delivery.state for delivery in attached.engine.dispatch_waiting()] == [State.PUSHED]


def test_what_a_living_process_is_dispatching_is_left_to_it(
    make: Callable[[str], World], living: set[str]
) -> None:
    one, other = make("one"), make("other")
    message = cut_short(one)
    assert owners(one) == ["one"]
    for _ in range(2):
        assert other.engine.dispatch_waiting() == ()
        assert (other.engine.recover().retried, other.engine.recover().reverted) == (0, 0)
        other.host.change({"endSession": {"workItem": "t-000001"}})  # it will find out by itself
    assert pushed(other) == []
    assert other.engine.deliveries(message.id)[0].state is State.SENDING


@pytest.mark.parametrize("call", ["recover", "dispatch_waiting"])
def test_what_a_process_that_is_gone_was_dispatching_is_taken_over(
    make: Callable[[str], World], living: set[str], call: str
) -> None:
    one, other = make("one"), make("other")
    message = cut_short(one)
    living.remove("one")
    getattr(other.engine, call)()
    assert pushed(other) == [message.id]
    assert other.engine.deliveries(message.id)[0].state is State.PUSHED
    assert owners(other) == [None]


def test_recovery_returns_to_held_only_what_nobody_holds_and_no_live_session_gets(
    make: Callable[[str], World], living: set[str]
) -> None:
    one, other = make("one"), make("other")
    message = cut_short(one)
    other.host.change({"endSession": {"workItem": "t-000001"}})
    reaches_nothing(other)
    assert other.engine.recover().reverted == 0
    living.remove("one")
    assert other.engine.recover().reverted == 1
    assert other.engine.deliveries(message.id)[0].state is State.HELD
    assert owners(other) == [None]


def test_a_claim_that_cannot_be_made_leaves_the_delivery_to_whoever_comes(
    make: Callable[[str], World],
) -> None:
    one, quicker = make("one"), make("quicker")

    def overtaken(message: Message) -> None:
        assert len(quicker.engine.dispatch_waiting()) == 1

    one.host.published = overtaken  # type: ignore[method-assign]
    sent = one.engine.send(ADA, draft(TASK))
    assert [delivery.state for delivery in sent.deliveries] == [State.PUSHED]
    assert pushed(one, quicker) == [sent.message.id]


def test_a_hook_that_dispatches_and_recovers_leaves_alone_what_is_being_dispatched(
    make: Callable[[str], World],
) -> None:
    """Not only the delivery whose hook runs: the others of the same message too."""
    one = make("one")
    one.host.change({"startSession": {"workItem": "t-000002", "session": OTHER_RUN}})
    seen: list[str] = []

    def push(session: str, message: Message) -> None:
        seen.append(session)
        assert one.engine.dispatch_waiting() == ()
        assert one.engine.recover().retried == 0

    one.host.push = push  # type: ignore[method-assign]
    sent = one.engine.send(ADA, draft(RUN, OTHER_RUN))
    assert seen == [RUN, OTHER_RUN]
    assert {delivery.state for delivery in sent.deliveries} == {State.PUSHED}


def test_what_moved_while_another_hook_ran_is_dispatched_no_more(make: Callable[[str], World]) -> None:
    one = make("one")
    one.host.change({"startSession": {"workItem": "t-000002", "session": OTHER_RUN}})
    push = one.host.push

    def answers(session: str, message: Message) -> None:
        push(session, message)
        if message.kind == "question":
            one.engine.reply(Sender(session), message.id, ReplyInput("done"))

    one.host.push = answers  # type: ignore[method-assign]
    sent = one.engine.send(ADA, draft(TASK, OTHER_TASK, kind="question"))
    assert pushed(one) == [sent.message.id]
    assert {delivery.state for delivery in sent.deliveries} == {State.ANSWERED}


def test_a_host_that_cannot_say_whom_it_reaches_leaves_the_mail_and_fails_no_send(
    make: Callable[[str], World],
) -> None:
    one = make("one")
    reaches = one.host.reaches

    def fails(_session: str) -> bool:
        raise OSError

    one.host.reaches = fails  # type: ignore[method-assign]
    (delivery,) = one.engine.send(ADA, draft(TASK)).deliveries
    assert delivery.state is State.SENDING
    assert one.engine.dispatch_waiting() == ()
    assert one.engine.recover().retried == 0
    one.host.reaches = reaches  # type: ignore[method-assign]
    assert one.engine.recover().retried == 1


def test_a_hooks_own_send_is_dispatched_within_it(make: Callable[[str], World]) -> None:
    one = make("one")
    push = one.host.push

    def answers(session: str, message: Message) -> None:
        push(session, message)
        if message.body == "first":
            assert one.engine.send(ADA, draft(TASK, body="second")).deliveries[0].state is State.PUSHED

    one.host.push = answers  # type: ignore[method-assign]
    assert one.engine.send(ADA, draft(TASK, body="first")).deliveries[0].state is State.PUSHED
    assert len(set(pushed(one))) == len(pushed(one)) == 2


# Effects


def test_an_effect_that_a_living_process_applies_is_left_to_it(
    make: Callable[[str], World], living: set[str]
) -> None:
    one, other = make("one"), make("other")
    gate = raise_wake(one)
    with dying(one):
        one.engine.reply(ADA, gate.id, DENY)
    assert other.engine.recover().replayed == 0
    assert [call["hook"] for call in other.host.calls] == []
    living.remove("one")
    assert other.engine.recover().replayed == 1
    assert other.engine.effects_applied() == [gate.id]


@pytest.mark.parametrize("begins", [False, True], ids=["live", "beginning"])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
def test_nobody_is_given_an_answer_while_its_effect_is_being_applied(
    make: Callable[[str], World], begins: bool, elsewhere: bool
) -> None:
    """Neither a session that another process reaches, nor one that begins meanwhile (section 5.5)."""
    one, attached = make("one"), make("attached")
    gate = raise_scope(one)
    during = one
    if elsewhere:
        reaches_nothing(one)
        during = attached
    if begins:
        for each in (one, attached):
            each.host.change({"endSession": {"workItem": "t-000001"}})

    claimed: list[State] = []
    given: list[object] = ["never asked"]

    def look(gate: Message, answer: Message) -> None:
        if begins:
            for each in (one, attached):
                each.host.change({"startSession": {"workItem": "t-000001", "session": OTHER_RUN}})
            claimed.extend(each.state for each in during.engine.session_started(OTHER_RUN, TASK))
        given[:] = [
            *during.engine.dispatch_waiting(),
            during.engine.recover().retried,
            *pushed(one, attached),
        ]

    one.host.apply_effect = look  # type: ignore[method-assign]
    sent = one.engine.reply(ADA, gate.id, GRANT)
    assert claimed == ([State.SENDING] if begins else [])
    assert given == [0]
    assert pushed(one) == ([] if elsewhere else [sent.message.id])
    attached.engine.dispatch_waiting()
    assert pushed(one, attached) == [sent.message.id]


def test_an_answer_is_given_on_once_whoever_applied_its_effect_is_gone(
    make: Callable[[str], World], living: set[str]
) -> None:
    one, other = make("one"), make("other")
    gate = raise_scope(one)
    with dying(one):
        one.engine.reply(ADA, gate.id, GRANT)
    assert other.engine.dispatch_waiting() == ()
    living.remove("one")
    assert other.engine.recover().retried == 1
    assert len(pushed(other)) == 1
    assert other.engine.effects_applied() == [gate.id]


def test_an_effect_that_recovers_is_not_applied_within_itself(make: Callable[[str], World]) -> None:
    one = make("one")
    gate = raise_wake(one)
    apply_effect, calls = one.host.apply_effect, []

    def recovers(gate: Message, answer: Message) -> None:
        calls.append(gate.id)
        assert one.engine.recover().replayed == 0
        apply_effect(gate, answer)

    one.host.apply_effect = recovers  # type: ignore[method-assign]
    one.engine.reply(ADA, gate.id, DENY)
    assert calls == one.engine.effects_applied() == [gate.id]


def test_an_effect_that_failed_is_anybodys(make: Callable[[str], World]) -> None:
    one, other = make("one"), make("other")
    gate = raise_wake(one)
    one.host.failing_effects = True
    one.engine.reply(ADA, gate.id, DENY)
    assert other.engine.recover().replayed == 1
    assert one.engine.recover().replayed == 0
    assert one.engine.effects_applied() == [gate.id]
