"""A roster that grows op by op, and folds no more of itself again than an op can have changed.

Ops mostly arrive in fold order, and most of them touch no removal. Such an op is walked over and that is all. The
rest of this file says when that is enough; whenever it might not be, the removals are decided afresh, and where
that changes what was walked over, the walk begins again. Ops that belong further back are folded with all others,
at once for as many as have come when the view is read. What comes out is always what a fold of the whole set comes to.
`fold` is a roster that begins with all its ops.

An op that comes last in fold order gives nobody a right at an earlier op. So it changes nothing that was decided
before, unless it is a removal that affects an earlier one, or adds a link that lets some removal reach another.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from crypto.roster.bodies import Admit, Found, Role, SetRole, is_known
from crypto.roster.ops import Key, RosterOp, fold_order
from crypto.roster.reach import Reach
from crypto.roster.removals import Decisions, decide
from crypto.roster.rights import Kind, Removal
from crypto.roster.summary import Summary
from crypto.roster.view import View
from crypto.roster.walk import Claims, Walk, charter_of, removal


class FoundingError(ValueError):
    """The pinned founding is not among the ops."""


class GrowingRoster:
    """The fold of all ops added so far."""

    def __init__(self, found: str, ops: Iterable[RosterOp], claims: Claims, *, relay: bool = False) -> None:
        """Start with some ops, the founding of opHash `found` among them. A relay's fold never pauses.

        Raises FoundingError.
        """
        ops = tuple(ops)
        founding = next((op for op in ops if op.hash == found and isinstance(op.body, Found)), None)
        if founding is None:
            raise FoundingError("the founding this team is known by is not among its roster ops")
        self._founding = founding
        self._claims = {replica: dict(keys) for replica, keys in claims.items()}
        self._relay = relay
        self._view: View | None = None
        self._summary: Summary | None = None
        """What the walk came to, if it was written down since it began."""
        self._fold(ops)

    @property
    def view(self) -> View:
        """What the roster comes to."""
        if self._behind or self._stale:
            self._fold([*self._ops, *self._behind])
        if self._summary is None:
            self._summary = Summary(
                self._charter,
                self._ops,
                self._removals,
                Decisions(tuple(self._accepted.values()), self._spared),
                self._walk,
                relay=self._relay,
            )
        if self._view is None:
            self._view = self._summary.view()
        return self._view

    @property
    def ops(self) -> Sequence[RosterOp]:
        """Every op that was added, but for those that gave way to another at their seq."""
        return (*self._ops, *self._behind)

    def announce(self, replica: str, key: Key) -> None:
        """Add a key that is announced for a replica; one that was before changes nothing."""
        known = self._claims.setdefault(replica, {})
        if known.get(key.fingerprint) == key:
            return
        first, known[key.fingerprint] = not known, key
        self._view = None
        if not first or replica in self._named:
            self._stale = True
        elif self._summary is not None:
            self._summary.announce(replica)

    def add(self, op: RosterOp) -> None:
        """Add a verified op; one that was added before changes nothing."""
        place = op.replica, op.seq, op.key
        held = self._places.get(place)
        if held is not None and (held.hash <= op.hash or held.hash == self._founding.hash):
            return
        self._view = None
        first = self._charter.first.get((op.replica, op.key))
        last = op.position > self._ops[-1].position and (first is None or first < op.seq)
        if held is not None or self._behind or not last:
            self._behind.append(op)
            return
        self._places[place] = op
        self._ops.append(op)
        self._name(op)
        if first is None and is_known(op.body):
            self._first[op.replica, op.key] = op.seq
        self._append(op)

    def _fold(self, ops: Iterable[RosterOp]) -> None:
        """Begin again with these ops."""
        self._ops = list(fold_order(self._founding, ops))
        self._stale = False
        """Whether a key was announced that may change what was walked over."""
        self._behind: list[RosterOp] = []
        """Ops that do not come last: they are folded with all others once somebody looks."""
        self._places = {(op.replica, op.seq, op.key): op for op in self._ops}
        self._named: set[str] = set()
        """The replicas that these ops are of, or about."""
        for op in self._ops:
            self._name(op)
        self._charter = charter_of(self._founding, self._claims, self._ops)
        self._first = self._charter.first
        self._removals = [found for found in map(removal, self._ops) if found is not None]
        self._removing = {each.publisher for each in self._removals}
        self._revocations: defaultdict[str, dict[str, Removal]] = defaultdict(dict)
        """By target and publisher, a revocation: all of one publisher's are his right or none is, by the handles."""
        for each in self._removals:
            self._keep(each)
        self._reach = Reach(self._charter, self._ops)
        self._accepted = self._decide()
        self._rewalk(self._ops)

    def _name(self, op: RosterOp) -> None:
        self._named.add(op.replica)
        about = getattr(op.body, "replica", None)
        if about is not None:
            self._named.add(about)

    def _append(self, op: RosterOp) -> None:
        """Take in the op that is last in fold order."""
        removing = removal(op)
        if not self._reach.append(op):
            self._reach = Reach(self._charter, self._ops)
            self._decide_again()
        elif removing is not None:
            self._removals.append(removing)
            self._keep(removing)
            self._remove(removing)
            self._removing.add(op.replica)
        elif self._removals and not self._leaves_removals_alone(op):
            self._decide_again()
        self._step(op)
        if self._summary is not None and not self._summary.follow(
            op, removing, accepted=op.hash in self._accepted
        ):
            self._summary = None

    def _keep(self, removing: Removal) -> None:
        if removing.kind is Kind.ALL:
            self._revocations[removing.target][removing.publisher] = removing

    def _step(self, op: RosterOp) -> None:
        self._walk.step(op)
        if op.replica not in self._acted or op.seq > self._acted[op.replica]:
            self._acted[op.replica] = op.seq

    # When an op that comes last changes no decision

    def _leaves_removals_alone(self, op: RosterOp) -> bool:
        """Whether no removal affects another, or is more or less likely to leave no admin, by an op's coming."""
        match op.body:
            case Admit(replica=target) | SetRole(replica=target, role=Role.ADMIN):
                pass
            case _:
                return True  # it lets nobody in, or is a recovery that proves nothing
        if not self._reach.is_righted(op.replica):
            return True
        if self._sure is None or self._exhausted or target in self._removing or target in self._targets:
            return False
        if any(map(self._reach.could_ever_hold, self._revocations[target].values())):
            return False  # the handle that it gets may be that of a member who revoked it
        if self._exposed & self._reach.bit(op.replica):
            if self._reach.has_links(target) or target == self._sure:
                return False
            self._exposed |= self._reach.bit(target)
        return True

    def _remove(self, removing: Removal) -> None:
        """Decide a removal that comes last: by itself where it meets no other, else with all of them."""
        if not self._reach.could_ever_hold(removing):
            return
        extent = self._reach.extent(removing)
        both = self._reach.mask((removing.publisher, removing.target))
        alone = (
            not extent.holders
            and removing.target not in self._removing
            and removing.target != removing.publisher
            and not self._contested & both
            and self._sure not in (None, removing.target)
            and not self._exhausted
        )
        if not alone:
            self._decide_again()
            return
        self._targets.add(removing.target)
        self._exposed |= extent.touches
        if self._walk.holds(removing):
            self._accepted[removing.hash] = removing
            if self._was_felt(removing):
                self._rewalk(self._ops[:-1])
            else:
                self._walk.cut(removing)

    # Deciding, and walking again where that changes what was walked over

    def _decide_again(self) -> None:
        self._summary = None
        self._accept(self._decide())

    def _decide(self) -> dict[str, Removal]:
        """Decide all removals; return those that are accepted."""
        possible = [each for each in self._removals if self._reach.could_ever_hold(each)]
        decisions = decide(self._charter, self._reach, possible)
        self._targets = {each.target for each in possible}
        self._exposed = self._reach.touched_by(possible)
        self._contested = self._reach.touched_by(decisions.contested) | self._reach.mask(
            replica for each in decisions.contested for replica in (each.publisher, each.target)
        )
        self._sure = decisions.sure_admin
        self._spared = decisions.spared
        self._exhausted = decisions.exhausted
        return {each.hash: each for each in decisions.accepted}

    def _accept(self, accepted: dict[str, Removal]) -> None:
        """Go on with these removals accepted; the walk has come to the op before the last."""
        changed = [each for each in self._accepted.values() if each.hash not in accepted]
        changed += [each for each in accepted.values() if each.hash not in self._accepted]
        self._accepted = accepted
        if any(self._was_felt(each) for each in changed):
            self._rewalk(self._ops[:-1])
        elif changed:
            self._walk.recut(accepted.values())

    def _was_felt(self, each: Removal) -> bool:
        """Whether something that was walked over might have gone otherwise, had a removal been decided otherwise."""
        if each.kind is Kind.HOSTS:
            return each.op is not self._ops[-1]
        return self._acted.get(each.target, 0) > each.after_seq or self._reach.bars_a_grant(each)

    def _rewalk(self, ops: Iterable[RosterOp]) -> None:
        self._summary = None
        self._walk = Walk(self._charter, self._accepted.values())
        self._acted: dict[str, int] = {}
        for op in ops:
            self._step(op)
