"""How many messages of each client are taken in an hour."""

from collections.abc import Callable

_HOUR: float = 3600.0


class Rate:
    """A bucket for each client: it fills evenly up to `most`, and each message takes one from it.

    `clock` tells seconds. What is counted is forgotten with the process.
    """

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> bool:
        """Whether another message of a client may be taken now."""
        now = self._clock()
        left, at = self._buckets.get(client, (float(self._most), now))
        left = min(float(self._most), left + (now - at) * self._most / _HOUR)
        taken = left >= 1.0
        self._buckets[client] = (left - 1.0 if taken else left, now)
        return taken
