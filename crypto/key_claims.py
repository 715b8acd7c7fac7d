"""Who may a lane belong to: the self-signed key ops in it (federation wire 2.4).

Whoever can write to a lane can announce a key for its id. Each announcement that is signed with the key it
announces is a **claim**; the roster decides between them.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from crypto.chain import Cursor, is_signed
from crypto.keys import KeyBody, KeyBodyError, parse_key_body
from crypto.lane import read_lane
from crypto.op import ABSENT, ZERO_HASH, Op, Unverified, read_line, tampering

MAX_KEY_CLAIMS: Final = 4
"""Claims of one id that are kept, besides those there is a reason to keep."""

CLAIM_OPS: Final = 8
"""Ops of a claimed chain that are read while its key is undecided."""

CLAIM_BYTES: Final = 8 * 1024 * 1024
"""Bytes of lines that the first ops of claimed chains are looked for in: those of the lowest seqs."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A self-signed key op: somebody's claim that its key is the replica's.

    `roster_op` is the first roster op of the chain it starts, where that is among its first ops: a `found`
    or a `recover` is what can make a claim count without anybody admitting it.
    """

    op: Op
    key: KeyBody
    roster_op: Op | None

    @property
    def hash(self) -> str:
        """The opHash of the key op."""
        return self.op.hash

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the claimed key."""
        return self.key.fingerprint


def key_claims(replica: str, lines: Iterable[bytes], *, named: Collection[str] = ()) -> list[Claim]:
    """Return the claims that a lane makes, in ascending order of their fingerprints.

    Kept are the first MAX_KEY_CLAIMS, and beyond them each whose fingerprint is `named` by an admission or
    whose chain soon has a `found` or a `recover`: somebody who floods an id cannot crowd those out.
    """
    starts: dict[tuple[str, str], bytes] = {}
    others = _LowestSeqs()
    for raw in lines:
        read = read_line(raw)
        if not isinstance(read, Unverified) or read.replica != replica:
            continue
        key = _announced(read)
        if key is not None:
            starts[key.fingerprint, read.hash] = raw
        elif read.prev != ZERO_HASH:
            others.add(_Follower(read.seq, read.hash, read.prev, raw))
    followers = others.by_prev()
    kept: dict[str, Claim] = {}
    room = MAX_KEY_CLAIMS
    for (fingerprint, hash_), raw in sorted(starts.items()):
        may_exceed = fingerprint in named or hash_ in followers
        if fingerprint in kept or not (room or may_exceed):
            continue
        claim = _claim(replica, hash_, raw, followers)
        if claim is not None and (room or fingerprint in named or _stands_out(claim)):
            kept[fingerprint] = claim
            room = max(0, room - 1)
    return list(kept.values())


class _Follower(NamedTuple):
    seq: int
    hash: str
    prev: str
    raw: bytes


class _LowestSeqs:
    """The lines of the lowest seqs, as many as fit CLAIM_BYTES, whatever order they come in."""

    def __init__(self) -> None:
        self._kept: set[_Follower] = set()
        self._bytes = 0

    def add(self, line: _Follower) -> None:
        if line not in self._kept:
            self._kept.add(line)
            self._bytes += len(line.raw)
        if self._bytes > 2 * CLAIM_BYTES:
            self._cut()

    def by_prev(self) -> dict[str, list[_Follower]]:
        self._cut()
        found: dict[str, list[_Follower]] = {}
        for line in self._kept:
            found.setdefault(line.prev, []).append(line)
        return found

    def _cut(self) -> None:
        lines, self._kept, self._bytes = sorted(self._kept), set(), 0
        for line in lines:
            if self._bytes + len(line.raw) > CLAIM_BYTES:
                break
            self._kept.add(line)
            self._bytes += len(line.raw)


def _announced(read: Unverified) -> KeyBody | None:
    """Return the key that an entry announces if it is a key op as its signer wrote it."""
    if read.type != "key" or read.prev != ZERO_HASH or read.pruned or tampering(read) is not None:
        return None
    try:
        return parse_key_body(None if read.body is ABSENT else read.body)
    except KeyBodyError:
        return None


def _claim(replica: str, hash_: str, raw: bytes, followers: dict[str, list[_Follower]]) -> Claim | None:
    """Return the claim of a key op, and of the ops that may follow it; None if it is not self-signed."""
    read = read_line(raw)
    assert isinstance(read, Unverified)
    key = _announced(read)
    assert key is not None
    if not is_signed(read, key.sign_key):
        return None
    lines, ends = [raw], {hash_}
    for _ in range(CLAIM_OPS - 1):
        found = [line for end in ends for line in followers.get(end, ())]
        lines += [line.raw for line in found]
        ends = {line.hash for line in found}
    chain = read_lane(replica, lines, Cursor(), key).entries[:CLAIM_OPS]
    roster_op = next((entry for entry in chain if isinstance(entry, Op) and entry.type == "roster"), None)
    op = read.entry()
    assert isinstance(op, Op)
    return Claim(op, key, roster_op)


def _stands_out(claim: Claim) -> bool:
    body = None if claim.roster_op is None else claim.roster_op.body
    return isinstance(body, dict) and body.get("action") in ("found", "recover")
