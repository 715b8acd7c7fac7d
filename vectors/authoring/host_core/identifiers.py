"""Ids that are unique and rise, whatever the clock does (section 1.4 and C.1); every report is checked for it."""

from typing import Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    DELL,
    HOUR_MS,
    KAI,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    given,
    item,
    row,
    stored,
)
from vectors.authoring.host_steps import close, message, ok, reply, send, vector, who, world

_MANY: Final = [KAI, NORA, DELL, SCOUT]

VECTORS: Final = [
    vector(
        "core.identifiers.many-in-one-instant-rise",
        "Messages created in the same millisecond have ids that are unique and sort in the order they were created in",
        *(ok(send(BYSTANDER, message(_MANY, f"number {n}"))) for n in range(24)),
        given=given(seed=7),
        messages=[{"id": f"$s{n}", "createdAt": "2026-09-23T10:00:00.000Z"} for n in range(1, 25)],
        noOtherMessages=True,
        sections=["1.4", "4.1"],
    ),
    vector(
        "core.identifiers.a-clock-that-steps-back-does-not-step-ids-back",
        "Ids go on rising when the clock steps back, by a millisecond or by days, and forward again",
        *(
            step
            for n, change in enumerate((-1, -HOUR_MS, -72 * HOUR_MS, 1, 80 * HOUR_MS, -1))
            for step in (ok(send(BYSTANDER, message(_MANY, f"number {n}"))), world(advanceMs=change))
        ),
        ok(send(BYSTANDER, message(_MANY, "last"))),
        given=given(),
        messages=[{"id": f"$s{n}"} for n in range(1, 15, 2)],
        sections=["1.4"],
    ),
    vector(
        "core.identifiers.rows-of-another-form-hold-nothing-back",
        "Stored ids of another form, some of which sort after any of the host's own, do not stop its ids from rising",
        *(ok(send(BYSTANDER, message(KAI, f"number {n}"))) for n in range(12)),
        given=given(
            store=stored(
                [row(id, LEE, KAI, "old") for id in ("m-1", "m-zzz", "m-old", "0", "z")],
                [
                    bound(id, message_id, KAI, "notified")
                    for id, message_id in (("d-1", "m-1"), ("d-zzz", "m-zzz"), ("z", "z"))
                ],
            )
        ),
        messages=[{"id": f"$s{n}"} for n in range(1, 13)],
        sections=["1.4"],
    ),
    vector(
        "core.identifiers.what-the-host-itself-says-takes-its-place",
        "Gates, closes and notices of the host's own get ids in their order of creation among everyone's",
        ok(send(who(COVE_1), message(DELL, "are you there?", wake="request"))),
        ok(send(BYSTANDER, message(KAI, "well?", "question"))),
        ok(close("$s2", "late")),
        ok(reply(DECIDER, "$gate1", "", choice="deny")),
        ok(send(BYSTANDER, message(KAI, "last"))),
        given=given(
            owner=NORA,
            workItems=[item(COVE, COVE_1), item(DELL)],
            agents=[SCOUT_APPROVED],
            rulings={DELL: "ask"},
        ),
        messages=[{"id": id} for id in ("$s1", "$gate1", "$s2", "$s3", "$s4", "$s5")],
        sections=["1.4"],
    ),
    vector(
        "core.identifiers.profile-ids-are-ulids",
        "The profile's ids are m- or d- and a lower-case ULID, in one instant, after it, and before it",
        *(ok(send(BYSTANDER, message(_MANY, "one"))) for _ in range(3)),
        world(advanceMs=1),
        ok(send(BYSTANDER, message(_MANY, "two"))),
        world(advanceMs=-5_000),
        ok(send(BYSTANDER, message(_MANY, "three"))),
        given={"clock": "2026-12-31T23:59:59.999Z"},
        profile="dispatch",
        messages=[{"id": f"$s{n}"} for n in (1, 2, 3, 5, 7)],
        sections=["1.4", "C.1"],
    ),
]
