"""The breaker, which stops agents from answering each other for ever (section 6.6)."""

from collections.abc import Iterator
from typing import Any, Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE,
    COVE_1,
    COVE_2,
    DECIDER,
    DELL,
    DELL_1,
    HOST,
    HOUR_MS,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    ended,
    given,
    inbox,
    item,
    live,
    published,
    recover,
    row,
    stored,
    told,
)
from vectors.authoring.host_steps import delivery, message, ok, refused, reply, send, vector, who, world
from vectors.authoring.kit import Expected, Json

_COVE: Final = who(COVE_1)
_DELL: Final = who(DELL_1)
_OPENING: Final = ok(send(_COVE, message(DELL, "ping")))
_START: Final = "2026-09-23T10:00:00.000Z"


def _world(limit: int = 2, **more: Any) -> Json:
    return given(
        **{
            "owner": NORA,
            "agents": [SCOUT_APPROVED],
            "workItems": [item(COVE, COVE_1), item(DELL, DELL_1)],
            "limits": {"urgentPerHour": 10, "agentTurnsPerThreadPerHour": limit},
            **more,
        }
    )


def _said(to: str, sender: Json, **more: Any) -> Expected:
    return ok(reply(sender, to, "pong", **more))


def _stopped(to: str, sender: Json, **more: Any) -> Expected:
    return refused(reply(sender, to, "pong", **more), "limited", "replyTo")


def _old(id: str, sender: str, created: str = _START, **more: Any) -> Json:
    """A stored message of the thread that m-first starts."""
    place = {} if id == "m-first" else {"thread": "m-first", "replyTo": "m-first"}
    return row(id, sender, [COVE, DELL, LEE], "pong", **{**place, "createdAt": created, **more})


def _old_thread(*messages: Json) -> Json:
    deliveries = [
        bound(f"d-{number}", "m-first", to, state)
        for number, (to, state) in enumerate([(COVE, "read"), (DELL, "read"), (LEE, "notified")])
    ]
    return stored(messages, deliveries)


def _turns(count: int) -> Iterator[Expected]:
    """An opening, and replies to it in turn until the thread has `count` agent-authored messages."""
    yield _OPENING
    for number in range(1, count):
        yield _said(f"$s{number}", _DELL if number % 2 else _COVE)


VECTORS: Final = [
    vector(
        "core.breaker.the-reply-past-the-limit-is-refused",
        "Once a thread has as many agent-authored messages in the hour as the limit, an agent's reply is limited",
        *_turns(3),
        _stopped("$s3", _DELL),
        _stopped("$s1", _DELL),
        given=_world(3),
        messages=[{"id": "$s1"}, {"id": "$s2", "thread": "$s1"}, {"id": "$s3", "thread": "$s1"}],
        noOtherMessages=True,
        sections=["6.6"],
    ),
    vector(
        "core.breaker.counts-the-whole-thread",
        "Every agent-authored message of the thread counts, whichever of them the reply names and whoever wrote them",
        _OPENING,
        _said("$s1", _DELL),
        _said("$s1", _DELL),
        _stopped("$s2", _COVE),
        given=_world(3),
        sections=["4.6", "6.6"],
    ),
    vector(
        "core.breaker.agents-count-as-sessions-do",
        "Messages of agents count, and agents' replies are refused, as sessions' are",
        ok(send(who(SCOUT), message(COVE, "ping"))),
        _said("$s1", _COVE),
        _stopped("$s2", who(SCOUT)),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.every-kind-of-reply-is-limited",
        "A reply of any kind is refused once the limit is reached, an answer to an open question too",
        ok(send(_COVE, message(DELL, "ready?", "question"))),
        _said("$s1", _COVE),
        *(
            refused(send(_DELL, message(COVE_1, "pong", kind, replyTo="$s1")), "limited", "replyTo")
            for kind in ("answer", "message", "notice", "question", "x-board")
        ),
        given=_world(),
        messages=[{"id": "$s1"}, {"id": "$s2"}],
        noOtherMessages=True,
        sections=["6.6"],
    ),
    vector(
        "core.breaker.every-kind-counts",
        "Answers, notices and private kinds of agents count as their messages do",
        ok(send(_COVE, message(DELL, "ready?", "question"))),
        _said("$s1", _DELL),
        ok(send(_COVE, message(DELL_1, "good", "notice", replyTo="$s2"))),
        ok(send(_DELL, message(COVE_1, "good", "x-board", replyTo="$s2"))),
        _stopped("$s4", _COVE),
        given=_world(4),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.humans-and-the-system-are-not-limited",
        "A human, deciding or not, and the system reply in a thread at the limit, and do not raise its count",
        ok(send(_COVE, message([DELL, LEE], "ping"))),
        _said("$s1", _DELL),
        *(_said("$s1", sender) for sender in (BYSTANDER, DECIDER, HOST, BYSTANDER)),
        _stopped("$s1", _DELL),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.only-agents-turns-count",
        "Messages of humans and of the system in a thread leave the agents' turns to them",
        ok(send(BYSTANDER, message([DELL, COVE], "ping"))),
        *(_said("$s1", sender) for sender in (BYSTANDER, DECIDER, HOST)),
        _said("$s1", _DELL),
        _said("$s1", _COVE),
        _stopped("$s1", _DELL),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.another-thread-is-free",
        "A thread at its limit stops nobody from starting a thread or replying in another",
        *_turns(2),
        _stopped("$s2", _COVE),
        ok(send(_COVE, message(DELL, "then elsewhere"))),
        _said("$s4", _DELL),
        given=_world(),
        messages=[{"id": "$s4", "thread": "$s4"}, {"id": "$s5", "thread": "$s4"}],
        sections=["6.6"],
    ),
    vector(
        "core.breaker.an-opening-counts-and-is-not-limited",
        "With a limit of one, a thread's opening is its one turn: the first reply of an agent is refused",
        _OPENING,
        _stopped("$s1", _DELL),
        _OPENING,
        given=_world(1),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.a-turn-an-hour-old-still-counts",
        "A message created at the very start of the hour that ends now is counted",
        _OPENING,
        world(advanceMs=HOUR_MS),
        _said("$s1", _DELL),
        _stopped("$s3", _COVE),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.a-turn-older-than-an-hour-does-not",
        "A message created a millisecond before the hour that ends now is not counted",
        _OPENING,
        world(advanceMs=HOUR_MS + 1),
        _said("$s1", _DELL),
        _said("$s3", _COVE),
        _stopped("$s4", _DELL),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.the-window-slides",
        "The hour ends at each reply: as turns leave it, one by one, agents get one turn each",
        _OPENING,
        world(advanceMs=10),
        _said("$s1", _DELL),
        world(advanceMs=HOUR_MS - 9),
        _said("$s3", _COVE),
        _stopped("$s5", _DELL),
        world(advanceMs=9),
        _stopped("$s5", _DELL),
        world(advanceMs=1),
        _said("$s5", _DELL),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.a-clock-that-steps-back-frees-nothing",
        "After the clock steps back, messages created later than now still count",
        *_turns(2),
        world(advanceMs=-1),
        _stopped("$s2", _COVE),
        world(advanceMs=-3 * HOUR_MS),
        _stopped("$s2", _COVE),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.counts-by-when-they-were-created",
        "Stored messages count by their own createdAt, to the millisecond",
        _said("m-first", _DELL),
        _stopped("m-first", _COVE),
        given=_world(
            clock="2026-09-23T11:00:00.000Z",
            store=_old_thread(
                _old("m-first", COVE_1, "2026-09-23T09:59:59.999Z"), _old("m-second", DELL_1, _START)
            ),
        ),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.a-refused-reply-counts-for-nothing",
        "Replies that were refused do not count: the turn that the hour frees is still there",
        *_turns(2),
        *(_stopped("$s2", _COVE) for _ in range(3)),
        world(advanceMs=HOUR_MS + 1),
        _said("$s2", _COVE),
        _said("$s2", _DELL),
        _stopped("$s2", _COVE),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.breaker.comes-after-validation-and-before-one-answer",
        "In a thread at its limit an invalid reply is invalid, a stranger's not found, and a second answer limited",
        ok(send(_COVE, message(DELL, "ready?", "question"))),
        _said("$s1", _DELL),
        refused(reply(_DELL, "$s1", "  "), "invalid", "body"),
        refused(reply(who(SCOUT), "$s1", "me too"), "not-found", "replyTo"),
        _stopped("$s1", _DELL),
        refused(reply(DECIDER, "$s1", "me too"), "conflict", "replyTo"),
        given=_world(),
        sections=["4.5", "6.6"],
    ),
    vector(
        "core.breaker.a-retry-after-the-limit-replays",
        "A reply sent again under its idempotency key replays even when the thread has reached its limit",
        _OPENING,
        ok(send(_DELL, message(COVE_1, "pong", replyTo="$s1", idempotencyKey="pong-1")), message="$s2"),
        _stopped("$s2", _COVE),
        ok(
            send(_DELL, message(COVE_1, "pong", replyTo="$s1", idempotencyKey="pong-1")),
            message="$s2",
            replayed=True,
        ),
        given=_world(),
        sections=["4.9", "6.6"],
    ),
    vector(
        "core.breaker.a-new-session-does-not-start-afresh",
        "The turns of a work item's earlier session count against its next one, and outlive a recovery",
        *_turns(2),
        world(endSession=ended(COVE)),
        world(startSession=live(COVE, COVE_2)),
        ok(recover()),
        _stopped("$s2", who(COVE_2)),
        given=_world(),
        sections=["6.3", "6.6"],
    ),
    vector(
        "core.breaker.tells-the-owner-once-an-hour",
        "The owner of the sender gets one notice from the system, replying to the target and marked with the thread",
        *_turns(2),
        _stopped("$s2", _COVE),
        _stopped("$s1", _DELL),
        world(advanceMs=1),
        _stopped("$s2", _COVE),
        ok(inbox(NORA), messages=["$notice1"]),
        given=_world(),
        level="SHOULD",
        messages=[
            {
                "id": "$notice1",
                "from": "$system",
                "to": [NORA],
                "kind": "notice",
                "replyTo": "$s2",
                "thread": "$s1",
                "data": {"type": "x-breaker", "thread": "$s1"},
            }
        ],
        deliveries=[delivery("$notice1", NORA, "notified")],
        callsInclude=[published("$notice1"), told(NORA, "$notice1")],
        sections=["6.6"],
    ),
    vector(
        "core.breaker.tells-the-owner-again-after-an-hour",
        "The thread's notice keeps others back for the hour in which it was created, its start included, and no longer",
        *_turns(2),
        _stopped("$s2", _COVE),
        world(advanceMs=HOUR_MS),
        _stopped("$s2", _COVE),
        ok(inbox(NORA), messages=["$notice1"]),
        world(advanceMs=1),
        _said("$s1", _COVE),
        _said("$s1", _DELL),
        _stopped("$s1", _COVE),
        given=_world(),
        level="SHOULD",
        messages=[
            {"id": "$notice1", "replyTo": "$s2", "data": {"type": "x-breaker", "thread": "$s1"}},
            {"id": "$notice2", "replyTo": "$s1", "data": {"type": "x-breaker", "thread": "$s1"}},
        ],
        sections=["6.6"],
    ),
    vector(
        "core.breaker.each-thread-has-its-notice",
        "A notice in one thread keeps back none in another",
        *_turns(2),
        _stopped("$s1", _DELL),
        ok(send(_COVE, message(DELL, "then elsewhere"))),
        _said("$s4", _DELL),
        _stopped("$s4", _DELL),
        given=_world(),
        level="SHOULD",
        messages=[
            {"id": "$notice1", "data": {"type": "x-breaker", "thread": "$s1"}},
            {"id": "$notice2", "replyTo": "$s4", "data": {"type": "x-breaker", "thread": "$s4"}},
        ],
        sections=["6.6"],
    ),
    vector(
        "core.breaker.a-stored-notice-keeps-others-back",
        "A notice of the system's marked x-breaker that the thread already has in the hour keeps another back",
        _stopped("m-first", _DELL),
        ok(inbox(NORA), messages=[]),
        given=_world(
            store=_old_thread(
                _old("m-first", COVE_1),
                _old("m-second", DELL_1),
                _old("m-told", "$system", kind="notice", data={"type": "x-breaker", "thread": "m-first"}),
            )
        ),
        level="SHOULD",
        sections=["6.6", "13.14"],
    ),
    vector(
        "core.breaker.a-forged-notice-keeps-none-back",
        "Messages of agents and humans whose data says x-breaker are private data: the owner is still told",
        _stopped("m-first", _DELL),
        ok(inbox(NORA), messages=["$notice1"]),
        given=_world(
            store=_old_thread(
                _old("m-first", COVE_1),
                _old("m-second", DELL_1, kind="notice", data={"type": "x-breaker", "thread": "m-first"}),
                _old("m-third", LEE, kind="notice", data={"type": "x-breaker", "thread": "m-first"}),
            )
        ),
        level="SHOULD",
        messages=[{"id": "$notice1", "from": "$system", "to": [NORA], "replyTo": "m-first"}],
        sections=["6.6", "13.14"],
    ),
    vector(
        "core.breaker.profile-allows-twenty-turns",
        "The profile's default limit is twenty agent-authored messages in a thread and hour",
        *_turns(20),
        _stopped("$s20", _COVE),
        given={"owner": NORA, "workItems": [item(COVE, COVE_1), item(DELL, DELL_1)]},
        profile="dispatch",
        sections=["6.6", "C.7"],
    ),
    vector(
        "core.breaker.profile-says-how-many-and-where",
        "The profile's notice says how many messages agents sent in the thread, and names the thread",
        *_turns(3),
        _stopped("$s3", _DELL),
        given=_world(3),
        level="SHOULD",
        profile="dispatch",
        messages=[
            {
                "id": "$notice1",
                "to": [NORA],
                "body": "Agents have sent 3 messages in thread $s1 this hour; further agent replies are paused.",
            }
        ],
        sections=["6.6", "C.6"],
    ),
]
