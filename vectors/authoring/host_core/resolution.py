"""From the recipients a sender wrote to one delivery each (sections 3.4 to 3.7)."""

from typing import Final

from vectors.authoring.cast import ended, item, live
from vectors.authoring.host_core.worlds import (
    AS_INES,
    AS_MEI,
    AS_PRUNE_1,
    AS_PRUNE_2,
    AS_TOMAS,
    AUX,
    INES,
    KILN,
    MEI,
    PICK,
    PICK_1,
    PICK_2,
    PRUNE,
    PRUNE_1,
    PRUNE_2,
    STRANGE,
    TOMAS,
    WEIGH,
    channel,
    orchard,
)
from vectors.authoring.host_steps import SYSTEM, delivery, message, ok, refused, send, vector, world
from vectors.authoring.kit import Json

WORK: Final = (item(PRUNE, PRUNE_1), item(PICK, PICK_1), item(WEIGH))


def _join(name: str, member: str) -> Json:
    return {"op": "join", "channel": name, "member": member}


def _leave(name: str, member: str) -> Json:
    return {"op": "leave", "channel": name, "member": member}


VECTORS: Final = [
    vector(
        "core.resolution.each-entry-is-a-direct-recipient",
        "A human, an agent, a work item with a live session or none, and a live session get a direct delivery each",
        ok(send(AS_MEI, message([TOMAS, KILN, PICK, WEIGH, AUX], "Rain at noon.")), downgraded=False),
        given=orchard(*WORK, auxSessions=[AUX]),
        sections=("3.4", "3.5", "6.1"),
        deliveries=[
            delivery("$s1", TOMAS, "notified", via="direct", session=None),
            delivery("$s1", KILN, "held", via="direct", session=None),
            delivery("$s1", PICK, "pushed", via="direct", session=PICK_1),
            delivery("$s1", WEIGH, "held", via="direct", session=None),
            delivery("$s1", AUX, "pushed", via="direct", session=AUX),
        ],
    ),
    vector(
        "core.resolution.a-channel-stands-for-its-members",
        "A channel gets no delivery; each of its members gets one, reached through the channel",
        ok(send(AS_MEI, message("channel:harvest", "Rain at noon."))),
        given=orchard(*WORK, channels=[channel("harvest", TOMAS, KILN, PICK, WEIGH)]),
        sections=("3.4", "3.5", "7.2"),
        messages=[{"id": "$s1", "to": ["channel:harvest"]}],
        deliveries=[
            delivery("$s1", TOMAS, "notified", via="channel"),
            delivery("$s1", KILN, "held", via="channel"),
            delivery("$s1", PICK, "notified", via="channel", session=PICK_1),
            delivery("$s1", WEIGH, "held", via="channel"),
        ],
    ),
    vector(
        "core.resolution.members-are-those-at-send-time",
        "Who joins later gets no earlier message, and who has left gets no later one",
        ok(send(AS_MEI, message("channel:harvest/plums", "Rain at noon."))),
        ok(_join("harvest/plums", INES)),
        ok(_leave("harvest/plums", TOMAS), removed=True),
        ok(send(AS_MEI, message("channel:harvest/plums", "Sun at two."))),
        given=orchard(channels=[channel("harvest/plums", TOMAS)]),
        sections=("3.5", "7.2"),
        deliveries=[
            delivery("$s1", TOMAS, "notified", via="channel"),
            delivery("$s4", INES, "notified", via="channel"),
        ],
    ),
    vector(
        "core.resolution.the-sender-is-no-recipient",
        "A human who writes to themselves, by name and through a channel, gets no delivery",
        ok(send(AS_MEI, message([MEI, "channel:harvest", TOMAS], "Rain at noon."))),
        given=orchard(channels=[channel("harvest", MEI, INES)]),
        sections=("3.5",),
        messages=[{"id": "$s1", "to": [MEI, "channel:harvest", TOMAS]}],
        deliveries=[delivery("$s1", TOMAS, "notified"), delivery("$s1", INES, "notified")],
    ),
    vector(
        "core.resolution.a-sessions-own-work-item-is-no-recipient",
        "A session gets no delivery from itself, neither for its own address nor for its work item",
        ok(send(AS_PRUNE_1, message([PRUNE_1, PRUNE, "channel:harvest", PICK], "Rain at noon."))),
        given=orchard(*WORK, channels=[channel("harvest", PRUNE, TOMAS)]),
        sections=("3.5",),
        deliveries=[
            delivery("$s1", PICK, "pushed", session=PICK_1),
            delivery("$s1", TOMAS, "notified"),
        ],
    ),
    vector(
        "core.resolution.the-system-is-no-recipient",
        "The system address gets no delivery, by name or through a channel",
        ok(send(AS_MEI, message([SYSTEM, TOMAS, "channel:harvest"], "Rain at noon."))),
        given=orchard(channels=[channel("harvest", SYSTEM, INES)]),
        sections=("3.5", "2.3"),
        deliveries=[delivery("$s1", TOMAS, "notified"), delivery("$s1", INES, "notified")],
    ),
    vector(
        "core.resolution.a-message-to-nobody-is-stored",
        "A message whose every recipient is dropped is stored and published, without a delivery",
        ok(send(AS_PRUNE_1, message([PRUNE, SYSTEM, PRUNE_1], "Note to self."))),
        ok({"op": "thread", "thread": "$s1"}, messages=["$s1"]),
        given=orchard(*WORK),
        sections=("3.5",),
        messages=[{"id": "$s1", "body": "Note to self."}],
        noDeliveries=["$s1"],
        calls=[{"hook": "published", "message": "$s1"}],
    ),
    vector(
        "core.resolution.a-repeated-recipient-gets-one-delivery",
        "A recipient written three times gets one delivery, and stays three times in to",
        ok(send(AS_MEI, message([TOMAS, PICK, TOMAS, TOMAS], "Rain at noon."))),
        given=orchard(*WORK),
        sections=("3.5", "3.7", "4.1"),
        messages=[{"id": "$s1", "to": [TOMAS, PICK, TOMAS, TOMAS]}],
        deliveries=[
            delivery("$s1", TOMAS, "notified", via="direct"),
            delivery("$s1", PICK, "pushed", via="direct"),
        ],
        callsInclude=[{"hook": "notifyHuman", "actor": TOMAS, "message": "$s1"}],
    ),
    vector(
        "core.resolution.direct-wins-whichever-comes-first",
        "A recipient named before or after a channel it belongs to is reached directly, and pushed",
        ok(send(AS_MEI, message(["channel:harvest", PICK], "Rain at noon."))),
        ok(send(AS_MEI, message([PICK, "channel:harvest"], "Sun at two."))),
        given=orchard(*WORK, channels=[channel("harvest", PICK)]),
        sections=("3.5", "3.7"),
        deliveries=[
            delivery("$s1", PICK, "pushed", via="direct", session=PICK_1),
            delivery("$s2", PICK, "pushed", via="direct", session=PICK_1),
        ],
    ),
    vector(
        "core.resolution.two-channels-make-one-delivery",
        "A member of two channels gets one delivery, through the channel, and is told once",
        ok(send(AS_MEI, message(["channel:harvest", "channel:weather"], "Rain at noon."))),
        given=orchard(*WORK, channels=[channel("harvest", PICK), channel("weather", PICK)]),
        sections=("3.5", "3.7"),
        deliveries=[delivery("$s1", PICK, "notified", via="channel", session=PICK_1)],
        calls=[
            {"hook": "published", "message": "$s1"},
            {"hook": "notify", "session": PICK_1, "message": "$s1"},
        ],
    ),
    vector(
        "core.resolution.a-work-item-and-its-session-are-two-recipients",
        "A work item and its live session, both named, get a delivery each, since addresses compare as strings",
        ok(send(AS_MEI, message([PICK, PICK_1], "Rain at noon."))),
        given=orchard(*WORK),
        sections=("3.5", "3.7"),
        deliveries=[
            delivery("$s1", PICK, "pushed", via="direct", session=PICK_1),
            delivery("$s1", PICK_1, "pushed", via="direct", session=PICK_1),
        ],
    ),
    vector(
        "core.resolution.an-unknown-channel-is-named-by-its-first-slot",
        "A channel nobody ever joined is not found, on the first place the sender wrote it",
        refused(send(AS_MEI, message("channel:cellar", "Rain at noon.")), "not-found", "to[0]"),
        refused(
            send(AS_MEI, message([TOMAS, TOMAS, "channel:harvest", "channel:cellar"], "Rain at noon.")),
            "not-found",
            "to[3]",
        ),
        refused(
            send(AS_MEI, message([TOMAS, "channel:cellar", INES, "channel:cellar"], "Rain at noon.")),
            "not-found",
            "to[1]",
        ),
        refused(send(AS_MEI, message([MEI, "channel:harvest/plums"], "Rain at noon.")), "not-found", "to[1]"),
        given=orchard(channels=[channel("harvest", TOMAS)]),
        sections=("3.5", "10.2"),
        noOtherMessages=True,
    ),
    vector(
        "core.resolution.an-unknown-channel-keeps-its-slot-after-rewriting",
        "Entries that a reply rewrites and collapses do not move the place an unknown channel is named by",
        ok(send(AS_PRUNE_1, message([PICK_1, TOMAS], "Which row?"))),
        world(endSession=ended(PRUNE)),
        world(endSession=ended(PICK)),
        refused(
            send(
                AS_TOMAS,
                message([PRUNE_1, PRUNE, PICK, PICK_1, "channel:cellar"], "The north one.", replyTo="$s1"),
            ),
            "not-found",
            "to[4]",
        ),
        given=orchard(*WORK),
        sections=("3.5", "4.6", "10.2"),
        messages=[{"id": "$s1"}],
        noOtherMessages=True,
    ),
    vector(
        "core.resolution.an-ended-session-is-named-by-its-first-slot",
        "A session that is not live is refused on the first place it stands, behind repeated entries too",
        refused(send(AS_MEI, message([TOMAS, TOMAS, PRUNE_2, PRUNE_2], "Rain at noon.")), "invalid", "to[2]"),
        refused(send(AS_MEI, message([STRANGE, TOMAS], "Rain at noon.")), "invalid", "to[0]"),
        given=orchard(item(PRUNE, PRUNE_1, [PRUNE_2])),
        sections=("3.5", "6.1", "10.2"),
        noOtherMessages=True,
    ),
    vector(
        "core.resolution.a-channel-everyone-left-is-still-known",
        "A channel exists from its first join: a message to one that is empty again is stored for nobody",
        ok(_join("cellar", TOMAS)),
        ok(_leave("cellar", TOMAS), removed=True),
        ok(send(AS_MEI, message("channel:cellar", "Rain at noon."))),
        given=orchard(),
        sections=("3.5", "7.2"),
        messages=[{"id": "$s3"}],
        noDeliveries=["$s3"],
    ),
    vector(
        "core.resolution.a-refused-join-makes-no-channel",
        "A join that is refused leaves its channel unknown",
        refused(_join("cellar", PICK_1), "invalid", "member"),
        refused(_join("cellar", "channel:harvest"), "invalid", "member"),
        refused(send(AS_MEI, message("channel:cellar", "Rain at noon.")), "not-found", "to[0]"),
        given=orchard(*WORK, channels=[channel("harvest", TOMAS)]),
        sections=("3.5", "7.3"),
        channels=[channel("harvest", TOMAS)],
        noOtherMessages=True,
    ),
    vector(
        "core.resolution.a-join-names-a-channel-and-an-address",
        "A join is refused on channel for a name that is none, and on member for a member that is no address",
        *(
            refused(_join(name, TOMAS), "invalid", "channel")
            for name in ("", "Harvest", "harvest/", "harvest//plums", "har vest", "harvest@west", "p" * 65)
        ),
        *(
            refused(_join("harvest", member), "invalid", "member")
            for member in ("", "tomas", "human:", "human:Tomas", "human:tomas@west", f"human:{'t' * 65}")
        ),
        ok(_join("harvest/0.late", TOMAS)),
        given=orchard(),
        sections=("3.1", "3.2", "3.3", "10.2"),
        channels=[channel("harvest/0.late", TOMAS)],
    ),
    vector(
        "core.resolution.a-channel-within-a-channel-is-skipped",
        "A stored member that is a channel reaches nobody, not even that channel's members",
        ok(send(AS_MEI, message("channel:harvest", "Rain at noon."))),
        given=orchard(channels=[channel("harvest", "channel:weather", TOMAS), channel("weather", INES)]),
        sections=("3.5", "7.3"),
        deliveries=[delivery("$s1", TOMAS, "notified", via="channel")],
    ),
    vector(
        "core.resolution.implicit-members-join-the-explicit-ones",
        "Members a host computes get the message as stored ones do, and those that are both get it once",
        ok(send(AS_MEI, message("channel:harvest", "Rain at noon."))),
        given=orchard(
            *WORK, channels=[channel("harvest", TOMAS, PICK)], implicit={"harvest": [PICK, WEIGH, MEI]}
        ),
        level="MAY",
        capability="implicit-members",
        sections=("3.5", "3.6"),
        deliveries=[
            delivery("$s1", TOMAS, "notified", via="channel"),
            delivery("$s1", PICK, "notified", via="channel", session=PICK_1),
            delivery("$s1", WEIGH, "held", via="channel"),
        ],
        channels=[channel("harvest", TOMAS, PICK)],
    ),
    vector(
        "core.resolution.implicit-members-make-a-channel-known",
        "A channel nobody joined is known while it has implicit members, who cannot leave it",
        ok(send(AS_MEI, message("channel:harvest", "Rain at noon."))),
        ok(_leave("harvest", PICK), removed=False),
        ok(send(AS_INES, message([TOMAS, "channel:harvest"], "Sun at two."))),
        given=orchard(*WORK, implicit={"harvest": [PICK]}),
        level="MAY",
        capability="implicit-members",
        sections=("3.5", "3.6", "7.3"),
        deliveries=[
            delivery("$s1", PICK, "notified", via="channel"),
            delivery("$s3", PICK, "notified", via="channel"),
            delivery("$s3", TOMAS, "notified", via="direct"),
        ],
    ),
    vector(
        "core.resolution.implicit-members-are-computed-at-each-send",
        "An implicit session that is live is notified, and one that is not gets nothing, without an error",
        ok(send(AS_PRUNE_1, message("channel:harvest", "Rain at noon."))),
        given=orchard(*WORK, implicit={"harvest": [PRUNE_1, PICK_1, PICK_2, STRANGE]}),
        level="MAY",
        capability="implicit-members",
        sections=("3.6", "6.1"),
        deliveries=[delivery("$s1", PICK_1, "notified", via="channel", session=PICK_1)],
    ),
    vector(
        "core.resolution.a-successor-is-no-stranger-to-its-work-item",
        "A later session that writes to its own work item and to the session before it reaches neither",
        ok(send(AS_PRUNE_1, message(TOMAS, "Which row?"))),
        world(endSession=ended(PRUNE)),
        world(startSession=live(PRUNE, PRUNE_2)),
        ok(send(AS_PRUNE_2, message([PRUNE_1, TOMAS], "I go on from here.", replyTo="$s1"))),
        given=orchard(*WORK),
        sections=("3.5", "4.6"),
        messages=[{"id": "$s1"}, {"id": "$s4", "to": [PRUNE, TOMAS]}],
        deliveries=[delivery("$s4", TOMAS, "notified")],
    ),
]
