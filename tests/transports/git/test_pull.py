"""What a pull reads, in which order, and what it leaves for later (federation wire 6.13, 6.14)."""

from pathlib import Path

import pytest

from tests.transports.git.repo import FILE, TREE, GitFarSide
from tests.transports.ops import ADA, BOB, CAL, Chain, seq
from transports.base import Pull
from transports.git import GitTransport, Limits
from transports.git.objects import Objects

SMALL = Limits(replica_bytes=3_000, opening_bytes=0, strangers=5)


def junk(replica: str, size: int) -> bytes:
    """Return a line of the lane that no chain will ever hold."""
    start = f'{{"replica":"{replica}","seq":9007199254740991,"x":"'.encode()
    return start + b"x" * (size - len(start) - 2) + b'"}'


def seqs(pull: Pull, replica: str) -> list[int]:
    return sorted(seq(line.raw) for line in pull if line.replica == replica)


def opened(far: GitFarSide) -> GitTransport:
    near = far.open()
    near.refresh()
    return near


def blobs_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that the object ids of all blobs read from now on are added to."""
    read: list[str] = []
    original = Objects.read

    def reading(self: Objects, oid: str, kind: str, limit: int) -> bytes:
        if kind == "blob":
            read.append(oid)
        return original(self, oid, kind, limit)

    monkeypatch.setattr(Objects, "read", reading)
    return read


def test_a_pull_with_nothing_new_reads_no_segment(
    far: GitFarSide, near: GitTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    near.publish(ADA, Chain(ADA).lines(2500))
    near.publish(BOB, Chain(BOB).lines(3))
    list(near.pull({}))
    read = blobs_read(monkeypatch)
    near.refresh()
    assert len(list(near.pull({ADA: 2500, BOB: 3}))) == 2
    assert len(list(near.lane(ADA, 2500))) == 1
    later = far.open("near-1")  # another process, which finds what the first one remembered
    later.refresh()
    assert len(list(later.pull({ADA: 2500, BOB: 3}))) == 2
    assert read == []
    later.close()


def test_of_a_long_lane_only_the_segment_that_grew_is_read(
    near: GitTransport, far: GitFarSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = Chain(ADA)
    near.publish(ADA, ada.lines(2500))
    list(near.pull({}))
    near.publish(ADA, new := ada.lines(2))
    read = blobs_read(monkeypatch)
    assert sorted(line.raw for line in near.pull({ADA: 2501})) == sorted(new)
    assert read == [far.files()[f"fed/{ADA}/000000002001.jsonl"]]


def test_what_was_remembered_is_forgotten_when_a_segment_is_rewritten(
    far: GitFarSide, near: GitTransport
) -> None:
    mine, rival = Chain(ADA).lines(3), Chain(ADA).lines(3, "rival")
    near.publish(ADA, mine)
    assert seqs(near.pull({}), ADA) == [1, 2, 3]
    data = b"".join(raw + b"\n" for raw in rival)
    far.write({ADA: (TREE, far.tree({"000000000001.jsonl": (FILE, far.blob(data))}))})
    near.refresh()
    assert sorted(line.raw for line in near.pull({ADA: 2})) == sorted(rival[1:])


def test_the_same_segment_in_two_lanes_is_read_for_each(far: GitFarSide, near: GitTransport) -> None:
    both = far.blob(Chain(ADA).next() + b"\n" + Chain(BOB).next() + b"\n")
    lane = far.tree({"000000000001.jsonl": (FILE, both)})
    far.write({ADA: (TREE, lane), BOB: (TREE, lane)})
    near.refresh()
    for _ in range(2):
        assert sorted(line.replica for line in near.pull({})) == [ADA, BOB]


def test_t1_a_lane_that_is_held_is_read_again_from_the_same_seq(near: GitTransport) -> None:
    near.publish(ADA, Chain(ADA).lines(5))
    for _ in range(3):
        assert seqs(near.pull({ADA: 2}), ADA) == [2, 3, 4, 5]
    assert seqs(near.pull({ADA: 5}), ADA) == [5]
    assert seqs(near.pull({ADA: 2}), ADA) == [2, 3, 4, 5]


def test_t3_a_long_lane_of_a_teammate_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=SMALL)
    ada = Chain(ADA)
    for _ in range(6):
        far.put(ADA, *ada.lines(2, "x" * 800))
    far.put(BOB, *Chain(BOB).lines(2))
    near = opened(far)
    since, got = {ADA: 1, BOB: 1}, []
    for _ in range(10):
        pull = near.pull(since, budget=100_000)
        lines = list(pull)
        assert any(line.replica == BOB for line in lines)
        got += [seq(line.raw) for line in lines if line.replica == ADA]
        since[ADA] = max(got)
        if not pull.report.more:
            break
    assert sorted(set(got)) == list(range(1, 13))
    near.close()


def test_t3_junk_in_front_of_an_op_delays_it_and_no_more(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=SMALL)
    for _ in range(6):
        far.put(ADA, junk(ADA, 2_000))
    far.put(ADA, *Chain(ADA).lines(1))
    for process in range(6):
        near = opened(far) if not process % 2 else far.open("near-1")
        found = seqs(near.pull({ADA: 0}, budget=100_000), ADA)
        near.close()
        if 1 in found:
            return
    pytest.fail("the op never arrived")


def test_t3_strangers_with_much_to_say_do_not_hide_one_with_little(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=SMALL)
    for number in range(4):
        far.put(f"a{number}-0000000f", junk(f"a{number}-0000000f", 2_000))
    far.put(CAL, *Chain(CAL).lines(1))
    near = opened(far)
    pull = near.pull({}, budget=2_000)
    assert seqs(pull, CAL) == [1]
    assert pull.report.more
    near.close()


def test_t3_each_of_many_strangers_has_its_turn(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=SMALL)
    names = [f"x{number}-0000000f" for number in range(12)]
    for name in names:
        far.put(name, junk(name, 1_500))
    near = opened(far)
    seen: set[str] = set()
    for _ in range(8):
        pull = near.pull({}, budget=4_000)
        seen |= {line.replica for line in pull}
        assert pull.report.more
    assert seen == set(names)
    near.close()


def test_t3_lanes_that_share_one_folder_of_many_segments_cost_no_more_than_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = GitFarSide(tmp_path)
    tiny = far.blob(junk(CAL, 100) + b"\n")
    shared = far.tree({f"{number:012d}.jsonl": (FILE, tiny) for number in range(1, 301)})
    far.write({f"x{number:02d}-0000000f": (TREE, shared) for number in range(20)})
    far.put(BOB, *Chain(BOB).lines(2))
    near = opened(far)
    read = blobs_read(monkeypatch)
    pull = near.pull({BOB: 1}, budget=1024 * 1024)
    assert seqs(pull, BOB) == [1, 2]
    assert pull.report.more
    assert len(read) <= 129  # 1 MiB in pieces of 8 KiB, and the one in hand
    near.close()


def test_a_pull_without_a_budget_reads_lanes_and_segments_in_the_order_of_their_names(
    tmp_path: Path,
) -> None:
    far = GitFarSide(tmp_path, limits=SMALL)
    for name in (CAL, ADA, BOB):
        chain = Chain(name)
        for _ in range(4):
            far.put(name, *chain.lines(2, "x" * 1_000))
    near = opened(far)
    pull = near.pull({}, budget=None)
    found = [(line.replica, seq(line.raw)) for line in pull]
    assert found == [(name, number) for name in (ADA, BOB, CAL) for number in range(1, 9)]
    assert not pull.report.more
    near.close()


def test_a_pull_that_is_not_finished_harms_no_later_one(near: GitTransport) -> None:
    near.publish(ADA, Chain(ADA).lines(5))
    near.publish(BOB, Chain(BOB).lines(5))
    unfinished = near.pull({})
    next(unfinished)
    assert seqs(near.pull({}), ADA) == [1, 2, 3, 4, 5]
    assert len(list(unfinished)) == 9
