"""A backup is whole whatever happens meanwhile, is its owner's alone, and a restored replica never forks its chain."""

import io
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Code, DmpError
from replica.chain.guard import resume
from replica.home.directory import Directory
from replica.home.working import working_folder
from replica.node import create, opened
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.service.backup import backup, restore
from tests.replica.world import Machine, World, exchange


def silent(_done: int, _of: int) -> None:
    """Show nothing."""


def saved(w: World, machine: Machine) -> Path:
    """A backup of a machine as it is now."""
    file = w.folder / "saved"
    backup(machine.directory, file, silent)
    return file


def restored(w: World, file: Path) -> Machine:
    """The machine of a backup, in another directory."""
    restore(file, w.folder / "restored", silent)
    return w.open(w.folder / "restored")


def test_the_newest_backup_goes_on_after_a_pass_that_only_read(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "before")
    exchange(ada, bob)
    ada.send("human:bob", "waits here")
    again = restored(w, saved(w, ada))
    assert "own:restored" in again.problems()
    head = len(again.chain())
    first = again.sync()
    assert (first.published, first.paused, first.more) == (0, None, True)
    assert len(again.chain()) == head
    assert again.problems() == {}
    assert again.sync().published
    bob.sync()
    assert bob.bodies() == ["before", "waits here"]


def test_an_older_backup_signs_nothing_before_a_pass_and_stops_for_good_with_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    file = saved(w, ada)
    ada.send("human:bob", "after the backup")
    exchange(ada, bob)
    again = restored(w, file)
    again.send("human:bob", "something else")
    head = len(again.chain())
    for said in (again.pass_().run, lambda: again.pass_().publish(lambda: None)):
        with pytest.raises(DmpError, match="is signed with this replica's key, but not by this directory"):
            said()
    assert len(again.chain()) == head
    assert "own:stopped" in again.problems()
    with pytest.raises(DmpError):
        resume(again.node)
    bob.sync()
    assert bob.bodies() == ["after the backup"]
    assert bob.problems() == {}


def test_a_command_that_signs_is_refused_before_the_first_pass(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    again = restored(w, saved(w, ada))
    said: list[str] = []
    with pytest.raises(DmpError, match="restored from a backup") as refused:
        again.pass_().publish(lambda: said.append("it"))
    assert (refused.value.code, said) == (Code.CONFLICT, [])
    with pytest.raises(DmpError, match="`dmp sync` does that"):
        resume(again.node)


def test_where_the_far_side_has_less_than_was_published_only_its_owner_lets_it_go_on(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "published")
    exchange(ada, bob)
    file = saved(w, ada)
    back = type(w.remote)("set back")
    back.put(ada.me, *ada.lane()[:-1])
    back.put(bob.me, *bob.lane())
    w.remote = back
    again = restored(w, file)
    again.send("human:bob", "after it")
    for _ in range(2):
        assert "it was set back, or is another place" in (again.sync().paused or "")
    assert again.node.store.db.execute("SELECT count(*) FROM outbox").fetchone() != (0,)
    resume(again.node)
    assert get(again.node.store.db, Meta.RESTORED) is None
    assert again.sync().paused is None
    bob.transport = again.transport
    assert b"after it" not in b"".join(again.lane())  # sealed
    assert len(again.lane()) == len(again.chain())


def test_a_replica_that_never_signed_is_restored_as_it_was(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    backup(Directory(tmp_path / "ada"), tmp_path / "saved", silent)
    about = restore(tmp_path / "saved", tmp_path / "again", silent)
    with opened(tmp_path / "again") as node:
        assert (node.me, node.handle) == (about.replica, "ada")
        assert get(node.store.db, Meta.RESTORED) is None


def test_a_backup_is_one_snapshot_although_others_commit_while_it_is_made(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    (tmp_path / "ada" / "config.toml").write_text("[wake]\npolicy = 'allow'\n")
    with opened(tmp_path / "ada") as node:
        with node.store.transaction(CommitPoint.SYNCED) as db:
            db.execute("CREATE TABLE ballast (n INTEGER, text TEXT)")
            db.executemany("INSERT INTO ballast VALUES (0, ?)", [("x" * 4000,) for _ in range(6000)])
        steps: list[tuple[int, int]] = []

        def written(done: int, of: int) -> None:
            steps.append((done, of))
            with node.store.transaction(CommitPoint.SYNCED) as db:
                db.execute("UPDATE ballast SET n = n + 1 WHERE rowid IN (1, 6000)")
                put(db, Meta.TIP, str(len(steps)))

        backup(Directory(tmp_path / "ada"), tmp_path / "saved", written)
    assert len(steps) > 5
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1]
    restore(tmp_path / "saved", tmp_path / "again", silent)
    with opened(tmp_path / "again") as node:
        assert node.store.db.execute("SELECT DISTINCT n FROM ballast").fetchall() == [(0,)]
        assert get(node.store.db, Meta.TIP) is None
        assert node.host.config.wake_policy == "allow"


def test_a_backup_and_what_is_restored_are_for_their_owner_alone(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    file = tmp_path / "saved"
    file.touch(mode=0o644)
    backup(Directory(tmp_path / "ada"), file, silent, over=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    restore(file, tmp_path / "again", silent)
    for path in [tmp_path / "again", *(tmp_path / "again").rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ada", "again", "saved"]


def test_a_replica_is_never_restored_over_another_one_nor_backed_up_over_itself(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    backup(Directory(tmp_path / "ada"), tmp_path / "saved", silent)
    with pytest.raises(DmpError, match="already"):
        restore(tmp_path / "saved", tmp_path / "ada", silent)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "state.db").touch()
    with pytest.raises(DmpError, match="holds a store already"):
        restore(tmp_path / "saved", tmp_path / "half", silent)
    with pytest.raises(DmpError, match="is a file of the replica itself"):
        backup(Directory(tmp_path / "ada"), tmp_path / "ada" / "state.db", silent)


def test_a_backup_is_written_over_another_one_on_ones_word_alone(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    file = tmp_path / "saved"
    file.write_bytes(b"the one before")
    with pytest.raises(DmpError, match="is there already; name another one, or write over it with --force"):
        backup(Directory(tmp_path / "ada"), file, silent)
    assert file.read_bytes() == b"the one before"
    backup(Directory(tmp_path / "ada"), file, silent, over=True)
    restore(file, tmp_path / "again", silent)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DmpError, match=r"is there already; name another one$"):
        backup(Directory(tmp_path / "ada"), tmp_path / "pipe", silent, over=True)
    with pytest.raises(DmpError, match="it is no file"):
        restore(tmp_path / "pipe", tmp_path / "other", silent)


KILLED = """
import os, signal, sys
from pathlib import Path
from replica.home.directory import Directory
from replica.service.backup import backup, restore

def die(done, of):
    os.kill(os.getpid(), signal.SIGKILL)

{}(sys.argv[1], Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    "call", ["(lambda a, b: backup(Directory(Path(a)), b, die))", "(lambda a, b: restore(Path(a), b, die))"]
)
def test_what_a_killed_process_left_of_keys_and_mail_is_gone_with_the_next_try(
    tmp_path: Path, call: str
) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    backup(Directory(tmp_path / "ada"), tmp_path / "saved", silent)
    (around := tmp_path / "around").mkdir()
    saves = "backup" in call
    given = (tmp_path / "ada", around / "next") if saves else (tmp_path / "saved", around)
    killed = subprocess.run([sys.executable, "-c", KILLED.format(call), *map(str, given)], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = [each for each in around.glob(".*") if each.is_dir()]
    assert [stat.S_IMODE(each.stat().st_mode) for each in left] == [0o700]
    with working_folder(around, left[0].name[:10]) as used:
        assert not left[0].exists()
        if saves:
            backup(Directory(tmp_path / "ada"), around / "next", silent)
        else:
            restore(tmp_path / "saved", around, silent)
        assert used.exists()  # a process that lives keeps its own
    assert [*around.glob(".dmp-*"), *around.glob(".restoring-*")] == []


def test_of_two_restores_at_once_in_a_directory_one_is_refused(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    backup(Directory(tmp_path / "ada"), tmp_path / "saved", silent)
    refused: list[DmpError] = []

    def another(_done: int, _of: int) -> None:
        with pytest.raises(DmpError) as caught:
            restore(tmp_path / "saved", tmp_path / "again", silent)
        refused.append(caught.value)

    restore(tmp_path / "saved", tmp_path / "again", another)
    assert {each.code for each in refused} == {Code.UNAVAILABLE}


def test_a_store_that_is_mostly_a_hole_is_no_backup(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    backup(Directory(tmp_path / "ada"), file := tmp_path / "saved", silent)
    with tarfile.open(file) as whole, tarfile.open(tmp_path / "bomb", "w") as bomb:
        for entry in whole:
            if entry.name != "state.db":
                bomb.addfile(entry, whole.extractfile(entry))
        huge = tarfile.TarInfo("state.db")
        huge.type, huge.size = tarfile.GNUTYPE_SPARSE, 0
        header = bytearray(huge.tobuf(tarfile.GNU_FORMAT))
        header[483:495] = b"%011o\0" % (1 << 32)  # how large it is once it is written
        header[148:156] = b"        "
        header[148:156] = b"%06o\0 " % sum(header)
        assert bomb.fileobj is not None
        bomb.fileobj.write(bytes(header))
    with pytest.raises(DmpError, match="it holds what no backup does"):
        restore(tmp_path / "bomb", tmp_path / "again", silent)


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_a_replica_is_not_restored_beside_what_is_left_of_a_store_that_is_gone(
    tmp_path: Path, end: str
) -> None:
    directory = Directory(tmp_path / "own")
    create(directory.root, "ada", "laptop")
    backup(directory, tmp_path / "saved", silent)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / f"{directory.database.name}{end}").write_bytes(b"of another store")
    with pytest.raises(DmpError, match="what is left of one") as caught:
        restore(tmp_path / "saved", tmp_path / "other", silent)
    assert caught.value.code == Code.CONFLICT
    assert not Directory(tmp_path / "other").database.exists()


@pytest.mark.parametrize(
    "about", [b"[" * 100_000, b'{"format":1,"replica":"","handle":"","at":"","seq":Infinity}']
)
def test_an_archive_that_says_odd_things_of_itself_is_no_backup(tmp_path: Path, about: bytes) -> None:
    with tarfile.open(tmp_path / "saved", "w") as archive:
        entry = tarfile.TarInfo("backup.json")
        entry.size = len(about)
        archive.addfile(entry, io.BytesIO(about))
    with pytest.raises(DmpError, match="is no backup"):
        restore(tmp_path / "saved", tmp_path / "new", silent)


def _lying(file: Path, *, change: Callable[[tarfile.TarInfo], None]) -> None:
    """Rewrite an archive with its entries changed."""
    with tarfile.open(file) as archive:
        found = [(entry, archive.extractfile(entry)) for entry in archive]
        with tarfile.open(file.with_suffix(".new"), "w") as new:
            for entry, content in found:
                change(entry)
                new.addfile(entry, content)
    file.with_suffix(".new").replace(file)


@pytest.mark.parametrize(
    "name",
    ["../../escaped", "/tmp/escaped", "keys/replica.json", "unknown"],
    ids=["up", "root", "keys", "other"],
)
def test_an_archive_of_anything_else_is_no_backup(tmp_path: Path, name: str) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    file = tmp_path / "saved"
    backup(Directory(tmp_path / "ada"), file, silent)

    def rename(entry: tarfile.TarInfo) -> None:
        if entry.name == "state.db":
            entry.name = name

    _lying(file, change=rename)
    with pytest.raises(DmpError) as refused:
        restore(file, tmp_path / "again", silent)
    assert (refused.value.code, refused.value.field) == (Code.INVALID, "file")
    assert [each.name for each in (tmp_path / "again").glob("*.*")] == ["sync.lock"]


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_backup_that_is_cut_short_or_damaged_makes_no_replica(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    create(folder / "ada", "ada", "laptop")
    file = folder / "saved"
    backup(Directory(folder / "ada"), file, silent)
    whole = file.read_bytes()
    end = whole.rindex(b"state.db") + 512
    file.write_bytes(whole[: data.draw(st.integers(0, max(end + 4096, len(whole) - 20_000)))])
    with pytest.raises(DmpError) as refused:
        restore(file, folder / "again", silent)
    assert refused.value.code is Code.INVALID
    assert not (folder / "again" / "keys" / "replica.json").exists()
    assert not (folder / "again" / "state.db").exists()
    file.write_bytes(whole)
    restore(file, folder / "again", silent)  # what was left behind does not hinder a whole one
    assert (folder / "again" / "state.db").exists()


def test_backups_and_commits_of_threads_do_not_hinder_one_another(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    ended = threading.Event()

    def commit() -> None:
        with opened(tmp_path / "ada") as node:
            while not ended.is_set():
                with node.store.transaction(CommitPoint.SYNCED) as db:
                    put(db, Meta.TIP, "x")

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        for _ in range(5):
            backup(Directory(tmp_path / "ada"), tmp_path / "saved", silent, over=True)
    finally:
        ended.set()
        thread.join()
    restore(tmp_path / "saved", tmp_path / "again", silent)
    with sqlite3.connect(tmp_path / "again" / "state.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
