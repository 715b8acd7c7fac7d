"""Repositories that have not all of their objects, on either side (`git clone --filter`), and packs that swell."""

import hashlib
import shutil
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from tests.transports.contract import read
from tests.transports.git.repo import FILE, TREE, GitFarSide
from tests.transports.ops import ADA, BOB, CAL, Chain
from transports.base import Unreachable
from transports.git import GitTransport, Limits
from transports.remotes import Source, parse_remote

MIB = 1024 * 1024


def partial_copy(far: GitFarSide, to: Path) -> None:
    """Copy a repository without the contents of its files."""
    far.git("config", "uploadpack.allowFilter", "true")
    command = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{far.bare}", str(to)]
    subprocess.run(command, check=True)
    kinds = subprocess.run(
        ["git", f"--git-dir={to}", "cat-file", "--batch-check", "--batch-all-objects"],
        check=True,
        capture_output=True,
    ).stdout
    assert b" tree " in kinds
    assert b" blob " not in kinds


@pytest.fixture
def clone(far: GitFarSide) -> Path:
    """The clone of a transport whose owner made it a partial one, with three lines of Bob's on the branch."""
    far.put(BOB, *Chain(BOB).lines(3))
    near = far.open("near")
    near.refresh()
    near.close()
    clone = far.folder / "near" / "clone.git"
    shutil.rmtree(clone)
    partial_copy(far, clone)
    return clone


def test_a_clone_that_was_made_partial_is_read_and_extended(far: GitFarSide, clone: Path) -> None:
    near, other = far.open("near"), far.open()
    near.refresh()
    assert clone.joinpath("config").read_text().count("promisor") == 1
    assert read(near) == {BOB: Chain(BOB).lines(3)}
    near.publish(ADA, lines := Chain(ADA).lines(2))
    other.refresh()
    assert read(near) == read(other) == {ADA: lines, BOB: Chain(BOB).lines(3)}
    near.close()
    other.close()


def test_a_partial_clone_whose_source_is_gone_is_fetched_anew(far: GitFarSide, clone: Path) -> None:
    config = ["git", f"--git-dir={clone}", "config", "remote.origin.url", f"file://{clone}/gone"]
    subprocess.run(config, check=True)
    near = far.open("near")
    for _ in range(2):
        with suppress(Unreachable):
            near.refresh()
            if read(near):
                break
    assert read(near) == {BOB: Chain(BOB).lines(3)}
    near.close()


def test_a_remote_that_is_a_partial_copy_is_told(far: GitFarSide, tmp_path: Path) -> None:
    far.put(BOB, *Chain(BOB).lines(1))
    partial_copy(far, tmp_path / "partial.git")
    near = GitTransport(parse_remote(str(tmp_path / "partial.git"), Source.TYPED), tmp_path / "near")
    with pytest.raises(Unreachable) as error:
        near.refresh()
    assert error.value.hint == "use the repository that it was copied from"
    near.close()


def packed(kind: int, size: int, data: bytes, base: bytes = b"") -> bytes:
    """Write an object as it stands in a pack: its kind and size, seven bits a byte, and its content."""
    head, size = [kind << 4 | size & 15], size >> 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head) + base + zlib.compress(data)


def number(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(128 | value & 127)
        value >>= 7
    return bytes([*parts, value])


def delta_bomb(far: GitFarSide, size: int) -> tuple[str, str]:
    """Put a blob of `size` bytes into a repository as a delta: 64 KiB, of which it is so many copies, and itself."""
    piece = b"x" * 65536
    base = hashlib.sha1(b"blob 65536\0" + piece).digest()
    copies = size // len(piece)
    delta = number(len(piece)) + number(size) + b"\x80" * copies  # "copy 64 KiB from the start"
    pack = b"PACK" + struct.pack(">II", 2, 2)
    pack += packed(3, len(piece), piece) + packed(7, len(delta), delta, base)
    assert len(pack) < 1000
    far.git("index-pack", "--stdin", stdin=pack + hashlib.sha1(pack).digest())
    return base.hex(), hashlib.sha1(b"blob %d\0" % size + piece * copies).hexdigest()


def test_t3_a_segment_that_swells_a_millionfold_is_passed_over_and_the_rest_arrives(far: GitFarSide) -> None:
    far.put(BOB, *(lines := Chain(BOB).lines(2)))
    piece, bomb = delta_bomb(far, 64 * MIB)
    lane = far.tree({"000000000001.jsonl": (FILE, bomb), "notes": (FILE, piece)})
    far.write(far.entries_at("fed") | {ADA: (TREE, lane)})
    near = far.open()
    near.refresh()
    pull = near.pull({})
    assert [line.raw for line in pull] == lines
    (skipped,) = pull.report.skipped
    assert (skipped.replica, skipped.reason) == (ADA, f"is a blob of {64 * MIB} bytes")
    packs = (far.folder / "near-1/clone.git/objects/pack").glob("*.pack")
    assert sum(path.stat().st_size for path in packs) < 10_000
    near.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_t3_what_swells_beyond_all_memory_is_told_and_nothing_is_lost_when_it_is_gone(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=Limits(memory_bytes=64 * MIB))
    far.put(BOB, *(lines := Chain(BOB).lines(2)))
    near = far.open()
    near.refresh()
    near.publish(ADA, mine := Chain(ADA).lines(2))
    before = far.tip()
    piece, bomb = delta_bomb(far, 256 * MIB)
    lane = far.tree({"000000000001.jsonl": (FILE, bomb), "notes": (FILE, piece)})
    far.write(far.entries_at("fed") | {CAL: (TREE, lane)})
    for _ in range(2):
        with pytest.raises(Unreachable, match="Out of memory") as error:
            near.refresh()
        assert "set the branch back to before that" in error.value.hint
        assert read(near) == {ADA: mine, BOB: lines}
    with pytest.raises(Unreachable, match="Out of memory"):
        far.open().refresh()
    far.git("update-ref", f"refs/heads/{far.branch}", before)
    near.refresh()
    near.publish(ADA, more := Chain(ADA).lines(3)[2:])
    assert read(near) == {ADA: mine + more, BOB: lines}
    packs = (tmp_path / "near-1/clone.git/objects/pack").iterdir()
    assert sum(path.stat().st_size for path in packs) < 100_000
    near.close()
