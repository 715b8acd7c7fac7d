"""Times of RFC 3339."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings.machine_envelope.rfc3339 import read_time


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("2027-01-15T08:00:00.5Z", 1_800_000_000_500),
        ("2027-01-15T08:00:00.123456789Z", 1_800_000_000_123),
        ("2027-01-15T09:30:00+01:30", 1_800_000_000_000),
        ("2027-01-15T00:00:00-08:00", 1_800_000_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ],
)
def test_a_time_is_read(text: str, meant: int) -> None:
    assert read_time(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2027-01-15",
        "2027-01-15T08:00Z",
        "2027-01-15T08:00:00",
        "2027-01-15 08:00:00Z",
        "2027-02-30T08:00:00Z",
        "2027-01-15T24:00:00Z",
        "2027-01-15T08:00:61Z",
        "2027-01-15T08:00:00+24:00",
        "2027-01-15T08:00:00.Z",
        "20270115T080000Z",
        "٢027-01-15T08:00:00Z",
        "1800000000",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        read_time(text)


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
    st.integers(-1439, 1439),
)
def test_the_zone_does_not_matter(moment: datetime, minutes: int) -> None:
    there = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert read_time(there.isoformat()) == read_time(moment.isoformat())
    assert abs(read_time(moment.isoformat()) - moment.timestamp() * 1000) <= 1
