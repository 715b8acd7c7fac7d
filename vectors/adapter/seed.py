"""Rows that stand for state an older build or another host wrote, which no send could produce now (section 12.4.2)."""

import sqlite3

from core.channels import REGISTERS
from core.store import Store
from core.store.deliveries import insert_deliveries
from core.store.effects import record_applied
from core.store.messages import insert_message
from core.store.registers import edit
from core.timestamp import timestamp
from vectors.adapter.given import Given
from vectors.adapter.members import MalformedError


def seed(store: Store, given: Given) -> None:
    """Store what a vector's world has before its first step: rows, and the explicit members of channels.

    Raises MalformedError for what no store could hold: an id twice, a delivery of no message, half a character.
    """
    try:
        _store(store, given)
    except (sqlite3.IntegrityError, UnicodeEncodeError) as error:
        raise MalformedError(f"given cannot be stored: {error}") from None


def _store(store: Store, given: Given) -> None:
    now = timestamp(given.clock)
    with store.transaction("seed") as db:
        for message in given.rows.messages:
            insert_message(db, message)
        insert_deliveries(db, given.rows.deliveries)
        for gate in given.rows.applied_gates:
            record_applied(db, gate, now)
        for name, members in given.channels.items():
            edit(db, REGISTERS, name, dict.fromkeys(members, True))
