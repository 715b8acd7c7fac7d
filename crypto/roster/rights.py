"""Rights by grants and cuts: what a replica may do at one of its ops (federation wire 5.8, 5.9, 5.18).

A *grant* stands at the position of the op that gave it. An accepted removal kills the grants positioned
before it, for ops of the removed replica past the seq it names, and for those alone. So an op at or below
the cut keeps its rights however late its clock, an op above it has none however early its clock, and a
promotion positioned after a demotion counts again.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from itertools import accumulate
from typing import Final, TypeAlias

from crypto.clock import Reading
from crypto.roster.ops import Position, RosterOp

FOREVER: Final = 2**53
"""A seq above every op's: what a replica may do from now on."""

NOWHERE: Final[Position] = (-1, 0, "", 0)
"""A position before every op's."""


class Kind(Enum):
    """What a removal takes away: everything (a revocation), being an admin (a demotion), or handles."""

    ALL = "all"
    ADMIN = "admin"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Removal:
    """A revocation, or a demotion or change of hosts with a cut: an op that is accepted or void as a whole."""

    op: RosterOp
    kind: Kind
    target: str
    after_seq: int

    @property
    def publisher(self) -> str:
        return self.op.replica

    @property
    def hash(self) -> str:
        return self.op.hash

    @property
    def position(self) -> Position:
        return self.op.position


class Standing(IntEnum):
    """What a replica is at one of its ops."""

    NONE = 0
    MEMBER = 1
    ADMIN = 2


class Tier(IntEnum):
    """The first part of a rank; the lower one wins a fight."""

    FOUNDER = 0
    ADMIN = 1
    RECOVERED = 2
    MEMBER = 3
    NONE = 4


Rank: TypeAlias = tuple[Tier, Position]
"""Seniority: the tier, then the position of the grant it rests on. The smaller rank is the better one."""


class _Floors:
    """By seq, the position of the last removal that cuts below it."""

    __slots__ = ("_floors", "_seqs")

    def __init__(self, removals: Iterable[Removal]) -> None:
        cuts = sorted((removal.after_seq, removal.position) for removal in removals)
        self._seqs = [after_seq for after_seq, _ in cuts]
        self._floors = list(accumulate((position for _, position in cuts), max))

    def at(self, seq: int) -> Position:
        cut = bisect_left(self._seqs, seq)
        return self._floors[cut - 1] if cut else NOWHERE


class Cuts:
    """The accepted removals of one replica."""

    __slots__ = ("_admin", "_all", "revoked_at")

    def __init__(self, removals: Iterable[Removal] = ()) -> None:
        removals = list(removals)
        revocations = [removal for removal in removals if removal.kind is Kind.ALL]
        self._all = _Floors(revocations)
        self._admin = _Floors(removal for removal in removals if removal.kind is not Kind.HOSTS)
        self.revoked_at = min((removal.position for removal in revocations), default=None)
        """Where the first revocation stands; nothing is granted after it."""

    def floor(self, seq: int) -> Position:
        """Grants positioned after this survive at `seq`."""
        return self._all.at(seq)

    def revokes(self, seq: int) -> bool:
        """Whether a revocation cuts below `seq`."""
        return self._all.at(seq) is not NOWHERE

    def admin_floor(self, seq: int) -> Position:
        """Grants positioned after this still make an admin at `seq`."""
        return self._admin.at(seq)


NO_CUTS: Final = Cuts()


@dataclass(frozen=True, slots=True)
class HostCut:
    """A handle that a replica spoke for until a cut, and the last seq at which it still did."""

    handle: str
    after_seq: int


@dataclass(slots=True)
class Holder:
    """A replica that was let in, by which op and key, and the grants it has had, in order of position."""

    replica: str
    handle: str
    hosts: tuple[str, ...]
    observer: bool
    key: str
    since: Reading
    first_tier: Tier = Tier.ADMIN
    """What the grant that let it in ranks as, if it made it an admin; every later one ranks as ADMIN."""
    host_cuts: list[HostCut] = field(default_factory=list)
    grants: list[Position] = field(default_factory=list)
    admin_grants: list[Position] = field(default_factory=list)

    def grant(self, position: Position, *, admin: bool) -> None:
        """Add a grant positioned after every earlier one."""
        self.grants.append(position)
        if admin:
            self.admin_grants.append(position)

    def standing(self, cuts: Cuts, seq: int, before: Position | None) -> Standing:
        """What this replica is at its op of `seq` and position `before` (None: now)."""
        if _first(self.admin_grants, cuts.admin_floor(seq), before) is not None:
            return Standing.ADMIN
        if _first(self.grants, cuts.floor(seq), before) is not None:
            return Standing.MEMBER
        return Standing.NONE

    def rank(self, cuts: Cuts, seq: int, before: Position | None) -> Rank:
        """How senior this replica is at its op of `seq` and position `before` (None: now)."""
        floor = cuts.admin_floor(seq)
        admin = _first(self.admin_grants, floor, before)
        if admin is not None:
            return self._admin_rank(admin, _first(self.admin_grants, max(floor, self.grants[0]), before))
        member = _first(self.grants, cuts.floor(seq), before)
        return (Tier.NONE, NOWHERE) if member is None else (Tier.MEMBER, member)

    def _admin_rank(self, first: Position, promoted: Position | None) -> Rank:
        """The better of what its first surviving grant ranks as and what its first promotion does."""
        if first != self.grants[0]:
            return Tier.ADMIN, first
        own = self.first_tier, first
        return own if promoted is None else min(own, (Tier.ADMIN, promoted))


def _first(grants: list[Position], floor: Position, before: Position | None) -> Position | None:
    """The first grant past `floor` and before `before`."""
    index = bisect_right(grants, floor)
    if index == len(grants) or (before is not None and grants[index] >= before):
        return None
    return grants[index]
