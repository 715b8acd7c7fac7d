"""What the mail and channel tools do (section B.1), each by the calls of the host that anybody else uses."""

from collections.abc import Sequence
from typing import Final

from core.engine import Sent
from core.errors import DmpError, forbidden, not_found
from core.inputs import ReplyInput, SendInput
from core.message import Delivery, State
from core.participation import acts_for
from core.store.deliveries import delivery_by_id, page
from crypto.canonical import JsonValue
from replica.host import groups
from replica.host.boxes import boxes, member_of
from replica.host.shapes import delivery_json
from replica.mcp.answers import HUMAN_SECONDS, Question
from replica.mcp.call import Call, Page, Result, Waits
from replica.mcp.shapes import message_json, placed_json
from replica.node import Node
from replica.records import remote

PAGE: Final = 50
MAX_PAGE: Final = 500
"""Messages that a reading of a mailbox returns, unless another number is asked for, and at most."""

UNREAD: Final = (State.HELD, State.NOTIFIED, State.PUSHED)
"""What a mailbox is read for unless somebody says otherwise."""


def msg_send(node: Node, call: Call) -> Result | Waits:
    """Send a message, and wait for the answer where the sender does."""
    given = SendInput.from_json({**call.given.members, **_by(call)})
    sent = node.engine.send(call.sender, given)
    result = _sent(node, sent)
    if not sent.message.blocking:
        return result
    question = Question(sent.message.id, call.sender.address)
    return Waits(result, question, longest_wait(node, sent))


def msg_reply(node: Node, call: Call) -> Result:
    """Reply to a message, with an answer where it takes one."""
    message = call.given.need_text("messageId")
    said = {name: value for name, value in call.given.members.items() if name != "messageId"}
    given = ReplyInput.from_json({"body": "", **said, **_by(call)})
    try:
        return _sent(node, node.engine.reply(call.sender, message, given))
    except DmpError as error:
        raise _renamed(error, "replyTo", "messageId") from None


def longest_wait(node: Node, sent: Sent) -> float:
    """How many seconds the answer to a question may be waited for at most (section B.2)."""
    message = sent.message
    there = (row.recipient for row in remote.rows_of(node.store.db, message.id))
    recipients = (*message.to, *(each.recipient for each in sent.deliveries), *there)
    if any(each.startswith("human:") for each in recipients):
        return HUMAN_SECONDS
    return min(node.host.config.agent_blocking_timeout_sec, HUMAN_SECONDS)


def inbox_read(node: Node, call: Call) -> Result:
    """List the caller's mailbox, the newest first, and mark what is listed read."""
    state = call.given.one_of("state", tuple(State))
    limit = call.given.count("limit", PAGE, MAX_PAGE)
    marks = call.given.flag("markRead", True)
    before = call.pages.find(call.key)
    if before is None:
        states = UNREAD if state is None else (State(state),)
        before = _page(node, call.sender.address, states, limit, marks=marks)
        call.pages.keep(call.key, before)
    with node.store.reading() as db:
        found = [each for id_ in before.deliveries if (each := delivery_by_id(db, id_)) is not None]
        return {
            "messages": [
                {"delivery": delivery_json(each), "message": message_json(node, message)}
                for each in found
                if (message := node.engine.message(each.message)) is not None
            ],
            "marked": [*before.marked],
            "more": before.more,
        }


def _page(node: Node, address: str, states: Sequence[State], limit: int, *, marks: bool) -> Page:
    with node.store.reading() as db:
        found = page(db, boxes(node.host, address), states, None, limit + 1, newest=True)
        shown = [each for each in found[:limit] if _is_there(node, each)]
    marked = []
    for each in shown if marks else ():
        if each.state not in (State.READ, State.ANSWERED) and node.engine.mark_read(each.id) != each:
            marked.append(each.id)
    return Page([each.id for each in shown], marked, len(found) > limit)


def _is_there(node: Node, delivery: Delivery) -> bool:
    message = node.engine.message(delivery.message)
    return message is not None and node.engine.is_published(message)


def thread_read(node: Node, call: Call) -> Result:
    """Read a thread; one that is not there and one of others look alike (section 13.5)."""
    named = call.given.need_text("threadId")
    with node.store.reading():
        found = node.engine.thread(named) if node.engine.can_read_thread(call.sender, named) else []
        if not found:
            raise not_found(
                "threadId", "no thread you take part in has that id; inbox_read shows those you have"
            )
        return {"thread": named, "messages": [placed_json(node, each) for each in found]}


def channel_join(node: Node, call: Call) -> Result:
    """Join a channel."""
    name, member = call.given.need_text("name"), _member(node, call)
    try:
        node.engine.join(name, member)
    except DmpError as error:
        raise _renamed(error, "channel", "name") from None
    return {"channel": name, "member": member}


def channel_leave(node: Node, call: Call) -> Result:
    """Leave a channel. Leaving one again changes nothing, and says so."""
    name, member = call.given.need_text("name"), _member(node, call)
    try:
        return {"channel": name, "member": member, "left": node.engine.leave(name, member)}
    except DmpError as error:
        raise _renamed(error, "channel", "name") from None


def channel_list(node: Node, _: Call) -> Result:
    """List the channels and their members."""
    return {"channels": groups.every_json(node)}


def _member(node: Node, call: Call) -> str:
    """Who joins or leaves: the caller, or whom it acts for."""
    own, named = call.sender.address, call.given.text("member")
    if named is not None and named not in acts_for(node.host, own):
        raise forbidden("member", "you do not act for that address; leave member out to name yourself")
    return named or member_of(node.host, own)


def _by(call: Call) -> dict[str, JsonValue]:
    """What the caller's tool process says beside what the caller does."""
    return {"idempotencyKey": call.key, **({} if call.session is None else {"session": call.session})}


def _sent(node: Node, sent: Sent) -> Result:
    found: Result = placed_json(node, sent.message)
    found["deliveries"] = [delivery_json(each) for each in sent.deliveries]
    return {**found, "downgraded": sent.downgraded, "replayed": sent.replayed}


def _renamed(error: DmpError, field: str, parameter: str) -> DmpError:
    """An error on a field of the host's, as one on the parameter that it came from."""
    return DmpError(error.code, error.message, parameter if error.field == field else error.field)
