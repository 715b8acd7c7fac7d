"""How memory is shown to a person."""

import difflib
from collections.abc import Iterable

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from replica.cli.messages import replica_text
from replica.cli.screen import Screen
from replica.cli.text import lines, listing, moment, quoted
from replica.host.memory import Kept
from replica.host.memory_merging import names
from replica.host.memory_shapes import Changed
from replica.node import Node
from replica.shared.memory.bodies import FIELDS
from replica.shared.memory.entries import Revision, Standing
from replica.shared.memory.proposals import Proposal

_HIDDEN = frozenset(("author", "createdAt", "decidedBy", "decidedByPolicy"))
"""Fields that say whose word a change is, which is shown beside it."""


def show_entry(screen: Screen, node: Node, kept: Kept) -> None:
    """Show an entry with what became of each of its revisions."""
    entry, values = kept.entry, kept.entry.values
    state = "" if entry.is_active else f", retired{_reason(values.get('statusReason'))}"
    screen.say(
        f"{entry.id}  {entry.kind} of {scope_text(kept)}{state}{', pinned' if entry.is_pinned else ''}"
    )
    screen.say(f"  {quoted(entry.title)}")
    screen.quote(entry.body)
    for name, value in (
        ("trust", trust_text(kept)),
        ("refs", _each(values.get("refs"))),
        ("applies to", _each(values.get("appliesTo"))),
        ("epic", _each(values.get("epic"))),
        ("instead of", listing([*entry.supersedes]) if entry.supersedes else None),
        ("superseded by", listing([*entry.superseded_by]) if entry.superseded_by else None),
        ("written", moment(entry.created_at) if entry.created_at else None),
        ("waiting", "what was changed here is published with the next sync" if kept.waiting else None),
    ):
        if value:
            screen.say(f"  {name}: {value}")
    if len(entry.revisions) > 1:
        screen.say("  revisions:")
        for index, (name, revision) in enumerate(names(entry)):
            shown = [each for each in FIELDS if each in revision.fields and each not in _HIDDEN]
            wrote = ", ".join(shown) if index else "all of it"
            screen.say(
                f"    {name}  {whose_text(node, revision)}{standing_text(revision)}: {wrote or 'who stands behind it'}"
            )


def show_changes(screen: Screen, changes: Iterable[Changed]) -> None:
    """Show what a change does to an entry, field by field; of its text, the lines that differ."""
    for name, before, after in sorted(changes, key=lambda change: FIELDS.index(change[0])):
        if name in _HIDDEN:
            continue
        if name == "body" and isinstance(after, str):
            screen.say("  body:")
            screen.quote("\n".join(_diff(before if isinstance(before, str) else "", after)))
        else:
            was = "" if before in (None, []) else f"{_value(before)} becomes "
            screen.say(f"  {name}: {was}{_value(after)}")


def show_proposal(screen: Screen, node: Node, proposal: Proposal) -> None:
    """Show in one line what is proposed."""
    where = "" if proposal.place is None else f", on {replica_text(node, proposal.place[0])}"
    does = {"add": "to remember", "supersede": "to change", "retire": "to retire"}[proposal.action]
    screen.say(
        f"{proposal.id}  {proposal.state}: {proposal.by or 'a program'}{where} proposes {does} a {proposal.kind} "
        f"({proposal.scope}, {proposal.memory})"
    )


def scope_text(kept: Kept) -> str:
    """Whose an entry is."""
    return {"personal": "yours", "project": "this project", "team": "the team"}[kept.scope]


def trust_text(kept: Kept) -> str:
    """How far an entry is trusted, and who is said to have written it."""
    entry = kept.entry
    author = entry.author or "nobody who is named"
    match entry.trust:
        case "human":
            return f"human: {author} wrote it"
        case "confirmed":
            return f"confirmed: {entry.decided_by or 'you'} decided that it holds; {author} is said to have written it"
    return f"agent: no human stands behind it; {author} is said to have written it"


def whose_text(node: Node, revision: Revision) -> str:
    """Who wrote a revision, and where."""
    write = revision.write
    by = write.by or "somebody"
    when = "not published" if write.at is None else moment(timestamp(write.at.ms))
    return f"{when}, {by} on {replica_text(node, write.replica)}"


def standing_text(revision: Revision) -> str:
    """What became of a revision that does not count."""
    match revision.standing:
        case Standing.HELD:
            return " (waits for you)"
        case Standing.REFUSED:
            return " (refused here)"
    return ""


def _diff(before: str, after: str) -> list[str]:
    compared = difflib.unified_diff(lines(before) if before else [], lines(after), n=1, lineterm="")
    return [*compared][2:]  # without the names of files


def _reason(value: JsonValue) -> str:
    return f" ({value})" if isinstance(value, str) else ""


def _each(value: JsonValue) -> str | None:
    if isinstance(value, list):
        return ", ".join(quoted(str(each)) for each in value) or None
    return quoted(value) if isinstance(value, str) else None


def _value(value: JsonValue) -> str:
    return _each(value) or (str(value).lower() if isinstance(value, bool) else "none")
