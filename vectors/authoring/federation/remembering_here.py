"""Team memory as it is written here: by a person, by a program of theirs, and out of what is there (section F.7)."""

from typing import Any, Final

from vectors.authoring.federation.remembering import ENTRY, MEM, OTHER, is_now, wrote
from vectors.authoring.federation.teams import BOB, CY, Team
from vectors.authoring.kit import Expected, Json, ok, vector

BOB_HERE: Final[Json] = {"address": "human:bob", "canDecide": True}
KILN: Final = "agent:bob/kiln"
KILN_HERE: Final[Json] = {"address": KILN, "canDecide": False}
AGENTS: Final = [{"address": KILN, "status": "approved"}]
NOW: Final = "2026-09-23T10:00:00.000Z"

NEW: Final[Json] = {
    "title": "Indent with spaces",
    "body": "Four of them.",
    "kind": "convention",
    "refs": [],
    "epic": None,
    "appliesTo": [],
    "pinned": False,
    "status": "active",
    "statusReason": None,
    "supersedes": None,
    "supersededBy": None,
    "decidedBy": None,
    "decidedByPolicy": None,
    "createdAt": NOW,
}
"""The fields of a new entry."""

GIVEN: Final[Json] = {name: NEW[name] for name in ("title", "body", "kind")}


def case(id: str, title: str, team: Team, *steps: Expected, **then: Any) -> Json:
    return vector(f"memory-here.{id}", title, *steps, sections=("F.7",), given=team.given, **then)


def puts(who: Json, proposed: bool = False, **more: Any) -> Expected:
    """Somebody here writes a new entry."""
    return ok({"op": "putMemory", "as": who, "fields": GIVEN, **more}, proposed=proposed)


def decides(choice: str, gate: int = 1) -> Expected:
    """The person here answers a gate."""
    step = {"op": "reply", "as": BOB_HERE, "message": f"$gate{gate}", "input": {"body": "", "choice": choice}}
    return ok(step)


def refused(step: Json, code: str) -> Expected:
    return step, {"ok": False, "error": {"code": code}}


def said(trust: str, by: str, memory: str = "$memory1", **fields: Any) -> Json:
    """An op that is published."""
    body = {"memory": memory, "kind": "put", "fields": fields, "trust": trust, "by": by}
    return {"type": "memory", "body": body}


def made() -> list[Json]:
    person = Team(BOB).begin()
    project = Team(BOB).begin(agents=AGENTS)
    told = project.sync()  # of the agent
    whole = {**NEW, "author": "human:bob"}
    share = {"op": "shareMemory", "memory": "$memory1"}
    edited = Team(BOB)
    wrote(edited.ada, **ENTRY)
    edited.begin()
    change = {"op": "editMemory", "as": BOB_HERE, "memory": MEM, "fields": {"body": "Two of them."}}
    return [
        case(
            "a-persons-entry",
            "What a person writes here counts at once, and is published once, as that person's",
            person,
            puts(BOB_HERE),
            is_now("human", memory="$memory1", author="human:bob", **NEW),
            person.sync(shared=[said("human", "human:bob", **whole)]),
            person.sync(shared=[]),
        ),
        case(
            "a-project-entry",
            "What is of the project stays here until a person gives it to the team",
            project,
            told,
            puts(BOB_HERE, scope="project"),
            is_now("human", memory="$memory2", author="human:bob"),
            project.sync(shared=[]),
            refused({**share, "as": KILN_HERE, "memory": "$memory2"}, "forbidden"),
            ok({**share, "as": BOB_HERE, "memory": "$memory2"}, memory="$memory2"),
            project.sync(shared=[said("human", "human:bob", "$memory2", **whole)]),
        ),
        case(
            "a-persons-change",
            "A person's change of another person's entry is that person's decision, and publishes what changed alone",
            edited,
            ok(change, memory=MEM, proposed=False),
            is_now("confirmed", title="Indent with spaces", body="Two of them.", author="human:ada"),
            edited.sync(
                shared=[said("confirmed", "human:bob", MEM, body="Two of them.", decidedBy="human:bob")]
            ),
            refused(change, "conflict"),
        ),
    ]


def proposed() -> list[Json]:
    """Entries that an agent here proposes, and what their person decides."""

    def asked() -> Team:
        return Team(BOB).begin(agents=AGENTS)

    approved, rejected, changed = asked(), asked(), Team(BOB)
    wrote(changed.ada, **ENTRY)
    changed.begin(agents=AGENTS)
    whole = {**NEW, "author": KILN, "decidedBy": "human:bob"}
    step = {"op": "editMemory", "as": KILN_HERE, "memory": MEM, "fields": {"body": "Two of them."}}
    found = []
    for id, title, team, choice, after, told in (
        (
            "an-agents-entry-approved",
            "What an agent writes here counts for nobody until its person approves, and then as confirmed by them",
            approved,
            "approve",
            is_now("confirmed", memory="$memory2", **whole),
            [said("confirmed", KILN, "$memory2", **whole)],
        ),
        (
            "an-agents-entry-rejected",
            "What an agent writes here and its person rejects is never there",
            rejected,
            "reject",
            is_now(memory="$memory2"),
            [],
        ),
    ):
        found.append(
            case(
                id,
                title,
                team,
                team.sync(),
                puts(KILN_HERE, proposed=True),
                is_now(memory="$memory2", proposed=True),
                team.sync(shared=[]),
                decides(choice),
                after,
                team.sync(shared=told),
                ok({"op": "openBlocking"}, messages=[]),
            )
        )
    found.append(
        case(
            "an-agents-change-approved",
            "An agent's change of an entry that its person approves is the agent's, confirmed by that person",
            changed,
            changed.sync(),
            ok(step, memory=MEM, proposed=True),
            is_now("human", proposed=True, body="Four of them."),
            decides("approve"),
            is_now("confirmed", body="Two of them."),
            changed.sync(shared=[said("confirmed", KILN, MEM, body="Two of them.", decidedBy="human:bob")]),
        )
    )
    return found


def teammates() -> list[Json]:
    """What a teammate's agent wrote, which this host's person is asked about."""
    found = []
    for id, title, choice, after in (
        (
            "a-teammates-entry-approved",
            "A teammate's entry that nobody stands behind counts here once its person approves it",
            "approve",
            is_now("confirmed", body="Four of them."),
        ),
        (
            "a-teammates-entry-rejected",
            "A teammate's entry that nobody stands behind never counts where its person rejects it",
            "reject",
            is_now(),
        ),
    ):
        team = Team(BOB).begin()
        wrote(team.cy, "agent", by="agent:cy/kiln", **{**ENTRY, "author": "agent:cy/kiln"})
        found.append(
            case(
                id,
                title,
                team,
                team.sync(),
                is_now(proposed=True),
                decides(choice),
                after,
                team.sync(shared=[]),
            )
        )
    return found


def taken() -> list[Json]:
    def two() -> tuple[Team, Json]:
        team = Team(BOB)
        first = wrote(team.ada, **ENTRY)
        wrote(
            team.cy, "human", by="human:cy", title="Indent with tabs", body="One of them.", author="human:cy"
        )
        team.begin()
        return team, {"replica": team.ada.replica, "seq": first["seq"]}

    (whole, revision), (part, _), (none, _) = two(), two(), two()
    take = {"op": "takeMemory", "as": BOB_HERE, "memory": MEM, "revision": revision}
    return [
        case(
            "an-older-revision-taken",
            "What a revision wrote is written once more by who takes it, and whose word it is is said anew",
            whole,
            is_now("human", title="Indent with tabs", body="One of them."),
            ok(take, memory=MEM),
            is_now("confirmed", title="Indent with spaces", body="Four of them.", author="human:cy"),
            whole.sync(
                shared=[
                    said(
                        "confirmed",
                        "human:bob",
                        MEM,
                        title="Indent with spaces",
                        body="Four of them.",
                        decidedBy="human:bob",
                    )
                ]
            ),
        ),
        case(
            "one-field-taken",
            "Of a revision one field can be taken, and the others stay",
            part,
            ok({**take, "fields": ["title"]}, memory=MEM),
            is_now("confirmed", title="Indent with spaces", body="One of them."),
        ),
        case(
            "what-cannot-be-taken",
            "Nothing is taken of a revision that is not there, nor a field that it did not write",
            none,
            refused({**take, "revision": {"replica": CY, "seq": 99}}, "not-found"),
            refused({**take, "fields": ["epic"]}, "invalid"),
            refused({**take, "revision": {"replica": CY, "seq": none.cy.entries[-1]["seq"]}}, "conflict"),
            none.sync(shared=[]),
        ),
    ]


def joined() -> list[Json]:
    team = Team(BOB)
    wrote(team.ada, **{**ENTRY, "refs": ["commit:1a", "commit:2b"], "epic": "layout"})
    other = {**ENTRY, "title": "Spaces", "body": "No tabs.", "kind": "fact", "author": "human:cy"}
    wrote(
        team.cy, memory=OTHER, by="human:cy", **{**other, "refs": ["commit:2b", "commit:3c"], "pinned": True}
    )
    team.begin()
    join = {"op": "joinMemories", "as": BOB_HERE, "memories": [MEM, OTHER]}
    retired: Json = {"status": "retired", "statusReason": "superseded", "supersededBy": "$memory2"}
    return [
        case(
            "entries-joined",
            "Several entries become one that says what they say together, and are retired in its favour",
            team,
            refused({**join, "memories": [MEM, MEM]}, "conflict"),
            ok(join, proposed=False),
            is_now(
                "human",
                memory="$memory2",
                title="Indent with spaces",
                body="Four of them.\n\nNo tabs.",
                kind="convention",
                refs=["commit:1a", "commit:2b", "commit:3c"],
                epic="layout",
                pinned=True,
                supersedes=[MEM, OTHER],
                author="human:bob",
            ),
            is_now("human", **retired),
            is_now("human", memory=OTHER, **retired),
        ),
    ]


VECTORS = [*made(), *proposed(), *teammates(), *taken(), *joined()]
