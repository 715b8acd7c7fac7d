"""Timestamps have one form of 24 characters, which sorts as text (section 1.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.timestamp import milliseconds, timestamp

times = st.integers(0, 253_402_300_799_999)


@given(times)
def test_a_time_reads_back(ms: int) -> None:
    assert milliseconds(timestamp(ms)) == ms
    assert len(timestamp(ms)) == 24


@given(times, times)
def test_times_sort_as_text(one: int, other: int) -> None:
    assert (one < other) == (timestamp(one) < timestamp(other))


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-23T10:00:00Z",
        "2026-09-23T10:00:00.000+00:00",
        "2026-09-23 10:00:00.000Z",
        "2026-13-23T10:00:00.000Z",
        "2026-02-30T10:00:00.000Z",
        "2026-09-23T24:00:00.000Z",
        "2026-09-23T10:00:00.000Z\n",
        "٢026-09-23T10:00:00.000Z",
    ],
)
def test_p5_no_other_form_is_a_timestamp(text: str) -> None:
    with pytest.raises(ValueError):
        milliseconds(text)
