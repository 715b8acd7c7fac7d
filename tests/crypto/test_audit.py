"""The audit of a whole lane: what it counts, and that neither order nor store changes it."""

import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings

from crypto.audit import LaneAudit, audit_lane
from crypto.chain import Cursor
from crypto.lane import read_lane
from crypto.op import Op, to_line
from crypto.side import MemorySide, SideStore
from replica.audit_index import AuditIndex
from tests.crypto.publisher import ADA, Publisher, lines
from tests.crypto.test_lane import forked_lanes

ada = Publisher()


def long_chain() -> list[Op]:
    ops = [ada.key_op()]
    for n in range(40):
        skip = 1 + (n % 10 == 9)
        if n % 3 == 0:
            ops.append(ada.mail(ops[-1], seq=ops[-1].seq + skip))
        else:
            ops.append(ada.sign(ops[-1], body={"n": n}, seq=ops[-1].seq + skip))
    return ops


CHAIN = long_chain()
LINES = lines(CHAIN)


class Reread:
    """A source of lines that counts how often it is read."""

    def __init__(self, found: list[bytes]) -> None:
        self.times = 0
        self._lines = found

    def __call__(self) -> Iterator[bytes]:
        self.times += 1
        return iter(self._lines)


@pytest.fixture(params=["memory", "index"])
def side(request: pytest.FixtureRequest) -> Iterator[SideStore]:
    if request.param == "memory":
        yield MemorySide()
        return
    with AuditIndex(cache_kib=64) as index:
        yield index


def audit(found: list[bytes], side: SideStore) -> LaneAudit:
    return audit_lane(ADA, lambda: found, ada.key, side)


def test_an_audit_counts_what_was_accepted(side: SideStore) -> None:
    found = [to_line(op.stub()) if op.type == "mail" and op.seq < 20 else to_line(op) for op in CHAIN]
    found[1] = to_line(CHAIN[1])
    found[2] = b'{"seq":0,' + found[2][1:]
    result = audit([b"junk", *found], side)
    tally, outcome = result.tally, result.outcome
    assert (tally.entries, tally.types) == (41, {"key": 1, "mail": 14, "task": 26})
    assert (tally.first, tally.last) == (CHAIN[0].hlc, CHAIN[-1].hlc)
    assert tally.skips == 4
    assert tally.stubs == sum(op.type == "mail" and 2 < op.seq < 20 for op in CHAIN)
    assert tally.flagged == 1
    assert outcome.head is not None
    assert outcome.head.hash == CHAIN[-1].hash
    assert (outcome.halt, outcome.stall, outcome.gap, outcome.held) == (None, None, None, None)
    assert outcome.skipped == 1


@pytest.mark.parametrize("order", [list, lambda found: found[::-1], lambda found: found[1::2] + found[::2]])
def test_k4_order_changes_nothing_and_the_lines_are_read_once(
    side: SideStore, order: Callable[[list[bytes]], list[bytes]]
) -> None:
    source = Reread(order([*LINES, *LINES[5:9]]))
    result = audit_lane(ADA, source, ada.key, side, keep=["key", "mail"])
    assert source.times == 1
    assert result.tally.entries == len(CHAIN)
    assert result.tally.kept == [op for op in CHAIN if op.type in ("key", "mail")]
    assert result.outcome.skipped == 0


def test_content_that_comes_after_its_stub_is_counted_as_content(side: SideStore) -> None:
    stubs = [to_line(op.stub()) if op.type == "mail" else to_line(op) for op in CHAIN]
    result = audit_lane(ADA, lambda: [*stubs, *LINES], ada.key, side, keep=["mail"])
    assert result.tally.stubs == 0
    assert result.tally.kept == [op for op in CHAIN if op.type == "mail"]


def test_a_fork_that_shows_at_the_end_takes_back_what_was_counted(side: SideStore) -> None:
    rival = ada.sign(CHAIN[9], body="another story", seq=CHAIN[10].seq)
    source = Reread([*LINES, to_line(rival)])
    result = audit_lane(ADA, source, ada.key, side)
    assert source.times == 3
    assert result.tally.entries == 10
    assert result.outcome.halt is not None
    assert (result.outcome.halt.seq, result.outcome.halt.reason) == (rival.seq, "two ops share this seq")


def test_a_damaged_line_stalls_the_audit_there(side: SideStore) -> None:
    damaged = json.dumps(json.loads(LINES[11]) | {"body": "damaged"}).encode()
    result = audit([*LINES[:11], damaged, *LINES[12:]], side)
    assert result.tally.entries == 11
    assert result.outcome.stall is not None
    assert (result.outcome.stall.seq, result.outcome.stall.reason) == (CHAIN[11].seq, "bodyHash mismatch")
    assert result.outcome.waiting == len(CHAIN) - 11


@given(forked_lanes())
@settings(max_examples=60)
def test_an_audit_accepts_what_a_reader_in_memory_accepts(found: list[bytes]) -> None:
    read = read_lane(ADA, found, Cursor(), ada.key)
    with AuditIndex() as index:
        audited = audit(found, index)
    assert audited.tally.entries == len(read.entries)
    assert Cursor(audited.outcome.head, audited.outcome.halt) == read.cursor
    assert (audited.outcome.stall, audited.outcome.gap) == (read.stall, read.gap)
    assert (audited.outcome.waiting, audited.outcome.skipped) == (read.waiting, read.skipped)
