"""How segments are written and read (federation wire 6.5, 6.6)."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.ops import ADA, BOB, Chain, seq
from transports.git.segments import Scan, Scanner, append, first_seq, newest, unread

MIB = 1024 * 1024


def joined(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def scan(data: bytes, since: int = 0, known: Scan | None = None) -> tuple[list[bytes], Scan]:
    scanner = Scanner(ADA, oid(data), data, known)
    return list(scanner.lines(since)), scanner.result()


# Writing


def test_ops_that_follow_the_last_line_continue_its_segment() -> None:
    ada = Chain(ADA)
    before, after = ada.lines(2), ada.lines(3)
    (written,) = append(after, ["000000000001.jsonl"], ("000000000001.jsonl", joined(*before)))
    assert (written.name, written.data) == ("000000000001.jsonl", joined(*before, *after))


def test_a_first_segment_is_named_for_its_first_op() -> None:
    (written,) = append([Chain(ADA).next(seq=42)], [], None)
    assert written.name == "000000000042.jsonl"


@pytest.mark.parametrize(
    "current",
    [
        joined(*Chain(ADA).lines(2, "another history")),
        joined(*Chain(ADA).lines(2))[:-1],  # torn
        joined(*Chain(ADA).lines(2), b"junk"),
        joined(*Chain(ADA).lines(2)) + b"\n",
        b"",
    ],
)
def test_what_does_not_end_in_the_op_before_is_left_alone(current: bytes) -> None:
    ada = Chain(ADA)
    ada.lines(2)
    after = ada.lines(1)
    (written,) = append(after, ["000000000001.jsonl"], ("000000000001.jsonl", current))
    assert (written.name, written.data) == ("000000000003.jsonl", joined(*after))


def test_a_name_that_is_taken_is_passed_over_for_the_next_number() -> None:
    (written,) = append([Chain(ADA).next()], ["000000000001.jsonl", "000000000002.jsonl"], None)
    assert written.name == "000000000003.jsonl"


def test_a_segment_holds_a_thousand_ops_and_no_more() -> None:
    lines = Chain(ADA).lines(2001)
    written = append(lines, [], None)
    assert [(new.name, new.data.count(b"\n")) for new in written] == [
        ("000000000001.jsonl", 1000),
        ("000000001001.jsonl", 1000),
        ("000000002001.jsonl", 1),
    ]
    assert b"".join(new.data for new in written) == joined(*lines)


def test_a_segment_of_four_mebibytes_is_not_added_to() -> None:
    lines = Chain(ADA).lines(12, "x" * (MIB - 1000))
    written = append(lines, [], None)
    assert [new.data.count(b"\n") for new in written] == [5, 5, 2]
    assert all(len(new.data) <= 5 * MIB for new in written)


def test_a_full_segment_is_not_continued() -> None:
    ada = Chain(ADA)
    full = joined(*ada.lines(1000))
    (written,) = append(ada.lines(1), ["000000000001.jsonl"], ("000000000001.jsonl", full))
    assert written.name == "000000001001.jsonl"


@given(st.lists(st.integers(1, 400), min_size=1, max_size=8))
@settings(max_examples=10, deadline=None)
def test_however_ops_are_published_the_segments_hold_each_once_and_in_order(counts: list[int]) -> None:
    ada = Chain(ADA)
    held: dict[str, bytes] = {}
    everything = []
    for count in counts:
        lines = ada.lines(count)
        everything += lines
        name = newest(held, first_seq(lines))
        current = None if name is None else (name, held[name])
        for written in append(lines, held, current):
            assert written.data.startswith(held.get(written.name, b""))
            held[written.name] = written.data
    assert b"".join(held[name] for name in sorted(held)) == joined(*everything)
    assert len(held) == -(-len(everything) // 1000)


def test_a_file_that_anybody_named_for_a_later_seq_is_not_the_newest_segment() -> None:
    names = ["000000000001.jsonl", "000000000900.jsonl", "999999999999.jsonl"]
    assert newest(names, 1000) == "000000000900.jsonl"
    assert newest(names, 0) is None


@pytest.mark.parametrize("raw", [b"[]", b'{"seq":"1"}', b'{"seq":1,\n"prev":""}', b"{}", b'{"seq":1e12}'])
def test_what_is_no_op_is_not_written(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"op|seq"):
        append([raw], [], None)


# Reading


def test_lines_below_the_seq_asked_for_are_left_out() -> None:
    lines = Chain(ADA).lines(4)
    assert scan(joined(*lines), since=3)[0] == lines[2:]


def test_a_torn_line_is_ignored_and_reported() -> None:
    lines = Chain(ADA).lines(2)
    found, known = scan(joined(*lines)[:-1])
    assert found == lines[:1]
    assert [(note.line, note.count) for note in known.notes] == [(2, 1)]


def test_a_known_segment_answers_for_its_last_seq_and_what_is_above() -> None:
    lines = Chain(ADA).lines(3)
    _, known = scan(joined(*lines))
    assert known.answer(4) == ()
    assert known.answer(3) == (lines[2],)
    assert known.answer(2) is None


def test_every_line_with_the_last_seq_is_remembered() -> None:
    mine, rival = Chain(ADA).lines(3), Chain(ADA).lines(3, "rival")
    _, known = scan(joined(*mine, rival[2], mine[2]))
    assert known.answer(3) == (mine[2], rival[2], mine[2])


def test_last_lines_too_long_to_remember_are_read_again() -> None:
    ada = Chain(ADA)
    data = joined(*ada.lines(2, "x" * 70_000))
    _, known = scan(data)
    assert known.answer(2) is None
    assert known.answer(3) == ()
    # They stay out of what is remembered when lines of a lower seq follow.
    longer = data + joined(Chain(ADA).next())
    found, grown = scan(longer, 3, known)
    assert found == []
    assert grown.answer(2) is None
    assert scan(longer, 2, known)[0] == data.splitlines()[1:2]


def test_a_segment_that_has_grown_is_read_from_where_it_ended() -> None:
    ada = Chain(ADA)
    before = joined(b"junk", *ada.lines(3))
    _, known = scan(before)
    data = before + joined(b"more junk", *(after := ada.lines(2)))
    # Were it read from the start, the scan would not keep this remark.
    marked = Scan(known.oid, known.size, known.lines, known.top, (b"remembered",), known.notes)
    assert scan(data, 3, marked)[0] == [b"remembered", *after]
    assert scan(data, 4, known) == (after, scan(data, 0)[1])


def test_a_segment_that_was_rewritten_is_read_from_the_start() -> None:
    lines, others = Chain(ADA).lines(3), Chain(ADA).lines(4, "others")
    _, known = scan(joined(*lines))
    assert scan(joined(*others), 3, known)[0] == others[2:]


PIECES = st.one_of(
    st.integers(1, 6).map(lambda at: Chain(ADA).lines(at)[-1] + b"\n"),
    st.integers(1, 6).map(lambda at: Chain(ADA).lines(at, "rival")[-1] + b"\n"),
    st.sampled_from([b"\n", b"junk\n", b"\r\n", Chain(BOB).next() + b"\n", b'{"torn', b"{}\n"]),
)


@given(st.lists(PIECES, max_size=8), st.lists(PIECES, max_size=8), st.integers(0, 7), st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_reading_in_two_steps_is_reading_at_once(
    first: list[bytes], second: list[bytes], early: int, late: int
) -> None:
    before, after = b"".join(first), b"".join(first + second)
    _, known = scan(before, early)
    found, result = scan(after, late, known)
    once, whole = scan(after, late)
    assert sorted(found) == sorted(once)
    assert (result.top, result.lines, result.size) == (whole.top, whole.lines, whole.size)
    assert sorted(result.heads or ()) == sorted(whole.heads or ())
    assert sorted(note.reason for note in result.notes) == sorted(note.reason for note in whole.notes)
    assert all(seq(raw) >= late for raw in found)


def test_a_segment_that_is_not_read_is_remembered_with_the_reason() -> None:
    known = unread("00", "is too long")
    assert known.answer(0) == ()
    assert [note.reason for note in known.notes] == ["is too long"]
