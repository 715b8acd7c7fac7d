"""Each check of the doctor finds what it is for, says what to do, and keeps no other from being made."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from core.errors import Code, DmpError
from crypto.clock import Reading
from replica.node import create, opened
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, put
from replica.records.schema import MIGRATIONS
from replica.service import doctor
from replica.service.doctor import Finding, Verdict, examine
from tests.replica.world import World, exchange


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A replica that nothing is wrong with."""
    create(tmp_path / "ada", "ada", "laptop")
    return tmp_path / "ada"


def found(root: Path) -> dict[str, Finding]:
    """What the doctor finds, by check."""
    return {each.check: each for each in examine(root)}


def bad(root: Path) -> dict[str, Verdict]:
    """The checks that are not ok, but that it is in no team."""
    return {
        name: each.verdict
        for name, each in found(root).items()
        if each.verdict is not Verdict.OK and name != "roster"
    }


def keep(root: Path, name: Meta, value: str) -> None:
    with opened(root) as node, node.store.transaction(CommitPoint.SYNCED) as db:
        put(db, name, value)


def test_where_nothing_is_wrong_every_check_is_ok(root: Path) -> None:
    assert bad(root) == {}
    assert list(found(root)) == [
        *("keys", "config", "disk", "service", "store", "clock", "chain", "roster", "problems")
    ]


def _open_keys(root: Path) -> None:
    (root / "keys" / "replica.json").chmod(0o644)


def _open_directory(root: Path) -> None:
    root.chmod(0o755)


def _misspell(root: Path) -> None:
    (root / "config.toml").write_text("[wake]\ncomand = 'x'\n")


def _upgrade(root: Path) -> None:
    with closing(sqlite3.connect(root / "state.db")) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def _damage(root: Path) -> None:
    with opened(root) as node:
        node.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with (root / "state.db").open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096))


def _turn_back_the_clock(root: Path) -> None:
    keep(root, Meta.CLOCK, str(Reading(time.time_ns() // 1_000_000 + 600_000, 0, "bob-00000000")))


def _leave_it_off_for_months(root: Path) -> None:
    keep(root, Meta.CLOCK, str(Reading(time.time_ns() // 1_000_000 - 40 * 86_400_000, 0, "bob-00000000")))


def _stop(root: Path) -> None:
    keep(root, Meta.STOPPED, "its key was used elsewhere")


@pytest.mark.parametrize(
    ("break_", "worst"),
    [
        (_open_keys, {"keys": Verdict.FAILURE, "replica": Verdict.FAILURE}),
        (_open_directory, {"directory": Verdict.WARNING}),
        (_misspell, {"config": Verdict.FAILURE, "problems": Verdict.WARNING}),
        (_upgrade, {"store": Verdict.FAILURE, "replica": Verdict.FAILURE}),
        (_turn_back_the_clock, {"clock": Verdict.FAILURE}),
        (_leave_it_off_for_months, {"clock": Verdict.FAILURE}),
        (_stop, {"chain": Verdict.FAILURE}),
    ],
)
def test_what_is_broken_is_found_by_its_check_alone(
    root: Path, break_: Callable[[Path], None], worst: dict[str, Verdict]
) -> None:
    break_(root)
    assert bad(root) == worst


def test_a_store_that_takes_too_long_is_looked_through_no_further(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(root) as node, node.store.transaction(CommitPoint.SYNCED) as db:
        db.execute("CREATE TABLE ballast (n INTEGER)")
        db.execute(
            "WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 50000)"
            " INSERT INTO ballast SELECT n FROM many"
        )
    assert found(root)["store"].text.startswith("the store is whole")
    monkeypatch.setattr(doctor, "STORE_SECONDS", 0.0)
    store = found(root)["store"]
    assert store.verdict is Verdict.OK
    assert store.text.startswith("no damage was found in the 0 seconds")


def test_a_damaged_store_is_a_failure_that_hides_none_of_the_other_checks(root: Path) -> None:
    _damage(root)
    told = found(root)
    assert told["store"].verdict is Verdict.FAILURE
    assert told["keys"].verdict is Verdict.OK
    assert told["disk"].verdict is Verdict.OK


class _Usage(NamedTuple):
    free: int


@pytest.mark.parametrize(
    ("free", "verdict"), [(2 << 30, Verdict.OK), (500 << 20, Verdict.WARNING), (50 << 20, Verdict.FAILURE)]
)
def test_a_disk_that_fills_is_found(
    root: Path, monkeypatch: pytest.MonkeyPatch, free: int, verdict: Verdict
) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: _Usage(free))  # type: ignore[attr-defined]
    assert found(root)["disk"].verdict is verdict


def test_where_there_is_no_replica_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(DmpError) as refused:
        found(tmp_path / "nothing")
    assert refused.value.code is Code.NOT_FOUND


def test_a_chain_that_something_else_changed_is_found_and_one_that_is_whole_verifies(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "one")
    exchange(ada, bob)
    head = len(ada.chain())
    chain = found(ada.directory.root)["chain"]
    assert (chain.verdict, f"up to op {head}," in chain.text) == (Verdict.OK, True)
    for seq in (2, head):
        with closing(sqlite3.connect(ada.directory.database, isolation_level=None)) as db:
            (line,) = db.execute(
                "SELECT line FROM ops WHERE replica = ? AND seq = ?", (ada.me, seq)
            ).fetchone()
            changed = bytes(line).replace(b'"sig":"', b'"sig":"A', 1)
            db.execute("UPDATE ops SET line = ? WHERE replica = ? AND seq = ?", (changed, ada.me, seq))
            assert found(ada.directory.root)["chain"].verdict is Verdict.FAILURE
            db.execute("UPDATE ops SET line = ? WHERE replica = ? AND seq = ?", (line, ada.me, seq))
    assert found(ada.directory.root)["chain"].verdict is Verdict.OK


def test_a_machine_that_waits_is_in_no_team_or_was_revoked_is_told_what_to_do(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    assert found(ada.directory.root)["roster"].verdict is Verdict.OK
    stranger = w.machine("cy")
    told = found(stranger.directory.root)["roster"]
    assert (told.verdict, "dmp join" in told.remedy) == (Verdict.WARNING, True)
