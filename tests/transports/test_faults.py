"""What a faulty transport does to lines and calls, and that none of it lasts."""

from collections import Counter
from random import Random

import pytest

from crypto.clock import Reading
from crypto.op import ZERO_HASH, Op, Stub, make_op, read_entry, to_line
from tests.transports.contract import read
from tests.transports.ops import ADA, BOB, Chain
from transports.base import Behind, Refused, Unreachable
from transports.faults import HIDING, Fault, FaultyTransport
from transports.memory import MemoryRemote, MemoryTransport

LINES = 40


def far_side() -> tuple[MemoryRemote, list[bytes]]:
    remote = MemoryRemote()
    lines = Chain(ADA).lines(LINES)
    remote.put(ADA, *lines)
    remote.put(BOB, *Chain(BOB).lines(LINES))
    return remote, lines


def struck(*faults: Fault, seed: int = 1) -> tuple[list[bytes], list[bytes], Counter[Fault]]:
    """Ada's lines, what arrived of them under faults, and how often each fault struck."""
    remote, lines = far_side()
    happened: Counter[Fault] = Counter()
    near = FaultyTransport(
        MemoryTransport(remote), faults, Random(seed), happened=lambda fault: happened.update((fault,))
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
    for seq in range(1, LINES):
        op = make_op(
            replica=ADA,
            seq=seq,
            prev=ZERO_HASH,
            hlc=Reading(1, seq, ADA),
            type="presence",
            signer=Chain(ADA).key,
            body={},
        )
        told.append(op)
        remote.put(ADA, to_line(op))
    near = FaultyTransport(MemoryTransport(remote), [Fault.PRUNE], Random(1))
    near.refresh()
    found_entries = [read_entry(line.raw) for line in near.pull({})]
    assert [entry.hash for entry in found_entries] == [op.hash for op in told]
    assert {type(entry) for entry in found_entries} == {Op, Stub}


def test_stale_shows_once_more_what_there_was() -> None:
    remote, lines = far_side()
    near = FaultyTransport(MemoryTransport(remote), [Fault.STALE], Random(1))
    near.refresh()
    remote.put(ADA, *Chain(ADA).lines(LINES + 1)[LINES:])
    near.refresh()
    assert len([line for line in near.pull({}) if line.replica == ADA]) == len(lines)
    near.refresh()
    assert len([line for line in near.pull({}) if line.replica == ADA]) == len(lines) + 1


@pytest.mark.parametrize("fault", sorted(HIDING))
def test_a_tip_that_hides_something_is_like_no_other(fault: Fault) -> None:
    remote, _ = far_side()
    near = FaultyTransport(MemoryTransport(remote), [fault], Random(1))
    tips = {near.refresh(), near.refresh(), MemoryTransport(remote).refresh()}
    assert len(tips) == 3


def test_unreachable_answers_nothing() -> None:
    remote, _ = far_side()
    with pytest.raises(Unreachable):
        FaultyTransport(MemoryTransport(remote), [Fault.UNREACHABLE], Random(1)).refresh()


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
    near = FaultyTransport(MemoryTransport(remote), [fault], Random(1))
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
