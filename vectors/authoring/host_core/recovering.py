"""What recovery finds and does after a crash (section 6.3)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    COVE,
    COVE_1,
    COVE_2,
    DELL,
    DELL_1,
    FERN,
    FERN_1,
    KAI,
    LEE,
    NORA,
    SCOUT,
    bound,
    effect,
    given,
    item,
    notified,
    open_blocking,
    pushed,
    recover,
    row,
    stored,
    wake_data,
    woken,
)
from vectors.authoring.host_steps import delivery, ok, vector
from vectors.authoring.kit import Json

_NOTHING: Final = ok(recover(), retried=0, reverted=0, replayed=0, voided=0)


def _gate(id: str, **data: object) -> Json:
    return row(
        id,
        "$system",
        NORA,
        "May it be woken?",
        "question",
        blocking=True,
        choices=["approve", "deny"],
        data={**wake_data(), **data},
    )


def _answer(id: str, to: str, sender: str = NORA, choice: str = "deny") -> Json:
    return row(id, sender, "$system", "", "answer", thread=to, replyTo=to, choice=choice)


VECTORS: Final = [
    vector(
        "core.recovering.sends-what-a-live-session-was-to-get",
        "A sending delivery of urgent channel mail whose session is live is pushed again",
        ok(recover(), retried=1, reverted=0),
        given=given(
            workItems=[item(DELL, DELL_1)],
            store=stored(
                [row("m-1", LEE, "channel:crew", "ready", urgent=True)],
                [bound("d-1", "m-1", DELL, "sending", DELL_1, "channel")],
            ),
        ),
        deliveries=[delivery("m-1", DELL, "pushed", session=DELL_1, via="channel")],
        calls=[pushed(DELL_1, "m-1")],
        sections=["6.2", "6.3"],
    ),
    vector(
        "core.recovering.notifies-what-came-through-a-channel",
        "A sending delivery through a channel, of a message that is not urgent, is notified again and not pushed",
        ok(recover(), retried=1, reverted=0),
        _NOTHING,
        given=given(
            workItems=[item(DELL, DELL_1)],
            store=stored(
                [row("m-1", LEE, "channel:crew", "ready")],
                [bound("d-1", "m-1", DELL, "sending", DELL_1, "channel")],
            ),
        ),
        deliveries=[delivery("m-1", DELL, "notified", session=DELL_1, via="channel")],
        calls=[notified(DELL_1, "m-1")],
        sections=["6.2", "6.3"],
    ),
    vector(
        "core.recovering.reaches-an-auxiliary-session",
        "A sending delivery to a live auxiliary session is dispatched again",
        ok(recover(), retried=1, reverted=0),
        given=given(
            auxSessions=[AUX],
            store=stored([row("m-1", LEE, AUX, "ready")], [bound("d-1", "m-1", AUX, "sending", AUX)]),
        ),
        deliveries=[delivery("m-1", AUX, "pushed", session=AUX)],
        calls=[pushed(AUX, "m-1")],
        sections=["6.3"],
    ),
    vector(
        "core.recovering.takes-back-what-an-ended-session-was-to-get",
        "A sending delivery whose session has ended is held, unbound, even when its work item has another live session",
        ok(recover(), retried=0, reverted=2),
        _NOTHING,
        given=given(
            workItems=[item(COVE, COVE_2, [COVE_1]), item(DELL)],
            store=stored(
                [row("m-1", LEE, COVE, "ready"), row("m-2", LEE, DELL, "ready")],
                [
                    bound("d-1", "m-1", COVE, "sending", COVE_1),
                    bound("d-2", "m-2", DELL, "sending", "run:r-9a9a9a"),
                ],
            ),
        ),
        deliveries=[
            delivery("m-1", COVE, "held", session=None),
            delivery("m-2", DELL, "held", session=None),
        ],
        calls=[],
        sections=["6.3"],
    ),
    vector(
        "core.recovering.counts-each-kind",
        "One recovery dispatches, takes back, applies and voids, and says how many of each",
        ok(recover(), retried=2, reverted=1, replayed=1, voided=1),
        _NOTHING,
        given=given(
            owner=NORA,
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1), item(FERN)],
            store=stored(
                [
                    row("m-1", LEE, [COVE, DELL, FERN], "ready"),
                    _gate("m-2"),
                    _answer("m-3", "m-2"),
                    _gate("m-4"),
                    _answer("m-5", "m-4", SCOUT),
                ],
                [
                    bound("d-1", "m-1", COVE, "sending", COVE_1),
                    bound("d-2", "m-1", DELL, "sending", DELL_1),
                    bound("d-3", "m-1", FERN, "sending", "run:r-fe2afe"),
                    bound("d-4", "m-2", NORA, "answered"),
                    bound("d-5", "m-4", NORA, "answered"),
                ],
            ),
        ),
        deliveries=[
            delivery("m-1", COVE, "pushed", session=COVE_1),
            delivery("m-1", DELL, "pushed", session=DELL_1),
            delivery("m-1", FERN, "held", session=None),
            delivery("m-2", NORA, "answered"),
            delivery("m-4", NORA, "notified"),
        ],
        gateEffects=["m-2"],
        voided=["m-5"],
        sections=["5.7", "6.3"],
    ),
    vector(
        "core.recovering.a-push-that-fails-again-is-held",
        "A sending delivery whose push fails in the recovery is held, unbound",
        ok(recover()),
        _NOTHING,
        given=given(
            workItems=[item(DELL, DELL_1)],
            failPush=[DELL_1],
            store=stored([row("m-1", LEE, DELL, "ready")], [bound("d-1", "m-1", DELL, "sending", DELL_1)]),
        ),
        deliveries=[delivery("m-1", DELL, "held", session=None)],
        sections=["6.2", "6.3"],
    ),
    vector(
        "core.recovering.leaves-every-settled-state",
        "Recovery moves no held, pushed, notified, read or answered delivery, and calls no hook for them",
        _NOTHING,
        given=given(
            workItems=[item(COVE, COVE_1), item(DELL, DELL_1), item(FERN, FERN_1)],
            store=stored(
                [
                    row("m-1", LEE, [COVE, DELL, FERN, KAI, SCOUT], "ready?", "question"),
                    row("m-2", LEE, [COVE, KAI], "set?", "question"),
                    row("m-3", KAI, LEE, "set", "answer", thread="m-2", replyTo="m-2"),
                ],
                [
                    bound("d-1", "m-1", COVE, "held"),
                    bound("d-2", "m-1", DELL, "pushed", DELL_1),
                    bound("d-3", "m-1", FERN, "notified", FERN_1, "channel"),
                    bound("d-4", "m-1", KAI, "notified"),
                    bound("d-5", "m-1", SCOUT, "read"),
                    bound("d-6", "m-2", COVE, "answered", COVE_1),
                    bound("d-7", "m-2", KAI, "answered"),
                ],
            ),
        ),
        deliveries=[
            delivery("m-1", COVE, "held", session=None),
            delivery("m-1", DELL, "pushed", session=DELL_1),
            delivery("m-1", FERN, "notified", session=FERN_1),
            delivery("m-1", KAI, "notified"),
            delivery("m-1", SCOUT, "read"),
            delivery("m-2", COVE, "answered"),
            delivery("m-2", KAI, "answered"),
        ],
        calls=[],
        sections=["6.3"],
    ),
    vector(
        "core.recovering.applies-what-a-crash-left-undone",
        "A gate a human answered, whose effect is not recorded, has it applied and recorded once; nothing is published",
        ok(recover(), replayed=1, voided=0),
        _NOTHING,
        given=given(
            owner=NORA,
            store=stored([_gate("m-1"), _answer("m-2", "m-1", LEE)], [bound("d-1", "m-1", NORA, "answered")]),
        ),
        deliveries=[delivery("m-1", NORA, "answered")],
        calls=[effect("m-1", "m-2")],
        gateEffects=["m-1"],
        voided=[],
        sections=["5.5", "6.3"],
    ),
    vector(
        "core.recovering.wakes-what-an-approved-gate-was-to-wake",
        "Recovery wakes the target of an approved wake gate whose effect was not recorded, for the held message",
        ok(recover(), replayed=1),
        _NOTHING,
        given=given(
            owner=NORA,
            workItems=[item(DELL)],
            rulings={DELL: "ask"},
            store=stored(
                [
                    row("m-parked", LEE, DELL, "come back", wake="request"),
                    _gate("m-1"),
                    _answer("m-2", "m-1", choice="approve"),
                ],
                [bound("d-0", "m-parked", DELL, "held"), bound("d-1", "m-1", NORA, "answered")],
            ),
        ),
        deliveries=[delivery("m-parked", DELL, "held", session=None)],
        calls=[effect("m-1", "m-2"), woken(DELL, "m-parked")],
        gateEffects=["m-1"],
        sections=["5.9", "6.3"],
    ),
    vector(
        "core.recovering.applies-nothing-that-is-recorded-closed-open-or-plain",
        "Recovery runs no effect for a gate that is recorded, closed or open, nor for a plain question",
        _NOTHING,
        ok(open_blocking(), messages=["m-5"]),
        given=given(
            owner=NORA,
            store=stored(
                [
                    _gate("m-1"),
                    _answer("m-2", "m-1", choice="approve"),
                    _gate("m-3"),
                    row(
                        "m-4",
                        "$system",
                        "$system",
                        "Closed.",
                        "answer",
                        thread="m-3",
                        replyTo="m-3",
                        data={"type": "x-closed", "reason": "late"},
                    ),
                    _gate("m-5"),
                    row("m-6", LEE, KAI, "tea?", "question", data={"type": "x-wake"}),
                    row("m-7", KAI, LEE, "yes", "answer", thread="m-6", replyTo="m-6"),
                ],
                [
                    bound("d-1", "m-1", NORA, "answered"),
                    bound("d-3", "m-3", NORA, "answered"),
                    bound("d-5", "m-5", NORA, "notified"),
                    bound("d-6", "m-6", KAI, "answered"),
                ],
                applied=["m-1"],
            ),
        ),
        calls=[],
        gateEffects=["m-1"],
        voided=[],
        sections=["4.8", "5.5", "6.3"],
    ),
    vector(
        "core.recovering.a-message-a-crash-left-unsent-reaches-its-session",
        "The delivery that was sending when the host stopped reaches its session, and its siblings are left alone",
        ok(recover(), retried=1, reverted=0, replayed=0),
        given=given(
            workItems=[item(DELL, DELL_1)],
            store=stored(
                [row("m-1", LEE, [DELL, KAI, SCOUT], "ready")],
                [
                    bound("d-1", "m-1", DELL, "sending", DELL_1),
                    bound("d-2", "m-1", KAI, "notified"),
                    bound("d-3", "m-1", SCOUT, "held"),
                ],
            ),
        ),
        deliveries=[
            delivery("m-1", DELL, "pushed", session=DELL_1),
            delivery("m-1", KAI, "notified"),
            delivery("m-1", SCOUT, "held"),
        ],
        calls=[pushed(DELL_1, "m-1")],
        sections=["6.3"],
    ),
]
