"""Rival key claims: which of several announced keys is a replica's (federation wire 2.4).

Anyone who can write to a branch can announce a key for any id, so a key counts only once it is *decided*.
The founder's is the one that signed the pinned founding. An id that one key claims has that key until an
admission says otherwise. A disputed id has the key that the first accepted admission names by its
fingerprint, and none before that. Since an admission is accepted, or not, within the fold, the fold itself
decides: it is given every claim, binds a replica to a key where it lets it in, and from then on counts only
the ops of the chain this key signed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from crypto.keys import KeyBody
from crypto.roster.bodies import Found, SetRecoveryKey
from crypto.roster.fold import fold_claims
from crypto.roster.ops import RosterOp
from crypto.roster.view import View


class Claim(Protocol):
    """A self-signed key op: the key it announces, and the opHash."""

    @property
    def key(self) -> KeyBody: ...
    @property
    def hash(self) -> str: ...


def resolve(
    found: str, claims: Mapping[str, Iterable[Claim]], ops: Iterable[RosterOp], *, relay: bool = False
) -> tuple[View, Mapping[str, KeyBody]]:
    """Fold the verified roster ops of every claimed chain, and say which key each replica has.

    A replica is left out of the second part while its id is disputed. `found` is the opHash of the pinned
    founding. A relay's fold never pauses. Raises FoundingError if the founding is not among `ops`.
    """
    keys = {replica: by_fingerprint(each) for replica, each in claims.items()}
    view = fold_claims(found, ops, keys, relay=relay)
    return view, DecidedKeys(view, keys)


class DecidedKeys(Mapping[str, KeyBody]):
    """The key of each replica whose key is decided in a view, of those that are announced."""

    def __init__(self, view: View, announced: Mapping[str, Mapping[str, KeyBody]]) -> None:
        self._view = view
        self._announced = announced

    def __getitem__(self, replica: str) -> KeyBody:
        key = _decided(self._view, replica, self._announced.get(replica, {}))
        if key is None:
            raise KeyError(replica)
        return key

    def __iter__(self) -> Iterator[str]:
        return (replica for replica in self._announced if replica in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def recovery_keys(found: Collection[RosterOp]) -> set[str]:
    """Every key of a recovery code that may ever have counted in a team."""
    pubs = {op.body.recovery_pub for op in found if isinstance(op.body, Found)}
    return pubs | {op.body.pub for op in found if isinstance(op.body, SetRecoveryKey)}


def by_fingerprint(claims: Iterable[Claim]) -> dict[str, KeyBody]:
    """The announced keys by fingerprint; of two key ops with the same keys, the one of the smaller hash."""
    ordered = sorted(claims, key=lambda claim: claim.hash, reverse=True)
    return {claim.key.fingerprint: claim.key for claim in ordered}


def _decided(view: View, replica: str, announced: Mapping[str, KeyBody]) -> KeyBody | None:
    held = view.members.get(replica) or view.revoked.get(replica)
    if held is not None and held.fingerprint is not None:
        return announced.get(held.fingerprint)
    return next(iter(announced.values())) if len(announced) == 1 else None
