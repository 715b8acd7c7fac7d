"""All documents, as a pure function of the set of what was said of them (F.7; wire 8.18, 8.20).

Nothing here depends on the order in which anything arrived, nor on a clock of this machine's. A revision waits while
an ancestor, or the claim of the session that wrote it, is missing. Of an accepted document a revision counts once a
person stands behind it, or behind one that descends from it; until then it is held. Everything else counts at once.
Revisions that nothing descends from are the heads; of several none is preferred, until a person joins them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from core.errors import not_found
from core.text import shown
from replica.shared.docs import graph
from replica.shared.docs.bodies import CONTEXT, DOC_ID, MAX_SLUG, Link, Status
from replica.shared.docs.ids import revision_id
from replica.shared.docs.rows import NoteRow, Place, RevisionRow, Row

MAX_HELD: Final = 50
"""Held revisions of one publisher, the earliest first; the others come up as these are decided (8.20)."""

MAX_CHAIN: Final = 50
"""Held revisions that follow one another; a longer chain is cut there until some of it is decided (8.20)."""

_T = TypeVar("_T")

_SUFFIXES: Final = (6, 10, 16, 26)
"""Characters of a document's id that tell it from others of its name."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it stands.

    `slug` is what it is called here: of several documents that were given one name, one alone bears it as it is.
    `heads` are its latest revisions, the latest first, `past` what they descend from. `held` wait for a person's
    decision, and `passed_over` counts more of them. `waiting` lack something.
    """

    id: str
    status: Status
    slug: str | None
    aliases: tuple[str, ...]
    links: tuple[Link, ...]
    is_removed: bool
    revisions: Mapping[str, RevisionRow]
    heads: tuple[RevisionRow, ...]
    past: Set[str]
    held: tuple[RevisionRow, ...]
    waiting: tuple[RevisionRow, ...]
    passed_over: int = 0

    @property
    def title(self) -> str:
        """What its latest revision is called."""
        latest = self.heads or self.held
        return latest[0].title if latest else ""

    @property
    def is_there(self) -> bool:
        """Whether it has a revision that all is known of, and was not removed."""
        return not self.is_removed and bool(self.heads or self.held or self.passed_over)

    @property
    def name(self) -> str:
        """What to call it: its slug, or its id."""
        return self.slug or self.id

    def standing(self, revision: str) -> str:
        """What a revision is: `head`, `past`, `held`, `waiting`, or `over` for one held beyond the bounds."""
        return self.standings().get(revision, "over")

    def standings(self) -> dict[str, str]:
        """What every revision is that is held within the bounds, waits or counts."""
        found = dict.fromkeys(self.past, "past")
        for name, rows in (("head", self.heads), ("held", self.held), ("waiting", self.waiting)):
            found |= {row.id: name for row in rows}
        return found


@dataclass(frozen=True, slots=True)
class Library:
    """Every document by its id, in the order of ids."""

    documents: Mapping[str, Document]

    def there(self) -> Iterator[Document]:
        """The documents there are, in the order of ids."""
        return (each for each in self.documents.values() if each.is_there)

    def find(self, named: str) -> Document | None:
        """The document of an id, a slug, or an alias; one that was removed by its id alone."""
        if DOC_ID.fullmatch(named):
            found = self.documents.get(named)
            return found if found is not None and (found.is_there or found.is_removed) else None
        by_name = [each for each in self.there() if each.slug == named]
        return next(iter(by_name or [each for each in self.there() if named in each.aliases]), None)

    def need(self, named: str) -> Document:
        """The document of an id, a slug or an alias. Raises DmpError `not-found` on `doc`."""
        found = self.find(named)
        if found is None:
            raise not_found(
                "doc", f"there is no document {shown(named)}; `dmp doc list` shows those there are"
            )
        return found


def library(rows: Iterable[Row], claims: Set[tuple[str, str]]) -> Library:
    """What was said, put together. `claims` are the sessions that replicas claim, as (session, replica)."""
    revisions: dict[str, list[RevisionRow]] = {}
    notes: dict[str, list[NoteRow]] = {}
    for row in sorted(rows, key=lambda row: row.place):
        if isinstance(row, RevisionRow):
            revisions.setdefault(row.doc, []).append(row)
        elif _is_claimed(row.by, row, claims):
            notes.setdefault(row.doc, []).append(row)
    found = {
        doc: _document(doc, revisions.get(doc, []), notes.get(doc, []), claims)
        for doc in sorted(revisions.keys() | notes.keys())
    }
    return Library(_named(_bounded(found)))


def _is_claimed(author: str, row: Row, claims: Set[tuple[str, str]]) -> bool:
    return not author.startswith("run:") or row.is_unpublished or (author, row.replica) in claims


def _document(
    doc: str, said: list[RevisionRow], notes: list[NoteRow], claims: Set[tuple[str, str]]
) -> Document:
    revisions: dict[str, RevisionRow] = {}
    for row in said:
        other = revisions.setdefault(row.id, row)
        if other is not row:
            revisions[row.id] = _meant(other, row, claims)
    known = {id_: row for id_, row in revisions.items() if _is_complete(row, claims)}
    ordered = graph.whole(known)
    everything = set(ordered)
    status: Status = _last(note.about.status for note in notes if note.is_a_persons) or "draft"
    counted = everything
    if status == "accepted":
        counted = graph.with_ancestors(known, _stood_behind(known, everything, notes))
    latest = graph.heads(known, counted)
    chains = graph.chains(known, ordered, everything - counted)
    return Document(
        id=doc,
        status=status,
        slug=_last(note.about.slug for note in notes if note.is_a_persons),
        aliases=tuple(sorted({alias for note in notes for alias in note.about.aliases})),
        links=_links(notes),
        is_removed=_is_removed([known[id_] for id_ in ordered], notes),
        revisions=revisions,
        heads=tuple(latest),
        past=counted - {row.id for row in latest},
        held=tuple(graph.in_order(known[id_] for id_, length in chains.items() if length <= MAX_CHAIN)),
        waiting=tuple(graph.in_order(row for id_, row in revisions.items() if id_ not in everything)),
        passed_over=sum(length > MAX_CHAIN for length in chains.values()),
    )


def _meant(earlier: RevisionRow, later: RevisionRow, claims: Set[tuple[str, str]]) -> RevisionRow:
    """Which of two revisions with one id is meant: the one the id was made from, else one that need not wait."""
    for test in (_is_certain, lambda row: _is_complete(row, claims)):
        if test(earlier) != test(later):
            return earlier if test(earlier) else later
    return earlier


def _is_certain(row: RevisionRow) -> bool:
    return revision_id(row.doc, row) == row.id


def _is_complete(row: RevisionRow, claims: Set[tuple[str, str]]) -> bool:
    return _is_claimed(row.by, row, claims) and _is_claimed(row.author, row, claims)


def _stood_behind(known: Mapping[str, RevisionRow], whole: Set[str], notes: list[NoteRow]) -> set[str]:
    """The revisions of an accepted document that a person wrote, approved of or reviewed.

    Whoever accepted the document without saying which text meant what was there by the clock.
    """
    found = {id_ for id_ in whole if known[id_].is_a_persons}
    with_text = {row.place for row in known.values()}
    accepted: Place | None = None
    for note in notes:
        if note.is_a_persons and note.review is not None:
            found.update({note.review} & whole)
        elif note.is_a_persons and note.about.status == "accepted" and note.place not in with_text:
            accepted = note.place
    if accepted is not None:
        found.update(id_ for id_ in whole if known[id_].place < accepted)
    return found


def _is_removed(whole: list[RevisionRow], notes: list[NoteRow]) -> bool:
    """Whether a person removed it after the last revision that a person stands behind."""
    removals = [note.place for note in notes if note.removes and note.is_a_persons]
    return bool(removals) and all(row.place < removals[-1] for row in whole if row.is_a_persons)


def _links(notes: list[NoteRow]) -> tuple[Link, ...]:
    """What a person linked last; of the context alone, what anybody linked after that."""
    links: list[Link] = []
    for note in notes:
        if note.about.links is None:
            continue
        context = [link for link in note.about.links if link.relation == CONTEXT]
        firm = note.about.links if note.is_a_persons else links
        links = [*(link for link in firm if link.relation != CONTEXT), *context]
    return tuple(links)


def _bounded(found: Mapping[str, Document]) -> dict[str, Document]:
    """Hold no more of one publisher than MAX_HELD, over all documents."""
    used: Counter[str] = Counter()
    kept: set[tuple[str, str]] = set()
    there = [document for document in found.values() if document.is_there]
    held = (row for document in there for row in document.held)
    for row in graph.in_order(held):
        used[row.replica] += 1
        if used[row.replica] <= MAX_HELD:
            kept.add((row.doc, row.id))
    return {**found, **{document.id: _keeping(document, kept) for document in there}}


def _keeping(document: Document, kept: Set[tuple[str, str]]) -> Document:
    held = tuple(row for row in document.held if (row.doc, row.id) in kept)
    over = len(document.held) - len(held)
    return replace(document, held=held, passed_over=document.passed_over + over) if over else document


def _named(found: Mapping[str, Document]) -> dict[str, Document]:
    """Give each document that is there a name of its own: of one slug, the lowest id keeps it (8.20)."""
    there = [document for document in found.values() if document.is_there and document.slug is not None]
    taken: dict[str, str] = {}
    for document in there:
        taken.setdefault(document.slug or "", document.id)
    names = {id_: slug for slug, id_ in taken.items()}
    for document in there:
        if document.id not in names:
            name = _told_apart(document, taken)
            if name is not None:
                taken[name], names[document.id] = document.id, name
    return {id_: replace(document, slug=names.get(id_)) for id_, document in found.items()}


def _told_apart(document: Document, taken: Mapping[str, str]) -> str | None:
    """A slug with as much of the document's id behind it as makes it one of its own; None where none does."""
    for size in _SUFFIXES:
        suffix = f"-{document.id[-size:].lower()}"
        name = f"{(document.slug or '')[: MAX_SLUG - len(suffix)]}{suffix}"
        if name not in taken:
            return name
    return None


def _last(values: Iterable[_T | None]) -> _T | None:
    """The last that is not None."""
    found: _T | None = None
    for value in values:
        found = found if value is None else value
    return found
