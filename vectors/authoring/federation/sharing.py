"""Shared state in the clear: work items, agents, channels and sessions, merged the same whatever came first (F.1)."""

from collections.abc import Sequence
from typing import Any, Final

from vectors.authoring.federation.author import START_MS, line, op_hash, stub
from vectors.authoring.federation.teams import ADA, BOB, CY, OBI, Team, Teammate, mid, sync
from vectors.authoring.kit import Expected, Json, ok, vector

TASK: Final = "task:t-0ddba1"
RUN: Final = "run:r-0dd001"
KILN: Final = "agent:cy/kiln"


def case(id: str, title: str, team: Team, *steps: Expected, **then: Any) -> Json:
    return vector(f"shared.{id}", title, *steps, sections=("F.1",), given=team.given, **then)


def is_now(exists: bool = True, **fields: Any) -> Expected:
    """The work item has at least these fields."""
    result: Json = {"exists": exists, "fields": fields} if exists else {"exists": False}
    return ok({"op": "workItem", "id": TASK.removeprefix("task:")}, **result)


def made() -> Team:
    team = Team(BOB)
    team.ada.task(TASK, title="Row 7", status="ready", assignee="human:ada")
    return team


def hlc(ms: int, mate: Teammate, counter: int = 0) -> str:
    return f"{START_MS + ms}.{counter:04d}.{mate.replica}"


def backwards(team: Team, *steps: Expected) -> Sequence[Expected]:
    """The same news, of each replica by itself and the last replica's first."""
    news = team.news()
    return [*(sync({name: news[name]}) for name in reversed(news)), *steps]


def merged() -> list[Json]:
    found = []
    for order in ("together", "one-by-one"):
        apart = made().begin()
        apart.ada.task(TASK, title="Row 8")
        apart.cy.task(TASK, status="working")
        same = made().begin()
        same.ada.publish(
            "task",
            body={"task": "t-0ddba1", "kind": "put", "fields": {"title": "Row 8"}},
            hlc=hlc(5_000, same.ada),
        )
        same.cy.publish(
            "task",
            body={"task": "t-0ddba1", "kind": "put", "fields": {"title": "Row 9"}},
            hlc=hlc(4_000, same.cy),
        )
        for id, title, team, result in (
            (
                "different-fields",
                "Of two who edit different fields of a work item both keep their edit",
                apart,
                is_now(title="Row 8", status="working", assignee="human:ada"),
            ),
            (
                "one-field",
                "Of two who edit one field the later clock wins",
                same,
                is_now(title="Row 8"),
            ),
        ):
            steps = (team.sync(), result) if order == "together" else tuple(backwards(team, result))
            found.append(
                case(f"{id}-{order}", f"{title}, when they come {order.replace('-', ' ')}", team, *steps)
            )
    return found


def compared() -> list[Json]:
    def edits(team: Team, *each: tuple[Teammate, str, str]) -> Team:
        for mate, title, at in each:
            mate.publish("task", body={"task": "t-0ddba1", "kind": "put", "fields": {"title": title}}, hlc=at)
        return team

    counted = made().begin()
    edits(
        counted,
        (counted.cy, "Ten thousand", f"{START_MS + 5_000}.10000.{CY}"),
        (counted.ada, "Nine thousand", f"{START_MS + 5_000}.9999.{ADA}"),
    )
    equal = made().begin()
    edits(
        equal,
        (equal.cy, "Cy's", hlc(5_000, equal.cy)),
        (equal.ada, "Ada's", hlc(5_000, equal.ada)),
    )
    return [
        case(
            "clocks-compare-as-numbers",
            "Counters of clocks are compared as numbers, however many digits they have",
            counted,
            *backwards(counted, is_now(title="Ten thousand")),
        ),
        case(
            "one-clock-reading",
            "Of two edits at one reading that of the greater replica id wins",
            equal,
            *backwards(equal, is_now(title="Cy's")),
        ),
    ]


def removed() -> list[Json]:
    gone = made().begin()
    gone.cy.publish("task", body={"task": "t-0ddba1", "kind": "remove"})
    first = gone.sync()
    gone.ada.task(TASK, status="working")
    earlier = made().begin()
    earlier.cy.publish("task", body={"task": "t-0ddba1", "kind": "remove"}, hlc=hlc(4_000, earlier.cy))
    earlier.ada.publish(
        "task",
        body={"task": "t-0ddba1", "kind": "put", "fields": {"status": "working"}},
        hlc=hlc(5_000, earlier.ada),
    )
    lines = made().begin()
    for mate, text, at in ((lines.cy, "Second.", 6_000), (lines.ada, "First.", 5_000)):
        mate.publish(
            "task",
            body={"task": "t-0ddba1", "kind": "put", "fields": {}, "activity": [text]},
            hlc=hlc(at, mate),
        )
    return [
        case(
            "a-removal",
            "A work item that was removed is gone, and comes back as it was with the next edit",
            gone,
            first,
            is_now(exists=False),
            gone.sync(),
            is_now(title="Row 7", status="working"),
        ),
        case(
            "an-edit-after-a-removal-that-comes-late",
            "A removal that comes after a later edit removes nothing",
            earlier,
            *backwards(earlier, is_now(title="Row 7", status="working")),
        ),
        case(
            "activity",
            "Lines of activity are all kept, in the order of their clocks",
            lines,
            *backwards(lines),
            ok({"op": "workItem", "id": "t-0ddba1"}, activity=["First.", "Second."]),
        ),
    ]


def counting() -> list[Json]:
    observer = Team(BOB, OBI, roles={OBI: {"observer": True}})
    observer.ada.task(TASK, title="Row 7")
    observer.begin()
    observer.mates[OBI].task(TASK, title="Mine")
    cut = made().begin()
    cut.cy.task(TASK, title="Row 8")
    last = cut.cy.entries[-1]
    cut.cy.task(TASK, title="Mine")
    known = cut.sync()
    cut.ada.says("revoke", replica=CY, afterSeq=last["seq"], afterHash=op_hash(last), reason="left")
    malformed = made().begin()
    malformed.cy.publish("task", body={"task": "T 1", "kind": "put", "fields": {"title": "x"}})
    malformed.cy.publish("task", body={"task": "t-0ddba1", "kind": "put", "fields": ["title"]})
    malformed.cy.task(TASK, title="Row 8")
    unknown = made().begin()
    unknown.cy.task(TASK, moons=2)
    return [
        case(
            "an-observers-edit",
            "An observer's edit counts for nothing",
            observer,
            observer.sync(left=[]),
            is_now(title="Row 7"),
        ),
        case(
            "a-cut-takes-back",
            "A revocation takes back what its target published after the cut, and nothing else",
            cut,
            known,
            is_now(title="Mine"),
            cut.sync(),
            is_now(title="Row 8"),
        ),
        case(
            "a-malformed-body",
            "An op whose body is malformed changes nothing, and stops nothing",
            malformed,
            malformed.sync(left=[]),
            is_now(title="Row 8"),
        ),
        case(
            "a-field-nobody-knows",
            "A field that is not known is kept",
            unknown,
            unknown.sync(),
            is_now(title="Row 7", moons=2),
        ),
    ]


def agents() -> list[Json]:
    def at(replica: str | None, status: str | None, **more: Any) -> Expected:
        return ok({"op": "agent", "address": KILN}, replica=replica, status=status, **more)

    known = Team(BOB).begin()
    known.cy.agent(KILN, "pending", displayName="The kiln", client="loom 2")
    first = known.sync()
    known.cy.agent(KILN)
    stolen = Team(BOB)
    stolen.cy.agent(KILN)
    stolen.begin()
    stolen.ada.agent(KILN, "revoked")
    revoked = Team(BOB)
    revoked.cy.agent(KILN)
    revoked.begin()
    revoked.ada.revokes(revoked.cy)
    return [
        case(
            "an-agents-registration",
            "An agent is what the replica that registered it said last",
            known,
            first,
            at(CY, "pending", displayName="The kiln", client="loom 2"),
            known.sync(),
            at(CY, "approved", displayName="An agent"),
        ),
        case(
            "anothers-word-on-an-agent",
            "What a replica says of another person's agent counts for nothing",
            stolen,
            stolen.sync(),
            at(CY, "approved"),
        ),
        case(
            "an-agent-of-a-revoked-replica",
            "Agents that a revoked replica registered are revoked with it",
            revoked,
            revoked.sync(),
            at(CY, "revoked"),
        ),
    ]


def channels() -> list[Json]:
    joined = Team(BOB).begin()
    joined.ada.channel("eng", "human:bob")
    joined.cy.channel("eng", "human:cy")
    left = Team(BOB)
    left.ada.channel("eng", "human:bob")
    left.ada.channel("eng", "human:cy")
    left.begin()
    left.cy.channel("eng", "human:cy", joined=False)
    later = Team(BOB).begin()
    later.ada.publish(
        "channel", body={"channel": "eng", "member": "human:cy", "joined": True}, hlc=hlc(5_000, later.ada)
    )
    later.cy.publish(
        "channel", body={"channel": "eng", "member": "human:cy", "joined": False}, hlc=hlc(4_000, later.cy)
    )
    never = Team(BOB).begin()
    for member in (RUN, "agent:ada/overseer", "channel:ops", "human:ada"):
        never.ada.channel("eng", member)
    mine = Team(BOB).begin()
    join: Json = {"op": "join", "channel": "eng", "member": "human:bob"}
    said = {"type": "channel", "body": {"channel": "eng", "member": "human:bob", "joined": True}}
    return [
        case(
            "memberships",
            "Each membership of a channel is a change of its own",
            joined,
            joined.sync(),
            channels=[{"name": "eng", "members": ["human:bob", "human:cy"]}],
        ),
        case(
            "a-member-who-left",
            "A membership ends by a change of its own, and the others stay",
            left,
            left.sync(),
            channels=[{"name": "eng", "members": ["human:bob"]}],
        ),
        case(
            "a-membership-changed-twice",
            "Of two changes of one membership the later clock wins",
            later,
            *backwards(later),
            channels=[{"name": "eng", "members": ["human:cy"]}],
        ),
        case(
            "who-is-no-member",
            "Sessions, the overseer and channels are members of no channel",
            never,
            never.sync(left=[]),
            channels=[{"name": "eng", "members": ["human:ada"]}],
        ),
        case(
            "a-membership-made-here",
            "A membership made here is published with the next pass, once",
            mine,
            (join, {"ok": True}),
            mine.sync(shared=[said]),
            mine.sync(shared=[]),
            channels=[{"name": "eng", "members": ["human:bob"]}],
        ),
    ]


def sessions() -> list[Json]:
    def at(replica: str | None, live: bool = True, contested: bool = False) -> Expected:
        return ok(
            {"op": "session", "address": RUN},
            replica=replica,
            contested=contested,
            workItem=None if replica is None else TASK,
            live=live and replica is not None,
        )

    one = Team(BOB).begin()
    one.cy.runs(RUN, TASK)
    first = one.sync()
    one.cy.runs(RUN, TASK, live=False)
    two = Team(BOB).begin()
    two.cy.runs(RUN, TASK)
    before = two.sync()
    two.ada.runs(RUN, TASK)
    rival = two.sync()
    two.ada.presence(kind="resolve", run="r-0dd001", replica=ADA)
    member = Team(BOB)
    member.cy.runs(RUN, TASK)
    member.ada.runs(RUN, TASK)
    member.begin()
    member.cy.presence(kind="resolve", run="r-0dd001", replica=CY)
    late = Team(BOB).begin()
    late.cy.runs(RUN, TASK)
    late.cy.runs(RUN, TASK, live=False)
    lines = late.news()[CY]
    return [
        case(
            "a-session",
            "A session is its publisher's, and as that replica said last",
            one,
            at(None),
            first,
            at(CY),
            one.sync(),
            at(CY, live=False),
        ),
        case(
            "a-session-claimed-twice",
            "A session that two replicas claim is nobody's until an admin says whose",
            two,
            before,
            at(CY),
            rival,
            at(None, contested=True),
            two.sync(),
            at(ADA),
        ),
        case(
            "a-session-decided-by-a-member",
            "Only an admin says whose a contested session is",
            member,
            member.sync(),
            at(None, contested=True),
        ),
        case(
            "presence-may-be-stubs",
            "A stub of presence keeps the chain going and says nothing",
            late,
            sync({CY: [line(stub(late.cy.entries[-2])), lines[-1]]}, left=[]),
            at(CY, live=False),
        ),
    ]


def proposed() -> list[Json]:
    """Drafts that a gate asks the replica's person about, and what their decision tells the team."""
    found = []
    for id, title, before, choice, status, told in (
        (
            "a-draft-taken-on",
            "A draft that its person takes on is ready for the team",
            "draft",
            "approve",
            "ready",
            1,
        ),
        (
            "a-draft-declined",
            "A draft that its person declines is dropped for the team",
            "draft",
            "decline",
            "dropped",
            1,
        ),
        (
            "a-draft-no-more",
            "A work item that is no draft any more stays where it is",
            "working",
            "approve",
            "working",
            0,
        ),
    ):
        team = Team(BOB)
        team.cy.task(TASK, title="Row 7", status=before)
        team.begin()
        body: Json = {"task": TASK.removeprefix("task:"), "kind": "put", "fields": {"status": status}}
        found.append(
            case(
                id,
                title,
                team,
                ok(_gate()),
                ok(_answer(choice)),
                is_now(title="Row 7", status=status),
                team.sync(shared=[{"type": "task", "body": body}] * told),
            )
        )
    return found


def _gate() -> Json:
    data = {
        "type": "task-proposal",
        "task": TASK.removeprefix("task:"),
        "proposedBy": "human:cy",
        "message": mid(1),
    }
    said = {
        "to": ["human:bob"],
        "kind": "question",
        "body": "Take it on?",
        "blocking": True,
        "choices": ["approve", "decline"],
        "data": data,
    }
    return {"op": "send", "as": {"address": "$system", "canDecide": True}, "input": said}


def _answer(choice: str) -> Json:
    given = {"body": "", "choice": choice}
    return {
        "op": "reply",
        "as": {"address": "human:bob", "canDecide": True},
        "message": "$s1",
        "input": given,
    }


def expired() -> list[Json]:
    """A scope gate of a session that nobody decides."""
    found = []
    for id, title, waited, left in (
        (
            "a-scope-gate-in-time",
            "A scope gate waits for its answer for less than half an hour",
            28 * 60_000,
            ["$s2"],
        ),
        (
            "a-scope-gate-too-late",
            "A scope gate that nobody decides is denied before its session stops waiting",
            30 * 60_000,
            [],
        ),
    ):
        team = Team(BOB)
        team.ada.task(TASK, title="Row 7", status="ready")
        team.begin()
        data = {"type": "scope", "paths": ["docs/plan.md"], "reason": "The plan needs a new page."}
        said = {
            "to": ["human:bob"],
            "kind": "question",
            "body": "May I?",
            "blocking": True,
            "choices": ["grant", "deny"],
            "data": data,
        }
        found.append(
            vector(
                f"shared.{id}",
                title,
                (
                    {"op": "world", "change": {"startSession": {"session": RUN, "workItem": TASK}}},
                    {"ok": True},
                ),
                ok({"op": "send", "as": {"address": RUN, "canDecide": False}, "input": said}),
                ({"op": "world", "change": {"advanceMs": waited}}, {"ok": True}),
                ok({"op": "recover"}),
                ok({"op": "openBlocking"}, messages=left),
                sections=("C.3",),
                given=team.given,
            )
        )
    return found


VECTORS = [
    *merged(),
    *compared(),
    *removed(),
    *counting(),
    *agents(),
    *channels(),
    *sessions(),
    *proposed(),
    *expired(),
]
