"""Whatever is on a branch or in a directory is read within bounds, and what is well-formed in it is found.

Each test draws its cases from their numbers; a failing one is told by its number.
"""

import os
from hashlib import sha1
from pathlib import Path
from random import Random

import pytest

from crypto.keys import REPLICA_ID
from tests.transports import junk
from tests.transports.ops import ADA, BOB
from transports.base import Line, PullReport, TransportError
from transports.directory import DirectoryTransport
from transports.git import Limits
from transports.git.branch import Snapshot
from transports.git.index import SegmentIndex
from transports.git.objects import Header, UnreadableError, UnusableError
from transports.git.pull import Reading
from transports.git.segments import Scanner
from transports.git.tree import MalformedTreeError, lane, lanes, parse_tree, tree_bytes
from transports.lines import JunkError, is_blank, read_lines, seq_of

SEGMENTS = 20_000
TREES = 20_000
BRANCHES = 1_500
DIRECTORIES = 200


def expected(data: bytes, since: int) -> tuple[list[bytes], int]:
    """What a file of lines holds of Ada's lane from a seq on, and how much of it is junk, said the long way."""
    found, odd = [], 0
    *whole, torn = data.split(b"\n")
    for raw in whole:
        try:
            if not is_blank(raw) and seq_of(ADA, raw) >= since:
                found.append(raw)
        except JunkError:
            odd += 1
    return found, odd + bool(torn)


@pytest.mark.parametrize("part", range(4))
def test_a_file_of_lines_yields_the_well_formed_ones_and_a_word_on_the_rest(part: int) -> None:
    for case in range(part, SEGMENTS, 4):
        random = Random(f"segment-{case}")
        data, since = junk.lines_file(random), random.randrange(8)
        found, odd = expected(data, since)
        whole = (raw for raw in data.split(b"\n")[:-1] if raw in junk.WELL_FORMED)
        assert set(found) >= {raw for raw in whole if seq_of(ADA, raw) >= since}
        report = PullReport()
        assert [each.raw for each in read_lines(ADA, "place", data, since, report)] == found, case
        assert sum(each.count for each in report.skipped) == odd, case
        scanner = Scanner(ADA, "0" * 40, data, None)
        assert list(scanner.lines(since)) == found, case
        assert sum(note.count for note in scanner.result().notes) == odd, case


@pytest.mark.parametrize("part", range(2))
def test_t3_bytes_are_a_tree_that_is_written_as_it_was_read_or_are_refused(part: int) -> None:
    for case in range(part, TREES, 2):
        random = Random(f"tree-{case}")
        data = junk.bent(random, tree(random, [(name(random), "0" * 40) for _ in range(random.randrange(6))]))
        try:
            entries = parse_tree(data)
        except MalformedTreeError:
            continue
        assert b"".join(tree_bytes([entry]) for entry in entries) == data, case
        assert all(REPLICA_ID.fullmatch(replica) for replica in lanes(entries)), case
        assert all(len(segment) == 18 and segment.isascii() for segment, _ in lane(entries).segments), case


NAMES = (
    *(
        b"fed",
        ADA.encode(),
        BOB.encode(),
        b"ADA-0000000a",
        b"000000000001.jsonl",
        b"000000000002.jsonl",
        b"acks.json",
    ),
    *(
        b"..",
        b".git",
        b"-rf",
        b"a/b",
        b"\xff",
        b"README.md",
        b"1.jsonl",
        "٠٠٠٠٠٠٠٠٠٠٠١.jsonl".encode(),
        b"x" * 300,
    ),
)
MODES = (b"100644", b"40000", b"120000", b"160000", b"100755", b"0", b"777777")


def name(random: Random) -> bytes:
    return random.choice(NAMES)


def tree(random: Random, entries: list[tuple[bytes, str]]) -> bytes:
    modes = MODES[:3] if random.random() < 0.9 else MODES
    return b"".join(random.choice(modes) + b" " + one + b"\0" + bytes.fromhex(oid) for one, oid in entries)


class Branch:
    """The objects of a branch that somebody made by hand (transports.git.objects.Objects)."""

    def __init__(self, case: int) -> None:
        self._objects: dict[str, tuple[str, bytes]] = {}
        self._case = case
        self._random = random = Random(f"branch-{case}")
        segments = [self._add("blob", junk.lines_file(random)) for _ in range(3)]
        folders = [self._folder(segments) for _ in range(2)]
        fed = self._tree(
            [(ADA.encode(), folders[0]), *((name(random), random.choice(folders)) for _ in range(3))]
        )
        root = self._tree([(b"fed", fed), *((name(random), random.choice(folders)) for _ in range(2))])
        commit = b"tree " + root.encode() + b"\nauthor x\n\nsaid\n"
        self.tip = self._add("commit", junk.bent(random, commit) if random.random() < 0.2 else commit)

    def _folder(self, segments: list[str]) -> str:
        others = [(name(self._random), self._random.choice(segments)) for _ in range(3)]
        return self._tree([(b"000000000003.jsonl", segments[0]), *others])

    def _add(self, kind: str, data: bytes) -> str:
        oid = sha1(f"{self._case}-{len(self._objects)}".encode(), usedforsecurity=False).hexdigest()
        if self._random.random() > 0.02:
            self._objects[oid] = (kind if self._random.random() > 0.02 else "tag", data)
        return oid

    def _tree(self, entries: list[tuple[bytes, str]]) -> str:
        mode = {oid: b"40000" if kind == "tree" else b"100644" for oid, (kind, _) in self._objects.items()}
        data = b"".join(
            mode.get(oid, b"100644") + b" " + one + b"\0" + bytes.fromhex(oid) for one, oid in entries
        )
        return self._add("tree", junk.bent(self._random, data) if self._random.random() < 0.15 else data)

    def find(self, oid: str) -> Header | None:
        found = self._objects.get(oid)
        return None if found is None else Header(oid, found[0], len(found[1]))

    def read(self, oid: str, kind: str, limit: int) -> bytes:
        found = self.find(oid)
        if found is None:
            raise UnreadableError(f"{oid} is missing")
        if found.kind != kind or found.size > limit:
            raise UnusableError(f"is a {found.kind}")
        return self._objects[oid][1]


def test_t3_a_branch_of_any_shape_is_read_or_said_to_be_damaged(tmp_path: Path) -> None:
    read = damaged = 0
    index = SegmentIndex(tmp_path / "index.sqlite")
    for case in range(BRANCHES):
        branch = Branch(case)
        report = PullReport()
        snapshot = Snapshot(branch.tip, branch, Limits())  # type: ignore[arg-type]
        try:
            found = list(Reading(snapshot, index, report, None).all_lanes({}))
        except UnreadableError:
            damaged += 1
            continue
        assert all(seq_of(line.replica, line.raw) >= 0 for line in found), case
        read += bool(found)
    index.close()
    assert read > BRANCHES / 3
    assert damaged > BRANCHES / 50


FILES = (
    *("0000000000000001.jsonl", "0000000000000005.jsonl", "0000000000000001 (a conflict).jsonl", "acks.json"),
    *(
        "0000000000000001.sync-conflict-20260101-120000-ABCDEFG.jsonl",
        "0000000000000002~1.jsonl",
        ".part-0",
        ".DS_Store",
    ),
    *(
        "1.jsonl",
        "0000000000000001.jsonl.part",
        "desktop.ini",
        "9999999999999999.jsonl",
        "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠١.jsonl",
    ),
)


def litter(folder: Path, random: Random) -> None:
    """Put something of some kind where a file of a lane could be."""
    path = folder / random.choice(FILES)
    if path.exists() or path.is_symlink():
        return
    kind = random.randrange(8)
    if kind == 0:
        path.symlink_to(random.choice(("/etc/passwd", "..", ".", "/dev/zero", "missing", folder)))
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        path.mkdir()
    else:
        path.write_bytes(junk.lines_file(random))


@pytest.mark.parametrize("part", range(2))
def test_a_directory_of_any_content_is_read_and_goes_on_taking_lines(tmp_path: Path, part: int) -> None:
    for case in range(part, DIRECTORIES, 2):
        random = Random(f"directory-{case}")
        root = tmp_path / str(case)
        fed = root / "fed"
        for lane_name in (ADA, BOB, "%ada-0000000a", "ADA-0000000a", "..-0000000a", "strange"):
            if random.random() < 0.5:
                (fed / lane_name).mkdir(parents=True)
                for _ in range(random.randrange(5)):
                    litter(fed / lane_name, random)
        fed.mkdir(parents=True, exist_ok=True)
        if random.random() < 0.3:
            (fed / "cal-0000000c").symlink_to(random.choice(("/etc", "..", "missing")))
        near = DirectoryTransport(root, lambda _: None)
        near.refresh()
        found = list(near.pull({}, budget=None))
        assert all(seq_of(each.replica, each.raw) >= 0 for each in found), case
        assert {each.replica for each in found} <= {ADA, BOB, "Ada-0000000a", "..-0000000a"}, case
        assert all(len(each.raw) <= 1024 * 1024 for each in near.acks()), case
        try:
            near.publish(ADA, junk.WELL_FORMED[:3], acks=b"acks")
        except TransportError:  # something else is where its files should be
            continue
        other = DirectoryTransport(root, lambda _: None)
        other.refresh()
        assert {Line(ADA, raw) for raw in junk.WELL_FORMED[:3]} <= set(other.pull({}, budget=None)), case
        assert Line(ADA, b"acks") in set(other.acks()), case
