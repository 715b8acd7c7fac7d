"""Steps that tell what a replica knows of its team: who homes an address, and shared state."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from core.store import registers
from replica.host import memory
from replica.node import Node
from replica.shared import runs, tasks
from replica.shared.bodies import ACTIVITY
from replica.shared.docs import reading, rows
from replica.shared.homes import homes
from replica.shared.kinds import AGENT, TASK
from replica.shared.memory import proposals
from replica.shared.memory.proposals import State
from replica.team.roster import need_team
from vectors.adapter.federation.given_lines import Json
from vectors.adapter.federation.rosters import roster
from vectors.adapter.members import Members


def _roster(node: Node, _step: Members) -> Json:
    return roster(need_team(node.team).view)


def _homes(node: Node, step: Members) -> Json:
    return {"homes": list(homes(node.store.db, need_team(node.team).view, step.text("address")))}


def _work_item(node: Node, step: Members) -> Json:
    db, address = node.store.db, f"task:{step.text('id')}"
    written = registers.fields_of(db, TASK, address)
    lines = {name: value for name, value in written.items() if name.startswith(ACTIVITY)}
    return {
        "exists": bool(written) and not tasks.is_removed(db, address),
        "fields": {name: value for name, value in written.items() if name not in lines},
        "activity": [lines[name] for name in sorted(lines)],
    }


def _agent(node: Node, step: Members) -> Json:
    db, address = node.store.db, step.text("address")
    fields = registers.fields_of(db, AGENT, address)
    return {name: fields.get(name) for name in ("replica", "status", "displayName", "client")}


def _session(node: Node, step: Members) -> Json:
    return _binding(node.store.db, step.text("address"))


def _binding(db: sqlite3.Connection, session: str) -> Json:
    bound = runs.binding(db, session)
    claim = bound.claim
    if claim is None:
        return {"replica": None, "contested": bound.contested, "workItem": None, "live": False}
    return {"replica": claim.replica, "contested": False, "workItem": claim.task, "live": claim.live}


def _memory(node: Node, step: Members) -> Json:
    kept = memory.find(node, step.text("id"))
    asked = any(each.state is State.OPEN for each in proposals.of_memory(node.store.db, step.text("id")))
    if kept is None:
        return {"exists": False, "fields": {}, "trust": None, "proposed": asked}
    entry = kept.entry
    return {
        "exists": entry.is_whole,
        "fields": dict(entry.values) if entry.is_whole else {},
        "trust": entry.trust if entry.is_whole else None,
        "proposed": asked or bool(entry.held),
    }


def _document(node: Node, step: Members) -> Json:
    found = reading.read(node.store, node.me).documents.get(step.text("id"))
    if found is None:
        return {
            "exists": False,
            "slug": None,
            "status": None,
            "heads": [],
            "texts": {},
            "held": [],
            "waiting": [],
        }
    return {
        "exists": found.is_there,
        "slug": found.slug,
        "status": found.status,
        "heads": sorted(row.id for row in found.heads),
        "texts": {row.id: rows.body_of(node.store.db, row) for row in found.heads},
        "held": sorted(row.id for row in found.held),
        "waiting": sorted(row.id for row in found.waiting),
    }


STEPS: Final[Mapping[str, Callable[[Node, Members], Json]]] = {
    "roster": _roster,
    "homes": _homes,
    "workItem": _work_item,
    "agent": _agent,
    "session": _session,
    "memory": _memory,
    "document": _document,
}
