"""One file with all of a replica: its store, its keys, and what its owner set.

The file is a tar archive. The store in it is a snapshot of one moment, taken with SQLite's online backup, so whatever
else works in the directory goes on meanwhile. What can be had again is left out: clones, lock files, sockets.

A replica that is restored from one does not know what it signed since. `replica.chain.restored` says what follows.
"""

import io
import json
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

from core.errors import Code, DmpError
from core.store import Store
from core.timestamp import timestamp
from replica.chain.restored import mark_restored
from replica.home.directory import Directory
from replica.home.keyfile import Identity, read_key_file
from replica.home.working import working_folder
from replica.node import wall_clock
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get
from replica.records.schema import MIGRATIONS

Progress = Callable[[int, int], None]
"""Is told how many bytes are done, of how many."""

FORMAT: Final = 1
ABOUT: Final = "backup.json"
KEYS: Final = "replica.json"
STORE: Final = "state.db"
CONFIG: Final = "config.toml"

_SMALL: Final = 200_000
"""Bytes that what is not the store may have."""

_CHUNK: Final = 1 << 20
_PAGES: Final = 2_000


@dataclass(frozen=True, slots=True)
class About:
    """Whose a backup is, when it was made, and the last own op that is in it."""

    replica: str
    handle: str
    at: str
    seq: int
    format: int = FORMAT


def backup(directory: Directory, target: Path, progress: Progress, *, over: bool = False) -> About:
    """Write all of a replica to one file that its owner alone may read; with `over`, in the place of one that is there.

    The file appears once it is whole. Raises DmpError as `read_key_file`, and `conflict` on `file` for a file that is
    there, and for one of the replica itself; OSError and sqlite3.Error where it cannot be written.
    """
    read_key_file(directory.key_file)
    if target.exists() and directory.root.resolve() in target.resolve().parents:
        raise DmpError(Code.CONFLICT, f"{target} is a file of the replica itself; name another one", "file")
    if os.path.lexists(target) and not (over and target.is_file()):
        mend = "name another one, or write over it with --force" if target.is_file() else "name another one"
        raise DmpError(Code.CONFLICT, f"{target} is there already; {mend}", "file")
    with working_folder(target.parent, ".dmp-backup-") as folder:
        copy, whole = folder / STORE, folder / "whole"
        _snapshot(directory.database, copy, lambda done, of: progress(done, 2 * of))
        about = _about(copy)
        size = copy.stat().st_size
        descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                _add(archive, ABOUT, json.dumps(asdict(about)).encode())
                _add(archive, KEYS, directory.key_file.read_bytes())
                if directory.config_file.is_file():
                    _add(archive, CONFIG, directory.config_file.read_bytes()[:_SMALL])
                with _counted(copy, lambda done: progress(size + done, 2 * size)) as content:
                    archive.addfile(_entry(STORE, size), content)
            file.flush()
            os.fsync(file.fileno())
        whole.replace(target)
    return about


def restore(source: Path, root: Path, progress: Progress) -> About:
    """Make the replica of a backup at `root`, where none is; it signs nothing before it has read back its lane.

    Raises DmpError: `conflict` where there is one, or what is left of one; `invalid` on `file` for what is no whole
    backup, `unavailable` for one of a newer version; OSError.
    """
    directory = Directory(root)
    _check_free(directory)
    directory.create()
    with directory.sync_lock(0), working_folder(root, ".restoring-") as folder:
        about = _unpack(source, folder, progress)
        store, keys = folder / STORE, folder / "keys" / KEYS
        identity = read_key_file(keys)
        _check(store, identity)
        _check_free(directory)  # somebody else may have been here before the lock was held
        if (folder / CONFIG).exists():
            (folder / CONFIG).replace(directory.config_file)
        store.replace(directory.database)
        keys.replace(directory.key_file)  # the last one: a directory without it is no replica yet
    return about


def _check_free(directory: Directory) -> None:
    # What SQLite left of a store that is gone would be played back into this one, and damage it.
    if any(Path(f"{directory.database}{end}").exists() for end in ("", "-wal", "-journal")):
        raise DmpError(
            Code.CONFLICT,
            f"{directory.root} holds a store already, or what is left of one; move that directory away, or restore to "
            "another --dir",
        )


def _snapshot(database: Path, copy: Path, progress: Progress) -> None:
    copy.touch(mode=0o600)
    with (
        closing(
            sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as db,
        closing(sqlite3.connect(copy, isolation_level=None)) as into,
    ):
        # One snapshot for all of its steps: else every commit by somebody else would begin it anew.
        db.execute("BEGIN")
        (size,) = db.execute("PRAGMA page_size").fetchone()
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        db.backup(
            into,
            pages=_PAGES,
            progress=lambda _, left, total: progress((total - left) * size, total * size),
        )
        db.execute("ROLLBACK")
        into.execute("PRAGMA journal_mode = DELETE")


def _about(store: Path) -> About:
    with closing(sqlite3.connect(store)) as db:
        replica = get(db, Meta.REPLICA) or ""
        known = ops.position(db, replica)
        head = None if known is None else known.cursor.head
        return About(
            replica, get(db, Meta.HANDLE) or "", timestamp(wall_clock()), 0 if head is None else head.seq
        )


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_entry(name, len(content)), io.BytesIO(content))


class _Counting(io.RawIOBase):
    def __init__(self, file: IO[bytes], told: Callable[[int], None]) -> None:
        self._file, self._told, self._done = file, told, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(size)
        self._done += len(found)
        self._told(self._done)
        return found


@contextmanager
def _counted(path: Path, told: Callable[[int], None]) -> Iterator[IO[bytes]]:
    with path.open("rb") as file:
        yield _Counting(file, told)  # type: ignore[misc]  # all that is asked of it is to read


def _unpack(source: Path, folder: Path, progress: Progress) -> About:
    """Unpack a backup. Raises DmpError `invalid` on `file`."""
    if source.exists() and not source.is_file():
        raise _no_backup(source, "it is no file")
    about: About | None = None
    (folder / "keys").mkdir(mode=0o700)
    places = {ABOUT: None, KEYS: folder / "keys" / KEYS, CONFIG: folder / CONFIG, STORE: folder / STORE}
    try:
        with tarfile.open(source, "r:") as archive:
            for entry in archive:
                # A sparse member is a few bytes here and terabytes on the disk.
                if entry.name not in places or not entry.isreg() or entry.issparse():
                    raise _no_backup(source, "it holds what no backup does")
                if entry.name != STORE and entry.size > _SMALL:
                    raise _no_backup(source, f"{entry.name} in it is too long")
                content = archive.extractfile(entry)
                assert content is not None  # a regular file
                place = places[entry.name]
                if place is None:
                    about = _read_about(source, content.read())
                else:
                    _write(content, place, entry.size, progress)
    except FileExistsError as error:
        raise _no_backup(source, "it holds something twice") from error
    except (tarfile.TarError, EOFError) as error:
        raise _no_backup(source, "it is no archive, or is cut short") from error
    if about is None or not all(place.exists() for place in (places[KEYS], places[STORE]) if place):
        raise _no_backup(source, "something is missing in it")
    return about


def _read_about(source: Path, text: bytes) -> About:
    try:
        told = json.loads(text)
        if told["format"] > FORMAT:
            raise DmpError(Code.UNAVAILABLE, f"{source} was made by a newer version of dmp; upgrade it")
        return About(str(told["replica"]), str(told["handle"]), str(told["at"]), int(told["seq"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise _no_backup(source, f"its {ABOUT} cannot be read") from error


def _write(content: IO[bytes], place: Path, size: int, progress: Progress) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if place.name == STORE:
            done = 0
            while part := content.read(_CHUNK):
                file.write(part)
                done += len(part)
                progress(done, size)
        else:
            shutil.copyfileobj(content, file)
        file.flush()
        os.fsync(file.fileno())


def _check(file: Path, identity: Identity) -> None:
    """Check that a store is whole and belongs to the keys, and mark it. Raises DmpError."""
    try:
        with closing(sqlite3.connect(file)) as db:
            (sound,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok" or get(db, Meta.REPLICA) != identity.replica:
                raise DmpError(
                    Code.INVALID, "the store in the backup is damaged, or not that of its keys", "file"
                )
    except sqlite3.DatabaseError as error:
        raise DmpError(Code.INVALID, "the store in the backup is damaged", "file") from error
    store = Store.open(file, MIGRATIONS)
    try:
        if (
            ops.position(store.db, identity.replica) is not None
        ):  # else it has said nothing that could be contradicted
            with store.transaction(CommitPoint.STOPPED) as db:
                mark_restored(db, identity.replica, timestamp(wall_clock()))
    finally:
        store.close()


def _no_backup(source: Path, why: str) -> DmpError:
    return DmpError(Code.INVALID, f"{source} is no backup of a replica: {why}", "file")
