"""Threads, and who takes part in a message and may reply to it (sections 4.6, 9.2, 13.5)."""

from typing import Final

from vectors.authoring.cast import ended, item, live
from vectors.authoring.host_core.worlds import (
    AS_AUX,
    AS_INES,
    AS_KILN,
    AS_MEI,
    AS_PICK_1,
    AS_PRUNE_1,
    AS_PRUNE_2,
    AS_SHED,
    AS_SYSTEM,
    AS_TOMAS,
    AUX,
    DECIDER,
    INES,
    KILN,
    MEI,
    PICK,
    PICK_1,
    PICK_2,
    PRUNE,
    PRUNE_1,
    PRUNE_2,
    SHED,
    TOMAS,
    WEIGH,
    WEIGH_1,
    agent,
    channel,
    orchard,
)
from vectors.authoring.host_steps import message, ok, refused, reply, send, vector, who, world
from vectors.authoring.kit import Expected, Json

KINDS: Final = ("message", "question", "handoff", "notice", "x-row", "answer")


def _to_mei(target: str, kind: str = "message", **more: object) -> Json:
    return message(MEI, "The north one.", kind, replyTo=target, **more)


def _not_found(sender: Json, target: str) -> Expected:
    return refused(send(sender, _to_mei(target)), "not-found", "replyTo")


def _raw_reply(**given: object) -> Json:
    """A shorthand reply of tomas's to the first message, of whatever members."""
    return {"op": "reply", "as": AS_TOMAS, "message": "$s1", "input": given}


VECTORS: Final = [
    vector(
        "core.threads.a-thread-has-its-first-messages-id",
        "A reply joins its target's thread, a reply to a reply too, and no id but a first message's names a thread",
        ok(send(AS_MEI, message(TOMAS, "Which row?"))),
        ok(send(AS_TOMAS, _to_mei("$s1"))),
        ok(send(AS_MEI, message(TOMAS, "Not the south one?", "question", replyTo="$s2"))),
        ok(send(AS_MEI, message(TOMAS, "Rain at noon."))),
        ok(send(AS_TOMAS, _to_mei("$s3", "answer"))),
        ok(send(AS_TOMAS, _to_mei("$s1", "x-row"))),
        ok({"op": "thread", "thread": "$s4"}, messages=["$s4"]),
        ok({"op": "thread", "thread": "$s2"}, messages=[]),
        given=orchard(),
        sections=("4.1", "4.6"),
        messages=[
            {"id": "$s1", "thread": "$s1", "replyTo": None},
            {"id": "$s2", "thread": "$s1", "replyTo": "$s1"},
            {"id": "$s3", "thread": "$s1", "replyTo": "$s2"},
            {"id": "$s4", "thread": "$s4", "replyTo": None},
            {"id": "$s5", "thread": "$s1", "replyTo": "$s3"},
            {"id": "$s6", "thread": "$s1", "replyTo": "$s1"},
        ],
        noOtherMessages=True,
    ),
    vector(
        "core.threads.a-strangers-reply-is-not-found",
        "A reply of any kind to a message its sender takes no part in fails as one to no message does",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question"))),
        *(
            refused(send(sender, _to_mei(target, kind)), "not-found", "replyTo")
            for sender in (AS_INES, AS_KILN, AS_PICK_1)
            for kind in KINDS
            for target in ("$s1", "m-none")
        ),
        given=orchard(item(PICK, PICK_1), agents=[agent(KILN)]),
        sections=("4.6", "13.5"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.threads.a-shorthand-reply-is-not-found-either",
        "The shorthand tells a stranger of a message no more than it tells of one that does not exist",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question", choices=["north", "south"]))),
        *(
            refused(reply(sender, target, "The north one.", **more), "not-found", "replyTo")
            for sender in (AS_INES, AS_PICK_1)
            for target in ("$s1", "m-none")
            for more in ({}, {"choice": "north"}, {"choice": "up"})
        ),
        given=orchard(item(PICK, PICK_1)),
        sections=("4.6", "13.5"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.threads.taking-part-is-per-message",
        "Who takes part in a thread's first message may not reply to a later one that never reached them",
        ok(send(AS_MEI, message([TOMAS, INES], "Which row?"))),
        ok(send(AS_TOMAS, _to_mei("$s1"))),
        _not_found(AS_INES, "$s2"),
        ok(send(AS_INES, _to_mei("$s1"))),
        _not_found(AS_TOMAS, "$s4"),
        given=orchard(),
        sections=("4.6",),
        messages=[{"id": "$s1"}, {"id": "$s2"}, {"id": "$s4"}],
        noOtherMessages=True,
    ),
    vector(
        "core.threads.sender-and-recipients-take-part",
        "A message's sender, each recipient and each member a channel reached may reply to it",
        ok(send(AS_SHED, message([TOMAS, "channel:harvest"], "Which row?"))),
        *(ok(send(sender, _to_mei("$s1"))) for sender in (AS_SHED, AS_TOMAS, AS_INES, AS_KILN)),
        _not_found(AS_MEI, "$s1"),
        given=orchard(agents=[agent(SHED), agent(KILN)], channels=[channel("harvest", INES, KILN)]),
        sections=("4.6",),
    ),
    vector(
        "core.threads.a-later-member-takes-no-part",
        "Who joins a channel after a message may not reply to it",
        ok(send(AS_MEI, message("channel:harvest", "Which row?"))),
        ok({"op": "join", "channel": "harvest", "member": INES}),
        _not_found(AS_INES, "$s1"),
        ok(send(AS_TOMAS, _to_mei("$s1"))),
        given=orchard(channels=[channel("harvest", TOMAS)]),
        sections=("4.6", "7.2"),
    ),
    vector(
        "core.threads.who-has-left-still-takes-part",
        "A member that left its channel may reply to what reached it before",
        ok(send(AS_MEI, message("channel:harvest", "Which row?"))),
        ok({"op": "leave", "channel": "harvest", "member": TOMAS}, removed=True),
        ok(send(AS_TOMAS, _to_mei("$s1"))),
        given=orchard(channels=[channel("harvest", TOMAS)]),
        sections=("4.6",),
    ),
    vector(
        "core.threads.a-session-counts-for-its-work-item",
        "A session, live or ended, replies to mail of its work item and of that one's other sessions",
        ok(send(AS_MEI, message(PRUNE, "Which row?"))),
        ok(send(AS_PRUNE_1, message(MEI, "Which rows are there?"))),
        world(endSession=ended(PRUNE)),
        world(startSession=live(PRUNE, PRUNE_2)),
        *(
            ok(send(sender, _to_mei(target)))
            for sender in (AS_PRUNE_1, AS_PRUNE_2)
            for target in ("$s1", "$s2")
        ),
        given=orchard(item(PRUNE, PRUNE_1)),
        sections=("2.2", "4.6"),
    ),
    vector(
        "core.threads.another-work-items-session-takes-no-part",
        "A session of another work item and an auxiliary one act for themselves alone",
        ok(send(AS_MEI, message(PRUNE, "Which row?"))),
        ok(send(AS_PRUNE_1, message(MEI, "Which rows are there?"))),
        *(_not_found(sender, target) for sender in (AS_PICK_1, AS_AUX) for target in ("$s1", "$s2")),
        ok(send(AS_MEI, message(AUX, "Look these over."))),
        ok(send(AS_AUX, _to_mei("$s7"))),
        given=orchard(item(PRUNE, PRUNE_1), item(PICK, PICK_1), auxSessions=[AUX]),
        sections=("2.2", "4.6"),
    ),
    vector(
        "core.threads.a-bound-session-takes-part",
        "A session that a delivery is bound to replies to its message, whoever the recipient",
        _not_found(who(WEIGH_1), "m-moved"),
        ok(send(AS_PICK_1, _to_mei("m-moved"))),
        given=orchard(
            item(PICK, PICK_1),
            item(WEIGH, WEIGH_1),
            store={
                "messages": [
                    {"id": "m-moved", "from": MEI, "to": [PRUNE], "kind": "message", "body": "Which row?"}
                ],
                "deliveries": [
                    {
                        "id": "d-moved",
                        "message": "m-moved",
                        "recipient": PRUNE,
                        "via": "direct",
                        "state": "pushed",
                        "session": PICK_1,
                    }
                ],
            },
        ),
        sections=("2.3", "4.6"),
    ),
    vector(
        "core.threads.being-named-is-not-taking-part",
        "An address in a message's to that has no delivery of it takes no part",
        _not_found(AS_INES, "m-dropped"),
        ok(send(AS_TOMAS, _to_mei("m-dropped"))),
        given=orchard(
            store={
                "messages": [
                    {
                        "id": "m-dropped",
                        "from": MEI,
                        "to": [TOMAS, INES],
                        "kind": "message",
                        "body": "Which row?",
                    }
                ],
                "deliveries": [
                    {
                        "id": "d-tomas",
                        "message": "m-dropped",
                        "recipient": TOMAS,
                        "via": "direct",
                        "state": "read",
                        "session": None,
                    }
                ],
            }
        ),
        sections=("2.3", "4.6"),
    ),
    vector(
        "core.threads.the-system-and-deciders-reply-to-anything",
        "The system address and a human who decides may reply to a message they take no part in; undecided humans not",
        ok(send(AS_MEI, message(TOMAS, "Which row?"))),
        ok(send(AS_SYSTEM, _to_mei("$s1"))),
        ok(send(DECIDER, _to_mei("$s1"))),
        ok(reply(DECIDER, "$s1", "The south one.")),
        _not_found(AS_INES, "$s1"),
        refused(reply(AS_INES, "$s1", "The south one."), "not-found", "replyTo"),
        given=orchard(),
        sections=("4.6", "9.2"),
    ),
    vector(
        "core.threads.no-decider-replies-to-nothing",
        "To a human who decides, and to the system, a message that does not exist is not found",
        _not_found(DECIDER, "m-none"),
        _not_found(AS_SYSTEM, "m-none"),
        _not_found(DECIDER, ""),
        refused(reply(DECIDER, "m-none", "The south one."), "not-found", "replyTo"),
        given=orchard(),
        sections=("4.6",),
        noOtherMessages=True,
    ),
    vector(
        "core.threads.the-shorthand-goes-to-the-sender",
        "A shorthand reply goes to the target's sender alone: an answer to a question or handoff, else a message",
        ok(send(AS_MEI, message([TOMAS, INES], "Rain at noon."))),
        ok(reply(AS_TOMAS, "$s1", "Thank you.")),
        ok(send(AS_MEI, message([TOMAS, INES], "Which row?", "question"))),
        ok(reply(AS_TOMAS, "$s3", "North.", session="kitchen", data={"type": "x-row", "row": 7})),
        ok(send(AS_MEI, message([TOMAS, INES], "Take the ladder.", "handoff"))),
        ok(reply(AS_INES, "$s5", "", choice="accept", refs=[{"type": "file", "id": "ladders.csv"}])),
        ok(reply(AS_MEI, "$s4", "Good.")),
        given=orchard(),
        sections=("4.6", "4.7"),
        messages=[
            {"id": "$s1"},
            {"id": "$s2", "kind": "message", "to": [MEI], "replyTo": "$s1", "thread": "$s1"},
            {"id": "$s3"},
            {
                "id": "$s4",
                "kind": "answer",
                "to": [MEI],
                "replyTo": "$s3",
                "session": "kitchen",
                "data": {"type": "x-row", "row": 7},
            },
            {"id": "$s5"},
            {
                "id": "$s6",
                "kind": "answer",
                "to": [MEI],
                "replyTo": "$s5",
                "choice": "accept",
                "refs": [{"type": "file", "id": "ladders.csv"}],
            },
            {"id": "$s7", "kind": "message", "to": [TOMAS], "replyTo": "$s4", "thread": "$s3"},
        ],
    ),
    vector(
        "core.threads.a-shorthands-members-have-their-types",
        "A member of a shorthand reply that has another type than its own is refused on that member",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question", choices=["north", "south"]))),
        refused(_raw_reply(body=7), "invalid", "body"),
        refused(_raw_reply(body=None, choice="north"), "invalid", "body"),
        refused(_raw_reply(body="North.", choice=7), "invalid", "choice"),
        refused(_raw_reply(body="North.", session=["kitchen"]), "invalid", "session"),
        refused(_raw_reply(body="North.", refs={"type": "file", "id": "rows.csv"}), "invalid", "refs"),
        refused(_raw_reply(body="North.", refs=[{"type": "file", "id": 7}]), "invalid", "refs[0].id"),
        ok(_raw_reply(body="North.")),
        given=orchard(),
        sections=("4.1", "4.6"),
        messages=[{"id": "$s1"}, {"id": "$s8", "kind": "answer"}],
        noOtherMessages=True,
    ),
    vector(
        "core.threads.a-shorthand-is-a-send",
        "A shorthand reply is refused for what a send is refused for",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question", choices=["north", "south"]))),
        refused(reply(AS_TOMAS, "$s1", " \n"), "invalid", "body"),
        refused(reply(AS_TOMAS, "$s1", "Up.", choice="up"), "invalid", "choice"),
        refused(reply(AS_TOMAS, "$s1", "Up.", session="two\nlines"), "invalid", "session"),
        refused(
            reply(AS_TOMAS, "$s1", "Up.", refs=[{"type": "wiki", "id": "up"}]), "invalid", "refs[0].type"
        ),
        ok(reply(AS_TOMAS, "$s1", "", choice="north")),
        refused(reply(AS_TOMAS, "$s1", "", choice="south"), "conflict", "replyTo"),
        refused(reply(AS_TOMAS, "$s6", ""), "invalid", "body"),
        refused(reply(AS_MEI, "$s6", "So be it.", choice="south"), "invalid", "choice"),
        given=orchard(),
        sections=("4.5", "4.6"),
        messages=[{"id": "$s1"}, {"id": "$s6"}],
        noOtherMessages=True,
    ),
]


def _ended(*more: Expected) -> tuple[Expected, ...]:
    """Both live sessions write to each other, and end; then what follows."""
    return (
        ok(send(AS_PRUNE_1, message([PICK_1, TOMAS], "Which row?", "question"))),
        world(endSession=ended(PRUNE)),
        world(endSession=ended(PICK)),
        *more,
    )


_BOTH: Final = orchard(item(PRUNE, PRUNE_1), item(PICK, PICK_1), item(WEIGH, None, [WEIGH_1]))

REWRITING: Final = [
    vector(
        "core.rewriting.an-ended-sender-becomes-its-work-item",
        "A reply to an ended session is addressed to its work item, and held for its next session",
        *_ended(ok(reply(AS_TOMAS, "$s1", "The north one."))),
        given=_BOTH,
        sections=("4.6",),
        messages=[{"id": "$s1", "to": [PICK_1, TOMAS]}, {"id": "$s4", "to": [PRUNE]}],
        deliveries=[
            {"message": "$s4", "recipient": PRUNE, "via": "direct", "state": "held", "session": None}
        ],
    ),
    vector(
        "core.rewriting.an-ended-recipient-becomes-its-work-item",
        "In a reply, an ended session among the target's recipients becomes its work item too",
        *_ended(ok(send(AS_TOMAS, message([PICK_1, PRUNE_1, TOMAS], "The north one.", replyTo="$s1")))),
        given=_BOTH,
        sections=("4.6",),
        messages=[{"id": "$s1"}, {"id": "$s4", "to": [PICK, PRUNE, TOMAS]}],
        deliveries=[
            {"message": "$s4", "recipient": PICK, "via": "direct", "state": "held"},
            {"message": "$s4", "recipient": PRUNE, "via": "direct", "state": "held"},
        ],
    ),
    vector(
        "core.rewriting.a-successor-gets-the-reply",
        "A reply to an ended session whose work item has a new live one is pushed there",
        *_ended(
            world(startSession=live(PRUNE, PRUNE_2)),
            ok(send(AS_TOMAS, message([PRUNE_1], "The north one.", "answer", replyTo="$s1"))),
        ),
        given=_BOTH,
        sections=("4.6",),
        messages=[{"id": "$s1"}, {"id": "$s5", "to": [PRUNE]}],
        deliveries=[
            {"message": "$s5", "recipient": PRUNE, "via": "direct", "state": "pushed", "session": PRUNE_2}
        ],
    ),
    vector(
        "core.rewriting.a-live-session-stays-itself",
        "A reply that names a session that is live is not rewritten",
        ok(send(AS_PRUNE_1, message([PICK_1, TOMAS], "Which row?"))),
        ok(send(AS_TOMAS, message([PRUNE_1, PICK_1], "The north one.", replyTo="$s1"))),
        given=_BOTH,
        sections=("4.6",),
        messages=[{"id": "$s1"}, {"id": "$s2", "to": [PRUNE_1, PICK_1]}],
        deliveries=[
            {"message": "$s2", "recipient": PRUNE_1, "state": "pushed", "session": PRUNE_1},
            {"message": "$s2", "recipient": PICK_1, "state": "pushed", "session": PICK_1},
        ],
    ),
    vector(
        "core.rewriting.equal-entries-collapse",
        "Entries that rewriting made equal are stored once, each in the place of the first",
        *_ended(
            ok(
                send(
                    AS_TOMAS,
                    message([TOMAS, PRUNE_1, INES, PRUNE, PICK, PICK_1, PRUNE_1], "North.", replyTo="$s1"),
                )
            )
        ),
        given=_BOTH,
        sections=("4.6",),
        messages=[{"id": "$s1"}, {"id": "$s4", "to": [TOMAS, PRUNE, INES, PICK]}],
        deliveries=[
            {"message": "$s4", "recipient": PRUNE, "state": "held"},
            {"message": "$s4", "recipient": PICK, "state": "held"},
            {"message": "$s4", "recipient": INES, "state": "notified"},
        ],
    ),
    vector(
        "core.rewriting.only-what-the-target-reached",
        "An ended session that is neither the target's sender nor among its recipients fails on its own slot",
        *_ended(
            refused(send(AS_TOMAS, message([PRUNE_1, WEIGH_1], "North.", replyTo="$s1")), "invalid", "to[1]"),
            refused(
                send(AS_TOMAS, message([PRUNE, PRUNE_1, PICK_2], "North.", replyTo="$s1")), "invalid", "to[2]"
            ),
        ),
        given=orchard(item(PRUNE, PRUNE_1), item(PICK, PICK_1, [PICK_2]), item(WEIGH, None, [WEIGH_1])),
        sections=("4.6", "6.1"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.rewriting.only-in-a-reply",
        "A message that replies to nothing and names an ended session fails on its slot",
        *_ended(refused(send(AS_TOMAS, message([PRUNE_1], "The north one.")), "invalid", "to[0]")),
        given=_BOTH,
        sections=("4.6", "6.1"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.rewriting.an-ended-auxiliary-session-keeps-its-mail",
        "A reply to an auxiliary session that has ended is addressed to it and held on it",
        ok(send(AS_TOMAS, message([AUX, INES], "The south one.", replyTo="m-aux"))),
        given=orchard(
            store={
                "messages": [
                    {"id": "m-aux", "from": AUX, "to": [TOMAS], "kind": "message", "body": "Which row?"}
                ],
                "deliveries": [
                    {
                        "id": "d-aux",
                        "message": "m-aux",
                        "recipient": TOMAS,
                        "via": "direct",
                        "state": "notified",
                        "session": None,
                    }
                ],
            }
        ),
        sections=("4.6", "6.1"),
        messages=[{"id": "$s1", "to": [AUX, INES]}],
        deliveries=[
            {"message": "$s1", "recipient": AUX, "via": "direct", "state": "held", "session": None},
            {"message": "$s1", "recipient": INES, "via": "direct", "state": "notified", "session": None},
        ],
    ),
    vector(
        "core.rewriting.any-kind-of-reply-is-rewritten",
        "A question, a handoff, a notice and a private kind that reply are rewritten as a message is",
        *_ended(
            *(
                ok(send(AS_TOMAS, message(PRUNE_1, "The north one.", kind, replyTo="$s1")))
                for kind in ("question", "handoff", "notice", "x-row")
            )
        ),
        given=_BOTH,
        sections=("4.6",),
        messages=[{"id": "$s1"}, *({"id": f"$s{number}", "to": [PRUNE]} for number in (4, 5, 6, 7))],
    ),
]
