"""`dmp memory`: what you, your agents and your team keep in mind (F.7)."""

from collections.abc import Callable
from typing import Any, Final

import click

from core.errors import invalid, not_found
from crypto.canonical import JsonValue
from replica.cli import given
from replica.cli.context import Cli, group, pass_cli
from replica.cli.memory_text import (
    show_changes,
    show_entry,
    show_proposal,
    standing_text,
    trust_text,
    whose_text,
)
from replica.cli.standing import READS_ALONG, reads_along
from replica.cli.text import quoted
from replica.host import items, memory_gates, memory_merging
from replica.host import memory as memories
from replica.host.memory import Kept, Made
from replica.host.memory_shapes import changes_json, entry_json, proposal_json, revision_json
from replica.host.principals import sender
from replica.node import Node
from replica.shared.memory import proposals
from replica.shared.memory.bodies import KINDS, REASONS
from replica.shared.memory.entries import Standing
from replica.shared.memory.proposals import SCOPES, Proposal, State


@group("memory")
def memory() -> None:
    """Memory: what you, your agents and your team keep in mind."""


_AS: Final = click.option(
    "--as",
    "whose",
    metavar="ADDRESS",
    help="Write as a session or an agent of yours; by default as yourself.",
)


def _fields(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say what an entry holds besides its title and body."""
    for option in reversed(
        (
            click.option(
                "--ref", "refs", multiple=True, metavar="TYPE:ID", help="What it is about; repeatable."
            ),
            click.option("--epic", metavar="ID", help="The epic it belongs to; none with an empty text."),
            click.option(
                "--applies-to",
                "applies_to",
                multiple=True,
                metavar="PATTERN",
                help="Paths it is for, such as src/**; repeatable.",
            ),
            click.option("--pin/--unpin", "pinned", default=None, help="Whether it goes before the others."),
        )
    ):
        command = option(command)
    return command


@memory.command("put")
@click.argument("title")
@click.argument("body")
@click.option(
    "--kind", type=click.Choice(KINDS), default="fact", show_default=True, help="What kind of thing it is."
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="project",
    show_default=True,
    help="Whose it is. Only what is the team's leaves this machine.",
)
@click.option("--supersedes", multiple=True, metavar="ID", help="An entry in whose place it is; repeatable.")
@click.option("--idempotency-key", metavar="TEXT", help="Make it once, however often this command is run.")
@_fields
@_AS
@pass_cli
def put(cli: Cli, /, title: str, body: str, whose: str | None, **options: Any) -> None:
    """Keep something in mind. BODY is its text, or - for standard input.

    What you write counts at once. What an agent or a session writes for the project or the team is asked of you.
    """
    fields = {"title": title, "body": given.body(body), "kind": options["kind"], **_given(options)}
    with cli.acting() as node:
        made = memories.put(
            node,
            sender(node, whose),
            options["scope"],
            fields,
            supersedes=options["supersedes"],
            key=options["idempotency_key"],
        )
        _tell(cli, node, made, "Kept")


@memory.command("list", paged=True)
@click.argument("words", nargs=-1)
@click.option("--scope", type=click.Choice(SCOPES), help="Only those of one scope.")
@click.option("--kind", type=click.Choice(KINDS), help="Only those of one kind.")
@click.option("--all", "everything", is_flag=True, help="Those that were retired, too.")
@pass_cli
def list_(cli: Cli, words: tuple[str, ...], scope: str | None, kind: str | None, everything: bool) -> None:
    """List what is kept, the pinned entries first; with WORDS, those in which all of them are."""
    with cli.node() as node:
        found = [
            each
            for each in memories.every(node)
            if scope in (None, each.scope)
            and kind in (None, each.entry.kind)
            and (everything or each.entry.is_active)
            and all(word.casefold() in _searched(each) for word in words)
        ]
        waiting = len(proposals.in_state(node.store.db, State.OPEN))
    if cli.as_json:
        cli.screen.document({"memories": [entry_json(each) for each in found], "proposals": waiting})
        return
    if found:
        cli.screen.table(
            ("id", "scope", "kind", "trust", "title"),
            [[*_row(each), quoted(each.entry.title)] for each in found],
        )
    else:
        cli.screen.say("No memory." if everything else "No memory; --all shows what was retired.")
    if waiting:
        cli.screen.say(f"{waiting} more wait for your decision: `{cli.command('memory proposals')}`.")


@memory.command("show")
@click.argument("named", metavar="ID")
@pass_cli
def show(cli: Cli, named: str) -> None:
    """Show an entry: what it says, how far it is trusted, and its revisions."""
    with cli.node() as node:
        kept = memories.need(node, named)
        about = proposals.of_memory(node.store.db, kept.entry.id)
        if cli.as_json:
            cli.screen.document(
                {
                    "memory": entry_json(kept),
                    "revisions": [revision_json(*each) for each in memory_merging.names(kept.entry)],
                    "proposals": [proposal_json(each) for each in about],
                }
            )
            return
        show_entry(cli.screen, node, kept)
        for proposal in about:
            if proposal.state is State.OPEN:
                show_proposal(cli.screen, node, proposal)


@memory.command("edit")
@click.argument("named", metavar="ID")
@click.option("--title", metavar="TEXT", help="What it is about, in one line.")
@click.option("--body", metavar="TEXT", help="What it says; - for standard input.")
@click.option("--kind", type=click.Choice(KINDS), help="What kind of thing it is.")
@_fields
@_AS
@pass_cli
def edit(cli: Cli, /, named: str, whose: str | None, **options: Any) -> None:
    """Change an entry. Of fields that teammates change too, the one who publishes later counts."""
    fields = _given(options)
    if not fields:
        raise click.UsageError("say what to change, such as --body TEXT")
    with cli.acting() as node:
        _tell(cli, node, memories.edit(node, sender(node, whose), named, fields), "Changed")


@memory.command("retire")
@click.argument("named", metavar="ID")
@click.option(
    "--reason",
    type=click.Choice([each for each in REASONS if each != "superseded"]),
    default="forgotten",
    show_default=True,
    help="Why it counts no more.",
)
@_AS
@pass_cli
def retire(cli: Cli, named: str, reason: str, whose: str | None) -> None:
    """Let an entry count no more. It stays, and `restore` brings it back."""
    with cli.acting() as node:
        _tell(cli, node, memories.retire(node, sender(node, whose), named, reason), "Retired")


@memory.command("restore")
@click.argument("named", metavar="ID")
@_AS
@pass_cli
def restore(cli: Cli, named: str, whose: str | None) -> None:
    """Let a retired entry count again."""
    with cli.acting() as node:
        _tell(cli, node, memories.restore(node, sender(node, whose), named), "Restored")


@memory.command("share")
@click.argument("named", metavar="ID")
@pass_cli
def share(cli: Cli, named: str) -> None:
    """Give an entry of yours or of the project to the team. It cannot be taken back, only retired."""
    with cli.acting() as node:
        _tell(cli, node, memories.share(node, sender(node, None), named), "Shared")


@memory.command("diff")
@click.argument("named", metavar="ID")
@click.option("--all", "everything", is_flag=True, help="Every change of the entry, not the last alone.")
@pass_cli
def diff(cli: Cli, named: str, everything: bool) -> None:
    """Show what a proposal would change, or what the last change of an entry replaced.

    ID is a proposal's (mp-…) or an entry's (mem-…).
    """
    with cli.node() as node:
        proposal = proposals.find(node.store.db, named)
        if proposal is not None:
            _diff_proposal(cli, node, proposal)
            return
        kept = memories.need(node, named)
        found = memory_merging.names(kept.entry)[1:]
        if not everything:
            found = [each for each in found if each[1].standing is Standing.COUNTS][-1:]
        if cli.as_json:
            cli.screen.document(
                {"memory": kept.entry.id, "revisions": [revision_json(*each) for each in found]}
            )
            return
        for name, revision in found:
            cli.screen.say(f"{name}  {whose_text(node, revision)}{standing_text(revision)}")
            show_changes(
                cli.screen, ((each, revision.before[each], value) for each, value in revision.fields.items())
            )
        if found:
            cli.screen.say("What a change replaced is in the revision before; take one back with:")
            cli.screen.exact(f"  {cli.command(f'memory merge {kept.entry.id} --take REVISION')}")
        else:
            cli.screen.say("It was never changed.")


@memory.command("merge")
@click.argument("named", nargs=-1, required=True, metavar="ID...")
@click.option("--take", metavar="REVISION", help="Take back what a revision of the one entry named wrote.")
@click.option("--field", "fields", multiple=True, metavar="NAME", help="Take only this field; repeatable.")
@click.option("--title", metavar="TEXT", help="The title of the one made of several; else the first's.")
@click.option(
    "--body", metavar="TEXT", help="Its body, - for standard input; else all bodies, one after another."
)
@_AS
@pass_cli
def merge(
    cli: Cli,
    /,
    named: tuple[str, ...],
    take: str | None,
    fields: tuple[str, ...],
    whose: str | None,
    **options: Any,
) -> None:
    """Make one entry of several, in their place; or, with --take, take an older value of one back."""
    if take is not None and len(named) > 1:
        raise click.UsageError("--take is about one entry")
    if take is None and fields:
        raise click.UsageError("--field says what to --take")
    if take is None and len({*named}) < 2:
        raise click.UsageError("name the entries that are to become one, two at least; or --take a REVISION")
    with cli.acting() as node:
        who = sender(node, whose)
        if take is not None:
            made = memory_merging.take(node, who, named[0], take, fields)
        else:
            made = memory_merging.join(node, who, named, _given(options))
        _tell(cli, node, made, "Kept")


@memory.command("proposals", paged=True)
@click.option("--all", "everything", is_flag=True, help="Those that were decided, too.")
@pass_cli
def proposals_(cli: Cli, everything: bool) -> None:
    """List what waits for your decision: what agents here propose, and what no human of a teammate's stands behind."""
    with cli.acting() as node:
        memory_gates.judge(node)
        states = State if everything else (State.OPEN,)
        found = [each for state in states for each in proposals.in_state(node.store.db, state)]
        if cli.as_json:
            cli.screen.document({"proposals": [proposal_json(each) for each in found]})
            return
        for proposal in found:
            show_proposal(cli.screen, node, proposal)
            show_changes(cli.screen, memory_gates.changes_of(node, proposal))
            if proposal.state is State.OPEN:
                cli.screen.exact(f"  {cli.command(f'memory approve {proposal.id}')}")
    if not found:
        cli.screen.say("No proposals.")


@memory.command("approve")
@click.argument("named", metavar="PROPOSAL")
@pass_cli
def approve(cli: Cli, named: str) -> None:
    """Let a proposal count: the answer to its gate."""
    _decide(cli, named, approve=True)


@memory.command("reject")
@click.argument("named", metavar="PROPOSAL")
@pass_cli
def reject(cli: Cli, named: str) -> None:
    """Leave a proposal: the answer to its gate. It may still be approved later."""
    _decide(cli, named, approve=False)


def _decide(cli: Cli, named: str, *, approve: bool) -> None:
    with cli.acting() as node:
        memory_gates.judge(node)
        found = proposals.find(node.store.db, named)
        if found is None:
            raise not_found("PROPOSAL", "no proposal has that id; `dmp memory proposals --all` lists them")
        decided = memory_gates.decide(node, found, approve=approve)
    if cli.as_json:
        cli.screen.document({"proposal": proposal_json(decided)})
    else:
        cli.screen.say(f"{decided.id} is {decided.state}; it is about {decided.memory}.")


def _diff_proposal(cli: Cli, node: Node, proposal: Proposal) -> None:
    changes = memory_gates.changes_of(node, proposal)
    if cli.as_json:
        cli.screen.document({"proposal": proposal_json(proposal), "changes": changes_json(changes)})
        return
    show_proposal(cli.screen, node, proposal)
    show_changes(cli.screen, changes)
    if not changes:
        cli.screen.say("  It would change nothing any more.")


def _given(options: dict[str, Any]) -> dict[str, JsonValue]:
    """The fields that were named on the command line; an empty text takes a value away."""
    fields: dict[str, JsonValue] = {
        name: options[name] for name in ("title", "kind", "pinned") if options.get(name) is not None
    }
    if options.get("body") is not None:
        fields["body"] = given.body(options["body"])
    if options.get("epic") is not None:
        fields["epic"] = items.epic_id(options["epic"], "epic") if options["epic"] else None
    for option, name in (("refs", "refs"), ("applies_to", "appliesTo")):
        if options.get(option):
            fields[name] = [each for each in options[option] if each]
    for index, ref in enumerate(options.get("refs") or ()):
        kind, colon, id_ = ref.partition(":")
        if ref and not (kind and colon and id_):
            raise invalid(f"refs[{index}]", "a ref is TYPE:ID, such as commit:1a2b3c")
    return fields


def _tell(cli: Cli, node: Node, made: Made, done: str) -> None:
    if isinstance(made, Proposal):
        memory_gates.judge(node)
        proposal = proposals.find(node.store.db, made.id) or made
        if cli.as_json:
            cli.screen.document({"memory": None, "proposal": proposal_json(proposal)})
            return
        cli.screen.say(
            f"Proposed {proposal.id} ({proposal.state}). Its gate is {proposal.gate}; answer it with:"
        )
        cli.screen.exact(f"  {cli.command(f'answer {proposal.gate} approve')}")
        return
    if cli.as_json:
        cli.screen.document({"memory": entry_json(made), "proposal": None})
        return
    cli.screen.say(f"{done} {made.entry.id}, {trust_text(made)}.")
    if made.waiting and reads_along(node):
        cli.screen.say(READS_ALONG)
    elif made.waiting:
        cli.screen.say(
            "The next sync publishes it, in the clear: whoever can read the repository can read it."
        )


def _row(kept: Kept) -> list[str]:
    entry = kept.entry
    kind = f"{entry.kind}{', pinned' if entry.is_pinned else ''}{'' if entry.is_active else ', retired'}"
    return [entry.id, kept.scope, kind, entry.trust]


def _searched(kept: Kept) -> str:
    refs = kept.entry.values.get("refs")
    texts = [kept.entry.title, kept.entry.body, kept.entry.kind, *(refs if isinstance(refs, list) else ())]
    return "\n".join(map(str, texts)).casefold()
