"""Senders a human has muted (section 6.7)."""

from typing import Any, Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    DELL,
    DELL_1,
    KAI,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    can_read,
    given,
    inbox,
    item,
    live,
    mark_read,
    open_blocking,
    published,
    pushed,
    recover,
    session_starts,
    thread,
)
from vectors.authoring.host_steps import delivery, message, ok, reply, send, vector, who, world
from vectors.authoring.kit import Expected, Json

_CRICKET: Final = "agent:nora/cricket"
_MUTED: Final = who(_CRICKET)


def _muting(id: str, title: str, *steps: Expected, sections: tuple[str, ...] = (), **more: Any) -> Json:
    world_: Json = more.pop("given", {})
    return vector(
        f"core.muting.{id}",
        title,
        *steps,
        given=given(
            owner=NORA,
            agents=[{"address": _CRICKET, "status": "approved", "muted": True}, SCOUT_APPROVED],
            **{"workItems": [item(COVE, COVE_1), item(DELL)], **world_},
        ),
        level="MAY",
        capability="muted-senders",
        sections=["6.7", *sections],
        **more,
    )


VECTORS: Final = [
    _muting(
        "every-recipient-starts-read",
        "A muted sender's mail starts read for a human, an agent, a work item, live or not, and a session",
        ok(send(_MUTED, message([LEE, SCOUT, COVE, DELL, AUX], "chirp"))),
        given={"auxSessions": [AUX]},
        messages=[{"id": "$s1", "from": _CRICKET, "body": "chirp"}],
        deliveries=[delivery("$s1", to, "read", session=None) for to in (LEE, SCOUT, COVE, DELL, AUX)],
        calls=[published("$s1")],
        sections=("6.1",),
    ),
    _muting(
        "urgency-and-channels-change-nothing",
        "Through a channel, or urgent, or both, a muted sender's mail still starts read and reaches nobody",
        ok(send(_MUTED, message("channel:crew", "chirp"))),
        ok(send(_MUTED, message("channel:crew", "chirp", urgent=True))),
        ok(send(_MUTED, message(COVE_1, "chirp", urgent=True))),
        given={"channels": [{"name": "crew", "members": [COVE, KAI]}]},
        deliveries=[
            *(
                delivery(f"$s{n}", to, "read", session=None, via="channel")
                for n in (1, 2)
                for to in (COVE, KAI)
            ),
            delivery("$s3", COVE_1, "read", session=None, via="direct"),
        ],
        calls=[published(f"$s{n}") for n in (1, 2, 3)],
        sections=("6.1", "6.2"),
    ),
    _muting(
        "only-the-muted-are",
        "An agent nobody muted, and humans, reach the same recipients as ever",
        ok(send(_MUTED, message(COVE, "chirp"))),
        ok(send(who(SCOUT), message(COVE, "look"))),
        ok(send(BYSTANDER, message(COVE, "look"))),
        deliveries=[
            delivery("$s1", COVE, "read"),
            delivery("$s2", COVE, "pushed", session=COVE_1),
            delivery("$s3", COVE, "pushed", session=COVE_1),
        ],
        calls=[
            published("$s1"),
            published("$s2"),
            pushed(COVE_1, "$s2"),
            published("$s3"),
            pushed(COVE_1, "$s3"),
        ],
    ),
    _muting(
        "a-muted-agent-still-gets-mail",
        "Muting an agent keeps no mail from it",
        ok(send(BYSTANDER, message(_CRICKET, "hush"))),
        ok(inbox(_CRICKET, "held"), messages=["$s1"]),
        deliveries=[delivery("$s1", _CRICKET, "held", session=None)],
    ),
    _muting(
        "it-is-readable-where-it-lies",
        "A muted sender's message is in its recipient's mailbox and its thread, and its recipients may read it",
        ok(send(_MUTED, message([LEE, COVE], "chirp"))),
        ok(inbox(LEE), messages=["$s1"]),
        ok(inbox(LEE, "read"), messages=["$s1"]),
        ok(inbox(LEE, "notified"), messages=[]),
        ok(thread("$s1"), messages=["$s1"]),
        ok(can_read("$s1", who(COVE_1)), readable=True),
        ok(can_read("$s1", who(LEE)), readable=True),
        ok(mark_read("$s1", LEE), state="read"),
        sections=("7.1", "9.3"),
    ),
    _muting(
        "no-session-claims-it",
        "Neither a session that starts nor a recovery takes up a muted sender's mail",
        ok(send(_MUTED, message(DELL, "chirp"))),
        world(startSession=live(DELL, DELL_1)),
        ok(session_starts(DELL_1, DELL), deliveries=[]),
        ok(recover(), retried=0, reverted=0),
        deliveries=[delivery("$s1", DELL, "read", session=None)],
        calls=[published("$s1")],
        sections=("6.4",),
    ),
    _muting(
        "its-wake-requests-wake-nobody",
        "A muted sender's wake request is put to no policy, since nothing of it is held",
        ok(send(_MUTED, message(DELL, "chirp", wake="request"))),
        ok(open_blocking(), messages=[]),
        given={"rulings": {DELL: "ask"}},
        deliveries=[delivery("$s1", DELL, "read")],
        calls=[published("$s1")],
        sections=("6.5",),
    ),
    _muting(
        "its-questions-can-be-answered",
        "A muted sender's blocking question is open like any other, and its delivery moves to answered",
        ok(send(_MUTED, message(LEE, "chirp?", "question", blocking=True))),
        ok(open_blocking(), messages=["$s1"]),
        ok(reply(BYSTANDER, "$s1", "yes")),
        ok(open_blocking(), messages=[]),
        deliveries=[delivery("$s1", LEE, "answered"), delivery("$s3", _CRICKET, "held")],
        calls=[published("$s1"), published("$s3")],
        sections=("6.1", "7.1"),
    ),
    _muting(
        "its-answers-settle-quietly",
        "A muted agent's answer settles the question, and starts read for the asker",
        ok(send(DECIDER, message(_CRICKET, "well?", "question", blocking=True))),
        ok(reply(_MUTED, "$s1", "chirp")),
        ok(open_blocking(), messages=[]),
        deliveries=[delivery("$s1", _CRICKET, "answered"), delivery("$s2", NORA, "read")],
        calls=[published("$s1"), published("$s2")],
        sections=("4.7", "6.1"),
    ),
]
