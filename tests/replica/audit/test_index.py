"""The side store of an audit keeps what the one in memory keeps."""

from hypothesis import given
from hypothesis import strategies as st

from crypto.side import Consumed, MemorySide, SideStore, Waiting
from replica.audit.index import AuditIndex

names = st.sampled_from(["", "a", "b", "c"])
lines = st.builds(Waiting, st.integers(1, 4), names, names, st.binary(max_size=3))
ops = st.tuples(st.integers(1, 2**53 - 1), names, names, st.integers(0, 3))


def fill(side: SideStore, consumed: list[tuple[int, str, str, int]], waiting: list[Waiting]) -> None:
    for op in consumed:
        side.consume(*op)
    for line in waiting:
        side.put(line)


@given(st.lists(ops, unique_by=(lambda op: op[0], lambda op: op[1])), st.lists(lines))
def test_what_was_put_in_comes_out_in_order(
    consumed: list[tuple[int, str, str, int]], waiting: list[Waiting]
) -> None:
    memory = MemorySide()
    fill(memory, consumed, waiting)
    with AuditIndex(cache_kib=16) as index:
        fill(index, consumed, waiting)
        places = [line[:2] for line in index.waiting()]
        assert places == sorted(places)
        assert sorted(index.waiting()) == list(memory.waiting())
        for name in ("", "a", "b", "c"):
            assert sorted(index.following(name)) == list(memory.following(name))
            assert index.after(name) == memory.after(name)
        for seq, _, _, _ in consumed:
            assert index.at(seq) == memory.at(seq)


def test_an_op_is_kept_in_place_of_the_one_before_it() -> None:
    for side in (MemorySide(), AuditIndex()):
        side.consume(1, "a", "b", 2)
        assert side.at(1) == Consumed(1, "b", 2)
        side.consume(1, "a", "b", 0)
        assert side.at(1) == Consumed(1, "b", 0)
        side.clear()
        assert side.at(1) is None
        assert side.after("a") is None
        assert list(side.waiting()) == []
