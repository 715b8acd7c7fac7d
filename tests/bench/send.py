"""What a send costs beside the disk: `python -m tests.bench.send`.

The ratio, in one run on one disk, of messages a second that `Engine.send` stores for one teammate on another
replica to commits a second of the very same rows into the same tables and indexes by bare SQLite. The target is
0.4. Both take turns, so that a slow moment of the disk hits both. Nothing fails here.
"""

import argparse
import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from core.inputs import Sender, SendInput
from core.store import Store
from replica.records.meta import Meta, get
from replica.records.schema import MIGRATIONS
from tests.replica.world import Machine, world

TARGET = 0.4
TABLES = {"messages": "id", "deliveries": "message", "remote_rows": "message", "readers": "message"}
BODY = "Ship it? The build is green and the notes are written. " * 4


Statements = list[tuple[str, tuple[Any, ...]]]


def rows_of_tables(db: sqlite3.Connection, message: str, tables: Mapping[str, str]) -> Statements:
    """The statements and values that put one message's rows back as they are; `tables` names its column in each."""
    found = []
    for table, column in tables.items():
        for row in db.execute(f"SELECT * FROM {table} WHERE {column} = ?", (message,)):
            found.append((f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row))
    return found


def rows_of(db: sqlite3.Connection, message: str) -> Statements:
    """The same, with the outbox row and the clock of a message that leaves this replica."""
    found = rows_of_tables(db, message, TABLES)
    outbox = "SELECT kind, content_json, readers_json FROM outbox ORDER BY id DESC LIMIT 1"
    row = db.execute(outbox).fetchone()
    found.append(("INSERT INTO outbox (kind, content_json, readers_json) VALUES (?, ?, ?)", row))
    clock = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    found.append((clock, (Meta.CLOCK, get(db, Meta.CLOCK))))
    return found


def send(machine: Machine, count: int) -> tuple[float, list[Statements]]:
    """Send `count` messages; the seconds it took, and the rows each of them made."""
    given = SendInput(to=("human:bob",), kind="message", body=BODY)
    sender = Sender(machine.node.address, can_decide=True)
    spent, rows = 0.0, []
    for _ in range(count):
        machine.clock.ms += 1
        start = time.perf_counter()
        sent = machine.node.engine.send(sender, given)
        spent += time.perf_counter() - start
        rows.append(rows_of(machine.node.store.db, sent.message.id))
    return spent, rows


def commit(db: sqlite3.Connection, rows: list[Statements]) -> float:
    """Commit the rows of each message in a transaction of its own; the seconds it took."""
    start = time.perf_counter()
    for statements in rows:
        db.execute("BEGIN IMMEDIATE")
        for statement, values in statements:
            db.execute(statement, values)
        db.execute("COMMIT")
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="messages in one round")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with TemporaryDirectory() as folder, world(Path(folder)) as made:
        os.environ["XDG_STATE_HOME"] = folder
        ada, _ = made.team("ada", "bob")
        bare = Store.open(Path(folder) / "bare.db", MIGRATIONS)
        ratios, sends, commits = [], 0.0, 0.0
        for _ in range(options.rounds):
            sending, rows = send(ada, options.count)
            committing = commit(bare.db, rows)
            ratios.append(committing / sending)
            sends, commits = sends + sending, commits + committing
        total = options.count * options.rounds
        print(
            f"send: {total / sends:,.0f} messages/s; bare commits of the same rows: {total / commits:,.0f}/s"
        )
        print(f"send: ratio {median(ratios):.2f} (target {TARGET}), median of {options.rounds} rounds")
        bare.close()


if __name__ == "__main__":
    main()
