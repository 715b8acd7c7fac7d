"""Roster ops as the fold sees them, and the one order it walks them in (federation wire 5.4-5.6)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from crypto.clock import Reading
from crypto.keys import InviteProof
from crypto.op import Op
from crypto.roster.bodies import Body, read_body

Position: TypeAlias = tuple[int, int, str, int]
"""Where an op stands in the fold: milliseconds, counter, replica, seq. "Before" and "after" mean it."""


class Key(Protocol):
    """What the fold asks of an announced key; `crypto.keys.KeyBody` is one."""

    @property
    def handle(self) -> str: ...
    @property
    def sign_pub(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def invite(self) -> InviteProof | None: ...


@dataclass(frozen=True, slots=True)
class RosterOp:
    """A verified op of type `roster`. `key` is the fingerprint of the key its chain is signed with."""

    replica: str
    seq: int
    hlc: Reading
    hash: str
    body: Body
    key: str
    position: Position = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        position = (*self.hlc.key, self.replica, self.seq)
        object.__setattr__(self, "position", position)

    @classmethod
    def of(cls, op: Op, key: str) -> "RosterOp":
        """Read a verified `roster` op of the chain that the key with fingerprint `key` signed."""
        return cls(op.replica, op.seq, op.hlc, op.hash, read_body(op.body), key)


def fold_order(founding: RosterOp, ops: Iterable[RosterOp]) -> tuple[RosterOp, ...]:
    """Return the ops that count, in fold order.

    Of two ops at one seq of one chain the smaller hash counts (federation wire 5.5), whichever was seen
    first; only the founding, whose hash names the team, never gives way.
    """
    places: dict[tuple[str, int, str], RosterOp] = {}
    for op in ops:
        place = (op.replica, op.seq, op.key)
        held = places.get(place)
        if held is None or op.hash < held.hash:
            places[place] = op
    places[founding.replica, founding.seq, founding.key] = founding
    return tuple(sorted(places.values(), key=lambda op: (op.position, op.key, op.hash)))
