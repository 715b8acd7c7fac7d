"""Answers that never take effect: voided, and their gates opened again (sections 5.7 and 13.4)."""

from typing import Any, Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    COVE_2,
    DECIDER,
    DELL,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    effect,
    given,
    inbox,
    item,
    notified,
    open_blocking,
    published,
    pushed,
    recover,
    row,
    stored,
    thread,
    told,
    wake_data,
)
from vectors.authoring.host_steps import close, delivery, ok, refused, reply, vector, who
from vectors.authoring.kit import Expected, Json

_OPENED: Final[Expected] = ok(recover(), replayed=0, voided=1)
_LEFT: Final[Expected] = ok(recover(), replayed=0, voided=0)


def _gate(to: str | list[str] = NORA, **more: Any) -> Json:
    return row(
        "m-gate",
        "$system",
        to,
        "May Dell be woken?",
        "question",
        blocking=True,
        choices=["approve", "deny"],
        data=wake_data(),
        **more,
    )


def _answer(sender: str, **more: Any) -> Json:
    return row(
        "m-answer",
        sender,
        "$system",
        "",
        "answer",
        thread="m-gate",
        replyTo="m-gate",
        choice="approve",
        **more,
    )


def _world(
    *deliveries: Json,
    by: str = SCOUT,
    to: str | list[str] = NORA,
    answer: Json | None = None,
    gate: Json | None = None,
    **more: Any,
) -> Json:
    """A gate that holds an answer another build accepted, with the gate's deliveries."""
    return given(
        owner=NORA,
        agents=[SCOUT_APPROVED],
        store=stored([gate or _gate(to), answer or _answer(by)], deliveries),
        **more,
    )


def _reopened(
    id: str, title: str, world: Json, expected: Json, *calls: Json, sections: tuple[str, ...] = ()
) -> Json:
    """A vector that expects one delivery of the gate to come back as `expected`, and its dispatch."""
    return vector(
        f"core.voiding.{id}",
        title,
        _OPENED,
        given=world,
        deliveries=[expected],
        callsInclude=[*calls],
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.1", "6.3", *sections],
    )


def _held_again(id: str, title: str, world: Json, expected: Json) -> Json:
    """A vector that expects one delivery of the gate to wait again; nobody is reached."""
    return vector(
        f"core.voiding.{id}",
        title,
        _OPENED,
        _LEFT,
        given=world,
        deliveries=[expected],
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.1", "6.3"],
    )


VECTORS: Final = [
    vector(
        "core.voiding.an-agents-answer-becomes-a-message",
        "Recovery turns an agent's answer to a gate into a message, records it as voided and applies nothing, once",
        _OPENED,
        _LEFT,
        given=_world(bound("d-gate", "m-gate", NORA, "answered")),
        messages=[
            {"id": "m-gate", "kind": "question"},
            {"id": "m-answer", "kind": "message", "from": SCOUT, "replyTo": "m-gate", "thread": "m-gate"},
        ],
        noOtherMessages=True,
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.3", "13.4"],
    ),
    vector(
        "core.voiding.a-sessions-answer-is-voided-too",
        "Recovery voids a session's answer to a gate",
        _OPENED,
        given=_world(
            bound("d-gate", "m-gate", NORA, "answered"), by=COVE_1, workItems=[item(COVE, None, [COVE_1])]
        ),
        messages=[{"id": "m-answer", "kind": "message"}],
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.3", "13.4"],
    ),
    vector(
        "core.voiding.a-humans-answer-takes-effect",
        "Recovery applies a stored answer from a human, whichever human, and voids nothing",
        ok(recover(), replayed=1, voided=0),
        given=_world(bound("d-gate", "m-gate", NORA, "answered"), by=LEE),
        messages=[{"id": "m-answer", "kind": "answer"}],
        deliveries=[delivery("m-gate", NORA, "answered")],
        callsInclude=[effect("m-gate", "m-answer")],
        gateEffects=["m-gate"],
        voided=[],
        sections=["5.5", "5.7", "6.3"],
    ),
    vector(
        "core.voiding.the-systems-answer-takes-effect",
        "Recovery applies a stored answer from the system that is not a close, and voids nothing",
        ok(recover(), replayed=1, voided=0),
        given=_world(bound("d-gate", "m-gate", NORA, "answered"), by="$system"),
        messages=[{"id": "m-answer", "kind": "answer"}],
        callsInclude=[effect("m-gate", "m-answer")],
        gateEffects=["m-gate"],
        voided=[],
        sections=["5.5", "5.7", "6.3"],
    ),
    vector(
        "core.voiding.a-close-is-left-alone",
        "Recovery neither applies nor voids a close by the system",
        _LEFT,
        given=_world(
            bound("d-gate", "m-gate", NORA, "answered"),
            answer=row(
                "m-answer",
                "$system",
                "$system",
                "Closed.",
                "answer",
                thread="m-gate",
                replyTo="m-gate",
                data={"type": "x-closed", "reason": "gone"},
            ),
        ),
        messages=[{"id": "m-answer", "kind": "answer"}],
        deliveries=[delivery("m-gate", NORA, "answered")],
        calls=[],
        gateEffects=[],
        voided=[],
        sections=["4.8", "5.7", "6.3"],
    ),
    vector(
        "core.voiding.an-agents-close-is-no-close",
        "An agent's stored answer to a gate is voided even when its data says x-closed",
        _OPENED,
        ok(open_blocking(), messages=["m-gate"]),
        given=_world(
            bound("d-gate", "m-gate", NORA, "answered"),
            answer=_answer(SCOUT, data={"type": "x-closed", "reason": "gone"}),
        ),
        messages=[{"id": "m-answer", "kind": "message"}],
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.3", "13.14"],
    ),
    vector(
        "core.voiding.the-gate-takes-another-answer",
        "A voided answer leaves the gate open under its own id, and a deciding human's answer then takes effect",
        _OPENED,
        ok(open_blocking(), messages=["m-gate"]),
        refused(reply(BYSTANDER, "m-gate", "", choice="approve"), "not-found", "replyTo"),
        ok(reply(DECIDER, "m-gate", "", choice="deny")),
        ok(open_blocking(), messages=[]),
        _LEFT,
        given=_world(bound("d-gate", "m-gate", NORA, "answered")),
        messages=[
            {"id": "m-answer", "kind": "message"},
            {"id": "$s4", "kind": "answer", "replyTo": "m-gate", "choice": "deny"},
        ],
        deliveries=[delivery("m-gate", NORA, "answered")],
        callsInclude=[told(NORA, "m-gate"), effect("m-gate", "$s4"), published("$s4")],
        gateEffects=["m-gate"],
        voided=["m-answer"],
        sections=["5.4", "5.5", "5.7"],
    ),
    vector(
        "core.voiding.a-reopened-gate-can-be-closed",
        "The host may close a gate whose answer was voided",
        _OPENED,
        ok(close("m-gate", "no longer needed"), message="$s2"),
        ok(open_blocking(), messages=[]),
        given=_world(bound("d-gate", "m-gate", NORA, "answered")),
        deliveries=[delivery("m-gate", NORA, "answered")],
        gateEffects=[],
        voided=["m-answer"],
        sections=["4.8", "5.7"],
    ),
    vector(
        "core.voiding.the-voided-message-is-published",
        "Readers hear of the voided answer as the message it has become",
        _OPENED,
        given=_world(bound("d-gate", "m-gate", NORA, "answered")),
        callsInclude=[published("m-answer")],
        voided=["m-answer"],
        sections=["5.7"],
    ),
    vector(
        "core.voiding.the-voided-message-keeps-its-mail",
        "The deliveries of the voided message stay as they are, and its thread keeps it",
        _OPENED,
        ok(thread("m-gate")),
        ok(inbox(LEE, "notified"), messages=["m-answer"]),
        given=given(
            owner=NORA,
            agents=[SCOUT_APPROVED],
            store=stored(
                [_gate(), {**_answer(SCOUT), "to": ["$system", LEE, COVE]}],
                [
                    bound("d-gate", "m-gate", NORA, "answered"),
                    bound("d-lee", "m-answer", LEE, "notified"),
                    bound("d-cove", "m-answer", COVE, "read"),
                ],
            ),
        ),
        messages=[{"id": "m-answer", "kind": "message", "thread": "m-gate", "to": ["$system", LEE, COVE]}],
        deliveries=[
            delivery("m-gate", NORA, "notified"),
            delivery("m-answer", LEE, "notified"),
            delivery("m-answer", COVE, "read"),
        ],
        voided=["m-answer"],
        sections=["5.7"],
    ),
    vector(
        "core.voiding.only-the-gate-with-the-bad-answer-opens",
        "Of two answered gates, the one an agent answered is opened and the one a human answered is applied",
        ok(recover(), replayed=1, voided=1),
        ok(open_blocking(), messages=["m-gate"]),
        given=given(
            owner=NORA,
            agents=[SCOUT_APPROVED],
            store=stored(
                [
                    _gate(),
                    _answer(SCOUT),
                    row(
                        "m-other",
                        "$system",
                        LEE,
                        "And Fern?",
                        "question",
                        blocking=True,
                        choices=["approve", "deny"],
                        data=wake_data(),
                    ),
                    row(
                        "m-yes",
                        LEE,
                        "$system",
                        "",
                        "answer",
                        thread="m-other",
                        replyTo="m-other",
                        choice="deny",
                    ),
                ],
                [bound("d-gate", "m-gate", NORA, "answered"), bound("d-other", "m-other", LEE, "answered")],
            ),
        ),
        deliveries=[delivery("m-gate", NORA, "notified"), delivery("m-other", LEE, "answered")],
        gateEffects=["m-other"],
        voided=["m-answer"],
        sections=["5.7", "6.3"],
    ),
    vector(
        "core.voiding.one-found-at-a-send-is-voided-there",
        "A deciding human's answer to a gate that holds an agent's answer voids that one, and takes effect itself",
        ok(reply(DECIDER, "m-gate", "", choice="deny")),
        refused(reply(DECIDER, "m-gate", "", choice="approve"), "conflict", "replyTo"),
        _LEFT,
        given=_world(bound("d-gate", "m-gate", NORA, "answered")),
        messages=[{"id": "m-answer", "kind": "message"}, {"id": "$s1", "kind": "answer", "choice": "deny"}],
        deliveries=[delivery("m-gate", NORA, "answered")],
        callsInclude=[effect("m-gate", "$s1"), published("$s1")],
        gateEffects=["m-gate"],
        voided=["m-answer"],
        sections=["5.5", "5.7", "13.4"],
    ),
    vector(
        "core.voiding.one-without-authority-finds-nothing-at-a-send",
        "An answer without authority is refused before anything is looked for: the stored answer stays as it was",
        refused(reply(BYSTANDER, "m-gate", "", choice="deny"), "forbidden", "replyTo"),
        refused(reply(who(SCOUT), "m-gate", "", choice="deny"), "forbidden", "replyTo"),
        given=_world(
            bound("d-gate", "m-gate", LEE, "answered"),
            bound("d-scout", "m-gate", SCOUT, "answered"),
            to=[LEE, SCOUT],
        ),
        messages=[{"id": "m-answer", "kind": "answer"}],
        noOtherMessages=True,
        deliveries=[delivery("m-gate", LEE, "answered"), delivery("m-gate", SCOUT, "answered")],
        calls=[],
        gateEffects=[],
        voided=[],
        sections=["5.4", "5.7"],
    ),
    vector(
        "core.voiding.a-gate-reopened-by-a-recovery-is-not-open-twice",
        "Once a deciding human has answered the reopened gate, a later recovery leaves it settled",
        _OPENED,
        ok(reply(DECIDER, "m-gate", "", choice="approve")),
        _LEFT,
        ok(open_blocking(), messages=[]),
        given=_world(bound("d-gate", "m-gate", NORA, "answered")),
        deliveries=[delivery("m-gate", NORA, "answered")],
        gateEffects=["m-gate"],
        voided=["m-answer"],
        sections=["5.7", "6.3"],
    ),
    _reopened(
        "a-human-is-notified-again",
        "A reopened gate's delivery to a human is notified again",
        _world(bound("d-gate", "m-gate", NORA, "answered")),
        delivery("m-gate", NORA, "notified", session=None),
        told(NORA, "m-gate"),
        sections=("6.2",),
    ),
    _reopened(
        "a-work-item-with-a-live-session-is-pushed-to",
        "A reopened gate's delivery to a work item is pushed into the session that is live now",
        _world(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1),
            to=COVE,
            workItems=[item(COVE, COVE_2, [COVE_1])],
        ),
        delivery("m-gate", COVE, "pushed", session=COVE_2),
        pushed(COVE_2, "m-gate"),
        sections=("6.2",),
    ),
    _reopened(
        "a-live-session-is-pushed-to",
        "A reopened gate's delivery to a live session is pushed into it",
        _world(bound("d-gate", "m-gate", AUX, "answered", AUX), to=AUX, auxSessions=[AUX]),
        delivery("m-gate", AUX, "pushed", session=AUX),
        pushed(AUX, "m-gate"),
        sections=("6.2",),
    ),
    _reopened(
        "a-channels-work-item-is-given-a-digest",
        "A reopened gate's delivery through a channel is notified, not pushed",
        _world(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1, "channel"),
            to="channel:crew",
            channels=[{"name": "crew", "members": [COVE]}],
            workItems=[item(COVE, COVE_1)],
        ),
        delivery("m-gate", COVE, "notified", session=COVE_1, via="channel"),
        notified(COVE_1, "m-gate"),
        sections=("6.2",),
    ),
    _reopened(
        "an-urgent-gate-through-a-channel-is-pushed",
        "A reopened urgent gate's delivery through a channel is pushed",
        _world(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1, "channel"),
            gate=_gate("channel:crew", urgent=True),
            channels=[{"name": "crew", "members": [COVE]}],
            workItems=[item(COVE, COVE_1)],
        ),
        delivery("m-gate", COVE, "pushed", session=COVE_1, via="channel"),
        pushed(COVE_1, "m-gate"),
        sections=("6.2",),
    ),
    _held_again(
        "a-work-item-without-a-session-holds-it",
        "A reopened gate's delivery to a work item with no live session is held, unbound",
        _world(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1),
            to=COVE,
            workItems=[item(COVE, None, [COVE_1])],
        ),
        delivery("m-gate", COVE, "held", session=None),
    ),
    _held_again(
        "an-agent-holds-it",
        "A reopened gate's delivery to an agent is held",
        _world(bound("d-gate", "m-gate", SCOUT, "answered"), to=SCOUT),
        delivery("m-gate", SCOUT, "held", session=None),
    ),
    _held_again(
        "an-ended-session-holds-it",
        "A reopened gate's delivery to a session that has ended is held on it, unbound",
        _world(
            bound("d-gate", "m-gate", COVE_1, "answered", COVE_1),
            to=COVE_1,
            workItems=[item(COVE, COVE_2, [COVE_1])],
        ),
        delivery("m-gate", COVE_1, "held", session=None),
    ),
    _held_again(
        "a-failing-push-holds-it",
        "A reopened gate's delivery whose push fails is held, unbound",
        _world(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1),
            to=COVE,
            workItems=[item(COVE, COVE_1)],
            failPush=[COVE_1],
        ),
        delivery("m-gate", COVE, "held", session=None),
    ),
    vector(
        "core.voiding.every-delivery-comes-back-as-it-would-start",
        "Each delivery of a reopened gate leaves answered for the state its own recipient gives it now",
        _OPENED,
        ok(inbox(NORA, "notified")),
        given=_world(
            bound("d-nora", "m-gate", NORA, "answered"),
            bound("d-cove", "m-gate", COVE, "answered", COVE_1),
            bound("d-dell", "m-gate", DELL, "answered"),
            bound("d-scout", "m-gate", SCOUT, "answered"),
            to=[NORA, COVE, DELL, SCOUT],
            workItems=[item(COVE, COVE_1), item(DELL)],
        ),
        deliveries=[
            delivery("m-gate", NORA, "notified", session=None),
            delivery("m-gate", COVE, "pushed", session=COVE_1),
            delivery("m-gate", DELL, "held", session=None),
            delivery("m-gate", SCOUT, "held", session=None),
        ],
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.1"],
    ),
    vector(
        "core.voiding.tells-the-owner",
        "The owner of the voided answer's sender gets one notice from the system that replies to the gate",
        _OPENED,
        _LEFT,
        ok(inbox(NORA), messages=["$notice1"]),
        given=_world(bound("d-gate", "m-gate", LEE, "answered"), to=LEE),
        level="SHOULD",
        messages=[{"id": "$notice1", "from": "$system", "to": [NORA], "kind": "notice", "replyTo": "m-gate"}],
        deliveries=[delivery("$notice1", NORA, "notified")],
        callsInclude=[published("$notice1"), told(NORA, "$notice1")],
        sections=["5.7"],
    ),
    vector(
        "core.voiding.the-notice-says-who-and-which",
        "The profile's notice names the sender of the answer and the gate",
        _OPENED,
        given={
            "owner": NORA,
            "workItems": [item(COVE, None, [COVE_1])],
            "store": stored([_gate(), _answer(COVE_1)], [bound("d-gate", "m-gate", NORA, "answered")]),
        },
        level="SHOULD",
        profile="dispatch",
        messages=[
            {
                "id": "$notice1",
                "kind": "notice",
                "body": f"An answer from {COVE_1} to gate m-gate was set aside; only deciding humans answer gates. "
                "The gate is open again.",
            }
        ],
        sections=["5.7", "C.6"],
    ),
]
