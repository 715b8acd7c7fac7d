"""What waits to be sent on one connection, within bounds whatever its client reads."""

from collections import deque
from typing import Final

EMPTY_HINT: Final = '{"t":"ops","ops":[]}'
"""Tells a client to ask for what it lacks, where the hints that would have said so were dropped."""


class Outbox:
    """Texts to send, in order. Answers are never dropped: whoever reads requests waits while `full`.

    Hints are dropped once more than `limit` bytes wait, and one empty hint goes out in their place. Of several
    presence frames only the last is sent.
    """

    __slots__ = ("_answers", "_bytes", "_hints", "_limit", "_missed", "_presence", "dropped")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._answers: deque[str] = deque()
        self._hints: deque[str] = deque()
        self._presence: str | None = None
        self._missed = False
        self._bytes = 0
        self.dropped = 0

    @property
    def size(self) -> int:
        """How much waits."""
        return self._bytes

    @property
    def empty(self) -> bool:
        """Whether nothing waits that has to go out before what comes now; news of who is connected may."""
        return not self._bytes and not self._missed

    @property
    def full(self) -> bool:
        """Whether no more requests should be read for now."""
        return self._bytes > self._limit

    def answer(self, text: str) -> None:
        """Queue the answer to a request."""
        self._answers.append(text)
        self._bytes += len(text)

    def hint(self, text: str) -> None:
        """Queue a hint, or drop it and all before it where too much waits."""
        if self._missed:
            self.dropped += 1
            return
        if self._bytes + len(text) > self._limit:
            self.dropped += len(self._hints) + 1
            self._bytes -= sum(map(len, self._hints))
            self._hints.clear()
            self._missed = True
            return
        self._hints.append(text)
        self._bytes += len(text)

    def pull(self) -> None:
        """Tell the client to ask for what it lacks."""
        self._missed = True

    def presence(self, text: str) -> None:
        """Queue who is connected, in place of what was queued of that before."""
        self._presence = text

    def take(self) -> str | None:
        """Take the next text to send, None while there is none."""
        if self._answers or self._hints:
            text = self._answers.popleft() if self._answers else self._hints.popleft()
            self._bytes -= len(text)
            return text
        if self._missed:
            self._missed = False
            return EMPTY_HINT
        text, self._presence = self._presence or "", None
        return text or None

    def clear(self) -> None:
        """Forget everything that waits."""
        self._answers.clear()
        self._hints.clear()
        self._presence, self._missed, self._bytes = None, False, 0
