"""The urgent quota of agents and sessions (section 6.6)."""

from typing import Any, Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE,
    COVE_1,
    COVE_2,
    DECIDER,
    DELL,
    DELL_1,
    FERN,
    HOST,
    HOUR_MS,
    LEE,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    ended,
    given,
    item,
    live,
    recover,
    render,
    row,
    stored,
)
from vectors.authoring.host_steps import delivery, message, ok, refused, send, vector, who, world
from vectors.authoring.kit import Expected, Json

_SESSION: Final = who(COVE_1)
_NOTE: Final = message(FERN, "the boiler hisses", "notice", urgent=True)
_LATE: Final = "2026-09-23T10:00:00.000Z"


def _world(quota: int = 1, **more: Any) -> Json:
    return given(
        **{
            "workItems": [item(COVE, COVE_1), item(DELL, DELL_1), item(FERN)],
            "limits": {"urgentPerHour": quota, "agentTurnsPerThreadPerHour": 20},
            **more,
        }
    )


def _kept(sender: Json = _SESSION, note: Json = _NOTE) -> Expected:
    return ok(send(sender, note), downgraded=False)


def _dropped(sender: Json = _SESSION, note: Json = _NOTE) -> Expected:
    return ok(send(sender, note), downgraded=True)


def _urgent(**by_id: bool) -> list[Json]:
    return [{"id": f"${name}", "urgent": urgent} for name, urgent in by_id.items()]


def _earlier(id: str, sender: str, created: str, **more: Any) -> Json:
    return row(
        id, sender, FERN, "the boiler hums", "notice", **{"urgent": True, "createdAt": created, **more}
    )


VECTORS: Final = [
    vector(
        "core.urgent-quota.the-message-after-the-quota-is-not-urgent",
        "The message after as many urgent ones as the quota allows is stored without urgent, and its send says so",
        _kept(),
        _kept(),
        _dropped(),
        _dropped(),
        given=_world(2),
        messages=_urgent(s1=True, s2=True, s3=False, s4=False),
        deliveries=[delivery(f"$s{n}", FERN, "held") for n in (1, 2, 3, 4)],
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.an-agent-has-one-too",
        "An agent's urgent messages are counted as a session's are",
        _kept(who(SCOUT)),
        _dropped(who(SCOUT)),
        given=_world(agents=[SCOUT_APPROVED]),
        messages=_urgent(s1=True, s2=False),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.is-each-senders-own",
        "A session's quota is not touched by an agent, by another session, nor by a later one of its own work item",
        _kept(),
        _kept(who(DELL_1)),
        _kept(who(SCOUT)),
        world(endSession=ended(COVE)),
        world(startSession=live(COVE, COVE_2)),
        _kept(who(COVE_2)),
        _dropped(who(COVE_2)),
        _dropped(),
        given=_world(agents=[SCOUT_APPROVED]),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.humans-and-the-system-have-none",
        "A human, deciding or not, and the system send as many urgent messages as they like",
        *(_kept(sender) for sender in (BYSTANDER, DECIDER, HOST) for _ in range(3)),
        given=_world(),
        messages=_urgent(**{f"s{n}": True for n in range(1, 10)}),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.counts-only-urgent-messages",
        "Messages that are not urgent, and those that lost urgent to the quota, do not use it up",
        ok(send(_SESSION, message(FERN, "the boiler hums")), downgraded=False),
        ok(send(_SESSION, message(FERN, "the boiler hums", urgent=False)), downgraded=False),
        _kept(),
        world(advanceMs=HOUR_MS // 2),
        _dropped(),
        world(advanceMs=HOUR_MS // 2 + 1),
        _kept(),
        given=_world(),
        messages=_urgent(s1=False, s2=False, s3=True, s5=False, s7=True),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.a-message-an-hour-old-still-counts",
        "An urgent message created at the very start of the hour that ends now is counted",
        _kept(),
        world(advanceMs=HOUR_MS),
        _dropped(),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.a-message-older-than-an-hour-does-not",
        "An urgent message created a millisecond before the hour that ends now is not counted",
        _kept(),
        world(advanceMs=HOUR_MS + 1),
        _kept(),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.the-window-slides",
        "The hour ends at each send: what leaves it makes room for one message, not for all",
        _kept(),
        world(advanceMs=1),
        _kept(),
        world(advanceMs=HOUR_MS),
        _kept(),
        _dropped(),
        world(advanceMs=1),
        _kept(),
        _dropped(),
        given=_world(2),
        messages=_urgent(s1=True, s3=True, s5=True, s6=False, s8=True, s9=False),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.a-clock-that-steps-back-frees-nothing",
        "After the clock steps back, a message created later than now still counts, since it is not before the hour",
        _kept(),
        world(advanceMs=-1),
        _dropped(),
        world(advanceMs=-2 * HOUR_MS),
        _dropped(),
        world(advanceMs=3 * HOUR_MS + 2),
        _kept(),
        given=_world(),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.counts-by-when-they-were-created",
        "Stored messages count by their own createdAt, to the millisecond, and by their own sender",
        _kept(who(COVE_1)),
        _dropped(who(DELL_1)),
        _kept(who(SCOUT)),
        given=_world(
            clock="2026-09-23T11:00:00.000Z",
            agents=[SCOUT_APPROVED],
            store=stored(
                [
                    _earlier("m-1", COVE_1, "2026-09-23T09:59:59.999Z"),
                    _earlier("m-2", DELL_1, _LATE),
                    _earlier("m-3", SCOUT, _LATE, urgent=False),
                ]
            ),
        ),
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.a-refused-message-uses-none",
        "A send that fails, and a replay, use nothing of the quota",
        refused(send(_SESSION, message("channel:nobody-joined", "hiss", urgent=True)), "not-found", "to[0]"),
        refused(send(_SESSION, message(FERN, " ", urgent=True)), "invalid", "body"),
        ok(send(_SESSION, {**_NOTE, "idempotencyKey": "k"}), message="$s3", downgraded=False),
        ok(send(_SESSION, {**_NOTE, "idempotencyKey": "k"}), message="$s3", replayed=True),
        _kept(),
        _dropped(),
        given=_world(2),
        sections=["4.9", "6.6"],
    ),
    vector(
        "core.urgent-quota.drops-nothing-but-urgent",
        "A message that loses urgent keeps the rest: blocking, choices, refs, data, session and wake",
        _kept(),
        _dropped(
            note=message(
                FERN,
                "open the valve?",
                "question",
                urgent=True,
                blocking=True,
                choices=["yes", "no"],
                refs=[{"type": "task", "id": "t-fe2afe"}],
                data={"type": "x-valve", "n": 3},
                wake="request",
                session="desk 2",
            )
        ),
        given=_world(),
        messages=[
            {
                "id": "$s2",
                "kind": "question",
                "urgent": False,
                "blocking": True,
                "choices": ["yes", "no"],
                "refs": [{"type": "task", "id": "t-fe2afe"}],
                "data": {"type": "x-valve", "n": 3},
                "wake": "request",
                "session": "desk 2",
            }
        ],
        sections=["4.1", "6.6"],
    ),
    vector(
        "core.urgent-quota.a-reply-counts-as-any-message",
        "Urgent answers and replies count, and lose urgent, as any message does",
        _kept(),
        ok(
            send(_SESSION, message(LEE, "in an hour", "answer", replyTo="m-when", urgent=True)),
            downgraded=True,
        ),
        given=_world(
            store=stored(
                [row("m-when", LEE, COVE, "When?", "question")],
                [bound("d-1", "m-when", COVE, "pushed", COVE_1)],
            )
        ),
        messages=[{"id": "$s2", "kind": "answer", "urgent": False}],
        sections=["6.6"],
    ),
    vector(
        "core.urgent-quota.outlives-a-restart",
        "The quota counts what the store holds, so a recovery frees nothing",
        _kept(),
        ok(recover()),
        _dropped(),
        given=_world(),
        sections=["6.3", "6.6"],
    ),
    vector(
        "core.urgent-quota.profile-allows-ten-an-hour",
        "The profile's default quota is ten urgent messages an hour",
        *(_kept() for _ in range(10)),
        _dropped(),
        given={"workItems": [item(COVE, COVE_1), item(FERN)]},
        profile="dispatch",
        messages=_urgent(s10=True, s11=False),
        sections=["6.6", "C.7"],
    ),
    vector(
        "core.urgent-quota.profile-header-does-not-say-urgent",
        "The profile's push of a message that lost urgent does not call it urgent",
        _kept(note=message(DELL, "the boiler hisses", "notice", urgent=True)),
        _dropped(note=message(DELL, "the boiler hisses", "notice", urgent=True)),
        ok(render("$s1")),
        ok(render("$s2")),
        given=_world(),
        profile="dispatch",
        render=[
            {"step": 3, "text": f"[message from {COVE_1} · notice · urgent · $s1]\n│ the boiler hisses"},
            {"step": 4, "text": f"[message from {COVE_1} · notice · $s2]\n│ the boiler hisses"},
        ],
        sections=["6.6", "6.8", "C.6"],
    ),
]
