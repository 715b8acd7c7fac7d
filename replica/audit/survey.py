"""The first reading of a source: which chains there are, and which keys and teams were announced.

Only a line that may be a key op, a founding or a recovery is read as an op here. A text that JSON holds without escapes
stands in the line as it is, so nearly all lines are told apart by looking for it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from crypto.chain import Cursor, Halt, is_signed, verify_log
from crypto.key_claims import MAX_KEY_CLAIMS, key_claims
from crypto.keys import KeyBody, parse_key_body, team_id
from crypto.op import ABSENT, ZERO_HASH, Op, Unreadable, Unverified, read_entry, read_line, tampering
from crypto.roster.bodies import Found, Recover, read_body
from replica.audit.progress import Progress
from replica.audit.scratch import Scratch
from replica.audit.source import Source
from transports.base import Skipped

_NO_PREV: Final = ZERO_HASH.encode()
_ESCAPED_ZERO: Final = b"\\u0030"
_FOUND: Final = b'"found"'
_RECOVER: Final = b'"recover"'
_ESCAPE: Final = b"\\u"


@dataclass(frozen=True, slots=True)
class Announced:
    """A key that somebody announced for a replica, and the opHash of the key op that does."""

    key: KeyBody
    hash: str


@dataclass(frozen=True, slots=True)
class FoundingClaim:
    """A signed `found` op, not yet known to stand on its chain, and the key that signed it.

    The name is text of the founder.
    """

    replica: str
    hash: str
    name: str
    key: KeyBody

    @property
    def team_id(self) -> str:
        return team_id(self.hash)


@dataclass(frozen=True, slots=True)
class RecoveryClaim:
    """A signed `recover` op, not yet known to stand on its chain, its proof, and the key that signed it."""

    replica: str
    proof: str
    key: KeyBody


class Survey:
    """What the first reading found. `lanes` counts the lines of each lane that holds ops; `skipped` is the rest."""

    def __init__(self, source: Source, scratch: Scratch, progress: Progress) -> None:
        self.lanes: dict[str, int] = {}
        self.skipped: list[Skipped] = []
        self._db = scratch.db
        self._bad_keys: dict[str, Halt] = {}
        progress.begin("reading", None)
        for line in source.survey():
            self.lanes[line.replica] = self.lanes.get(line.replica, 0) + 1
            self._look(line.replica, line.raw)
            progress.advance()
        for replica in [each for each in self.lanes if not self.announced(each)]:
            if not _holds_ops(source, replica):
                count = self.lanes.pop(replica)
                self.skipped.append(Skipped(replica, source.shown, 0, count, "no op"))
        self.skipped += source.skipped()

    def announced(self, replica: str, named: Collection[str] = ()) -> tuple[Announced, ...]:
        """The keys announced for a replica, by fingerprint: the first few, and those that are `named`."""
        query = "SELECT fingerprint, line FROM claims WHERE lane = ? ORDER BY fingerprint LIMIT ?"
        found: dict[str, bytes] = dict(self._db.execute(query, (replica, MAX_KEY_CLAIMS)))
        for fingerprint in named if len(found) == MAX_KEY_CLAIMS else ():
            query = "SELECT fingerprint, line FROM claims WHERE lane = ? AND fingerprint = ?"
            found.update(self._db.execute(query, (replica, fingerprint)))
        return tuple(_announced(found[fingerprint]) for fingerprint in sorted(found))

    def count_announced(self, replica: str) -> int:
        """How many different keys were announced for a replica."""
        (count,) = self._db.execute("SELECT count(*) FROM claims WHERE lane = ?", (replica,)).fetchone()
        return int(count)

    def key_op(self, replica: str, fingerprint: str) -> Op | None:
        """The op that announces the key with this fingerprint for a replica."""
        row = self._db.execute(
            "SELECT line FROM claims WHERE lane = ? AND fingerprint = ?", (replica, fingerprint)
        ).fetchone()
        found = None if row is None else read_entry(row[0])
        return found if isinstance(found, Op) else None

    def bad_key(self, replica: str) -> Halt | None:
        """Why the first key op of a replica without any announced key is none."""
        return self._bad_keys.get(replica)

    def foundings(self) -> Iterator[FoundingClaim]:
        """The signed foundings, by replica and hash."""
        for replica, line in self._db.execute("SELECT lane, line FROM foundings ORDER BY lane, hash"):
            claim = self._founding(replica, line)
            if claim is not None:
                yield claim

    def recoveries(self) -> Iterator[RecoveryClaim]:
        """The signed recoveries, by replica and hash."""
        for replica, line in self._db.execute("SELECT lane, line FROM recoveries ORDER BY lane, hash"):
            read = read_line(line)
            assert isinstance(read, Unverified)
            body, key = read_body(read.body), self._signer(replica, read)
            assert isinstance(body, Recover)
            if key is not None:
                yield RecoveryClaim(replica, body.proof, key)

    def _look(self, replica: str, raw: bytes) -> None:
        may_announce = _NO_PREV in raw or _ESCAPED_ZERO in raw
        may_let_in = _FOUND in raw or _RECOVER in raw or _ESCAPE in raw
        if not (may_announce or may_let_in):
            return
        read = read_line(raw)
        if read.replica != replica:
            return
        if read.type == "key" and read.prev == ZERO_HASH:
            self._look_at_key(replica, raw)
        elif isinstance(read, Unverified) and read.type == "roster" and tampering(read) is None:
            table = _table_for(read)
            if table is not None:
                self._db.execute(
                    f"INSERT OR IGNORE INTO {table} (lane, hash, line) VALUES (?, ?, ?)",
                    (replica, read.hash, raw),
                )

    def _look_at_key(self, replica: str, raw: bytes) -> None:
        claims = key_claims(replica, [raw])
        for claim in claims:
            self._db.execute(
                "INSERT INTO claims (lane, fingerprint, hash, line) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (lane, fingerprint) DO UPDATE SET hash = excluded.hash, line = excluded.line "
                "WHERE excluded.hash < hash",
                (replica, claim.fingerprint, claim.hash, raw),
            )
        if not claims:
            halted = verify_log(replica, [read_line(raw)], Cursor(), None).cursor.halted
            if halted is not None:
                known = self._bad_keys.setdefault(replica, halted)
                self._bad_keys[replica] = min(known, halted, key=lambda halt: (halt.seq, halt.reason))

    def _founding(self, replica: str, line: bytes) -> FoundingClaim | None:
        read = read_line(line)
        assert isinstance(read, Unverified)
        body, key = read_body(read.body), self._signer(replica, read)
        assert isinstance(body, Found)
        return None if key is None else FoundingClaim(replica, read.hash, body.name, key)

    def _signer(self, replica: str, read: Unverified) -> KeyBody | None:
        """Find the key that signed an op: the one announced right before it, else any of the first."""
        before = self._db.execute(
            "SELECT line FROM claims INDEXED BY claims_by_hash WHERE lane = ? AND hash = ?",
            (replica, read.prev),
        ).fetchone()
        candidates = self.announced(replica) if before is None else (_announced(before[0]),)
        return next((each.key for each in candidates if is_signed(read, each.key.sign_key)), None)


def _announced(line: bytes) -> Announced:
    op = read_entry(line)
    assert isinstance(op, Op)
    return Announced(parse_key_body(None if op.body is ABSENT else op.body), op.hash)


def _table_for(read: Unverified) -> str | None:
    """Where a roster op is kept that may let its publisher in without anybody's admission."""
    body = read_body(read.body)
    if isinstance(body, Found):
        return "foundings"
    return "recoveries" if isinstance(body, Recover) else None


def _holds_ops(source: Source, replica: str) -> bool:
    return any(_was_op(read_line(raw)) for raw in source.lane(replica))


def _was_op(read: Unverified | Unreadable) -> bool:
    """Whether a line is an op, or one that was damaged: what has a place in a chain."""
    return isinstance(read, Unverified) or None not in (read.seq, read.prev, read.type)
