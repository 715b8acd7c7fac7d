"""Asking this host's person about memory: one `memory` gate for each proposal, raised by the system (sections 5, C.3).

A proposal is written down before its gate is raised, under a key of its own, so that a crash in between leaves one gate
and not two. Answering the gate is the decision; it is applied in one transaction, and may be asked for again.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from core.errors import Code, DmpError, conflict
from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender
from core.message import Message
from core.store.messages import message_by_key
from core.text import lines
from crypto.canonical import JsonValue
from replica.addresses import SYSTEM_ADDRESS
from replica.host import memory, memory_effects, raising
from replica.node import Node
from replica.quoting import quoted
from replica.records import problems, subjects
from replica.records.commits import CommitPoint
from replica.shared.ids import new_id
from replica.shared.memory import proposals
from replica.shared.memory.bodies import FIELDS
from replica.shared.memory.entries import Entry, Revision
from replica.shared.memory.proposals import Action, Proposal, State

MAX_OPEN: Final = 50
"""Open proposals from one replica of a teammate's: what is beyond waits until some are decided (8.15)."""

_UNJUDGED: Final = """
SELECT memory FROM memory_unjudged AS entry
WHERE NOT EXISTS (SELECT 1 FROM memory_writes WHERE memory = entry.memory)
OR EXISTS (
    SELECT 1 FROM memory_writes WHERE memory = entry.memory AND replica NOT IN (
        SELECT replica FROM memory_proposals WHERE state = 'open' AND replica IS NOT NULL
        GROUP BY replica HAVING count(*) >= ?
    )
)
ORDER BY memory
"""
"""Entries to look at: not those that nobody wrote to but replicas of which nothing more is asked about now."""

AT_A_TIME: Final = 128
"""Entries judged in one transaction, so that others are not kept waiting."""

_BESIDE: Final = frozenset(("createdAt", "decidedBy", "decidedByPolicy"))
"""Fields that a gate says nothing of."""

QUOTE: Final = "| "
"""What each line of somebody's words in a gate starts with, so that none passes for the host's own."""


def judge(node: Node) -> None:
    """Look whether anything waits for a decision that nobody was asked about, and ask.

    To be called after a pass applied what teammates published, and before a command shows or changes memory.
    """
    db = node.store.db
    for outdated in proposals.outdated(db):
        _withdraw(node, outdated, "what it proposed was taken back with its publisher's revocation")
    names = [name for (name,) in db.execute(_UNJUDGED, (MAX_OPEN,))]
    for start in range(0, len(names), AT_A_TIME):
        with node.store.transaction(CommitPoint.MEMORY):
            needless = [
                each for name in names[start : start + AT_A_TIME] for each in _judge_entry(db, node, name)
            ]
        for proposal in needless:  # and the entry is looked at again
            _withdraw(node, proposal, "somebody stands behind what it proposed, so it counts")
    for proposal in proposals.without_gate(db):
        raise_gate(node, proposal)
    _clear_caps(node)


def raise_gate(node: Node, proposal: Proposal, reason: str | None = None) -> Message:
    """Raise the gate of a proposal; raising it again is raising it once.

    `reason` is what whoever proposes it says for it; it is asked with the gate, and kept nowhere else.
    """
    data: dict[str, JsonValue] = {
        "proposalId": proposal.id,
        "action": proposal.action,
        "scope": proposal.scope,
        "kind": proposal.kind,
        "memory": proposal.memory,
    }
    gate = raising.raise_gate(
        node, GATE_TYPES["memory"], data, body=_question(node, proposal, reason), key=proposal.gate_key
    ).message
    with node.store.transaction(CommitPoint.MEMORY) as db:
        proposals.set_gate(db, proposal, gate.id)
    return gate


def decide(node: Node, proposal: Proposal, *, approve: bool) -> Proposal:
    """Decide a proposal as its gate does, or anew where that was answered or closed.

    Raises DmpError `conflict` on `ID` for one of this host that was approved and is to be refused now.
    """
    gate = raise_gate(node, proposal) if proposal.state is State.OPEN else None
    if gate is not None and node.engine.answer_of(gate.id) is None:
        given = ReplyInput("", choice="approve" if approve else "reject")
        node.engine.reply(Sender(node.address, can_decide=True), gate.id, given)
    else:
        with node.store.transaction(CommitPoint.MEMORY) as db:
            known = proposals.find(db, proposal.id) or proposal
            written = known.place is None and known.state is State.APPROVED
            if written and not approve:
                raise conflict("ID", "that was approved, and counts already; change the entry, or retire it")
            if not written:
                memory_effects.decide(db, known, approve=approve, now=node.now())
    return proposals.find(node.store.db, proposal.id) or proposal


def _judge_entry(db: sqlite3.Connection, node: Node, name: str) -> list[Proposal]:
    """Propose the writes of an entry that nobody stands behind; return the proposals that need no decision."""
    kept, known = memory.find(node, name), proposals.of_memory(db, name)
    held = {} if kept is None else {each.write.place: each for each in kept.entry.held}
    needless = [
        each
        for each in known
        if each.place is not None and each.state is State.OPEN and each.place not in held
    ]
    asked = {each.place for each in known}
    wanted = [each for place, each in held.items() if place not in asked]
    proposed = [_propose(db, node, kept.entry, each) for each in wanted if kept is not None]
    if all(proposed) and not needless:
        db.execute("DELETE FROM memory_unjudged WHERE memory = ?", (name,))
    return needless


def _propose(db: sqlite3.Connection, node: Node, entry: Entry, revision: Revision) -> bool:
    """Put a teammate's write down as a proposal; False where it must wait for others to be decided."""
    write = revision.write
    kind = str(write.fields.get("kind", entry.kind))
    if write.seq is None or not kind:
        return True  # what it is about is not known yet; the write that tells will have it judged again
    policy = node.host.config.memory.teammates
    if policy == "ask" and proposals.open_of(db, write.replica) >= MAX_OPEN:
        text = f"{MAX_OPEN} changes of memory from {_whose(node, write.replica)} wait for you; others wait behind"
        subject = subjects.MEMORY_CAP.of(write.replica)
        problems.note(db, problems.Problem(subject, text, write.replica, write.seq, node.now()))
        return False
    proposals.add(
        db,
        Proposal(
            new_id("mp-", node.random, node.wall()),
            *(write.memory, _action(revision, entry), "team", kind, write.by, node.now()),
            State.OPEN if policy == "ask" else State.ALLOWED,
            place=(write.replica, write.seq),
        ),
    )
    return True


def _clear_caps(node: Node) -> None:
    """Forget that too much waits from those from whom it does no more."""
    db = node.store.db
    over = [
        each.subject
        for each in problems.all_problems(db)
        if subjects.MEMORY_CAP.covers(each.subject)
        and (each.replica is None or proposals.open_of(db, each.replica) < MAX_OPEN)
    ]
    if over:
        with node.store.transaction(CommitPoint.PROBLEM):
            for subject in over:
                problems.clear(db, subject)


def _action(revision: Revision, entry: Entry) -> Action:
    fields = revision.write.fields
    if fields.get("status") == "retired":
        return "retire"
    return "add" if not entry.is_whole and not fields.get("supersedes") else "supersede"


def _withdraw(node: Node, proposal: Proposal, reason: str) -> None:
    gate = message_by_key(node.store.db, SYSTEM_ADDRESS, proposal.gate_key)
    if gate is not None:
        try:
            node.engine.close(gate.id, reason)
        except DmpError as error:
            if error.code is not Code.CONFLICT:  # it was answered or closed meanwhile
                raise
    with node.store.transaction(CommitPoint.MEMORY) as db:
        known = proposals.find(db, proposal.id)
        if known is not None and known.state is State.OPEN:
            proposals.remove(db, proposal)


def _whose(node: Node, replica: str) -> str:
    return replica if node.team is None else node.team.describe(replica)


# What a gate asks


def _question(node: Node, proposal: Proposal, reason: str | None) -> str:
    return "\n".join(_sentences(node, proposal, reason))


def _sentences(node: Node, proposal: Proposal, reason: str | None) -> Iterator[str]:
    by = proposal.by or "a program"
    via = "" if proposal.place is None else f", on {_whose(node, proposal.place[0])},"
    does = {"add": "proposes to remember", "supersede": "proposes to change", "retire": "proposes to retire"}
    where = "the team" if proposal.scope == "team" else "this project"
    yield f"{by}{via} {does[proposal.action]} a {proposal.kind} in the memory of {where}:"
    for name, before, after in changes_of(node, proposal):
        if name not in _BESIDE and (name != "author" or after != proposal.by):
            yield from _lines(name, before, after)
    if reason is not None:
        yield f"reason given: {quoted(reason)}"
    yield f"See `dmp memory diff {proposal.id}`."


def changes_of(node: Node, proposal: Proposal) -> list[tuple[str, JsonValue, JsonValue]]:
    """What a proposal would change of its entry as it is now: each field with its value before and after."""
    kept = memory.find(node, proposal.memory)
    values: Mapping[str, JsonValue] = {} if kept is None else kept.entry.values
    if proposal.changes is not None:
        fields = proposal.changes.get(proposal.memory, {})
    else:
        revisions = () if kept is None else kept.entry.revisions
        fields = next((each.fields for each in revisions if each.write.place == proposal.place), {})
    return [
        (name, values.get(name), value)
        for name, value in sorted(fields.items(), key=lambda field: FIELDS.index(field[0]))
        if value != values.get(name) and not (name not in values and value in (None, [], False, "active"))
    ]


def _lines(name: str, before: JsonValue, after: JsonValue) -> Iterator[str]:
    if isinstance(after, str) and name == "body":
        yield "body:"
        yield from (f"{QUOTE}{line}" for line in lines(after))
    else:
        was = "" if before is None else f", before {_shown(before)}"
        yield f"{name}: {_shown(after)}{was}"


def _shown(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(each) for each in value) or "none"
    return quoted(value) if isinstance(value, str) else "none" if value is None else str(value).lower()
