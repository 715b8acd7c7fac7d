"""When a gate's effect runs, and what is recorded of it (section 5.5)."""

from typing import Final

from vectors.authoring.cast import (
    COVE,
    COVE_1,
    DECIDER,
    HOST,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    effect,
    given,
    item,
    published,
    pushed,
    recover,
    row,
    stored,
    told,
    wake_data,
    wake_gate,
)
from vectors.authoring.envelope.profile_gates import ACTION, CHOICES, REGISTRATION, SCOPE, TOOL, gate
from vectors.authoring.host_steps import (
    close,
    delivery,
    message,
    ok,
    refused,
    reply,
    send,
    vector,
    who,
    world,
)
from vectors.authoring.kit import Expected, Json

_RAISED: Final = [published("$s1"), told(NORA, "$s1")]


def _each_choice(type_: str, raised: Json, raiser: Json = HOST) -> Json:
    """A vector that raises and answers a gate once per choice, and expects each effect before its answer is heard."""
    steps: list[Expected] = []
    calls: list[Json] = []
    applied: list[str] = []
    for choice in CHOICES[type_]:
        asked, answer = f"$s{len(steps) + 1}", f"$s{len(steps) + 2}"
        steps += [ok(send(raiser, raised)), ok(reply(DECIDER, asked, "", choice=choice))]
        calls += [published(asked), told(NORA, asked), effect(asked, answer), published(answer)]
        if raiser is not HOST:
            calls.append(pushed(raiser["address"], answer))
        applied.append(asked)
    return vector(
        f"core.effects.{type_}-applies-whatever-is-chosen",
        f"Each choice of a {type_} gate has its effect applied and recorded before the answer is heard of",
        *steps,
        given={"owner": NORA, "workItems": [item(COVE, COVE_1)]},
        profile="dispatch",
        calls=calls,
        gateEffects=applied,
        sections=["5.5", "C.3"],
    )


VECTORS: Final = [
    vector(
        "core.effects.run-before-the-answers-deliveries",
        "An answer that also goes to a work item is published and pushed only after the gate's effect was applied",
        ok(send(HOST, wake_gate(NORA))),
        ok(send(DECIDER, message(["$system", COVE], "not now", "answer", replyTo="$s1", choice="deny"))),
        given=given(owner=NORA, workItems=[item(COVE, COVE_1)]),
        deliveries=[delivery("$s1", NORA, "answered"), delivery("$s2", COVE, "pushed", session=COVE_1)],
        calls=[*_RAISED, effect("$s1", "$s2"), published("$s2"), pushed(COVE_1, "$s2")],
        gateEffects=["$s1"],
        sections=["5.5"],
    ),
    vector(
        "core.effects.a-failure-holds-back-neither-answer-nor-mail",
        "When the effect fails, the answer is still committed, published and delivered, and nothing is recorded",
        ok(send(HOST, wake_gate(NORA))),
        ok(send(DECIDER, message(["$system", COVE], "not now", "answer", replyTo="$s1", choice="deny"))),
        refused(reply(DECIDER, "$s1", "", choice="approve"), "conflict", "replyTo"),
        given=given(owner=NORA, workItems=[item(COVE, COVE_1)], failOnAnswered=True),
        messages=[{"id": "$s1"}, {"id": "$s2", "kind": "answer", "choice": "deny"}],
        noOtherMessages=True,
        deliveries=[delivery("$s1", NORA, "answered"), delivery("$s2", COVE, "pushed", session=COVE_1)],
        calls=[*_RAISED, effect("$s1", "$s2"), published("$s2"), pushed(COVE_1, "$s2")],
        gateEffects=[],
        voided=[],
        sections=["5.5"],
    ),
    vector(
        "core.effects.one-that-fails-twice-is-tried-until-it-works",
        "An effect that fails at the answer and at a recovery is applied and recorded at the next, and then no more",
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s1", "", choice="deny")),
        ok(recover()),
        world(failOnAnswered=False),
        ok(recover(), replayed=1, voided=0),
        ok(recover(), replayed=0, voided=0),
        given=given(owner=NORA, failOnAnswered=True),
        deliveries=[delivery("$s1", NORA, "answered")],
        calls=[
            *_RAISED,
            effect("$s1", "$s2"),
            published("$s2"),
            effect("$s1", "$s2"),
            effect("$s1", "$s2"),
        ],
        gateEffects=["$s1"],
        sections=["5.5", "6.3"],
    ),
    vector(
        "core.effects.one-that-starts-to-fail-is-recorded-for-what-worked",
        "Of two answered gates, the second while effects fail, the first alone is recorded, and the other tried again",
        ok(send(HOST, wake_gate(NORA))),
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s1", "", choice="deny")),
        world(failOnAnswered=True),
        ok(reply(DECIDER, "$s2", "", choice="deny")),
        ok(recover()),
        given=given(owner=NORA),
        calls=[
            published("$s1"),
            told(NORA, "$s1"),
            published("$s2"),
            told(NORA, "$s2"),
            effect("$s1", "$s3"),
            published("$s3"),
            effect("$s2", "$s5"),
            published("$s5"),
            effect("$s2", "$s5"),
        ],
        gateEffects=["$s1"],
        sections=["5.5", "6.3"],
    ),
    vector(
        "core.effects.only-the-answered-gate-is-applied",
        "Answering one of two open gates applies and records that one",
        ok(send(HOST, wake_gate(NORA))),
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s2", "", choice="deny")),
        ok(recover(), replayed=0, voided=0),
        given=given(owner=NORA),
        deliveries=[delivery("$s1", NORA, "notified"), delivery("$s2", NORA, "answered")],
        calls=[
            published("$s1"),
            told(NORA, "$s1"),
            published("$s2"),
            told(NORA, "$s2"),
            effect("$s2", "$s3"),
            published("$s3"),
        ],
        gateEffects=["$s2"],
        sections=["5.5"],
    ),
    vector(
        "core.effects.a-denial-is-an-effect-too",
        "Denying a wake gate is applied and recorded as approving is",
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s1", "not this week", choice="deny")),
        given=given(owner=NORA),
        calls=[*_RAISED, effect("$s1", "$s2"), published("$s2")],
        gateEffects=["$s1"],
        sections=["5.5", "5.9"],
    ),
    vector(
        "core.effects.a-retried-answer-runs-nothing-again",
        "An answer sent again under its idempotency key replays: the effect does not run again, even if it failed",
        ok(send(HOST, wake_gate(NORA))),
        ok(
            send(
                DECIDER,
                message("$system", "", "answer", replyTo="$s1", choice="deny", idempotencyKey="answer-1"),
            ),
            message="$s2",
        ),
        ok(
            send(
                DECIDER,
                message("$system", "", "answer", replyTo="$s1", choice="deny", idempotencyKey="answer-1"),
            ),
            message="$s2",
            replayed=True,
        ),
        given=given(owner=NORA, failOnAnswered=True),
        noOtherMessages=True,
        messages=[{"id": "$s1"}, {"id": "$s2"}],
        calls=[*_RAISED, effect("$s1", "$s2"), published("$s2")],
        gateEffects=[],
        sections=["4.9", "5.5"],
    ),
    vector(
        "core.effects.a-refused-answer-runs-nothing",
        "An answer without a choice, with a wrong one, or after another answer runs no effect",
        ok(send(HOST, wake_gate(NORA))),
        refused(reply(DECIDER, "$s1", "fine"), "invalid", "choice"),
        refused(reply(DECIDER, "$s1", "", choice="grant"), "invalid", "choice"),
        ok(reply(DECIDER, "$s1", "", choice="deny")),
        refused(reply(DECIDER, "$s1", "", choice="approve"), "conflict", "replyTo"),
        given=given(owner=NORA),
        calls=[*_RAISED, effect("$s1", "$s4"), published("$s4")],
        gateEffects=["$s1"],
        sections=["5.4", "5.5"],
    ),
    vector(
        "core.effects.private-data-has-none",
        "The system's question with private data is no gate: a deciding human's answer to it runs no effect",
        ok(send(HOST, message(NORA, "Well?", "question", choices=["yes", "no"], data={"type": "x-wake"}))),
        ok(reply(DECIDER, "$s1", "", choice="yes")),
        given=given(owner=NORA),
        calls=[*_RAISED, published("$s2")],
        gateEffects=[],
        sections=["5.1", "5.5"],
    ),
    vector(
        "core.effects.a-message-in-the-gates-thread-has-none",
        "A reply to a gate that is no answer decides nothing: the gate stays open, and no effect runs",
        ok(send(HOST, wake_gate(NORA))),
        ok(send(DECIDER, message(LEE, "shall we?", replyTo="$s1"))),
        ok(recover(), replayed=0, voided=0),
        given=given(owner=NORA),
        deliveries=[delivery("$s1", NORA, "notified")],
        calls=[*_RAISED, published("$s2"), told(LEE, "$s2")],
        gateEffects=[],
        sections=["5.4", "5.5"],
    ),
    vector(
        "core.effects.a-close-has-none",
        "A closed gate has had no effect, and has none at a recovery",
        ok(send(HOST, wake_gate(NORA))),
        ok(close("$s1", "the sender gave up"), message="$s2"),
        ok(recover(), replayed=0, voided=0),
        given=given(owner=NORA),
        deliveries=[delivery("$s1", NORA, "answered")],
        noDeliveries=["$s2"],
        calls=[*_RAISED, published("$s2")],
        gateEffects=[],
        voided=[],
        sections=["4.8", "5.4", "5.5", "6.3"],
    ),
    vector(
        "core.effects.a-stored-gate-from-an-agent-has-one-when-decided",
        "A stored wake gate from an agent is a gate, since its type is known: a deciding human's answer applies it",
        ok(reply(DECIDER, "m-gate", "", choice="deny")),
        given=given(
            owner=NORA,
            agents=[SCOUT_APPROVED],
            store=stored(
                [
                    row(
                        "m-gate",
                        SCOUT,
                        NORA,
                        "Wake Dell?",
                        "question",
                        blocking=True,
                        choices=["approve", "deny"],
                        data=wake_data(),
                    )
                ],
                [bound("d-gate", "m-gate", NORA, "notified")],
            ),
        ),
        deliveries=[delivery("m-gate", NORA, "answered"), delivery("$s1", SCOUT, "held")],
        calls=[effect("m-gate", "$s1"), published("$s1")],
        gateEffects=["m-gate"],
        sections=["5.1", "5.5"],
    ),
    vector(
        "core.effects.a-handoff-has-one-too",
        "A stored handoff with wake data is a gate: deciding it applies its effect",
        ok(reply(DECIDER, "m-gate", "", choice="deny")),
        given=given(
            owner=NORA,
            store=stored(
                [
                    row(
                        "m-gate",
                        "$system",
                        NORA,
                        "Take Dell?",
                        "handoff",
                        choices=["approve", "deny"],
                        data=wake_data(),
                    )
                ],
                [bound("d-gate", "m-gate", NORA, "notified")],
            ),
        ),
        deliveries=[delivery("m-gate", NORA, "answered")],
        calls=[effect("m-gate", "$s1"), published("$s1")],
        gateEffects=["m-gate"],
        sections=["5.1", "5.5"],
    ),
    _each_choice("tool-approval", gate(TOOL)),
    _each_choice("scope", gate(SCOPE), who(COVE_1)),
    _each_choice("agent-registration", gate(REGISTRATION)),
    _each_choice("overseer-action", gate(ACTION)),
    vector(
        "core.effects.a-policys-answer-applies",
        "The system's answer to a tool-approval gate, marked x-policy, applies the gate's effect",
        ok(send(HOST, gate(TOOL))),
        ok(
            reply(
                HOST,
                "$s1",
                "",
                choice="approve",
                data={"type": "x-policy", "gate": "approval", "rung": "act"},
            )
        ),
        given={"owner": NORA},
        profile="dispatch",
        messages=[
            {"id": "$s1"},
            {"id": "$s2", "from": "$system", "choice": "approve", "data": {"type": "x-policy"}},
        ],
        calls=[*_RAISED, effect("$s1", "$s2"), published("$s2")],
        gateEffects=["$s1"],
        sections=["5.5", "C.4"],
    ),
    vector(
        "core.effects.an-expired-request-is-denied",
        "The system's deny of a scope gate, marked x-expired, applies the gate's effect and reaches the session",
        ok(send(who(COVE_1), gate(SCOPE))),
        ok(reply(HOST, "$s1", "nobody decided", choice="deny", data={"type": "x-expired"})),
        given={"owner": NORA, "workItems": [item(COVE, COVE_1)]},
        profile="dispatch",
        messages=[
            {"id": "$s1"},
            {"id": "$s2", "from": "$system", "to": [COVE_1], "data": {"type": "x-expired"}},
        ],
        calls=[*_RAISED, effect("$s1", "$s2"), published("$s2"), pushed(COVE_1, "$s2")],
        gateEffects=["$s1"],
        sections=["5.5", "C.3", "C.4"],
    ),
]
