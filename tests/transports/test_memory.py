"""The far side in memory misbehaves as it is told."""

import pytest

from tests.transports.contract import read
from tests.transports.ops import ADA, BOB, Chain
from transports.base import Behind, Unreachable
from transports.memory import MemoryRemote, MemoryTransport


def opened(remote: MemoryRemote) -> MemoryTransport:
    transport = MemoryTransport(remote)
    transport.refresh()
    return transport


def test_a_remote_told_to_lets_the_next_publishes_lose_their_race() -> None:
    remote = MemoryRemote()
    remote.reject_next(2)
    near, lines = opened(remote), Chain(ADA).lines(1)
    for _ in range(2):
        with pytest.raises(Behind):
            near.publish(ADA, lines)
    near.publish(ADA, lines)
    assert read(opened(remote)) == {ADA: lines}


def test_one_transport_can_be_cut_off_alone() -> None:
    remote = MemoryRemote()
    near, other = opened(remote), opened(remote)
    near.cut_off = True
    with pytest.raises(Unreachable):
        near.refresh()
    other.refresh()


def test_k3_the_end_of_a_lane_can_be_withheld() -> None:
    remote = MemoryRemote()
    lines = Chain(ADA).lines(4)
    remote.put(ADA, *lines)
    remote.hidden[ADA] = 3
    near = opened(remote)
    assert read(near) == {ADA: lines[:2]}
    del remote.hidden[ADA]
    assert read(near) == {ADA: lines}


def test_k3_a_remote_can_go_back_and_on_from_there() -> None:
    remote = MemoryRemote()
    ada, bob = Chain(ADA).lines(3), Chain(BOB).lines(1)
    for raw in ada:
        remote.put(ADA, raw)
    before = opened(remote)
    remote.roll_back(2)
    after = opened(remote)
    assert read(before) == {ADA: ada}
    assert read(after) == {ADA: ada[:1]}
    after.publish(BOB, bob)
    after.publish(ADA, ada[1:2])
    assert read(opened(remote)) == {ADA: ada[:2], BOB: bob}
    assert read(before) == {ADA: ada}


def test_r4_a_publish_on_any_old_view_is_refused() -> None:
    remote = MemoryRemote()
    near, other = opened(remote), opened(remote)
    near.publish(ADA, Chain(ADA).lines(1))
    late = Chain(BOB).lines(2)
    with pytest.raises(Behind):
        other.publish(BOB, late)
    other.refresh()
    other.publish(BOB, late)
    assert read(opened(remote))[BOB] == late
