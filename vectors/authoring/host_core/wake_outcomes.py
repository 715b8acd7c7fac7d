"""Wake requests: what the owner is asked, and what a sender hears of a refusal or a failure (section 6.5)."""

from typing import Final

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
    row,
    ruled,
    stored,
    told,
    wake_data,
    woken,
)
from vectors.authoring.host_core.waking import FAILS, IN_COVE, PLAYERS, allowed, request
from vectors.authoring.host_steps import delivery, message, ok, send, vector, who

VECTORS: Final = [
    vector(
        "core.waking.ask-raises-one-gate-to-the-owner",
        "On ask the system raises a blocking wake gate to the owner, and wakes nobody yet",
        ok(send(IN_COVE, request(DELL))),
        ok(open_blocking(), messages=["$gate1"]),
        ok(inbox(NORA), messages=["$gate1"]),
        given=given(owner=NORA, workItems=PLAYERS, rulings={DELL: "ask"}),
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
        ok(send(BYSTANDER, request(COVE_1))),
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
        ok(send(IN_COVE, request([DELL, FERN]))),
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
        ok(send(DECIDER, request(DELL))),
        given=given(owner=NORA, workItems=PLAYERS, rulings={DELL: "ask"}),
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
            workItems=PLAYERS,
            store=stored(
                [row("m-asked", DELL_1, LEE, "well?", "question")], [bound("d-1", "m-asked", LEE, "notified")]
            ),
            **allowed(DELL),
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
        given=given(owner=NORA, workItems=PLAYERS, **allowed(DELL)),
        calls=[published("$s1"), ruled(DELL, "$s1"), woken(DELL, "$s1")],
        sections=["6.5"],
    ),
    vector(
        "core.waking.a-denial-tells-a-session",
        "A session whose request was denied gets a notice from the system that refers to its message",
        ok(send(IN_COVE, request(DELL))),
        given=given(owner=NORA, workItems=PLAYERS, rulings={DELL: "deny"}),
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
        ok(send(BYSTANDER, request(DELL))),
        ok(send(who(SCOUT), request(DELL))),
        given=given(
            owner=NORA,
            workItems=PLAYERS,
            agents=[SCOUT_APPROVED],
            wakeResults={DELL: FAILS},
            **allowed(DELL),
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
        ok(send(IN_COVE, request(DELL))),
        given=given(owner=NORA, workItems=[item(COVE, COVE_2, [COVE_1]), item(DELL)], rulings={DELL: "deny"}),
        level="SHOULD",
        messages=[{"id": "$notice1", "from": "$system", "to": [COVE], "kind": "notice"}],
        deliveries=[delivery("$notice1", COVE, "pushed", session=COVE_2)],
        sections=["4.6", "6.5"],
    ),
    vector(
        "core.waking.each-refused-target-is-told-of",
        "A request whose two targets are denied and fail to wake brings its sender a notice for each",
        ok(send(BYSTANDER, request([DELL, FERN]))),
        ok(inbox(LEE)),
        given=given(
            owner=NORA,
            workItems=[item(DELL), item(FERN)],
            rulings={DELL: "deny", FERN: "allow"},
            wakeResults={FERN: FAILS},
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
        ok(send(IN_COVE, request(DELL))),
        given={"owner": NORA, "workItems": PLAYERS, "rulings": {DELL: "deny"}},
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
        ok(send(BYSTANDER, request(DELL))),
        ok(send(BYSTANDER, request(COVE_1))),
        given={
            "owner": NORA,
            "workItems": [item(COVE, None, [COVE_1]), item(DELL)],
            "rulings": {DELL: "allow", COVE_1: "allow"},
            "wakeResults": {DELL: FAILS, COVE_1: {"ok": False, "reason": "its worktree is gone"}},
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
