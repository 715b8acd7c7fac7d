"""A directory that others meddle with, by mistake or on purpose, loses nothing, hangs nobody and says what is wrong."""

import fcntl
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.transports.contract import read
from tests.transports.ops import ADA, BOB, Chain
from transports import files
from transports.base import Behind, Unreachable
from transports.directory import FILE_BYTES, DirectoryTransport

FIRST = "0000000000000001.jsonl"
SECRET = b'{"replica":"ada-0000000a","seq":77,"x":"outside"}\n'


def opened(root: Path) -> DirectoryTransport:
    transport = DirectoryTransport(root, lambda _: None)
    transport.refresh()
    return transport


def lane(root: Path, replica: str = ADA) -> Path:
    return root / "fed" / replica


# Things put in the place of others


def test_a_file_that_becomes_a_pipe_before_it_is_read_keeps_nobody_waiting(tmp_path: Path) -> None:
    opened(tmp_path).publish(ADA, Chain(ADA).lines(1))
    opened(tmp_path).publish(BOB, bob := Chain(BOB).lines(1))
    near = opened(tmp_path)
    (lane(tmp_path) / FIRST).unlink()
    os.mkfifo(lane(tmp_path) / FIRST)
    found: list[dict[str, list[bytes]]] = []
    reading = threading.Thread(target=lambda: found.append(read(near)), daemon=True)
    reading.start()
    reading.join(10)
    assert found == [{BOB: bob}]


@pytest.mark.parametrize("what", ["folder", "link", "file"])
def test_a_lane_that_becomes_something_else_while_it_is_listed_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    opened(tmp_path).publish(ADA, Chain(ADA).lines(1))
    opened(tmp_path).publish(BOB, bob := Chain(BOB).lines(1))
    listed = files._listed

    def swapping(at: int) -> dict[str, os.stat_result]:
        found = listed(at)
        if ADA in found:
            shutil.rmtree(lane(tmp_path))
            {
                "folder": lane(tmp_path).mkdir,
                "link": lambda: lane(tmp_path).symlink_to("/etc"),
                "file": lane(tmp_path).touch,
            }[what]()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(files, "_listed", swapping)
        near = opened(tmp_path)
    assert read(near) == {BOB: bob}


def test_a_folder_in_the_place_of_an_own_file_is_put_aside_with_what_is_in_it(tmp_path: Path) -> None:
    (lane(tmp_path) / FIRST).mkdir(parents=True)
    (lane(tmp_path) / FIRST / "kept").write_bytes(b"x")
    (lane(tmp_path) / ".part-0").mkdir()
    opened(tmp_path).publish(ADA, lines := Chain(ADA).lines(2))
    assert read(opened(tmp_path)) == {ADA: lines}
    assert [path.read_bytes() for path in lane(tmp_path).glob(".aside-*/kept")] == [b"x"]


@pytest.mark.parametrize("what", ["fed", "lane"])
def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path, what: str) -> None:
    if what == "lane":
        lane(tmp_path).parent.mkdir()
    (tmp_path / "fed" if what == "fed" else lane(tmp_path)).touch()
    with pytest.raises(Unreachable, match="Not a directory"):
        opened(tmp_path).publish(ADA, Chain(ADA).lines(1))


# Programs that hang, and folders that may not be touched


def test_who_writes_without_end_is_waited_for_a_while_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path).publish(ADA, before := Chain(ADA).lines(1))
    near = opened(tmp_path)
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
    with (lane(tmp_path) / ".lock").open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Unreachable, match="does not come to an end"):
            near.publish(ADA, Chain(ADA).lines(2)[1:])
        assert read(opened(tmp_path)) == {ADA: before}
    near.publish(ADA, after := Chain(ADA).lines(2)[1:])
    assert read(opened(tmp_path)) == {ADA: before + after}


def as_anybody(program: str, *arguments: str) -> str:
    """Run a program that may do no more than the permissions of files say, root or not."""
    caps = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if caps and shutil.which(caps[0]) is None:
        pytest.skip("root may read and write everything, and setpriv is not here to take that away")
    done = subprocess.run(
        [*caps, sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


ASKS = """
import sys; from pathlib import Path; from tests.transports.ops import Chain
from transports.base import TransportError; from transports.directory import DirectoryTransport
near = DirectoryTransport(Path(sys.argv[1]), lambda _: None); near.refresh(); pull = near.pull({})
print(*sorted(line.replica for line in pull), *(f"{note.replica}: {note.reason}" for note in pull.report.skipped))
try: near.publish("ada-0000000a", Chain("ada-0000000a").lines(2)[1:]); print("published")
except TransportError as error: print(error.message, error.hint, sep="; ")
"""


def test_what_may_not_be_written_to_can_be_read_and_says_so(tmp_path: Path) -> None:
    for replica in (ADA, BOB):
        opened(tmp_path).publish(replica, Chain(replica).lines(1))
    folders = [tmp_path, tmp_path / "fed", lane(tmp_path), lane(tmp_path, BOB)]
    for folder in folders:
        folder.chmod(0o555)
    (lane(tmp_path) / ".lock").chmod(0o444)
    try:
        shown, published = as_anybody(ASKS, str(tmp_path)).splitlines()
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert shown == f"{ADA} {BOB}"
    assert (
        published
        == f"dir:{tmp_path} cannot be used: Permission denied; is it there, and may you write to it?"
    )


@pytest.mark.parametrize("whole_lane", [False, True])
def test_what_may_not_be_read_hides_no_other(tmp_path: Path, whole_lane: bool) -> None:
    for replica in (ADA, BOB):
        opened(tmp_path).publish(replica, Chain(replica).lines(1))
    locked = lane(tmp_path, BOB) if whole_lane else lane(tmp_path, BOB) / FIRST
    locked.chmod(0)
    try:
        shown, published = as_anybody(ASKS, str(tmp_path)).splitlines()
    finally:
        locked.chmod(0o755)
    told = "" if whole_lane else f" {BOB}: may not be read, or is longer than 8 MiB"
    assert (shown, published) == (ADA + told, "published")


# Anything at any time


class Meddler:
    """Somebody who may write to the directory, and does anything there."""

    def __init__(self, root: Path, outside: Path, random: Random) -> None:
        self.root, self.outside, self.random = root, outside, random

    def meddle(self) -> None:
        deeds: tuple[Callable[[Path], None], ...] = (
            *(self._link, self._pipe, self._folder, self._cut, self._copy_aside, self._remove),
            *(self._zeros, self._grow, self._junk, self._lose_lane, self._clash),
        )
        files = (path for path in self.root.glob("fed/*/*.jsonl") if path.is_file() and not path.is_symlink())
        found = sorted(files)
        if found:
            self.random.choice(deeds)(self.random.choice(found))

    def _link(self, path: Path) -> None:
        path.unlink()
        path.symlink_to(self.outside)

    def _pipe(self, path: Path) -> None:
        path.unlink()
        os.mkfifo(path)

    def _folder(self, path: Path) -> None:
        path.unlink()
        path.mkdir()

    def _cut(self, path: Path) -> None:
        os.truncate(path, self.random.randrange(path.stat().st_size + 1))

    def _copy_aside(self, path: Path) -> None:
        shutil.copy(path, path.with_name(f"{path.stem} (conflicted copy {self.random.randrange(9)}).jsonl"))
        self._cut(path)

    def _remove(self, path: Path) -> None:
        path.unlink()

    def _zeros(self, path: Path) -> None:
        size = path.stat().st_size
        os.truncate(path, self.random.randrange(size + 1))
        os.truncate(path, size)

    def _grow(self, path: Path) -> None:
        os.truncate(path, FILE_BYTES + 1)

    def _junk(self, path: Path) -> None:
        with path.open("ab") as file:
            file.write(self.random.randbytes(200) + b"\n" + SECRET.replace(b"outside", b"inside"))

    def _lose_lane(self, path: Path) -> None:
        shutil.rmtree(path.parent)

    def _clash(self, path: Path) -> None:
        other = path.parent.with_name(path.parent.name.upper())
        other.mkdir(exist_ok=True)
        if not os.path.lexists(other / path.name):
            shutil.copy(path, other)


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_to_the_directory_nothing_is_lost(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    root, outside = tmp_path / "shared", tmp_path / "outside.jsonl"
    root.mkdir()
    outside.write_bytes(SECRET)
    meddler = Meddler(root, outside, random)
    chains = {replica: Chain(replica) for replica in (ADA, BOB)}
    said: dict[str, list[bytes]] = {replica: [] for replica in chains}
    sides = {replica: DirectoryTransport(root, lambda _: None) for replica in chains}

    def publish(replica: str) -> None:
        """What a replica does in a pass: leave there what is not there."""
        side = sides[replica]
        side.refresh()
        there = {line.raw for line in side.lane(replica)}
        side.publish(replica, [raw for raw in said[replica] if raw not in there], acks=b"{}")

    for _ in range(12):
        replica = random.choice((ADA, BOB))
        said[replica] += chains[replica].lines(1, "x" * random.randrange(3000))
        try:
            publish(replica)
            meddler.meddle()
            shown = [line.raw for line in sides[replica].pull({})]
            assert not any(b"outside" in raw for raw in shown)
            meddler.meddle()
            sides[replica].publish(replica, [], acks=b"{ }")
        except (Behind, Unreachable):
            continue
    for replica in (ADA, BOB):
        publish(replica)
    found = read(opened(root))
    assert {replica: set(said[replica]) - set(found[replica]) for replica in said} == {ADA: set(), BOB: set()}
    assert outside.read_bytes() == SECRET
