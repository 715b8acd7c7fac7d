"""What the service counts, in Prometheus' text. No label names a person, a replica, a team or an address."""

from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest

from core.errors import DmpError
from core.message import State
from core.timestamp import milliseconds
from replica.host.problems import all_problems
from replica.node import opened
from replica.passes import Outcome
from replica.records import transports
from replica.records.link import Role
from replica.records.meta import Meta, get
from replica.sync import Report, waiting_to_publish
from transports.base import TransportError

UNREAD: Final = (State.HELD, State.PUSHED, State.NOTIFIED)
"""States of mail that its recipient has not read."""

_GAUGES: Final = {
    "unread_messages": "Messages to the person here that were not read.",
    "open_questions": "Blocking questions and handoffs that nobody answered.",
    "waiting_to_publish": "Messages, ops and changes that are not published yet.",
    "problems": "Problems that nobody here has seen.",
    "signing": "1 while this replica signs what it publishes, 0 while it is paused or has stopped for good.",
    "transports": "Transports this replica uses.",
    "transports_failing": "Transports whose last visit failed.",
    "synced_timestamp_seconds": "When the main transport was last done with, in unix seconds; 0 for never.",
    "store_bytes": "What the store takes on the disk, its write-ahead log included.",
}


class Metrics:
    """Counts what the service's threads tell it, and looks at the store when it is asked."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._passes = Counter(
            "dmp_sync_passes", "Passes, by what became of them.", ["outcome"], registry=self._registry
        )
        self._ops = Counter("dmp_sync_ops", "Ops, by what was done.", ["done"], registry=self._registry)
        self._failures = Counter(
            "dmp_worker_failures",
            "How often a thread of the service failed and began again.",
            ["worker"],
            registry=self._registry,
        )
        self._gauges = {
            name: Gauge(f"dmp_{name}", text, registry=self._registry) for name, text in _GAUGES.items()
        }

    def passed(self, outcome: Outcome) -> None:
        """Count a pass."""
        self._passes.labels(_outcome(outcome)).inc()
        if isinstance(outcome, Report):
            for done, count in (
                ("published", outcome.published),
                ("applied", outcome.applied),
                ("refused", outcome.refused),
            ):
                self._ops.labels(done).inc(count)

    def failed(self, worker: str) -> None:
        """Count a thread that failed."""
        self._failures.labels(worker).inc()

    def text(self, root: Path) -> bytes:
        """Everything, as Prometheus reads it, of the replica at `root`. Raises DmpError, sqlite3.Error."""
        for name, value in _figures(root).items():
            self._gauges[name].set(value)
        return generate_latest(self._registry)


def _outcome(outcome: Outcome) -> str:
    match outcome:
        case Report(paused=None, faults=[]):
            return "done"
        case Report(paused=None):
            return "faults"
        case Report():
            return "paused"
        case TransportError():
            return "unreachable"
        case DmpError():
            return "refused"


def _figures(root: Path) -> dict[str, float]:
    with opened(root) as node, node.store.reading() as db:
        synced = get(db, Meta.SYNCED_AT)
        used = [each for each in transports.records(db) if each.role is not Role.FORMER]
        (unread,) = db.execute(
            f"SELECT count(*) FROM deliveries WHERE recipient = ? AND state IN ({', '.join('?' * len(UNREAD))})",
            (node.address, *UNREAD),
        ).fetchone()
        return {
            "unread_messages": unread,
            "open_questions": len(node.engine.open_blocking()),
            "waiting_to_publish": waiting_to_publish(node),
            "problems": len(all_problems(node)),
            "signing": int(get(db, Meta.STOPPED) is None and get(db, Meta.PAUSED) is None),
            "transports": len(used),
            "transports_failing": sum(each.error is not None for each in used),
            "synced_timestamp_seconds": 0 if synced is None else milliseconds(synced) / 1000,
            "store_bytes": sum(
                each.stat().st_size for each in root.glob("state.db*") if not each.name.endswith("-shm")
            ),
        }
