"""Who may read what (sections 9.3, 13.5 and 13.6)."""

from typing import Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    COVE_2,
    DECIDER,
    DELL,
    DELL_1,
    DELL_2,
    FERN,
    FERN_1,
    HOST,
    KAI,
    LEE,
    NORA,
    SCOUT,
    SCOUT_APPROVED,
    bound,
    can_read,
    ended,
    given,
    item,
    live,
    row,
    session_starts,
    stored,
    wake_gate,
)
from vectors.authoring.host_steps import message, ok, send, vector, who, world
from vectors.authoring.kit import Expected, Json


def _may(message_id: str, *readers: Json | str) -> list[Expected]:
    return [ok(can_read(message_id, _as(reader)), readable=True) for reader in readers]


def _may_not(message_id: str, *readers: Json | str) -> list[Expected]:
    return [ok(can_read(message_id, _as(reader)), readable=False) for reader in readers]


def _as(reader: Json | str) -> Json:
    return who(reader) if isinstance(reader, str) else reader


_PLACES: Final = [item(COVE, COVE_2, [COVE_1]), item(DELL, DELL_1), item(FERN, FERN_1)]

VECTORS: Final = [
    vector(
        "core.reading.senders-and-recipients-may",
        "A message is readable by its sender and its recipients: a human, an agent, a work item's session, a session",
        ok(send(BYSTANDER, message([KAI, SCOUT, DELL, AUX], "between us"))),
        *_may("$s1", LEE, KAI, SCOUT, DELL_1, AUX),
        *_may_not("$s1", COVE_2, FERN_1, "human:ada", "agent:nora/other", "run:r-9a9a9a"),
        given=given(workItems=_PLACES, auxSessions=[AUX], agents=[SCOUT_APPROVED]),
        sections=["9.3", "13.5", "13.6"],
    ),
    vector(
        "core.reading.every-session-of-a-party-may",
        "Every session of the sending or a receiving session's work item may read, earlier and later ones",
        ok(send(who(DELL_1), message(COVE_2, "between us"))),
        world(endSession=ended(DELL)),
        world(startSession=live(DELL, DELL_2)),
        *_may("$s1", DELL_1, DELL_2, COVE_1, COVE_2),
        *_may_not("$s1", FERN_1),
        given=given(workItems=_PLACES),
        sections=["2.2", "4.6", "9.3"],
    ),
    vector(
        "core.reading.an-auxiliary-session-is-on-its-own",
        "An auxiliary session reads what it sent or was sent, and nothing of any work item's",
        ok(send(BYSTANDER, message(DELL, "to the work"))),
        ok(send(BYSTANDER, message(AUX, "to the reviewer"))),
        *_may_not("$s1", AUX),
        *_may("$s2", AUX),
        *_may_not("$s2", DELL_1, "run:r-a0a0a1"),
        given=given(workItems=_PLACES, auxSessions=[AUX, "run:r-a0a0a1"]),
        sections=["2.2", "9.3"],
    ),
    vector(
        "core.reading.deciding-principals-read-everything",
        "The system and a deciding human read any message; a human's name alone opens nothing",
        ok(send(BYSTANDER, message(KAI, "between us"))),
        ok(send(HOST, wake_gate(KAI))),
        *_may("$s1", DECIDER, HOST, {"address": "$system", "canDecide": False}),
        *_may("$s2", DECIDER, HOST, KAI),
        *_may_not("$s1", NORA),
        *_may_not("$s2", NORA, LEE),
        given=given(owner=NORA),
        sections=["5.2", "9.2", "9.3"],
    ),
    vector(
        "core.reading.what-does-not-exist-nobody-reads",
        "A message that does not exist is readable by nobody, not by the system or a deciding human",
        *_may_not("m-nothing", HOST, DECIDER, BYSTANDER, SCOUT, DELL_1),
        given=given(workItems=_PLACES, agents=[SCOUT_APPROVED]),
        sections=["9.3", "13.5"],
    ),
    vector(
        "core.reading.members-read-what-reached-them",
        "A channel's members read what was delivered to them, and not what was sent before they joined",
        ok(send(BYSTANDER, message("channel:crew", "early"))),
        ok({"op": "join", "channel": "crew", "member": NORA}),
        ok(send(BYSTANDER, message("channel:crew", "late"))),
        *_may("$s1", KAI, DELL_1),
        *_may_not("$s1", NORA, FERN_1),
        *_may("$s3", KAI, DELL_1, NORA),
        given=given(workItems=_PLACES, channels=[{"name": "crew", "members": [KAI, DELL]}]),
        sections=["4.6", "7.2", "9.3"],
    ),
    vector(
        "core.reading.those-named-without-a-delivery-may-not",
        "Being named in to counts for nothing without a delivery",
        *_may("m-1", KAI),
        *_may_not("m-1", NORA, DELL_1),
        given=given(
            workItems=_PLACES,
            store=stored(
                [row("m-1", LEE, [KAI, NORA, DELL], "between us")], [bound("d-1", "m-1", KAI, "read")]
            ),
        ),
        sections=["4.6", "9.3"],
    ),
    vector(
        "core.reading.a-session-reads-what-is-bound-to-it",
        "A session may read every message a delivery of which is bound to it, whoever the recipient is",
        *_may("m-1", AUX, FERN_1, DELL_1),
        *_may_not("m-1", COVE_2, "run:r-a0a0a1"),
        given=given(
            workItems=_PLACES,
            auxSessions=[AUX, "run:r-a0a0a1"],
            store=stored(
                [row("m-1", LEE, [DELL, "task:t-0f0f0f"], "between us")],
                [
                    bound("d-1", "m-1", DELL, "pushed", AUX),
                    bound("d-2", "m-1", "task:t-0f0f0f", "pushed", FERN_1),
                ],
            ),
        ),
        sections=["4.6", "9.3"],
    ),
    vector(
        "core.reading.any-state-will-do",
        "A recipient may read its message in whatever state its delivery is",
        *(
            step
            for state in ("held", "notified", "read", "answered")
            for step in _may(f"m-{state}", KAI, SCOUT)
        ),
        given=given(
            agents=[SCOUT_APPROVED],
            store=stored(
                [
                    row(f"m-{state}", LEE, [KAI, SCOUT], "well?", "question")
                    for state in ("held", "notified", "read", "answered")
                ],
                [
                    bound(f"d-{state}-{number}", f"m-{state}", to, state)
                    for state in ("held", "notified", "read", "answered")
                    for number, to in enumerate((KAI, SCOUT))
                ],
            ),
        ),
        sections=["9.3"],
    ),
    vector(
        "core.reading.claiming-mail-makes-a-reader",
        "A session that claimed an earlier session's mail may read it, and what it could not read before",
        ok(send(DECIDER, message(DELL_1, "just you", wake="request"))),
        *_may_not("$s1", FERN_1),
        world(startSession=live(DELL, DELL_2)),
        ok(session_starts(DELL_2, DELL)),
        *_may("$s1", DELL_1, DELL_2),
        given=given(
            workItems=[item(DELL, None, [DELL_1]), item(FERN, FERN_1)], rulings={DELL_1: "deny"}, owner=NORA
        ),
        sections=["6.4", "9.3"],
    ),
]
