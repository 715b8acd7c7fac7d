"""The order of a send's checks, and that a send which fails leaves nothing (sections 4.5, 9.1, 9.2, 10)."""

from typing import Any, Final

from vectors.authoring.cast import item
from vectors.authoring.host_core.worlds import (
    AS_INES,
    AS_MEI,
    AS_PICK_1,
    AS_PRUNE_1,
    AS_SHED,
    AS_SYSTEM,
    AS_TOMAS,
    DECIDER,
    INES,
    KILN,
    MEI,
    PICK,
    PICK_1,
    PICK_2,
    PRUNE,
    PRUNE_1,
    SHED,
    TOMAS,
    agent,
    channel,
    orchard,
)
from vectors.authoring.host_steps import SYSTEM, delivery, message, ok, refused, reply, send, vector, who
from vectors.authoring.kit import Expected, Json

BAD: Final = ("shout", "nobody", " ")
"""A kind, a recipient and a body that no input may have."""

REVOKED: Final = "agent:mei/old-shed"
PENDING: Final = "agent:mei/new-shed"
UNKNOWN: Final = "agent:mei/no-shed"

AGENTS: Final = [agent(SHED), agent(REVOKED, "revoked"), agent(PENDING, "pending")]


def _bad(**more: Any) -> Json:
    kind, recipient, body = BAD
    return message(recipient, body, kind, **more)


_SILENT: Final[Json] = {"address": SYSTEM, "canDecide": False}


def _claims(address: str) -> Json:
    return {"address": address, "canDecide": True}


def _forbidden(sender: Json, given: Json) -> Expected:
    return refused(send(sender, given), "forbidden", "from")


VECTORS: Final = [
    vector(
        "core.order.who-may-not-send-hears-nothing-else",
        "An agent that is pending, revoked or unknown is refused before its input is looked at",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question"))),
        *(
            _forbidden(who(address), given)
            for address in (REVOKED, PENDING, UNKNOWN)
            for given in (
                message(TOMAS, "Row 7."),
                _bad(),
                message(TOMAS, "Row 7.", replyTo="$s1"),
                message(TOMAS, "Row 7.", replyTo="m-none"),
                message("channel:cellar", "Row 7."),
                message(TOMAS, "Row 7.", data={"type": "wake"}),
            )
        ),
        ok(send(AS_SHED, message(TOMAS, "Row 7."))),
        given=orchard(agents=AGENTS),
        sections=("4.5", "9.1"),
        messages=[{"id": "$s1"}, {"id": "$s20", "from": SHED}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.a-refused-reply-is-forbidden-either-way",
        "A shorthand reply from an agent that may not send is forbidden, whether or not its target exists",
        ok(send(AS_MEI, message([REVOKED, PENDING], "Which row?", "question"))),
        *(
            refused(reply(who(address), target, "North."), "forbidden", "from")
            for address in (REVOKED, PENDING, UNKNOWN)
            for target in ("$s1", "m-none", "")
        ),
        given=orchard(agents=AGENTS),
        sections=("4.5", "4.6", "9.1"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.only-humans-and-the-system-claim-to-decide",
        "An agent or a session that claims to decide is refused, before its input and its reply target",
        *(
            _forbidden(_claims(address), given)
            for address in (SHED, PRUNE_1)
            for given in (message(TOMAS, "Row 7."), _bad(), message(TOMAS, "Row 7.", replyTo="m-none"))
        ),
        refused(reply(_claims(PRUNE_1), "m-none", "North."), "forbidden", "from"),
        ok(send(_claims(MEI), message(TOMAS, "Row 7."))),
        ok(send(_claims(SYSTEM), message(TOMAS, "Row 7."))),
        given=orchard(item(PRUNE, PRUNE_1), agents=AGENTS),
        sections=("4.5", "9.2", "13.2"),
        messages=[{"id": "$s8"}, {"id": "$s9"}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.the-reply-target-comes-before-the-input",
        "A reply to a message its sender takes no part in, to none and to an empty id fails before its input does",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question"))),
        *(
            refused(send(AS_INES, _bad(replyTo=target)), "not-found", "replyTo")
            for target in ("$s1", "m-none", "")
        ),
        refused(send(AS_INES, _bad(replyTo="$s1", choice=7)), "not-found", "replyTo"),
        refused(
            send(AS_INES, message("channel:cellar", "North.", "answer", replyTo="$s1")),
            "not-found",
            "replyTo",
        ),
        refused(
            send(AS_INES, message(MEI, "North.", replyTo="$s1", data={"type": "wake"})),
            "not-found",
            "replyTo",
        ),
        refused(send(AS_TOMAS, message(MEI, " ", replyTo="$s1")), "invalid", "body"),
        given=orchard(),
        sections=("4.5", "4.6", "13.5"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.the-input-comes-before-the-breaker",
        "A reply into a thread at the breaker's limit fails for what is wrong with it first",
        ok(send(AS_MEI, message([PRUNE, PICK], "Which row?", "question", choices=["north", "south"]))),
        ok(send(AS_PRUNE_1, message(MEI, "Let me look.", replyTo="$s1"))),
        refused(send(AS_PICK_1, message(MEI, " ", replyTo="$s1")), "invalid", "body"),
        refused(
            send(AS_PICK_1, message(MEI, "Up.", "answer", replyTo="$s1", choice="up")), "invalid", "choice"
        ),
        refused(send(AS_PICK_1, message(MEI, "North.", "answer", replyTo="$s1")), "limited", "replyTo"),
        ok(send(AS_PICK_1, message(MEI, "Row 7 is done."))),
        given=orchard(
            item(PRUNE, PRUNE_1),
            item(PICK, PICK_1),
            owner=INES,
            limits={"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 1},
        ),
        sections=("4.5", "6.6"),
    ),
    vector(
        "core.order.the-breaker-comes-before-the-one-answer",
        "A second answer from a session into a thread at the breaker's limit is limited; a human's meets the conflict",
        ok(send(AS_MEI, message([PRUNE, PICK, TOMAS], "Which row?", "question"))),
        ok(send(AS_PRUNE_1, message(MEI, "North.", "answer", replyTo="$s1"))),
        refused(send(AS_PICK_1, message(MEI, "South.", "answer", replyTo="$s1")), "limited", "replyTo"),
        refused(send(AS_TOMAS, message(MEI, "South.", "answer", replyTo="$s1")), "conflict", "replyTo"),
        given=orchard(
            item(PRUNE, PRUNE_1),
            item(PICK, PICK_1),
            owner=INES,
            limits={"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 1},
        ),
        sections=("4.5", "4.7", "6.6"),
    ),
    vector(
        "core.order.the-input-comes-before-the-one-answer",
        "A second answer that is not valid fails for that, and a valid one for being the second",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question", choices=["north", "south"]))),
        ok(reply(AS_TOMAS, "$s1", "", choice="north")),
        refused(reply(AS_TOMAS, "$s1", "", choice="up"), "invalid", "choice"),
        refused(reply(AS_TOMAS, "$s1", " "), "invalid", "body"),
        refused(send(AS_TOMAS, message("nobody", "South.", "answer", replyTo="$s1")), "invalid", "to[0]"),
        refused(reply(AS_TOMAS, "$s1", "", choice="south"), "conflict", "replyTo"),
        given=orchard(),
        sections=("4.5", "4.7"),
        messages=[{"id": "$s1"}, {"id": "$s2"}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.the-one-answer-comes-before-recipients",
        "A second answer to a channel or a session that is not there meets the conflict",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question"))),
        ok(reply(AS_TOMAS, "$s1", "North.")),
        refused(
            send(AS_TOMAS, message("channel:cellar", "South.", "answer", replyTo="$s1")),
            "conflict",
            "replyTo",
        ),
        refused(send(AS_TOMAS, message(PICK_2, "South.", "answer", replyTo="$s1")), "conflict", "replyTo"),
        given=orchard(item(PICK, PICK_1, [PICK_2])),
        sections=("4.5",),
        messages=[{"id": "$s1"}, {"id": "$s2"}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.the-input-comes-before-recipients",
        "An input that is not valid fails for that, though its recipients are not there either",
        refused(send(AS_MEI, message("channel:cellar", " ")), "invalid", "body"),
        refused(send(AS_MEI, message([TOMAS, PICK_2], "Row 7.", blocking=True)), "invalid", "blocking"),
        refused(send(AS_MEI, message([PICK_2, "nobody"], "Row 7.")), "invalid", "to[1]"),
        refused(send(AS_MEI, message(["channel:cellar", "nobody"], "Row 7.")), "invalid", "to[1]"),
        given=orchard(item(PICK, PICK_1, [PICK_2])),
        sections=("3.5", "4.5"),
        noOtherMessages=True,
    ),
    vector(
        "core.order.a-failed-send-takes-nothing-of-the-quota",
        "Urgent sends that fail for their recipients or their input are no part of the urgent quota",
        *(
            refused(send(AS_PRUNE_1, message("channel:cellar", "Rain!", urgent=True)), "not-found", "to[0]")
            for _ in range(3)
        ),
        refused(send(AS_PRUNE_1, message(TOMAS, "", urgent=True)), "invalid", "body"),
        ok(send(AS_PRUNE_1, message(TOMAS, "Rain!", urgent=True)), downgraded=False),
        ok(send(AS_PRUNE_1, message(TOMAS, "Rain!", urgent=True)), downgraded=True),
        refused(send(AS_PRUNE_1, message("channel:cellar", "Rain!", urgent=True)), "not-found", "to[0]"),
        given=orchard(item(PRUNE, PRUNE_1), limits={"urgentPerHour": 1, "agentTurnsPerThreadPerHour": 20}),
        sections=("4.5", "6.6"),
        messages=[{"id": "$s5", "urgent": True}, {"id": "$s6", "urgent": False}],
        noOtherMessages=True,
    ),
    vector(
        "core.order.a-failed-send-leaves-nothing",
        "A send that fails for its last recipient delivers to none of the others, and calls no hook",
        refused(
            send(AS_MEI, message([TOMAS, PICK, KILN, "channel:harvest", "channel:cellar"], "Row 7.")),
            "not-found",
            "to[4]",
        ),
        refused(send(AS_MEI, message([TOMAS, PICK, PICK_2], "Row 7.")), "invalid", "to[2]"),
        *(
            ok({"op": "inbox", "recipient": recipient}, messages=[])
            for recipient in (TOMAS, PICK, KILN, INES)
        ),
        ok(send(AS_MEI, message([TOMAS], "Row 7."))),
        given=orchard(item(PICK, PICK_1, [PICK_2]), channels=[channel("harvest", INES)]),
        sections=("4.5", "10.1"),
        messages=[{"id": "$s7"}],
        noOtherMessages=True,
        deliveries=[delivery("$s7", TOMAS, "notified")],
        calls=[
            {"hook": "published", "message": "$s7"},
            {"hook": "notifyHuman", "actor": TOMAS, "message": "$s7"},
        ],
    ),
    vector(
        "core.order.a-failed-answer-leaves-its-question-open",
        "An answer that fails leaves its question open and its deliveries where they were",
        ok(send(AS_MEI, message([TOMAS, PICK], "Which row?", "question", blocking=True))),
        refused(
            send(AS_TOMAS, message("channel:cellar", "North.", "answer", replyTo="$s1")), "not-found", "to[0]"
        ),
        refused(reply(AS_TOMAS, "$s1", "North.", choice="north"), "invalid", "choice"),
        ok({"op": "openBlocking"}, messages=["$s1"]),
        given=orchard(item(PICK, PICK_1)),
        sections=("4.5", "4.7", "10.1"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
        deliveries=[delivery("$s1", TOMAS, "notified"), delivery("$s1", PICK, "pushed", session=PICK_1)],
    ),
    vector(
        "core.order.each-code-has-its-case",
        "The five codes of refusals: forbidden, not-found, invalid, limited and conflict, each on its field",
        ok(send(AS_MEI, message([TOMAS, PRUNE], "Which row?", "question", choices=["north", "south"]))),
        refused(send(who(REVOKED), message(TOMAS, "Row 7.")), "forbidden", "from"),
        refused(send(AS_INES, message(MEI, "North.", replyTo="$s1")), "not-found", "replyTo"),
        refused(send(AS_MEI, message("channel:cellar", "Row 7.")), "not-found", "to[0]"),
        refused(
            send(AS_MEI, message(TOMAS, "Row 7.", "question", choices=["a", "b\nc"])), "invalid", "choices[1]"
        ),
        refused(
            send(AS_MEI, message(TOMAS, "Row 7.", refs=[{"type": "wiki", "id": "7"}])),
            "invalid",
            "refs[0].type",
        ),
        refused(
            send(AS_MEI, message(TOMAS, "Row 7.", data={"type": "orchard-gate"})), "invalid", "data.type"
        ),
        refused(
            send(
                AS_PRUNE_1,
                message(TOMAS, "Row 7.", "question", data={"type": "wake", "target": PICK, "message": "m-x"}),
            ),
            "forbidden",
            "data",
        ),
        ok(send(AS_PRUNE_1, message(MEI, "Let me look.", replyTo="$s1"))),
        refused(send(AS_PRUNE_1, message(MEI, "North.", replyTo="$s1")), "limited", "replyTo"),
        ok(reply(AS_TOMAS, "$s1", "", choice="north")),
        refused(reply(DECIDER, "$s1", "", choice="north"), "conflict", "replyTo"),
        refused({"op": "join", "channel": "cellar", "member": PRUNE_1}, "invalid", "member"),
        refused({"op": "markRead", "message": "$s1", "recipient": INES}, "not-found"),
        given=orchard(
            item(PRUNE, PRUNE_1),
            agents=AGENTS,
            owner=INES,
            limits={"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 1},
        ),
        sections=("10.1", "10.2"),
    ),
    vector(
        "core.order.a-claim-alone-lets-nobody-read",
        "An agent and a session that claim to decide read no message they take no part in; a human's claim is good",
        ok(send(AS_MEI, message(TOMAS, "Which row?"))),
        *(
            ok({"op": "canRead", "message": "$s1", "as": _claims(address)}, readable=readable)
            for address, readable in ((SHED, False), (PRUNE_1, False), (PRUNE, False), (INES, True))
        ),
        given=orchard(item(PRUNE, PRUNE_1), agents=AGENTS),
        sections=("9.2", "9.3", "13.2"),
    ),
    vector(
        "core.order.the-system-decides-unasked",
        "The system address decides without claiming to: it reads and replies anywhere, and answers a gate",
        ok(send(AS_MEI, message(TOMAS, "Which row?"))),
        ok({"op": "canRead", "message": "$s1", "as": _SILENT}, readable=True),
        ok(send(_SILENT, message(MEI, "The north one.", replyTo="$s1"))),
        ok(reply(_SILENT, "m-gate", "", choice="approve")),
        given=orchard(
            store={
                "messages": [
                    {
                        "id": "m-gate",
                        "from": SYSTEM,
                        "to": [INES],
                        "kind": "question",
                        "body": "Open the gate?",
                        "choices": ["approve", "deny"],
                        "data": {"type": "orchard-gate"},
                    }
                ]
            }
        ),
        sections=("5.4", "9.2"),
    ),
    vector(
        "core.order.the-system-sends-like-nobody-else",
        "The system address sends without a registration, a quota or a breaker",
        *(
            ok(send(AS_SYSTEM, message(TOMAS, "Rain at noon.", "notice", urgent=True)), downgraded=False)
            for _ in range(3)
        ),
        *(ok(send(AS_SYSTEM, message(TOMAS, "And at two.", "notice", replyTo="$s1"))) for _ in range(3)),
        given=orchard(limits={"urgentPerHour": 1, "agentTurnsPerThreadPerHour": 1}),
        sections=("2.3", "6.6", "9.1"),
        messages=[{"id": f"$s{number}", "from": SYSTEM, "urgent": number < 4} for number in range(1, 7)],
    ),
]
