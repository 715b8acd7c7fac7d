"""What never leaves its replica: for sends, replies and mail that is handed on, and for what comes in (section F.5)."""

from typing import Any, Final

from vectors.authoring.federation.teams import BOB, CY, DESK, Team, mid, target
from vectors.authoring.host_steps import SYSTEM, message, reply, send, who
from vectors.authoring.host_steps import refused as refusal
from vectors.authoring.kit import Expected, Json, vector

TASK: Final = "task:t-0ddba1"
HOST: Final = who(SYSTEM)
BEE: Final = who("human:bob")
GATE: Final[Json] = {"type": "zebra", "stripes": 9}
"""Gate data of a type that no registry has."""

QUIET: Final[Json] = {"mail": [], "forwards": [], "shared": []}
M1 = mid(1)


def done(step: Json) -> Expected:
    return step, {"ok": True}


def case(
    id: str,
    title: str,
    team: Team,
    *steps: Expected,
    profile: str = "core",
    sections: tuple[str, ...] = ("F.5",),
    **then: Any,
) -> Json:
    return vector(
        f"local-only.{id}", title, *steps, sections=sections, given=team.given, profile=profile, **then
    )


def gate(to: str = "human:bob") -> Json:
    """A gate that the host raises."""
    data = {"type": "wake", "target": TASK, "message": "m-parked"}
    return message(to, "May it?", "question", blocking=True, choices=["approve", "deny"], data=data)


def stays(id: str, title: str, *steps: Expected, field: str, profile: str = "core", **members: Any) -> Json:
    """A vector whose last step is a send to a teammate that fails, and after which nothing is published."""
    team = Team(BOB).begin()
    *before, (last, _) = steps
    return case(
        id,
        title,
        team,
        *before,
        refusal(last, "forbidden", field),
        team.sync(**QUIET),
        profile=profile,
        **{"noOtherMessages": True, **members},
    )


def gates() -> list[Json]:
    parked = {"id": "m-parked", "from": "human:lee", "to": [TASK], "kind": "message", "body": "Wait."}
    answered = Team(BOB).begin(store={"messages": [parked]})
    row = {
        "id": "m-kept",
        "from": SYSTEM,
        "to": ["human:bob"],
        "kind": "message",
        "body": "Kept.",
        "data": GATE,
    }
    told = {"id": "d-kept", "message": "m-kept", "recipient": "human:bob", "state": "notified"}
    unknown = Team(BOB).begin(store={"messages": [row], "deliveries": [told]})
    return [
        stays(
            "gate-data",
            "A gate is not raised to a teammate",
            done(send(HOST, gate("human:ada"))),
            field="data",
        ),
        case(
            "a-reply-to-gate-data-of-an-unknown-type",
            "Gate data is gate data whether or not the host knows its type",
            unknown,
            refusal(send(BEE, message("human:ada", "What is this?", replyTo="m-kept")), "forbidden", "data"),
            unknown.sync(**QUIET),
            noOtherMessages=True,
        ),
        stays(
            "gate-data-beside-someone-here",
            "A gate that also names someone here is refused whole",
            done(send(HOST, {**gate(), "to": ["human:bob", "human:ada"]})),
            field="data",
        ),
        stays(
            "a-reply-to-gate-data",
            "A message that replies to gate data does not leave",
            done(send(HOST, gate())),
            done(send(BEE, message("human:ada", "What is this?", replyTo="$s1"))),
            field="data",
        ),
        stays(
            "deep-in-the-thread-of-a-gate",
            "No message in the thread that a gate began leaves",
            done(send(HOST, gate())),
            done(send(BEE, message("human:bob", "Hm.", replyTo="$s1"))),
            done(send(BEE, message("human:ada", "What now?", replyTo="$s2"))),
            field="to[0]",
        ),
        case(
            "gates-are-answered-where-they-are-raised",
            "A gate raised and answered here is published nowhere",
            answered,
            done(send(HOST, gate())),
            done(reply(who("human:bob", decides=True), "$s1", "Go on.", choice="approve")),
            answered.sync(**QUIET, reported=[], settled=[]),
        ),
    ]


def markers() -> list[Json]:
    here = Team(BOB).begin()
    mail = Team(BOB).begin()
    mail.ada.mail(mail.bob, mail.ada.message(1, "human:bob"))
    return [
        *(
            stays(
                f"marked-{type.removeprefix('x-')}",
                f"A message whose data is the marker {type} does not leave",
                done(send(HOST, message("human:ada", "So it is.", data={"type": type}))),
                field="to[0]",
                profile=profile,
            )
            for type, profile in (
                ("x-closed", "core"),
                ("x-breaker", "core"),
                ("x-policy", "dispatch"),
                ("x-expired", "dispatch"),
            )
        ),
        stays(
            "the-recipient-at-fault",
            "The error names the caller's own entry for the recipient elsewhere",
            done(send(HOST, message(["human:bob", "human:ada"], "So it is.", data={"type": "x-closed"}))),
            field="to[1]",
            noDeliveries=[],
        ),
        case(
            "a-marker-that-stays",
            "A message that is local-only may be sent to someone here",
            here,
            done(send(HOST, message("human:bob", "So it is.", data={"type": "x-closed"}))),
            here.sync(**QUIET),
            deliveries=[{"message": "$s1", "recipient": "human:bob", "state": "notified"}],
            noRemote=["$s1"],
        ),
        case(
            "a-marked-reply",
            "A reply to a teammate's message does not leave with a marker",
            mail,
            mail.sync(),
            refusal(reply(HOST, M1, "So it is.", data={"type": "x-breaker"}), "forbidden", "to[0]"),
            mail.sync(mail=[]),
        ),
    ]


def participants() -> list[Json]:
    overseer = "agent:bob/overseer"
    partner = "agent:bob/a2a.partner"
    return [
        stays(
            "the-overseer-takes-part",
            "A message that names the overseer does not leave",
            done(send(BEE, message([overseer, "human:ada"], "Look."))),
            field="to[1]",
            profile="dispatch",
        ),
        stays(
            "a-peer-takes-part",
            "A message that names an A2A peer does not leave",
            done(send(BEE, message(["human:ada", partner], "Look."))),
            field="to[0]",
            profile="dispatch",
        ),
        stays(
            "a-thread-that-began-with-the-overseer",
            "A thread whose first message is local-only takes no teammate in",
            done(send(BEE, message(overseer, "Look."))),
            done(send(BEE, message("human:ada", "They said so.", replyTo="$s1"))),
            field="to[0]",
            profile="dispatch",
        ),
        stays(
            "late-in-a-thread-that-began-with-the-overseer",
            "However late, no message of a thread whose root is local-only leaves",
            done(send(BEE, message([overseer, "human:bob"], "Look."))),
            done(send(BEE, message("human:bob", "I see.", replyTo="$s1"))),
            done(send(BEE, message("human:ada", "They said so.", replyTo="$s2"))),
            field="to[0]",
            profile="dispatch",
        ),
    ]


def routes() -> list[Json]:
    members = Team(BOB)
    members.ada.channel("eng", "human:ada")
    members.ada.channel("eng", "human:bob")
    members.begin()
    raised = Team(BOB)
    raised.ada.channel("eng", "human:ada")
    raised.ada.channel("eng", "human:bob")
    raised.begin()
    two = Team(BOB, DESK, roles={BOB: {"hosts": ["dee"]}}).begin()
    machines = Team(BOB, DESK).begin()
    return [
        case(
            "a-channel-has-members-elsewhere",
            "What is local-only reaches the members of a channel who are here, and no others",
            members,
            done(send(HOST, message("channel:eng", "So it is.", data={"type": "x-closed"}))),
            members.sync(**QUIET),
            deliveries=[{"message": "$s1", "recipient": "human:bob", "via": "channel"}],
            noRemote=["$s1"],
        ),
        case(
            "a-gate-to-a-channel",
            "A gate reaches the members of a channel who are here, and no others",
            raised,
            done(send(HOST, gate("channel:eng"))),
            raised.sync(**QUIET),
            deliveries=[{"message": "$s1", "recipient": "human:bob", "via": "channel"}],
            noRemote=["$s1"],
        ),
        case(
            "another-machine-of-ones-own",
            "A machine of the same person is another replica, to which nothing that is local-only goes",
            two,
            refusal(
                send(who("human:dee"), message("human:bob", "So it is.", data={"type": "x-closed"})),
                "forbidden",
                "to[0]",
            ),
            two.sync(**QUIET),
            noOtherMessages=True,
        ),
        case(
            "what-the-system-tells-its-person",
            "A gate goes to its person at the machine that raised it, and not to their others",
            machines,
            done(send(HOST, gate())),
            machines.sync(**QUIET),
            deliveries=[{"message": "$s1", "recipient": "human:bob", "state": "notified"}],
            noRemote=["$s1"],
        ),
    ]


def handed_on() -> list[Json]:
    free = Team(BOB).begin()
    free.cy.runs("run:r-0dd001", TASK)
    marked = Team(BOB).begin()
    marked.cy.runs("run:r-0dd001", TASK)
    begun = Team(BOB).begin()
    begun.cy.runs("run:r-0dd001", TASK)
    gated = Team(BOB).begin()
    gated.cy.runs("run:r-0dd001", TASK)
    return [
        case(
            "held-mail-moves",
            "Mail held here for a work item goes to where its session begins",
            free,
            done(send(BEE, message(TASK, "Begin with row 7."))),
            (free.sync()[0], {"ok": True}),
            sections=("F.5", "F.4"),
            deliveries=[{"message": "$s1", "recipient": TASK, "state": "held"}],
            remote=[{"message": "$s1", "recipient": TASK, "homes": [CY], "state": "forwarded"}],
        ),
        case(
            "held-mail-that-is-marked",
            "Held mail that is local-only stays when its work item's session begins elsewhere",
            marked,
            done(send(HOST, message(TASK, "So it is.", data={"type": "x-closed"}))),
            marked.sync(**QUIET),
            deliveries=[{"message": "$s1", "recipient": TASK, "state": "held"}],
            noRemote=["$s1"],
        ),
        case(
            "held-mail-about-a-gate",
            "Held mail that replies to gate data stays",
            gated,
            done(send(HOST, gate())),
            done(send(BEE, message(TASK, "About that.", replyTo="$s1"))),
            gated.sync(**QUIET),
            noRemote=["$s1", "$s2"],
        ),
        case(
            "held-mail-of-a-thread-that-stays",
            "Held mail of a thread whose root is local-only stays",
            begun,
            done(send(HOST, message("human:bob", "So it is.", data={"type": "x-closed"}))),
            done(send(BEE, message("human:bob", "I see.", replyTo="$s1"))),
            done(send(BEE, message(TASK, "About that.", replyTo="$s2"))),
            begun.sync(**QUIET),
            noRemote=["$s1", "$s2", "$s3"],
        ),
    ]


def private() -> list[Json]:
    def leaves(id: str, title: str, **members: Any) -> Json:
        team = Team(BOB).begin()
        return case(
            id,
            title,
            team,
            done(send(BEE, message("human:ada", "Look.", **members))),
            (team.sync()[0], {"ok": True}),
            remote=[{"message": "$s1", "recipient": "human:ada", "state": "forwarded"}],
        )

    return [
        leaves(
            "private-data-leaves", "Private data is neither gate data nor a marker", data={"type": "x-mine"}
        ),
        leaves(
            "data-of-no-type-leaves",
            "Data that is no object with a type is no gate data",
            data=[GATE, "zebra"],
        ),
        leaves(
            "data-whose-type-is-no-text-leaves",
            "Data whose type is no text is no gate data",
            data={"type": 7},
        ),
    ]


def incoming() -> list[Json]:
    def comes(
        id: str,
        title: str,
        *before: Expected,
        refused: bool = True,
        targets: Any = None,
        profile: str = "core",
        **members: Any,
    ) -> Json:
        team = Team(BOB).begin()
        sent = team.ada.message(1, members.pop("to", "human:bob"), **members)
        team.ada.mail(team.bob, sent, None if targets is None else targets(team))
        told = [{"to": [team.ada.replica], "message": M1, "code": "forbidden"}] if refused else []
        stored: Json = {"noOtherMessages": True} if refused else {"messages": [{"id": M1}]}
        return case(id, title, team, *before, team.sync(refused=told), profile=profile, **stored)

    return [
        comes("gate-data-that-comes", "Gate data of any type is refused when it comes", data=GATE),
        comes(
            "a-registered-gate-that-comes",
            "A gate of a known type is refused when it comes",
            data={"type": "wake"},
        ),
        comes("a-marker-that-comes", "A marker is refused when it comes", data={"type": "x-breaker"}),
        comes(
            "a-profile-marker-that-comes",
            "A marker of the profile is refused when it comes",
            data={"type": "x-policy"},
            profile="dispatch",
        ),
        comes(
            "the-overseer-among-those-that-come",
            "A message that names the overseer is refused when it comes",
            to=["human:bob", "agent:bob/overseer"],
            targets=lambda team: [target("human:bob", team.bob)],
            profile="dispatch",
        ),
        comes(
            "a-peer-among-those-that-come",
            "A message that names an A2A peer is refused when it comes",
            to=["human:bob", "agent:ada/a2a.partner"],
            targets=lambda team: [target("human:bob", team.bob)],
            profile="dispatch",
        ),
        comes(
            "the-overseer-as-a-target",
            "A message one of whose targets is the overseer is refused when it comes",
            targets=lambda team: [target("human:bob", team.bob), target("agent:bob/overseer", team.bob)],
            profile="dispatch",
        ),
        comes("private-data-that-comes", "Private data comes in", refused=False, data={"type": "x-mine"}),
        *stored_before(),
    ]


def stored_before() -> list[Json]:
    row: Json = {
        "id": "m-kept",
        "from": "human:bob",
        "to": ["human:ada", "human:bob"],
        "kind": "message",
        "body": "Kept.",
        "hlc": "1790000000000.0000.bob-0000000b",
    }

    def answers(id: str, title: str, data: Json, **more: Any) -> Json:
        team = Team(BOB).begin(store={"messages": [{**row, "data": data}, *more.pop("rows", ())]})
        team.ada.mail(
            team.bob, team.ada.message(1, "human:bob", thread="m-kept", **{"replyTo": "m-kept", **more})
        )
        told = [{"to": [team.ada.replica], "message": M1, "code": "forbidden"}]
        return case(id, title, team, team.sync(refused=told), noOtherMessages=True)

    return [
        answers(
            "a-reply-to-gate-data-that-comes", "A reply to gate data that is stored here is refused", GATE
        ),
        answers(
            "a-reply-into-a-thread-that-stays",
            "A reply into a thread whose root here is local-only is refused",
            {"type": "x-closed"},
        ),
        answers(
            "a-reply-whose-root-alone-is-here",
            "Where the message replied to is not here, the root of its thread is judged",
            {"type": "x-closed"},
            replyTo="m-gone",
        ),
    ]


VECTORS = [
    *gates(),
    *markers(),
    *participants(),
    *routes(),
    *handed_on(),
    *private(),
    *incoming(),
]
