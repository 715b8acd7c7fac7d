"""Joining what was written to memory apart: an older value taken back, and several entries made one (F.7).

A person does it, or an agent proposes it. Nothing merges by itself but field by field, by the clock.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from core.errors import conflict, invalid, not_found
from core.inputs import Sender
from crypto.canonical import JsonValue
from replica.host import memory
from replica.host.memory import Kept, Made
from replica.node import Node
from replica.shared.memory.entries import Entry, Revision

TAKEN: Final = (
    *("title", "body", "kind", "refs", "epic", "appliesTo", "pinned"),
    *("status", "statusReason", "supersededBy"),
)
"""Fields whose older value can be taken back. Whose word an entry is, is said anew."""

HERE: Final = "here"


def names(entry: Entry) -> list[tuple[str, Revision]]:
    """The revisions of an entry with what each is called: its replica and seq, or its number here."""
    found, unpublished = [], 0
    for revision in entry.revisions:
        write = revision.write
        unpublished += write.seq is None
        name = f"{HERE}/{unpublished}" if write.seq is None else f"{write.replica}/{write.seq}"
        found.append((name, revision))
    return found


def take(node: Node, sender: Sender, name: str, revision: str, fields: Collection[str] = ()) -> Made:
    """Write what a revision of an entry wrote once more; all of it, or some of its fields.

    Raises DmpError: `not-found` on `ID` or `take`, `invalid` on `field`, `conflict` as `memory.edit`.
    """
    entry = memory.need(node, name).entry
    found = dict(names(entry)).get(revision)
    if found is None:
        raise not_found("take", f"{name} has no revision of that name; `dmp memory show {name}` lists them")
    wrote = {each: value for each, value in found.fields.items() if each in TAKEN}
    for each in fields:
        if each not in wrote:
            raise invalid("field", f"that revision wrote {', '.join(wrote) or 'nothing that can be taken'}")
    return memory.edit(
        node, sender, name, {each: value for each, value in wrote.items() if not fields or each in fields}
    )


def join(
    node: Node,
    sender: Sender,
    named: Sequence[str],
    given: Mapping[str, JsonValue],
    *,
    key: str | None = None,
) -> Made:
    """Make one entry of several, in their place. What is not `given` is what they say together.

    Raises DmpError as `memory.put`; `conflict` on `ID` where fewer than two different ones are named.
    """
    found = [memory.need(node, each) for each in dict.fromkeys(named)]
    if len(found) < 2:
        raise conflict("ID", "name the entries that are to become one, two at least")
    fields = {**joined(found), **given}
    return memory.put(
        node, sender, found[0].scope, fields, supersedes=[each.entry.id for each in found], key=key
    )


def joined(found: Sequence[Kept]) -> dict[str, JsonValue]:
    """What entries say together: the title and kind of the first, all bodies, all refs and paths."""
    entries = [each.entry for each in found]
    epics = {str(each.values.get("epic")) for each in entries if each.values.get("epic")}
    return {
        "title": entries[0].title,
        "kind": entries[0].kind,
        "body": "\n\n".join(dict.fromkeys(each.body for each in entries)),
        "refs": _union(entries, "refs"),
        "appliesTo": _union(entries, "appliesTo"),
        "epic": epics.pop() if len(epics) == 1 else None,
        "pinned": any(each.is_pinned for each in entries),
    }


def _union(entries: Sequence[Entry], name: str) -> list[JsonValue]:
    found: dict[str, None] = {}
    for entry in entries:
        value = entry.values.get(name)
        for each in value if isinstance(value, list) else ():
            found[str(each)] = None
    return [*found]
