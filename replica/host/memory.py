"""Memory as this host reads and writes it (F.7): entries of its person, of its project, and of the team.

An entry of the team is published; those of a person and of a project stay here. A human's word counts at once, an
agent's or a session's waits for this host's person, unless the policy accepts it or the entry is a personal one.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.errors import conflict, forbidden, invalid, not_found
from core.inputs import Sender
from core.participation import authorize
from core.store.messages import message_by_id
from core.text import is_blank, is_one_line
from crypto.canonical import JsonValue
from replica.addresses import never_federates
from replica.mail.local_only import is_local_only
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.shared.ids import new_id
from replica.shared.memory import changes as here
from replica.shared.memory import proposals, writes
from replica.shared.memory.bodies import CONTENT, check_field
from replica.shared.memory.changes import Change
from replica.shared.memory.entries import Decisions, Entry, Speaks, entry_of
from replica.shared.memory.proposals import Action, Changes, Proposal, Scope, State

ALLOWED: Final[JsonValue] = {"rung": 0, "authorizedBy": "override"}
"""How an entry says that the policy of its host accepted it."""

_EMPTY: Final[Mapping[str, JsonValue]] = {
    "kind": "fact",
    "refs": [],
    "epic": None,
    "appliesTo": [],
    "pinned": False,
    "status": "active",
    "statusReason": None,
    "supersedes": None,
    "supersededBy": None,
    "decidedBy": None,
    "decidedByPolicy": None,
}
"""The fields of a new entry that were not given."""

_MAX_KEY: Final = 256


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry as this host has it; `waiting` tells of changes of it that are not published yet."""

    entry: Entry
    scope: Scope
    waiting: bool


Made = Kept | Proposal
"""What came of a wish to write: the entry, or the proposal that waits for a decision."""


# Reading


def speaks(node: Node) -> Speaks:
    """For whom each replica of the team speaks, and this one without a team."""
    team = node.team

    def says(replica: str, handle: str, seq: int | None) -> bool:
        if seq is None:
            member = None if team is None else team.view.members.get(node.me)
            return handle == node.handle or (member is not None and handle in member.hosts)
        return team is not None and team.view.speaks_for_handle(replica, handle, seq)

    return says


def find(node: Node, memory: str) -> Kept | None:
    """The entry of an id, also one that says nothing yet; None where nobody wrote to it."""
    db = node.store.db
    with node.store.reading():
        published, changed = writes.writes_of(db, memory), here.changes_of(db, memory)
        if not published and not changed:
            return None
        return _kept(node, memory, published, changed, proposals.decisions(db, memory))


def need(node: Node, memory: str, field: str = "ID") -> Kept:
    """The entry of an id. Raises DmpError `not-found` on the field, also for one that says nothing yet."""
    found = find(node, memory)
    if found is None or not found.entry.is_whole:
        raise not_found(field, "no memory has that id; `dmp memory list --all` shows those there are")
    return found


def every(node: Node) -> list[Kept]:
    """All entries that say something: the pinned ones first, then the newest."""
    db = node.store.db
    with node.store.reading():
        changed = here.all_changes(db)
        judged = proposals.decisions(db)
        says = speaks(node)
        found = [
            _kept(node, memory, published, changed.pop(memory, []), judged, says)
            for memory, published in writes.all_writes(db)
        ]
        found += [_kept(node, memory, [], each, judged, says) for memory, each in changed.items()]
    whole = [each for each in found if each.entry.is_whole]
    whole.sort(key=lambda each: (each.entry.created_at, each.entry.id), reverse=True)
    return sorted(whole, key=lambda each: not each.entry.is_pinned)


def _kept(
    node: Node,
    memory: str,
    published: list[writes.Write],
    changed: list[Change],
    judged: Decisions,
    says: Speaks | None = None,
) -> Kept:
    scope = here.scope_among(changed)
    all_writes = [change.as_write(node.me) for change in changed]
    if scope == "team":  # else nobody but this host has a word on it
        all_writes = [*published, *all_writes]
    entry = entry_of(memory, all_writes, node.me, says or speaks(node), judged)
    return Kept(entry, scope, bool(changed) and scope == "team")


# Writing


def put(
    node: Node,
    sender: Sender,
    scope: Scope,
    fields: Mapping[str, JsonValue],
    *,
    supersedes: Iterable[str] = (),
    key: str | None = None,
) -> Made:
    """Make an entry, in the place of others where it supersedes them. With `key`, making it again is making it once.

    Raises DmpError: `invalid` on the field at fault, `not-found` on `supersedes`, `forbidden` on `from`, and on
    `refs[i]` for an entry of the team about what never leaves this host.
    """
    authorize(node.host, sender)
    made = {"title": "", "body": "", **_EMPTY, **fields, "author": sender.address, "createdAt": node.now()}
    _check(made)
    old = _superseded(node, scope, supersedes)
    if old:
        made["supersedes"] = old[0] if len(old) == 1 else [*old]
        check_field("supersedes", made["supersedes"])
    memory = new_id("mem-", node.random, node.wall())
    retired: dict[str, JsonValue] = {
        "status": "retired",
        "statusReason": "superseded",
        "supersededBy": memory,
    }
    wished: Changes = {memory: made, **dict.fromkeys(old, retired)}
    return _write(node, sender, scope, "supersede" if old else "add", str(made["kind"]), wished, key)


def edit(
    node: Node, sender: Sender, memory: str, fields: Mapping[str, JsonValue], *, action: Action = "supersede"
) -> Made:
    """Change fields of an entry.

    Raises DmpError: `not-found` on `ID`, `invalid` on the field at fault, `conflict` where nothing would change,
    `forbidden` as `put`.
    """
    authorize(node.host, sender)
    kept = need(node, memory)
    values = kept.entry.values
    wished = {name: value for name, value in fields.items() if value != values.get(name, _EMPTY.get(name))}
    if not wished:
        raise conflict("ID", "that is what the entry says already; nothing was changed")
    _check(wished)
    kind = str(wished.get("kind", kept.entry.kind))
    return _write(node, sender, kept.scope, action, kind, {memory: wished})


def retire(node: Node, sender: Sender, memory: str, reason: str) -> Made:
    """Let an entry count no more; it stays to be read. Raises DmpError as `edit`."""
    return edit(node, sender, memory, {"status": "retired", "statusReason": reason}, action="retire")


def restore(node: Node, sender: Sender, memory: str) -> Made:
    """Let a retired entry count again. Raises DmpError as `edit`."""
    return edit(node, sender, memory, {"status": "active", "statusReason": None, "supersededBy": None})


def share(node: Node, sender: Sender, memory: str) -> Kept:
    """Make an entry of this host one of the team's, as it is now.

    Raises DmpError: `not-found` on `ID`, `conflict` there for one of the team's and for one whose place a proposal
    waits to take, `forbidden` on `from` for an agent or a session, and on `refs[i]` as `put`.
    """
    _need_person(sender)
    with node.store.transaction(CommitPoint.MEMORY) as db:
        kept = need(node, memory)  # as nobody else can change it any more before it is the team's
        if kept.scope == "team":
            raise conflict("ID", "that is one of the team's already")
        waiting = proposals.in_state(db, State.OPEN)
        if any(memory != each.memory and memory in (each.changes or {}) for each in waiting):
            raise conflict(
                "ID", "a proposal waits to take its place; decide that first (`dmp memory proposals`)"
            )
        _check_may_leave(node, kept.entry.values, sender.address)
        here.forget(db, memory)
        wished = decided(node, {memory: kept.entry.values}, sender.address, sender.address)
        here.record(db, "team", wished, by=sender.address, now=node.now())
    return need(node, memory)


def stays_here(node: Node, memory: str) -> bool:
    """Whether an entry of the team is about what never leaves this host, so that it is not published."""
    kept = find(node, memory)
    return kept is not None and _local_origin(node, kept.entry.values) is not None


def _write(
    node: Node,
    sender: Sender,
    scope: Scope,
    action: Action,
    kind: str,
    wished: Changes,
    key: str | None = None,
) -> Made:
    memory = next(iter(wished))
    if key is not None and not 1 <= len(key) <= _MAX_KEY:
        raise invalid("idempotencyKey", f"a key has 1 to {_MAX_KEY} characters")
    if scope == "team":
        for fields in wished.values():
            _check_may_leave(node, fields, sender.address)
    allowed = scope == "personal" or node.host.config.memory.agents == "allow"
    proposal: Proposal | None = None
    asks = not sender.can_decide and not allowed
    decided_by = node.address if asks or sender.can_decide else None
    with node.store.transaction(CommitPoint.MEMORY) as db:
        full = decided(node, wished, sender.address, decided_by)
        before = None if key is None else _made_before(db, sender.address, key)
        if before is None and asks:
            proposal = Proposal(
                new_id("mp-", node.random, node.wall()),
                *(memory, action, scope, kind, sender.address, node.now(), State.OPEN),
                changes=full,
            )
            proposals.add(db, proposal)
        elif before is None:
            here.record(db, scope, full, by=sender.address, now=node.now())
        if before is None and key is not None:
            db.execute(
                "INSERT INTO memory_keys (author, key, made) VALUES (?, ?, ?)",
                (sender.address, key, memory if proposal is None else proposal.id),
            )
    made = before or (memory if proposal is None else proposal.id)
    known = proposals.find(node.store.db, made)
    return need(node, made) if known is None else known


def _made_before(db: sqlite3.Connection, author: str, key: str) -> str | None:
    row = db.execute("SELECT made FROM memory_keys WHERE author = ? AND key = ?", (author, key)).fetchone()
    return None if row is None else str(row[0])


def _need_person(sender: Sender) -> None:
    if not sender.can_decide:
        raise forbidden(
            "from", "only a person does this; an agent or a session proposes with `dmp memory put`"
        )


def _superseded(node: Node, scope: Scope, named: Iterable[str]) -> list[str]:
    found = []
    for memory in dict.fromkeys(named):
        kept = need(node, memory, "supersedes")
        if kept.scope != scope:
            raise invalid(
                "supersedes", f"{memory} is {_of(kept.scope)}; only one {_of(kept.scope)} goes in its place"
            )
        found.append(memory)
    return found


def _of(scope: Scope) -> str:
    return {"personal": "a personal one", "project": "one of this project", "team": "one of the team"}[scope]


def _check(fields: Mapping[str, JsonValue]) -> None:
    """Check fields that are to be written here."""
    for name, value in fields.items():
        check_field(name, value)
    title = fields.get("title")
    if isinstance(title, str) and (is_blank(title) or not is_one_line(title)):
        raise invalid("title", "a title is one line that is not blank")
    body = fields.get("body")
    if isinstance(body, str) and is_blank(body):
        raise invalid("body", "say what is to be remembered")


def _check_may_leave(node: Node, fields: Mapping[str, JsonValue], by: str) -> None:
    field = _local_origin(node, {**fields, "author": fields.get("author", by)})
    if field is not None:
        raise forbidden(
            field, "that never leaves this host, and the team's memory does; keep it with --scope project"
        )


def _local_origin(node: Node, fields: Mapping[str, JsonValue]) -> str | None:
    """The field by which an entry comes from what is local-only (F.5); None where it may leave."""
    author = fields.get("author")
    if isinstance(author, str) and never_federates(author):
        return "from"
    refs = fields.get("refs")
    for index, ref in enumerate(refs if isinstance(refs, list) else ()):
        kind, _, id_ = ref.partition(":") if isinstance(ref, str) else ("", "", "")
        if kind in ("message", "thread") and _is_local_only(node.store.db, id_):
            return f"refs[{index}]"
    return None


def _is_local_only(db: sqlite3.Connection, id_: str) -> bool:
    message = message_by_id(db, id_)
    if message is None:
        return False
    replied = None if message.reply_to is None else message_by_id(db, message.reply_to)
    return is_local_only(message, replied, message_by_id(db, message.thread))


def decided(node: Node, wished: Changes, by: str, decided_by: str | None) -> Changes:
    """Changes as they count, once a human decided them, or the policy of this host, for None."""
    found = {memory: find(node, memory) for memory in wished}
    return {
        memory: _stamped(by, fields, {} if kept is None else kept.entry.values, decided_by)
        for (memory, fields), kept in zip(wished.items(), found.values(), strict=True)
    }


def _stamped(
    by: str, fields: Mapping[str, JsonValue], known: Mapping[str, JsonValue], decided_by: str | None
) -> Mapping[str, JsonValue]:
    """The fields of a change with who decided it, where its author does not say that already."""
    is_content = not CONTENT.isdisjoint(fields)
    if decided_by is None:
        return {**fields, "decidedByPolicy": ALLOWED, **({"decidedBy": None} if is_content else {})}
    stamp: dict[str, JsonValue] = {}
    if by != decided_by or (is_content and fields.get("author", known.get("author")) != decided_by):
        stamp["decidedBy"] = decided_by
    if is_content and known.get("decidedByPolicy") is not None:
        stamp["decidedByPolicy"] = None
    return {**fields, **stamp}
