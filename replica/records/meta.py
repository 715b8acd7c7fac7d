"""Single values a replica keeps: one row each, read and written by name."""

import sqlite3
from enum import StrEnum


class Meta(StrEnum):
    """The names of the single values."""

    REPLICA = "replica"  # the id the store belongs to
    HANDLE = "handle"  # the person this replica is a machine of
    DEVICE = "device"  # what this machine is called in the team
    CLOCK = "clock"  # the last reading of the hybrid clock, also the peers' adopted ones
    CLOCK_ACCEPTED = "clock-accepted"  # milliseconds up to which a person said the wall clock is right
    FOLLOWED = (
        "followed"  # what the roster said of the team's main transport when this replica last went by it
    )
    MOVED_AT = "moved-at"  # when this replica last changed its main transport, in milliseconds
    ARRIVING = "arriving"  # the members that were not seen on the main transport since, as JSON
    FOUNDING = "founding"  # opHash of the found op this replica follows
    FOUNDER = "founder"  # the replica that signed it
    FOUNDER_FINGERPRINT = "founder-fingerprint"  # of the key that signed it
    FIRM = "firm"  # "1" once this replica was admitted, or founded the team itself
    TRUSTED = "trusted"  # the fingerprint of the founder a person chose: only that founding is followed
    INVITED_TEAM = "invited-team"  # the team id of the invite in hand: only that founding is followed
    TIP = "tip"  # the main transport's tip after a pass that left nothing waiting
    ACKS = "acks"  # the acknowledgements last published on the main transport, as JSON
    ACKED_AT = "acked-at"  # when that was, in milliseconds
    UNACKNOWLEDGED = (
        "unacknowledged"  # by replica: the own op its acknowledgement is waited for, and since when, as JSON
    )
    STOPPED = "stopped"  # why this replica signs nothing ever again
    PAUSED = "paused"  # why this replica signs nothing until its owner says so
    RESTORED = "restored"  # set while a restored replica has not read back all that it published
    RESUMED_AT = "resumed-at"  # the highest own seq others spoke of when its owner said so
    FOLDED_TYPES = (
        "folded-types"  # the types of ops that shared state was folded from; None asks to fold anew
    )
    SHARING_SINCE = "sharing-since"  # when this replica first published shared state
    READ_BY = "read-by"  # the other replicas that get this person's mail or observe, as JSON
    READ_ALL_AT = "read-all-at"  # when every lane was last read from its start, in milliseconds
    PRUNED_AT = "pruned-at"  # when it was last looked for own mail that everybody has, in milliseconds
    PRUNED_THROUGH = "pruned-through"  # the own seq up to which no mail or state has content any more
    SYNCED_AT = "synced-at"  # when a pass last ended well


def get(db: sqlite3.Connection, name: Meta) -> str | None:
    """The value of `name`, or None."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def put(db: sqlite3.Connection, name: Meta, value: str | None) -> None:
    """Set `name`, or forget it when `value` is None."""
    if value is None:
        db.execute("DELETE FROM meta WHERE name = ?", (name,))
    else:
        db.execute(
            "INSERT INTO meta (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )
