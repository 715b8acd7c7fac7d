"""Whose a session is, and which session of a work item counts, from what presence ops say (8.4, 9.2).

A session belongs to the one replica that claims it. Where several of the team do, neither an order of arrival nor a
clock that a claimant sets may decide: it belongs to nobody, until an admin says whose it is, or one of them is left.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from core.errors import conflict, invalid
from core.store import registers
from crypto.clock import Reading
from crypto.roster.view import View
from replica.shared.kinds import RESOLVED_RUN

EXECUTE: Final = "execute"

ENDED_MS: Final = 30 * 24 * 3_600_000
"""How long a session is listed after its end. Its id stays whose it is for good (8.4)."""

_COLUMNS: Final = "run, replica, first_hlc, hlc, task, run_kind, live, waiting_on, member"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a replica says of a session it calls its own. `first` is its first word on it, `latest` its last.

    `task` is the work item's address, None for an auxiliary session; `member` tells that the replica is in the
    team still.
    """

    run: str
    replica: str
    first: Reading
    latest: Reading
    task: str | None
    run_kind: str
    live: bool
    waiting_on: str | None
    member: bool


@dataclass(frozen=True, slots=True)
class Binding:
    """Whose a session is; `claim` is None where nobody is known to own it, `contested` where several would."""

    claim: Claim | None
    contested: bool = False


def claimants(db: sqlite3.Connection, run: str) -> list[Claim]:
    """Every replica's claim to a session, the earliest first: the evidence for whose it is."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM run_claims WHERE run = ?", (run,))
    return _in_order(_claim(row) for row in rows)


def binding(db: sqlite3.Connection, run: str) -> Binding:
    """Whose a session is."""
    return _binding(db, run, claimants(db, run))


def _binding(db: sqlite3.Connection, run: str, claims: Sequence[Claim]) -> Binding:
    claims = [claim for claim in claims if claim.member] or claims
    if len(claims) > 1:
        resolved = registers.published_fields(db, RESOLVED_RUN, run).get("replica")
        claims = [claim for claim in claims if claim.replica == resolved]
        if not claims:
            return Binding(None, contested=True)
    return Binding(claims[0] if claims else None)


def bound(db: sqlite3.Connection) -> list[Claim]:
    """The sessions of the team that are somebody's, by the time they were first told of."""
    return _bound(db, f"SELECT {_COLUMNS} FROM run_claims ORDER BY run")


def listed(db: sqlite3.Connection, now_ms: int) -> list[Claim]:
    """Those of them that live, or ended in the last 30 days."""
    return [claim for claim in bound(db) if claim.live or claim.latest.ms > now_ms - ENDED_MS]


def of_work_item(db: sqlite3.Connection, work_item: str) -> list[Claim]:
    """The sessions of a work item that are somebody's, the earliest first."""
    found = _bound(
        db,
        f"SELECT {_COLUMNS} FROM run_claims WHERE run IN (SELECT run FROM run_claims WHERE task = ?) "
        "ORDER BY run",
        work_item,
    )
    return [claim for claim in found if claim.task == work_item]


def _bound(db: sqlite3.Connection, query: str, *given: str) -> list[Claim]:
    """The sessions that are somebody's by the claims a query finds, those to one session after one another.

    One query for all of them: a teammate may claim any number.
    """
    claims = groupby((_claim(row) for row in db.execute(query, given).fetchall()), lambda claim: claim.run)
    found = [_binding(db, run, _in_order(each)).claim for run, each in claims]
    return _in_order(claim for claim in found if claim is not None)


def has_run(db: sqlite3.Connection, replica: str, work_item: str) -> bool:
    """Whether a session of a work item is or was a replica's."""
    rows = db.execute("SELECT run FROM run_claims WHERE task = ? AND replica = ?", (work_item, replica))
    bindings = (binding(db, run).claim for (run,) in rows)
    return any(claim is not None and claim.replica == replica for claim in bindings)


def resolve(db: sqlite3.Connection, run: str, replica: str) -> None:
    """Say whose a session is that several replicas claim, as an admin may, inside an open transaction.

    It counts once it is published. Raises DmpError: `conflict` on `session` for one that is in no dispute,
    `invalid` on `replica` for one that does not claim it.
    """
    claims = [claim.replica for claim in claimants(db, run)]
    if len(claims) < 2:
        raise conflict("session", f"no two replicas claim {run}")
    if replica not in claims:
        raise invalid("replica", f"{run} is claimed by {' and '.join(claims)}")
    registers.edit(db, RESOLVED_RUN, run, {"replica": replica})


def usable(view: View, replica: str) -> bool:
    """Whether a replica homes anything: a member that does not observe (9.1)."""
    member = view.members.get(replica)
    return member is not None and not member.observer


def _in_order(claims: Iterable[Claim]) -> list[Claim]:
    return sorted(claims, key=lambda claim: (*claim.first.key, claim.replica, claim.run))


def _claim(row: tuple[str, str, str, str, str | None, str, int, str | None, int]) -> Claim:
    run, replica, first, latest, task, run_kind, live, waiting_on, member = row
    return Claim(
        run,
        replica,
        Reading.parse(first),
        Reading.parse(latest),
        task,
        run_kind,
        bool(live),
        waiting_on,
        bool(member),
    )
