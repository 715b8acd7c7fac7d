"""Questions and handoffs: one answer each, its choice, and the close that settles them (sections 4.7, 4.8)."""

from typing import Any, Final

from vectors.authoring.cast import item
from vectors.authoring.host_core.worlds import (
    AS_INES,
    AS_KILN,
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
    SYSTEM,
    close,
    delivery,
    message,
    ok,
    refused,
    reply,
    send,
    vector,
)
from vectors.authoring.kit import Expected, Json

OPEN: Final[Json] = {"op": "openBlocking"}


def _ask(to: str | list[str] = TOMAS, kind: str = "question", **more: Any) -> Expected:
    return ok(send(AS_MEI, message(to, "Which row?", kind, **more)))


def _stored(id: str, sender: str, kind: str, **more: Any) -> Json:
    return {"id": id, "from": sender, "to": [TOMAS], "kind": kind, "body": "Which row?", **more}


def _delivered(message_id: str, recipient: str = TOMAS, state: str = "notified") -> Json:
    return {
        "id": f"d-{message_id}",
        "message": message_id,
        "recipient": recipient,
        "via": "direct",
        "state": state,
        "session": None,
    }


def _seeded(*rows: Json) -> Json:
    return orchard(store={"messages": list(rows), "deliveries": [_delivered(row["id"]) for row in rows]})


QUESTIONS: Final = [
    vector(
        "core.questions.one-answer-each",
        "A question takes one answer: a second fails from anyone, by either way of sending, whatever it says",
        _ask([TOMAS, INES], choices=["north", "south"]),
        ok(reply(AS_TOMAS, "$s1", "", choice="north")),
        refused(reply(AS_TOMAS, "$s1", "", choice="north"), "conflict", "replyTo"),
        refused(reply(AS_INES, "$s1", "The south one."), "conflict", "replyTo"),
        refused(reply(DECIDER, "$s1", "", choice="south"), "conflict", "replyTo"),
        refused(send(AS_INES, message(MEI, "South.", "answer", replyTo="$s1")), "conflict", "replyTo"),
        given=orchard(),
        sections=("4.7",),
        messages=[{"id": "$s1"}, {"id": "$s2", "kind": "answer", "choice": "north"}],
        noOtherMessages=True,
    ),
    vector(
        "core.questions.an-answer-moves-every-delivery",
        "When a question is answered each of its deliveries becomes answered: held, pushed, notified and read ones",
        _ask([TOMAS, INES, KILN, PICK, WEIGH, "channel:harvest"]),
        ok({"op": "markRead", "message": "$s1", "recipient": INES}, state="read"),
        ok(reply(AS_TOMAS, "$s1", "The north one.")),
        given=orchard(
            item(PICK, PICK_1), item(WEIGH), agents=[agent(KILN)], channels=[channel("harvest", SHED)]
        ),
        sections=("4.7", "6.1"),
        deliveries=[
            delivery("$s1", recipient, "answered") for recipient in (TOMAS, INES, KILN, PICK, WEIGH, SHED)
        ]
        + [delivery("$s3", MEI, "notified")],
    ),
    vector(
        "core.questions.only-an-answer-answers",
        "A reply that is no answer leaves a question open, however often and by whom",
        _ask(blocking=True),
        *(
            ok(send(sender, message(INES, "North?", kind, replyTo="$s1")))
            for sender in (AS_TOMAS, AS_MEI)
            for kind in ("message", "question", "notice", "x-row")
        ),
        ok(OPEN, messages=["$s1"]),
        ok(reply(AS_TOMAS, "$s1", "The north one.")),
        ok(OPEN, messages=[]),
        given=orchard(),
        sections=("4.7", "7.1"),
        deliveries=[delivery("$s1", TOMAS, "answered"), delivery("$s11", MEI, "notified")],
    ),
    vector(
        "core.questions.an-answer-goes-where-it-is-addressed",
        "An answer may go to others than the asker, who then gets no delivery of it",
        _ask(),
        ok(send(AS_TOMAS, message([INES], "The north one.", "answer", replyTo="$s1"))),
        given=orchard(),
        sections=("4.7",),
        deliveries=[delivery("$s1", TOMAS, "answered"), delivery("$s2", INES, "notified")],
    ),
    vector(
        "core.questions.a-handoff-gets-two-choices",
        "A handoff without choices is stored with accept and decline; one with choices keeps its own",
        _ask(kind="handoff"),
        _ask(kind="handoff", choices=["now", "later", "never"]),
        refused(reply(AS_TOMAS, "$s1", "", choice="now"), "invalid", "choice"),
        ok(reply(AS_TOMAS, "$s1", "", choice="decline")),
        refused(reply(AS_TOMAS, "$s2", "", choice="accept"), "invalid", "choice"),
        ok(reply(AS_TOMAS, "$s2", "", choice="later")),
        given=orchard(),
        sections=("4.1", "4.7"),
        messages=[
            {"id": "$s1", "choices": ["accept", "decline"]},
            {"id": "$s2", "choices": ["now", "later", "never"]},
            {"id": "$s4", "choice": "decline"},
            {"id": "$s6", "choice": "later"},
        ],
    ),
    vector(
        "core.questions.a-handoff-needs-a-choice",
        "An answer to a handoff makes one of its choices; words alone are refused on choice",
        _ask(kind="handoff", blocking=True),
        refused(reply(AS_TOMAS, "$s1", "I take it."), "invalid", "choice"),
        refused(reply(AS_TOMAS, "$s1", "I take it.", choice="Accept"), "invalid", "choice"),
        refused(reply(AS_TOMAS, "$s1", "I take it.", choice=""), "invalid", "choice"),
        ok(OPEN, messages=["$s1"]),
        ok(reply(AS_TOMAS, "$s1", "I take it.", choice="accept")),
        ok(OPEN, messages=[]),
        given=orchard(),
        sections=("4.7", "7.1"),
    ),
    vector(
        "core.questions.a-handoff-of-no-choices-takes-none",
        "A stored handoff that offers no choices is answered without one, and not with one",
        refused(reply(AS_TOMAS, "m-bare", "", choice="accept"), "invalid", "choice"),
        ok(reply(AS_TOMAS, "m-bare", "I take it.")),
        given=_seeded(_stored("m-bare", MEI, "handoff")),
        sections=("4.7",),
        messages=[{"id": "m-bare"}, {"id": "$s2", "kind": "answer"}],
        noOtherMessages=True,
    ),
    vector(
        "core.questions.a-choice-is-made-to-the-letter",
        "A choice that differs from an offered one in case, spaces or accents is none of them",
        _ask(choices=["north", "caf\u00e9"]),
        *(
            refused(reply(AS_TOMAS, "$s1", "That one.", choice=choice), "invalid", "choice")
            for choice in (
                "North",
                " north",
                "north ",
                "nort",
                "norths",
                "cafe\u0301",
                "cafe",
                "",
                "0",
                "null",
            )
        ),
        ok(reply(AS_TOMAS, "$s1", "", choice="caf\u00e9")),
        given=orchard(),
        sections=("4.7",),
    ),
    vector(
        "core.questions.words-may-answer-a-question",
        "A question that offers choices may be answered in words alone, and one that offers none takes no choice",
        _ask(choices=["north", "south"]),
        _ask(),
        ok(reply(AS_TOMAS, "$s1", "Neither: the west one.")),
        refused(reply(AS_TOMAS, "$s2", "That one.", choice="north"), "invalid", "choice"),
        ok(reply(AS_TOMAS, "$s2", "The north one.")),
        given=orchard(),
        sections=("4.7",),
        messages=[
            {"id": "$s1"},
            {"id": "$s2"},
            {"id": "$s3", "kind": "answer"},
            {"id": "$s5", "kind": "answer"},
        ],
        noOtherMessages=True,
    ),
    vector(
        "core.questions.a-gate-needs-a-choice",
        "A stored gate that offers choices is answered with one of them, and one that offers none without",
        *(
            refused(reply(DECIDER, "m-gate", "Yes.", **more), "invalid", "choice")
            for more in ({}, {"choice": "yes"}, {"choice": "Approve"})
        ),
        refused(reply(DECIDER, "m-bare", "Yes.", choice="approve"), "invalid", "choice"),
        ok(reply(DECIDER, "m-gate", "", choice="approve")),
        ok(reply(DECIDER, "m-bare", "Yes.")),
        given=_seeded(
            _stored("m-gate", SYSTEM, "question", choices=["approve", "deny"], data={"type": "orchard-gate"}),
            _stored("m-bare", SYSTEM, "question", data={"type": "orchard-gate"}),
        ),
        sections=("4.7", "5.4", "5.6"),
    ),
    vector(
        "core.questions.anyone-who-takes-part-answers",
        "A plain question is answered by whoever takes part in it, its sender and a decider among them",
        *(_ask([TOMAS, KILN, PICK]) for _ in range(5)),
        ok(reply(AS_TOMAS, "$s1", "North.")),
        ok(reply(AS_KILN, "$s2", "North.")),
        ok(reply(AS_PICK_1, "$s3", "North.")),
        ok(reply(DECIDER, "$s4", "North.")),
        ok(reply(AS_MEI, "$s5", "Never mind: north.")),
        given=orchard(item(PICK, PICK_1), agents=[agent(KILN)]),
        sections=("4.6", "4.7"),
    ),
    vector(
        "core.questions.only-blocking-ones-are-listed",
        "A blocking question or handoff is listed while it is open, and no other message ever",
        _ask(),
        _ask(kind="handoff"),
        _ask(kind="message"),
        ok(OPEN, messages=[]),
        _ask(blocking=True),
        ok(OPEN, messages=["$s5"]),
        ok(reply(AS_TOMAS, "$s5", "North.")),
        ok(OPEN, messages=[]),
        _ask(kind="handoff", blocking=True),
        ok(OPEN, messages=["$s9"]),
        ok(close("$s9", "it rains")),
        ok(OPEN, messages=[]),
        given=orchard(),
        sections=("4.7", "7.1"),
    ),
]

CLOSING: Final = [
    vector(
        "core.closing.a-close-is-a-system-answer",
        "A close answers the question to its sender, in its thread, with its reason as data, and reaches nobody",
        ok(
            send(
                AS_PRUNE_1,
                message([TOMAS, PICK], "Which row?", "question", blocking=True, choices=["north", "south"]),
            )
        ),
        ok(close("$s1", "the session ended"), message="$s2"),
        ok(OPEN, messages=[]),
        given=orchard(item(PRUNE, PRUNE_1), item(PICK)),
        sections=("4.8",),
        messages=[
            {"id": "$s1"},
            {
                "id": "$s2",
                "from": SYSTEM,
                "to": [PRUNE_1],
                "kind": "answer",
                "replyTo": "$s1",
                "thread": "$s1",
                "data": {"type": "x-closed", "reason": "the session ended"},
            },
        ],
        noOtherMessages=True,
        deliveries=[delivery("$s1", TOMAS, "answered"), delivery("$s1", PICK, "answered")],
        noDeliveries=["$s2"],
        calls=[
            {"hook": "published", "message": "$s1"},
            {"hook": "notifyHuman", "actor": TOMAS, "message": "$s1"},
            {"hook": "published", "message": "$s2"},
        ],
    ),
    vector(
        "core.closing.a-handoff-closes-without-a-choice",
        "A handoff and a question that does not block are closed as any other, without a choice",
        _ask(kind="handoff"),
        _ask(),
        ok(close("$s1", "it rains")),
        ok(close("$s2", "it rains")),
        given=orchard(),
        sections=("4.8",),
        messages=[
            {"id": "$s1"},
            {"id": "$s2"},
            {"id": "$s3", "data": {"type": "x-closed", "reason": "it rains"}},
            {"id": "$s4", "data": {"type": "x-closed", "reason": "it rains"}},
        ],
        deliveries=[delivery("$s1", TOMAS, "answered"), delivery("$s2", TOMAS, "answered")],
    ),
    vector(
        "core.closing.a-close-is-the-one-answer",
        "A closed question takes no answer and no second close, and an answered one no close",
        _ask(),
        _ask(),
        ok(close("$s1", "it rains")),
        refused(reply(AS_TOMAS, "$s1", "The north one."), "conflict", "replyTo"),
        refused(close("$s1", "it still rains"), "conflict", "replyTo"),
        ok(reply(AS_TOMAS, "$s2", "The north one.")),
        refused(close("$s2", "it rains"), "conflict", "replyTo"),
        given=orchard(),
        sections=("4.7", "4.8"),
        messages=[{"id": "$s1"}, {"id": "$s2"}, {"id": "$s3"}, {"id": "$s6"}],
        noOtherMessages=True,
    ),
    vector(
        "core.closing.only-what-asks-is-closed",
        "A message, a notice, an answer, a close and a private kind are not closed, and nothing is not found",
        *(_ask(kind=kind) for kind in ("message", "notice", "x-row", "question", "question")),
        ok(reply(AS_TOMAS, "$s4", "North.")),
        ok(close("$s5", "it rains")),
        *(refused(close(f"$s{number}", "it rains"), "invalid", "replyTo") for number in (1, 2, 3, 6, 7)),
        refused(close("m-none", "it rains"), "not-found", "replyTo"),
        given=orchard(),
        sections=("4.8",),
    ),
    vector(
        "core.closing.only-the-systems-word-closes",
        "Data that reads as a close is private data from a human, an agent and a session, and does not close",
        _ask([TOMAS, KILN, PICK], blocking=True),
        *(
            ok(
                send(
                    sender,
                    message(
                        MEI,
                        "Closed: it rains",
                        replyTo="$s1",
                        data={"type": "x-closed", "reason": "it rains"},
                    ),
                )
            )
            for sender in (AS_TOMAS, AS_KILN, AS_PICK_1, DECIDER)
        ),
        ok(OPEN, messages=["$s1"]),
        ok(reply(AS_TOMAS, "$s1", "North.", data={"type": "x-closed", "reason": "it rains"})),
        given=orchard(item(PICK, PICK_1), agents=[agent(KILN)]),
        sections=("4.8", "13.14"),
        deliveries=[
            *(delivery("$s1", recipient, "answered") for recipient in (TOMAS, KILN, PICK)),
            *(delivery(f"$s{number}", MEI, "notified") for number in (2, 3, 4, 5, 7)),
        ],
    ),
    vector(
        "core.closing.the-systems-own-answers-are-delivered",
        "An answer of the system that is no close is delivered as any other",
        ok(send(AS_SHED, message([TOMAS, SYSTEM], "Which row?", "question"))),
        ok(send(AS_SYSTEM, message(SHED, "The north one.", "answer", replyTo="$s1"))),
        given=orchard(agents=[agent(SHED)]),
        sections=("4.8",),
        deliveries=[delivery("$s1", TOMAS, "answered"), delivery("$s2", SHED, "held")],
    ),
]
