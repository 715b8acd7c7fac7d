"""A session lives while its lock is held, and a work item has one (section 2.2)."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import DmpError
from replica.home import locks
from replica.home.dispatchers import LockedDispatchers
from replica.host.sessions import Session
from replica.node import DirectoryNode, Node
from replica.records.commits import CommitPoint

TASK = "task:t-0000aa"

HOLD = """
import sys
from pathlib import Path
from replica.home import locks
lock = locks.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def make(node: Node, task: str | None = TASK) -> Session:
    with node.store.transaction(CommitPoint.SESSION):
        return node.host.sessions_here.make(node.random, task, None, now=node.now())


def begin(node: Node, session: Session) -> None:
    with node.store.transaction(CommitPoint.SESSION):
        node.host.sessions_here.begin(session)


def test_a_session_that_was_made_is_not_live(node: Node) -> None:
    made = make(node)
    assert not node.host.is_live(made.address)
    assert node.host.live_session(TASK) is None
    assert (node.host.work_item(made.address), node.host.sessions(TASK)) == (TASK, [made.address])


def test_a_session_lives_while_its_lock_is_held_and_it_was_begun(node: Node) -> None:
    made = make(node)
    lock = node.host.sessions_here.hold(made.address)
    assert not node.host.is_live(made.address)
    begin(node, made)
    assert node.host.is_live(made.address)
    assert node.host.live_session(TASK) == made.address
    lock.release()
    assert not node.host.is_live(made.address)
    assert node.host.live_session(TASK) is None


def test_a_session_whose_process_is_gone_is_marked_ended_by_whoever_acts_next(node: Node) -> None:
    made = make(node)
    lock = node.host.sessions_here.hold(made.address)
    begin(node, made)
    lock.release()
    assert node.host.sessions_here.need(made.address).marked_live
    node.take_up()
    ended = node.host.sessions_here.need(made.address)
    assert (ended.marked_live, ended.ended_at) == (False, node.now())


def test_a_second_session_of_a_work_item_does_not_begin(node: Node) -> None:
    one, other, auxiliary = make(node), make(node), make(node, None)
    here = node.host.sessions_here
    held = [here.hold(each.address) for each in (one, other, auxiliary)]
    begin(node, one)
    with pytest.raises(DmpError, match="one at a time"):
        begin(node, other)
    begin(node, auxiliary)
    assert [here.is_live(each.address) for each in (one, other, auxiliary)] == [True, False, True]
    for lock in held:
        lock.release()


def test_an_auxiliary_session_stands_for_no_work_item(node: Node) -> None:
    assert node.host.work_item(make(node, None).address) is None
    assert node.host.work_item("run:r-ffffff") is None


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "one"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert locks.is_held(path)
    assert locks.take(path) is None
    holder.kill()
    holder.communicate()
    assert not locks.is_held(path)
    lock = locks.take(path)
    assert lock is not None
    lock.release()


def test_stale_lock_files_are_removed_and_held_ones_are_not(tmp_path: Path) -> None:
    held = locks.take(tmp_path / "held")
    (tmp_path / "stale").touch()
    locks.remove_stale(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
    assert held is not None
    held.release()
    held.release()
    assert list(tmp_path.iterdir()) == []


def test_a_dispatcher_takes_its_name_when_it_first_needs_one(tmp_path: Path) -> None:
    one, other = LockedDispatchers(tmp_path / "d"), LockedDispatchers(tmp_path / "d")
    assert not (tmp_path / "d").exists()
    assert one.me() == one.me() != other.me()
    assert one.lives(other.me())
    assert other.lives(one.me())
    name = one.me()
    one.close()
    assert not other.lives(name)
    assert not other.lives("nobody")
    other.close()
    assert list((tmp_path / "d").iterdir()) == []


def test_opening_a_replica_makes_no_lock_file(node: DirectoryNode) -> None:
    node.take_up()
    assert not node.directory.dispatchers.exists()
    assert not node.directory.sessions.exists()
