"""Channels: who joins, leaves and is reached (sections 7.2, 7.3), and members that are computed (3.6)."""

from typing import Any, Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE,
    COVE_1,
    DECIDER,
    DELL,
    FERN,
    KAI,
    LEE,
    NORA,
    SCOUT,
    given,
    inbox,
    item,
    join,
    leave,
    notified,
    published,
    told,
)
from vectors.authoring.host_steps import delivery, message, ok, refused, send, vector, who
from vectors.authoring.kit import Json

_TO_CREW: Final = message("channel:crew", "all hands")


def _computed(id: str, title: str, *steps: Any, profile: str = "core", **more: Any) -> Json:
    """A vector that needs computed members."""
    return vector(
        f"core.membership.{id}",
        title,
        *steps,
        level="MAY",
        profile=profile,
        capability="implicit-members",
        **more,
    )


VECTORS: Final = [
    vector(
        "core.membership.work-items-humans-and-agents-join",
        "Work items, humans and agents join a channel, which exists from the first join on",
        refused(send(DECIDER, _TO_CREW), "not-found", "to[0]"),
        ok(join("crew", COVE)),
        ok(join("crew", LEE)),
        ok(join("crew", SCOUT)),
        ok(join("crew", "agent:scout")),
        ok(send(DECIDER, _TO_CREW)),
        given=given(workItems=[item(COVE, COVE_1)]),
        deliveries=[
            delivery("$s6", COVE, "notified", via="channel"),
            delivery("$s6", LEE, "notified", via="channel"),
            delivery("$s6", SCOUT, "held", via="channel"),
            delivery("$s6", "agent:scout", "held", via="channel"),
        ],
        channels=[{"name": "crew", "members": [COVE, LEE, SCOUT, "agent:scout"]}],
        sections=["7.2", "7.3"],
    ),
    vector(
        "core.membership.sessions-and-channels-do-not",
        "A session, live or not, and a channel are refused on member, and neither creates the channel",
        *(
            refused(join("crew", member), "invalid", "member")
            for member in (COVE_1, AUX, "run:r-9a9a9a", "channel:night", "channel:crew", "channel:crew/night")
        ),
        refused(send(DECIDER, _TO_CREW), "not-found", "to[0]"),
        given=given(workItems=[item(COVE, COVE_1)], auxSessions=[AUX]),
        channels=[],
        sections=["7.3"],
    ),
    vector(
        "core.membership.a-refused-join-leaves-the-channel-alone",
        "A refused join changes nothing of a channel that exists",
        ok(join("crew", LEE)),
        refused(join("crew", COVE_1), "invalid", "member"),
        refused(join("crew", "nobody"), "invalid", "member"),
        refused(join("crew", "human:No One"), "invalid", "member"),
        given=given(workItems=[item(COVE, COVE_1)]),
        channels=[{"name": "crew", "members": [LEE]}],
        sections=["7.3", "10.2"],
    ),
    vector(
        "core.membership.joining-twice-is-joining-once",
        "A member that joins again is one member still, is reached once, and leaves once",
        ok(join("crew", KAI)),
        ok(join("crew", KAI)),
        ok(send(BYSTANDER, _TO_CREW)),
        ok(leave("crew", KAI), removed=True),
        ok(leave("crew", KAI), removed=False),
        ok(send(BYSTANDER, _TO_CREW)),
        given=given(),
        deliveries=[delivery("$s3", KAI, "notified", via="channel")],
        noDeliveries=["$s6"],
        calls=[published("$s3"), told(KAI, "$s3"), published("$s6")],
        sections=["7.2", "7.3"],
    ),
    vector(
        "core.membership.leaving-says-whether-anyone-left",
        "Leaving a channel one is not in, or one that does not exist, removes nobody and says so",
        ok(leave("crew", LEE), removed=False),
        ok(leave("night", KAI), removed=False),
        ok(leave("crew", KAI), removed=True),
        given=given(channels=[{"name": "crew", "members": [KAI, COVE]}]),
        channels=[{"name": "crew", "members": [COVE]}],
        sections=["7.3"],
    ),
    vector(
        "core.membership.a-channel-everyone-left-is-still-known",
        "A channel whose last member has left was joined once: mail to it is accepted and reaches nobody",
        ok(join("crew", KAI)),
        ok(leave("crew", KAI), removed=True),
        ok(send(BYSTANDER, _TO_CREW)),
        refused(send(BYSTANDER, message("channel:night", "all hands")), "not-found", "to[0]"),
        given=given(),
        messages=[{"id": "$s3", "to": ["channel:crew"]}],
        noDeliveries=["$s3"],
        calls=[published("$s3")],
        sections=["3.5", "7.2"],
    ),
    vector(
        "core.membership.is-as-it-is-at-the-send",
        "A member that joins later does not get earlier mail, and one that left does not lose it",
        ok(join("crew", KAI)),
        ok(send(BYSTANDER, _TO_CREW)),
        ok(join("crew", NORA)),
        ok(leave("crew", KAI), removed=True),
        ok(send(BYSTANDER, _TO_CREW)),
        ok(inbox(KAI), messages=["$s2"]),
        ok(inbox(NORA), messages=["$s5"]),
        given=given(),
        deliveries=[
            delivery("$s2", KAI, "notified", via="channel"),
            delivery("$s5", NORA, "notified", via="channel"),
        ],
        sections=["7.2", "7.3"],
    ),
    vector(
        "core.membership.names-are-whole",
        "A channel's name is all of its segments: crew and crew/night share no members",
        ok(join("crew/night", KAI)),
        ok(join("crew", COVE)),
        ok(send(BYSTANDER, message("channel:crew/night", "all hands"))),
        refused(send(BYSTANDER, message("channel:night", "all hands")), "not-found", "to[0]"),
        given=given(workItems=[item(COVE)]),
        deliveries=[delivery("$s3", KAI, "notified", via="channel")],
        channels=[{"name": "crew", "members": [COVE]}, {"name": "crew/night", "members": [KAI]}],
        sections=["7.2"],
    ),
    vector(
        "core.membership.a-name-is-made-of-identifiers",
        "A channel whose name is not one or more identifiers joined by slashes cannot be joined, and is not created",
        *(
            refused(join(name, KAI), "invalid")
            for name in (
                "",
                "Crew",
                "/crew",
                "crew/",
                "crew//night",
                "crew night",
                "@crew",
                "crew/-",
                "c" * 65,
            )
        ),
        ok(join("crew/9-night_shift.b/" + "c" * 64, KAI)),
        given=given(),
        channels=[{"name": "crew/9-night_shift.b/" + "c" * 64, "members": [KAI]}],
        sections=["3.1", "7.2"],
    ),
    vector(
        "core.membership.a-stored-channel-member-is-no-way-through",
        "A channel stored as a member of another is skipped: its members are not reached, and nothing is unknown",
        ok(send(BYSTANDER, _TO_CREW)),
        given=given(
            channels=[
                {"name": "crew", "members": ["channel:night", KAI, "channel:nobody-joined"]},
                {"name": "night", "members": [NORA]},
            ]
        ),
        deliveries=[delivery("$s1", KAI, "notified", via="channel")],
        calls=[published("$s1"), told(KAI, "$s1")],
        sections=["3.5", "7.3"],
    ),
    vector(
        "core.membership.a-sender-need-not-be-a-member",
        "A session that is no member sends to a channel, and one whose work item is gets no delivery of its own",
        ok(send(who(COVE_1), message("channel:crew", "all hands"))),
        ok(send(who(COVE_1), message("channel:night", "all hands"))),
        given=given(
            workItems=[item(COVE, COVE_1)],
            channels=[{"name": "crew", "members": [KAI]}, {"name": "night", "members": [COVE, NORA]}],
        ),
        deliveries=[
            delivery("$s1", KAI, "notified", via="channel"),
            delivery("$s2", NORA, "notified", via="channel"),
        ],
        sections=["3.5", "7.2"],
    ),
    _computed(
        "computed-members-make-a-channel-known",
        "A channel nobody joined is known when it has computed members, who are reached and not stored",
        ok(send(BYSTANDER, _TO_CREW)),
        refused(send(BYSTANDER, message("channel:night", "all hands")), "not-found", "to[0]"),
        given=given(workItems=[item(COVE, COVE_1)], implicit={"crew": [COVE]}),
        deliveries=[delivery("$s1", COVE, "notified", via="channel", session=COVE_1)],
        calls=[published("$s1"), notified(COVE_1, "$s1")],
        channels=[],
        sections=["3.5", "3.6", "7.2"],
    ),
    _computed(
        "computed-and-explicit-members-are-one-list",
        "Computed members are reached beside explicit ones, and one that is both is reached once",
        ok(join("crew", COVE)),
        ok(join("crew", LEE)),
        ok(send(DECIDER, _TO_CREW)),
        given=given(workItems=[item(COVE, COVE_1), item(DELL)], implicit={"crew": [DELL, COVE]}),
        deliveries=[
            delivery("$s3", COVE, "notified", via="channel"),
            delivery("$s3", DELL, "held", via="channel"),
            delivery("$s3", LEE, "notified", via="channel"),
        ],
        channels=[{"name": "crew", "members": [COVE, LEE]}],
        sections=["3.6", "3.7"],
    ),
    _computed(
        "computed-members-cannot-leave",
        "Leaving removes a member's explicit place alone: a computed member is still reached",
        ok(leave("crew", COVE), removed=False),
        ok(join("crew", COVE)),
        ok(leave("crew", COVE), removed=True),
        ok(send(BYSTANDER, _TO_CREW)),
        given=given(workItems=[item(COVE, COVE_1)], implicit={"crew": [COVE]}),
        deliveries=[delivery("$s4", COVE, "notified", via="channel")],
        sections=["3.6", "7.3"],
    ),
    _computed(
        "the-profiles-epics-are-channels",
        "In the profile an epic's channel reaches the work items under it, and a digest names it",
        ok(send(BYSTANDER, message("channel:epic/e-f00d00", "all hands", "notice"))),
        ok({"op": "render", "message": "$s1", "form": "digest"}),
        refused(send(BYSTANDER, message("channel:epic/e-f00d01", "all hands")), "not-found", "to[0]"),
        given={
            "workItems": [item(COVE, COVE_1), item(FERN)],
            "implicit": {"epic/e-f00d00": [COVE, FERN]},
        },
        profile="dispatch",
        deliveries=[
            delivery("$s1", COVE, "notified", via="channel", session=COVE_1),
            delivery("$s1", FERN, "held", via="channel"),
        ],
        render=[{"step": 2, "text": "📬 #epic/e-f00d00 · notice from human:lee: all hands ($s1)"}],
        sections=["3.6", "C.6"],
    ),
]
