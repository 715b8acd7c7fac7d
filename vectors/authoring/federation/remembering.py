"""Team memory: entries merged field by field, and trust that each receiver finds out by itself (section F.7)."""

from typing import Any, Final

from vectors.authoring.federation.author import START_MS
from vectors.authoring.federation.teams import ADA, BOB, CY, OBI, Team, Teammate, sync
from vectors.authoring.kit import Expected, Json, ok, vector

MEM: Final = "mem-01J8G7Z0000000000000000001"
OTHER: Final = "mem-01J8G7Z0000000000000000002"

ENTRY: Final[Json] = {
    "title": "Indent with spaces",
    "body": "Four of them.",
    "kind": "convention",
    "author": "human:ada",
    "createdAt": "2026-09-21T14:13:20.000Z",
}


def case(id: str, title: str, team: Team, *steps: Expected, **then: Any) -> Json:
    return vector(f"memory.{id}", title, *steps, sections=("F.7",), given=team.given, **then)


def wrote(
    mate: Teammate, trust: str = "human", *, memory: str = MEM, by: str | None = None, **fields: Any
) -> Json:
    """A replica publishes fields of an entry."""
    hlc = fields.pop("hlc", None)
    body: Json = {"memory": memory, "kind": "put", "fields": fields, "trust": trust}
    if by is not None:
        body["by"] = by
    at: Json = {} if hlc is None else {"hlc": f"{START_MS + hlc}.0000.{mate.replica}"}
    return mate.publish("memory", body=body, **at)


def is_now(trust: str | None = None, proposed: bool = False, *, memory: str = MEM, **fields: Any) -> Expected:
    """The entry counts, with at least these fields; where no trust is named, there is none."""
    step = {"op": "memory", "id": memory}
    if trust is None:
        return ok(step, exists=False, proposed=proposed)
    return ok(step, exists=True, trust=trust, proposed=proposed, fields=fields)


def known() -> Team:
    team = Team(BOB)
    wrote(team.ada, **ENTRY)
    return team


def merged() -> list[Json]:
    plain = Team(BOB).begin()
    wrote(plain.ada, **ENTRY)
    apart = known().begin()
    wrote(apart.ada, pinned=True, hlc=4_000)
    wrote(apart.cy, appliesTo=["src/**"], by="human:cy", hlc=5_000)
    one = known().begin()
    wrote(one.ada, pinned=True, hlc=5_000)
    wrote(one.cy, pinned=False, by="human:cy", hlc=4_000)
    news = one.news()
    retired = known().begin()
    wrote(retired.ada, status="retired", statusReason="forgotten")
    gone = known().begin()
    gone.ada.publish("memory", body={"memory": MEM, "kind": "remove", "trust": "human"})
    return [
        case(
            "an-entry",
            "An entry that a person wrote counts as that person's",
            plain,
            is_now(),
            plain.sync(kept=[]),
            is_now("human", **ENTRY),
        ),
        case(
            "fields-of-two",
            "Of two who change different fields of an entry both keep their change",
            apart,
            apart.sync(),
            is_now("human", pinned=True, appliesTo=["src/**"], title="Indent with spaces"),
        ),
        case(
            "one-field-of-two",
            "Of two who change one field the later clock wins, whatever comes first",
            one,
            sync({ADA: news[ADA]}),
            is_now("human", pinned=True),
            sync({CY: news[CY]}),
            is_now("human", pinned=True),
        ),
        case(
            "a-retired-entry",
            "An entry that is retired travels as any change does",
            retired,
            retired.sync(),
            is_now("human", status="retired", statusReason="forgotten"),
        ),
        case(
            "nothing-is-removed",
            "A removal changes nothing: entries retire",
            gone,
            gone.sync(left=[]),
            is_now("human", **ENTRY),
        ),
    ]


def trusted() -> list[Json]:
    allow: Json = {"memoryPolicy": "allow"}
    agent: Json = {**ENTRY, "author": "agent:ada/kiln"}
    borrowed = Team(BOB).begin(**allow)
    wrote(borrowed.ada, **{**ENTRY, "author": "human:cy"})
    programs = Team(BOB).begin(**allow)
    wrote(programs.ada, "agent", by="agent:ada/kiln", **agent)
    claimed = Team(BOB).begin(**allow)
    wrote(claimed.ada, "human", by="agent:ada/kiln", **agent)
    confirmed = Team(BOB).begin()
    wrote(confirmed.ada, "confirmed", by="agent:ada/kiln", **{**agent, "decidedBy": "human:ada"})
    forged = Team(BOB).begin(**allow)
    wrote(forged.ada, "confirmed", by="agent:ada/kiln", **{**agent, "decidedBy": "human:cy"})
    hosted = Team(BOB, roles={CY: {"hosts": ["dee"]}}).begin()
    wrote(hosted.cy, **{**ENTRY, "author": "human:dee"})
    content = known().begin(**allow)
    wrote(content.cy, "agent", by="agent:cy/kiln", body="Two of them.")
    other = known().begin(**allow)
    wrote(other.cy, "agent", by="agent:cy/kiln", pinned=True)
    edited = known().begin()
    wrote(edited.cy, "confirmed", by="human:cy", body="Two of them.", decidedBy="human:cy")
    again = known().begin(**allow)
    wrote(again.cy, "agent", by="agent:cy/kiln", body="Two of them.")
    first = again.sync()
    wrote(again.ada, "human", by="human:ada", body="Four, after all.")
    return [
        case(
            "a-borrowed-author",
            "An entry is no human's where its publisher does not speak for the author",
            borrowed,
            borrowed.sync(),
            is_now("agent", body="Four of them."),
        ),
        case(
            "an-agents-entry",
            "An entry that an agent wrote arrives as an agent's",
            programs,
            programs.sync(),
            is_now("agent"),
        ),
        case(
            "a-claim-of-more",
            "What a publisher claims of an entry's trust is not believed",
            claimed,
            claimed.sync(),
            is_now("agent"),
        ),
        case(
            "a-confirmed-entry",
            "An entry that a human decided on is confirmed where its publisher speaks for that human",
            confirmed,
            confirmed.sync(),
            is_now("confirmed", decidedBy="human:ada"),
        ),
        case(
            "a-forged-decision",
            "An entry is not confirmed by a human its publisher does not speak for",
            forged,
            forged.sync(),
            is_now("agent"),
        ),
        case(
            "an-entry-of-a-hosted-person",
            "A replica that hosts a person publishes what they wrote as theirs",
            hosted,
            hosted.sync(),
            is_now("human", author="human:dee"),
        ),
        case(
            "content-sets-trust",
            "A change to an entry's content sets its trust anew",
            content,
            content.sync(),
            is_now("agent", body="Two of them."),
        ),
        case(
            "nothing-else-lowers-trust",
            "A change to anything else never lowers the trust there is",
            other,
            other.sync(),
            is_now("human", pinned=True),
        ),
        case(
            "another-persons-change",
            "A change by another person is confirmed by who made it",
            edited,
            edited.sync(),
            is_now("confirmed", body="Two of them."),
        ),
        case(
            "trust-comes-back",
            "An entry is its author's again once they wrote what it says",
            again,
            first,
            is_now("agent"),
            again.sync(),
            is_now("human", body="Four, after all."),
        ),
    ]


def asked() -> list[Json]:
    agent: Json = {**ENTRY, "author": "agent:ada/kiln"}
    new = Team(BOB).begin()
    wrote(new.ada, "agent", by="agent:ada/kiln", **agent)
    change = known().begin()
    wrote(change.cy, "agent", by="agent:cy/kiln", body="Two of them.")
    return [
        case(
            "an-entry-that-policy-asks-about",
            "An entry that the receiver's policy would not accept is a proposal there, which stays there",
            new,
            new.sync(mail=[], shared=[]),
            is_now(proposed=True),
        ),
        case(
            "a-change-that-policy-asks-about",
            "A change that the receiver's policy would not accept is a proposal, and the entry stays as it was",
            change,
            change.sync(mail=[], shared=[]),
            is_now("human", proposed=True, body="Four of them."),
        ),
    ]


def malformed() -> list[Json]:
    def dropped(id: str, title: str, /, **fields: Any) -> Json:
        team = known().begin()
        wrote(team.ada, **{**ENTRY, "title": "Never", **fields})
        wrote(team.ada, pinned=True)
        return case(
            id, title, team, team.sync(left=[]), is_now("human", title="Indent with spaces", pinned=True)
        )

    odd = known().begin()
    wrote(odd.ada, moons=2, pinned=True)
    named = known().begin()
    named.ada.publish("memory", body={"memory": "mem-1", "kind": "put", "fields": ENTRY, "trust": "human"})
    wrote(named.ada, pinned=True)
    observer = Team(BOB, OBI, roles={OBI: {"observer": True}}).begin()
    wrote(observer.mates[OBI], memory=OTHER, **{**ENTRY, "author": "human:obi"})
    cut = known().begin()
    cut.cy.task("task:t-0ddba1", title="Row 7")
    before = cut.sync()
    cut.ada.revokes(cut.cy)
    wrote(cut.cy, memory=OTHER, **{**ENTRY, "author": "human:cy"})
    return [
        dropped(
            "a-long-title",
            "A title over 200 bytes makes the op malformed, and what follows counts",
            title="x" * 201,
        ),
        dropped("a-long-body", "A body over 8,192 bytes makes the op malformed", body="x" * 8_193),
        dropped("an-unknown-kind", "A kind that is none makes the op malformed", kind="rumour"),
        case(
            "an-id-that-is-none",
            "An entry's id is mem- and a ULID",
            named,
            named.sync(left=[]),
            is_now("human", pinned=True),
        ),
        case(
            "a-field-nobody-knows",
            "A field that is not known is left out, and the others count",
            odd,
            odd.sync(),
            is_now("human", pinned=True),
        ),
        case(
            "an-observers-entry",
            "An observer's entry counts for nothing",
            observer,
            observer.sync(),
            is_now(memory=OTHER),
        ),
        case(
            "an-entry-after-a-cut",
            "What a revoked replica writes after its cut counts for nothing",
            cut,
            before,
            cut.sync(),
            is_now(memory=OTHER),
        ),
    ]


VECTORS = [*merged(), *trusted(), *asked(), *malformed()]
