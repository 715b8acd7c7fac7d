"""What a faulty transport does to lines and calls, and that none of it lasts."""

from collections import Counter
from random import Random

import pytest

from crypto.clock import Reading
from crypto.op import ZERO_HASH, Op, Stub, make_op, read_entry, to_line
from tests.transports.contract import read
from tests.transports.ops import ADA, BOB, CAL, Chain, seq
from transports.base import Behind, Refused, Transport, Unreachable
from transports.faults import CALLS, HIDING, Fault, FaultyTransport, Step, drawn_steps
from transports.memory import MemoryRemote, MemoryTransport

LINES = 40


def far_side() -> tuple[MemoryRemote, list[bytes]]:
    remote = MemoryRemote()
    lines = Chain(ADA).lines(LINES)
    remote.put(ADA, *lines)
    remote.put(BOB, *Chain(BOB).lines(LINES))
    return remote, lines


def steps(*faults: Fault) -> list[Step]:
    """Steps in which some faults strike, those of whole calls once."""
    return [Step(frozenset(faults) - CALLS), Step(frozenset(faults) & CALLS, count=1)]


def struck(*faults: Fault, seed: int = 1) -> tuple[list[bytes], list[bytes], Counter[Fault]]:
    """Ada's lines, what arrived of them under faults, and how often each fault struck."""
    remote, lines = far_side()
    happened: Counter[Fault] = Counter()
    near = FaultyTransport(
        MemoryTransport(remote),
        steps(*faults),
        Random(seed),
        happened=lambda fault: happened.update((fault,)),
    )
    near.refresh()
    return lines, [line.raw for line in near.pull({}) if line.replica == ADA], happened


def test_without_faults_everything_arrives() -> None:
    lines, found, happened = struck()
    assert found == lines
    assert not happened


def test_drop_leaves_some_lines_out() -> None:
    lines, found, happened = struck(Fault.DROP)
    assert 0 < len(found) < LINES
    assert found == [line for line in lines if line in found]
    assert happened.keys() == {Fault.DROP}


def test_delay_leaves_the_newest_out() -> None:
    found = [struck(Fault.DELAY, seed=seed)[:2] for seed in range(8)]
    assert all(arrived == lines[: len(arrived)] for lines, arrived in found)
    assert any(0 < len(arrived) < LINES for _, arrived in found)


def test_withhold_leaves_a_lane_out() -> None:
    assert {len(struck(Fault.WITHHOLD, seed=seed)[1]) for seed in range(8)} == {0, LINES}


def test_duplicate_brings_lines_again() -> None:
    lines, found, _ = struck(Fault.DUPLICATE)
    assert len(found) > LINES
    assert set(found) == set(lines)


def test_reorder_changes_only_the_order() -> None:
    lines, found, _ = struck(Fault.REORDER)
    assert found != lines
    assert sorted(found) == sorted(lines)


def test_corrupt_changes_lines() -> None:
    lines, found, happened = struck(Fault.CORRUPT)
    assert len(found) == LINES
    changed = [one for one, other in zip(found, lines, strict=True) if one != other]
    assert 0 < len(changed) <= happened[Fault.CORRUPT]


def test_prune_brings_stubs_of_ops_that_may_be_pruned() -> None:
    lines, found, happened = struck(Fault.PRUNE)
    assert found == lines
    assert happened[Fault.PRUNE], "it struck, and no such op may be pruned"
    remote, told = MemoryRemote(), []
    for at in range(1, LINES):
        op = make_op(
            replica=ADA,
            seq=at,
            prev=ZERO_HASH,
            hlc=Reading(1, at, ADA),
            type="presence",
            signer=Chain(ADA).key,
            body={},
        )
        told.append(op)
        remote.put(ADA, to_line(op))
    near = FaultyTransport(MemoryTransport(remote), steps(Fault.PRUNE), Random(1))
    near.refresh()
    found_entries = [read_entry(line.raw) for line in near.pull({})]
    assert [entry.hash for entry in found_entries] == [op.hash for op in told]
    assert {type(entry) for entry in found_entries} == {Op, Stub}


def test_stale_shows_once_more_what_there_was() -> None:
    remote, lines = far_side()
    near = FaultyTransport(MemoryTransport(remote), steps(Fault.STALE), Random(1))
    near.refresh()
    remote.put(ADA, *Chain(ADA).lines(LINES + 1)[LINES:])
    near.refresh()
    assert len([line for line in near.pull({}) if line.replica == ADA]) == len(lines)
    near.refresh()
    assert len([line for line in near.pull({}) if line.replica == ADA]) == len(lines) + 1


@pytest.mark.parametrize("fault", sorted(HIDING))
def test_a_tip_that_hides_something_is_like_no_other(fault: Fault) -> None:
    remote, _ = far_side()
    near = FaultyTransport(MemoryTransport(remote), steps(fault), Random(1))
    tips = {near.refresh(), near.refresh(), MemoryTransport(remote).refresh()}
    assert len(tips) == 3


def test_unreachable_answers_nothing() -> None:
    remote, _ = far_side()
    with pytest.raises(Unreachable):
        FaultyTransport(MemoryTransport(remote), steps(Fault.UNREACHABLE), Random(1)).refresh()


@pytest.mark.parametrize(
    ("fault", "error", "arrives"),
    [
        (Fault.OVERTAKE, Behind, False),
        (Fault.REFUSE, Refused, False),
        (Fault.LOSE_PUBLISH, Unreachable, False),
        (Fault.LOSE_ANSWER, Unreachable, True),
    ],
)
def test_a_publish_fails_once_whether_or_not_it_arrived(
    fault: Fault, error: type[Exception], arrives: bool
) -> None:
    remote, lines = MemoryRemote(), Chain(ADA).lines(1)
    near = FaultyTransport(MemoryTransport(remote), steps(fault), Random(1))
    near.refresh()
    with pytest.raises(error):
        near.publish(ADA, lines)
    far = MemoryTransport(remote)
    far.refresh()
    assert read(far) == ({ADA: lines} if arrives else {})
    near.refresh()
    if not arrives:
        near.publish(ADA, lines)
    far.refresh()
    assert read(far) == {ADA: lines}


def seqs(transport: Transport, lane: str = ADA) -> list[int]:
    """The seqs of a lane that a pass shows."""
    transport.refresh()
    return [seq(line.raw) for line in transport.pull({}) if line.replica == lane]


def test_truncate_ends_lines_early() -> None:
    lines, found, happened = struck(Fault.TRUNCATE)
    assert len(found) == LINES
    cut = [(got, whole) for got, whole in zip(found, lines, strict=True) if got != whole]
    assert 0 < len(cut) < LINES
    assert happened.keys() == {Fault.TRUNCATE}
    assert all(whole.startswith(got) for got, whole in cut)


def test_k3_a_roll_back_stays_where_it_is_until_its_step_ends() -> None:
    remote, _ = far_side()
    step = Step(frozenset((Fault.ROLL_BACK,)), first=2, last=3, share=0.5)
    near = FaultyTransport(MemoryTransport(remote), [step], Random(1))
    assert seqs(near) == [*range(1, LINES + 1)]
    gone_back = seqs(near)
    assert gone_back == [*range(1, LINES // 2 + 1)]
    remote.put(ADA, *Chain(ADA).lines(LINES + 1)[LINES:])
    assert seqs(near) == gone_back
    assert seqs(near) == [*range(1, LINES + 2)]


def test_a_roll_back_shows_every_lane_as_it_was_at_one_moment() -> None:
    remote, _ = far_side()
    near = FaultyTransport(MemoryTransport(remote), [Step(frozenset((Fault.ROLL_BACK,)))], Random(1))
    assert seqs(near, ADA) == seqs(near, BOB)


def test_a_partition_shows_nothing_new_of_others_and_takes_what_is_published_here() -> None:
    remote, _ = far_side()
    step = Step(frozenset((Fault.PARTITION,)), last=2)
    near = FaultyTransport(MemoryTransport(remote), [step], Random(1), own=ADA)
    assert seqs(near, BOB) == [*range(1, LINES + 1)]
    remote.put(BOB, *Chain(BOB).lines(LINES + 1)[LINES:])
    remote.put(CAL, *Chain(CAL).lines(1))
    assert seqs(near, BOB) == [*range(1, LINES + 1)]
    near.publish(ADA, Chain(ADA).lines(LINES + 1)[LINES:])
    assert [seq(line.raw) for line in near.pull({}) if line.replica == ADA] == [*range(1, LINES + 2)]
    assert list(near.lane(CAL)) == []
    assert seqs(near, BOB) == [*range(1, LINES + 2)]
    assert seqs(near, CAL) == [1]


def test_k4_a_fork_goes_on_with_the_lines_it_was_given() -> None:
    remote, lines = far_side()
    rival = Chain(ADA).lines(LINES, "rival")[2:5]
    step = Step(frozenset((Fault.FORK,)), versions={ADA: rival})
    near = FaultyTransport(MemoryTransport(remote), [step], Random(1))
    near.refresh()
    assert [line.raw for line in near.lane(ADA)] == [*lines[:2], *rival]
    assert [line.raw for line in near.lane(ADA, 4)] == rival[1:]
    assert read(near)[ADA] == [*lines[:2], *rival]
    assert len(read(near)[BOB]) == LINES


def test_a_step_strikes_from_its_first_pass_to_its_last() -> None:
    remote, _ = far_side()
    step = Step(frozenset((Fault.WITHHOLD,)), first=2, last=3, share=1)
    near = FaultyTransport(MemoryTransport(remote), [step], Random(1))
    assert [len(seqs(near)) for _ in range(4)] == [LINES, 0, 0, LINES]


def test_a_step_strikes_only_the_lanes_it_names() -> None:
    remote, _ = far_side()
    step = Step(frozenset((Fault.DROP,)), lanes=frozenset((BOB,)), share=1)
    near = FaultyTransport(MemoryTransport(remote), [step], Random(1))
    assert (len(seqs(near, ADA)), len(seqs(near, BOB))) == (LINES, 0)


def test_each_fault_of_a_step_strikes_as_often_as_it_may() -> None:
    remote, _ = far_side()
    step = Step(frozenset((Fault.DROP, Fault.OVERTAKE)), count=2, share=1)
    near = FaultyTransport(MemoryTransport(remote), [step], Random(1))
    assert len(seqs(near)) == LINES - 2
    for _ in range(2):
        with pytest.raises(Behind):
            near.publish(CAL, Chain(CAL).lines(1))
    near.publish(CAL, Chain(CAL).lines(1))


def test_an_away_far_side_comes_back_after_so_many_passes() -> None:
    remote, _ = far_side()
    near = FaultyTransport(
        MemoryTransport(remote), [Step(frozenset((Fault.UNREACHABLE,)), last=2)], Random(1)
    )
    for _ in range(2):
        with pytest.raises(Unreachable):
            near.refresh()
    assert len(seqs(near)) == LINES


@pytest.mark.parametrize("seed", range(3))
def test_faults_drawn_from_a_seed_are_the_same_every_time_and_end(seed: int) -> None:
    remote, lines = far_side()
    drawn = drawn_steps(seed, 30)
    assert drawn == drawn_steps(seed, 30) != drawn_steps(seed + 1, 30)

    def story() -> list[object]:
        near = FaultyTransport(MemoryTransport(remote), drawn, Random(seed))
        found: list[object] = []
        for _ in range(31):
            try:
                near.refresh()
                found.append([line.raw for line in near.pull({}) if line.replica == ADA])
            except Unreachable:
                found.append(None)
        return found

    first = story()
    assert first == story()
    assert first[-1] == lines
    assert sum(shown != lines for shown in first) > 3
