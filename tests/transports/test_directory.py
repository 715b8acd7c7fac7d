"""A directory of files that people copy, sync, share and pull out keeps what was published in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.transports.contract import read
from tests.transports.ops import ADA, BOB, Chain, seq
from transports import files
from transports.base import Behind, Unreachable
from transports.directory import FILE_BYTES, GROWN_BYTES, DirectoryTransport
from transports.opening import Opening, open_transport, read_address
from transports.remotes import RemoteError, Source

FIRST = "0000000000000001.jsonl"


def opened(root: Path) -> DirectoryTransport:
    transport = DirectoryTransport(root, lambda _: None)
    transport.refresh()
    return transport


def lane(root: Path, replica: str = ADA) -> Path:
    return root / "fed" / replica


def published(root: Path, lines: list[bytes], replica: str = ADA) -> None:
    opened(root).publish(replica, lines)


def test_a_directory_is_opened_by_its_address(tmp_path: Path) -> None:
    transport = open_transport(Opening(f"dir:{tmp_path}", Source.TYPED, tmp_path / "unused"))
    assert isinstance(transport, DirectoryTransport)
    assert transport.url == f"dir:{tmp_path}"


def test_a_path_in_an_address_may_be_relative_or_below_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    assert read_address("dir:mail", Source.TYPED) == f"dir:{tmp_path}/mail"
    assert read_address("dir:~/mail", Source.TYPED) == "dir:/home/ada/mail"
    assert read_address("dir:///srv/mail", Source.TYPED) == "dir:/srv/mail"


@pytest.mark.parametrize("text", ["dir:", "dir://host/mail", "dir:~nobody-at-all/x"])
def test_an_address_without_a_path_that_can_be_used_is_refused(text: str) -> None:
    with pytest.raises(RemoteError):
        read_address(text, Source.TYPED)


def test_a_directory_that_is_not_there_is_no_empty_one_and_is_not_made(tmp_path: Path) -> None:
    away = DirectoryTransport(tmp_path / "stick", lambda _: None)
    with pytest.raises(Unreachable, match="cannot be used: No such file"):
        away.refresh()
    with pytest.raises(Unreachable):
        away.publish(ADA, Chain(ADA).lines(1))
    assert not (tmp_path / "stick").exists()
    assert not away.watch(0.001)


def test_a_lane_grows_in_one_file_until_it_is_long_and_goes_on_in_another(tmp_path: Path) -> None:
    ada = Chain(ADA)
    lines = ada.lines(3)
    published(tmp_path, lines)
    for _ in range(4):
        published(tmp_path, new := ada.lines(2, "x" * (GROWN_BYTES // 3)))
        lines += new
    names = sorted(path.name for path in lane(tmp_path).iterdir() if path.suffix == ".jsonl")
    assert names[0] == FIRST
    assert len(names) == 3
    near = opened(tmp_path)
    assert read(near) == {ADA: lines}
    for since in range(1, 12):
        assert [seq(line.raw) for line in near.lane(ADA, since)] == [*range(since, 12)]


def test_lines_that_were_lost_are_found_after_they_are_published_again_behind_later_ones(
    tmp_path: Path,
) -> None:
    ada = Chain(ADA)
    early, late = ada.lines(20, "x" * 30_000), ada.lines(20, "x" * 30_000)
    published(tmp_path, early[:2])
    published(tmp_path, late)
    published(tmp_path, early[2:])
    near = opened(tmp_path)
    assert len(list(lane(tmp_path).glob("*.jsonl"))) > 3
    for since in range(1, 41):
        assert sorted(seq(line.raw) for line in near.lane(ADA, since)) == [*range(since, 41)]


def test_a_torn_copy_shows_its_whole_lines_and_the_rest_once_it_is_there(tmp_path: Path) -> None:
    lines = Chain(ADA).lines(3)
    published(tmp_path, lines)
    whole = (lane(tmp_path) / FIRST).read_bytes()
    (lane(tmp_path) / FIRST).write_bytes(whole[:-40])
    near = opened(tmp_path)
    pull = near.pull({})
    assert [line.raw for line in pull] == lines[:2]
    assert [note.reason for note in pull.report.skipped] == ["has no line feed at its end"]
    (lane(tmp_path) / FIRST).write_bytes(whole)
    near.refresh()
    assert read(near) == {ADA: lines}


def test_a_torn_line_of_one_s_own_is_written_over_by_the_next_publish(tmp_path: Path) -> None:
    lines = Chain(ADA).lines(4)
    published(tmp_path, lines[:3])
    torn = lane(tmp_path) / FIRST
    torn.write_bytes(torn.read_bytes()[:-40])
    published(tmp_path, lines[2:])
    assert torn.read_bytes() == b"".join(raw + b"\n" for raw in lines)


@pytest.mark.parametrize(
    "name",
    [
        "0000000000000001.sync-conflict-20260101-120000-ABCDEFG.jsonl",
        "0000000000000001 (bob's conflicted copy 2026-01-01).jsonl",
        "0000000000000001 (SFConflict ada@example.org 2026-01-01-12-00-00).jsonl",
        "0000000000000001_conflict-20260101-120000.jsonl",
        "0000000000000001-ADAS-LAPTOP.jsonl",
        "0000000000000001 2.jsonl",
        "0000000000000001~1.jsonl",
    ],
)
def test_what_a_sync_tool_put_aside_is_read_too_and_never_written_to(tmp_path: Path, name: str) -> None:
    ada = Chain(ADA)
    lines = ada.lines(3)
    published(tmp_path, lines[:2])
    aside = lane(tmp_path) / name
    aside.write_bytes(lines[0] + b"\n" + lines[2] + b"\n")
    near = opened(tmp_path)
    assert {line.raw for line in near.pull({})} == set(lines)
    published(tmp_path, ada.lines(1))
    assert aside.read_bytes() == lines[0] + b"\n" + lines[2] + b"\n"


@pytest.mark.parametrize(
    "name", [".DS_Store", "notes.txt", "1.jsonl", f"{FIRST}.part", "acks (conflict).json"]
)
def test_other_files_in_a_lane_are_nothing(tmp_path: Path, name: str) -> None:
    lines = Chain(ADA).lines(1)
    published(tmp_path, lines)
    (lane(tmp_path) / name).write_bytes(Chain(ADA).lines(2)[1] + b"\n")
    near = opened(tmp_path)
    assert (read(near), list(near.acks())) == ({ADA: lines}, [])


def test_no_link_is_followed_out_of_the_directory(tmp_path: Path) -> None:
    root, outside = tmp_path / "shared", tmp_path / "outside"
    root.mkdir()
    published(tmp_path, Chain(BOB).lines(1), BOB)
    outside.mkdir()
    (outside / FIRST).write_bytes(Chain(BOB).next() + b"\n")
    published(root, lines := Chain(ADA).lines(1))
    (root / "fed" / BOB).symlink_to(outside)
    (lane(root) / "0000000000000002.jsonl").symlink_to(outside / FIRST)
    (lane(root) / "acks.json").symlink_to(outside / FIRST)
    near = opened(root)
    assert (read(near), list(near.acks())) == ({ADA: lines}, [])
    with pytest.raises(Unreachable):
        near.publish(BOB, Chain(BOB).lines(1))
    assert [path.name for path in outside.iterdir()] == [FIRST]


def test_a_directory_whose_lanes_lead_elsewhere_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "fed").symlink_to("/")
    with pytest.raises(Unreachable):
        opened(tmp_path)


def test_t3_a_file_that_is_too_long_is_named_and_not_read(tmp_path: Path) -> None:
    published(tmp_path, lines := Chain(ADA).lines(1))
    with (lane(tmp_path) / "0000000000000002.jsonl").open("wb") as file:
        file.truncate(100 * FILE_BYTES)
    pull = opened(tmp_path).pull({})
    assert [line.raw for line in pull] == lines
    (note,) = pull.report.skipped
    assert (note.replica, note.place, note.line) == (ADA, f"fed/{ADA}/0000000000000002.jsonl", 0)
    assert "longer than 8 MiB" in note.reason
    published(tmp_path, more := Chain(ADA).lines(2)[1:])
    assert read(opened(tmp_path)) == {ADA: lines + more}


def test_t3_a_folder_with_names_without_end_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "NAMES", 20)
    lane(tmp_path).mkdir(parents=True)
    for number in range(30):
        (lane(tmp_path) / str(number)).touch()
    with pytest.raises(Unreachable, match="more than 20 names"):
        opened(tmp_path)


def test_t3_folders_with_files_without_end_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FILES", 20)
    for number in range(5):
        lane(tmp_path, f"p{number}-0000000a").mkdir(parents=True)
        for name in range(5):
            (lane(tmp_path, f"p{number}-0000000a") / str(name)).touch()
    with pytest.raises(Unreachable, match="more than 20 files"):
        opened(tmp_path)


def test_what_waits_to_be_written_is_never_waited_for(tmp_path: Path) -> None:
    lane(tmp_path).mkdir(parents=True)
    os.mkfifo(lane(tmp_path) / FIRST)
    assert read(opened(tmp_path)) == {}


def test_a_stick_that_is_pulled_out_while_it_is_written_to_holds_what_it_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = Chain(ADA)
    before, after = ada.lines(2), ada.lines(2)
    published(tmp_path, before)

    def fails(_handle: int) -> None:
        raise OSError(5, "Input/output error")

    near = opened(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        with pytest.raises(Unreachable, match="Input/output error"):
            near.publish(ADA, after)
    assert read(opened(tmp_path)) == {ADA: before}
    near.publish(ADA, after)
    assert read(opened(tmp_path)) == {ADA: before + after}


def test_what_a_process_that_died_was_writing_is_swept_by_the_next(tmp_path: Path) -> None:
    ada = Chain(ADA)
    before, after = ada.lines(2), ada.lines(1)
    published(tmp_path, before)
    program = (
        "import os, sys; from pathlib import Path; from transports.directory import DirectoryTransport\n"
        "os.rename = lambda *_, **__: os._exit(9)\n"
        "near = DirectoryTransport(Path(sys.argv[1])); near.refresh(); near.publish(sys.argv[2], [b'{}'])\n"
    )
    line = after[0].decode()
    program = program.replace("b'{}'", repr(line.encode()))
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path), ADA], check=False)
    assert done.returncode == 9
    assert [path for path in lane(tmp_path).iterdir() if path.name.startswith(".part-")]
    assert read(opened(tmp_path)) == {ADA: before}
    published(tmp_path, after)
    assert not [path for path in lane(tmp_path).iterdir() if path.name.startswith(".part-")]
    assert read(opened(tmp_path)) == {ADA: before + after}


def test_k8_ids_that_a_disk_could_confuse_have_folders_it_cannot(tmp_path: Path) -> None:
    for replica in ("Ada-0000000a", "ada-0000000a", "ADA-0000000a"):
        published(tmp_path, Chain(replica).lines(1), replica)
    names = [path.name for path in (tmp_path / "fed").iterdir()]
    assert len({name.casefold() for name in names}) == 3


def test_r6_two_processes_with_one_key_do_not_both_publish(tmp_path: Path) -> None:
    """Each refreshes before either has published; the lock and the look under it let one through."""
    near, twin = opened(tmp_path), opened(tmp_path)
    near.publish(ADA, mine := Chain(ADA).lines(1))
    with pytest.raises(Behind):
        twin.publish(ADA, Chain(ADA).lines(1, "twin"))
    assert read(opened(tmp_path)) == {ADA: mine}


def test_two_replicas_publish_at_once_without_waiting_for_one_another(tmp_path: Path) -> None:
    near, other = opened(tmp_path), opened(tmp_path)
    near.publish(ADA, ada := Chain(ADA).lines(1))
    other.publish(BOB, bob := Chain(BOB).lines(1))
    assert read(opened(tmp_path)) == {ADA: ada, BOB: bob}


def test_many_processes_publish_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.transports.ops import Chain\n"
        "from transports.directory import DirectoryTransport\n"
        "near, chain = DirectoryTransport(Path(sys.argv[1])), Chain(sys.argv[2])\n"
        "for _ in range(25):\n"
        "    near.refresh(); list(near.pull({})); near.publish(sys.argv[2], chain.lines(2), acks=b'acks')\n"
    )
    ids = [f"p{number}-0000000a" for number in range(4)]
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), each]) for each in ids]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    near = opened(tmp_path)
    assert read(near) == {each: Chain(each).lines(50) for each in ids}
    assert {line.replica for line in near.acks()} == {*ids}


def test_it_is_short_enough_to_be_read_in_one_go() -> None:
    assert len(Path(DirectoryTransport.refresh.__code__.co_filename).read_text().splitlines()) < 150
