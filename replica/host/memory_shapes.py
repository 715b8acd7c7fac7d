"""Entries of memory, their revisions and proposals as programs read them, whoever gives them out."""

from collections.abc import Iterable

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from replica.host.memory import Kept
from replica.shared.memory.bodies import superseded
from replica.shared.memory.entries import Revision
from replica.shared.memory.proposals import Proposal

Changed = tuple[str, JsonValue, JsonValue]
"""A field, with its value before and after."""


def entry_json(kept: Kept) -> dict[str, JsonValue]:
    """An entry for programs."""
    entry = kept.entry
    values = entry.values
    return {
        "id": entry.id,
        "scope": kept.scope,
        "trust": entry.trust,
        "waiting": kept.waiting,
        "title": entry.title,
        "body": entry.body,
        "kind": entry.kind,
        "pinned": entry.is_pinned,
        "status": "active" if entry.is_active else "retired",
        "supersedes": [*superseded(values.get("supersedes"))],
        "supersededBy": [*superseded(values.get("supersededBy"))],
        **{name: values.get(name) or [] for name in ("refs", "appliesTo")},
        **{
            name: values.get(name)
            for name in ("epic", "statusReason", "author", "createdAt", "decidedBy", "decidedByPolicy")
        },
    }


def revision_json(name: str, revision: Revision) -> dict[str, JsonValue]:
    """A revision of an entry for programs."""
    write = revision.write
    return {
        "revision": name,
        "replica": write.replica,
        "by": write.by,
        "at": None if write.at is None else timestamp(write.at.ms),
        "trust": revision.trust,
        "standing": revision.standing.name.lower(),
        "changes": changes_json(
            (each, revision.before[each], value) for each, value in revision.fields.items()
        ),
    }


def changes_json(changes: Iterable[Changed]) -> list[JsonValue]:
    """Changes for programs."""
    return [{"field": name, "before": before, "after": after} for name, before, after in changes]


def proposal_json(proposal: Proposal) -> dict[str, JsonValue]:
    """A proposal for programs."""
    return {
        "id": proposal.id,
        "memory": proposal.memory,
        "action": proposal.action,
        "scope": proposal.scope,
        "kind": proposal.kind,
        "by": proposal.by,
        "replica": None if proposal.place is None else proposal.place[0],
        "madeAt": proposal.made_at,
        "state": proposal.state,
        "gate": proposal.gate,
    }
