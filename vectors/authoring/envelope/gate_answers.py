"""Who may answer a stored gate, and with what (sections 5.1, 5.4, 5.6, 4.7)."""

from typing import Any, Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE_1,
    DECIDER,
    HOST,
    LEE,
    NORA,
    SCOUT,
    bound,
    row,
    stored,
    wake_data,
)
from vectors.authoring.envelope.gate_data import AGENT, SESSION
from vectors.authoring.host_steps import message, ok, refused, validate, vector
from vectors.authoring.kit import Json

_CHOICES: Final = ["approve", "deny"]


def _gate(sender: str, to: str, data: Json, kind: str = "question", **more: Any) -> Json:
    """A world that holds one question with gate data, however it came to be stored."""
    held = {"human": "notified"}.get(to.partition(":")[0], "held")
    return {
        "store": stored(
            [row("m-gate", sender, to, "Shall it happen?", kind, data=data, **more)],
            [bound("d-gate", "m-gate", to, held)],
        )
    }


def _answer(sender: Json, to: str, body: str = "", **more: Any) -> Json:
    return validate(sender, message(to, body, "answer", replyTo="m-gate", **more), target="m-gate")


VECTORS: Final = [
    vector(
        "env.gate-answering.needs-a-deciding-principal",
        "The human a gate was sent to does not answer it without authority, nor does an agent or a session",
        *(
            refused(_answer(sender, "$system", choice="approve"), "forbidden", "replyTo")
            for sender in (BYSTANDER, AGENT, SESSION)
        ),
        ok(_answer(DECIDER, "$system", choice="approve")),
        ok(_answer(HOST, LEE, choice="deny")),
        given=_gate("$system", LEE, wake_data(), choices=_CHOICES),
        sections=["5.2", "5.4", "9.2", "13.3"],
    ),
    vector(
        "env.gate-answering.the-system-decides-without-claiming-to",
        "The system address answers a gate even when the claim to decide is not made",
        ok(_answer({"address": "$system", "canDecide": False}, NORA, choice="deny")),
        given=_gate("$system", NORA, wake_data(), choices=_CHOICES),
        sections=["5.2", "5.4", "9.2"],
    ),
    vector(
        "env.gate-answering.an-unknown-type-from-the-system-is-decide-only",
        "A stored gate of an unknown type from the system is answered by deciding principals alone",
        refused(_answer(AGENT, "$system", choice="approve"), "forbidden", "replyTo"),
        refused(_answer(BYSTANDER, "$system", choice="approve"), "forbidden", "replyTo"),
        ok(_answer(DECIDER, "$system", choice="approve")),
        given=_gate("$system", SCOUT, {"type": "ballot"}, choices=_CHOICES),
        sections=["5.1", "5.4", "5.6"],
    ),
    vector(
        "env.gate-answering.an-unknown-type-from-a-human-is-decide-only",
        "A stored gate of an unknown type from a human is answered by deciding principals alone, even a handoff",
        refused(_answer(SESSION, LEE, choice="accept"), "forbidden", "replyTo"),
        refused(_answer(BYSTANDER, NORA, choice="accept"), "forbidden", "replyTo"),
        ok(_answer(DECIDER, LEE, choice="accept")),
        given=_gate(LEE, COVE_1, {"type": "ballot"}, "handoff", choices=["accept", "decline"]),
        sections=["5.1", "5.4", "5.6"],
    ),
    vector(
        "env.gate-answering.the-choice-rule-holds-for-unknown-types",
        "An answer to a stored gate of an unknown type carries one of its choices",
        refused(_answer(DECIDER, "$system", "go ahead"), "invalid", "choice"),
        refused(_answer(DECIDER, "$system", choice="approve"), "invalid", "choice"),
        refused(_answer(DECIDER, "$system", choice="Yes"), "invalid", "choice"),
        ok(_answer(DECIDER, "$system", choice="yes")),
        given=_gate("$system", NORA, {"type": "ballot"}, choices=["yes", "no"]),
        sections=["4.7", "5.4", "5.6"],
    ),
    vector(
        "env.gate-answering.an-unknown-type-without-choices-takes-none",
        "An answer to a stored gate of an unknown type without choices carries none",
        refused(_answer(DECIDER, "$system", "go ahead", choice="approve"), "invalid", "choice"),
        ok(_answer(DECIDER, "$system", "go ahead")),
        given=_gate("$system", NORA, {"type": "ballot"}),
        sections=["4.7", "5.4", "5.6"],
    ),
    vector(
        "env.gate-answering.an-unknown-type-from-a-session-is-plain",
        "A session's question with data of an unknown type is no gate: its recipient answers it, in words or by choice",
        ok(_answer(BYSTANDER, COVE_1, "neither")),
        ok(_answer(BYSTANDER, COVE_1, choice="yes")),
        refused(_answer(BYSTANDER, COVE_1, choice="maybe"), "invalid", "choice"),
        given=_gate(COVE_1, LEE, {"type": "ballot"}, choices=["yes", "no"]),
        sections=["5.1", "5.6"],
    ),
    vector(
        "env.gate-answering.an-unknown-type-from-an-agent-is-plain",
        "An agent's question with data of an unknown type is no gate, and a session answers it",
        ok(_answer(SESSION, SCOUT, "the second")),
        given=_gate(SCOUT, COVE_1, {"type": "ballot"}),
        sections=["5.1", "5.6"],
    ),
    vector(
        "env.gate-answering.a-known-type-makes-a-gate-whoever-sent-it",
        "A stored question with data of a known type is a gate even from an agent: recipients do not decide it",
        refused(_answer(BYSTANDER, SCOUT, choice="approve"), "forbidden", "replyTo"),
        refused(_answer(SESSION, SCOUT, choice="approve"), "forbidden", "replyTo"),
        ok(_answer(DECIDER, SCOUT, choice="approve")),
        given=_gate(SCOUT, LEE, wake_data(), choices=_CHOICES),
        sections=["5.1", "5.4"],
    ),
    vector(
        "env.gate-answering.private-data-makes-no-gate",
        "A question from the system whose data is private is no gate, and its recipient answers it",
        ok(_answer(BYSTANDER, "$system", "the second")),
        ok(_answer(AGENT, "$system", choice="approve")),
        given=_gate("$system", LEE, {"type": "x-ballot", "of": "wake"}, choices=_CHOICES),
        sections=["5.1", "5.4"],
    ),
    vector(
        "env.gate-answering.a-handoff-with-a-known-type-is-a-gate",
        "A stored handoff with data of a type the host knows is a gate",
        refused(_answer(SESSION, NORA, choice="approve"), "forbidden", "replyTo"),
        ok(_answer(DECIDER, LEE, choice="approve")),
        given=_gate("$system", COVE_1, wake_data(), "handoff", choices=_CHOICES),
        sections=["5.1", "5.4"],
    ),
]
