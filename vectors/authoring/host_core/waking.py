"""Wake requests: who is considered, and what the policy rules (section 6.5)."""

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
    bound,
    given,
    item,
    open_blocking,
    published,
    pushed,
    row,
    ruled,
    stored,
    told,
    woken,
)
from vectors.authoring.host_steps import delivery, message, ok, send, vector, who, world
from vectors.authoring.kit import Json

FAILS: Final = {"ok": False, "reason": "the disk is full"}
IN_COVE: Final = who(COVE_1)
PLAYERS: Final = [item(COVE, COVE_1), item(DELL)]


def request(to: str | list[str], **more: Any) -> Json:
    return message(to, "are you there?\nit is about the pump", wake="request", **more)


def _ruled_for(id: str, title: str, sender: Json, to: str, world_: Json, *calls: Json) -> Json:
    """A vector in which one sender's request to one recipient is ruled on."""
    return vector(
        f"core.waking.{id}",
        title,
        ok(send(sender, request(to)), downgraded=False),
        given=given(owner=NORA, **world_),
        deliveries=[delivery("$s1", to, "held", session=None)],
        calls=[published("$s1"), ruled(to, "$s1"), *calls],
        sections=["6.5"],
    )


def allowed(target: str) -> Json:
    return {"rulings": {target: "allow"}}


VECTORS: Final = [
    _ruled_for(
        "a-sessions-request-wakes-a-work-item",
        "A session's wake request that is allowed wakes exactly the held work item, for the message",
        IN_COVE,
        DELL,
        {"workItems": PLAYERS, **allowed(DELL)},
        woken(DELL, "$s1"),
    ),
    _ruled_for(
        "an-agents-request-wakes-a-work-item",
        "An agent's wake request that is allowed wakes the held work item",
        who(SCOUT),
        DELL,
        {"workItems": PLAYERS, "agents": [SCOUT_APPROVED], **allowed(DELL)},
        woken(DELL, "$s1"),
    ),
    _ruled_for(
        "a-humans-request-wakes-a-work-item",
        "A wake request of a human who does not decide, when allowed, wakes the held work item",
        BYSTANDER,
        DELL,
        {"workItems": PLAYERS, **allowed(DELL)},
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
        {"workItems": [item(COVE, None, [COVE_1])], **allowed(COVE)},
    ),
    _ruled_for(
        "what-is-denied-is-not-woken",
        "A denied request wakes nobody, and its message stays held",
        IN_COVE,
        DELL,
        {"workItems": PLAYERS, "rulings": {DELL: "deny"}},
    ),
    _ruled_for(
        "an-unlisted-target-is-not-woken",
        "A target the policy says nothing of is not woken",
        DECIDER,
        DELL,
        {"workItems": PLAYERS, **allowed(COVE)},
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
        ok(send(IN_COVE, request(DELL)), downgraded=False),
        given=given(owner=NORA, workItems=PLAYERS, wakeResults={DELL: FAILS}, **allowed(DELL)),
        messages=[{"id": "$s1", "wake": "request"}],
        noOtherMessages=True,
        deliveries=[delivery("$s1", DELL, "held", session=None)],
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-work-item-reached-through-a-channel-is-considered",
        "A held work item that a wake request reaches through a channel is put to the policy and woken",
        ok(send(BYSTANDER, request("channel:crew"))),
        given=given(
            owner=NORA, workItems=PLAYERS, channels=[{"name": "crew", "members": [DELL]}], **allowed(DELL)
        ),
        deliveries=[delivery("$s1", DELL, "held", via="channel", session=None)],
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.5", "7.2"],
    ),
    vector(
        "core.waking.only-the-held-of-many-are-considered",
        "Of many recipients only the held work item is put to the policy: not the live one, a human or an agent",
        ok(send(BYSTANDER, request([COVE, KAI, DELL, SCOUT]))),
        given=given(
            owner=NORA,
            workItems=PLAYERS,
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
        ok(send(DECIDER, request(SCOUT))),
        given=given(owner=NORA, agents=[SCOUT_APPROVED], **allowed(SCOUT)),
        deliveries=[delivery("$s1", SCOUT, "held")],
        calls=[published("$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-live-recipient-is-not-considered",
        "A wake request to a work item, or to a session, that is live is pushed and put to no policy",
        ok(send(DECIDER, request(COVE))),
        ok(send(DECIDER, request(AUX))),
        given=given(owner=NORA, workItems=PLAYERS, auxSessions=[AUX], rulings={COVE: "allow", AUX: "allow"}),
        calls=[published("$s1"), pushed(COVE_1, "$s1"), published("$s2"), pushed(AUX, "$s2")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.what-a-failing-push-held-is-considered",
        "A wake request whose push failed is held when wakes are considered: its work item is put to the policy",
        ok(send(IN_COVE, request(DELL))),
        given=given(
            owner=NORA,
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1)],
            failPush=[DELL_1],
            **allowed(DELL),
        ),
        deliveries=[delivery("$s1", DELL, "held", session=None)],
        callsInclude=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.2", "6.5"],
    ),
    vector(
        "core.waking.a-session-a-failing-push-held-is-considered-for-humans",
        "A live session whose push failed is put to the policy when a human asked",
        ok(send(BYSTANDER, request(DELL_1))),
        given=given(owner=NORA, workItems=[item(DELL, DELL_1)], failPush=[DELL_1], **allowed(DELL_1)),
        deliveries=[delivery("$s1", DELL_1, "held", session=None)],
        callsInclude=[published("$s1"), ruled(DELL_1, "$s1"), woken(DELL_1, "$s1")],
        sections=["6.2", "6.5"],
    ),
    vector(
        "core.waking.a-session-is-considered-for-nobody-else",
        "A live session whose push failed is put to no policy when an agent's session asked: nothing is woken for it",
        ok(send(IN_COVE, request(DELL_1))),
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
        ok(send(BYSTANDER, request("run:r-9a9a9a", replyTo="m-seen"))),
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
        ok(send(DECIDER, request(COVE_1, replyTo="m-seen"))),
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
        ok(send(IN_COVE, message(DELL, "when you can", urgent=True))),
        ok(send(DECIDER, message(DELL, "when you can", "question", blocking=True, wake="none"))),
        given=given(owner=NORA, workItems=PLAYERS, **allowed(DELL)),
        calls=[published("$s1"), published("$s2")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-replayed-request-wakes-nobody-again",
        "A wake request sent again under its idempotency key is put to the policy once",
        ok(send(DECIDER, request(DELL, idempotencyKey="wake-1")), message="$s1"),
        ok(send(DECIDER, request(DELL, idempotencyKey="wake-1")), message="$s1", replayed=True),
        given=given(owner=NORA, workItems=PLAYERS, **allowed(DELL)),
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["4.9", "6.5"],
    ),
    vector(
        "core.waking.a-refused-request-wakes-nobody",
        "A wake request that fails is put to no policy",
        ok(send(DECIDER, message(LEE, "first"))),
        (
            send(DECIDER, request([DELL, "channel:nobody-joined"])),
            {"ok": False, "error": {"code": "not-found", "field": "to[1]"}},
        ),
        given=given(owner=NORA, workItems=PLAYERS, rulings={DELL: "ask"}),
        noOtherMessages=True,
        calls=[published("$s1"), told(LEE, "$s1")],
        sections=["4.5", "6.5"],
    ),
    vector(
        "core.waking.the-ruling-is-asked-each-time",
        "The policy is asked for every request: a ruling that changes counts from then on",
        ok(send(DECIDER, request(DELL))),
        world(ruling={"target": DELL, "ruling": "allow"}),
        ok(send(DECIDER, request(DELL))),
        world(ruling={"target": DELL, "ruling": "deny"}),
        ok(send(DECIDER, request(DELL))),
        given=given(owner=NORA, workItems=PLAYERS, rulings={DELL: "deny"}),
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
]
