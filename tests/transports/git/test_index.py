"""What pulls remember of segments, in a file that may vanish, break or be shared."""

import sqlite3
from contextlib import closing
from pathlib import Path

from transports.git.index import SegmentIndex, Turn
from transports.git.segments import Note, Scan

SCAN = Scan("0" * 40, 100, 3, 2, (b"a", b""), (Note(1, 2, "not JSON"),))
TURNS = {"ada-0000000a": Turn(3, 7, "000000000001.jsonl"), "Ada-0000000a": Turn(1, 0, "")}


def test_what_is_remembered_is_found_again(tmp_path: Path) -> None:
    scans = {"1": SCAN, "2": Scan("1" * 40, 0, 0, -1, (), ()), "3": Scan("2" * 40, 5, 1, 9, None, ())}
    with closing(SegmentIndex(tmp_path / "index")) as index:
        index.remember("ada-0000000a", scans)
        index.set_turns(TURNS)
    with closing(SegmentIndex(tmp_path / "index")) as index:
        assert index.scans("ada-0000000a") == scans
        assert index.scans("Ada-0000000a") == {}
        assert index.turns() == TURNS


def test_two_processes_share_it(tmp_path: Path) -> None:
    with closing(SegmentIndex(tmp_path / "index")) as one, closing(SegmentIndex(tmp_path / "index")) as two:
        one.remember("ada-0000000a", {"1": SCAN})
        two.remember("ada-0000000a", {"2": SCAN})
        assert one.scans("ada-0000000a") == two.scans("ada-0000000a") == {"1": SCAN, "2": SCAN}


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "index")) as db:
        db.executescript("CREATE TABLE segments (lane, name); PRAGMA user_version = 99;")
    with closing(SegmentIndex(tmp_path / "index")) as index:
        index.remember("ada-0000000a", {"1": SCAN})
        assert index.scans("ada-0000000a") == {"1": SCAN}


def test_an_index_that_breaks_while_it_is_open_is_made_anew(tmp_path: Path) -> None:
    with closing(SegmentIndex(tmp_path / "index")) as index:
        index.remember("ada-0000000a", {"1": SCAN})
        with closing(sqlite3.connect(tmp_path / "index")) as db:
            db.executescript("UPDATE segments SET notes = '{'")
        assert index.scans("ada-0000000a") == {}
        index.remember("ada-0000000a", {"1": SCAN})
        assert index.scans("ada-0000000a") == {"1": SCAN}


def test_where_no_file_can_be_it_forgets_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "x").write_bytes(b"")
    with closing(SegmentIndex(tmp_path / "index")) as index:
        index.remember("ada-0000000a", {"1": SCAN})
        assert index.scans("ada-0000000a") == {"1": SCAN}
