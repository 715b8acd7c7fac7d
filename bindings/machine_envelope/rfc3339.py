"""Times of RFC 3339, as milliseconds since 1970."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_FORM: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_time(text: str) -> int:
    """Read a time, in milliseconds since 1970, cut to whole ones; a leap second is the second after it.

    Raises ValueError for another form, or a time that there is not.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError("not a time of RFC 3339")
    day, minute, second, fraction, sign, hours, minutes = found.groups()
    if int(second) > 60 or int(hours or 0) > 23 or int(minutes or 0) > 59:
        raise ValueError("there is no such time")
    moment = datetime.fromisoformat(f"{day}T{minute}:00+00:00") - _EPOCH + timedelta(seconds=int(second))
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    moment += offset if sign == "-" else -offset
    return moment // timedelta(milliseconds=1) + int((fraction or "")[:3].ljust(3, "0"))
