"""Who and what the vectors of gates, delivery, mailboxes and reading are about; steps beyond sending; hook calls.

Nora owns the project and decides, Lee does not. `SCOUT` is an approved agent install. Cove, Dell and Fern are work
items, each with sessions of its own, and `AUX` is a session that stands for none.
"""

from collections.abc import Sequence
from typing import Any, Final

from vectors.authoring.host_steps import SYSTEM, message, who
from vectors.authoring.kit import Json

NORA: Final = "human:nora"
LEE: Final = "human:lee"
KAI: Final = "human:kai"
SCOUT: Final = "agent:nora/scout"

COVE: Final = "task:t-c0c0c0"
COVE_1: Final = "run:r-c0c0c0"
COVE_2: Final = "run:r-c0c0c2"
DELL: Final = "task:t-de11de"
DELL_1: Final = "run:r-de11d1"
DELL_2: Final = "run:r-de11d2"
DELL_3: Final = "run:r-de11d3"
FERN: Final = "task:t-fe2afe"
FERN_1: Final = "run:r-fe2af1"
AUX: Final = "run:r-a0a0a0"

DECIDER: Final = who(NORA, decides=True)
BYSTANDER: Final = who(LEE)
HOST: Final = who(SYSTEM)

LIMITS: Final = {"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 20}
HOUR_MS: Final = 3_600_000

SCOUT_APPROVED: Final = {"address": SCOUT, "status": "approved"}


def given(**members: Any) -> Json:
    """A world with guardrails wide enough to stay out of the way, unless it says otherwise."""
    return {"limits": LIMITS, **members}


def item(work_item: str, live: str | None = None, earlier: Sequence[str] = ()) -> Json:
    """A work item of the world, by its address."""
    found: Json = {"id": work_item.removeprefix("task:")}
    if live is not None:
        found["liveSession"] = live
    if earlier:
        found["sessions"] = list(earlier)
    return found


def stored(messages: Sequence[Json], deliveries: Sequence[Json] = (), applied: Sequence[str] = ()) -> Json:
    """Rows that another build wrote."""
    found: Json = {"messages": list(messages)}
    if deliveries:
        found["deliveries"] = list(deliveries)
    if applied:
        found["appliedGates"] = list(applied)
    return found


def row(id: str, sender: str, to: str | Sequence[str], body: str, kind: str = "message", **more: Any) -> Json:
    """A stored message."""
    return {"id": id, "from": sender, **message(to, body, kind, **more)}


def bound(
    id: str, message_id: str, recipient: str, state: str, session: str | None = None, via: str = "direct"
) -> Json:
    """A stored delivery."""
    return {
        "id": id,
        "message": message_id,
        "recipient": recipient,
        "session": session,
        "via": via,
        "state": state,
    }


def wake_data(target: str = DELL, held: str = "m-parked") -> Json:
    return {"type": "wake", "target": target, "message": held}


def wake_gate(to: str | Sequence[str] = NORA, target: str = DELL, **more: Any) -> Json:
    """The input of a wake gate that the host raises itself."""
    return message(
        to,
        f"May {target} be woken?",
        "question",
        blocking=True,
        choices=["approve", "deny"],
        data=wake_data(target),
        **more,
    )


def recover() -> Json:
    return {"op": "recover"}


def session_starts(session: str, work_item: str) -> Json:
    """The host claims what waits for a session that has just started."""
    return {"op": "deliverHeld", "session": session, "workItem": work_item.removeprefix("task:")}


def mark_read(message_id: str, recipient: str) -> Json:
    return {"op": "markRead", "message": message_id, "recipient": recipient}


def inbox(recipient: str, *states: str) -> Json:
    step: Json = {"op": "inbox", "recipient": recipient}
    return {**step, "states": list(states)} if states else step


def thread(first: str) -> Json:
    return {"op": "thread", "thread": first}


def open_blocking() -> Json:
    return {"op": "openBlocking"}


def can_read(message_id: str, reader: Json) -> Json:
    return {"op": "canRead", "message": message_id, "as": reader}


def join(channel: str, member: str) -> Json:
    return {"op": "join", "channel": channel, "member": member}


def leave(channel: str, member: str) -> Json:
    return {"op": "leave", "channel": channel, "member": member}


def render(message_id: str, form: str | None = None, *, external: bool = False) -> Json:
    step: Json = {"op": "render", "message": message_id}
    if form is not None:
        step["form"] = form
    return {**step, "external": True} if external else step


def live(work_item: str, session: str) -> Json:
    """The change of the world that makes a session its work item's live one."""
    return {"workItem": work_item.removeprefix("task:"), "session": session}


def ended(work_item: str) -> Json:
    """The change of the world that ends a work item's live session."""
    return {"workItem": work_item.removeprefix("task:")}


def published(message_id: str) -> Json:
    return {"hook": "published", "message": message_id}


def pushed(session: str, message_id: str) -> Json:
    return {"hook": "push", "session": session, "message": message_id}


def notified(session: str, message_id: str) -> Json:
    return {"hook": "notify", "session": session, "message": message_id}


def told(human: str, message_id: str) -> Json:
    return {"hook": "notifyHuman", "actor": human, "message": message_id}


def ruled(target: str, message_id: str) -> Json:
    return {"hook": "decide", "target": target, "message": message_id}


def woken(target: str, message_id: str) -> Json:
    return {"hook": "wake", "target": target, "message": message_id}


def effect(question: str, answer: str) -> Json:
    return {"hook": "onAnswered", "question": question, "answer": answer}
