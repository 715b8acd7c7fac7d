"""Timestamps: times in UTC in the one form that sorts as text, `YYYY-MM-DDTHH:MM:SS.sssZ` (section 1.4)."""

import re
from datetime import UTC, datetime
from functools import lru_cache

_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


@lru_cache(maxsize=8)
def timestamp(ms: int) -> str:
    """Write a time given in milliseconds since 1970."""
    seconds, rest = divmod(ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{rest:03d}Z"


def milliseconds(text: str) -> int:
    """Read a timestamp as milliseconds since 1970. Raises ValueError for any other form, or no such day."""
    if _FORM.fullmatch(text) is None:
        raise ValueError("not a timestamp: YYYY-MM-DDTHH:MM:SS.sssZ")
    moment = datetime.fromisoformat(text[:19] + "+00:00")
    return int(moment.timestamp()) * 1000 + int(text[20:23])
