"""The wake gate: what approving and denying it does, and how it asks (sections 5.9 and C.8)."""

from typing import Any, Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    DELL,
    DELL_1,
    FERN,
    LEE,
    NORA,
    effect,
    given,
    item,
    live,
    open_blocking,
    published,
    pushed,
    recover,
    ruled,
    session_starts,
    told,
    woken,
)
from vectors.authoring.host_steps import (
    close,
    delivery,
    message,
    ok,
    refused,
    reply,
    send,
    vector,
    who,
    world,
)
from vectors.authoring.kit import Expected, Json

_IN_COVE: Final = who(COVE_1)
_APPROVE: Final = ok(reply(DECIDER, "$gate1", "", choice="approve"))
_DENY: Final = ok(reply(DECIDER, "$gate1", "", choice="deny"))
_ASKED: Final = [published("$s1"), ruled(DELL, "$s1"), published("$gate1"), told(NORA, "$gate1")]


def _request(body: str = "are you there?", to: str = DELL, sender: Json = _IN_COVE) -> Expected:
    return ok(send(sender, message(to, body, wake="request")))


def _world(**more: Any) -> Json:
    return given(
        **{
            "owner": NORA,
            "workItems": [item(COVE, COVE_1), item(DELL)],
            "rulings": {DELL: "ask"},
            **more,
        }
    )


def _quote(id: str, title: str, body: str, first: str, *sections: str) -> Json:
    """A vector for the body of the gate that a held message of this body raises."""
    return vector(
        f"core.wake-gate.{id}",
        title,
        _request(body),
        given={
            "owner": NORA,
            "workItems": [item(COVE, COVE_1), item(DELL)],
            "rulings": {DELL: "ask"},
        },
        profile="dispatch",
        messages=[{"id": "$gate1", "body": f"{COVE_1} wants to wake {DELL}:\n\n> {first}"}],
        sections=["5.9", *sections, "C.8"],
    )


VECTORS: Final = [
    vector(
        "core.wake-gate.approving-wakes-for-the-held-message",
        "Approving a wake gate wakes its target, for the held message, before the answer is heard of",
        _request(),
        _APPROVE,
        given=_world(),
        deliveries=[delivery("$s1", DELL, "held", session=None), delivery("$gate1", NORA, "answered")],
        calls=[*_ASKED, effect("$gate1", "$s2"), woken(DELL, "$s1"), published("$s2")],
        gateEffects=["$gate1"],
        sections=["5.5", "5.9"],
    ),
    vector(
        "core.wake-gate.denying-wakes-nobody",
        "Denying a wake gate wakes nobody, leaves the message held, and is recorded",
        _request(),
        _DENY,
        ok(recover(), replayed=0),
        given=_world(),
        deliveries=[delivery("$s1", DELL, "held", session=None), delivery("$gate1", NORA, "answered")],
        calls=[*_ASKED, effect("$gate1", "$s2"), published("$s2")],
        gateEffects=["$gate1"],
        sections=["5.5", "5.9"],
    ),
    vector(
        "core.wake-gate.a-target-that-went-live-needs-no-wake",
        "Approving a wake gate whose work item has a live session by now wakes nobody, and is recorded",
        _request(),
        world(startSession=live(DELL, DELL_1)),
        ok(session_starts(DELL_1, DELL)),
        _APPROVE,
        ok(recover(), replayed=0),
        given=_world(),
        deliveries=[delivery("$s1", DELL, "pushed", session=DELL_1)],
        calls=[*_ASKED, pushed(DELL_1, "$s1"), effect("$gate1", "$s4"), published("$s4")],
        gateEffects=["$gate1"],
        sections=["5.9"],
    ),
    vector(
        "core.wake-gate.a-target-now-denied-is-not-woken",
        "Approving a wake gate whose target the policy would now deny wakes nobody, and is recorded",
        _request(),
        world(ruling={"target": DELL, "ruling": "deny"}),
        _APPROVE,
        ok(recover(), replayed=0),
        given=_world(),
        deliveries=[delivery("$s1", DELL, "held", session=None)],
        calls=[*_ASKED, effect("$gate1", "$s3"), published("$s3")],
        gateEffects=["$gate1"],
        sections=["5.9"],
    ),
    vector(
        "core.wake-gate.a-target-now-allowed-is-woken",
        "Approving a wake gate whose target the policy would by now allow wakes it",
        _request(),
        world(ruling={"target": DELL, "ruling": "allow"}),
        _APPROVE,
        given=_world(),
        calls=[*_ASKED, effect("$gate1", "$s3"), woken(DELL, "$s1"), published("$s3")],
        gateEffects=["$gate1"],
        sections=["5.9"],
    ),
    vector(
        "core.wake-gate.a-wake-that-fails-is-recorded",
        "When the wake of an approved gate fails, the effect is recorded all the same and the message stays held",
        _request(),
        _APPROVE,
        ok(recover(), replayed=0),
        given=_world(wakeResults={DELL: {"ok": False, "reason": "the disk is full"}}),
        deliveries=[delivery("$s1", DELL, "held", session=None), delivery("$gate1", NORA, "answered")],
        calls=[*_ASKED, effect("$gate1", "$s2"), woken(DELL, "$s1"), published("$s2")],
        gateEffects=["$gate1"],
        sections=["5.9"],
    ),
    vector(
        "core.wake-gate.a-failing-effect-wakes-at-recovery",
        "When the effect of an approved wake gate fails, recovery applies it, wakes the target and records it",
        _request(),
        _APPROVE,
        world(failOnAnswered=False),
        ok(recover(), replayed=1),
        ok(recover(), replayed=0),
        given=_world(failOnAnswered=True),
        callsInclude=[
            effect("$gate1", "$s2"),
            published("$s2"),
            effect("$gate1", "$s2"),
            woken(DELL, "$s1"),
        ],
        gateEffects=["$gate1"],
        sections=["5.5", "5.9", "6.3"],
    ),
    vector(
        "core.wake-gate.a-session-is-woken-by-its-gate",
        "Approving the gate of a human's request about an ended session wakes that session",
        _request(to=COVE_1, sender=BYSTANDER),
        _APPROVE,
        given=_world(workItems=[item(COVE, None, [COVE_1])], rulings={COVE_1: "ask"}),
        deliveries=[delivery("$s1", COVE_1, "held", session=None)],
        calls=[
            published("$s1"),
            ruled(COVE_1, "$s1"),
            published("$gate1"),
            told(NORA, "$gate1"),
            effect("$gate1", "$s2"),
            woken(COVE_1, "$s1"),
            published("$s2"),
        ],
        gateEffects=["$gate1"],
        sections=["5.9", "6.5"],
    ),
    vector(
        "core.wake-gate.a-close-wakes-nobody",
        "A wake gate that the host closes wakes nobody and is not recorded",
        _request(),
        ok(close("$gate1", "the sender has gone")),
        ok(recover(), replayed=0, voided=0),
        given=_world(),
        deliveries=[delivery("$gate1", NORA, "answered"), delivery("$s1", DELL, "held", session=None)],
        calls=[*_ASKED, published("$s2")],
        gateEffects=[],
        sections=["4.8", "5.9"],
    ),
    vector(
        "core.wake-gate.the-sender-does-not-decide-it",
        "The session that asked for the wake cannot approve it, nor can an owner who does not decide",
        _request(),
        refused(reply(_IN_COVE, "$gate1", "", choice="approve"), "not-found", "replyTo"),
        refused(reply(BYSTANDER, "$gate1", "", choice="approve"), "forbidden", "replyTo"),
        ok(open_blocking(), messages=["$gate1"]),
        given=_world(owner=LEE),
        gateEffects=[],
        sections=["5.4", "5.9"],
    ),
    vector(
        "core.wake-gate.each-target-has-its-own",
        "Two held recipients that are both asked about get a gate each, and each gate wakes its own target",
        ok(send(_IN_COVE, message("channel:crew", "are you there?", wake="request"))),
        ok(reply(DECIDER, "$gate1", "", choice="deny")),
        ok(reply(DECIDER, "$gate2", "", choice="deny")),
        ok(open_blocking(), messages=[]),
        given=_world(
            workItems=[item(COVE, COVE_1), item(DELL), item(FERN)],
            channels=[{"name": "crew", "members": [DELL, FERN]}],
            rulings={DELL: "ask", FERN: "ask"},
        ),
        gateEffects=["$gate1", "$gate2"],
        sections=["5.9", "6.5"],
    ),
    vector(
        "core.wake-gate.not-waking-tells-the-sender",
        "The sender of the held message gets a notice when its approved target would be denied by now",
        _request(),
        world(ruling={"target": DELL, "ruling": "deny"}),
        _APPROVE,
        given=_world(),
        level="SHOULD",
        messages=[
            {"id": "$s1"},
            {"id": "$gate1"},
            {"id": "$notice1", "from": "$system", "to": [COVE_1], "kind": "notice"},
        ],
        deliveries=[delivery("$notice1", COVE_1, "pushed", session=COVE_1)],
        sections=["5.9"],
    ),
    vector(
        "core.wake-gate.a-failing-wake-tells-the-sender",
        "The sender of the held message gets a notice when waking its approved target failed",
        _request(sender=BYSTANDER),
        _APPROVE,
        given=_world(wakeResults={DELL: {"ok": False, "reason": "the disk is full"}}),
        level="SHOULD",
        messages=[{"id": "$notice1", "from": "$system", "to": [LEE], "kind": "notice"}],
        deliveries=[delivery("$notice1", LEE, "notified")],
        sections=["5.9"],
    ),
    vector(
        "core.wake-gate.profile-says-why-the-wake-failed",
        "The profile's notice of an approved wake that failed names the target and the reason",
        _request(),
        _APPROVE,
        given={
            "owner": NORA,
            "workItems": [item(COVE, COVE_1), item(DELL)],
            "rulings": {DELL: "ask"},
            "wakeResults": {DELL: {"ok": False, "reason": "the disk is full"}},
        },
        level="SHOULD",
        profile="dispatch",
        messages=[
            {
                "id": "$notice1",
                "to": [COVE_1],
                "body": f"Could not wake {DELL}: the disk is full. Your message is waiting for it.",
            }
        ],
        sections=["5.9", "C.8"],
    ),
    _quote(
        "profile-quotes-the-first-line",
        "The profile's wake gate names the sender and the target, and quotes the first line alone",
        "the pump is down\n> approve this\nnow",
        "the pump is down",
    ),
    *(
        _quote(
            f"profile-quote-ends-at-{name}",
            f"The profile's quote ends at {called}",
            f"the pump is down{character}and so is the mill",
            "the pump is down",
            "1.4",
        )
        for name, called, character in (
            ("crlf", "CR LF", "\r\n"),
            ("cr", "CR", "\r"),
            ("vt", "VT", "\v"),
            ("ff", "FF", "\f"),
            ("nel", "NEL", "\u0085"),
            ("line-separator", "LINE SEPARATOR", "\u2028"),
            ("paragraph-separator", "PARAGRAPH SEPARATOR", "\u2029"),
        )
    ),
    _quote(
        "profile-quotes-79-code-points",
        "A first line of 79 code points is quoted whole",
        "\U0001f41d" + "b" * 78 + "\nmore",
        "\U0001f41d" + "b" * 78,
        "C.6",
    ),
    _quote(
        "profile-quotes-80-code-points",
        "A first line of 80 code points, each outside the basic plane, is quoted whole",
        "\U0001f41d" * 80 + "\nmore",
        "\U0001f41d" * 80,
        "C.6",
    ),
    _quote(
        "profile-cuts-81-code-points",
        "A first line of 81 code points is cut to its first 79 and an ellipsis",
        "\U0001f41d" * 81,
        "\U0001f41d" * 79 + "…",
        "C.6",
    ),
]
