"""The tests of a far side that keeps whatever anybody puts there, and shows it to everybody."""

import json
from contextlib import suppress

import pytest

from transports.base import LINE_BYTES, Behind, Line, Transport, Unreachable
from transports.contract.author import Author
from transports.contract.far import WritableFarSide
from transports.contract.passes import claimed
from transports.contract.suite import TransportContract

_ODD_IDS = (
    "Ada-0000000a",
    "ada-0000000a",
    "ADA-0000000a",
    "--force-0000000a",
    "..-0000000a",
    ".git-0000000a",
)


def read(near: Transport, since: dict[str, int] | None = None) -> dict[str, list[bytes]]:
    """Pull everything there is, by lane and in the order of seqs, as the bytes that are there."""
    found: dict[str, list[bytes]] = {}
    for line in near.pull(since or {}, budget=None):
        found.setdefault(line.replica, []).append(line.raw)
    return {name: sorted(raws, key=lambda raw: claimed(Line(name, raw))) for name, raws in found.items()}


class WritableContract(TransportContract):
    """Lines are bytes that strangers wrote: what is one of its lane is handed over, and everything else named.

    What refresh saw is what pull shows, byte for byte.
    """

    @pytest.fixture
    def far(self) -> WritableFarSide:
        raise NotImplementedError("a subclass has a fixture `far`, which makes a far side")

    def test_a_far_side_where_nobody_has_published_is_empty(self, near: Transport) -> None:
        near.refresh()
        assert (read(near), list(near.acks())) == ({}, [])

    def test_equal_tips_mean_that_nothing_changed_and_others_that_something_did(
        self, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, ada.speech(1), b"acks")
        tip = other.refresh()
        assert other.refresh() == tip
        self.publish(near, ada, [])
        self.publish(near, ada, [], b"acks")
        assert other.refresh() == tip
        self.publish(near, ada, [], b"more")
        assert other.refresh() != tip

    def test_pull_shows_what_refresh_saw(self, near: Transport, other: Transport, ada: Author) -> None:
        near.refresh()
        near.publish(ada.replica, before := ada.speech(1))
        other.refresh()
        near.publish(ada.replica, ada.speech(1))
        assert read(other) == {ada.replica: before}

    def test_a_rival_of_the_line_a_reader_has_is_shown(
        self, far: WritableFarSide, near: Transport, ada: Author
    ) -> None:
        twin = ada.twin()
        mine, rival = ada.speech(3), twin.speech(2, "rival")
        far.put(ada.replica, *mine)
        near.refresh()
        assert read(near, {ada.replica: 3}) == {ada.replica: mine[2:]}
        far.put(ada.replica, rival[1])
        near.refresh()
        assert read(near, {ada.replica: 2}) == {ada.replica: [mine[1], rival[1], mine[2]]}

    def test_lines_may_be_in_any_order_and_there_twice(
        self, far: WritableFarSide, near: Transport, ada: Author
    ) -> None:
        lines = ada.speech(4)
        far.put(ada.replica, lines[3], lines[1])
        far.put(ada.replica, lines[0], lines[2], lines[1])
        near.refresh()
        assert read(near) == {ada.replica: [lines[0], lines[1], lines[1], lines[2], lines[3]]}
        assert read(near, {ada.replica: 3}) == {ada.replica: lines[2:]}

    def test_what_is_no_line_of_its_lane_is_skipped_and_reported(
        self, far: WritableFarSide, near: Transport, ada: Author, bob: Author
    ) -> None:
        lines = ada.speech(2)
        name = json.dumps(ada.replica).encode()
        junk = [
            b"",
            b" \t",
            b"{",
            b"[1]",
            b"\xff\xfe{}",
            bob.says(),
            b'{"replica":%b}' % name,
            b'{"replica":%b,"seq":"1"}' % name,
            b'{"replica":%b,"seq":true}' % name,
            b'{"replica":%b,"seq":1.5}' % name,
            b'{"replica":%b,"seq":9007199254740992}' % name,
            b'{"replica":%b,"seq":1,"x":%b}' % (name, b"[" * 300 + b"]" * 300),
            json.dumps({"replica": ada.replica, "seq": 1, "x": "x" * LINE_BYTES}).encode(),
        ]
        far.put(ada.replica, lines[0], *junk, lines[1])
        far.put(bob.replica, bob.says())
        near.refresh()
        pull = near.pull({})
        assert [line.raw for line in pull if line.replica == ada.replica] == lines
        assert sum(note.count for note in pull.report.skipped) == len(junk) - 2  # blank ones are nothing
        assert {note.replica for note in pull.report.skipped} == {ada.replica}
        assert all(note.line > 0 and note.place and note.reason for note in pull.report.skipped)
        assert not pull.report.more

    def test_junk_is_still_reported_when_there_is_nothing_new(
        self, far: WritableFarSide, near: Transport, ada: Author
    ) -> None:
        far.put(ada.replica, b"junk", *ada.speech(2))
        near.refresh()
        first, again = near.pull({}), near.pull({ada.replica: 2})
        assert len(list(first)) == 2
        assert len(list(again)) == 1
        assert first.report.skipped == again.report.skipped != []

    def test_a_line_of_one_mebibyte_is_read(self, far: WritableFarSide, near: Transport, ada: Author) -> None:
        empty = json.dumps({"replica": ada.replica, "seq": 1, "x": ""}).encode()
        raw = empty[:-2] + b"x" * (LINE_BYTES - len(empty)) + empty[-2:]
        far.put(ada.replica, raw, raw[:-2] + b'x"}')
        near.refresh()
        assert read(near) == {ada.replica: [raw]}

    def test_k8_lanes_are_told_apart_exactly_and_never_become_paths_or_options(
        self, near: Transport, other: Transport
    ) -> None:
        near.refresh()
        wanted = {replica: Author.new(replica).speech(2) for replica in _ODD_IDS}
        for replica, lines in wanted.items():
            near.publish(replica, lines, acks=replica.encode())
        other.refresh()
        assert read(other) == wanted
        acks = {line.replica: line.raw for line in other.acks()}
        assert acks == {replica: replica.encode() for replica in _ODD_IDS}
        assert read(other, dict.fromkeys(_ODD_IDS, 2)) == {name: raws[1:] for name, raws in wanted.items()}

    def test_acknowledgements_are_replaced_and_shown(
        self, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(near, ada, [], b"first")
        self.publish(near, ada, ada.speech(1), b"second")
        self.publish(other, bob, bob.speech(1))
        other.refresh()
        assert list(other.acks()) == list(other.acks([ada.replica])) == [Line(ada.replica, b"second")]
        assert list(other.acks([bob.replica, "cal-0000000c"])) == []

    def test_what_refresh_saw_is_read_or_said_to_be_gone_when_the_far_side_is_away(
        self, far: WritableFarSide, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, lines := ada.speech(2))
        other.refresh()
        far.cut()
        try:
            assert read(other) == {ada.replica: lines}
        except Unreachable:
            pass
        finally:
            far.mend()

    def test_r4_acknowledgements_are_refused_with_the_lines_they_come_with(
        self, far: WritableFarSide, near: Transport, ada: Author
    ) -> None:
        elsewhere = far.open(ada, "twin")
        elsewhere.refresh()
        self.publish(near, ada, mine := ada.speech(1))
        with pytest.raises(Behind):
            elsewhere.publish(ada.replica, ada.speech(1), acks=b"acks")
        elsewhere.close()
        near.refresh()
        assert (read(near), list(near.acks())) == ({ada.replica: mine}, [])

    def test_a_stranger_s_long_lane_does_not_keep_a_teammate_waiting(
        self, far: WritableFarSide, near: Transport, ada: Author, bob: Author
    ) -> None:
        for _ in range(5):
            far.put(ada.replica, *ada.speech(10, "x" * 1000))
        far.put(bob.replica, *bob.speech(3))
        near.refresh()
        pull = near.pull({bob.replica: 1}, budget=20_000)
        assert sum(line.replica == bob.replica for line in pull) == 3

    def test_watch_does_not_tell_of_nothing(self, near: Transport, other: Transport, bob: Author) -> None:
        near.refresh()
        assert not near.watch(0.01)
        self.publish(other, bob, bob.speech(1))
        assert near.watch(30)
        near.refresh()
        assert not near.watch(0.01)

    def test_watch_tells_of_what_somebody_else_published_before_the_own_publish(
        self, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(near, ada, ada.speech(1))
        self.publish(other, bob, bob.speech(1))
        near.refresh()
        self.publish(other, bob, bob.speech(1))
        with suppress(Behind):
            near.publish(ada.replica, ada.speech(1))
        assert near.watch(30)
        near.refresh()
        assert not near.watch(0.01)
