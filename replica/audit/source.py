"""What an audit reads from: lines in lanes, as often as they are asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from crypto.chain import Halt
from crypto.fork_proof import ForkProof
from transports.base import Line, Skipped


class SourceError(Exception):
    """The source cannot be read, or it cannot be told what to read there.

    `message` says what is the matter, `hint` what a person can do. Names others chose are quoted in them.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Record:
    """What the replica that a store belongs to has concluded, and its lines cannot show.

    `founding` is the opHash of the founding it follows. `halts` are chains it halted, with the fingerprint of
    the key they were read under: the op that halted a chain is never kept. `proofs` are of the forks it met.
    """

    founding: str | None = None
    halts: Mapping[str, tuple[str, Halt]] = field(default_factory=dict)
    proofs: Sequence[ForkProof] = ()


class Source(Protocol):
    """Where an audit reads. Every method raises SourceError where it cannot be read, or not any more."""

    shown: str
    """What it is, for people."""

    record: Record

    def survey(self) -> Iterator[Line]:
        """Read every line of every lane, once, before anything else is asked for."""

    def lane(self, replica: str) -> Iterator[bytes]:
        """Read the lines of one lane, in no promised order."""

    def ahead(self, replica: str) -> Iterator[bytes]:
        """Read ops that were verified where this source was written, ahead of their place in its chain."""

    def skipped(self) -> Sequence[Skipped]:
        """Tell what the survey passed over because it is no line of any lane."""
