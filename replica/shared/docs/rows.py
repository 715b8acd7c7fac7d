"""What was said of documents, as the store has it: folded from ops, and written here and not published yet.

The folded rows are the set of doc ops that count, each by itself and without its body, which stays in the op. What
a document comes to is computed from them when it is read (replica.shared.docs.library), so their order of arrival
cannot matter.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.errors import damaged
from core.text import utf8_len
from crypto.canonical import JsonValue, canonical, parse
from crypto.clock import Reading
from crypto.op import Op
from replica.records import ops
from replica.shared.docs.bodies import About, DocPut, DocRemove, Link, Revision, body_hash, parse_doc

Place: TypeAlias = tuple[int, int, int, str, int]
"""Where something stands among all that was said: by the numbers of its clock, its replica and its seq. What is not
published yet comes after everything."""

_PUBLISHED: Final = 0
_HERE: Final = 1

_REVISION: Final = (
    "replica, seq, hlc, doc, by_, rev, parents_json, title, size, hash, author, approved_by, cause, summary, "
    "created_at, task"
)
_NOTE: Final = "replica, seq, hlc, doc, by_, removes, slug, status, links_json, aliases_json, review"


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """A revision without its body. `seq` is None for one that is not published yet.

    `by` is who published it, which `author` may have left to another, and `approved_by` the person who approved of it
    then, if the publisher speaks for them. `size` counts the bytes of the body.
    """

    id: str
    doc: str
    place: Place
    replica: str
    seq: int | None
    by: str
    parents: tuple[str, ...]
    title: str
    size: int
    hash: str
    author: str
    approved_by: str | None
    cause: str
    summary: str
    created_at: str
    task: str | None

    @property
    def is_unpublished(self) -> bool:
        """Whether it was written here and is not published yet."""
        return self.place[0] == _HERE

    @property
    def is_a_persons(self) -> bool:
        """Whether a person that its publisher speaks for wrote it, or approved of it."""
        return self.approved_by is not None or self.author.startswith("human:")


@dataclass(frozen=True, slots=True)
class NoteRow:
    """What one op says of a document beside a revision."""

    doc: str
    place: Place
    replica: str
    by: str
    removes: bool
    about: About
    review: str | None

    @property
    def is_unpublished(self) -> bool:
        """Whether it was said here and is not published yet."""
        return self.place[0] == _HERE

    @property
    def is_a_persons(self) -> bool:
        """Whether a person that its publisher speaks for said it."""
        return self.by.startswith("human:")


Row: TypeAlias = RevisionRow | NoteRow


def _rows_of(said: DocPut | DocRemove, place: Place, replica: str, seq: int | None) -> Iterator[Row]:
    """What one op, or one change that is to become one, says."""
    if isinstance(said, DocRemove):
        yield NoteRow(said.doc, place, replica, said.by, True, About(), None)
        return
    if said.revision is not None:
        yield _row(said.revision, said, place, replica, seq)
    if said.about != About() or said.review is not None:
        yield NoteRow(said.doc, place, replica, said.by, False, said.about, said.review)


def _row(revision: Revision, said: DocPut, place: Place, replica: str, seq: int | None) -> RevisionRow:
    return RevisionRow(
        id=revision.id,
        doc=said.doc,
        place=place,
        replica=replica,
        seq=seq,
        by=said.by,
        parents=revision.parents,
        title=revision.title,
        size=utf8_len(revision.body),
        hash=revision.hash,
        author=revision.author,
        approved_by=None if revision.approval is None else revision.approval.by,
        cause=revision.cause,
        summary=revision.summary,
        created_at=revision.created_at,
        task=revision.task,
    )


def fold(db: sqlite3.Connection, op: Op, said: DocPut | DocRemove) -> None:
    """Keep what an op says, as it was judged, inside an open transaction."""
    for row in _rows_of(said, _place(op.hlc, op.seq), op.replica, op.seq):
        _insert(db, row, op.hlc, op.seq)


def _insert(db: sqlite3.Connection, row: Row, hlc: Reading, seq: int) -> None:
    if isinstance(row, RevisionRow):
        values = (
            *(
                row.replica,
                seq,
                str(hlc),
                row.doc,
                row.by,
                row.id,
                json.dumps(row.parents),
                row.title,
                row.size,
            ),
            *(row.hash, row.author, row.approved_by, row.cause, row.summary, row.created_at, row.task),
        )
        db.execute(f"INSERT OR IGNORE INTO doc_revisions ({_REVISION}) VALUES ({_marks(values)})", values)
        return
    about = row.about
    links = (
        None
        if about.links is None
        else json.dumps([[each.type, each.id, each.relation] for each in about.links])
    )
    said = (
        *(row.replica, seq, str(hlc), row.doc, row.by, row.removes),
        *(about.slug, about.status, links, json.dumps(about.aliases), row.review),
    )
    db.execute(f"INSERT OR IGNORE INTO doc_notes ({_NOTE}) VALUES ({_marks(said)})", said)


def _marks(values: tuple[object, ...]) -> str:
    return ", ".join("?" * len(values))


def published(db: sqlite3.Connection) -> Iterator[Row]:
    """All that was folded, in no order."""
    for row in db.execute(f"SELECT {_REVISION} FROM doc_revisions"):
        yield _revision(row)
    for row in db.execute(f"SELECT {_NOTE} FROM doc_notes"):
        yield _note(row)


def knows(db: sqlite3.Connection, doc: str) -> bool:
    """Whether any folded op speaks of a document."""
    tables = ("doc_revisions", "doc_notes")
    return any(
        db.execute(f"SELECT 1 FROM {table} WHERE doc = ? LIMIT 1", (doc,)).fetchone() for table in tables
    )


def _revision(row: tuple[str, ...]) -> RevisionRow:
    (
        replica,
        seq,
        hlc,
        doc,
        by,
        rev,
        parents,
        title,
        size,
        hash_,
        author,
        approved,
        cause,
        summary,
        at,
        task,
    ) = row
    return RevisionRow(
        id=rev,
        doc=doc,
        place=_place(Reading.parse(hlc), int(seq)),
        replica=replica,
        seq=int(seq),
        by=by,
        parents=tuple(json.loads(parents)),
        title=title,
        size=int(size),
        hash=hash_,
        author=author,
        approved_by=approved,
        cause=cause,
        summary=summary,
        created_at=at,
        task=task,
    )


def _note(row: tuple[str, ...]) -> NoteRow:
    replica, seq, hlc, doc, by, removes, slug, status, links, aliases, review = row
    about = About(
        slug=slug,
        status=status,  # type: ignore[arg-type]
        links=None if links is None else tuple(Link(*each) for each in json.loads(links)),
        aliases=tuple(json.loads(aliases)),
    )
    return NoteRow(doc, _place(Reading.parse(hlc), int(seq)), replica, by, bool(removes), about, review)


def _place(reading: Reading, seq: int) -> Place:
    return (_PUBLISHED, reading.ms, reading.counter, reading.replica, seq)


# Written here and not published yet


def write(db: sqlite3.Connection, said: DocPut | DocRemove) -> None:
    """Say something of a document here, inside an open transaction. It counts here at once.

    Raises DmpError `invalid` for what teammates would drop.
    """
    parse_doc(said.to_json())
    revision = said.revision if isinstance(said, DocPut) else None
    author = said.by if revision is None else revision.author
    db.execute(
        "INSERT INTO doc_unpublished (session, body_json) VALUES (?, ?)",
        (author if author.startswith("run:") else None, canonical(said.to_json()).decode()),
    )


def unpublished(db: sqlite3.Connection, me: str) -> Iterator[Row]:
    """What was said here and is not published yet, in the order in which it was said."""
    for id_ in waiting(db):
        yield from _rows_of(parse_doc(waiting_body(db, id_)), (_HERE, id_, 0, "", 0), me, None)


def waiting(db: sqlite3.Connection) -> list[int]:
    """What is to be published, in order."""
    return [id_ for (id_,) in db.execute("SELECT id FROM doc_unpublished ORDER BY id")]


def waiting_body(db: sqlite3.Connection, id_: int) -> JsonValue:
    """The body of an op that is to be published. Raises DmpError `unavailable` where there is none."""
    found = db.execute("SELECT body_json FROM doc_unpublished WHERE id = ?", (id_,)).fetchone()
    if found is None:
        raise damaged("a change of a document")
    return parse(found[0]).value


def writers(db: sqlite3.Connection) -> set[str]:
    """The sessions that wrote what is not published yet."""
    return {run for (run,) in db.execute("SELECT session FROM doc_unpublished WHERE session IS NOT NULL")}


def forget(db: sqlite3.Connection, id_: int) -> None:
    """Take a change away that became an op, in the transaction that signed it."""
    db.execute("DELETE FROM doc_unpublished WHERE id = ?", (id_,))


def body_of(db: sqlite3.Connection, row: RevisionRow) -> str:
    """The text of a revision. Raises DmpError `unavailable` where the store has lost it."""
    if row.seq is not None:
        entry = ops.entry_at(db, row.replica, row.seq)
        content = entry.body if isinstance(entry, Op) else None
    else:
        content = waiting_body(db, row.place[1])
    revision = content.get("revision") if isinstance(content, dict) else None
    body = revision.get("body") if isinstance(revision, dict) else None
    if not isinstance(body, str) or body_hash(body) != row.hash:
        raise damaged(f"the revision {row.id}")
    return body
