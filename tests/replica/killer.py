"""Death at a commit: what the crash tests of a team and those of one host share."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal

from core.commits import CommitPoint as CorePoint
from replica.records.commits import CommitPoint

When = Literal["before", "after"]

OF_A_HOST: Final[set[str]] = {
    CorePoint.CLOSE,
    CorePoint.SESSION_START,
    CorePoint.DISPATCHED,
    CorePoint.RECOVER,
    CorePoint.CLAIM,
    CorePoint.EFFECT,
    CorePoint.VOID,
    CorePoint.NOTICE,
    CommitPoint.WORK_ITEM,
    CommitPoint.MEMORY,
    CommitPoint.AGENT,
    CommitPoint.DOCUMENT,
    CommitPoint.TOKEN,
    CommitPoint.SESSION,
    CommitPoint.EFFECT,
}
"""Commits of one person's host, with or without a team: test_host_crashes visits them, test_crashes all others."""

OF_TRANSPORTS: Final[set[str]] = {CommitPoint.VISITED, CommitPoint.MOVED}
"""Commits of a machine that uses more than one transport: test_transport_crashes visits them."""

OF_PRUNING: Final[set[str]] = {CommitPoint.PRUNED}
"""Commits of a machine whose transport can take back what everybody has: test_prune visits them."""


class KilledError(BaseException):
    """The machine died."""


@dataclass
class Killer:
    """Counts the commits of a story, and ends it at one of them, once."""

    at: tuple[str, When, int] | None = None
    seen: Counter[tuple[str, When]] = field(default_factory=Counter)
    done: bool = False

    def __call__(self, point: str, when: When) -> None:
        self.seen[point, when] += 1
        if not self.done and self.at == (point, when, self.seen[point, when]):
            self.done = True
            raise KilledError
