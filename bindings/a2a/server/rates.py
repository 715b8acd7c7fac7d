"""How often each client may ask: a bucket for each, which fills as time passes."""

import math
import time
from typing import Final

from bindings.a2a.errors import Reason, Refused

BURST_SECONDS: Final = 10
"""How many seconds' requests may come at once."""

_MOST: Final = 10_000
"""Clients whose buckets are kept; those that are full again are the first to go."""


class Rates:
    """The buckets. A client may make `per_minute` requests in a minute, for as long as it likes."""

    def __init__(self, per_minute: int) -> None:
        self._per_second = per_minute / 60
        self._size = max(1.0, self._per_second * BURST_SECONDS)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str, now: float | None = None) -> None:
        """Count a request, at a time in seconds. Raises Refused, which says when the next one may come."""
        now = time.monotonic() if now is None else now
        left, at = self._buckets.pop(client, (self._size, now))
        left = min(self._size, left + (now - at) * self._per_second)
        is_taken = left >= 1
        self._buckets[client] = (left - 1 if is_taken else left, now)
        if len(self._buckets) > _MOST:
            del self._buckets[next(iter(self._buckets))]
        if not is_taken:
            seconds = math.ceil((1 - left) / self._per_second)
            raise Refused(
                Reason.LIMITED, "you ask too often; wait a little", headers={"Retry-After": str(seconds)}
            )
