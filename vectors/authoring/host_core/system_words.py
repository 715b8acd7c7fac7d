"""Closes and markers mean something from the system alone (sections 4.8, 5.4, 13.14), and what the profile says."""

from typing import Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    DELL,
    DELL_1,
    HOST,
    KAI,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    effect,
    given,
    item,
    open_blocking,
    published,
    pushed,
    recover,
    told,
    wake_data,
    wake_gate,
)
from vectors.authoring.envelope.profile_gates import SCOPE, TOOL, gate
from vectors.authoring.host_steps import close, delivery, message, ok, refused, reply, send, vector, who

VECTORS: Final = [
    vector(
        "core.system-words.a-humans-x-closed-is-private-data",
        "A human's answer to a gate with x-closed data is an answer: it takes effect, now and at a recovery",
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s1", "", choice="deny", data={"type": "x-closed", "reason": "mine"})),
        ok(recover(), replayed=0, voided=0),
        given=given(owner=NORA),
        messages=[{"id": "$s1"}, {"id": "$s2", "data": {"type": "x-closed", "reason": "mine"}}],
        calls=[published("$s1"), told(NORA, "$s1"), effect("$s1", "$s2"), published("$s2")],
        gateEffects=["$s1"],
        sections=["4.8", "13.14"],
    ),
    vector(
        "core.system-words.a-humans-x-closed-is-applied-again",
        "A human's answer with x-closed data whose effect failed is applied by recovery, as a close would not be",
        ok(send(HOST, wake_gate(NORA))),
        ok(reply(DECIDER, "$s1", "", choice="deny", data={"type": "x-closed", "reason": "mine"})),
        ({"op": "world", "change": {"failOnAnswered": False}}, None),
        ok(recover(), replayed=1, voided=0),
        given=given(owner=NORA, failOnAnswered=True),
        gateEffects=["$s1"],
        sections=["4.8", "6.3", "13.14"],
    ),
    vector(
        "core.system-words.an-agents-x-closed-is-an-answer",
        "An agent's answer to a plain question with x-closed data is an answer with private data, and is delivered",
        ok(send(BYSTANDER, message(SCOUT, "well?", "question", blocking=True))),
        ok(reply(who(SCOUT), "$s1", "done", data={"type": "x-closed", "reason": "mine"})),
        ok(open_blocking(), messages=[]),
        given=given(agents=[SCOUT_APPROVED]),
        messages=[{"id": "$s1"}, {"id": "$s2", "from": SCOUT, "kind": "answer"}],
        deliveries=[delivery("$s2", LEE, "notified"), delivery("$s1", SCOUT, "answered")],
        calls=[published("$s1"), published("$s2"), told(LEE, "$s2")],
        sections=["4.8", "13.14"],
    ),
    vector(
        "core.system-words.markers-ride-on-anyones-mail",
        "Data with a marker's type from a human, an agent or a session is private data, stored as sent",
        *(
            ok(send(sender, message(KAI, "fyi", "notice", data=data)))
            for sender in (BYSTANDER, who(SCOUT), who(COVE_1))
            for data in (
                {"type": "x-breaker", "thread": "m-nothing"},
                {"type": "x-closed", "reason": "mine"},
                {"type": "x-breaker"},
            )
        ),
        given=given(agents=[SCOUT_APPROVED], workItems=[item(COVE, COVE_1)]),
        messages=[
            {"id": "$s1", "data": {"type": "x-breaker", "thread": "m-nothing"}},
            {"id": "$s5", "data": {"type": "x-closed", "reason": "mine"}},
            {"id": "$s9", "data": {"type": "x-breaker"}},
        ],
        deliveries=[delivery(f"$s{n}", KAI, "notified") for n in range(1, 10)],
        sections=["6.6", "13.14"],
    ),
    vector(
        "core.system-words.an-x-closed-message-closes-nothing",
        "A message with x-closed data that replies to a question, even from a deciding human, leaves it open",
        ok(send(who(COVE_1), message(NORA, "well?", "question", blocking=True))),
        ok(
            send(
                DECIDER,
                message(COVE_1, "closed!", replyTo="$s1", data={"type": "x-closed", "reason": "mine"}),
            )
        ),
        ok(open_blocking(), messages=["$s1"]),
        ok(reply(DECIDER, "$s1", "yes")),
        given=given(owner=NORA, workItems=[item(COVE, COVE_1)]),
        deliveries=[delivery("$s1", NORA, "answered")],
        sections=["4.8", "13.14"],
    ),
    vector(
        "core.system-words.a-close-settles-a-handoff",
        "A handoff can be closed, whatever its choices; an answer after it conflicts",
        ok(send(BYSTANDER, message(DELL, "yours?", "handoff"))),
        ok(close("$s1", "it was done")),
        refused(reply(who(DELL_1), "$s1", "", choice="accept"), "conflict", "replyTo"),
        given=given(workItems=[item(DELL, DELL_1)]),
        deliveries=[delivery("$s1", DELL, "answered")],
        noDeliveries=["$s2"],
        calls=[published("$s1"), pushed(DELL_1, "$s1"), published("$s2")],
        gateEffects=[],
        sections=["4.8", "6.1"],
    ),
    vector(
        "core.system-words.profile-says-why-it-closed",
        "The profile's close says so and gives the reason",
        ok(send(BYSTANDER, message(KAI, "well?", "question"))),
        ok(close("$s1", "the owner left: see you")),
        given={},
        profile="dispatch",
        messages=[{"id": "$s2", "from": "agent:dispatch", "body": "Closed: the owner left: see you"}],
        sections=["4.8", "C.6"],
    ),
    vector(
        "core.system-words.profile-speaks-as-agent-dispatch",
        "The profile's system address is agent:dispatch: it raises gates, decides, and gets no delivery",
        ok(send(who("agent:dispatch", decides=True), gate(TOOL))),
        ok(reply(who("agent:dispatch", decides=True), "$s1", "", choice="deny")),
        ok(send(BYSTANDER, message(["agent:dispatch", KAI], "hello"))),
        ok(send(who(COVE_1), message(DELL, "are you there?", wake="request"))),
        given={"owner": NORA, "workItems": [item(COVE, COVE_1), item(DELL)], "rulings": {DELL: "ask"}},
        profile="dispatch",
        messages=[
            {"id": "$s1", "from": "agent:dispatch"},
            {"id": "$s2", "from": "agent:dispatch", "to": ["agent:dispatch"]},
            {"id": "$s3"},
            {"id": "$s4"},
            {"id": "$gate1", "from": "agent:dispatch", "data": wake_data(DELL, "$s4")},
        ],
        deliveries=[delivery("$s3", KAI, "notified")],
        noDeliveries=["$s2"],
        gateEffects=["$s1"],
        sections=["2.3", "C.2"],
    ),
    vector(
        "core.system-words.profile-markers-from-others-are-private",
        "A deciding human's answers with the profile's markers are a human's own, and take effect as such",
        ok(send(who(COVE_1), gate(SCOPE))),
        ok(reply(DECIDER, "$s1", "", choice="grant", data={"type": "x-expired"})),
        ok(send(HOST, gate(TOOL))),
        ok(
            reply(
                DECIDER,
                "$s3",
                "",
                choice="deny",
                data={"type": "x-policy", "gate": "approval", "rung": "act"},
            )
        ),
        given={"owner": NORA, "workItems": [item(COVE, COVE_1)]},
        profile="dispatch",
        messages=[
            {"id": "$s2", "from": NORA, "choice": "grant", "data": {"type": "x-expired"}},
            {"id": "$s4", "from": NORA, "choice": "deny"},
        ],
        gateEffects=["$s1", "$s3"],
        sections=["13.14", "C.4"],
    ),
]
