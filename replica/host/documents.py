"""What a person, and programs of theirs, do with documents here (F.7; federation wire 8.E).

Everything counts here at once, and is published with the next pass. A person's change counts for the team as it is.
An agent's or a session's does too where the document is no accepted one; else it is a proposal, which a gate of type
`doc` asks the person about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.errors import Code, DmpError, conflict, forbidden, invalid, not_found
from core.gate_data import is_close
from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender
from core.message import Message
from core.store.messages import answer_to, message_by_key
from core.text import cut, is_blank, is_one_line, utf8_len
from crypto.canonical import JsonValue
from replica.addresses import SYSTEM_ADDRESS
from replica.host import agents, doc_proposals, doc_text, raising
from replica.node import Node
from replica.quoting import quoted
from replica.records.commits import CommitPoint
from replica.shared.docs import graph, rows
from replica.shared.docs.bodies import (
    MAX_ALIASES,
    MAX_LINKS,
    MAX_PARENTS,
    MAX_SUMMARY_BYTES,
    MAX_TITLE_BYTES,
    About,
    DocPut,
    DocRemove,
    Link,
    Revision,
    Status,
    body_hash,
    check_body,
)
from replica.shared.docs.ids import revision_id
from replica.shared.docs.library import MAX_HELD, Document, Library
from replica.shared.docs.reading import read
from replica.shared.docs.rows import RevisionRow
from replica.shared.ids import new_id

JOINED: Final = "joined"
"""What the text of several revisions is called where another conflicts with it."""

_CLEAR_TITLE: Final = 80


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be put: `title` and `summary` are None where nobody gave any."""

    body: str
    title: str | None = None
    summary: str = ""
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """What became of a text: the document as it is now, and the id of the revision.

    Without a change there is no new revision. `gate` asks about a proposal.
    """

    document: Document
    revision: str
    changed: bool = True
    gate: Message | None = None


def create(node: Node, author: str, text: Text, slug: str | None) -> Put:
    """Make a document; an agent's or a session's has no slug until a person gives it one.

    Raises DmpError: `invalid` on the field at fault, `conflict` on `slug` for one that is taken, `forbidden`.
    """
    _check_author(node, author)
    if slug is not None and not _is_person(author):
        raise forbidden("slug", "only a person names a document; leave the slug out")
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        if slug is not None:
            _check_free(read(node.store, node.me), slug)
        doc = new_id("doc-", node.random, node.wall())
        title = text.title or _heading(text.body) or slug or "Untitled"
        revision = _revision(node, doc, author, text, (), "create", title)
        rows.write(db, DocPut(doc, author, revision, About(slug=slug)))
    return Put(read(node.store, node.me).need(doc), revision.id)


def put(node: Node, author: str, named: str, text: Text, base: str | None, cause: str = "save") -> Put:
    """Give a document a new text, made from the revision `base`; None for its one latest.

    Raises DmpError: `invalid`; `not-found` on `doc` or `revision`; `conflict` on `base` where it cannot be told what
    the text was made from; `forbidden`; `limited` for an author of whom enough proposals wait.
    """
    _check_author(node, author)
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        document = read(node.store, node.me).need(named)
        if document.is_removed and not _is_person(author):
            raise forbidden("doc", f"{document.id} was removed; only a person brings it back")
        parent = _one_head(document) if base is None else _need_base(document, base)
        head = document.heads[0] if len(document.heads) == 1 else None
        title = text.title or _title_after(node, parent, text.body)
        for same in (parent, head):
            if same is None or document.is_removed:
                continue
            if (same.hash, same.title) == (body_hash(text.body), title):
                return Put(document, same.id, changed=False)
        revision = _revision(node, document.id, author, text, (parent.id,), cause, title)
        if _is_person(author) or document.status != "accepted":
            rows.write(db, DocPut(document.id, author, revision))
        else:
            _check_patience(node, author)
            doc_proposals.add(db, revision, document.id)
    now = read(node.store, node.me).need(document.id)
    if revision.id in now.revisions:
        return Put(now, revision.id)
    return Put(now, revision.id, gate=proposal_gate(node, document.id, revision))


def joined(node: Node, document: Document) -> doc_text.Joined:
    """The latest revisions of a document as one text, in which what several of them changed is marked.

    Raises DmpError as `doc_text.join`, and `conflict` on `doc` for more than one revision joins.
    """
    db, revisions = node.store.db, document.revisions
    if len(document.heads) > MAX_PARENTS:
        raise conflict(
            "doc",
            f"{document.name} has {len(document.heads)} concurrent revisions, too many to join by parts; take one with "
            "--take, or give the text in a file",
        )
    first, *others = document.heads
    found = doc_text.Joined(rows.body_of(db, first), 0)
    for index, other in enumerate(others):
        base = graph.base(revisions, [each.id for each in document.heads[: index + 1]], other.id)
        found = doc_text.join(
            doc_text.Side("nothing", "") if base is None else _side(node, base),
            doc_text.Side(first.id if index == 0 else JOINED, found.body),
            _side(node, other),
        )
    marks = [*(head.id for head in document.heads), JOINED]
    return doc_text.Joined(found.body, int(doc_text.is_undecided(found.body, marks)))


def merge(node: Node, named: str, text: Text, seen: Sequence[str]) -> Put:
    """Join concurrent revisions in one, by the person, who saw those of the ids `seen` and no others.

    Raises DmpError: `invalid`; `not-found` on `doc`; `conflict` on `doc` where they are joined already, and on `body`
    for a text that has marks of conflicts.
    """
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        document = read(node.store, node.me).need(named)
        latest = {head.id for head in document.heads}
        if len(latest) < 2 or len(set(seen)) < 2 or not latest & set(seen):
            raise conflict("doc", f"{document.name} has no concurrent revisions to merge (any more)")
        standings = document.standings()
        if any(standings.get(id_) not in ("head", "past") for id_ in seen):
            raise conflict(
                "doc", f"what was to be merged of {document.name} does not count any more; begin again"
            )
        if doc_text.is_undecided(text.body, [*seen, JOINED]):
            raise conflict("body", "the text has marks of conflicts still: lines of <<<<<<< and >>>>>>>")
        title = text.title or _title_after(node, document.heads[0], text.body)
        left = list(dict.fromkeys(seen))
        while len(left) > 1:  # one revision joins so many and no more
            revision = _revision(
                node, document.id, node.address, text, tuple(left[:MAX_PARENTS]), "merge", title
            )
            rows.write(db, DocPut(document.id, node.address, revision))
            left = [revision.id, *left[MAX_PARENTS:]]
    return Put(read(node.store, node.me).need(document.id), left[0])


def _side(node: Node, row: RevisionRow) -> doc_text.Side:
    return doc_text.Side(row.id, rows.body_of(node.store.db, row))


def revert(node: Node, named: str, to: str, summary: str = "") -> Put:
    """Give a document the text it had in an earlier revision, by the person.

    Raises DmpError as `put`.
    """
    library = read(node.store, node.me)
    document = library.need(named)
    earlier = document.revisions.get(to)
    if earlier is None:
        raise not_found("revision", f"{document.name} has no such revision; `dmp doc log` lists those it has")
    body = rows.body_of(node.store.db, earlier)
    return put(node, node.address, document.id, Text(body, earlier.title, summary), None, "revert")


def describe(
    node: Node,
    named: str,
    *,
    slug: str | None = None,
    status: Status | None = None,
    aliases: Sequence[str] = (),
    linked: Sequence[Link] = (),
    unlinked: Sequence[Link] = (),
) -> Document:
    """Say something of a document beside its text, by the person. Accepting it is accepting its latest text.

    A slug that it had before becomes an alias. Raises DmpError: `not-found` on `doc`; `conflict` on `slug`, or on
    `status` while there are concurrent revisions; `invalid` for more than an op carries.
    """
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        library = read(node.store, node.me)
        document = library.need(named)
        names = dict.fromkeys(alias for alias in aliases if alias not in document.aliases)
        if slug is not None and slug != document.slug:
            _check_free(library, slug, document)
            if document.slug is not None:
                names[document.slug] = None
        links = None
        if linked or unlinked:
            links = tuple(sorted({*document.links, *linked} - set(unlinked)))
        if len(names) > MAX_ALIASES or len(links or ()) > MAX_LINKS:
            raise invalid(
                "aliases" if len(names) > MAX_ALIASES else "links",
                f"a document takes {MAX_ALIASES} new aliases at a time, and {MAX_LINKS} links",
            )
        review = None
        if status == "accepted":
            if len(document.heads) > 1:
                raise conflict("status", f"{document.name} has concurrent revisions; merge them first")
            review = document.heads[0].id if document.heads else None
        about = About(slug, status, links, tuple(names))
        rows.write(db, DocPut(document.id, node.address, about=about, review=review))
    return read(node.store, node.me).need(document.id)


def remove(node: Node, named: str) -> Document:
    """Take a document away, by the person. A later revision of a person's brings it back.

    Raises DmpError `not-found` on `doc`, `conflict` there for one that is away already.
    """
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        document = read(node.store, node.me).need(named)
        if document.is_removed:
            raise conflict("doc", f"{document.id} was removed already")
        rows.write(db, DocRemove(document.id, node.address))
    return document


# What waits for a decision


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that an agent or a session here proposes, and the gate that asks about it, once it is raised."""

    doc: str
    revision: Revision
    gate: Message | None


def proposals(node: Node) -> list[Proposal]:
    """The proposals that wait for the person, the earliest first; one whose gate was closed waits no more."""
    found = []
    for doc, revision in doc_proposals.every(node.store.db):
        gate = message_by_key(node.store.db, SYSTEM_ADDRESS, doc_proposals.gate_key(revision.id))
        answer = None if gate is None else answer_to(node.store.db, gate.id)
        if answer is None or not is_close(answer, SYSTEM_ADDRESS):
            found.append(Proposal(doc, revision, gate))
    return found


def approve(node: Node, named: str, revision: str) -> Document:
    """Let a held or proposed revision of a document count, by the person.

    Raises DmpError: `not-found` on `doc` or `revision`, `conflict` there for one that waits for no decision.
    """
    document = read(node.store, node.me).need(named)
    if _answer(node, document, revision, "approve"):
        return read(node.store, node.me).need(document.id)
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        row = _need_held(read(node.store, node.me).need(document.id), revision)
        rows.write(db, DocPut(document.id, node.address, review=row.id))
    return read(node.store, node.me).need(document.id)


def reject(node: Node, named: str, revision: str, reason: str = "") -> Document:
    """Leave a held or proposed revision, and what it follows, out of a document for good, by the person.

    A held one stays in the history: a revision with the text as it is follows it. Raises DmpError as `approve`, and
    `conflict` on `revision` for the only text there is.
    """
    _check_line("reason", reason, MAX_SUMMARY_BYTES)
    document = read(node.store, node.me).need(named)
    if _answer(node, document, revision, "reject", reason):
        return document
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        document = read(node.store, node.me).need(document.id)
        row = _need_held(document, revision)
        if not document.heads:
            raise conflict("revision", f"{document.name} has no other text; approve this one, or remove it")
        kept = document.heads[0]
        text = Text(rows.body_of(db, kept), kept.title, reason)
        said = _revision(node, document.id, node.address, text, (kept.id, row.id), "reject", kept.title)
        rows.write(db, DocPut(document.id, node.address, said))
    return read(node.store, node.me).need(document.id)


def proposal_gate(node: Node, doc: str, revision: Revision) -> Message:
    """The gate of a proposal, which is raised where it was not yet."""
    data: dict[str, JsonValue] = {"doc": doc, "proposal": revision.id}
    if revision.task is not None:
        data["taskId"] = revision.task
    if revision.author.startswith("run:"):
        data["runId"] = revision.author.partition(":")[2]
    summary = f": {quoted(revision.summary)}" if revision.summary else ""
    body = (
        f"Change {quoted(revision.title, _CLEAR_TITLE)} as {revision.author} proposes{summary}? "
        f"`dmp doc diff {doc} {revision.id}` shows the change."
    )
    return raising.raise_gate(
        node, GATE_TYPES["doc"], data, body=body, key=doc_proposals.gate_key(revision.id)
    ).message


def _answer(node: Node, document: Document, revision: str, choice: str, reason: str = "") -> bool:
    """Decide a proposal as its gate does; False for a revision that is none."""
    found = doc_proposals.find(node.store.db, revision)
    if found is None or found[0] != document.id:
        return False
    gate = proposal_gate(node, *found)
    if answer_to(node.store.db, gate.id) is not None:
        raise conflict("revision", "the gate that asked about it was closed; have it proposed again")
    node.engine.reply(Sender(node.address, can_decide=True), gate.id, ReplyInput(reason, choice=choice))
    return True


# Checks


def _check_author(node: Node, author: str) -> None:
    if author.startswith("agent:") and agents.need(node.store.db, author).status != "approved":
        raise forbidden("from", f"{author} is not approved; `dmp agent approve` lets it write")


def _check_patience(node: Node, author: str) -> None:
    if sum(each.revision.author == author for each in proposals(node)) >= MAX_HELD:
        raise DmpError(
            Code.LIMITED,
            f"{MAX_HELD} proposals of {author} wait for a decision already; `dmp doc held` lists them",
        )


def _is_person(author: str) -> bool:
    return author.startswith("human:")


def _check_free(library: Library, slug: str, document: Document | None = None) -> None:
    taken = next((each for each in library.there() if each.slug == slug), None)
    if taken is not None and (document is None or taken.id != document.id):
        raise conflict("slug", f"another document is called {slug}: {taken.id}; choose another slug")


def _one_head(document: Document) -> RevisionRow:
    if len(document.heads) > 1:
        raise conflict(
            "base",
            f"{document.name} has {len(document.heads)} concurrent revisions; merge them first, or say with --base "
            "which one this text was made from",
        )
    if not document.heads:
        raise conflict("base", f"nothing of {document.name} was decided on yet; see `dmp doc held`")
    return document.heads[0]


def _need_base(document: Document, base: str) -> RevisionRow:
    row = document.revisions.get(base)
    if row is None or document.standing(base) == "waiting":
        raise conflict(
            "base", f"{document.name} has no revision {base} that all is known of; name another with --base"
        )
    return row


def _need_held(document: Document, revision: str) -> RevisionRow:
    row = document.revisions.get(revision)
    if row is None:
        raise not_found("revision", f"{document.name} has no such revision; `dmp doc held` lists what waits")
    if document.standing(row.id) not in ("held", "over"):
        raise conflict("revision", f"{row.id} waits for no decision; `dmp doc held` lists what does")
    return row


def _revision(
    node: Node, doc: str, author: str, text: Text, parents: tuple[str, ...], cause: str, title: str
) -> Revision:
    check_body(text.body)
    if text.title is not None:
        _check_line("title", text.title, MAX_TITLE_BYTES)
        if is_blank(text.title):
            raise invalid("title", "a title is not blank")
    _check_line("summary", text.summary, MAX_SUMMARY_BYTES)
    task = text.task
    if task is None and author.startswith("run:"):
        address = node.host.work_item(author)
        task = None if address is None else address.partition(":")[2]
    made = Revision("", parents, title, text.body, author, cause, text.summary, node.now(), None, task)
    return replace(made, id=revision_id(doc, made))


def _check_line(field: str, text: str, limit: int) -> None:
    try:
        fits = is_one_line(text) and utf8_len(text) <= limit
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise invalid(field, f"the {field} is one line of at most {limit} bytes")


def _title_after(node: Node, parent: RevisionRow, body: str) -> str:
    """The title of a text made from a revision: a new heading, else what it was called, which may have been given."""
    heading = _heading(body)
    is_new = heading is not None and heading != _heading(rows.body_of(node.store.db, parent))
    return heading if heading is not None and is_new else parent.title


def _heading(body: str) -> str | None:
    """What a text calls itself: its first line that is not blank, where that is a heading of Markdown."""
    first = next((line for line in body.split("\n", 50)[:50] if not is_blank(line)), "")
    if not first.startswith("# "):
        return None
    title = " ".join(first[2 : 2 + MAX_TITLE_BYTES].split())
    while utf8_len(title) > MAX_TITLE_BYTES:
        title = cut(title, len(title) - 1)
    return title or None
