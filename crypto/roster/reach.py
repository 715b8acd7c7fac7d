"""Which removals can affect which, over-estimated from the links between replicas (federation wire 5.24).

A *link* goes from the publisher of an admission or promotion to its target, and from whoever recovered or set
the recovery key to all who recovered after it. What a removal takes away can only travel along links, from the
removed replica's ops that the removal exposes. Sets of replicas are bit masks, so that a hostile pile of them stays
cheap.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from crypto.keys import person_part
from crypto.roster.bodies import Admit, Recover, Role, SetRecoveryKey, SetRole
from crypto.roster.ops import Position, RosterOp
from crypto.roster.rights import Kind, Removal
from crypto.roster.walk import Charter


@dataclass(frozen=True, slots=True)
class Link:
    """One op that lets others in or raises them, seen from its publisher; `targets` is a mask."""

    seq: int
    position: Position
    targets: int


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a removal's effect can go, as masks of replicas."""

    links: int
    """Those whose grants may change, by a change to someone else's."""
    holders: int
    """Those who may come to be let in otherwise than before, or not at all."""
    touches: int
    """All of them, and the removed replica itself."""


class Reach:
    """The links among the replicas that may ever have had rights, and what follows from them."""

    def __init__(self, charter: Charter, ops: Iterable[RosterOp]) -> None:
        self._charter = charter
        self._bits: dict[str, int] = {}
        self._links: defaultdict[str, list[Link]] = defaultdict(list)
        self._granted_by: defaultdict[str, set[str]] = defaultdict(set)
        self._handles: defaultdict[str, set[str]] = defaultdict(set)
        self._granted_at: dict[str, Position] = {}
        self._raised = {charter.founding.replica}
        self.grants = self._follow(ops)
        """In fold order, the founding and all grants by replicas that may have had rights."""
        self._next = {
            self.bit(replica): _union(link.targets for link in links)
            for replica, links in self._links.items()
        }
        self._extents: dict[str, Extent] = {}

    def append(self, op: RosterOp) -> bool:
        """Take in an op that comes after all others in fold order.

        False where it may let in someone who has granted before, or recovered; then all has to be followed anew.
        """
        if not _grants(op):
            return True
        if isinstance(op.body, Recover) and self._recoveries.may_prove(op):
            return False
        if op.replica not in self._righted:
            self._unrighted.add(op.replica)
            return True
        let_in = [target for target in self._lets_in(op, self._recoveries) if target not in self._righted]
        if not self._unrighted.isdisjoint(let_in):
            return False
        self._righted.update(let_in)
        self.grants.append(op)
        bit = self.bit(op.replica)
        if isinstance(op.body, Admit | SetRole):
            self._next[bit] = self._next.get(bit, 0) | self.bit(op.body.replica)
            self._extents.clear()
        return True

    def is_righted(self, replica: str) -> bool:
        """Whether a replica may have had rights under some cuts."""
        return replica in self._righted

    def has_links(self, replica: str) -> bool:
        """Whether a replica has let in or raised others, so far as it may have had rights."""
        return replica in self._links

    def _follow(self, ops: Iterable[RosterOp]) -> list[RosterOp]:
        granting = [op for op in ops if _grants(op) and op.position > self._charter.founding.position]
        by_publisher: defaultdict[str, list[RosterOp]] = defaultdict(list)
        for op in granting:
            by_publisher[op.replica].append(op)
        self._recoveries = recoveries = _Recoveries(self._charter, granting)
        self._righted = {self._charter.founding.replica}
        righted = [*self._righted]
        for replica in righted:  # which grows as it is walked
            for op in by_publisher[replica]:
                for target in self._lets_in(op, recoveries):
                    if target not in self._righted:
                        self._righted.add(target)
                        righted.append(target)
            for op in recoveries.fresh():
                self._raised.add(op.replica)
                self._granted(op.replica, op.position)
                if op.replica not in self._righted:
                    self._righted.add(op.replica)
                    righted.append(op.replica)
        for op, later in recoveries.links(self._righted):
            self._links[op.replica].append(Link(op.seq, op.position, self.mask(later)))
            for target in later:
                self._granted_by[target].add(op.replica)
        self._recovered = frozenset(op.replica for op in recoveries.proved)
        self._unrighted = by_publisher.keys() - self._righted
        return [self._charter.founding, *(op for op in granting if op.replica in self._righted)]

    def _lets_in(self, op: RosterOp, recoveries: "_Recoveries") -> Iterable[str]:
        """Take note of a grant, and return whom it lets in."""
        admits: tuple[str, ...] = ()
        match op.body:
            case Admit(replica=target, handle=handle, role=role, fingerprint=fingerprint):
                if self._charter.key(target, fingerprint) is None:
                    return ()
                self._handles[target].add(handle)
                admits, raises = (target,), role is Role.ADMIN
            case SetRole(replica=target):
                raises = True
            case SetRecoveryKey(pub=pub):
                recoveries.may_be(op.position, pub)
                return ()
            case _:
                return ()
        self._links[op.replica].append(Link(op.seq, op.position, self.bit(target)))
        self._granted_by[target].add(op.replica)
        self._granted(target, op.position)
        if raises:
            self._raised.add(target)
        return admits

    def _granted(self, target: str, position: Position) -> None:
        last = self._granted_at.get(target)
        self._granted_at[target] = position if last is None else max(last, position)

    def could_ever_hold(self, removal: Removal) -> bool:
        """Whether a removal's publisher may have had the right to it under any cuts whatever."""
        return removal.publisher in self._righted and (
            removal.publisher in self._raised or self._may_share_handle(removal)
        )

    def extent(self, removal: Removal) -> Extent:
        """How far a removal's effect can go."""
        found = self._extents.get(removal.hash)
        if found is None:
            exposed = _union(
                link.targets
                for link in self._links.get(removal.target, ())
                if self._exposes(removal, link.seq, link.position)
            )
            links = self._closure(exposed)
            target = self.bit(removal.target)
            readmission = target if self.bars_a_grant(removal) else 0
            touches = 0 if removal.kind is Kind.HOSTS else links | target
            found = self._extents[removal.hash] = Extent(links, links | readmission, touches)
        return found

    def affects_own_ops(self, removal: Removal, other: Removal) -> bool:
        """Whether a removal exposes another that its target published."""
        return other.publisher == removal.target and self._exposes(removal, other.op.seq, other.position)

    def affects(self, removal: Removal, other: Removal) -> bool:
        """Whether accepting a removal may change whether another holds its right (federation wire 5.24)."""
        return self.affects_own_ops(removal, other) or self.may_give(removal, other)

    def may_give(self, removal: Removal, other: Removal) -> bool:
        """Whether accepting a removal may even give another its right, by changing who was let in and how."""
        extent = self.extent(removal)
        return bool(extent.links & self.bit(other.publisher)) or (
            bool(extent.holders & self.bit(other.target)) and self._may_share_handle(other)
        )

    def unaffected(self, removals: Sequence[Removal]) -> list[Removal]:
        """Return those that no other one of them affects."""
        links, holders = _Overlap(), _Overlap()
        by_target: defaultdict[str, list[Removal]] = defaultdict(list)
        for removal in removals:
            links.add(self.extent(removal).links)
            holders.add(self.extent(removal).holders)
            by_target[removal.target].append(removal)
        return [
            removal
            for removal in removals
            if not links.beyond(self.extent(removal).links) & self.bit(removal.publisher)
            and not any(
                other is not removal and self.affects_own_ops(other, removal)
                for other in by_target[removal.publisher]
            )
            and not (
                holders.beyond(self.extent(removal).holders) & self.bit(removal.target)
                and self._may_share_handle(removal)
            )
        ]

    def touched_by(self, removals: Iterable[Removal]) -> int:
        """Whom any of these removals can take anything from, as a mask."""
        return _union(self.extent(removal).touches for removal in removals)

    def components(self, removals: Sequence[Removal]) -> list[list[Removal]]:
        """Split removals into those that affect each other, be it through others; each part in the given order."""
        parts = _Parts(len(removals))
        by_publisher: defaultdict[str, list[int]] = defaultdict(list)
        for index, removal in enumerate(removals):
            by_publisher[removal.publisher].append(index)
        for one, removal in enumerate(removals):
            only_own = not self.extent(removal).holders
            others = by_publisher.get(removal.target, ()) if only_own else range(len(removals))
            for other in others:
                if one != other and self.affects(removal, removals[other]):
                    parts.join(one, other)
        return [[removals[index] for index in part] for part in parts.all()]

    def grants_behind(self, removals: Iterable[Removal]) -> list[RosterOp]:
        """The founding and the grants on which the right to any of these removals can rest, in fold order."""
        behind = {replica for removal in removals for replica in (removal.publisher, removal.target)}
        waiting = [*behind]
        while waiting:
            for publisher in self._granted_by.get(waiting.pop(), ()):
                if publisher not in behind:
                    behind.add(publisher)
                    waiting.append(publisher)
        return [op for op in self.grants if not behind.isdisjoint(self._given_to(op))]

    def _given_to(self, op: RosterOp) -> tuple[str, ...]:
        match op.body:
            case Admit(replica=target) | SetRole(replica=target):
                return (target,)
            case SetRecoveryKey() | Recover():
                return tuple(self._recovered)
        return (op.replica,)

    def bit(self, replica: str) -> int:
        """The mask of one replica."""
        return self._bits.setdefault(replica, 1 << len(self._bits))

    def mask(self, replicas: Iterable[str]) -> int:
        """The mask of several replicas."""
        mask = 0
        for replica in replicas:
            mask |= self.bit(replica)
        return mask

    def _closure(self, mask: int) -> int:
        """Everyone that links lead to from the replicas of a mask, these included."""
        closed = frontier = mask
        while frontier:
            lowest = frontier & -frontier
            fresh = self._next.get(lowest, 0) & ~closed
            closed |= fresh
            frontier = (frontier ^ lowest) | fresh
        return closed

    def _exposes(self, removal: Removal, seq: int, position: Position) -> bool:
        """Whether the target's op at (seq, position) may lose its right, if the removal is accepted."""
        if removal.kind is Kind.HOSTS:
            return False
        return seq > removal.after_seq or (position > removal.position and self.bars_a_grant(removal))

    def bars_a_grant(self, removal: Removal) -> bool:
        """Whether it is a revocation that stands before some grant to its target, which then never counts."""
        last = self._granted_at.get(removal.target)
        return removal.kind is Kind.ALL and last is not None and last > removal.position

    def _may_share_handle(self, removal: Removal) -> bool:
        """Whether it is a revocation that might be one of its publisher's own devices (5.17)."""
        return removal.kind is Kind.ALL and not self._possible_handles(removal.publisher).isdisjoint(
            self._possible_handles(removal.target)
        )

    def _possible_handles(self, replica: str) -> set[str]:
        announced = {key.handle for key in self._charter.claims.get(replica, {}).values()}
        return {person_part(replica)} | announced | self._handles.get(replica, set())


class _Overlap:
    """A union of masks that can be asked for what the others hold, without one of them."""

    def __init__(self) -> None:
        self._once = 0
        self._twice = 0

    def add(self, mask: int) -> None:
        self._twice |= self._once & mask
        self._once |= mask

    def beyond(self, mask: int) -> int:
        """The union of all added masks but this one."""
        return self._twice | (self._once & ~mask)


class _Recoveries:
    """The `recover` ops that prove a recovery key which may have counted at them."""

    def __init__(self, charter: Charter, granting: Sequence[RosterOp]) -> None:
        self._charter = charter
        self._pubs: list[str] = []
        self._unproved = [op for op in granting if isinstance(op.body, Recover) and charter.is_first(op)]
        self._changes = [op for op in granting if isinstance(op.body, SetRecoveryKey)]
        self._fresh: list[RosterOp] = []
        self.proved: list[RosterOp] = []
        self.may_be(charter.founding.position, charter.recovery_key())

    def may_be(self, since: Position, recovery_pub: str) -> None:
        """Take in a recovery key that may count from a position on."""
        self._pubs.append(recovery_pub)
        proved = [
            op
            for op in self._unproved
            if op.position > since and self._charter.proves_recovery(op, recovery_pub)
        ]
        if proved:
            self._fresh += proved
            self.proved += proved
            self._unproved = [op for op in self._unproved if op not in proved]

    def may_prove(self, op: RosterOp) -> bool:
        """Whether a `recover` that comes after all others proves a key that may count at it."""
        return self._charter.is_first(op) and any(
            self._charter.proves_recovery(op, pub) for pub in self._pubs
        )

    def fresh(self) -> list[RosterOp]:
        """Those that were proved since this was asked last."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def links(self, righted: Collection[str]) -> list[tuple[RosterOp, list[str]]]:
        """Each op that changes who may recover, with the replicas that did so from there on."""
        changes = [*self.proved, *(op for op in self._changes if op.replica in righted)]
        return [
            (change, [op.replica for op in self.proved if op.position >= change.position])
            for change in changes
        ]


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _grants(op: RosterOp) -> bool:
    return isinstance(op.body, Admit | Recover | SetRecoveryKey) or (
        isinstance(op.body, SetRole) and op.body.role is Role.ADMIN
    )


class _Parts:
    """Sets of numbers that are joined pair by pair."""

    def __init__(self, size: int) -> None:
        self._roots = list(range(size))

    def join(self, one: int, other: int) -> None:
        self._roots[self._root(other)] = self._root(one)

    def all(self) -> list[list[int]]:
        """The sets, each in ascending order, by their least member."""
        found: dict[int, list[int]] = {}
        for index in range(len(self._roots)):
            found.setdefault(self._root(index), []).append(index)
        return list(found.values())

    def _root(self, index: int) -> int:
        while self._roots[index] != index:
            self._roots[index] = index = self._roots[self._roots[index]]
        return index
