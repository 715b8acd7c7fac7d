"""Where a relay keeps its teams, as an interface; `sqlite` is what is behind it.

One writer at a time makes each `write` one transaction, on the disk before it returns. Texts of ops are JSON
that nothing here looks into. `line` is what only some may see of an op, or what was pruned since; `stub` stands
in its place, where an op has one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

from crypto.chain import Head

FIRST_TOO: Final = "run:"
"""How the presence keys begin of which the first op is kept whole as the latest is."""

ROW_BYTES: Final = 300
"""What keeping an op takes besides its texts, about."""


class Row(NamedTuple):
    """One op to keep. `presence` is what it is the latest news of, for a presence op.

    `line` is None for one that came as a stub; `stub` is None for one that never becomes one. `size` is the bytes that
    keeping both takes, about.
    """

    seq: int
    hash: str
    hlc: str
    type: str
    to: tuple[str, ...] | None
    line: str | None
    stub: str | None
    size: int
    presence: str | None = None


def row_size(line: str | None, stub: str | None) -> int:
    """Return the bytes that keeping an op takes, about."""
    return ROW_BYTES + sum([len(text.encode()) for text in (line, stub) if text is not None])


class Read(NamedTuple):
    """One op as it is kept now."""

    seq: int
    to: Collection[str] | None
    line: str | None
    stub: str | None


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team that was registered at `created_ms`, known by the opHash of its founding."""

    team: str
    found: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Append:
    """Ops that follow what a lane has."""

    team: str
    replica: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Acks:
    """How far a replica holds the lanes of others."""

    team: str
    reader: str
    through: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Prune:
    """Sealed ops whose content nobody needs any more."""

    team: str
    replica: str
    seqs: Sequence[int]


Change: TypeAlias = NewTeam | Append | Acks | Prune


@dataclass(frozen=True, slots=True)
class StoredLane:
    """One lane of a stored team: its head, its key op and its roster ops, in order."""

    replica: str
    head: Head
    key_op: str
    roster: Sequence[str]


@dataclass(frozen=True, slots=True)
class StoredTeam:
    """A team as it is kept."""

    team: str
    found: str
    created_ms: int
    lanes: Sequence[StoredLane]
    acks: Mapping[str, Mapping[str, int]]
    used: int = 0
    """The bytes that its ops take."""


class Store(Protocol):
    """What a relay asks of its disk. Reading may go on in one thread while another writes."""

    def load(self, team: str) -> StoredTeam | None:
        """Return a team, None for one that is not kept."""

    def found_of(self, team: str) -> str | None:
        """Return the opHash of a team's founding, None for a team that is not kept."""

    def teams(self) -> int:
        """Return how many teams are kept."""

    def used(self, team: str | None = None) -> int:
        """Return the bytes that the ops of a team take, or those of all teams."""

    def write(self, changes: Iterable[Change], now_ms: int) -> None:
        """Keep all of this, or none of it. It is on the disk when this returns."""

    def read(self, team: str, replica: str, since: int, *, ops: int, size: int) -> Sequence[Read]:
        """Return the first ops of a lane above a seq, in order: at most `ops`, and one more than `size` bytes hold."""

    def hashes(self, team: str, replica: str, low: int, high: int) -> Mapping[int, str]:
        """Return the hashes of a lane's ops with seqs from `low` to `high`."""

    def unpruned(
        self, team: str, replica: str, low: int, high: int, limit: int
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        """Give seq, clock and recipients of the first sealed ops above `low` and up to `high` that are whole."""

    def expire(self, before_ms: int, limit: int) -> int:
        """Prune sealed ops that were stored before a time, at most `limit`; return how many."""

    def spend(self, stamp: str, until_ms: int, now_ms: int) -> bool:
        """Note that a stamp served, until it is stale anyway; False for one that did before."""

    def healthy(self) -> bool:
        """Whether it can be read and takes writes."""

    def close(self) -> None:
        """Give back what is open."""


class StoreError(Exception):
    """A file that is not a relay's, or that a later version made; the message says what to do."""
