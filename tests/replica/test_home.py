"""The replica's directory: whose it is, who may read its keys, and what an interrupted `init` leaves."""

import errno
import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

import pytest

from core.errors import Code, DmpError
from replica import node as node_module
from replica.home.keyfile import Identity, read_key_file, write_key_file
from replica.node import create, opened

TraceFunction: TypeAlias = Callable[[FrameType, str, Any], Any]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_keys_and_store_are_their_owners_alone(tmp_path: Path) -> None:
    os.umask(0o022)
    root = tmp_path / "ada"
    replica = create(root, "ada")
    assert mode(root / "keys") == 0o700
    assert mode(root / "keys" / "replica.json") == 0o600
    assert mode(root / "state.db") == 0o600
    content = json.loads((root / "keys" / "replica.json").read_text())
    assert content["v"] == 1
    assert content["replica"] == replica
    assert set(content) == {"v", "replica", "signPriv", "signPub", "sealPriv", "sealPub", "createdAt"}


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_keys_that_others_can_read_are_refused(tmp_path: Path, bits: int) -> None:
    root = tmp_path / "ada"
    create(root, "ada")
    (root / "keys" / "replica.json").chmod(bits)
    with pytest.raises(DmpError) as refused, opened(root):
        pass
    assert refused.value.code is Code.FORBIDDEN
    assert "chmod 600" in refused.value.message


def test_a_key_folder_others_can_write_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "ada"
    create(root, "ada")
    (root / "keys").chmod(0o777)
    with pytest.raises(DmpError) as refused, opened(root):
        pass
    assert refused.value.code is Code.FORBIDDEN


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"replica": "ada-0000000a"}', "\x00"])
def test_a_damaged_key_file_is_refused_and_kept(tmp_path: Path, damage: str) -> None:
    root = tmp_path / "ada"
    create(root, "ada")
    path = root / "keys" / "replica.json"
    path.write_text(damage)
    with pytest.raises(DmpError) as refused:
        read_key_file(path)
    assert refused.value.code is Code.INVALID
    assert path.read_text() == damage


def test_a_directory_holds_one_replica(tmp_path: Path) -> None:
    root = tmp_path / "ada"
    create(root, "ada")
    keys = (root / "keys" / "replica.json").read_bytes()
    with pytest.raises(DmpError) as refused:
        create(root, "bob")
    assert refused.value.code is Code.CONFLICT
    assert (root / "keys" / "replica.json").read_bytes() == keys


def test_keys_beside_another_replicas_store_are_refused(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada")
    create(tmp_path / "bob", "bob")
    (tmp_path / "ada" / "state.db").replace(tmp_path / "bob" / "state.db")
    with pytest.raises(DmpError) as refused, opened(tmp_path / "bob"):
        pass
    assert refused.value.code is Code.INVALID


def test_an_init_cut_short_before_its_keys_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ada"

    def dies(*_given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(node_module, "write_key_file", dies)
        with pytest.raises(KeyboardInterrupt):
            create(root, "ada")
    replica = create(root, "ada")
    with opened(root) as node:
        assert node.me == replica


def test_an_init_that_is_killed_at_any_step_leaves_no_keys_or_whole_ones(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada")
    identity = read_key_file(tmp_path / "ada" / "keys" / "replica.json")
    for step in count(1):
        keys = tmp_path / str(step)
        keys.mkdir(mode=0o700)
        if not _is_killed_writing(keys / "replica.json", identity, step):
            break
        if not (keys / "replica.json").exists():
            write_key_file(keys / "replica.json", identity)
        assert read_key_file(keys / "replica.json").replica == identity.replica
        assert [each.name for each in keys.iterdir()] == ["replica.json"]
    assert step > 20


_STEPS: Final = {"write_key_file", "_write", "_locked"}


def _is_killed_writing(path: Path, identity: Identity, step: int) -> bool:
    """Write keys in a process of its own, which is killed at a step: a line of what writes them."""
    child = os.fork()
    if child == 0:
        left = step

        def trace(frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
            nonlocal left
            if frame.f_code.co_name not in _STEPS or "replica" not in frame.f_code.co_filename:
                return None
            left -= event == "line"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            write_key_file(path, identity)
        finally:
            os._exit(0)  # or the tests would go on here as well
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("handle", ["", "Ada", "a da", "-ada", "ada/..", "é", "a" * 65, "ada\n"])
def test_a_handle_outside_the_grammar_makes_nothing(tmp_path: Path, handle: str) -> None:
    with pytest.raises(DmpError) as refused:
        create(tmp_path / "x", handle)
    assert (refused.value.code, refused.value.field) == (Code.INVALID, "handle")
    assert not (tmp_path / "x").exists()


def test_an_init_that_cannot_write_its_keys_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", _fail_with_a_full_disk)
        with pytest.raises(OSError, match="full"):
            create(tmp_path / "ada", "ada")
    with pytest.raises(DmpError) as missing, opened(tmp_path / "ada"):
        pass
    assert missing.value.code is Code.NOT_FOUND
    replica = create(tmp_path / "ada", "ada")
    with opened(tmp_path / "ada") as node:
        assert node.me == replica


def _fail_with_a_full_disk(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "the disk is full")


def test_two_replicas_of_one_person_have_different_ids_and_keys(tmp_path: Path) -> None:
    ids = {create(tmp_path / name, "ada") for name in ("one", "two")}
    keys = {read_key_file(tmp_path / name / "keys" / "replica.json").fingerprint for name in ("one", "two")}
    assert len(ids) == len(keys) == 2


@pytest.mark.parametrize("gone", ["keys/replica.json", "state.db"])
def test_a_replica_that_lost_a_file_says_which_and_makes_no_other(tmp_path: Path, gone: str) -> None:
    root = tmp_path / "ada"
    create(root, "ada")
    for path in root.glob(f"{gone}*"):
        path.unlink()
    before = sorted(root.rglob("*"))
    with pytest.raises(DmpError) as refused, opened(root):
        pass
    assert refused.value.code is Code.NOT_FOUND
    assert f"{root / gone} is gone" in refused.value.message
    assert sorted(root.rglob("*")) == before


def test_there_is_no_replica_where_nothing_was_made(tmp_path: Path) -> None:
    with pytest.raises(DmpError) as refused, opened(tmp_path):
        pass
    assert refused.value.code is Code.NOT_FOUND
    assert list(tmp_path.iterdir()) == []
