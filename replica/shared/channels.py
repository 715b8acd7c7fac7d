"""Memberships of channels: registers by channel and member. Any member of the team may add or remove anyone (8.7)."""

import sqlite3

from core.store import registers
from crypto.op import Op
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.shared.bodies import parse_channel
from replica.shared.kinds import CHANNEL


def fold(db: sqlite3.Connection, _view: View, op: Op) -> Outcome:
    """Fold a channel op in. Raises DmpError `invalid`."""
    said = parse_channel(op.body)
    moved = registers.merge(db, CHANNEL, said.channel, said.member, said.joined, op.hlc)
    return Outcome.APPLIED if moved else Outcome.NOTHING
