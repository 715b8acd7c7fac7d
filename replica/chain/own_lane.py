"""Guarding one's own chain: what a transport shows in this replica's lane (architecture, R1-R5).

Nobody but the holder of this replica's key can write an op that verifies in its lane, so such an op that this
store did not sign has one explanation: the key is used elsewhere, by a copy of this directory or by a store
newer than this one. Signing on would fork the chain, which can never be mended, so the replica stops for
good. Anything else in the lane is junk; no branch writer can stop a replica with it.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from crypto.lane import verified_entries
from crypto.op import Entry
from replica.home.keyfile import Identity
from replica.records import ops
from transports.base import Line, Transport


@dataclass(frozen=True, slots=True)
class LaneReport:
    """What the own lane shows: an op that this store never signed, own ops it has, and own ops it lacks."""

    stranger: Entry | None
    present: tuple[int, ...]
    lacking: tuple[int, ...]


def check_own_lane(db: sqlite3.Connection, identity: Identity, transport: Transport) -> LaneReport:
    """Compare the own lane, as the transport's last refresh saw it, with what was signed here.

    Reads from the published head on; from the start when that head is not there.
    """
    published = _published_head(db, identity.replica)
    entries = _verified(identity, transport.lane(identity.replica, published))
    stranger = _stranger(db, identity.replica, entries)
    present = tuple(sorted({entry.seq for entry in entries}))
    if stranger is not None or published == 0 or published in present:
        return LaneReport(stranger, present, ())
    entries = _verified(identity, transport.lane(identity.replica))
    shown = {entry.seq for entry in entries}
    lacking = tuple(
        seq for seq, _ in ops.lines_of(db, identity.replica) if seq <= published and seq not in shown
    )
    return LaneReport(_stranger(db, identity.replica, entries), tuple(sorted(shown)), lacking)


def stop_text(stranger: Entry) -> str:
    """What a person is told when signing stops for good."""
    return (
        f"op {stranger.seq} of {stranger.replica} is signed with this replica's key, but not by this "
        "directory: it is a copy, or was restored from a backup older than what it had published. It signs "
        "nothing any more, since a second history could never be mended. Use the newest copy; or make a new "
        "replica (`dmp init` in a new directory, then `dmp join`) and have this one revoked"
    )


def _published_head(db: sqlite3.Connection, replica: str) -> int:
    """The highest own seq some transport has taken; 0 when none."""
    (seq,) = db.execute(
        "SELECT coalesce(max(seq), 0) FROM ops WHERE replica = ? "
        "AND seq < coalesce((SELECT min(seq) FROM unpublished), 9223372036854775807)",
        (replica,),
    ).fetchone()
    return int(seq)


def _verified(identity: Identity, lines: Iterable[Line]) -> list[Entry]:
    return list(
        verified_entries(identity.replica, (line.raw for line in lines), identity.secrets.signer.public)
    )


def _stranger(db: sqlite3.Connection, replica: str, entries: Iterable[Entry]) -> Entry | None:
    for entry in sorted(entries, key=lambda entry: (entry.seq, entry.hash)):
        if ops.hash_at(db, replica, entry.seq) != entry.hash:
            return entry
    return None
