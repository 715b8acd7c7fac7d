"""`dmp doc`: documents of the team, and how they change (F.7)."""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Final, cast

import click

from core.address import DISPATCH, parse_address
from core.errors import DmpError, conflict, invalid
from replica.cli import doc_show
from replica.cli.context import Cli, group, pass_cli
from replica.cli.doc_words import (
    STDIO,
    any_json,
    document_json,
    find_text,
    read_text,
    say_what_to_do,
    write_text,
)
from replica.cli.failures import Failure
from replica.host import doc_files, documents, items
from replica.host.documents import Put, Text
from replica.host.principals import sender
from replica.host.shapes import message_json
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.shared.docs.bodies import (
    CONTEXT,
    DOC_ID,
    LINK_TYPES,
    RELATIONS,
    STATUSES,
    Link,
    Status,
    as_slug,
    parse_link,
)
from replica.shared.docs.library import Document
from replica.shared.docs.reading import read
from replica.shared.memory.bodies import MEMORY_ID

_NO_WORD: Final = re.compile("[^a-z0-9]+")


@group("doc")
def doc() -> None:
    """Documents of the team: texts with a history, which everybody may change."""


for _command in (doc_show.list_, doc_show.show, doc_show.log, doc_show.diff, doc_show.held):
    doc.add_command(_command)


@doc.command("put")
@click.argument("file", metavar="FILE")
@click.argument("named", metavar="[DOC]", required=False)
@click.option(
    "--slug", metavar="NAME", help="What a new document is called; else it is called as the file is."
)
@click.option("--title", metavar="TEXT", help="Its title; else the heading that the text begins with.")
@click.option("--summary", default="", metavar="TEXT", help="What has changed, in one line.")
@click.option(
    "--base", metavar="REV", help="The revision this text was made from, where dmp does not know it."
)
@click.option("--task", metavar="ID", help="The work item it was changed for.")
@click.option("--as", "author", metavar="ADDRESS", help="Put it as an agent or a live session of yours.")
@pass_cli
def put(
    cli: Cli,
    file: str,
    named: str | None,
    slug: str | None,
    title: str | None,
    summary: str,
    base: str | None,
    task: str | None,
    author: str | None,
) -> None:
    """Make a document of a file, or give the document DOC its text. - is standard input.

    A file that was put before, or that `dmp doc show --output` wrote, belongs to that document, and another one to
    the document that is called as it is.
    """
    text = Text(
        read_text(file),
        title,
        summary,
        None if task is None else items.address_of(task).removeprefix("task:"),
    )
    with cli.acting() as node:
        writer = sender(node, author).address
        path = None if file == STDIO else Path(file)
        document, known = _target(node, path, named, slug)
        if document is None:
            if writer == node.address:
                slug = as_slug(slug, "slug") if slug is not None else _slug_of(path)
            done = documents.create(node, writer, text, slug)
        else:
            if slug is not None:
                raise invalid(
                    "slug", f"{document.name} is there already; `dmp doc set --slug` calls it otherwise"
                )
            done = documents.put(node, writer, document.id, text, base or known)
        if path is not None and done.gate is None:
            with node.store.transaction(CommitPoint.DOCUMENT) as db:
                doc_files.remember(db, path, done.document.id, [done.revision])
        made = "Made" if document is None else "Put"
        _tell(cli, node, done, f"{made} {done.document.name}: {done.revision}")


@doc.command("edit")
@click.argument("named", metavar="DOC")
@click.option("--summary", default="", metavar="TEXT", help="What has changed, in one line.")
@pass_cli
def edit(cli: Cli, named: str, summary: str) -> None:
    """Change a document in your editor ($VISUAL or $EDITOR)."""
    with cli.acting() as node:
        document = read(node.store, node.me).need(named)
        if len(document.heads) != 1:
            raise conflict(
                "doc",
                f"{document.name} has {len(document.heads)} concurrent revisions; "
                "join them first, with `dmp doc merge`",
            )
        head = document.heads[0].id
        text = _edited(cli, find_text(node, document, head))
        try:
            done = documents.put(node, node.address, document.id, Text(text, None, summary), head, "edit")
        except DmpError as error:
            raise _kept(node, document, text, [head], error, "put") from None
        _tell(cli, node, done, f"Put {document.name}: {done.revision}")


@doc.command("merge")
@click.argument("named", metavar="DOC")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--take", metavar="REV", help="Take the text of one revision as it is.")
@click.option(
    "--output", metavar="FILE", help="Write the joined text to a file, to be given to this command later."
)
@click.option("--edit", "edits", is_flag=True, help="Open the editor, also where nothing conflicts.")
@click.option("--title", metavar="TEXT", help="Its title; else the heading that the text begins with.")
@click.option("--summary", default="", metavar="TEXT", help="What has changed, in one line.")
@pass_cli
def merge(
    cli: Cli,
    /,
    named: str,
    file: str | None,
    take: str | None,
    output: str | None,
    edits: bool,
    title: str | None,
    summary: str,
) -> None:
    """Join the concurrent revisions of a document in one, which is yours.

    Where they changed different parts, both changes are in it. What both changed is marked, and your editor opens on
    it. FILE is a text you joined yourself.
    """
    if sum(each is not None for each in (file, take, output)) > 1:
        raise click.UsageError("say one of FILE, --take and --output")
    with cli.acting() as node:
        document = read(node.store, node.me).need(named)
        seen = [head.id for head in document.heads]
        if len(seen) < 2:
            raise conflict("doc", f"{document.name} has no concurrent revisions; there is nothing to merge")
        if file is not None:
            text, known = (
                read_text(file),
                None if file == STDIO else doc_files.recall(node.store.db, Path(file)),
            )
            seen = known[1] if known is not None and known[0] == document.id and len(known[1]) > 1 else seen
        elif take is not None:
            text = find_text(node, document, take)
        else:
            found = documents.joined(node, document)
            if output is not None:
                write_text(cli, node, output, document, found.body, seen)
                _tell_written(cli, document, output, found.conflicts > 0)
                return
            if found.conflicts and cli.as_json:
                raise conflict(
                    "doc", "the revisions change the same parts; write them to a file with --output"
                )
            text = _edited(cli, found.body, keep=True) if found.conflicts or edits else found.body
        try:
            done = documents.merge(node, document.id, Text(text, title, summary), seen)
        except DmpError as error:
            if error.field == "body" and file is None and take is None:
                raise _kept(node, document, text, seen, error, "merge") from None
            raise
        _tell(cli, node, done, f"Merged {document.name}: {done.revision}")


@doc.command("revert")
@click.argument("named", metavar="DOC")
@click.argument("revision", metavar="REV")
@click.option("--summary", default="", metavar="TEXT", help="Why, in one line.")
@pass_cli
def revert(cli: Cli, named: str, revision: str, summary: str) -> None:
    """Give a document the text it had in an earlier revision."""
    with cli.acting() as node:
        done = documents.revert(node, named, revision, summary)
        _tell(cli, node, done, f"Put {done.document.name}: {done.revision}")


@doc.command("set")
@click.argument("named", metavar="DOC")
@click.option("--slug", metavar="NAME", help="What it is called; its name until now becomes an alias.")
@click.option("--status", type=click.Choice(STATUSES), help="Accepting it is accepting its latest text.")
@click.option("--alias", "aliases", multiple=True, metavar="NAME", help="Another name; may be repeated.")
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="REL:TYPE:ID",
    help="What it is to something, such as spec:task:t-4a8cce.",
)
@click.option("--unlink", "unlinks", multiple=True, metavar="REL:TYPE:ID", help="Take a link away.")
@pass_cli
def set_(
    cli: Cli,
    named: str,
    slug: str | None,
    status: str | None,
    aliases: tuple[str, ...],
    links: tuple[str, ...],
    unlinks: tuple[str, ...],
) -> None:
    """Say something of a document beside its text: its name, how far it is, what it belongs to."""
    if not (slug or status or aliases or links or unlinks):
        raise click.UsageError("say what to set, such as --status accepted")
    with cli.acting() as node:
        now = documents.describe(
            node,
            named,
            slug=None if slug is None else as_slug(slug, "slug"),
            status=cast("Status | None", status),
            aliases=[as_slug(alias, "alias") for alias in aliases],
            linked=[_possible(_link(text)) for text in links],
            unlinked=[_link(text) for text in unlinks],
        )
    _tell_document(cli, now, f"Changed {now.name}, which is {now.status}.")


@doc.command("remove")
@click.argument("named", metavar="DOC")
@pass_cli
def remove(cli: Cli, named: str) -> None:
    """Remove a document. Its history stays, and a later text of a person's brings it back."""
    with cli.acting() as node:
        gone = documents.remove(node, named)
        now = read(node.store, node.me).need(gone.id)
    _tell_document(
        cli, now, f"Removed {gone.name}. A text brings it back: {cli.command(f'doc put FILE {gone.id}')}"
    )


@doc.command("approve")
@click.argument("named", metavar="DOC")
@click.argument("revision", metavar="REV")
@pass_cli
def approve(cli: Cli, named: str, revision: str) -> None:
    """Let a held or proposed change of an accepted document count."""
    with cli.acting() as node:
        now = documents.approve(node, named, revision)
    _tell_document(cli, now, f"Approved: {revision} counts in {now.name}.")


@doc.command("reject")
@click.argument("named", metavar="DOC")
@click.argument("revision", metavar="REV")
@click.option("--reason", default="", metavar="TEXT", help="Why, in one line, which the team reads.")
@pass_cli
def reject(cli: Cli, named: str, revision: str, reason: str) -> None:
    """Leave a held or proposed change out of an accepted document, for good."""
    with cli.acting() as node:
        now = documents.reject(node, named, revision, reason)
    _tell_document(cli, now, f"Rejected: {now.name} stays as it is.")


def _target(
    node: Node, path: Path | None, named: str | None, slug: str | None
) -> tuple[Document | None, str | None]:
    """The document that a text is for, None for a new one, and the revision it was made from, where that is known."""
    library = read(node.store, node.me)
    known = None if path is None else doc_files.recall(node.store.db, path)
    if named is not None:
        document: Document | None = library.need(named)
    elif known is not None and slug is None:
        document = library.find(known[0])
    elif slug is None and path is not None:
        document = library.find(_slug_of(path))
    else:
        document = None
    if document is not None and document.is_removed and named is None:
        raise conflict(
            "FILE", f"the document of that file was removed; `dmp doc put FILE {document.id}` brings it back"
        )
    if document is None or known is None or known[0] != document.id:
        return document, None
    if len(known[1]) > 1:
        raise conflict(
            "FILE", f"that file joins several revisions; finish with `dmp doc merge {document.name} FILE`"
        )
    return document, known[1][0] or None


def _slug_of(path: Path | None) -> str:
    slug = _NO_WORD.sub("-", "" if path is None else path.stem.lower()).strip("-")[:64].strip("-")
    if not slug:
        raise click.UsageError("say what the document is called, with --slug")
    return slug


def _link(text: str) -> Link:
    relation, _, rest = text.partition(":")
    type_, _, id_ = rest.partition(":")
    try:
        return parse_link({"target": {"type": type_, "id": id_}, "rel": relation})
    except DmpError:
        raise invalid(
            "link",
            f"a link is REL:TYPE:ID: {', '.join(RELATIONS)}; {', '.join(LINK_TYPES)}; such as {CONTEXT}:task:t-4a8cce",
        ) from None


def _possible(link: Link) -> Link:
    """The link, where what it names can be. Raises DmpError `invalid` on `link`."""
    match link.type:
        case "task" | "run":
            parse_address(f"{link.type}:{link.id}", "link", DISPATCH)
        case "doc" if not DOC_ID.fullmatch(link.id):
            raise invalid("link", "the id of a document is doc- and 26 digits or capital letters")
        case "memory" if not MEMORY_ID.fullmatch(link.id):
            raise invalid("link", "the id of a memory is mem- and 26 digits or capital letters")
    return link


def _edited(cli: Cli, text: str, *, keep: bool = False) -> str:
    """What a person made of a text in their editor. Fails where there is none, or nothing was saved."""
    if cli.as_json or not (sys.stdin.isatty() or os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        how = (
            "write the text to a file with --output, and give this command the file"
            if keep
            else "use `dmp doc put`"
        )
        raise conflict("doc", f"there is no editor here; {how}")
    try:
        found = click.edit(text, extension=".md")
    except click.ClickException as error:
        raise conflict("doc", error.format_message()) from None
    except UnicodeDecodeError:
        raise conflict("doc", "what the editor saved is no UTF-8 text, so nothing was changed") from None
    if found is None:
        raise conflict("doc", "nothing was saved, so nothing was changed")
    return found


def _kept(node: Node, document: Document, text: str, seen: list[str], error: DmpError, then: str) -> Failure:
    """Keep a text that a person worked on, and say where, and by which command to go on."""
    handle, name = tempfile.mkstemp(prefix=f"{document.id}-", suffix=".md")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        doc_files.remember(db, Path(name), document.id, seen)
    return Failure(
        error.code.value,
        error.message,
        error.field,
        hint=f"it is kept in {name}: go on there, and {then} that file",
    )


def _tell(cli: Cli, node: Node, done: Put, said: str) -> None:
    document = done.document
    if cli.as_json:
        cli.screen.document(
            {
                "document": document_json(document),
                "revision": any_json(node, document, done.revision),
                "changed": done.changed,
                "gate": None if done.gate is None else message_json(node.host, done.gate),
            }
        )
        return
    if not done.changed and document.standing(done.revision) != "head":
        cli.screen.say(f"The text is as it was, and {document.name} went on meanwhile; nothing was changed.")
    elif not done.changed:
        cli.screen.say(f"{document.name} has this text already; nothing was changed.")
    elif done.gate is not None:
        cli.screen.say(
            f"{document.name} is accepted, so the change is proposed: {done.revision}. Decide with:"
        )
        cli.screen.exact(f"  {cli.command(f'doc diff {document.name} {done.revision}')}")
        cli.screen.exact(f"  {cli.command(f'doc approve {document.name} {done.revision}')}")
    else:
        cli.screen.say(said)
    say_what_to_do(cli, document)


def _tell_document(cli: Cli, now: Document, said: str) -> None:
    if cli.as_json:
        cli.screen.document({"document": document_json(now)})
        return
    cli.screen.say(said)
    say_what_to_do(cli, now)


def _tell_written(cli: Cli, document: Document, name: str, conflicts: bool) -> None:
    if cli.as_json:
        cli.screen.document({"document": document_json(document), "conflicts": conflicts})
        return
    marks = (
        "Lines of <<<<<<< and >>>>>>> mark what several changed. "
        if conflicts
        else "Nothing in it conflicts. "
    )
    cli.screen.say(f"{marks}When it is as it should be: {cli.command(f'doc merge {document.name} {name}')}")
