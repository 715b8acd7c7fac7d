"""Whoever waits for a change in a store is woken by every commit, of this process and of others."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from replica.service.changes import Changes

LONG = 30.0
"""Seconds nobody waits for where everything works."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A store with a table."""
    path = tmp_path / "state.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE things (name TEXT)")
    db.commit()
    db.close()
    return path


@pytest.fixture
def changes(database: Path) -> Iterator[Changes]:
    """Changes in it, from now on."""
    with Changes(database) as made:
        made.wait(0, LONG)  # it counts once when it begins to look
        yield made


def commit(database: Path) -> None:
    """Commit something, by a connection of its own."""
    db = sqlite3.connect(database)
    db.execute("INSERT INTO things VALUES ('x')")
    db.commit()
    db.close()


def test_a_commit_in_this_process_wakes_a_thread(database: Path, changes: Changes) -> None:
    seen = changes.count
    commit(database)
    assert changes.wait(seen, LONG) > seen


def test_a_commit_by_another_process_wakes_a_thread_and_a_coroutine(database: Path, changes: Changes) -> None:
    seen = changes.count
    script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('DELETE FROM things'); db.commit()"

    async def both() -> tuple[int, int]:
        thread = asyncio.create_task(asyncio.to_thread(changes.wait, seen, LONG))
        coroutine = asyncio.create_task(changes.after(seen))
        await asyncio.sleep(0)
        commit(database)
        await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", script, str(database)], check=True, timeout=LONG
        )
        return await thread, await coroutine

    by_thread, by_coroutine = asyncio.run(both())
    assert min(by_thread, by_coroutine) > seen


def test_a_commit_before_the_wait_is_not_missed(database: Path, changes: Changes) -> None:
    seen = changes.count
    commit(database)
    changes.wait(seen, LONG)
    assert changes.wait(seen, LONG) > seen
    assert asyncio.run(changes.after(seen, LONG)) > seen


def test_nothing_wakes_where_nothing_is_committed(database: Path, changes: Changes) -> None:
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO things VALUES ('y')")
    db.execute("ROLLBACK")
    db.close()
    seen = changes.count
    changes.poke()
    assert changes.wait(seen, 0.2) == seen
    assert asyncio.run(changes.after(seen, 0.2)) == seen


def test_all_who_wait_are_woken_by_one_commit(database: Path, changes: Changes) -> None:
    seen = changes.count

    async def many() -> list[int]:
        waiting = [asyncio.create_task(changes.after(seen)) for _ in range(200)]
        await asyncio.sleep(0)
        commit(database)
        return await asyncio.gather(*waiting)

    assert min(asyncio.run(many())) > seen


def test_who_gave_up_waiting_hinders_nobody(database: Path, changes: Changes) -> None:
    seen = changes.count

    async def one_leaves() -> int:
        leaving, staying = (asyncio.create_task(changes.after(seen)) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        commit(database)
        return await staying

    assert asyncio.run(one_leaves()) > seen


def test_closing_it_ends_every_wait(database: Path) -> None:
    ended: list[float] = []

    def wait(changes: Changes) -> None:
        changes.wait(changes.count, LONG)
        ended.append(time.monotonic())

    with Changes(database) as changes:
        changes.wait(0, LONG)
        thread = threading.Thread(target=wait, args=(changes,))
        thread.start()
    thread.join(LONG)
    assert ended
    assert changes.closed
    assert asyncio.run(changes.after(changes.count)) == changes.count


def test_a_store_that_cannot_be_read_is_watched_again_once_it_can(tmp_path: Path, database: Path) -> None:
    away = tmp_path / "away.db"
    database.rename(away)
    with Changes(database) as changes:
        assert changes.wait(0, 0.1) == 0
        away.rename(database)
        seen = changes.wait(0, LONG)
        commit(database)
        assert changes.wait(seen, LONG) > seen
