"""Counting what happens in a window of time."""

from collections import deque
from collections.abc import Hashable


class Windows:
    """Lets `limit` events of one key through in any `window_ms`, and remembers no key for longer than that."""

    def __init__(self, limit: int, window_ms: int) -> None:
        self._limit = limit
        self._window_ms = window_ms
        self._events: dict[Hashable, deque[int]] = {}
        self._swept_ms = 0

    def allow(self, key: Hashable, now_ms: int) -> bool:
        """Count an event, unless the key has had its share."""
        self._sweep(now_ms)
        events = self._events.setdefault(key, deque())
        while events and events[0] <= now_ms - self._window_ms:
            events.popleft()
        if len(events) >= self._limit:
            return False
        events.append(now_ms)
        return True

    def __len__(self) -> int:
        return len(self._events)

    def _sweep(self, now_ms: int) -> None:
        if now_ms - self._swept_ms < self._window_ms:
            return
        self._swept_ms = now_ms
        old = now_ms - self._window_ms
        self._events = {key: events for key, events in self._events.items() if events and events[-1] > old}


class Bucket:
    """Lets `per_minute` through in a minute: full at first, and filled again as time passes."""

    __slots__ = ("_filled_ms", "_level", "_per_minute")

    def __init__(self, per_minute: int, now_ms: int) -> None:
        self._per_minute = per_minute
        self._level = float(per_minute)
        self._filled_ms = now_ms

    def take(self, amount: int, now_ms: int) -> int:
        """Take this much, or nothing; return for how many milliseconds there is too little, 0 where it was taken.

        `amount` is at most a minute's worth.
        """
        passed = max(0, now_ms - self._filled_ms)
        self._filled_ms = now_ms
        self._level = min(self._per_minute, self._level + passed * self._per_minute / 60_000)
        if amount <= self._level:
            self._level -= amount
            return 0
        return max(1, int((amount - self._level) * 60_000 / self._per_minute))
