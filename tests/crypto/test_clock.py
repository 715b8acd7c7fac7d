"""Hybrid clocks rise whatever the wall clock does (section F.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.clock import MAX_COUNTER, MAX_MS, ClockError, Reading, adopt, tick

ADA = "ada-0000000a"
BOB = "bob-0000000b"

readings = st.builds(
    Reading, st.integers(0, MAX_MS - 1), st.integers(0, MAX_COUNTER), st.sampled_from([ADA, BOB])
)


def test_a_reading_is_written_with_13_and_4_digits() -> None:
    assert str(Reading(1_790_000_000_000, 0, ADA)) == "1790000000000.0000.ada-0000000a"
    assert str(Reading(7, 12_345, ADA)) == "0000000000007.12345.ada-0000000a"


@given(readings)
def test_a_reading_reads_back(reading: Reading) -> None:
    assert Reading.parse(str(reading)) == reading


@pytest.mark.parametrize(
    "text", ["1790000000000.00001.ada-0000000a", "1790000000000.000000000.a.b.c-00000000"]
)
def test_a_reading_keeps_its_spelling_since_a_signature_covers_it(text: str) -> None:
    assert str(Reading.parse(text)) == text


def test_the_replica_is_everything_past_the_second_dot() -> None:
    assert Reading.parse("1790000000000.0000.a.b-00000001").replica == "a.b-00000001"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "179000000000.0000.ada",
        "17900000000000.0000.ada",
        "1790000000000.000.ada",
        "1790000000000.0000000000.ada",
        "1790000000000.0000.",
        "1790000000000.0000",
        "1790000000000.0000.ada\n",
        "1790000000000.0000.ada\u2028",
        "\u0661790000000000.0000.ada",
        "1790000000000.000\u0661.ada",
        "+790000000000.0000.ada",
        " 1790000000000.0000.ada",
    ],
)
def test_p5_a_text_outside_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(ClockError):
        Reading.parse(text)


def test_c2_readings_compare_as_numbers() -> None:
    later, earlier = Reading(5, 10_000, ADA), Reading(5, 9_999, ADA)
    assert later.key > earlier.key
    assert str(later) < str(earlier)


@given(st.none() | readings, st.integers(0, MAX_MS))
def test_a_tick_exceeds_the_last_reading(last: Reading | None, wall_ms: int) -> None:
    reading = tick(last, wall_ms, ADA)
    assert reading.replica == ADA
    assert last is None or reading.key > last.key
    assert reading.key >= (wall_ms, 0)
    assert Reading.parse(str(reading)) == reading


def test_a_tick_counts_while_the_wall_clock_stands_still_or_falls_back() -> None:
    assert tick(Reading(100, 3, ADA), 100, ADA) == Reading(100, 4, ADA)
    assert tick(Reading(100, 3, ADA), 50, ADA) == Reading(100, 4, ADA)
    assert tick(Reading(100, 3, ADA), 101, ADA) == Reading(101, 0, ADA)


def test_c2_a_counter_at_its_maximum_moves_on_to_the_next_millisecond() -> None:
    assert tick(Reading(100, MAX_COUNTER, BOB), 50, ADA) == Reading(101, 0, ADA)


def test_a_clock_at_its_end_is_an_error_and_not_an_unreadable_reading() -> None:
    with pytest.raises(ClockError):
        tick(Reading(MAX_MS, MAX_COUNTER, ADA), 0, ADA)
    with pytest.raises(ClockError):
        tick(None, -1, ADA)


@given(st.none() | readings, readings)
def test_adopting_moves_up_to_what_was_seen_and_never_back(last: Reading | None, seen: Reading) -> None:
    adopted = adopt(last, seen, ADA)
    assert adopted.key == max(seen.key, last.key if last else seen.key)
    assert tick(adopted, 0, ADA).key > seen.key
