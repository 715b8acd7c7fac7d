"""Guarding one's own chain: what a transport shows in this replica's lane (architecture, R1-R5).

Nobody but the holder of this replica's key can write an op that verifies in its lane, so such an op that this
store did not sign has one explanation: the key is used elsewhere, by a copy of this directory or by a store
newer than this one. Signing on would fork the chain, which can never be mended, so the replica stops for
good. Anything else in the lane is junk; no branch writer can stop a replica with it.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from crypto.fork_proof import ForkProof, find_proof
from crypto.lane import verified_entries
from crypto.op import ZERO_HASH, Entry, Op, read_entry
from replica.home.keyfile import Identity
from replica.records import ops
from transports.base import Line, Transport


@dataclass(frozen=True, slots=True)
class LaneReport:
    """What the own lane shows: an op that this store never signed, own ops it has, and own ops it lacks."""

    stranger: Entry | None
    present: tuple[int, ...]
    lacking: tuple[int, ...]


LOOK_BACK: Final = 2_000
"""How many seqs below the published head are compared at most, while teammates have not acknowledged them."""


def check_own_lane(
    db: sqlite3.Connection, identity: Identity, transport: Transport, *, whole: bool = False
) -> LaneReport:
    """Compare the own lane, as the transport's last refresh saw it, with what was signed here.

    Reads from the first op that some teammate still has to acknowledge, so that one damaged on its way is
    published again; from the start with `whole`, and when not even the published head is there.
    """
    published = published_head(db, identity.replica)
    since = 0 if whole else first_to_compare(db, published)
    report = compare(db, identity, transport.lane(identity.replica, since), since, published)
    if report.stranger is not None or not since or published not in report.lacking:
        return report
    return compare(db, identity, transport.lane(identity.replica), 0, published)


def stop_text(stranger: Entry) -> str:
    """What a person is told when signing stops for good."""
    return (
        f"op {stranger.seq} of {stranger.replica} is signed with this replica's key, but not by this "
        "directory: it is a copy, or was restored from a backup older than what it had published. It signs "
        "nothing any more, since a second history could never be mended. Use the newest copy; or make a new "
        "replica (`dmp init` in a new directory, then `dmp join`) and have this one revoked"
    )


def proof_of_twin(db: sqlite3.Connection, replica: str, stranger: Entry) -> ForkProof | None:
    """What proves to anybody that this replica's key signed two histories; None where a stranger's op only follows."""
    rows = db.execute(
        "SELECT line FROM ops WHERE replica = ? AND (seq = ? OR prev = ? OR prev = ?)",
        (replica, stranger.seq, stranger.prev, ZERO_HASH),
    )
    own = [read_entry(bytes(line)) for (line,) in rows]
    announced = next((op for op in own if isinstance(op, Op) and op.type == "key"), None)
    return None if announced is None else find_proof(announced, [*own, stranger])


def published_head(db: sqlite3.Connection, replica: str) -> int:
    """The highest own seq some transport has taken; 0 when none."""
    (seq,) = db.execute(
        "SELECT coalesce(max(seq), 0) FROM ops WHERE replica = ? "
        "AND seq < coalesce((SELECT min(seq) FROM unpublished), 9223372036854775807)",
        (replica,),
    ).fetchone()
    return int(seq)


def first_to_compare(db: sqlite3.Connection, published: int) -> int:
    """The seq after the last op that all teammates acknowledged, at most LOOK_BACK below the published head."""
    (through,) = db.execute("SELECT min(own_through) FROM acks").fetchone()
    unacknowledged = published if through is None else through + 1
    return max(min(published, unacknowledged), published - LOOK_BACK)


def compare(
    db: sqlite3.Connection, identity: Identity, shown: Iterable[Line], since: int, published: int
) -> LaneReport:
    """Compare the own lane from `since` on with what was signed here; up to `published` nothing may be lacking."""
    own = {line: seq for seq, line in ops.lines_of(db, identity.replica, since)}
    raws = [line.raw for line in shown]
    present = {own[raw] for raw in raws if raw in own}
    others = verified_entries(
        identity.replica, (raw for raw in raws if raw not in own), identity.secrets.signer.public
    )
    for entry in sorted(others, key=lambda entry: (entry.seq, entry.hash)):
        if ops.hash_at(db, identity.replica, entry.seq) != entry.hash:
            return LaneReport(entry, tuple(sorted(present)), ())
        present.add(entry.seq)
    lacking = (seq for seq in own.values() if seq <= published and seq not in present)
    return LaneReport(None, tuple(sorted(present)), tuple(sorted(lacking)))
