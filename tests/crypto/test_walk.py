"""A walk over lines that are not kept: neither their order nor the store beside it changes what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings

from crypto.chain import Cursor, Head
from crypto.judge import Rules
from crypto.lane import History, read_lane
from crypto.op import Op, Unverified, to_line
from crypto.side import MemorySide, SideStore
from crypto.walk import STUB, Lane, Outcome, walk
from replica.audit.index import AuditIndex
from tests.crypto.publisher import ADA, Publisher, lines
from tests.crypto.test_lane_forks import forked_lanes

ada = Publisher()


def long_chain() -> list[Op]:
    ops = [ada.key_op()]
    for n in range(40):
        seq = ops[-1].seq + 1 + (n % 10 == 9)
        ops.append(ada.mail(ops[-1], seq=seq) if n % 3 == 0 else ada.sign(ops[-1], body={"n": n}, seq=seq))
    return ops


CHAIN = long_chain()
LINES = lines(CHAIN)


@dataclass
class Grades:
    """A sink that keeps the grade of each entry."""

    by_seq: dict[int, int] = field(default_factory=dict)

    def accept(self, read: Unverified, grade: int) -> None:
        assert read.seq not in self.by_seq
        self.by_seq[read.seq] = grade

    def improve(self, read: Unverified, was: int, grade: int) -> None:
        assert self.by_seq[read.seq] == was > grade
        self.by_seq[read.seq] = grade

    def restore(self, read: Unverified) -> None:
        raise AssertionError("nothing was wanted")


class Source:
    """Lines that can be read again, and how often they were."""

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


def walked(source: Source, side: SideStore) -> tuple[dict[int, int], Outcome]:
    sink, outcome = walk(Lane(ADA, source, None, Rules(ada.key), History()), side, Grades)
    return sink.by_seq, outcome


def end_of(op: Op) -> Head:
    return Head(op.seq, op.hash, op.hlc)


@pytest.mark.parametrize("order", [list, lambda found: found[::-1], lambda found: found[1::2] + found[::2]])
def test_k4_in_any_order_the_lines_are_read_once(
    side: SideStore, order: Callable[[list[bytes]], list[bytes]]
) -> None:
    source = Source(order([*LINES, *LINES[5:9]]))
    assert walked(source, side) == (dict.fromkeys((op.seq for op in CHAIN), 0), Outcome(end_of(CHAIN[-1])))
    assert source.times == 1


def test_content_that_comes_after_its_stub_takes_its_place(side: SideStore) -> None:
    stubs = [to_line(op.stub()) if op.type == "mail" else to_line(op) for op in CHAIN]
    grades, _ = walked(Source(stubs), side)
    assert grades == {op.seq: STUB * (op.type == "mail") for op in CHAIN}
    grades, _ = walked(Source([*stubs, *LINES]), side)
    assert set(grades.values()) == {0}


def test_a_fork_that_shows_at_the_end_takes_back_what_was_accepted(side: SideStore) -> None:
    rival = ada.sign(CHAIN[9], body="another story", seq=CHAIN[10].seq)
    source = Source([*LINES, to_line(rival)])
    grades, outcome = walked(source, side)
    assert list(grades) == [op.seq for op in CHAIN[:10]]
    assert outcome.head == end_of(CHAIN[9])
    assert outcome.halt is not None
    assert (outcome.halt.seq, outcome.halt.reason) == (rival.seq, "two ops share this seq")
    assert source.times == 2


def test_where_the_walk_took_the_higher_seq_it_sees_every_branch_first(side: SideStore) -> None:
    high = ada.sign(CHAIN[9], body="high", seq=900)
    source = Source([*LINES[:10], to_line(high), *LINES[10:]])
    grades, outcome = walked(source, side)
    assert list(grades) == [op.seq for op in CHAIN]
    assert outcome.halt is not None
    assert (outcome.halt.seq, outcome.halt.reason) == (900, "prev does not match")
    assert source.times == 3


@given(forked_lanes())
@settings(max_examples=60)
def test_a_walk_accepts_what_a_reader_in_memory_accepts(found: list[bytes]) -> None:
    read = read_lane(ADA, found, Cursor(), ada.key)
    with AuditIndex() as index:
        grades, outcome = walked(Source(found), index)
    assert list(grades) == [entry.seq for entry in read.entries]
    assert Cursor(outcome.head, outcome.halt) == read.cursor
    assert (outcome.stall, outcome.gap) == (read.stall, read.gap)
    assert (outcome.waiting, outcome.skipped) == (read.waiting, read.skipped)
