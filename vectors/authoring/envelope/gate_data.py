"""What gate data is, and which senders may raise which gate (sections 5.1, 5.3, 5.6)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE_1,
    DECIDER,
    DELL,
    HOST,
    LEE,
    NORA,
    SCOUT,
    bound,
    row,
    stored,
    wake_data,
    wake_gate,
)
from vectors.authoring.host_steps import message, ok, refused, validate, vector, who
from vectors.authoring.kit import Expected, Json

SESSION: Final = who(COVE_1)
AGENT: Final = who(SCOUT)

_KINDS: Final = (HOST, DECIDER, BYSTANDER, AGENT, SESSION)


def _asked(data: object, kind: str = "question") -> Json:
    return message(LEE, "Which of the two?", kind, data=data)


def _unknown(data: object, kind: str = "question") -> list[Expected]:
    return [refused(validate(sender, _asked(data, kind)), "invalid", "data.type") for sender in _KINDS]


VECTORS: Final = [
    vector(
        "env.gate-data.travels-on-questions-and-handoffs-alone",
        "Gate data on any other kind is refused on data.type, whoever sends it and whether or not its type is known",
        *(
            refused(validate(sender, _asked(data, kind)), "invalid", "data.type")
            for sender in (HOST, DECIDER, SESSION, AGENT)
            for kind in ("message", "notice", "x-board")
            for data in (wake_data(), {"type": "ballot"})
        ),
        sections=["5.1", "5.3"],
    ),
    vector(
        "env.gate-data.does-not-travel-on-an-answer",
        "An answer that carries gate data is refused on data.type, even from a deciding principal answering a gate",
        *(
            refused(
                validate(
                    sender,
                    message("$system", "", "answer", replyTo="m-gate", choice="approve", data=wake_data()),
                    target="m-gate",
                ),
                "invalid",
                "data.type",
            )
            for sender in (DECIDER, HOST)
        ),
        given={
            "store": stored(
                [
                    row(
                        "m-gate",
                        "$system",
                        NORA,
                        "Wake it?",
                        "question",
                        choices=["approve", "deny"],
                        data=wake_data(),
                    )
                ],
                [bound("d-gate", "m-gate", NORA, "notified")],
            )
        },
        sections=["5.1", "5.3"],
    ),
    vector(
        "env.gate-data.of-a-type-nobody-knows-is-refused-from-everyone",
        "A question whose data has an unknown type is refused on data.type, from every kind of sender",
        *_unknown({"type": "ballot", "options": ["a", "b"]}),
        sections=["5.1", "5.3", "5.6"],
    ),
    vector(
        "env.gate-data.of-an-unknown-type-is-refused-on-a-handoff",
        "A handoff whose data has an unknown type is refused on data.type, from every kind of sender",
        *_unknown({"type": "ballot"}, "handoff"),
        sections=["5.1", "5.3", "5.6"],
    ),
    vector(
        "env.gate-data.a-registered-type-the-host-lacks-is-unknown",
        "A gate of a registered type the host does not implement is refused on data.type from every kind of sender",
        *_unknown({"type": "$unimplementedGateType"}),
        *_unknown({"type": "$unimplementedGateType"}, "handoff"),
        sections=["5.3", "5.6"],
    ),
    vector(
        "env.gate-data.only-the-prefix-x-dash-makes-a-type-private",
        "A type is private only when it starts with x-, in lower case: an empty type, x and X-note are gate types",
        *(
            refused(validate(sender, _asked({"type": type_})), "invalid", "data.type")
            for type_ in ("", "x", "xnote", "X-note", " x-note", "note-x-")
            for sender in (HOST, SESSION)
        ),
        *(ok(validate(SESSION, _asked({"type": type_}))) for type_ in ("x-", "x-note", "x-wake")),
        sections=["5.1", "5.3"],
    ),
    vector(
        "env.gate-data.private-data-rides-on-any-kind",
        "Data whose type starts with x- is accepted on every kind and from every kind of sender",
        *(
            ok(validate(sender, _asked({"type": "x-trace", "wake": {"type": "wake"}}, kind)))
            for sender in _KINDS
            for kind in ("message", "question", "handoff", "notice", "x-board")
        ),
        sections=["5.1", "5.3"],
    ),
    vector(
        "env.gate-data.needs-an-object-with-a-string-type",
        "Data that is no object, or whose type is missing or no string, is not gate data and may ride on any kind",
        *(
            ok(validate(SESSION, _asked(data, kind)))
            for data in ("wake", ["wake"], [{"type": "wake"}], 7, True, {}, {"Type": "wake"}, {"type": 7})
            for kind in ("message", "question")
        ),
        *(
            ok(validate(DECIDER, _asked(data, "notice")))
            for data in (
                {"type": None},
                {"type": ["wake"]},
                {"type": {"type": "wake"}},
                {"data": wake_data()},
            )
        ),
        sections=["5.1"],
    ),
    vector(
        "env.gate-raising.wake-is-the-systems-alone",
        "Nobody but the system raises a wake gate: a deciding human, another human, an agent and sessions are refused",
        *(
            refused(validate(sender, wake_gate(LEE)), "forbidden", "data")
            for sender in (DECIDER, BYSTANDER, AGENT, SESSION, who(AUX))
        ),
        ok(validate(HOST, wake_gate(LEE))),
        sections=["5.3", "5.9", "13.3"],
    ),
    vector(
        "env.gate-raising.the-system-decides-without-claiming-to",
        "The system address always decides, so it raises a wake gate even when the claim to decide is not made",
        ok(validate({"address": "$system", "canDecide": False}, wake_gate(LEE))),
        sections=["5.2", "5.3", "9.2"],
    ),
    vector(
        "env.gate-raising.a-wake-gate-names-a-target",
        "A wake gate whose target is missing or is no address is refused",
        *(
            refused(validate(HOST, {**wake_gate(NORA), "data": data}), "invalid")
            for data in (
                {"type": "wake", "message": "m-parked"},
                {**wake_data(), "target": "dell"},
                {**wake_data(), "target": "task:"},
                {**wake_data(), "target": 7},
                {**wake_data(), "target": [DELL]},
                {**wake_data(), "target": None},
            )
        ),
        ok(validate(HOST, wake_gate(NORA, COVE_1))),
        sections=["5.3", "5.9"],
    ),
    vector(
        "env.gate-raising.a-wake-gate-offers-its-own-choices",
        "A wake gate that offers other choices than approve and deny is refused",
        *(
            refused(validate(HOST, {**wake_gate(NORA), "choices": choices}), "invalid")
            for choices in (["yes", "no"], ["approve"], ["approve", "reject"], ["approve", "deny", "later"])
        ),
        sections=["5.1", "5.3", "5.9"],
    ),
    vector(
        "env.gate-raising.a-wake-gate-names-the-held-message",
        "A wake gate whose message is missing or is no string is refused",
        *(
            refused(validate(HOST, {**wake_gate(NORA), "data": data}), "invalid")
            for data in (
                {"type": "wake", "target": DELL},
                {**wake_data(), "message": 7},
                {**wake_data(), "message": ["m-parked"]},
                {**wake_data(), "message": None},
            )
        ),
        sections=["5.3", "5.9"],
    ),
]
