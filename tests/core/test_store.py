"""The database file: migrations, permissions, waiting for one's turn."""

import sqlite3
import stat
import time
from pathlib import Path
from typing import cast

import pytest

from core.commits import CommitPoint
from core.errors import Code, DmpError
from core.store import Store, database
from core.store.schema import MIGRATIONS
from tests.core.support import ADA, draft, refused, world

MORE = "CREATE TABLE mine (id TEXT PRIMARY KEY);\nCREATE INDEX mine_by_id ON mine (id);"


def tables(store: Store) -> set[str]:
    return {row[0] for row in store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "dmp.db"
    one = world(path)
    one.engine.send(ADA, draft())
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    one.store.close()


def test_migrations_run_once_in_order_and_an_application_appends_its_own(tmp_path: Path) -> None:
    path = tmp_path / "dmp.db"
    Store.open(path, MIGRATIONS).close()
    Store.open(path, MIGRATIONS).close()
    grown = Store.open(path, (*MIGRATIONS, MORE))
    assert {"messages", "deliveries", "mine"} <= tables(grown)
    assert grown.db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)
    grown.close()


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "dmp.db"
    with refused(Code.UNAVAILABLE, None):
        Store.open(path, (*MIGRATIONS, MORE, "CREATE TABLE mine (id TEXT);"))
    store = Store.open(path, MIGRATIONS)
    assert "mine" not in tables(store)
    store.close()


def test_a_store_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "dmp.db"
    Store.open(path, (*MIGRATIONS, MORE)).close()
    before = path.read_bytes()
    with refused(Code.UNAVAILABLE, None):
        Store.open(path, MIGRATIONS)
    assert path.read_bytes() == before


def test_what_is_no_store_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database " * 100)
    for path in (tmp_path, tmp_path / "absent" / "dmp.db", tmp_path / "text"):
        with refused(Code.UNAVAILABLE, None):
            Store.open(path, MIGRATIONS)


def test_a_store_that_stays_busy_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    one, other = world(tmp_path / "dmp.db"), world(tmp_path / "dmp.db")
    with one.store.transaction("test"), refused(Code.UNAVAILABLE, None):
        other.engine.send(ADA, draft())
    assert other.engine.send(ADA, draft()).message
    one.store.close()
    other.store.close()


class Refusing:
    """A connection on which setting WAL mode is refused twice, as while another process does the same."""

    def __init__(self) -> None:
        self.tries = 0

    def execute(self, _: str) -> None:
        self.tries += 1
        if self.tries < 3:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error


def test_setting_wal_mode_is_tried_again_since_sqlite_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    db = Refusing()
    database._write_ahead(cast(sqlite3.Connection, db))
    assert db.tries == 3


def test_a_transaction_that_raises_is_undone_and_the_next_one_runs() -> None:
    store = Store.open(":memory:", (MORE,))
    with pytest.raises(sqlite3.IntegrityError), store.transaction("test") as db:
        db.execute("INSERT INTO mine VALUES ('a'), ('b'), ('a')")
    with store.transaction("test") as db:
        db.execute("INSERT INTO mine VALUES ('b')")
    assert store.db.execute("SELECT id FROM mine").fetchall() == [("b",)]


def test_a_full_disk_is_no_fault_of_the_caller_and_undoes_the_transaction(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "dmp.db", (MORE,))
    (pages,) = store.db.execute("PRAGMA page_count").fetchone()
    store.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DmpError) as full, store.transaction("test") as db:
        db.execute("INSERT INTO mine VALUES (?)", ("x" * 50_000,))
    assert full.value.code is Code.UNAVAILABLE
    assert store.db.execute("SELECT id FROM mine").fetchall() == []
    with pytest.raises(sqlite3.OperationalError), store.transaction("test") as db:
        db.execute("SELECT * FROM nowhere")


def test_reads_see_one_state_and_join_the_open_transaction(tmp_path: Path) -> None:
    one, other = world(tmp_path / "dmp.db"), world(tmp_path / "dmp.db")
    with one.store.reading() as db:
        before = db.execute("SELECT count(*) FROM messages").fetchone()
        other.engine.send(ADA, draft())
        assert db.execute("SELECT count(*) FROM messages").fetchone() == before
    assert one.store.db.execute("SELECT count(*) FROM messages").fetchone() != before
    with one.store.transaction("test"), one.store.reading() as db:
        assert db.in_transaction
    one.store.close()
    other.store.close()


def test_the_observer_is_called_around_each_commit_and_not_around_what_was_undone() -> None:
    seen: list[tuple[str, str]] = []
    store = Store.open(":memory:", (MORE,), observer=lambda point, when: seen.append((point, when)))
    assert seen == [(CommitPoint.MIGRATE, "before"), (CommitPoint.MIGRATE, "after")]
    with pytest.raises(KeyError), store.transaction("test"):
        raise KeyError
    assert len(seen) == 2


@pytest.mark.parametrize(
    "damage",
    ["data = '{\"secret\": 1'", "refs = '[1]'", "refs = '{}'", "choices = '5'", "standing = 'secret'"],
)
def test_a_damaged_row_is_told_of_by_its_id_and_not_by_what_it_holds(damage: str) -> None:
    one = world()
    sent = one.engine.send(ADA, draft("human:bob")).message
    one.store.db.execute(f"UPDATE messages SET {damage}")
    for read in (one.engine.message, one.engine.thread):
        with pytest.raises(DmpError, match=sent.id) as damaged:
            read(sent.id)
        assert damaged.value.code is Code.UNAVAILABLE
        assert "secret" not in str(damaged.value)


def test_a_damaged_register_is_told_of_by_its_subject() -> None:
    one = world()
    one.engine.join("crew", "human:ada")
    one.store.db.execute("UPDATE register_edits SET value = '{'")
    with pytest.raises(DmpError, match="crew") as damaged:
        one.engine.members("crew")
    assert damaged.value.code is Code.UNAVAILABLE
