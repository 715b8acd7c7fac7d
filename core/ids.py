"""Message and delivery ids: lowercase ULIDs that rise in creation order within one host (sections 1.4, 13.7).

A ULID is 48 bits of milliseconds and 80 random bits in 26 characters of Crockford base 32. Within one
millisecond, and while the clock stands behind the last id, the previous one is counted up by one instead.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
# Two digits at a time: ids are made in every send.
_PAIRS: Final = tuple(first + second for first in _DIGITS for second in _DIGITS)
_SHIFTS: Final = tuple(range(120, -1, -10))
_RANDOM_BITS: Final = 80
_ULID: Final = re.compile(f"[0-7][{_DIGITS}]{{25}}")
ULID_GLOB: Final = "[0-7]" + "[0-9a-hjkmnp-tv-z]" * 25
"""The form of a ULID, as SQLite's GLOB reads it."""

_AFTER: Final = dict(pairwise(_DIGITS))
_TIME_DIGITS: Final = 10
# int() reads base 32 with the digits up to v.
_TO_BASE_32: Final = str.maketrans(_DIGITS, "0123456789abcdefghijklmnopqrstuv")


def is_ulid(prefix: str, text: str) -> bool:
    """Whether a text is a ULID behind a prefix."""
    return text.startswith(prefix) and _ULID.fullmatch(text, len(prefix)) is not None


class Ulids:
    """Makes ids. `random` returns that many random bytes, such as os.urandom."""

    def __init__(self, random: Callable[[int], bytes]) -> None:
        self._random = random

    def after(self, prefix: str, last: str | None, now_ms: int) -> str:
        """Return an id that sorts after `last`, the one made before it.

        `last` may be None, or an id of another form, which counts as none.
        """
        ulid = last[len(prefix) :] if last is not None else ""
        if _ULID.fullmatch(ulid) and now_ms <= int(ulid[:_TIME_DIGITS].translate(_TO_BASE_32), 32):
            return prefix + _counted_up(ulid)
        made = now_ms << _RANDOM_BITS | int.from_bytes(self._random(_RANDOM_BITS // 8), "big")
        return prefix + "".join([_PAIRS[made >> shift & 1023] for shift in _SHIFTS])


def _counted_up(ulid: str) -> str:
    """Return the ULID after one, as text: most ids of a batch are made so."""
    kept = ulid.rstrip(_DIGITS[-1])
    return kept[:-1] + _AFTER[kept[-1]] + _DIGITS[0] * (len(ulid) - len(kept))
