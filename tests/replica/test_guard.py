"""A copied or restored replica never forks its chain (threats R1-R5)."""

import shutil
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from crypto.acks import Acks, sign_acks
from crypto.op import to_line
from replica.chain.guard import resume
from replica.home.directory import Directory
from replica.home.marker import Verdict, compare, describe, read_marker, state_folder
from replica.sync import WHOLE_MS
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange


def copy_of(w: World, machine: Machine, name: str) -> Path:
    """A copy of a machine's directory, as a backup takes it."""
    folder = w.folder / name
    machine.node.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(machine.directory.root, folder)
    return folder


def assert_one_history(machine: Machine) -> None:
    """No two ops on the far side that the machine's key signed share a seq."""
    seen: dict[int, bytes] = {}
    for raw in machine.lane():
        seq = int(raw.split(b'"seq":')[1].split(b",")[0])
        assert seen.setdefault(seq, raw) == raw


def test_r1_a_replica_stops_at_an_op_under_its_key_that_it_did_not_sign(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    thief = Forger(ada)
    thief.publish(thief.mail(bob, body="not mine"))
    ada.send("human:bob", "mine")
    for _ in range(2):
        with pytest.raises(DmpError) as stopped:
            ada.sync()
        assert stopped.value.code is Code.CONFLICT
        assert "dmp init" in stopped.value.message
    assert "own:stopped" in ada.problems()
    assert ada.count("outbox") == 1  # the mail waits; nothing was signed


def test_r1_junk_in_the_own_lane_stops_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    forger = Forger(bob)
    foreign = to_line(forger.mail(ada)).replace(bob.me.encode(), ada.me.encode())
    w.remote.put(ada.me, foreign, b"{}", b"junk", b'{"replica":"%s","seq":99}' % ada.me.encode())
    ada.send("human:bob", "hello")
    exchange(ada, bob)
    assert bob.bodies() == ["hello"]


def test_r3_a_store_restored_from_before_what_it_published_signs_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    backup = copy_of(w, ada, "backup")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    bob.answer(question, "yes")
    exchange(bob, ada)
    restored = w.open(backup)
    restored.send("human:bob", "from the past")
    with pytest.raises(DmpError) as stopped:
        restored.sync()
    assert stopped.value.code is Code.CONFLICT
    assert_one_history(ada)


def test_r4_of_two_live_copies_the_one_that_loses_the_race_stops_and_nothing_forks(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    twin = w.open(copy_of(w, ada, "twin"))
    ada.send("human:bob", "from the one")
    twin.send("human:bob", "from the other")
    ada.sync()
    with pytest.raises(DmpError):
        twin.sync()
    ada.send("human:bob", "still going")
    exchange(ada, bob)
    assert bob.bodies() == ["from the one", "still going"]
    assert_one_history(ada)


def test_r4_a_copy_that_signed_but_lost_the_push_stops_too(
    w: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sign the same seq; only one push can win, and the loser sees the winner's op before it tries again."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    twin = w.open(copy_of(w, ada, "twin"))
    ada.send("human:bob", "from the one")
    twin.send("human:bob", "from the other")
    original = twin.transport.publish

    def overtaken(*given: object, **more: object) -> None:
        twin.transport.publish = original  # type: ignore[method-assign]
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "the first machine"))
        ada.sync()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "the second machine"))
        original(*given, **more)  # type: ignore[arg-type]

    twin.transport.publish = overtaken  # type: ignore[method-assign]
    with pytest.raises(DmpError):
        twin.sync()
    exchange(ada, bob)
    assert bob.bodies() == ["from the one"]
    assert_one_history(ada)


def test_r2_a_store_older_than_this_machine_remembers_pauses_until_its_owner_says_so(w: World) -> None:
    """Signed but never published, then restored: the far side cannot tell, the marker can."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    backup = copy_of(w, ada, "backup")
    ada.send("human:bob", "signed, and lost on the way")
    ada.transport.publish = _lost  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        ada.sync()
    restored = w.open(backup)
    restored.send("human:bob", "after the restore")
    assert restored.sync().paused
    assert restored.count("outbox") == 1
    resume(restored.node)
    exchange(restored, bob)
    assert bob.bodies() == ["after the restore"]
    assert "own:paused" not in restored.problems()


def test_r2_a_teammate_that_acknowledges_more_than_was_signed_pauses_it_and_can_be_overridden(
    w: World,
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    acks = sign_acks(Acks(bob.me, {ada.me: 999}, "now"), bob.node.identity.secrets.signer)
    bob.transport.refresh()
    bob.transport.publish(bob.me, [], acks=acks)
    ada.send("human:bob", "hello")
    assert ada.sync().paused
    assert bob.me in ada.problems()["own:paused"]
    resume(ada.node)
    assert ada.sync().paused is None
    bob.sync()
    assert bob.bodies() == ["hello"]


def test_no_word_undoes_a_stop(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    thief = Forger(ada)
    thief.publish(thief.mail(bob))
    with pytest.raises(DmpError):
        ada.sync()
    with pytest.raises(DmpError):
        resume(ada.node)


def test_a_marker_tells_a_copy_a_move_and_a_restore(w: World) -> None:
    (ada,) = w.team("ada")
    known = read_marker(state_folder(), ada.me)
    root = ada.directory.root
    assert known is not None
    now = describe(root, known.seq, known.hash)
    assert compare(known, now) is Verdict.SAME
    assert compare(None, now) is Verdict.NEW
    assert compare(known, describe(root, known.seq - 1, known.hash)) is Verdict.OLDER
    assert compare(known, describe(root, known.seq, "0" * 64)) is Verdict.OLDER
    assert compare(known, describe(copy_of(w, ada, "copy"), known.seq, known.hash)) is Verdict.MOVED


def test_own_ops_the_far_side_lost_are_published_again_as_they_were(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "hello")
    ada.sync()
    before = ada.lane()
    w.remote.roll_back(1)
    ada.sync()
    assert sorted(set(ada.lane())) == sorted(set(before))
    bob.sync()
    assert bob.bodies() == ["hello"]


def test_r6_one_process_at_a_time_signs_in_a_directory(w: World) -> None:
    (ada,) = w.team("ada")
    directory = Directory(ada.directory.root)
    ticks = iter(range(100))
    with (
        ada.directory.sync_lock(1.0),
        pytest.raises(DmpError) as busy,
        directory.sync_lock(5.0, now=lambda: float(next(ticks)), sleep=lambda _: None),
    ):
        pass
    assert busy.value.code is Code.UNAVAILABLE


def _lost(*_given: object, **_more: object) -> None:
    raise RuntimeError("the power went out")


def test_an_own_op_damaged_on_the_far_side_is_published_again_until_everyone_has_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    for number in range(3):
        ada.send("human:bob", f"letter {number}")
    ada.sync()
    lanes = {bob.me: bob.lane(), ada.me: ada.lane()}
    damaged = lanes[ada.me][-2]
    lanes[ada.me][-2] = damaged.replace(b'"ct":"', b'"ct":"A', 1)
    w.remote.roll_back(10**6)
    for replica, lines in lanes.items():
        w.remote.put(replica, *lines)
    bob.sync()
    assert bob.bodies() == ["letter 0"]
    exchange(ada, bob)
    assert bob.bodies() == ["letter 0", "letter 1", "letter 2"]
    exchange(ada, bob)
    assert ada.lane().count(damaged) == 1


def test_what_a_paused_replica_found_missing_is_published_again_once_it_goes_on(w: World) -> None:
    """All acknowledged it long ago, so that only the daily reading of its whole lane shows that it is gone."""
    ada, bob = w.team("ada", "bob")
    for number in range(3):
        ada.send("human:bob", f"letter {number}")
        exchange(ada, bob)
    whole = ada.lane()
    lanes = {bob.me: bob.lane(), ada.me: whole[:-3] + whole[-2:]}
    w.remote.roll_back(10**6)
    for replica, lines in lanes.items():
        w.remote.put(replica, *lines)
    ahead = sign_acks(Acks(bob.me, {ada.me: 999}, "now"), bob.node.identity.secrets.signer)
    bob.transport.refresh()
    bob.transport.publish(bob.me, [], acks=ahead)
    ada.clock.ms += WHOLE_MS
    assert ada.sync().paused
    resume(ada.node)
    ada.sync()
    assert sorted(ada.lane()) == sorted([*whole, *ada.lane()[len(whole) :]])
