"""The roster fold: from a founding, a set of roster ops and the announced keys to a View (federation wire 5).

The result is a function of the sets alone: the order in which ops are given, and how often, makes no
difference.
"""

from collections.abc import Iterable, Mapping

from crypto.roster.growing import FoundingError, GrowingRoster
from crypto.roster.ops import Key, RosterOp
from crypto.roster.view import View
from crypto.roster.walk import Claims

__all__ = ["FoundingError", "fold", "fold_claims"]


def fold(found: str, ops: Iterable[RosterOp], keys: Mapping[str, Key], *, relay: bool = False) -> View:
    """Fold the ops of replicas whose keys are decided.

    `found` is the opHash of the pinned founding and must be among `ops`. A relay's fold never pauses.
    Raises FoundingError.
    """
    claims = {replica: {key.fingerprint: key} for replica, key in keys.items()}
    return fold_claims(found, ops, claims, relay=relay)


def fold_claims(found: str, ops: Iterable[RosterOp], claims: Claims, *, relay: bool) -> View:
    """Fold the ops of every chain, where several keys may be announced for one replica.

    The first admission that is accepted decides which of them the replica's key is. Raises FoundingError.
    """
    return GrowingRoster(found, ops, claims, relay=relay).view
