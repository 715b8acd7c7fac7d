"""The clone survives damage, killed processes, company, and the settings of the person it runs for."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transports.contract import read
from tests.transports.git.repo import GitFarSide
from tests.transports.ops import ADA, BOB, Chain
from transports.base import Behind, Refused, Unreachable
from transports.git import GitTransport, Limits
from transports.remotes import Source, parse_remote

ROOT = Path(__file__).parents[3]


def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let this be the configuration of the person who runs the tests."""
    path = tmp_path / "gitconfig"
    path.write_text(text)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))


def publisher(far: GitFarSide, directory: Path, replica: str, count: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.transports.git.publisher"]
    return subprocess.Popen(
        [*command, str(far.bare), str(directory), replica, str(count)], cwd=ROOT, stderr=subprocess.PIPE
    )


def leftovers(directory: Path) -> list[str]:
    """Return the locks and half-written packs in a transport's directory."""
    clone = directory / "clone.git"
    return [
        path.name
        for path in clone.rglob("*")
        if path.suffix == ".lock" or path.name.startswith(("tmp_pack", "tmp_idx", ".tmp"))
    ]


# Damage


def remove_head(clone: Path) -> None:
    (clone / "HEAD").unlink()


def empty_head(clone: Path) -> None:
    (clone / "HEAD").write_bytes(b"")


def spoil_config(clone: Path) -> None:
    (clone / "config").write_bytes(b"\x00[[[")


def spoil_refs(clone: Path) -> None:
    for ref in (clone / "refs" / "dmp").iterdir():
        ref.write_bytes(b"garbage")


def point_refs_nowhere(clone: Path) -> None:
    for ref in (clone / "refs" / "dmp").iterdir():
        ref.write_bytes(b"1" * 40 + b"\n")


def remove_objects(clone: Path) -> None:
    shutil.rmtree(clone / "objects")


def empty_objects(clone: Path) -> None:
    for path in (clone / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"")


def truncate_objects(clone: Path) -> None:
    for path in (clone / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(path.read_bytes()[:60])


def remove_it(clone: Path) -> None:
    shutil.rmtree(clone)


def make_it_a_file(clone: Path) -> None:
    shutil.rmtree(clone)
    clone.write_bytes(b"")


DAMAGE = [
    remove_head,
    empty_head,
    spoil_config,
    spoil_refs,
    point_refs_nowhere,
    remove_objects,
    empty_objects,
    truncate_objects,
    remove_it,
    make_it_a_file,
]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("is_open", [True, False], ids=["while open", "between runs"])
def test_a_damaged_clone_is_fetched_anew(
    far: GitFarSide, near: GitTransport, damage: Callable[[Path], None], is_open: bool
) -> None:
    ada, bob = Chain(ADA), Chain(BOB)
    near.publish(ADA, first := ada.lines(3))
    other = far.open()
    other.refresh()
    assert read(other) == {ADA: first}
    if not is_open:
        other.close()
    damage(far.folder / "near-2" / "clone.git")
    if not is_open:
        other = far.open("near-2")
    near.publish(ADA, second := ada.lines(1))
    other.refresh()
    assert read(other) == {ADA: first + second}
    other.publish(BOB, bobs := bob.lines(1))
    near.refresh()
    assert read(near) == {ADA: first + second, BOB: bobs}
    other.close()


def test_damage_that_a_pull_meets_is_mended_by_the_next_refresh(far: GitFarSide, near: GitTransport) -> None:
    near.publish(ADA, lines := Chain(ADA).lines(3))
    oid = far.files()[f"fed/{ADA}/000000000001.jsonl"]
    (far.folder / "near-1/clone.git/objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(Unreachable, match="damaged"):
        read(near)
    near.refresh()
    assert read(near) == {ADA: lines}


@pytest.mark.parametrize("damage", [b"not a database", b"", b"SQLite format 3\x00" + bytes(5000)])
def test_a_damaged_index_is_made_anew(far: GitFarSide, near: GitTransport, damage: bytes) -> None:
    near.publish(ADA, lines := Chain(ADA).lines(3))
    assert read(near) == {ADA: lines}
    near.close()
    for suffix in ("-wal", "-shm"):
        (far.folder / f"near-1/index.sqlite{suffix}").unlink(missing_ok=True)
    (far.folder / "near-1/index.sqlite").write_bytes(damage)
    again = far.open("near-1")
    for _ in range(2):
        assert read(again) == {ADA: lines}
        assert [line.raw for line in again.pull({ADA: 3})] == lines[2:]
    again.close()


# Killed and interrupted


def test_what_a_killed_git_has_left_is_removed(far: GitFarSide, near: GitTransport) -> None:
    clone = far.folder / "near-1" / "clone.git"
    near.publish(ADA, Chain(ADA).lines(1))
    (ref,) = (clone / "refs" / "dmp").iterdir()
    for path in (
        *(clone / "config.lock", clone / "packed-refs.lock", clone / "shallow.lock", clone / "HEAD.lock"),
        *(
            ref.with_suffix(".lock"),
            clone / "objects/pack/tmp_pack_x",
            clone / "objects/pack/.tmp-1-pack-x.pack",
        ),
    ):
        path.write_bytes(b"left")
    far.put(BOB, *Chain(BOB).lines(1))
    near.refresh()
    near.publish(ADA, Chain(ADA).lines(2)[1:])
    assert leftovers(far.folder / "near-1") == []


def test_a_process_killed_during_its_push_harms_nothing(far: GitFarSide) -> None:
    lines = Chain(ADA).lines(1)
    started, go = far.folder / "started", far.folder / "go"
    for fifo in (started, go):
        os.mkfifo(fifo)
    far.hook("pre-receive", f"echo started > {started}\ncat {go} > /dev/null")
    process = publisher(far, far.folder / "near", ADA, 1)
    started.read_bytes()  # the remote has the objects and asks its hook
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (far.bare / "hooks" / "pre-receive").unlink()
    go.write_bytes(b"go")
    near = far.open("near")
    while True:  # the push may still arrive, as one more rival
        near.refresh()
        try:
            if not list(near.lane(ADA)):
                near.publish(ADA, lines)
            break
        except Behind:
            continue
    assert read(near) == {ADA: lines}
    assert leftovers(far.folder / "near") == []
    near.close()


def test_a_process_killed_during_its_fetch_harms_nothing(
    far: GitFarSide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far.put(BOB, *(lines := Chain(BOB).lines(200)))
    started = far.folder / "started"
    os.mkfifo(started)
    with monkeypatch.context() as patch:
        slow_pack(far, tmp_path, patch, f"head -c 2000; exec sh -c 'echo $$ > {started}; exec sleep 600'")
        process = publisher(far, far.folder / "near", ADA, 1)
        sleeper = int(started.read_bytes())
        process.send_signal(signal.SIGKILL)
        process.communicate()
    near = far.open("near")
    near.refresh()
    assert read(near) == {BOB: lines}
    near.close()
    os.kill(sleeper, signal.SIGKILL)
    for _ in range(1_000):  # git outlives the process that was killed, until it notices
        near = far.open("near")
        near.refresh()
        near.close()
        if not leftovers(far.folder / "near"):
            break
    assert leftovers(far.folder / "near") == []


def test_an_interrupt_ends_git_and_all_it_started(far: GitFarSide, near: GitTransport) -> None:
    ended = far.folder / "ended"
    far.hook("pre-receive", f"trap 'echo > {ended}; exit 1' TERM\nkill -INT {os.getpid()}\nsleep 600 & wait")
    with pytest.raises(KeyboardInterrupt):
        near.publish(ADA, Chain(ADA).lines(1))
    assert ended.exists()
    (far.bare / "hooks" / "pre-receive").unlink()
    near.refresh()
    near.publish(ADA, lines := Chain(ADA).lines(1))
    assert read(near) == {ADA: lines}


# Time and size


def slow_pack(far: GitFarSide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filter: str) -> None:
    """Let the remote send its pack through a shell command."""
    hook = tmp_path / "pack"
    hook.write_text(f'#!/bin/sh\n"$@" | ({filter})\n')
    hook.chmod(0o755)
    config(tmp_path, monkeypatch, f"[uploadpack]\npackObjectsHook = {hook}\n")


@pytest.mark.parametrize(
    ("limits", "said"),
    [(Limits(network_seconds=1), "in time"), (Limits(fetch_bytes=1000), "more than 1000 bytes")],
)
def test_t3_a_fetch_that_takes_too_long_or_brings_too_much_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits, said: str
) -> None:
    far = GitFarSide(tmp_path, limits=limits)
    far.put(BOB, *(lines := Chain(BOB).lines(200)))
    near = far.open()
    with monkeypatch.context() as patch:
        slow_pack(far, tmp_path, patch, "head -c 4000; exec sleep 600")
        with pytest.raises(Unreachable, match=said):
            near.refresh()
    assert read(near) == {}
    near.refresh()
    assert read(near) == {BOB: lines}
    assert leftovers(tmp_path / "near-1") == []
    near.close()


def test_many_packs_are_packed_together(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=Limits(packs=3))
    near, ada = far.open(), Chain(ADA)
    lines = []
    for _ in range(10):
        lines += ada.lines(1)
        far.put(ADA, lines[-1])
        near.refresh()
    packs = list((tmp_path / "near-1/clone.git/objects/pack").glob("*.pack"))
    assert len(packs) <= 4
    assert read(near) == {ADA: lines}
    near.close()


# Company


def test_two_processes_may_share_a_clone(far: GitFarSide) -> None:
    shared = far.folder / "near"
    processes = [publisher(far, shared, name, 8) for name in (ADA, BOB)]
    for process in processes:
        _, said = process.communicate()
        assert process.returncode == 0, said
    near = far.open("near")
    near.refresh()
    assert read(near) == {ADA: Chain(ADA).lines(8), BOB: Chain(BOB).lines(8)}
    near.close()


def test_two_branches_may_share_a_directory(far: GitFarSide) -> None:
    ours = far.open("near")
    far.branch = "another"
    theirs = far.open("near")
    for transport, name in ((ours, ADA), (theirs, BOB)):
        transport.refresh()
        transport.publish(name, Chain(name).lines(1))
    for transport, name in ((ours, ADA), (theirs, BOB)):
        transport.refresh()
        assert list(read(transport)) == [name]
        transport.close()


# What the remote's rules say


def test_a_hook_that_rejects_every_first_push_lets_the_second_through(
    far: GitFarSide, near: GitTransport
) -> None:
    mark = far.folder / "mark"
    far.hook(
        "update", f"if [ -e {mark} ]; then rm {mark}; exit 0; fi\ntouch {mark}\necho 'not yet' >&2\nexit 1"
    )
    ada = Chain(ADA)
    for _ in range(3):
        lines = ada.lines(1)
        near.refresh()
        with pytest.raises(Refused, match="not yet"):
            near.publish(ADA, lines)
        near.refresh()
        near.publish(ADA, lines)
    assert read(near) == {ADA: Chain(ADA).lines(3)}


def test_a_remote_that_refuses_for_good_is_quoted(far: GitFarSide, near: GitTransport) -> None:
    far.hook("pre-receive", "echo 'ask the \033[31madministrator' >&2; exit 1")
    with pytest.raises(Refused) as refusal:
        near.publish(ADA, Chain(ADA).lines(1))
    assert "ask the" in refusal.value.message
    assert "\x1b" not in refusal.value.message
    assert refusal.value.hint


def test_a_remote_that_does_not_exist_is_unreachable(tmp_path: Path) -> None:
    near = GitTransport(parse_remote(str(tmp_path / "none.git"), Source.TYPED), tmp_path / "near")
    with pytest.raises(Unreachable) as error:
        near.refresh()
    assert "none.git" in error.value.message
    assert "exists" in error.value.hint
    near.close()


# The person it runs for


def test_hooks_and_programs_in_the_person_s_configuration_do_not_run(
    far: GitFarSide, near: GitTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "reference-transaction", "post-commit", "pre-auto-gc"):
        (hooks / name).write_text(f'#!/bin/sh\necho {name} "$PWD" "$GIT_DIR" >> {ran}\n')
        (hooks / name).chmod(0o755)
    config(tmp_path, monkeypatch, f"[core]\nhooksPath = {hooks}\nfsmonitor = touch {ran}\n[gc]\nauto = 1\n")
    near.refresh()
    near.publish(ADA, Chain(ADA).lines(1), acks=b"acks")
    far.put(BOB, *Chain(BOB).lines(1))
    near.refresh()
    # The remote is a repository of this person too, and may run what is configured for it.
    lines = ran.read_text().splitlines() if ran.exists() else []
    assert [line for line in lines if "near-1" in line or str(far.bare) not in line] == []


def test_t4_the_person_s_configuration_cannot_lead_to_a_helper(
    far: GitFarSide, near: GitTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    text = f'[url "ext::sh -c touch% {ran}%"]\ninsteadOf = {far.bare}\n[protocol]\nallow = always\n'
    config(tmp_path, monkeypatch, text)
    with pytest.raises(Unreachable) as error:
        near.refresh()
    assert "not allowed" in error.value.message
    assert not ran.exists()


def test_it_works_inside_a_hook_of_another_repository(
    far: GitFarSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(far.folder / "elsewhere"))
    monkeypatch.setenv("GIT_NAMESPACE", "elsewhere")
    near = far.open()
    near.refresh()
    near.publish(ADA, lines := Chain(ADA).lines(1))
    near.refresh()
    assert read(near) == {ADA: lines}
    assert not (far.folder / "elsewhere").exists()
    assert "fed/ada-0000000a/000000000001.jsonl" in far.files()
    near.close()


def test_messages_are_understood_in_any_language(far: GitFarSide, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    near = far.open()
    assert near.refresh() == ""
    near.close()


def test_without_git_it_says_so(far: GitFarSide, near: GitTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(far.folder))
    with pytest.raises(Unreachable, match="git was not found"):
        near.refresh()


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unreachable, match="this machine"):
        GitTransport(parse_remote(str(tmp_path), Source.TYPED), tmp_path / "file" / "near")


def test_a_directory_named_from_where_one_stands_works_as_a_whole_path_does(
    far: GitFarSide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    transport = GitTransport(parse_remote(str(far.bare), Source.TYPED), Path("here") / "clone")
    transport.refresh()
    lines = Chain(ADA).lines(2)
    transport.publish(ADA, lines)
    assert read(transport) == {ADA: lines}
    transport.close()
