"""Team documents: revisions, their parents and their heads, and who may say what of a document (section F.7)."""

import hashlib
from typing import Any, Final

import rfc8785

from vectors.authoring.federation.author import CROCKFORD, START_MS, sha256
from vectors.authoring.federation.teams import ADA, AT, BOB, CY, OBI, Team, Teammate, sync
from vectors.authoring.kit import Expected, Json, ok, vector

RUN: Final = "run:r-0dd001"


def doc(number: int = 1) -> str:
    """The id of a document."""
    return f"doc-01J8G7Z00000000000000000{CROCKFORD[number // 32]}{CROCKFORD[number % 32]}"


def rev(number: int) -> str:
    """The id of a revision."""
    return f"rev-01J8G7Z00000000000000000{CROCKFORD[number // 32]}{CROCKFORD[number % 32]}"


R2, R3 = rev(2), rev(3)


def case(id: str, title: str, team: Team, *steps: Expected, **then: Any) -> Json:
    return vector(f"document.{id}", title, *steps, sections=("F.7",), given=team.given, **then)


def writes(
    mate: Teammate,
    number: int,
    *parents: int,
    by: str | None = None,
    of: str | None = None,
    meta: Json | None = None,
    **members: Any,
) -> Json:
    """A replica publishes a revision."""
    by = by or mate.address
    body = f"# How we prune\n\nText {number}.\n"
    revision: Json = {
        "id": rev(number),
        "parents": [rev(each) for each in parents],
        "title": "How we prune",
        "body": body,
        "hash": sha256(body.encode()),
        "author": by,
        "cause": "edit" if parents else "create",
        "summary": "",
        "createdAt": "2026-09-21T14:13:20.000Z",
        **members,
    }
    content: Json = {"doc": of or doc(), "kind": "put", "by": by, "revision": revision}
    return mate.publish("doc", body=content if meta is None else {**content, "meta": meta})


def says(
    mate: Teammate, *, by: str | None = None, of: str | None = None, at: int | None = None, **meta: Any
) -> Json:
    """A replica publishes what a document is called, or where it stands."""
    body: Json = {"doc": of or doc(), "kind": "put", "by": by or mate.address, "meta": meta}
    clock: Json = {} if at is None else {"hlc": f"{START_MS + at}.0000.{mate.replica}"}
    return mate.publish("doc", body=body, **clock)


def removes(mate: Teammate, *, by: str | None = None) -> Json:
    return mate.publish("doc", body={"doc": doc(), "kind": "remove", "by": by or mate.address})


def is_now(*heads: int, of: str | None = None, **more: Any) -> Expected:
    """The document has these heads, or is not there."""
    step = {"op": "document", "id": of or doc()}
    if not heads:
        return ok(step, exists=False, **more)
    texts = {rev(each): f"# How we prune\n\nText {each}.\n" for each in heads}
    return ok(step, exists=True, heads=[*texts], texts=texts, **more)


def known(me: str = BOB) -> Team:
    team = Team(me)
    writes(team.ada, 1)
    return team


def revised() -> list[Json]:
    first = Team(BOB).begin()
    writes(first.ada, 1)
    next_ = known().begin()
    writes(next_.cy, 2, 1)
    both = known().begin()
    writes(both.ada, 2, 1)
    writes(both.cy, 3, 1)
    concurrent = both.sync()
    writes(both.cy, 4, 2, 3)
    ada_first = known().begin()
    writes(ada_first.cy, 2, 1)
    held_back = ada_first.news()
    writes(ada_first.ada, 3, 2)
    child = ada_first.news()
    return [
        case(
            "a-document",
            "A revision that follows nothing begins a document",
            first,
            is_now(),
            first.sync(kept=[]),
            is_now(1, status="draft", held=[], waiting=[]),
        ),
        case(
            "the-next-revision",
            "A revision takes the place of those it follows, whoever wrote them",
            next_,
            next_.sync(),
            is_now(2),
        ),
        case(
            "concurrent-revisions",
            "Two revisions that follow one stand beside each other until a person joins them",
            both,
            concurrent,
            is_now(2, 3),
            both.sync(),
            is_now(4),
        ),
        case(
            "a-revision-before-its-parents",
            "A revision whose parents have not arrived is kept until they do",
            ada_first,
            sync({ADA: child[ADA]}),
            is_now(1, waiting=[R3]),
            sync({CY: held_back[CY]}),
            is_now(3, waiting=[]),
        ),
    ]


def authored() -> list[Json]:
    def by(
        id: str, title: str, author: str, comes: bool, /, *, team: Team | None = None, **members: Any
    ) -> Json:
        team = (team or known()).begin()
        writes(team.cy, 2, 1, by=author, **members)
        return case(id, title, team, team.sync(left=[]), is_now(2 if comes else 1))

    hosting = Team(BOB, roles={CY: {"hosts": ["dee"]}})
    writes(hosting.ada, 1)
    session = known().begin()
    writes(session.cy, 2, 1, by=RUN)
    first = session.sync()
    session.cy.runs(RUN, None, kind="auxiliary")
    anothers = known()
    anothers.ada.runs(RUN, None, kind="auxiliary")
    return [
        by("its-persons-revision", "A replica publishes the revisions of its own person", "human:cy", True),
        by(
            "another-persons-revision",
            "A revision of a person its publisher does not speak for is dropped",
            "human:ada",
            False,
        ),
        by(
            "a-hosted-persons-revision",
            "A replica publishes the revisions of a person it hosts",
            "human:dee",
            True,
            team=hosting,
        ),
        by(
            "an-agents-revision",
            "A replica publishes the revisions of its person's agents",
            "agent:cy/kiln",
            True,
        ),
        by(
            "another-persons-agent",
            "A revision of another person's agent is dropped",
            "agent:ada/kiln",
            False,
        ),
        by(
            "another-author",
            "The author of the revision itself is one that its publisher speaks for",
            "human:cy",
            False,
            author="human:ada",
        ),
        case(
            "a-sessions-revision",
            "A revision of a session waits until its publisher claims that",
            session,
            first,
            is_now(1, waiting=[R2]),
            session.sync(),
            is_now(2, waiting=[]),
        ),
        by(
            "anothers-session",
            "A revision of a session that another replica claims does not count",
            RUN,
            False,
            team=anothers,
        ),
    ]


def accepted() -> list[Json]:
    def known_accepted() -> Team:
        team = known()
        says(team.ada, status="accepted")
        return team.begin()

    held = known_accepted()
    writes(held.cy, 2, 1, by="agent:cy/kiln")
    person = known_accepted()
    writes(person.cy, 2, 1)
    approved = known_accepted()
    writes(approved.cy, 2, 1, by="agent:cy/kiln", approval={"by": "human:cy"})
    forged = known_accepted()
    writes(forged.cy, 2, 1, by="agent:cy/kiln", approval={"by": "human:ada"})
    behind = known_accepted()
    writes(behind.cy, 2, 1, by="agent:cy/kiln")
    waits = behind.sync()
    writes(behind.ada, 3, 2)
    program = known().begin()
    says(program.cy, by="agent:cy/kiln", status="accepted")
    return [
        case(
            "a-held-change",
            "A change of an accepted document with no person behind it is held",
            held,
            held.sync(),
            is_now(1, status="accepted", held=[R2]),
        ),
        case(
            "a-persons-change",
            "A person's change of an accepted document counts",
            person,
            person.sync(),
            is_now(2, held=[]),
        ),
        case(
            "an-approved-change",
            "An agent's change that a person approved counts where its publisher speaks for that person",
            approved,
            approved.sync(),
            is_now(2, held=[]),
        ),
        case(
            "a-forged-approval",
            "An approval by a person its publisher does not speak for is none",
            forged,
            forged.sync(),
            is_now(1, held=[R2]),
        ),
        case(
            "a-change-that-a-person-built-on",
            "A held change counts once a person's revision follows it",
            behind,
            waits,
            is_now(1, held=[R2]),
            behind.sync(),
            is_now(3, held=[]),
        ),
        case(
            "a-program-accepts-nothing",
            "Only a person says where a document stands",
            program,
            program.sync(),
            is_now(1, status="draft"),
        ),
    ]


def named() -> list[Json]:
    one = known().begin()
    says(one.ada, slug="pruning", at=4_000)
    says(one.cy, slug="how-to-prune", at=5_000)
    news = one.news()
    two = Team(BOB)
    writes(two.ada, 1, of=doc(2), meta={"slug": "pruning"})
    writes(two.cy, 2, of=doc(1), meta={"slug": "pruning"})
    two.begin()
    return [
        case(
            "a-name-given-twice",
            "Of two names given to a document the later clock wins",
            one,
            sync({CY: news[CY]}),
            is_now(1, slug="how-to-prune"),
            sync({ADA: news[ADA]}),
            is_now(1, slug="how-to-prune"),
        ),
        case(
            "one-name-of-two-documents",
            "Of two documents that were given one name the one of the lower id keeps it",
            two,
            is_now(2, of=doc(1), slug="pruning"),
            is_now(1, of=doc(2), slug=f"pruning-{doc(2)[-6:].lower()}"),
        ),
    ]


def removed() -> list[Json]:
    gone = known().begin()
    removes(gone.cy)
    first = gone.sync()
    writes(gone.ada, 2, 1)
    program = known().begin()
    removes(program.cy, by="agent:cy/kiln")
    return [
        case(
            "a-removal",
            "A person removes a document, and a person's later revision brings it back",
            gone,
            first,
            is_now(),
            gone.sync(),
            is_now(2),
        ),
        case(
            "a-program-removes-nothing",
            "A removal by who is no person is dropped",
            program,
            program.sync(),
            is_now(1),
        ),
    ]


def malformed() -> list[Json]:
    def dropped(id: str, title: str, /, **members: Any) -> Json:
        team = known().begin()
        writes(team.cy, 2, 1, **members)
        writes(team.cy, 3, 1)
        return case(id, title, team, team.sync(left=[]), is_now(3))

    observer = Team(BOB, OBI, roles={OBI: {"observer": True}})
    writes(observer.ada, 1)
    observer.begin()
    writes(observer.mates[OBI], 2, 1)
    return [
        dropped(
            "a-wrong-hash",
            "A revision whose hash is not its body's is dropped, and what follows counts",
            hash="0" * 64,
        ),
        dropped("a-long-title", "A title is at most 200 bytes", title="x" * 201),
        dropped("an-unknown-cause", "A revision has one of the known causes", cause="whim"),
        dropped("parents-that-are-none", "Parents are ids of revisions", parents=["rev-1"]),
        case(
            "an-observers-revision",
            "An observer's revision counts for nothing",
            observer,
            observer.sync(),
            is_now(1),
        ),
    ]


def claimed_twice() -> list[Json]:
    """Two revisions of one id, one of which that was made from; the other says that it is earlier."""
    found = []
    for id, title, parents in (
        ("an-id-that-is-taken", "Of two revisions of one id the one is meant that it was made from", ()),
        (
            "an-id-that-is-taken-later",
            "A revision that follows another keeps the id that it was made from",
            (1,),
        ),
    ):
        team = known() if parents else Team(BOB)
        team.begin()
        text = "# How we prune\n\nText 2.\n"
        meant: Json = {
            "author": "human:ada",
            "cause": "edit" if parents else "create",
            "title": "How we prune",
        }
        said = {
            "doc": doc(),
            "parents": [rev(each) for each in parents],
            "hash": sha256(text.encode()),
            "summary": "",
            "createdAt": AT,
            "task": None,
            **meant,
        }
        made = made_id(said)
        writes(team.cy, 3, *parents, id=made)
        writes(team.ada, 2, *parents, id=made)
        step = {"op": "document", "id": doc()}
        found.append(
            case(
                id,
                title,
                team,
                team.sync(left=[]),
                ok(step, heads=[made], texts={made: text}),
                level="SHOULD",
            )
        )
    return found


def made_id(said: Json) -> str:
    """The id of a revision that is made from what it says."""
    digest = hashlib.sha256(b"dmp-revision-v1\n" + rfc8785.dumps(said)).digest()
    number = (START_MS << 80) | int.from_bytes(digest[:10], "big")
    return "rev-" + "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


VECTORS = [*revised(), *authored(), *accepted(), *named(), *removed(), *malformed(), *claimed_twice()]
