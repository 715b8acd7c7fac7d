"""Idempotency keys: a retry returns the first send, and does nothing (sections 4.5, 4.9, 13.15)."""

from typing import Any, Final

from vectors.authoring.cast import HOUR_MS, item, live, session_starts
from vectors.authoring.envelope.limits import texts
from vectors.authoring.host_core.worlds import (
    AS_INES,
    AS_KILN,
    AS_MEI,
    AS_PICK_1,
    AS_PRUNE_1,
    AS_SHED,
    AS_SYSTEM,
    AS_TOMAS,
    INES,
    KILN,
    MEI,
    PICK,
    PICK_1,
    PRUNE,
    PRUNE_1,
    SHED,
    TOMAS,
    agent,
    orchard,
)
from vectors.authoring.host_steps import delivery, message, ok, refused, send, unchecked, vector, world
from vectors.authoring.kit import Expected, Json


def _again(step: Json, first: str) -> Expected:
    return ok(step, message=first, replayed=True)


def _keyed(
    sender: Json, key: str = "row-7", to: str = TOMAS, body: str = "Row 7 is done.", **more: Any
) -> Json:
    return send(sender, message(to, body, more.pop("kind", "message"), idempotencyKey=key, **more))


VECTORS: Final = [
    vector(
        "core.retries.a-retry-returns-the-first-send",
        "A send with a key its sender used returns the first message, stores nothing and runs no hook",
        ok(_keyed(AS_MEI), message="$s1"),
        _again(_keyed(AS_MEI), "$s1"),
        _again(_keyed(AS_MEI), "$s1"),
        ok({"op": "inbox", "recipient": TOMAS}, messages=["$s1"]),
        given=orchard(),
        sections=("4.9",),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
        deliveries=[delivery("$s1", TOMAS, "notified")],
        calls=[
            {"hook": "published", "message": "$s1"},
            {"hook": "notifyHuman", "actor": TOMAS, "message": "$s1"},
        ],
    ),
    vector(
        "core.retries.without-a-key-nothing-is-a-retry",
        "Two equal sends without a key are two messages",
        ok(send(AS_MEI, message(TOMAS, "Row 7 is done."))),
        ok(send(AS_MEI, message(TOMAS, "Row 7 is done."))),
        given=orchard(),
        sections=("4.9",),
        messages=[{"id": "$s1"}, {"id": "$s2"}],
        deliveries=[delivery("$s1", TOMAS, "notified"), delivery("$s2", TOMAS, "notified")],
    ),
    vector(
        "core.retries.a-key-belongs-to-its-sender",
        "Senders of each kind use one key for messages of their own",
        *(
            ok(_keyed(sender, to=INES))
            for sender in (AS_MEI, AS_TOMAS, AS_SHED, AS_KILN, AS_PRUNE_1, AS_PICK_1)
        ),
        ok(_keyed(AS_SYSTEM, to=INES)),
        _again(_keyed(AS_KILN, to=INES), "$s4"),
        _again(_keyed(AS_SYSTEM, to=INES), "$s7"),
        given=orchard(item(PRUNE, PRUNE_1), item(PICK, PICK_1), agents=[agent(SHED), agent(KILN)]),
        sections=("4.9", "13.15"),
        messages=[{"id": f"$s{number}"} for number in range(1, 8)],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.a-key-says-nothing-of-anothers-message",
        "A key another sender used finds nothing: the send is checked and stored as if the key were new",
        ok(_keyed(AS_MEI)),
        refused(_keyed(AS_INES, body=" "), "invalid", "body"),
        ok(_keyed(AS_INES), message="$s3"),
        given=orchard(),
        sections=("4.9", "13.15"),
        messages=[{"id": "$s1", "from": MEI}, {"id": "$s3", "from": INES}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.an-installs-sessions-share-its-keys",
        "The sessions of one agent install share its address, and so its keys",
        ok(_keyed(AS_SHED, session="one")),
        _again(_keyed(AS_SHED, session="two"), "$s1"),
        given=orchard(agents=[agent(SHED)]),
        sections=("4.9", "9.1"),
        messages=[{"id": "$s1", "session": "one"}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.the-first-input-stays",
        "A key used again with another input returns the first message unchanged",
        ok(_keyed(AS_MEI)),
        _again(_keyed(AS_MEI, to=INES, body="Row 8 is done.", kind="question", choices=["a"]), "$s1"),
        given=orchard(),
        sections=("4.9",),
        messages=[{"id": "$s1", "to": [TOMAS], "kind": "message", "body": "Row 7 is done."}],
        noOtherMessages=True,
        deliveries=[delivery("$s1", TOMAS, "notified")],
    ),
    vector(
        "core.retries.a-retry-is-checked-for-nothing",
        "A retry whose input breaks the rules, names no channel or replies to nothing returns the first message",
        ok(_keyed(AS_MEI)),
        _again(_keyed(AS_MEI, body=" "), "$s1"),
        _again(_keyed(AS_MEI, kind="shout"), "$s1"),
        _again(_keyed(AS_MEI, to="nobody"), "$s1"),
        _again(_keyed(AS_MEI, to="channel:cellar"), "$s1"),
        _again(_keyed(AS_MEI, to=PICK_1), "$s1"),
        _again(_keyed(AS_MEI, replyTo="m-none"), "$s1"),
        _again(_keyed(AS_MEI, data={"type": "orchard-gate"}), "$s1"),
        given=orchard(),
        sections=("4.5", "4.9"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.a-failed-send-keeps-no-key",
        "A send that fails leaves its key free for the corrected one",
        refused(_keyed(AS_MEI, body=""), "invalid", "body"),
        refused(_keyed(AS_MEI, to="channel:cellar"), "not-found", "to[0]"),
        refused(_keyed(AS_MEI, replyTo="m-none"), "not-found", "replyTo"),
        ok(_keyed(AS_MEI), message="$s4"),
        _again(_keyed(AS_MEI), "$s4"),
        given=orchard(),
        sections=("4.5", "4.9"),
        messages=[{"id": "$s4"}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.an-answer-retried-is-no-second-answer",
        "A retried answer returns the first one, where another answer meets a conflict",
        ok(send(AS_MEI, message([TOMAS, INES], "Which row?", "question"))),
        ok(_keyed(AS_TOMAS, to=MEI, kind="answer", replyTo="$s1"), message="$s2"),
        _again(_keyed(AS_TOMAS, to=MEI, kind="answer", replyTo="$s1"), "$s2"),
        refused(_keyed(AS_TOMAS, key="row-8", to=MEI, kind="answer", replyTo="$s1"), "conflict", "replyTo"),
        refused(_keyed(AS_INES, to=MEI, kind="answer", replyTo="$s1"), "conflict", "replyTo"),
        given=orchard(),
        sections=("4.5", "4.7", "4.9"),
        messages=[{"id": "$s1"}, {"id": "$s2"}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.a-retry-is-not-limited",
        "A reply retried after the breaker has tripped returns the first one, where another is limited",
        ok(send(AS_MEI, message(PRUNE, "Which row?"))),
        ok(_keyed(AS_PRUNE_1, to=MEI, replyTo="$s1"), message="$s2"),
        refused(_keyed(AS_PRUNE_1, key="row-8", to=MEI, replyTo="$s1"), "limited", "replyTo"),
        _again(_keyed(AS_PRUNE_1, to=MEI, replyTo="$s1"), "$s2"),
        given=orchard(
            item(PRUNE, PRUNE_1), owner=MEI, limits={"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 1}
        ),
        sections=("4.5", "4.9", "6.6"),
    ),
    vector(
        "core.retries.a-retry-takes-nothing-of-the-quota",
        "An urgent send that is retried counts once towards the urgent quota",
        ok(_keyed(AS_PRUNE_1, urgent=True), downgraded=False),
        _again(_keyed(AS_PRUNE_1, urgent=True), "$s1"),
        _again(_keyed(AS_PRUNE_1, urgent=True), "$s1"),
        ok(_keyed(AS_PRUNE_1, key="row-8", urgent=True), downgraded=False),
        ok(_keyed(AS_PRUNE_1, key="row-9", urgent=True), downgraded=True),
        given=orchard(item(PRUNE, PRUNE_1), limits={"urgentPerHour": 2, "agentTurnsPerThreadPerHour": 20}),
        sections=("4.9", "6.6"),
        messages=[
            {"id": "$s1", "urgent": True},
            {"id": "$s4", "urgent": True},
            {"id": "$s5", "urgent": False},
        ],
    ),
    vector(
        "core.retries.who-may-not-send-gets-no-replay",
        "A revoked agent's retry is refused, and returns the first message once the agent is approved again",
        ok(_keyed(AS_SHED), message="$s1"),
        world(agentStatus={"address": SHED, "status": "revoked"}),
        refused(_keyed(AS_SHED), "forbidden", "from"),
        world(agentStatus={"address": SHED, "status": "pending"}),
        refused(_keyed(AS_SHED), "forbidden", "from"),
        world(agentStatus={"address": SHED, "status": "approved"}),
        _again(_keyed(AS_SHED), "$s1"),
        given=orchard(agents=[agent(SHED)]),
        sections=("4.5", "4.9", "13.15"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.deliveries-stay-as-they-are-now",
        "A retry changes no delivery that has moved on since the first send",
        ok(_keyed(AS_MEI, to=PICK, kind="question")),
        ok({"op": "markRead", "message": "$s1", "recipient": PICK}, state="read"),
        _again(_keyed(AS_MEI, to=PICK, kind="question"), "$s1"),
        ok({"op": "inbox", "recipient": PICK, "states": ["read"]}, messages=["$s1"]),
        world(startSession=live(PICK, PICK_1)),
        ok(session_starts(PICK_1, PICK), deliveries=[]),
        _again(_keyed(AS_MEI, to=PICK, kind="question"), "$s1"),
        given=orchard(item(PICK)),
        sections=("4.9",),
        deliveries=[delivery("$s1", PICK, "read", session=None)],
        calls=[{"hook": "published", "message": "$s1"}],
    ),
    vector(
        "core.retries.a-key-outlives-hours-and-recovery",
        "A key is found again a year later, and after recovery",
        ok(_keyed(AS_MEI), message="$s1"),
        world(advanceMs=366 * 24 * HOUR_MS),
        unchecked({"op": "recover"}),
        _again(_keyed(AS_MEI), "$s1"),
        given=orchard(),
        sections=("4.9",),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.retries.keys-are-compared-to-the-letter",
        "Keys that differ in case, spaces, accents or their last byte are different keys",
        *(
            ok(_keyed(AS_MEI, key=key), message=f"$s{number}")
            for number, key in enumerate(
                ("row-7", "Row-7", " row-7", "row-7 ", "\u00e9", "e\u0301", "p" * 199 + "a", "p" * 199 + "b"),
                1,
            )
        ),
        _again(_keyed(AS_MEI, key="Row-7"), "$s2"),
        _again(_keyed(AS_MEI, key="p" * 199 + "b"), "$s8"),
        given=orchard(),
        sections=("4.9",),
    ),
    vector(
        "core.retries.a-key-is-a-line-of-200-bytes",
        "A key of 200 bytes is kept and found again; a longer one, and one of two lines, refuses the send",
        *(ok(_keyed(AS_MEI, key=longest)) for longest, _ in texts(200)),
        *(
            _again(_keyed(AS_MEI, key=longest), f"$s{number}")
            for number, (longest, _) in enumerate(texts(200), 1)
        ),
        *(refused(_keyed(AS_MEI, key=over), "invalid", "idempotencyKey") for _, over in texts(200)),
        *(refused(_keyed(AS_MEI, key=f"row{text}7"), "invalid", "idempotencyKey") for text in "\n\x85\u2028"),
        given=orchard(),
        sections=("1.4", "4.5", "4.9", "13.13"),
        messages=[{"id": f"$s{number}"} for number in range(1, 5)],
        noOtherMessages=True,
    ),
]
