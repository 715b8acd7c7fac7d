"""Walking the chains of a source, each under the key that somebody decided for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crypto.chain import is_signed
from crypto.judge import Rules, SignatureMemory
from crypto.keys import KeyBody
from crypto.lane import History
from crypto.op import Unverified
from crypto.walk import Lane, Outcome, walk
from replica.audit.progress import Progress
from replica.audit.scratch import Scratch
from replica.audit.source import Source
from replica.audit.tally import Tally

_REMEMBERED_SIGNATURES = 10_000


class EverySignature(SignatureMemory):
    """Remembers also the signatures that hold, for whoever reads the same chains again and again."""

    def holds(self, read: Unverified, key: bytes) -> bool:
        """Whether an entry is signed under this key."""
        holds = self.recall(read, key)
        if holds is None:
            holds = is_signed(read, key)
            self.keep(read, key, holds)
        return holds


@dataclass(frozen=True, slots=True)
class Walked:
    """One chain: what was accepted of it, and how it ends."""

    tally: Tally
    outcome: Outcome


class Chains:
    """The chains of one source. An op whose clock is past `horizon_ms` waits for it.

    With `keep_marks` every op that is accepted is kept as it is drawn. `memory` remembers signatures from one reading
    of a source to the next.
    """

    def __init__(
        self,
        source: Source,
        scratch: Scratch,
        horizon_ms: int,
        progress: Progress,
        *,
        keep_marks: bool = False,
        memory: SignatureMemory | None = None,
    ) -> None:
        self._source = source
        self._side = scratch.side
        self.horizon_ms = horizon_ms
        self._progress = progress
        self._keep_marks = keep_marks
        self._memory = memory
        self._seen: set[str] = set()
        self._nothing_before = History()

    def walk(
        self,
        replica: str,
        key: KeyBody,
        *,
        cut: tuple[int, str] | None = None,
        along: Sequence[bytes] | None = None,
        keep_roster: bool = False,
    ) -> Walked:
        """Walk a chain from its start. `cut` is the (seq, opHash) that its revocation names.

        `along` are the lines of the one history of two that counts; None for all there are.
        """
        fingerprint = key.fingerprint
        lane = Lane(
            replica,
            lambda: self.lines(replica) if along is None else along,
            None,
            Rules(key, self.horizon_ms, cut),
            self._nothing_before,
            SignatureMemory(_REMEMBERED_SIGNATURES) if self._memory is None else self._memory,
            gap_tries=None,
        )
        cut_seq = None if cut is None else cut[0]

        def sink() -> Tally:
            return Tally(fingerprint, cut_seq, keep_roster=keep_roster, keep_marks=self._keep_marks)

        tally, outcome = walk(lane, self._side, sink)
        return Walked(tally, outcome)

    def lines(self, replica: str) -> Iterator[bytes]:
        """The lines of a lane; progress counts the first time they are read."""
        is_new = replica not in self._seen
        self._seen.add(replica)
        for raw in self._source.lane(replica):
            yield raw
            if is_new:
                self._progress.advance()
