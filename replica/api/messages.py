"""Messages, replies, answers, threads and mailboxes (sections 4, 7.1, 9.3, A.2)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeVar

from core.engine import Sent
from core.errors import Code, invalid, not_found
from core.gate_data import data_type, is_gate
from core.inputs import ReplyInput, SendInput
from core.message import Absent, Delivery, Message, State
from core.store.deliveries import delivery_by_id, page
from core.store.messages import message_by_id
from crypto.canonical import JsonValue
from replica.api import recent
from replica.api.acting import may_act_for
from replica.api.errors import Refusal, forbidden
from replica.api.schemas import COUNT, FLAG, listing, or_null, record, ref
from replica.api.table import Answer, Call, Reply, Route, Wait, Who, Work, choice, number, word
from replica.host.boxes import boxes
from replica.host.shapes import delivery_json, message_json, row_json
from replica.node import DirectoryNode, Node
from replica.records import remote

MAX_PAGE: Final = 500
"""Entries of a mailbox in one answer at most."""

G = TypeVar("G", SendInput, ReplyInput)

_SENT: Final = record(
    {
        "message": ref("Message"),
        "deliveries": listing(ref("Delivery")),
        "remote": listing(ref("RemoteRow")),
        "downgraded": FLAG,
        "replayed": FLAG,
    }
)
_ENTRY: Final = record({"delivery": ref("Delivery"), "message": ref("Message")})


def _send(node: DirectoryNode, call: Call) -> Reply:
    given = _keyed(SendInput.from_json(_body(call)), call)
    return _sent(node, node.engine.send(call.caller.sender, given))


def _reply(node: DirectoryNode, call: Call) -> Reply:
    given = _keyed(ReplyInput.from_json(_body(call)), call)
    return _sent(node, node.engine.reply(call.caller.sender, call.path["id"], given))


def _message(node: DirectoryNode, call: Call) -> Reply:
    return Reply(200, message_json(node.host, _readable(node, call)))


def _answer(node: DirectoryNode, call: Call) -> Reply | Wait:
    question = _readable(node, call)
    if not question.takes_answer:
        raise Refusal(400, str(Code.INVALID), "only a question or a handoff takes an answer", "id")
    found = node.engine.answer_of(question.id)
    if found is None and call.patient and call.query["wait"] == "1" and _may_wait(node, call, question):
        return Wait(question.id)
    return Reply(200, {"answer": None if found is None else message_json(node.host, found)})


def _may_wait(node: Node, call: Call, question: Message) -> bool:
    """Whether it is the asker who waits, a session that acts for it, or a human who decides."""
    return call.caller.decides or may_act_for(node, call.caller, question.sender)


def _threads(node: DirectoryNode, call: Call) -> Reply:
    found = recent.threads(node, call.query["limit"], call.query["about"], call.query["before"])
    return Reply(
        200,
        {
            "threads": [
                {
                    "thread": each.thread,
                    "first": None if each.first is None else message_json(node.host, each.first),
                    "latest": message_json(node.host, each.latest),
                    "messages": each.count,
                }
                for each in found.threads
            ],
            "next": found.next,
        },
    )


def _thread(node: DirectoryNode, call: Call) -> Reply:
    engine, named = node.engine, call.path["id"]
    with node.store.reading():
        messages = engine.thread(named) if engine.can_read_thread(call.caller.sender, named) else []
        if not messages:
            raise no_message(named)
        shown: list[JsonValue] = [
            {
                "message": message_json(node.host, each),
                "deliveries": [delivery_json(delivery) for delivery in engine.deliveries(each.id)],
                "remote": [row_json(row) for row in remote.rows_of(node.store.db, each.id)],
            }
            for each in messages
        ]
    return Reply(200, {"thread": named, "messages": shown})


def _mailbox(node: DirectoryNode, call: Call) -> Reply:
    sender, query = call.caller.sender, call.query
    whose = query["address"] or sender.address
    if not may_act_for(node, call.caller, whose):
        raise forbidden("that is no mailbox of yours")
    states = None if query["state"] is None else (State(query["state"]),)
    with node.store.reading():
        own, after, limit = boxes(node.host, whose), query["after"], query["limit"]
        _check_after(node, own, after)
        newest = query["order"] == "newest"
        found = page(node.store.db, own, states, after, limit + 1, newest=newest)
        entries: list[JsonValue] = []
        for each in found[:limit]:
            message = node.engine.message(each.message)
            if message is not None and node.engine.is_published(message):
                entries.append({"delivery": delivery_json(each), "message": message_json(node.host, message)})
    return Reply(200, {"deliveries": entries, "next": found[limit - 1].id if len(found) > limit else None})


def _check_after(node: Node, boxes: Mapping[str, str | None], after: str | None) -> None:
    last = None if after is None else delivery_by_id(node.store.db, after)
    if after is not None and (last is None or boxes.get(last.recipient, "") not in (None, last.session)):
        raise not_found("after", "no delivery here has that id; start again from the first page")


def _read(node: DirectoryNode, call: Call) -> Reply:
    found = delivery_by_id(node.store.db, call.path["id"])
    if found is None or not (_may_mark(node, call, found) and _is_there(node, found)):
        raise Refusal(404, str(Code.NOT_FOUND), f"no delivery {call.path['id']}")
    return Reply(200, {"delivery": delivery_json(node.engine.mark_read(found.id))})


def _may_mark(node: Node, call: Call, delivery: Delivery) -> bool:
    sender = call.caller.sender
    if call.caller.decides or delivery.session == sender.address:
        return True
    return may_act_for(node, call.caller, delivery.recipient)


def _is_there(node: Node, delivery: Delivery) -> bool:
    message = node.engine.message(delivery.message)
    return message is not None and node.engine.is_published(message)


def _open_decisions(node: DirectoryNode, _: Call) -> Reply:
    system, known = node.host.system_address, node.host.gate_types
    with node.store.reading():
        decisions: list[JsonValue] = [
            {
                "message": message_json(node.host, each),
                "deliveries": [delivery_json(delivery) for delivery in node.engine.deliveries(each.id)],
                "gate": data_type(each.data) if is_gate(each, system, known) else None,
            }
            for each in node.engine.open_blocking()
            if _is_to_a_human(node, each)
        ]
    return Reply(200, {"decisions": decisions})


def _is_to_a_human(node: Node, message: Message) -> bool:
    here = [delivery.recipient for delivery in node.engine.deliveries(message.id)]
    there = [row.recipient for row in remote.rows_of(node.store.db, message.id)]
    return any(address.startswith("human:") for address in (*message.to, *here, *there))


# Shared


def no_message(message_id: str) -> Refusal:
    """The answer for a message or thread that is absent, and for one the caller may not read (section 13.5)."""
    return Refusal(404, str(Code.NOT_FOUND), f"no message {message_id}")


def _readable(node: Node, call: Call) -> Message:
    with node.store.reading() as db:
        found = message_by_id(db, call.path["id"])
        if found is None or not node.engine.can_read(call.caller.sender, found.id):
            raise no_message(call.path["id"])
    return found


def _body(call: Call) -> JsonValue:
    return None if isinstance(call.body, Absent) else call.body


def _keyed(given: G, call: Call) -> G:
    """The input with the key of the header. Raises DmpError `invalid` where the body names another."""
    if call.idempotency_key is None:
        return given
    if given.idempotency_key not in (None, call.idempotency_key):
        raise invalid("idempotencyKey", "the Idempotency-Key header and the body name different keys")
    return replace(given, idempotency_key=call.idempotency_key)


def _sent(node: Node, sent: Sent) -> Reply:
    return Reply(
        200 if sent.replayed else 201,
        {
            "message": message_json(node.host, sent.message),
            "deliveries": [delivery_json(each) for each in sent.deliveries],
            "remote": [row_json(row) for row in remote.rows_of(node.store.db, sent.message.id)],
            "downgraded": sent.downgraded,
            "replayed": sent.replayed,
        },
    )


_ABSENT: Final = "No message has that id, or the caller may not read it: one answer for both."
_SENDING: Final = {
    403: "The sender may not do this.",
    404: "`replyTo` names no message the sender takes part in, or `to[i]` an unknown channel.",
    409: "The question has its answer already.",
    429: "A guardrail refused it.",
}

ROUTES: Final = (
    Route(
        "POST",
        "/api/messages",
        "sendMessage",
        Who.PRINCIPAL,
        "Send a message as the caller",
        _send,
        {
            201: Answer("Sent.", _SENT),
            200: Answer("Sent before, with the same idempotency key: that send.", _SENT),
        },
        work=Work.WRITE,
        takes=ref("SendInput"),
        refuses=_SENDING,
        keyed=True,
    ),
    Route(
        "GET",
        "/api/messages/{id}",
        "getMessage",
        Who.PRINCIPAL,
        "Read one message",
        _message,
        {200: Answer("The message.", ref("Message"))},
        refuses={404: _ABSENT},
    ),
    Route(
        "POST",
        "/api/messages/{id}/reply",
        "reply",
        Who.PRINCIPAL,
        "Reply to a message: an answer to a question or handoff, else a plain message",
        _reply,
        {
            201: Answer("Sent.", _SENT),
            200: Answer("Sent before, with the same idempotency key: that send.", _SENT),
        },
        work=Work.WRITE,
        takes=ref("ReplyInput"),
        refuses={**_SENDING, 404: "No message the caller takes part in has that id."},
        keyed=True,
    ),
    Route(
        "GET",
        "/api/messages/{id}/answer",
        "getAnswer",
        Who.PRINCIPAL,
        "Read the answer to a question or handoff, and wait for it",
        _answer,
        {200: Answer("The answer, null while there is none.", record({"answer": or_null(ref("Message"))}))},
        query=(
            choice(
                "wait",
                "1 to wait up to 30 seconds for it: for the asker, a session acting for it, or a deciding human.",
                ("1", "0"),
            ),
        ),
        refuses={404: _ABSENT},
    ),
    Route(
        "GET",
        "/api/threads",
        "listThreads",
        Who.DECIDING,
        "List the threads with the latest messages first",
        _threads,
        {
            200: Answer(
                "The threads. `next` goes on from here, as `before`; null at the end.",
                record(
                    {
                        "threads": listing(
                            record(
                                {
                                    "thread": ref("Identifier"),
                                    "first": or_null(ref("Message")),
                                    "latest": ref("Message"),
                                    "messages": COUNT,
                                }
                            )
                        ),
                        "next": or_null(ref("Identifier")),
                    }
                ),
            )
        },
        query=(
            number("limit", "How many at most.", default=50, lowest=1, highest=200),
            word("about", "The address of a work item, `task:<id>`: its threads and its sessions'."),
            word("before", "What `next` said: go on from there."),
        ),
        refuses={404: "`before` names no message."},
    ),
    Route(
        "GET",
        "/api/threads/{id}",
        "getThread",
        Who.PRINCIPAL,
        "Read a thread, and how far each message in it got",
        _thread,
        {
            200: Answer(
                "All of it, in its order.",
                record(
                    {
                        "thread": ref("Identifier"),
                        "messages": listing(
                            record(
                                {
                                    "message": ref("Message"),
                                    "deliveries": listing(ref("Delivery")),
                                    "remote": listing(ref("RemoteRow")),
                                }
                            )
                        ),
                    }
                ),
            )
        },
        refuses={
            404: "No thread has that id, or the caller may read none of its messages: one answer for both."
        },
    ),
    Route(
        "GET",
        "/api/mailbox",
        "getMailbox",
        Who.PRINCIPAL,
        "List a mailbox, in delivery order",
        _mailbox,
        {
            200: Answer(
                "A page of it. `next` goes on from here, as `after`; null at the end.",
                record({"deliveries": listing(_ENTRY), "next": or_null(ref("Identifier"))}),
            )
        },
        query=(
            word("address", "Whose, of those the caller acts for; its own by default."),
            choice("state", "Only deliveries in this state.", tuple(State)),
            number("limit", "How many at most.", default=100, lowest=1, highest=MAX_PAGE),
            word("after", "A delivery's id: go on after it, in the order asked for."),
            choice("order", "`newest` for the newest first.", ("delivery", "newest")),
        ),
        refuses={403: "The caller does not act for that address.", 404: "`after` names no delivery."},
    ),
    Route(
        "POST",
        "/api/deliveries/{id}/read",
        "markRead",
        Who.PRINCIPAL,
        "Mark a delivery read",
        _read,
        {200: Answer("The delivery as it is now.", record({"delivery": ref("Delivery")}))},
        work=Work.WRITE,
        refuses={404: "No delivery has that id, or it is not the caller's: one answer for both."},
    ),
    Route(
        "GET",
        "/api/decisions/open",
        "listOpenDecisions",
        Who.DECIDING,
        "List the open blocking questions addressed to a human, gates included",
        _open_decisions,
        {
            200: Answer(
                "Them, the oldest first; `gate` is a gate's type.",
                record(
                    {
                        "decisions": listing(
                            record(
                                {
                                    "message": ref("Message"),
                                    "deliveries": listing(ref("Delivery")),
                                    "gate": {"type": ["string", "null"]},
                                }
                            )
                        )
                    }
                ),
            )
        },
        tag="decisions",
    ),
)
