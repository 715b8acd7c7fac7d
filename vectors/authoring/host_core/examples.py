"""One short story for each thing that Appendix E gives an example of, in the orchard's words."""

from typing import Final

from vectors.authoring.cast import item, live, session_starts
from vectors.authoring.host_core.worlds import (
    AS_MEI,
    AS_PRUNE_1,
    AS_SHED,
    AS_SYSTEM,
    AS_TOMAS,
    DECIDER,
    INES,
    MEI,
    PICK,
    PICK_1,
    PRUNE,
    PRUNE_1,
    SHED,
    TOMAS,
    WEIGH,
    agent,
    channel,
    orchard,
)
from vectors.authoring.host_steps import (
    close,
    delivery,
    message,
    ok,
    parse,
    refused,
    reply,
    send,
    unchecked,
    validate,
    vector,
    world,
)
from vectors.authoring.kit import Json

_WAKE_GATE: Final = message(
    INES,
    f"May {WEIGH} be woken?",
    "question",
    blocking=True,
    choices=["approve", "deny"],
    data={"type": "wake", "target": WEIGH, "message": "m-before"},
)


def _applied(gate: str, answer: str) -> Json:
    return {"hook": "onAnswered", "question": gate, "answer": answer}


ENVELOPE: Final = [
    vector(
        "env.examples.addresses",
        "An address of each scheme: a human, an agent of an operator, a work item, a session and a channel",
        ok(parse(MEI), kind="human", handle="mei", address=MEI),
        ok(parse(SHED), kind="agent", operator="mei", handle="shed", address=SHED),
        ok(parse(PRUNE), kind="task", id="t-00b001", address=PRUNE),
        ok(parse(PRUNE_1), kind="run", id="r-00b011", address=PRUNE_1),
        ok(
            parse("channel:harvest/plums"),
            kind="channel",
            name="harvest/plums",
            address="channel:harvest/plums",
        ),
        sections=("3.1", "E.1"),
    ),
    vector(
        "env.examples.a-send-input",
        "The shortest input, and one that uses most of its members",
        ok(validate(AS_PRUNE_1, message(MEI, "Row 7 is done."))),
        ok(
            validate(
                AS_PRUNE_1,
                message(
                    [MEI, "channel:harvest"],
                    "Which row is next?",
                    "question",
                    refs=[{"type": "file", "id": "rows.csv", "at": "8f2c01d"}],
                    urgent=True,
                    blocking=True,
                    choices=["row 8", "row 9"],
                    idempotencyKey="next-row-1",
                ),
            )
        ),
        sections=("4.1", "4.5", "E.1"),
    ),
    vector(
        "env.examples.a-refused-kind",
        "A kind of one's own needs its prefix",
        refused(validate(AS_PRUNE_1, message(MEI, "Row 7 is done.", "done")), "invalid", "kind"),
        ok(validate(AS_PRUNE_1, message(MEI, "Row 7 is done.", "x-done"))),
        sections=("4.2", "E.1"),
        structural=True,
    ),
]

HOST_CORE: Final = [
    vector(
        "core.examples.mail-waits-for-a-session",
        "Mail to a work item without a live session is held",
        ok(send(AS_MEI, message(PICK, "Begin with row 7.")), message="$s1", downgraded=False),
        given=orchard(item(PICK)),
        sections=("6.1", "E.1"),
        messages=[{"id": "$s1", "thread": "$s1"}],
        deliveries=[delivery("$s1", PICK, "held", via="direct", session=None)],
        calls=[{"hook": "published", "message": "$s1"}],
    ),
    vector(
        "core.examples.mail-is-pushed",
        "Mail to a work item with a live session is pushed into it",
        ok(send(AS_MEI, message(PICK, "Begin with row 7."))),
        given=orchard(item(PICK, PICK_1)),
        sections=("6.2", "E.1"),
        deliveries=[delivery("$s1", PICK, "pushed", via="direct", session=PICK_1)],
        calls=[
            {"hook": "published", "message": "$s1"},
            {"hook": "push", "session": PICK_1, "message": "$s1"},
        ],
    ),
    vector(
        "core.examples.a-session-starts",
        "A session that starts gets what its work item's mailbox held: direct mail pushed, a channel's notified",
        ok(send(AS_MEI, message(PICK, "Begin with row 7."))),
        ok(send(AS_MEI, message("channel:harvest", "Rain at noon.", "notice"))),
        world(startSession=live(PICK, PICK_1)),
        ok(session_starts(PICK_1, PICK)),
        given=orchard(item(PICK), channels=[channel("harvest", PICK)]),
        sections=("6.4", "E.1"),
        deliveries=[
            delivery("$s1", PICK, "pushed", session=PICK_1),
            delivery("$s2", PICK, "notified", session=PICK_1),
        ],
    ),
    vector(
        "core.examples.a-question-is-answered",
        "A blocking question is answered with a choice, which closes it and reaches the asking session",
        ok(
            send(
                AS_PRUNE_1,
                message(MEI, "Which row is next?", "question", blocking=True, choices=["row 8", "row 9"]),
            )
        ),
        ok({"op": "openBlocking"}, messages=["$s1"]),
        ok(reply(AS_MEI, "$s1", "", choice="row 9"), message="$s3"),
        ok({"op": "openBlocking"}, messages=[]),
        given=orchard(item(PRUNE, PRUNE_1)),
        sections=("4.7", "E.1"),
        messages=[
            {"id": "$s1"},
            {"id": "$s3", "kind": "answer", "to": [PRUNE_1], "thread": "$s1", "choice": "row 9", "body": ""},
        ],
        deliveries=[
            delivery("$s1", MEI, "answered"),
            delivery("$s3", PRUNE_1, "pushed", session=PRUNE_1),
        ],
        gateEffects=[],
    ),
    vector(
        "core.examples.a-gate-is-decided",
        "A parked tool call is released by a human who decides, before anyone hears of the answer",
        ok(
            send(
                AS_SYSTEM,
                message(
                    INES,
                    "Run the sprayer?",
                    "question",
                    blocking=True,
                    choices=["approve", "approve-session", "deny"],
                    data={
                        "type": "tool-approval",
                        "requestId": "spray-7",
                        "runId": "r-00b011",
                        "tool": "Sprayer",
                        "input": {"row": 7},
                        "floor": False,
                    },
                ),
            )
        ),
        refused(reply(AS_MEI, "$s1", "", choice="approve"), "not-found", "replyTo"),
        ok(reply(DECIDER, "$s1", "", choice="approve")),
        given=orchard(item(PRUNE, PRUNE_1), owner=INES),
        profile="dispatch",
        sections=("5.4", "5.5", "C.3", "E.1"),
        calls=[
            {"hook": "published", "message": "$s1"},
            {"hook": "notifyHuman", "actor": INES, "message": "$s1"},
            _applied("$s1", "$s3"),
            {"hook": "published", "message": "$s3"},
        ],
        gateEffects=["$s1"],
    ),
    vector(
        "core.examples.a-gate-is-closed",
        "A gate that is moot is closed: no effect is applied, and it takes no answer any more",
        ok(send(AS_SYSTEM, _WAKE_GATE)),
        ok(close("$s1", "the mail was read"), message="$s2"),
        refused(reply(DECIDER, "$s1", "", choice="approve"), "conflict", "replyTo"),
        refused(close("$s1", "once more"), "conflict", "replyTo"),
        given=orchard(owner=INES),
        sections=("4.8", "E.1"),
        messages=[
            {"id": "$s1"},
            {"id": "$s2", "kind": "answer", "data": {"type": "x-closed", "reason": "the mail was read"}},
        ],
        deliveries=[delivery("$s1", INES, "answered")],
        noDeliveries=["$s2"],
        gateEffects=[],
    ),
    vector(
        "core.examples.a-wake-is-asked-for",
        "Where the policy asks, a request to wake becomes a gate for the owner, and the mail waits",
        ok(send(AS_PRUNE_1, message(WEIGH, "Weigh row 7, please.\nIt is heavy.", wake="request"))),
        ok({"op": "openBlocking"}, messages=["$gate1"]),
        given=orchard(item(PRUNE, PRUNE_1), item(WEIGH), owner=INES, rulings={WEIGH: "ask"}),
        sections=("5.9", "6.5", "E.1"),
        messages=[
            {"id": "$s1", "wake": "request"},
            {
                "id": "$gate1",
                "to": [INES],
                "kind": "question",
                "blocking": True,
                "choices": ["approve", "deny"],
                "data": {"type": "wake", "target": WEIGH, "message": "$s1"},
                "refs": [{"type": "message", "id": "$s1"}],
            },
        ],
        deliveries=[delivery("$s1", WEIGH, "held", session=None), delivery("$gate1", INES, "notified")],
    ),
    vector(
        "core.examples.urgency-runs-out",
        "An agent's urgent mail past its quota is sent without urgency, and says so",
        *(
            ok(send(AS_SHED, message(TOMAS, "Rain!", "notice", urgent=True)), downgraded=downgraded)
            for downgraded in (False, False, False, True)
        ),
        given=orchard(agents=[agent(SHED)], limits={"urgentPerHour": 3, "agentTurnsPerThreadPerHour": 20}),
        sections=("6.6", "E.1"),
        messages=[{"id": f"$s{number}", "urgent": number < 4} for number in range(1, 5)],
    ),
    vector(
        "core.examples.a-mailbox-is-read",
        "An agent's mail waits in its mailbox until it is marked read",
        ok(send(AS_TOMAS, message(SHED, "Row 7 is done."))),
        ok(send(AS_TOMAS, message(SHED, "Row 8 too."))),
        ok({"op": "markRead", "message": "$s1", "recipient": SHED}, state="read"),
        ok({"op": "inbox", "recipient": SHED, "states": ["held"]}, messages=["$s2"]),
        ok({"op": "inbox", "recipient": SHED, "states": ["read"]}, messages=["$s1"]),
        given=orchard(agents=[agent(SHED)]),
        sections=("7.1", "E.1"),
        deliveries=[delivery("$s1", SHED, "read", session=None), delivery("$s2", SHED, "held", session=None)],
    ),
    vector(
        "core.examples.a-channel-computes-its-members",
        "A channel may have members nobody stored: the work items of a field, say",
        ok(send(AS_PRUNE_1, message("channel:west-field", "The gate is open.", "notice"))),
        given=orchard(item(PRUNE, PRUNE_1), item(PICK, PICK_1), implicit={"west-field": [PRUNE, PICK]}),
        level="MAY",
        capability="implicit-members",
        sections=("3.6", "E.1"),
        deliveries=[delivery("$s1", PICK, "notified", via="channel", session=PICK_1)],
    ),
    vector(
        "core.examples.recovery-applies-what-failed",
        "An effect that failed twice is applied by the recovery after things work again, and never a fourth time",
        ok(send(AS_SYSTEM, _WAKE_GATE)),
        ok(reply(DECIDER, "$s1", "", choice="approve")),
        unchecked({"op": "recover"}),
        world(failOnAnswered=False),
        ok({"op": "recover"}, replayed=1),
        ok({"op": "recover"}, replayed=0),
        given=orchard(owner=INES, failOnAnswered=True),
        sections=("5.5", "6.3", "E.1"),
        callsInclude=[_applied("$s1", "$s2"), _applied("$s1", "$s2"), _applied("$s1", "$s2")],
        gateEffects=["$s1"],
    ),
    vector(
        "core.examples.a-push-is-rendered",
        "A push in the profile's words: a header, the quoted body, the choices, the refs and the way to answer",
        ok(
            send(
                AS_MEI,
                message(
                    PICK,
                    "Which row is next?\n\nThe scales are free.",
                    "question",
                    refs=[
                        {"type": "file", "id": "rows.csv", "at": "8f2c01d"},
                        {"type": "task", "id": "t-00b003"},
                    ],
                    blocking=True,
                    choices=["row 8", "row 9"],
                ),
            )
        ),
        ok({"op": "render", "message": "$s1"}),
        given=orchard(item(PICK, PICK_1)),
        profile="dispatch",
        sections=("6.8", "C.6", "E.1"),
        render=[
            {
                "step": 2,
                "text": "\n".join(
                    (
                        "[message from human:mei · question · $s1]",
                        "│ Which row is next?",
                        "│ ",
                        "│ The scales are free.",
                        "choices: row 8 | row 9",
                        "refs: file:rows.csv@8f2c01d, task:t-00b003",
                        'The sender is waiting. Answer with msg_reply(messageId: "$s1").',
                    )
                ),
            }
        ],
    ),
]
