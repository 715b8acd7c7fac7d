"""Where an address lives: the replicas that store and deliver its mail (F.5, Homes of an address).

Homes are computed from the roster and from shared state, which every replica folds alike, so every replica computes
the same ones. What was written here and is not published yet counts too: others hear of it before the mail.
"""

import sqlite3
from collections.abc import Sequence

from core.address import parse_address
from core.store import registers
from crypto.clock import Reading
from crypto.roster.view import View
from replica.addresses import never_federates
from replica.shared import agents, runs, tasks
from replica.shared.kinds import SESSION, TASK


def homes(db: sqlite3.Connection, view: View, address: str) -> tuple[str, ...]:
    """The replicas that home `address`, sorted; none for an address that stays where it is."""
    parsed = parse_address(address, "recipient")
    if never_federates(address):
        return ()
    if parsed.kind == "human":
        return view.replicas_of(parsed.handle or "")
    if parsed.kind == "agent" and parsed.operator is not None:
        at = agents.registered_at(db, address)
        return (at,) if at is not None and runs.usable(view, at) else ()
    if parsed.kind == "task":
        live = live_replica(db, view, address)
        return (live,) if live is not None else _of_assignee(db, view, address)
    return ()


def live_replica(db: sqlite3.Connection, view: View, work_item: str) -> str | None:
    """The replica of a work item's live session: of several, of the one that was told of first (9.2)."""
    published = runs.of_work_item(db, work_item)
    here = registers.subjects_with(db, SESSION, "task", work_item.partition(":")[2])
    for claim in published:
        local = here.get(claim.run, {})
        live = local.get("live") is True if local.get("replica") == claim.replica else claim.live
        if live and claim.run_kind == runs.EXECUTE and runs.usable(view, claim.replica):
            return claim.replica
    told_of = {claim.run for claim in published}
    for run, fields in here.items():
        replica = fields.get("replica")
        if run not in told_of and fields.get("live") is True and isinstance(replica, str):
            return replica if runs.usable(view, replica) else None
    return None


def waking_replica(db: sqlite3.Connection, view: View, work_item: str, found: Sequence[str]) -> str | None:
    """Which of the homes of a work item may wake it (9.4): that of its live session, or the one heard of last."""
    if not found:
        return None
    live = live_replica(db, view, work_item)
    if live in found:
        return live
    heard = {
        replica: Reading.parse(hlc).key
        for replica, hlc in db.execute("SELECT replica, hlc FROM devices")
        if replica in found
    }
    return max(sorted(found), key=lambda replica: heard.get(replica, (0, 0)))


def _of_assignee(db: sqlite3.Connection, view: View, work_item: str) -> tuple[str, ...]:
    assignee = registers.fields_of(db, TASK, work_item).get("assignee")
    if tasks.is_removed(db, work_item) or not isinstance(assignee, str):
        return ()
    scheme, _, rest = assignee.partition(":")
    if scheme not in ("human", "agent") or never_federates(assignee):
        return ()
    return view.replicas_of(rest if scheme == "human" else rest.partition("/")[0])
