"""Replicas that signed two histories, as an audit reads them: where these part, and which of them counts.

What counts is what counts for a replica (see `replica.chain.forks`): ops below the fork, and of the roster ops there
the one of the smallest hash; or the history whose end a revocation names that stands.
"""

from collections.abc import Iterable, Sequence

from crypto.keys import KeyBody
from crypto.lane import verified_entries
from crypto.op import Entry, Op, to_line
from crypto.roster.bodies import Admit, CutPoint, Revoke
from crypto.roster.ops import RosterOp
from crypto.roster.view import View
from replica.chain.forks import Fork, read_histories


class Forked:
    """The two histories of one replica, read from all its lines under the key decided for it."""

    def __init__(
        self, replica: str, key: KeyBody, lines: Sequence[bytes], fork: Fork, *, horizon_ms: int
    ) -> None:
        """Begin where neither history counts from the fork on."""
        self._replica = replica
        self._key = key
        self._lines = lines
        self._horizon_ms = horizon_ms
        self._read: list[list[CutPoint]] = []
        self.fork = fork
        """Where they part, and the end of the one that is read on."""
        signed = self._of_roster(verified_entries(replica, lines, key.sign_key))
        self.parting = [op for op in signed if op.seq == fork.seq]
        """The roster ops that share the fork's seq."""
        self.admissions = [op.body for op in signed if isinstance(op.body, Admit)]
        """Whom it admitted, on either."""
        self.roster: list[RosterOp] = []
        """The roster ops past the fork on the history that is read on."""
        self.along: list[bytes] = []
        """That history, from its start."""

    def read_on(self, view: View, ops: Iterable[RosterOp]) -> bool:
        """Read the first history whose end a revocation names, that which stands first; True where that is news."""
        said = {op.body.cut for op in ops if isinstance(op.body, Revoke) and op.body.replica == self._replica}
        cut = view.revoked.get(self._replica)
        ends = [] if cut is None else [cut.point]
        ends += sorted(said - {*ends}, key=lambda each: (each.after_seq, each.after_hash))
        if ends in self._read:  # each is read once, so that this comes to an end
            return False
        self._read.append(ends)
        read = read_histories(self._replica, self._lines, self._key, ends, horizon_ms=self._horizon_ms)
        if read.fork is None or read.fork == self.fork:
            return False
        self.fork = read.fork
        entries = () if read.fork.end is None else read.along.entries
        self.along = [to_line(entry) for entry in entries]
        self.roster = [op for op in self._of_roster(entries) if op.seq >= self.fork.seq]
        return True

    def counts(self, view: View) -> bool:
        """Whether one of the histories counts to its end, which a revocation that stands names."""
        cut = view.revoked.get(self._replica)
        return cut is not None and cut.point == self.fork.end

    def _of_roster(self, entries: Iterable[Entry]) -> list[RosterOp]:
        of_roster = (each for each in entries if isinstance(each, Op) and each.type == "roster")
        return [RosterOp.of(op, self._key.fingerprint) for op in of_roster]
