"""Documents and their revisions, in a person's words and as JSON, and the files their texts are in."""

import sys
from pathlib import Path
from typing import Final

import click

from core.errors import conflict, invalid, not_found
from crypto.canonical import JsonValue
from replica.cli.context import Cli
from replica.cli.messages import replica_text
from replica.cli.text import body_lines, counted, moment, quoted
from replica.host import doc_files, doc_proposals
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.shared.docs import rows
from replica.shared.docs.bodies import MAX_BODY_BYTES, Revision, body_hash
from replica.shared.docs.library import Document
from replica.shared.docs.reading import read
from replica.shared.docs.rows import RevisionRow

STDIO: Final = "-"


def document_json(document: Document) -> dict[str, JsonValue]:
    """A document for programs."""
    return {
        "id": document.id,
        "slug": document.slug,
        "title": document.title,
        "status": document.status,
        "aliases": [*document.aliases],
        "links": [{"rel": link.relation, "type": link.type, "id": link.id} for link in document.links],
        "heads": [row.id for row in document.heads],
        "held": len(document.held) + document.passed_over,
        "waiting": len(document.waiting),
        "removed": document.is_removed,
    }


def revision_json(row: RevisionRow, standing: str) -> dict[str, JsonValue]:
    """A revision for programs."""
    return {
        "id": row.id,
        "parents": [*row.parents],
        "title": row.title,
        "author": row.author,
        "approvedBy": row.approved_by,
        "replica": row.replica,
        "cause": row.cause,
        "summary": row.summary,
        "createdAt": row.created_at,
        "task": row.task,
        "hash": row.hash,
        "size": row.size,
        "standing": standing,
        "published": row.seq is not None,
    }


def proposal_json(node: Node, revision: Revision) -> dict[str, JsonValue]:
    """A proposal of this machine for programs, as a revision."""
    return {
        "id": revision.id,
        "parents": [*revision.parents],
        "title": revision.title,
        "author": revision.author,
        "approvedBy": None,
        "replica": node.me,
        "cause": revision.cause,
        "summary": revision.summary,
        "createdAt": revision.created_at,
        "task": revision.task,
        "hash": revision.hash,
        "size": len(revision.body.encode()),
        "standing": "proposed",
        "published": False,
    }


def any_json(node: Node, document: Document, revision: str) -> JsonValue:
    """A revision of a document, or a proposal for it, for programs."""
    row = document.revisions.get(revision)
    if row is not None:
        return revision_json(row, document.standing(revision))
    proposal = doc_proposals.find(node.store.db, revision)
    return None if proposal is None else proposal_json(node, proposal[1])


def revision_text(node: Node, row: RevisionRow, standing: str) -> str:
    """A revision on one line."""
    who = row.author if row.approved_by is None else f"{row.author}, approved by {row.approved_by}"
    summary = f"  {quoted(row.summary)}" if row.summary else ""
    where = replica_text(node, row.replica)
    return f"{row.id}  {moment(row.created_at)}  {standing}, {row.cause} by {who} ({where}){summary}"


def state_text(document: Document) -> str:
    """What is to be done about a document, in few words."""
    held = len(document.held) + document.passed_over
    return ", ".join(
        part
        for part, there in (
            ("removed", document.is_removed),
            (f"{len(document.heads)} concurrent", len(document.heads) > 1),
            (f"{held} held", held),
            (f"{len(document.waiting)} waiting", document.waiting),
        )
        if there
    )


def say_what_to_do(cli: Cli, document: Document) -> None:
    """Say beside an answer what a person should do about a document."""
    if len(document.heads) > 1:
        cli.screen.say(
            f"{document.name} has {len(document.heads)} concurrent revisions. Join them with: "
            f"{cli.command(f'doc merge {document.name}')}"
        )
    held = len(document.held) + document.passed_over
    if held:
        cli.screen.say(
            f"{counted(held, 'change')} of it {'waits' if held == 1 else 'wait'} for a decision: "
            f"{cli.command('doc held')}"
        )


def find_text(node: Node, document: Document, revision: str) -> str:
    """The text of a revision of a document, or of a proposal for it. Raises DmpError `not-found` on `revision`."""
    row = document.revisions.get(revision)
    if row is not None:
        return rows.body_of(node.store.db, row)
    proposal = doc_proposals.find(node.store.db, revision)
    if proposal is None or proposal[0] != document.id:
        raise not_found("revision", f"{document.name} has no such revision; `dmp doc log` lists those it has")
    return proposal[1].body


# Files


def read_text(name: str) -> str:
    """The text in a file, or on standard input for `-`. Raises DmpError `invalid` on `FILE`."""
    try:
        raw = _read(name)
    except (OSError, ValueError) as error:
        raise invalid("FILE", f"cannot read it: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > MAX_BODY_BYTES:
        raise invalid("FILE", f"a document takes at most {MAX_BODY_BYTES} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise invalid("FILE", "it is no UTF-8 text") from None


def _read(name: str) -> bytes:
    """What there is to read, up to a byte more than a document takes."""
    if name != STDIO:
        with Path(name).open("rb") as file:
            return file.read(MAX_BODY_BYTES + 1)
    if sys.stdin is None:  # it was closed before the command started
        raise invalid("FILE", "standard input is closed")
    return sys.stdin.buffer.read(MAX_BODY_BYTES + 1)


def write_text(cli: Cli, node: Node, name: str, document: Document, text: str, revisions: list[str]) -> None:
    """Write a text to a file, and remember what it stands for; `-` is standard output.

    Raises DmpError: `conflict` on `output` for a file that has changes nobody put, `invalid` there where it cannot
    be written.
    """
    if name == STDIO:
        if not cli.as_json:
            _write_out(text)
        return
    path = Path(name)
    try:
        if path.exists() and not _is_known(node, path):
            raise conflict(
                "output", "that file is there already, with a text of its own; put it first, or name another"
            )
        path.write_bytes(text.encode())
    except (OSError, ValueError) as error:
        raise invalid("output", f"cannot write it: {getattr(error, 'strerror', None) or error}") from None
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        doc_files.remember(db, path, document.id, revisions)
    if not cli.as_json:
        cli.screen.say(f"Wrote {name}.")


def _is_known(node: Node, path: Path) -> bool:
    """Whether what is in a file is a revision it was written from."""
    known = doc_files.recall(node.store.db, path)
    if known is None:
        return False
    document = read(node.store, node.me).documents.get(known[0])
    found = body_hash(path.read_bytes().decode("utf-8", "replace"))
    return document is not None and any(row.hash == found for row in document.revisions.values())


def _write_out(text: str) -> None:
    sys.stdout.flush()
    if sys.stdout.isatty():  # where nothing in it may act
        click.echo("\n".join(body_lines(text)))
        return
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
