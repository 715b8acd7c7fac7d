"""The worker's dealings with the store: what is due, and what came of it. Each function is done again after a crash."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bindings.a2a.peers import credentials, events, outgoing, recording, records, schedule
from bindings.a2a.peers.admission import is_over_quota
from bindings.a2a.peers.events import Event, read_message, read_task
from bindings.a2a.peers.peer import Peer, PeerState
from bindings.a2a.peers.records import PeerTask, Point, Sending
from bindings.a2a.peers.wire import Call, PeerError
from core.delivering import move
from core.errors import Code, DmpError
from core.gate_data import has_gate_data
from core.message import Message, State
from core.store.deliveries import delivery_by_id
from core.timestamp import timestamp
from crypto.canonical import JsonValue
from replica.node import DirectoryNode, Node
from replica.quoting import quoted

NO_CREDENTIAL: Final = "no credential is kept for it"

_ALL: Final = 1_000_000

_PASSING: Final = (Code.LIMITED, Code.UNAVAILABLE)
"""Refusals that time mends: agents pause in a thread, or the store cannot be used."""


@dataclass(frozen=True, slots=True)
class Due:
    """The peers for which there is something to do, and in how many milliseconds there is more."""

    aliases: tuple[str, ...]
    next_in: int | None


@dataclass(frozen=True, slots=True)
class Relayed:
    """A message on its way to a peer."""

    sending: Sending
    message: Message
    peer: Peer
    credential: str
    request: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Following:
    """A task that is asked for."""

    task: PeerTask
    peer: Peer
    credential: str


def due(node: DirectoryNode) -> Due:
    """What is due. Tells the owner of peers that channels skipped."""
    db, now = node.store.db, node.wall()
    for alias, at in records.to_tell(db):
        _tell_skipped(node, alias, at)
    found = dict.fromkeys(each.alias for each in records.due(db, now, _ALL))
    found.update(dict.fromkeys(each.alias for each in records.tasks_due(db, now, _ALL)))
    found.update(dict.fromkeys(each.alias for each in records.every(db) if _is_stale(each, now)))
    next_due = records.next_due(db)
    return Due(tuple(found), None if next_due is None else max(0, next_due - now))


def is_refresh_due(node: Node, alias: str) -> bool:
    """Whether a peer's card is to be fetched again."""
    peer = records.find(node.store.db, alias)
    return peer is not None and _is_stale(peer, node.wall())


def _is_stale(peer: Peer, now: int) -> bool:
    return peer.state is PeerState.ACTIVE and peer.refresh_at <= now


# Mail


def next_sending(node: DirectoryNode, alias: str) -> Relayed | None:
    """The next message to send to a peer. What cannot be sent now waits, and what never can be is given up."""
    for one in records.due(node.store.db, node.wall(), _ALL):
        if one.alias == alias and (found := _prepared(node, one)) is not None:
            return found
    return None


def _prepared(node: DirectoryNode, one: Sending) -> Relayed | None:
    now, db = node.wall(), node.store.db
    message = node.engine.message(one.delivery.message)
    assert message is not None
    peer = records.find(db, one.alias)
    if peer is None:
        _give_up(node, one, message, f"{one.alias} is no peer any more", "given-up")
        return None
    if one.first_at and now - one.first_at >= schedule.GIVE_UP:
        _give_up(node, one, message, f"{one.alias} did not take it within 24 hours", "given-up")
        return None
    if has_gate_data(message.data):  # stored by no version of this host; it would never leave all the same
        _give_up(node, one, message, "gate data never leaves this host", "given-up")
        return None
    credential = _credential(node, peer)
    if credential is None:
        _postpone(node, one, now + schedule.WAIT, tried=True)
        return None
    if not one.direct and is_over_quota(db, node.host.config, one.alias, now):
        _postpone(node, one, now + schedule.WAIT, tried=False)
        return None
    known = None if message.reply_to is None else records.task_of_message(db, one.alias, message.reply_to)
    request = outgoing.request(
        message,
        peer.address,
        context=None if known is None else known.context,
        task=known.task if known is not None and known.is_open else None,
    )
    return Relayed(one, message, peer, credential, request)


def accepted(node: Node, one: Relayed, answer: Call) -> PeerTask | None:
    """Write down that a peer took a message, and what it said at once; return the task to follow."""
    found = outgoing.accepted(answer)
    if found is None:
        not_accepted(node, one, PeerError("later", "its answer is neither a task nor a message"))
        return None
    name, content = found
    now = node.wall()
    blank = PeerTask(one.sending.alias, "", "", one.message.id, one.sending.direct, now, now)
    try:
        if name == "message":
            _, _, words = read_message(content)
            _record_message(node, blank, words, one)
            task = None
        else:
            event = read_task(content)
            task = replace(blank, task=event.task, context=event.context)
    except PeerError as error:
        not_accepted(node, one, error)
        return None
    with node.store.transaction(Point.RELAYED) as db:
        current = delivery_by_id(db, one.sending.delivery.id)
        if current is not None and current.state is State.HELD:
            move(db, node.engine.federation, one.message, current, State.PUSHED, None, timestamp(now))
        records.finish(db, one.sending, now, "relayed")
        if task is not None:
            records.open_task(db, task)
            task = records.task(db, task.alias, task.task)
    return None if task is None else _recorded(node, task, event, streamed=False)


def _record_message(node: Node, task: PeerTask, words: events.Words, one: Relayed) -> None:
    # One request has one answer, whatever id a repeated one gives it.
    key = f"a2a-reply:{one.sending.delivery.id}"
    try:
        recording.record_message(node, task, words, key)
    except DmpError as error:
        # Sent again for ever, it would be no better kept.
        raise PeerError(
            "later" if error.code in _PASSING else "refused", f"what it says cannot be kept ({error.code})"
        ) from None


def not_accepted(node: Node, one: Relayed, error: PeerError) -> None:
    """Write down that a peer did not take a message: it is sent again later, or given up."""
    now, alias = node.wall(), one.sending.alias
    if error.failure == "later":
        _postpone(node, one.sending, now + schedule.retry(one.sending.tries + 1), tried=True)
        return
    if error.failure == "auth":
        fail(node, one.peer, error, one.sending.delivery.id)
    _give_up(node, one.sending, one.message, f"{alias} refused it: {_told(error)}", "refused")


def _give_up(node: Node, one: Sending, message: Message, reason: str, over: str) -> None:
    recording.end(node, message, one.direct, reason, f"a2a-undelivered:{one.delivery.id}")
    with node.store.transaction(Point.GIVEN_UP) as db:
        records.finish(db, one, node.wall(), over)


def _postpone(node: Node, one: Sending, until: int, *, tried: bool) -> None:
    with node.store.transaction(Point.POSTPONED) as db:
        records.postpone(db, one, node.wall(), until, tried=tried)


def let_go(node: DirectoryNode, alias: str) -> None:
    """Give up all that waits for a peer that is gone, or is followed at it."""
    next_sending(node, alias)
    next_task(node, alias)


# Tasks


def next_task(node: DirectoryNode, alias: str) -> Following | None:
    """The next task of a peer to ask for. One that took too long, or whose peer is gone, is given up."""
    now = node.wall()
    for task in records.tasks_due(node.store.db, now, _ALL):
        if task.alias != alias:
            continue
        peer = records.find(node.store.db, alias)
        if peer is None or now - task.begun_at >= schedule.LONGEST_TASK:
            reason = f"{alias} is no peer any more" if peer is None else recording.NO_END
            _keep(node, recording.give_up(node, task, reason))
            continue
        credential = _credential(node, peer)
        if credential is not None:
            return Following(task, peer, credential)
        _keep(node, replace(task, next_at=now + schedule.WAIT))
    return None


def heard(node: Node, one: Following, answer: Call, *, streamed: bool) -> PeerTask:
    """Record what a task says that was asked for."""
    try:
        event = read_task(answer, one.task.task)
    except PeerError as error:
        return not_followed(node, one, error)
    return _recorded(node, one.task, event, streamed=streamed)


def told(node: Node, task: PeerTask, event: Event) -> bool:
    """Record what a stream says of a task; whether the task itself is to be asked for now."""
    current = records.task(node.store.db, task.alias, task.task)
    if current is None or not current.is_open or event.state in events.TERMINAL:
        return True
    _recorded(node, current, event, streamed=True)
    return False


def look_now(node: Node, task: PeerTask) -> None:
    """Have a task asked for at once: its stream tells of its end."""
    current = records.task(node.store.db, task.alias, task.task)
    if current is not None and current.is_open and current.failures == 0:
        _keep(node, replace(current, next_at=node.wall()))


def not_followed(node: Node, one: Following, error: PeerError) -> PeerTask:
    """Write down that a task could not be asked for: it is again later, or is given up."""
    now, task = node.wall(), one.task
    if error.failure == "refused":
        return _keep(
            node, recording.give_up(node, task, f"{task.alias} no longer tells of it: {_told(error)}")
        )
    if error.failure == "auth":
        fail(node, one.peer, error, events.digest(task.task, str(now // schedule.DAY)))
    failures = task.failures + 1
    return _keep(node, replace(task, failures=failures, next_at=now + schedule.retry(failures)))


def _recorded(node: Node, task: PeerTask, event: Event, *, streamed: bool) -> PeerTask:
    now = node.wall()
    try:
        task = recording.record(node, task, event)
        pause = schedule.poll(now - task.begun_at, streamed=streamed)
    except DmpError as error:
        if error.code not in _PASSING:
            task = recording.give_up(node, task, f"what {task.alias} says cannot be kept ({error.code})")
        pause = schedule.WAIT
    return _keep(node, replace(task, failures=0, next_at=now + pause))


def _keep(node: Node, task: PeerTask) -> PeerTask:
    with node.store.transaction(Point.FOLLOWED) as db:
        records.followed(db, task)
    return task


# Peers


def fail(node: Node, peer: Peer, error: PeerError, cause: str) -> None:
    """Send a peer nothing more until it has another credential, and tell the owner. `cause` stands for what it met."""
    if records.state_of(node.store.db, peer.alias) is not PeerState.ACTIVE:
        return
    body = (
        f"The A2A peer {peer.alias} refuses its credential ({_told(error)}). Nothing is sent to it until you give it "
        f"another: dmp a2a peer credential {peer.alias}"
    )
    recording.tell(node, node.host.person, body, f"a2a-auth:{cause}")
    with node.store.transaction(Point.PEER) as db:
        records.move(db, peer.alias, PeerState.FAILED, "it refuses its credential")


def _credential(node: DirectoryNode, peer: Peer) -> str | None:
    """What shows a peer who asks; None for one that gets no mail now."""
    if peer.state is not PeerState.ACTIVE:
        return None
    try:
        found = credentials.read(node.directory.root, peer.alias)
        why = NO_CREDENTIAL
    except DmpError as error:
        found, why = None, error.message
    if found is None:
        with node.store.transaction(Point.PEER) as db:
            records.move(db, peer.alias, PeerState.NO_CREDENTIAL, why)
    return found


def _tell_skipped(node: Node, alias: str, at: int) -> None:
    body = (
        f"Messages to a channel are not sent to the A2A peer {alias}, which is not active. `dmp a2a peer list` says "
        "what to do; `dmp channel leave` takes it out."
    )
    recording.tell(node, node.host.person, body, f"a2a-skipped:{alias}:{at // schedule.DAY}")
    with node.store.transaction(Point.SKIPPED) as db:
        records.told(db, alias)


def _told(error: PeerError) -> str:
    """What a peer's error says: this host's words, and the peer's in quotation marks."""
    return f"{error.text}, {quoted(error.words)}" if error.words else error.text
