"""Publishing shared state: what was written here since the last pass becomes ops, and gets their clocks.

Each op is folded in where it is signed, in the transaction that takes the edit away, so that a crash leaves either
the edit or the op. What was written before this replica came into the team is published like anything else, except
a membership of a channel that the team already has a word on.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Final

from core.store import registers
from crypto.canonical import JsonValue, canonical
from crypto.op import MAX_OP_BYTES
from replica.addresses import never_federates
from replica.capabilities import CAPS
from replica.host import memory
from replica.node import Node
from replica.records import problems
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.shared import fold
from replica.shared.bodies import is_member
from replica.shared.docs import rows as docs
from replica.shared.kinds import AGENT, CHANNEL, RESOLVED_RUN, SESSION, TASK, TOMBSTONE
from replica.shared.memory import changes as memory_changes
from replica.shared.waiting import waiting_sessions
from replica.team.roster import Team

AT_A_TIME: Final = 64
"""Ops signed in one transaction, so that others are not kept waiting."""

DOCUMENTS_AT_A_TIME: Final = 200
"""Changes of documents signed in one pass, since each may take 1 MiB; the rest goes with the next (wire 8.20)."""

ENVELOPE_BYTES: Final = 8 * 1024
"""Bytes of an op that are kept for what is not a work item's fields (8.12)."""

PRESENCE_MS: Final = 60 * 60_000
"""How often a replica that keeps running says that it is there, in milliseconds (8.1)."""

_SAID: Final = "published"
"""The field of an agent's or a session's edits that holds what was last published of it. The edits themselves stay:
what is registered here wins here over anything others publish (8.6), and a session is this machine's alone."""


@dataclass(frozen=True, slots=True)
class _Change:
    """An op to sign, and the edits it publishes; `kept` replaces them."""

    type: str
    body: dict[str, JsonValue]
    kind: str
    subject: str
    fields: tuple[str, ...]
    kept: Mapping[str, JsonValue] | None = None


def sign_shared(node: Node, team: Team) -> int:
    """Turn what was written here into ops; return how many were signed. An observer's edits stay its own."""
    if team.view.members[node.me].observer:
        return 0
    db, signed = node.store.db, 0
    if get(db, Meta.SHARING_SINCE) is None:
        with node.store.transaction(CommitPoint.SHARED):
            _drop_what_the_team_knows(db)
            put(db, Meta.SHARING_SINCE, node.now())
    while next(_changes(db, node.me), None) is not None:
        with node.store.transaction(CommitPoint.SHARED):
            for change in list(islice(_changes(db, node.me), AT_A_TIME)):
                _say(db, node, team, change.type, change.body)
                registers.drop_edits(db, change.kind, change.subject, change.fields)
                registers.edit(db, change.kind, change.subject, change.kept or {})
                signed += 1
    return signed + _sign_memories(node, team) + _sign_documents(node, team)


def _sign_memories(node: Node, team: Team) -> int:
    """Turn what was written to the team's memory into ops, an op for each author; return how many."""
    db, says, signed = node.store.db, memory.speaks(node), 0
    entries = [entry for entry in memory_changes.waiting(db) if not memory.stays_here(node, entry)]
    for start in range(0, len(entries), AT_A_TIME):
        with node.store.transaction(CommitPoint.SHARED):
            for entry in entries[start : start + AT_A_TIME]:
                while (said := memory_changes.next_publication(db, entry, node.me, says)) is not None:
                    _say(db, node, team, "memory", said.body)
                    memory_changes.drop_published(db, said)
                    signed += 1
    return signed


def _sign_documents(node: Node, team: Team) -> int:
    """Turn changes of documents into ops, each by itself, as they may be large; return how many."""
    changes = docs.waiting(node.store.db)[:DOCUMENTS_AT_A_TIME]
    for id_ in changes:
        with node.store.transaction(CommitPoint.SHARED) as db:
            _say(db, node, team, "doc", docs.waiting_body(db, id_))
            docs.forget(db, id_)
    return len(changes)


def sign_presence(node: Node, team: Team, *, beginning: bool) -> None:
    """Say that this replica is there: at the `beginning` of a long run, once an hour, and when its build changed."""
    row = node.store.db.execute("SELECT wall, build FROM devices WHERE replica = ?", (node.me,)).fetchone()
    due = row is None or row[1] != _build_name() or not 0 <= node.wall() - row[0] < PRESENCE_MS
    if due or beginning:
        _say_presence(node, team)


def announce_capabilities(node: Node, team: Team) -> None:
    """Say what this build can do, where neither the key op nor any presence of this replica does."""
    row = node.store.db.execute("SELECT caps_json FROM devices WHERE replica = ?", (node.me,)).fetchone()
    said = {*team.keys[node.me].caps, *([] if row is None else json.loads(row[0]))}
    if not said.issuperset(CAPS):
        _say_presence(node, team)


def _say_presence(node: Node, team: Team) -> None:
    body: JsonValue = {
        "kind": "replica",
        "build": _build_name(),
        "device": team.keys[node.me].device,
        "wall": node.wall(),
        "caps": [*CAPS],
    }
    with node.store.transaction(CommitPoint.SHARED) as db:
        _say(db, node, team, "presence", body)


def _say(db: sqlite3.Connection, node: Node, team: Team, type_: str, body: JsonValue) -> None:
    """Sign an op and fold it in, inside an open transaction. One that everybody passes over does not go unnoticed."""
    op = node.signer.append(db, type_, body)
    outcome = fold.apply(db, team.view, op)
    if outcome.subject:
        problems.note(db, problems.Problem(outcome.subject, outcome.reason, node.me, op.seq, node.now()))


def _build_name() -> str:
    """What this build calls itself to teammates."""
    try:
        return f"dmp {version('dmp-replica')}"
    except PackageNotFoundError:
        return "dmp"


def _drop_what_the_team_knows(db: sqlite3.Connection) -> None:
    for channel, fields in registers.edits(db, CHANNEL).items():
        registers.drop_edits(
            db, CHANNEL, channel, fields.keys() & registers.published_fields(db, CHANNEL, channel)
        )


def _changes(db: sqlite3.Connection, me: str) -> Iterator[_Change]:
    yield from _tasks(db)
    yield from _removals(db)
    yield from _agents(db, me)
    yield from _memberships(db)
    yield from _sessions(db, me)
    yield from _resolved(db)


def _tasks(db: sqlite3.Connection) -> Iterator[_Change]:
    for address, edits in registers.edits(db, TASK).items():
        created = edits.get("created")
        for index, fields in enumerate(_that_fit(edits)):
            body: dict[str, JsonValue] = {"task": address.partition(":")[2], "kind": "put", "fields": fields}
            if isinstance(created, str) and index == 0:  # made here, even if another of its id came in since
                body["origin"] = created
            yield _Change("task", body, TASK, address, tuple(fields))


def _that_fit(fields: Mapping[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The fields of a work item in their order, as many together as an op has room for (8.12)."""
    some: dict[str, JsonValue] = {}
    size = 0
    for name, value in fields.items():
        added = len(canonical({name: value}))
        if some and size + added > MAX_OP_BYTES - ENVELOPE_BYTES:
            yield some
            some, size = {}, 0
        some[name] = value
        size += added
    if some:
        yield some


def _removals(db: sqlite3.Connection) -> Iterator[_Change]:
    for address, fields in registers.edits(db, TOMBSTONE).items():
        body: dict[str, JsonValue] = {"task": address.partition(":")[2], "kind": "remove"}
        yield _Change("task", body, TOMBSTONE, address, tuple(fields))


def _agents(db: sqlite3.Connection, me: str) -> Iterator[_Change]:
    for address, edits in registers.edits(db, AGENT).items():
        if never_federates(address):
            continue
        fields = registers.fields_of(db, AGENT, address)
        body: dict[str, JsonValue] = {
            "address": address,
            "displayName": fields.get("displayName", address.rpartition("/")[2]),
            "client": fields.get("client", ""),
            "status": fields.get("status", "revoked"),
        }
        if edits.get(_SAID) == body:
            continue
        if edits.get("replica") == me:
            yield _Change("agent", body, AGENT, address, (), {_SAID: body})
        else:  # a word on what another machine of its owner's registered
            yield _Change("agent", body, AGENT, address, tuple(edits))


def _memberships(db: sqlite3.Connection) -> Iterator[_Change]:
    for channel, fields in registers.edits(db, CHANNEL).items():
        for member, joined in fields.items():
            if is_member(member):
                body: dict[str, JsonValue] = {"channel": channel, "member": member, "joined": joined}
                yield _Change("channel", body, CHANNEL, channel, (member,))


def _sessions(db: sqlite3.Connection, me: str) -> Iterator[_Change]:
    since = get(db, Meta.SHARING_SINCE) or ""
    writers, waiting = docs.writers(db), waiting_sessions(db)
    for address, edits in registers.edits(db, SESSION).items():
        body: dict[str, JsonValue] = {
            "kind": "run",
            "run": address.partition(":")[2],
            **{name: edits.get(name) for name in ("task", "runKind", "live")},
        }
        if edits.get("live") is True and address in waiting:
            body["waitingOn"] = waiting[address]
        ended = edits.get("endedAt")
        over = _SAID not in edits and isinstance(ended, str) and ended < since and address not in writers
        if edits.get("replica") == me and not over and edits.get(_SAID) != body:
            yield _Change("presence", body, SESSION, address, (), {_SAID: body})


def _resolved(db: sqlite3.Connection) -> Iterator[_Change]:
    for address, fields in registers.edits(db, RESOLVED_RUN).items():
        run = address.partition(":")[2]
        body: dict[str, JsonValue] = {"kind": "resolve", "run": run, "replica": fields.get("replica")}
        yield _Change("presence", body, RESOLVED_RUN, address, tuple(fields))
