"""What a relay counts, in Prometheus' text. No label names a person, a replica or a team."""

from collections import Counter as Totals
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from transports.relay.server.relay import Relay

_COUNTERS: Final = {
    "frames": ("frames_received", "Frames that clients sent.", ""),
    "stored": ("ops_stored", "Ops that were stored.", ""),
    "repeated": ("ops_repeated", "Ops that were published again.", ""),
    "hints": ("hints", "Hints of what was stored that were queued for a client.", ""),
    "hints_dropped": ("hints_dropped", "Hints that were dropped since a client did not read.", ""),
    "errors": (
        "requests_refused",
        "Requests that were not done, by the word their reason begins with.",
        "why",
    ),
    "refused": ("connections_refused", "Connections the relay ended, by the word of the reason.", "why"),
    "connected": ("connections_accepted", "Clients that proved who they are.", "standing"),
    "turned_away": (
        "connections_turned_away",
        "Connections that ended before they began, by HTTP status.",
        "status",
    ),
    "registrations": ("registrations", "Requests to register a team, by HTTP status.", "status"),
}


class Metrics:
    """Counts what a relay tells it, and looks at the relay when it is asked.

    Several things happen with each op, so they are only added up at first; `settle` counts them.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._told = Totals[tuple[str, str]]()
        self._counters = {
            what: Counter(f"dmp_relay_{name}", text, [label] if label else [], registry=self._registry)
            for what, (name, text, label) in _COUNTERS.items()
        }
        self._commit = Histogram(
            "dmp_relay_commit_seconds",
            "How long a transaction took.",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5),
            registry=self._registry,
        )
        self._batch = Histogram(
            "dmp_relay_commit_ops",
            "How many ops a transaction held.",
            buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000),
            registry=self._registry,
        )
        self._gauges = {
            name: Gauge(f"dmp_relay_{name}", text, registry=self._registry)
            for name, text in (
                ("connections", "Connections that are open."),
                ("members_connected", "Connections of members."),
                ("teams", "Teams that are registered."),
                ("teams_in_memory", "Teams that are in memory."),
                ("stored_bytes", "What the ops of all teams take, without what is pruned."),
            )
        }

    def tally(self, what: str, label: str = "", amount: int = 1) -> None:
        """Count what a relay tells."""
        self._told[what, label] += amount

    def settle(self) -> None:
        """Count what was told since the last time, in the thread that tells it."""
        for (what, label), amount in self._told.items():
            counter = self._counters[what]
            (counter.labels(label) if label else counter).inc(amount)
        self._told.clear()

    def committed(self, seconds: float, ops: int) -> None:
        """Count one transaction."""
        self._commit.observe(seconds)
        self._batch.observe(ops)

    def text(self, relay: Relay) -> bytes:
        """Write everything that was settled, as Prometheus reads it. For any thread."""
        self._gauges["connections"].set(len(relay.sessions))
        self._gauges["members_connected"].set(sum(len(team.sessions) for team in relay.teams.values()))
        self._gauges["teams"].set(relay.store.teams())
        self._gauges["stored_bytes"].set(relay.store.used())
        self._gauges["teams_in_memory"].set(len(relay.teams))
        return generate_latest(self._registry)
