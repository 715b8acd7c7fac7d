"""A gate that is opened again: how each of its deliveries comes back, and who is told (sections 5.7, 6.1, 6.3)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    COVE,
    COVE_1,
    COVE_2,
    DELL,
    LEE,
    NORA,
    SCOUT,
    bound,
    inbox,
    item,
    notified,
    published,
    pushed,
    stored,
    told,
)
from vectors.authoring.host_core.voiding import LEFT, OPENED, answer_row, gate_answered, gate_row
from vectors.authoring.host_steps import delivery, ok, vector
from vectors.authoring.kit import Json


def _reopened(
    id: str, title: str, world: Json, expected: Json, *calls: Json, sections: tuple[str, ...] = ()
) -> Json:
    """A vector that expects one delivery of the gate to come back as `expected`, and its dispatch."""
    return vector(
        f"core.voiding.{id}",
        title,
        OPENED,
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
        OPENED,
        LEFT,
        given=world,
        deliveries=[expected],
        gateEffects=[],
        voided=["m-answer"],
        sections=["5.7", "6.1", "6.3"],
    )


VECTORS: Final = [
    _reopened(
        "a-human-is-notified-again",
        "A reopened gate's delivery to a human is notified again",
        gate_answered(bound("d-gate", "m-gate", NORA, "answered")),
        delivery("m-gate", NORA, "notified", session=None),
        told(NORA, "m-gate"),
        sections=("6.2",),
    ),
    _reopened(
        "a-work-item-with-a-live-session-is-pushed-to",
        "A reopened gate's delivery to a work item is pushed into the session that is live now",
        gate_answered(
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
        gate_answered(bound("d-gate", "m-gate", AUX, "answered", AUX), to=AUX, auxSessions=[AUX]),
        delivery("m-gate", AUX, "pushed", session=AUX),
        pushed(AUX, "m-gate"),
        sections=("6.2",),
    ),
    _reopened(
        "a-channels-work-item-is-given-a-digest",
        "A reopened gate's delivery through a channel is notified, not pushed",
        gate_answered(
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
        gate_answered(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1, "channel"),
            gate=gate_row("channel:crew", urgent=True),
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
        gate_answered(
            bound("d-gate", "m-gate", COVE, "answered", COVE_1),
            to=COVE,
            workItems=[item(COVE, None, [COVE_1])],
        ),
        delivery("m-gate", COVE, "held", session=None),
    ),
    _held_again(
        "an-agent-holds-it",
        "A reopened gate's delivery to an agent is held",
        gate_answered(bound("d-gate", "m-gate", SCOUT, "answered"), to=SCOUT),
        delivery("m-gate", SCOUT, "held", session=None),
    ),
    _held_again(
        "an-ended-session-holds-it",
        "A reopened gate's delivery to a session that has ended is held on it, unbound",
        gate_answered(
            bound("d-gate", "m-gate", COVE_1, "answered", COVE_1),
            to=COVE_1,
            workItems=[item(COVE, COVE_2, [COVE_1])],
        ),
        delivery("m-gate", COVE_1, "held", session=None),
    ),
    _held_again(
        "a-failing-push-holds-it",
        "A reopened gate's delivery whose push fails is held, unbound",
        gate_answered(
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
        OPENED,
        ok(inbox(NORA, "notified")),
        given=gate_answered(
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
        OPENED,
        LEFT,
        ok(inbox(NORA), messages=["$notice1"]),
        given=gate_answered(bound("d-gate", "m-gate", LEE, "answered"), to=LEE),
        level="SHOULD",
        messages=[{"id": "$notice1", "from": "$system", "to": [NORA], "kind": "notice", "replyTo": "m-gate"}],
        deliveries=[delivery("$notice1", NORA, "notified")],
        callsInclude=[published("$notice1"), told(NORA, "$notice1")],
        sections=["5.7"],
    ),
    vector(
        "core.voiding.the-notice-says-who-and-which",
        "The profile's notice names the sender of the answer and the gate",
        OPENED,
        given={
            "owner": NORA,
            "workItems": [item(COVE, None, [COVE_1])],
            "store": stored([gate_row(), answer_row(COVE_1)], [bound("d-gate", "m-gate", NORA, "answered")]),
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
