"""Wake requests: who is considered, what the policy rules, and what follows (section 6.5)."""

from typing import Any, Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    COVE_2,
    DECIDER,
    DELL,
    DELL_1,
    FERN,
    HOST,
    KAI,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    given,
    inbox,
    item,
    open_blocking,
    published,
    pushed,
    row,
    ruled,
    stored,
    told,
    wake_data,
    woken,
)
from vectors.authoring.host_steps import delivery, message, ok, send, vector, who, world
from vectors.authoring.kit import Json

_FAILS: Final = {"ok": False, "reason": "the disk is full"}
_IN_COVE: Final = who(COVE_1)
_PLAYERS: Final = [item(COVE, COVE_1), item(DELL)]


def _request(to: str | list[str], **more: Any) -> Json:
    return message(to, "are you there?\nit is about the pump", wake="request", **more)


def _ruled_for(id: str, title: str, sender: Json, to: str, world_: Json, *calls: Json) -> Json:
    """A vector in which one sender's request to one recipient is ruled on."""
    return vector(
        f"core.waking.{id}",
        title,
        ok(send(sender, _request(to)), downgraded=False),
        given=given(owner=NORA, **world_),
        deliveries=[delivery("$s1", to, "held", session=None)],
        calls=[published("$s1"), ruled(to, "$s1"), *calls],
        sections=["6.5"],
    )


def _allowed(target: str) -> Json:
    return {"rulings": {target: "allow"}}


VECTORS: Final = [
    _ruled_for(
        "a-sessions-request-wakes-a-work-item",
        "A session's wake request that is allowed wakes exactly the held work item, for the message",
        _IN_COVE,
        DELL,
        {"workItems": _PLAYERS, **_allowed(DELL)},
        woken(DELL, "$s1"),
    ),
    _ruled_for(
        "an-agents-request-wakes-a-work-item",
        "An agent's wake request that is allowed wakes the held work item",
        who(SCOUT),
        DELL,
        {"workItems": _PLAYERS, "agents": [SCOUT_APPROVED], **_allowed(DELL)},
        woken(DELL, "$s1"),
    ),
    _ruled_for(
        "a-humans-request-wakes-a-work-item",
        "A wake request of a human who does not decide, when allowed, wakes the held work item",
        BYSTANDER,
        DELL,
        {"workItems": _PLAYERS, **_allowed(DELL)},
        woken(DELL, "$s1"),
    ),
    _ruled_for(
        "a-humans-request-wakes-an-ended-session",
        "A human's wake request naming an ended session asks about, and wakes, exactly that session",
        BYSTANDER,
        COVE_1,
        {"workItems": [item(COVE, None, [COVE_1])], "rulings": {COVE_1: "allow", COVE: "deny"}},
        woken(COVE_1, "$s1"),
    ),
    _ruled_for(
        "the-work-items-ruling-is-not-its-sessions",
        "A session is ruled on by its own address: what is allowed for its work item wakes no session",
        DECIDER,
        COVE_1,
        {"workItems": [item(COVE, None, [COVE_1])], **_allowed(COVE)},
    ),
    _ruled_for(
        "what-is-denied-is-not-woken",
        "A denied request wakes nobody, and its message stays held",
        _IN_COVE,
        DELL,
        {"workItems": _PLAYERS, "rulings": {DELL: "deny"}},
    ),
    _ruled_for(
        "an-unlisted-target-is-not-woken",
        "A target the policy says nothing of is not woken",
        DECIDER,
        DELL,
        {"workItems": _PLAYERS, **_allowed(COVE)},
    ),
    _ruled_for(
        "a-work-item-nobody-knows-is-asked-about-too",
        "A held work item the host does not know is put to the policy like any other",
        DECIDER,
        "task:t-0f0f0f",
        {"rulings": {"task:t-0f0f0f": "deny"}},
    ),
    vector(
        "core.waking.a-wake-that-fails-fails-nothing-else",
        "When waking fails the send succeeds, the message stays held, and no other call is made for it",
        ok(send(_IN_COVE, _request(DELL)), downgraded=False),
        given=given(owner=NORA, workItems=_PLAYERS, wakeResults={DELL: _FAILS}, **_allowed(DELL)),
        messages=[{"id": "$s1", "wake": "request"}],
        noOtherMessages=True,
        deliveries=[delivery("$s1", DELL, "held", session=None)],
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-work-item-reached-through-a-channel-is-considered",
        "A held work item that a wake request reaches through a channel is put to the policy and woken",
        ok(send(BYSTANDER, _request("channel:crew"))),
        given=given(
            owner=NORA, workItems=_PLAYERS, channels=[{"name": "crew", "members": [DELL]}], **_allowed(DELL)
        ),
        deliveries=[delivery("$s1", DELL, "held", via="channel", session=None)],
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.5", "7.2"],
    ),
    vector(
        "core.waking.only-the-held-of-many-are-considered",
        "Of many recipients only the held work item is put to the policy: not the live one, a human or an agent",
        ok(send(BYSTANDER, _request([COVE, KAI, DELL, SCOUT]))),
        given=given(
            owner=NORA,
            workItems=_PLAYERS,
            rulings={COVE: "allow", KAI: "allow", SCOUT: "allow", DELL: "deny"},
        ),
        deliveries=[
            delivery("$s1", COVE, "pushed", session=COVE_1),
            delivery("$s1", KAI, "notified"),
            delivery("$s1", SCOUT, "held"),
            delivery("$s1", DELL, "held"),
        ],
        callsInclude=[pushed(COVE_1, "$s1"), ruled(DELL, "$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.an-agent-is-never-considered",
        "An agent holds its mail, but a wake request to it is put to no policy",
        ok(send(DECIDER, _request(SCOUT))),
        given=given(owner=NORA, agents=[SCOUT_APPROVED], **_allowed(SCOUT)),
        deliveries=[delivery("$s1", SCOUT, "held")],
        calls=[published("$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-live-recipient-is-not-considered",
        "A wake request to a work item, or to a session, that is live is pushed and put to no policy",
        ok(send(DECIDER, _request(COVE))),
        ok(send(DECIDER, _request(AUX))),
        given=given(owner=NORA, workItems=_PLAYERS, auxSessions=[AUX], rulings={COVE: "allow", AUX: "allow"}),
        calls=[published("$s1"), pushed(COVE_1, "$s1"), published("$s2"), pushed(AUX, "$s2")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.what-a-failing-push-held-is-considered",
        "A wake request whose push failed is held when wakes are considered: its work item is put to the policy",
        ok(send(_IN_COVE, _request(DELL))),
        given=given(
            owner=NORA,
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1)],
            failPush=[DELL_1],
            **_allowed(DELL),
        ),
        deliveries=[delivery("$s1", DELL, "held", session=None)],
        callsInclude=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.2", "6.5"],
    ),
    vector(
        "core.waking.a-session-a-failing-push-held-is-considered-for-humans",
        "A live session whose push failed is put to the policy when a human asked",
        ok(send(BYSTANDER, _request(DELL_1))),
        given=given(owner=NORA, workItems=[item(DELL, DELL_1)], failPush=[DELL_1], **_allowed(DELL_1)),
        deliveries=[delivery("$s1", DELL_1, "held", session=None)],
        callsInclude=[published("$s1"), ruled(DELL_1, "$s1"), woken(DELL_1, "$s1")],
        sections=["6.2", "6.5"],
    ),
    vector(
        "core.waking.a-session-is-considered-for-nobody-else",
        "A live session whose push failed is put to no policy when an agent's session asked: nothing is woken for it",
        ok(send(_IN_COVE, _request(DELL_1))),
        ok(open_blocking(), messages=[]),
        given=given(
            owner=NORA,
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1)],
            failPush=[DELL_1],
            rulings={DELL_1: "ask", DELL: "ask"},
        ),
        deliveries=[delivery("$s1", DELL_1, "held", session=None)],
        sections=["6.5"],
    ),
    vector(
        "core.waking.an-auxiliary-session-replied-to-is-considered",
        "A human's reply to an ended auxiliary session that requests a wake is held on it and put to the policy",
        ok(send(BYSTANDER, _request("run:r-9a9a9a", replyTo="m-seen"))),
        given=given(
            owner=NORA,
            store=stored(
                [row("m-seen", "run:r-9a9a9a", LEE, "seen this?")], [bound("d-1", "m-seen", LEE, "notified")]
            ),
            rulings={"run:r-9a9a9a": "allow"},
        ),
        deliveries=[delivery("$s1", "run:r-9a9a9a", "held", session=None)],
        calls=[published("$s1"), ruled("run:r-9a9a9a", "$s1"), woken("run:r-9a9a9a", "$s1")],
        sections=["4.6", "6.5"],
    ),
    vector(
        "core.waking.a-reply-rewritten-to-a-work-item-wakes-the-work-item",
        "A wake request that replies to an ended session is held on its work item, and that is what is woken",
        ok(send(DECIDER, _request(COVE_1, replyTo="m-seen"))),
        given=given(
            owner=NORA,
            workItems=[item(COVE, None, [COVE_1])],
            store=stored([row("m-seen", COVE_1, NORA, "seen?")], [bound("d-1", "m-seen", NORA, "notified")]),
            rulings={COVE: "allow", COVE_1: "deny"},
        ),
        deliveries=[delivery("$s1", COVE, "held", session=None)],
        calls=[published("$s1"), ruled(COVE, "$s1"), woken(COVE, "$s1")],
        sections=["4.6", "6.5"],
    ),
    vector(
        "core.waking.nothing-is-considered-unless-asked-for",
        "A message that requests no wake is put to no policy, urgent or not, whoever sends it",
        ok(send(_IN_COVE, message(DELL, "when you can", urgent=True))),
        ok(send(DECIDER, message(DELL, "when you can", "question", blocking=True, wake="none"))),
        given=given(owner=NORA, workItems=_PLAYERS, **_allowed(DELL)),
        calls=[published("$s1"), published("$s2")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-replayed-request-wakes-nobody-again",
        "A wake request sent again under its idempotency key is put to the policy once",
        ok(send(DECIDER, _request(DELL, idempotencyKey="wake-1")), message="$s1"),
        ok(send(DECIDER, _request(DELL, idempotencyKey="wake-1")), message="$s1", replayed=True),
        given=given(owner=NORA, workItems=_PLAYERS, **_allowed(DELL)),
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["4.9", "6.5"],
    ),
    vector(
        "core.waking.a-refused-request-wakes-nobody",
        "A wake request that fails is put to no policy",
        ok(send(DECIDER, message(LEE, "first"))),
        (
            send(DECIDER, _request([DELL, "channel:nobody-joined"])),
            {"ok": False, "error": {"code": "not-found", "field": "to[1]"}},
        ),
        given=given(owner=NORA, workItems=_PLAYERS, rulings={DELL: "ask"}),
        noOtherMessages=True,
        calls=[published("$s1"), told(LEE, "$s1")],
        sections=["4.5", "6.5"],
    ),
    vector(
        "core.waking.the-ruling-is-asked-each-time",
        "The policy is asked for every request: a ruling that changes counts from then on",
        ok(send(DECIDER, _request(DELL))),
        world(ruling={"target": DELL, "ruling": "allow"}),
        ok(send(DECIDER, _request(DELL))),
        world(ruling={"target": DELL, "ruling": "deny"}),
        ok(send(DECIDER, _request(DELL))),
        given=given(owner=NORA, workItems=_PLAYERS, rulings={DELL: "deny"}),
        calls=[
            published("$s1"),
            ruled(DELL, "$s1"),
            published("$s3"),
            ruled(DELL, "$s3"),
            woken(DELL, "$s3"),
            published("$s5"),
            ruled(DELL, "$s5"),
        ],
        sections=["6.5"],
    ),
    vector(
        "core.waking.ask-raises-one-gate-to-the-owner",
        "On ask the system raises a blocking wake gate to the owner, and wakes nobody yet",
        ok(send(_IN_COVE, _request(DELL))),
        ok(open_blocking(), messages=["$gate1"]),
        ok(inbox(NORA), messages=["$gate1"]),
        given=given(owner=NORA, workItems=_PLAYERS, rulings={DELL: "ask"}),
        messages=[
            {"id": "$s1"},
            {
                "id": "$gate1",
                "thread": "$gate1",
                "replyTo": None,
                "from": "$system",
                "to": [NORA],
                "kind": "question",
                "blocking": True,
                "urgent": False,
                "choices": ["approve", "deny"],
                "data": wake_data(DELL, "$s1"),
                "refs": [{"type": "message", "id": "$s1"}],
                "wake": "none",
            },
        ],
        noOtherMessages=True,
        deliveries=[delivery("$s1", DELL, "held", session=None), delivery("$gate1", NORA, "notified")],
        calls=[published("$s1"), ruled(DELL, "$s1"), published("$gate1"), told(NORA, "$gate1")],
        gateEffects=[],
        sections=["5.9", "6.5"],
    ),
    vector(
        "core.waking.ask-about-a-session-names-the-session",
        "A human's request about an ended session that is ruled ask raises a gate whose target is that session",
        ok(send(BYSTANDER, _request(COVE_1))),
        given=given(
            owner=NORA, workItems=[item(COVE, COVE_2, [COVE_1])], rulings={COVE_1: "ask", COVE: "allow"}
        ),
        messages=[
            {"id": "$s1"},
            {"id": "$gate1", "to": [NORA], "data": wake_data(COVE_1, "$s1"), "choices": ["approve", "deny"]},
        ],
        calls=[published("$s1"), ruled(COVE_1, "$s1"), published("$gate1"), told(NORA, "$gate1")],
        sections=["5.9", "6.5"],
    ),
    vector(
        "core.waking.each-held-recipient-is-ruled-on-by-itself",
        "Two held recipients of one request are each ruled on: one is asked about, the other woken",
        ok(send(_IN_COVE, _request([DELL, FERN]))),
        ok(open_blocking(), messages=["$gate1"]),
        given=given(
            owner=NORA,
            workItems=[item(COVE, COVE_1), item(DELL), item(FERN)],
            rulings={DELL: "ask", FERN: "allow"},
        ),
        messages=[{"id": "$s1"}, {"id": "$gate1", "data": wake_data(DELL, "$s1")}],
        callsInclude=[ruled(FERN, "$s1"), woken(FERN, "$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.the-owners-own-request-may-be-asked-about",
        "A request of the owner's own that is ruled ask still raises the gate to the owner",
        ok(send(DECIDER, _request(DELL))),
        given=given(owner=NORA, workItems=_PLAYERS, rulings={DELL: "ask"}),
        messages=[{"id": "$s1"}, {"id": "$gate1", "to": [NORA], "data": wake_data(DELL, "$s1")}],
        deliveries=[delivery("$gate1", NORA, "notified")],
        sections=["5.9", "6.5"],
    ),
    vector(
        "core.waking.any-kind-may-request-one",
        "A message of any kind, an answer too, may request a wake",
        *(
            ok(send(BYSTANDER, message(DELL, "are you there?", kind, wake="request")))
            for kind in ("question", "handoff", "notice", "x-board")
        ),
        ok(send(BYSTANDER, message(DELL, "yes", "answer", replyTo="m-asked", wake="request"))),
        given=given(
            owner=NORA,
            workItems=_PLAYERS,
            store=stored(
                [row("m-asked", DELL_1, LEE, "well?", "question")], [bound("d-1", "m-asked", LEE, "notified")]
            ),
            **_allowed(DELL),
        ),
        deliveries=[delivery(f"$s{n}", DELL, "held", session=None) for n in range(1, 6)],
        calls=[
            call
            for n in range(1, 6)
            for call in (published(f"$s{n}"), ruled(DELL, f"$s{n}"), woken(DELL, f"$s{n}"))
        ],
        sections=["6.5"],
    ),
    vector(
        "core.waking.the-systems-request-is-considered",
        "A notice of the system's that requests a wake is put to the policy for a held work item",
        ok(send(HOST, message(DELL, "time to go on", "notice", wake="request"))),
        given=given(owner=NORA, workItems=_PLAYERS, **_allowed(DELL)),
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-denial-tells-a-session",
        "A session whose request was denied gets a notice from the system that refers to its message",
        ok(send(_IN_COVE, _request(DELL))),
        given=given(owner=NORA, workItems=_PLAYERS, rulings={DELL: "deny"}),
        level="SHOULD",
        messages=[
            {
                "id": "$notice1",
                "from": "$system",
                "to": [COVE_1],
                "kind": "notice",
                "refs": [{"type": "message", "id": "$s1"}],
            }
        ],
        deliveries=[delivery("$notice1", COVE_1, "pushed", session=COVE_1)],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-failure-tells-a-human-and-an-agent",
        "A human and an agent whose wakes failed each get a notice: the human is notified, the agent holds it",
        ok(send(BYSTANDER, _request(DELL))),
        ok(send(who(SCOUT), _request(DELL))),
        given=given(
            owner=NORA,
            workItems=_PLAYERS,
            agents=[SCOUT_APPROVED],
            wakeResults={DELL: _FAILS},
            **_allowed(DELL),
        ),
        level="SHOULD",
        messages=[
            {"id": "$notice1", "to": [LEE], "kind": "notice", "refs": [{"type": "message", "id": "$s1"}]},
            {"id": "$notice2", "to": [SCOUT], "kind": "notice", "refs": [{"type": "message", "id": "$s2"}]},
        ],
        deliveries=[delivery("$notice1", LEE, "notified"), delivery("$notice2", SCOUT, "held")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-notice-to-an-ended-session-reaches-its-successor",
        "The notice to a session that has ended goes to its work item, and into its live session",
        ok(send(_IN_COVE, _request(DELL))),
        given=given(owner=NORA, workItems=[item(COVE, COVE_2, [COVE_1]), item(DELL)], rulings={DELL: "deny"}),
        level="SHOULD",
        messages=[{"id": "$notice1", "from": "$system", "to": [COVE], "kind": "notice"}],
        deliveries=[delivery("$notice1", COVE, "pushed", session=COVE_2)],
        sections=["4.6", "6.5"],
    ),
    vector(
        "core.waking.each-refused-target-is-told-of",
        "A request whose two targets are denied and fail to wake brings its sender a notice for each",
        ok(send(BYSTANDER, _request([DELL, FERN]))),
        ok(inbox(LEE)),
        given=given(
            owner=NORA,
            workItems=[item(DELL), item(FERN)],
            rulings={DELL: "deny", FERN: "allow"},
            wakeResults={FERN: _FAILS},
        ),
        level="SHOULD",
        messages=[
            {"id": "$notice1", "from": "$system", "to": [LEE], "refs": [{"type": "message", "id": "$s1"}]},
            {"id": "$notice2", "from": "$system", "to": [LEE], "refs": [{"type": "message", "id": "$s1"}]},
        ],
        sections=["6.5"],
    ),
    vector(
        "core.waking.profile-says-what-was-denied",
        "The profile's notice of a denial names the target",
        ok(send(_IN_COVE, _request(DELL))),
        given={"owner": NORA, "workItems": _PLAYERS, "rulings": {DELL: "deny"}},
        level="SHOULD",
        profile="dispatch",
        messages=[
            {
                "id": "$notice1",
                "to": [COVE_1],
                "body": f"Waking {DELL} was not allowed. Your message is waiting for it.",
            }
        ],
        sections=["6.5", "C.8"],
    ),
    vector(
        "core.waking.profile-says-why-a-wake-failed",
        "The profile's notice of a wake that failed names the target and the reason, for a work item and for a session",
        ok(send(BYSTANDER, _request(DELL))),
        ok(send(BYSTANDER, _request(COVE_1))),
        given={
            "owner": NORA,
            "workItems": [item(COVE, None, [COVE_1]), item(DELL)],
            "rulings": {DELL: "allow", COVE_1: "allow"},
            "wakeResults": {DELL: _FAILS, COVE_1: {"ok": False, "reason": "its worktree is gone"}},
        },
        level="SHOULD",
        profile="dispatch",
        messages=[
            {
                "id": "$notice1",
                "to": [LEE],
                "body": f"Could not wake {DELL}: the disk is full. Your message is waiting for it.",
            },
            {
                "id": "$notice2",
                "to": [LEE],
                "body": f"Could not wake {COVE_1}: its worktree is gone. Your message is waiting for it.",
            },
        ],
        sections=["6.5", "C.8"],
    ),
]
