"""What every transport promises, as tests that a transport passes by naming its far side.

class TestMine(TransportContract):
    @pytest.fixture
    def far(self, tmp_path): return MyFarSide(tmp_path)
"""

import json
from collections.abc import Iterator
from typing import Protocol

import pytest

from tests.transports.ops import ADA, BOB, CAL, Chain, seq
from transports.base import Behind, Line, Transport, Unreachable

MIB = 1024 * 1024


class FarSide(Protocol):
    """A far side of the kind under test, empty at first."""

    def open(self) -> Transport:
        """Return a new transport to it, that has nothing in common with others on this side."""

    def put(self, replica: str, *raws: bytes) -> None:
        """Add lines to a lane as anybody with write access could."""

    def cut(self) -> None:
        """Let it answer nobody from now on."""

    def mend(self) -> None:
        """Let it answer again."""


def read(transport: Transport, since: dict[str, int] | None = None) -> dict[str, list[bytes]]:
    """Pull everything in one go, by lane, in the order of seqs."""
    found: dict[str, list[bytes]] = {}
    for line in transport.pull(since or {}, budget=None):
        found.setdefault(line.replica, []).append(line.raw)
    return {replica: sorted(raws, key=seq) for replica, raws in found.items()}


class TransportContract:
    @pytest.fixture
    def near(self, far: FarSide) -> Iterator[Transport]:
        transport = far.open()
        yield transport
        transport.close()

    @pytest.fixture
    def other(self, far: FarSide) -> Iterator[Transport]:
        transport = far.open()
        yield transport
        transport.close()

    def test_a_far_side_where_nobody_has_published_is_empty(self, near: Transport) -> None:
        near.refresh()
        assert (read(near), list(near.lane(ADA)), list(near.acks())) == ({}, [], [])

    def test_what_one_replica_publishes_another_reads_byte_for_byte(
        self, near: Transport, other: Transport
    ) -> None:
        lines = Chain(ADA).lines(3)
        near.refresh()
        near.publish(ADA, lines)
        other.refresh()
        assert read(other) == {ADA: lines}
        assert list(other.lane(ADA)) == [Line(ADA, raw) for raw in lines]

    def test_p1_a_line_ends_at_a_line_feed_and_at_nothing_else(
        self, near: Transport, other: Transport
    ) -> None:
        lines = Chain(ADA).lines(2, "a\rb\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029c")
        near.refresh()
        near.publish(ADA, lines)
        other.refresh()
        assert read(other) == {ADA: lines}

    def test_lines_are_added_to_those_published_before(self, near: Transport, other: Transport) -> None:
        lines = Chain(ADA).lines(5)
        near.refresh()
        for start, end in ((0, 1), (1, 4), (4, 5)):
            near.publish(ADA, lines[start:end])
        other.refresh()
        assert read(other) == {ADA: lines}

    def test_equal_tips_mean_that_nothing_changed(self, near: Transport, other: Transport) -> None:
        ada = Chain(ADA)
        near.refresh()
        near.publish(ADA, [ada.next()])
        first = other.refresh()
        assert other.refresh() == first
        near.publish(ADA, [ada.next()])
        assert other.refresh() != first

    def test_pull_shows_what_refresh_saw(self, near: Transport, other: Transport) -> None:
        near.refresh()
        other.refresh()
        near.publish(ADA, Chain(ADA).lines(1))
        assert read(other) == {}

    def test_pull_begins_at_the_seq_it_is_given(self, far: FarSide, near: Transport) -> None:
        ada, bob = Chain(ADA).lines(5), Chain(BOB).lines(2)
        far.put(ADA, *ada)
        far.put(BOB, *bob)
        near.refresh()
        assert read(near, {ADA: 3}) == {ADA: ada[2:], BOB: bob}
        assert read(near, {ADA: 6, BOB: 3}) == {}
        assert [line.raw for line in near.lane(ADA, 5)] == ada[4:]

    def test_a_rival_of_the_line_a_reader_has_is_shown(self, far: FarSide, near: Transport) -> None:
        mine, rival = Chain(ADA).lines(3), Chain(ADA).lines(2, "rival")
        far.put(ADA, *mine)
        near.refresh()
        assert read(near, {ADA: 3}) == {ADA: mine[2:]}
        far.put(ADA, rival[1])
        near.refresh()
        assert read(near, {ADA: 2}) == {ADA: [mine[1], rival[1], mine[2]]}

    def test_lines_may_be_in_any_order_and_there_twice(self, far: FarSide, near: Transport) -> None:
        lines = Chain(ADA).lines(4)
        far.put(ADA, lines[3], lines[1])
        far.put(ADA, lines[0], lines[2], lines[1])
        near.refresh()
        assert read(near) == {ADA: [lines[0], lines[1], lines[1], lines[2], lines[3]]}
        assert read(near, {ADA: 3}) == {ADA: lines[2:]}

    def test_what_is_no_line_of_its_lane_is_skipped_and_reported(self, far: FarSide, near: Transport) -> None:
        lines = Chain(ADA).lines(2)
        junk = [
            b"",
            b" \t",
            b"{",
            b"[1]",
            b"\xff\xfe{}",
            Chain(BOB).next(),
            b'{"replica":"ada-0000000a"}',
            b'{"replica":"ada-0000000a","seq":"1"}',
            b'{"replica":"ada-0000000a","seq":true}',
            b'{"replica":"ada-0000000a","seq":1.5}',
            b'{"replica":"ada-0000000a","seq":9007199254740992}',
            b'{"replica":"ada-0000000a","seq":1,"x":' + b"[" * 300 + b"]" * 300 + b"}",
            json.dumps({"replica": ADA, "seq": 1, "x": "x" * MIB}).encode(),
        ]
        far.put(ADA, lines[0], *junk, lines[1])
        far.put(BOB, Chain(BOB).next())
        near.refresh()
        pull = near.pull({})
        found = [line.raw for line in pull if line.replica == ADA]
        assert found == lines
        assert sum(note.count for note in pull.report.skipped) == len(junk) - 2  # blank ones are nothing
        assert {note.replica for note in pull.report.skipped} == {ADA}
        assert all(note.line > 0 and note.place and note.reason for note in pull.report.skipped)
        assert not pull.report.more

    def test_junk_is_still_reported_when_there_is_nothing_new(self, far: FarSide, near: Transport) -> None:
        far.put(ADA, b"junk", *Chain(ADA).lines(2))
        near.refresh()
        first, again = near.pull({}), near.pull({ADA: 2})
        assert len(list(first)) == 2
        assert len(list(again)) == 1
        assert first.report.skipped == again.report.skipped != []

    def test_a_line_of_one_mebibyte_is_read(self, far: FarSide, near: Transport) -> None:
        empty = json.dumps({"replica": ADA, "seq": 1, "x": ""}).encode()
        raw = empty[:-2] + b"x" * (MIB - len(empty)) + empty[-2:]
        far.put(ADA, raw, raw[:-2] + b'x"}')
        near.refresh()
        assert read(near) == {ADA: [raw]}

    def test_k8_lanes_are_told_apart_exactly_and_never_become_paths_or_options(
        self, near: Transport, other: Transport
    ) -> None:
        ids = ["Ada-0000000a", ADA, "ADA-0000000a", "--force-0000000a", "..-0000000a", ".git-0000000a"]
        near.refresh()
        wanted = {replica: Chain(replica).lines(2) for replica in ids}
        for replica, lines in wanted.items():
            near.publish(replica, lines, acks=replica.encode())
        other.refresh()
        assert read(other) == wanted
        assert {line.replica: line.raw for line in other.acks()} == {name: name.encode() for name in ids}
        assert read(other, dict.fromkeys(ids, 2)) == {name: lines[1:] for name, lines in wanted.items()}

    def test_r4_a_publish_on_an_old_view_is_refused_whole(self, near: Transport, other: Transport) -> None:
        ada, bob = Chain(ADA), Chain(BOB)
        near.refresh()
        other.refresh()
        near.publish(ADA, first := ada.lines(1))
        late = bob.lines(2)
        with pytest.raises(Behind):
            other.publish(BOB, late, acks=b"acks")
        near.refresh()
        assert read(near) == {ADA: first}
        assert list(near.acks()) == []
        other.refresh()
        other.publish(BOB, late, acks=b"acks")
        near.refresh()
        assert read(near) == {ADA: first, BOB: late}

    def test_every_replica_gets_through_by_refreshing_and_trying_again(self, far: FarSide) -> None:
        sides = {name: far.open() for name in (ADA, BOB, CAL)}
        wanted = {name: Chain(name).lines(4) for name in sides}
        for step in range(4):
            for side in sides.values():
                side.refresh()
            for name, side in sides.items():
                while True:
                    try:
                        side.publish(name, wanted[name][step : step + 1])
                        break
                    except Behind:
                        side.refresh()
        last = sides[ADA]
        last.refresh()
        assert read(last) == wanted
        for side in sides.values():
            side.close()

    def test_publishing_nothing_changes_nothing(self, near: Transport) -> None:
        near.refresh()
        near.publish(ADA, [])
        near.publish(ADA, Chain(ADA).lines(1), acks=b"acks")
        tip = near.refresh()
        near.publish(ADA, [])
        near.publish(ADA, [], acks=b"acks")
        assert near.refresh() == tip

    def test_acknowledgements_are_replaced(self, near: Transport, other: Transport) -> None:
        near.refresh()
        near.publish(ADA, [], acks=b"first")
        near.publish(ADA, Chain(ADA).lines(1), acks=b"second")
        near.publish(BOB, Chain(BOB).lines(1))
        other.refresh()
        assert list(other.acks()) == [Line(ADA, b"second")]
        assert list(other.acks([BOB, CAL])) == []
        assert list(other.acks([ADA])) == [Line(ADA, b"second")]

    def test_a_far_side_that_is_away_says_so_and_loses_nothing(
        self, far: FarSide, near: Transport, other: Transport
    ) -> None:
        ada = Chain(ADA)
        near.refresh()
        near.publish(ADA, first := ada.lines(2))
        other.refresh()
        far.cut()
        later = ada.lines(1)
        with pytest.raises(Unreachable) as refresh:
            other.refresh()
        with pytest.raises(Unreachable):
            near.publish(ADA, later)
        assert refresh.value.message
        assert read(other) == {ADA: first}  # what the last refresh saw can still be read
        far.mend()
        near.refresh()
        near.publish(ADA, later)
        other.refresh()
        assert read(other) == {ADA: first + later}

    def test_pulls_within_a_budget_come_to_the_end(self, far: FarSide, near: Transport) -> None:
        wanted = {name: Chain(name).lines(30, "x" * 500) for name in (ADA, BOB, CAL)}
        for name, lines in wanted.items():
            far.put(name, *lines)
        near.refresh()
        since: dict[str, int] = {}
        found: dict[str, set[bytes]] = {}
        for _ in range(100):
            pull = near.pull(since, budget=8_000)
            for line in pull:
                found.setdefault(line.replica, set()).add(line.raw)
                since[line.replica] = max(since.get(line.replica, 0), seq(line.raw))
            if not pull.report.more:
                break
        assert found == {name: set(lines) for name, lines in wanted.items()}
        assert not pull.report.more

    def test_a_stranger_s_long_lane_does_not_keep_a_teammate_waiting(
        self, far: FarSide, near: Transport
    ) -> None:
        ada = Chain(ADA)
        for _ in range(5):
            far.put(ADA, *ada.lines(10, "x" * 1000))
        far.put(BOB, *Chain(BOB).lines(3))
        near.refresh()
        pull = near.pull({BOB: 1}, budget=20_000)
        assert sum(line.replica == BOB for line in pull) == 3
        assert pull.report.more

    def test_watch_tells_that_somebody_published(self, near: Transport, other: Transport) -> None:
        near.refresh()
        other.refresh()
        assert not near.watch(0.01)
        other.publish(BOB, Chain(BOB).lines(1))
        assert near.watch(30)
        near.refresh()
        assert not near.watch(0.01)
