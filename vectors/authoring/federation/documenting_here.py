"""Team documents as they are written here: by a person, by a program of theirs, and out of what is there (F.7)."""

from typing import Any, Final

from vectors.authoring.federation.author import sha256
from vectors.authoring.federation.documenting import R2, R3, doc, is_now, known, removes, rev, says, writes
from vectors.authoring.federation.remembering_here import AGENTS, KILN, KILN_HERE, NOW, decides, refused
from vectors.authoring.federation.remembering_here import BOB_HERE as PERSON
from vectors.authoring.federation.teams import BOB, Team
from vectors.authoring.kit import Expected, Json, ok, vector

TEXT: Final = "# How we prune\n\nIn winter.\n"
DOC: Final = doc()
READ: Final[Json] = {"op": "document", "id": DOC}


def case(id: str, title: str, team: Team, *steps: Expected, **then: Any) -> Json:
    return vector(f"document-here.{id}", title, *steps, sections=("F.7",), given=team.given, **then)


def puts(who: Json, body: str = TEXT, **more: Any) -> Json:
    """Somebody here writes a text of a document; a new one, where none is named."""
    return {"op": "putDocument", "as": who, "body": body, **more}


def of(step: int, *parents: str, by: str = "human:bob", body: str = TEXT, **members: Any) -> Json:
    """The revision that a step made."""
    return {
        "id": f"$revision{step}",
        "parents": list(parents),
        "title": "How we prune",
        "body": body,
        "hash": sha256(body.encode()),
        "author": by,
        "cause": "save" if parents else "create",
        "summary": "",
        "createdAt": NOW,
        **members,
    }


def said(document: str = DOC, by: str = "human:bob", **members: Any) -> Json:
    """An op that is published."""
    return {"type": "doc", "body": {"doc": document, "kind": "put", "by": by, **members}}


def text(number: int) -> str:
    """What a teammate's revision says."""
    return f"# How we prune\n\nText {number}.\n"


def reads(head: str, document: str = DOC, **more: Any) -> Expected:
    """The document has this head alone."""
    return ok({"op": "document", "id": document}, exists=True, heads=[head], **more)


def describes(**more: Any) -> Json:
    return {"op": "describeDocument", "document": DOC, **more}


def written() -> list[Json]:
    new, next_, same, taken, both = Team(BOB).begin(), known().begin(), known().begin(), known(), known()
    says(taken.ada, slug="pruning")
    taken.begin(agents=AGENTS)
    told = taken.sync()
    writes(both.ada, 2, 1)
    writes(both.cy, 3, 1)
    both.begin()
    return [
        case(
            "a-document",
            "What a person writes here counts at once, and is published once",
            new,
            ok(puts(PERSON, slug="pruning"), changed=True, proposed=False),
            reads("$revision1", document="$document1", slug="pruning", texts={"$revision1": TEXT}),
            new.sync(shared=[said("$document1", revision=of(1), meta={"slug": "pruning"})]),
            new.sync(shared=[]),
        ),
        case(
            "the-next-text",
            "A text that is given to a document follows the one that it was made from",
            next_,
            ok(puts(PERSON, document=DOC), document=DOC, changed=True),
            reads("$revision1", texts={"$revision1": TEXT}),
            next_.sync(shared=[said(revision=of(1, rev(1)))]),
        ),
        case(
            "the-same-text",
            "A document that is given the text it has gets no revision",
            same,
            ok(puts(PERSON, text(1), document=DOC), changed=False, revision=rev(1)),
            is_now(1),
            same.sync(shared=[]),
        ),
        case(
            "a-name-that-is-taken",
            "A document gets no name that another has, and none of a program's",
            taken,
            told,
            refused(puts(PERSON, slug="pruning"), "conflict"),
            refused(puts(KILN_HERE, slug="felling"), "forbidden"),
            taken.sync(shared=[]),
        ),
        case(
            "a-text-made-from-one-of-two",
            "While revisions stand beside each other a text says which of them it was made from",
            both,
            refused(puts(PERSON, document=DOC), "conflict"),
            refused(puts(PERSON, document=DOC, base=rev(9)), "conflict"),
            ok(puts(PERSON, document=DOC, base=R2), changed=True),
            ok(READ, texts={"$revision3": TEXT, R3: text(3)}),
            both.sync(shared=[said(revision=of(3, R2))]),
        ),
    ]


def by_programs() -> list[Json]:
    """What an agent here writes: of a draft it counts, of an accepted document its person decides."""
    draft = known().begin(agents=AGENTS)
    revoked = known().begin(agents=[{"address": KILN, "status": "revoked"}])
    writes_it = puts(KILN_HERE, document=DOC)
    found = [
        case(
            "an-agents-text-of-a-draft",
            "What an agent writes of a draft counts at once",
            draft,
            draft.sync(),
            ok(writes_it, proposed=False),
            reads("$revision2"),
            draft.sync(shared=[said(by=KILN, revision=of(2, rev(1), by=KILN))]),
        ),
        case(
            "a-revoked-agents-text",
            "An agent that is not approved writes nothing",
            revoked,
            refused(writes_it, "forbidden"),
            is_now(1),
        ),
    ]
    approved: Json = {"approval": {"by": "human:bob"}}
    for id, title, choice, after, told in (
        (
            "an-agents-text-approved",
            "What an agent writes of an accepted document waits for its person, who then stands behind it",
            "approve",
            reads("$revision2", held=[]),
            [said(revision=of(2, rev(1), by=KILN, **approved))],
        ),
        (
            "an-agents-text-rejected",
            "What an agent writes of an accepted document and its person rejects is never there",
            "reject",
            is_now(1, held=[]),
            [],
        ),
    ):
        team = known()
        says(team.ada, status="accepted")
        team.begin(agents=AGENTS)
        found.append(
            case(
                id,
                title,
                team,
                team.sync(),
                ok(writes_it, proposed=True),
                is_now(1, held=[]),
                team.sync(shared=[]),
                decides(choice),
                after,
                team.sync(shared=told),
                refused(
                    {"op": "decideRevision", "document": DOC, "revision": "$revision2", "approve": True},
                    "conflict" if told else "not-found",
                ),
            )
        )
    return found


def merged() -> list[Json]:
    def apart() -> Team:
        team = known()
        writes(team.ada, 2, 1)
        writes(team.cy, 3, 1)
        return team.begin()

    def merge(*seen: int, body: str = TEXT) -> Json:
        return {"op": "mergeDocument", "document": DOC, "seen": [rev(each) for each in seen], "body": body}

    plain, more, undecided, one = apart(), apart(), apart(), known().begin()
    writes(more.ada, 4, 1)
    marked = f"<<<<<<< {R2}\nText 2.\n=======\nText 3.\n>>>>>>> {R3}\n"
    joined = of(1, R2, R3, cause="merge")
    return [
        case(
            "revisions-joined",
            "A person joins revisions that stand beside each other in one that follows them all",
            plain,
            ok(merge(2, 3), changed=True),
            reads("$revision1", texts={"$revision1": TEXT}),
            plain.sync(shared=[said(revision=joined)]),
            refused(merge(2, 3), "conflict"),
        ),
        case(
            "revisions-joined-that-were-seen",
            "A revision that came while others were joined stands beside what they became",
            more,
            more.sync(),
            ok(merge(2, 3)),
            ok(READ, texts={"$revision2": TEXT, rev(4): text(4)}),
        ),
        case(
            "revisions-that-conflict",
            "Revisions are not joined by a text that still says both",
            undecided,
            refused(merge(2, 3, body=marked), "conflict"),
            is_now(2, 3),
            undecided.sync(shared=[]),
        ),
        case(
            "nothing-to-join",
            "One revision is joined with none",
            one,
            refused(merge(1), "conflict"),
            one.sync(shared=[]),
        ),
    ]


def described() -> list[Json]:
    named = known()
    says(named.ada, slug="pruning")
    writes(named.cy, 2, of=doc(2), meta={"slug": "felling"})
    named.begin()
    accepted, apart = known().begin(), known()
    writes(apart.ada, 2, 1)
    writes(apart.cy, 3, 1)
    apart.begin()
    return [
        case(
            "another-name",
            "A document that gets another name is still found by the one it had",
            named,
            refused(describes(slug="felling"), "conflict"),
            ok(describes(slug="how-to-prune")),
            is_now(1, slug="how-to-prune"),
            named.sync(shared=[said(meta={"slug": "how-to-prune", "aliases": ["pruning"]})]),
        ),
        case(
            "accepted-here",
            "Who accepts a document accepts its latest text",
            accepted,
            ok(describes(status="accepted")),
            is_now(1, status="accepted"),
            accepted.sync(shared=[said(meta={"status": "accepted"}, review={"rev": rev(1)})]),
        ),
        case(
            "accepted-while-apart",
            "A document is not accepted while revisions stand beside each other",
            apart,
            refused(describes(status="accepted"), "conflict"),
            apart.sync(shared=[]),
        ),
    ]


def decided() -> list[Json]:
    """What a teammate's agent changed of an accepted document, and a person here decides."""
    found = []
    for id, title, approve, after, told in (
        (
            "a-held-change-approved",
            "A held change counts once a person approves it",
            True,
            is_now(2, held=[]),
            said(review={"rev": R2}),
        ),
        (
            "a-held-change-rejected",
            "A held change is left out for good by a text that follows it and says what was there before",
            False,
            reads("$revision3", held=[], texts={"$revision3": text(1)}),
            said(revision=of(3, rev(1), R2, cause="reject", body=text(1))),
        ),
    ):
        team = known()
        says(team.ada, status="accepted")
        team.begin()
        writes(team.cy, 2, 1, by="agent:cy/kiln")
        step = {"op": "decideRevision", "document": DOC, "revision": R2, "approve": approve}
        found.append(
            case(
                id,
                title,
                team,
                team.sync(),
                is_now(1, held=[R2]),
                ok(step),
                after,
                team.sync(shared=[told]),
                refused(step, "conflict"),
            )
        )
    return found


def gone() -> list[Json]:
    back = known().begin()
    writes(back.ada, 2, 1)
    later = back.sync()
    removed = known().begin(agents=AGENTS)
    away = known()
    removes(away.cy)
    away.begin(agents=AGENTS)
    remove = {"op": "removeDocument", "document": DOC}
    return [
        case(
            "an-earlier-text",
            "A document that gets the text it had before gets a revision of its own",
            back,
            later,
            is_now(2),
            ok({"op": "revertDocument", "document": DOC, "revision": rev(1)}, changed=True),
            reads("$revision3", texts={"$revision3": text(1)}),
            back.sync(shared=[said(revision=of(3, R2, cause="revert", body=text(1)))]),
            refused({"op": "revertDocument", "document": DOC, "revision": rev(9)}, "not-found"),
        ),
        case(
            "removed-here",
            "A person removes a document once",
            removed,
            removed.sync(),
            ok(remove),
            is_now(),
            removed.sync(shared=[{"type": "doc", "body": {"doc": DOC, "kind": "remove", "by": "human:bob"}}]),
            refused(remove, "conflict"),
        ),
        case(
            "brought-back-here",
            "A person's text brings a document back that was removed, and a program's does not",
            away,
            away.sync(),
            refused(puts(KILN_HERE, document=DOC), "forbidden"),
            is_now(),
            ok(puts(PERSON, document=DOC), changed=True),
            reads("$revision4"),
        ),
    ]


VECTORS = [*written(), *by_programs(), *merged(), *described(), *decided(), *gone()]
