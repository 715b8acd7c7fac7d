"""`dmp doc list`, `show`, `log`, `diff` and `held`: what documents say, and what is to be decided."""

from typing import Final

import click

from core.errors import conflict
from crypto.canonical import JsonValue
from replica.cli.context import Cli, command, pass_cli
from replica.cli.doc_words import (
    any_json,
    document_json,
    find_text,
    proposal_json,
    revision_json,
    revision_text,
    say_what_to_do,
    state_text,
    write_text,
)
from replica.cli.text import moment, quoted
from replica.host import doc_proposals, doc_text, documents
from replica.host.shapes import message_json
from replica.node import Node
from replica.shared.docs import graph
from replica.shared.docs.library import Document
from replica.shared.docs.reading import read

_NAMES: Final = 20
"""Aliases that are shown: others may add any number."""


@command("list", paged=True)
@click.option("--all", "everything", is_flag=True, help="Those that are archived or were removed, too.")
@pass_cli
def list_(cli: Cli, everything: bool) -> None:
    """List the documents."""
    with cli.node() as node:
        found = [
            each
            for each in read(node.store, node.me).documents.values()
            if (each.is_there and each.status != "archived")
            or (everything and (each.is_there or each.is_removed))
        ]
    if cli.as_json:
        cli.screen.document({"documents": [document_json(each) for each in found]})
    elif found:
        cli.screen.table(
            ("document", "status", "title", "to do"),
            [[each.name, each.status, each.title, state_text(each)] for each in found],
        )
    else:
        cli.screen.say(
            "No documents." if everything else "No documents; --all shows those that are archived or removed."
        )


@command("show", paged=True)
@click.argument("named", metavar="DOC")
@click.option("--rev", "revision", metavar="REV", help="A revision of it, whatever became of it.")
@click.option(
    "--output",
    metavar="FILE",
    help="Write the text, and nothing else, to a file, or - for standard output. `dmp doc put FILE` then knows what "
    "yours was made from.",
)
@pass_cli
def show(cli: Cli, named: str, revision: str | None, output: str | None) -> None:
    """Show a document: its latest revision, by its slug or id."""
    with cli.node() as node:
        document = read(node.store, node.me).need(named)
        id_ = revision or _latest(document)
        text = find_text(node, document, id_)
        if output is not None:
            # What is made from a revision that waits would wait as well.
            kept = id_ in document.revisions and document.standing(id_) != "waiting"
            write_text(cli, node, output, document, text, [id_] if kept else [])
        if cli.as_json:
            cli.screen.document(
                {
                    "document": document_json(document),
                    "revision": any_json(node, document, id_),
                    "body": text,
                }
            )
            return
        if output is not None:
            return
        cli.screen.say(f"{document.name}  {document.status}  {quoted(document.title)}  {document.id}")
        row = document.revisions.get(id_)
        if row is not None:
            cli.screen.say(f"  {revision_text(node, row, document.standing(id_))}")
        for link in document.links:
            cli.screen.say(f"  {link.relation} of {link.type}:{link.id}")
        if document.aliases:
            more = f" and {len(document.aliases) - _NAMES} more" if len(document.aliases) > _NAMES else ""
            cli.screen.say(f"  also called {', '.join(document.aliases[:_NAMES])}{more}")
        state = state_text(document)
        if state:
            cli.screen.say(f"  to do: {state}")
        cli.screen.quote(text.removesuffix("\n"))
        say_what_to_do(cli, document)


@command("log", paged=True)
@click.argument("named", metavar="DOC")
@click.option(
    "--limit", default=50, metavar="N", type=click.IntRange(1), help="How many to list; 50 if not given."
)
@pass_cli
def log(cli: Cli, named: str, limit: int) -> None:
    """List the revisions of a document, the latest first.

    One that waits lacks a revision it was made from, or word of the session that wrote it; --rev of `dmp doc show`
    shows its text.
    """
    with cli.node() as node:
        document = read(node.store, node.me).need(named)
        found = graph.in_order(document.revisions.values(), latest_first=True)
        standings = document.standings()
        if cli.as_json:
            cli.screen.document(
                {
                    "document": document_json(document),
                    "revisions": [revision_json(row, standings.get(row.id, "over")) for row in found],
                }
            )
            return
        for row in found[:limit]:
            cli.screen.say(revision_text(node, row, standings.get(row.id, "over")))
        if len(found) > limit:
            cli.screen.say(
                f"{len(found) - limit} more: {cli.command(f'doc log {document.name} --limit {len(found)}')}"
            )
        say_what_to_do(cli, document)


@command("diff", paged=True)
@click.argument("named", metavar="DOC")
@click.argument("first", metavar="[REV]", required=False)
@click.argument("second", metavar="[REV]", required=False)
@pass_cli
def diff(cli: Cli, named: str, first: str | None, second: str | None) -> None:
    """Show what a revision changed, or what differs between two.

    Without a revision: what the latest one changed, or how the latest two concurrent ones differ.
    """
    with cli.node() as node:
        document = read(node.store, node.me).need(named)
        old, new = _sides(node, document, first, second)
        lines = doc_text.diff(
            "" if old is None else find_text(node, document, old),
            find_text(node, document, new),
            old or "nothing",
            new,
        )
    if cli.as_json:
        cli.screen.document({"document": document_json(document), "from": old, "to": new, "diff": [*lines]})
        return
    for line in lines:
        cli.screen.exact(line)
    if not lines:
        cli.screen.say("The texts are the same.")


@command("held")
@pass_cli
def held(cli: Cli) -> None:
    """List what waits for a person's decision.

    Changes of accepted documents that no person stands behind: teammates' ones, and proposals of your agents.
    """
    with cli.node() as node:
        found = [each for each in read(node.store, node.me).there() if each.held or each.passed_over]
        proposed = documents.proposals(node)
        if cli.as_json:
            waiting: list[JsonValue] = [
                {
                    "document": each.doc,
                    "revision": proposal_json(node, each.revision),
                    "gate": None if each.gate is None else message_json(node.host, each.gate),
                }
                for each in proposed
            ]
            waiting += [
                {"document": document.id, "revision": revision_json(row, "held"), "gate": None}
                for document in found
                for row in document.held
            ]
            over = sum(document.passed_over for document in found)
            cli.screen.document({"held": waiting, "passedOver": over})
            return
        for each in proposed:
            revision = each.revision
            summary = f"  {quoted(revision.summary)}" if revision.summary else ""
            cli.screen.say(
                f"{revision.id}  {moment(revision.created_at)}  proposed by {revision.author} (this machine){summary}"
            )
            _say_how(cli, each.doc, revision.id)
        for document in found:
            for row in document.held:
                cli.screen.say(f"{document.name}: {revision_text(node, row, 'held')}")
                _say_how(cli, document.name, row.id)
            if document.passed_over:
                cli.screen.say(
                    f"{document.name}: {document.passed_over} more, once some of these are decided"
                )
    if not found and not proposed:
        cli.screen.say("Nothing waits for a decision.")


def _say_how(cli: Cli, name: str, revision: str) -> None:
    for what in ("diff", "approve", "reject"):
        cli.screen.exact(f"  {cli.command(f'doc {what} {name} {revision}')}")


def _latest(document: Document) -> str:
    if not document.heads:
        raise conflict("doc", f"nothing of {document.name} counts yet; see `dmp doc log` and `dmp doc held`")
    return document.heads[0].id


def _sides(node: Node, document: Document, first: str | None, second: str | None) -> tuple[str | None, str]:
    """What a diff is from, and to."""
    if first is not None and second is not None:
        return first, second
    if first is None and len(document.heads) > 1:
        return document.heads[1].id, document.heads[0].id
    new = first or _latest(document)
    row = document.revisions.get(new)
    proposal = None if row is not None else doc_proposals.find(node.store.db, new)
    parents = row.parents if row is not None else () if proposal is None else proposal[1].parents
    known = [parent for parent in parents if parent in document.revisions]
    return (known[0] if known else None), new
