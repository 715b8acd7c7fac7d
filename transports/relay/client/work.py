"""The work a relay wants to see before it holds a new team (federation wire 7.9): many tries, told as they go on."""

from collections.abc import Callable
from hashlib import sha256
from itertools import count
from typing import Final

from transports.relay.address import STAMP_TAG, Stamp

_TOLD_EVERY: Final = 1 << 15
"""Tries between two words about them: some thirty times a second."""


def stamp(url: str, team: str, t: int, difficulty: int, progress: Callable[[int, int], None]) -> Stamp:
    """Make a stamp whose hash begins with `difficulty` zero bits, at the time `t` in unix seconds.

    `progress` is told how many were tried and how many it takes on average. What it raises ends the work.
    """
    start = sha256(f"{STAMP_TAG}\n{team}\n{url}\n{t}\n".encode())
    limit, expected = 1 << (256 - difficulty), 1 << difficulty
    for nonce in count():
        if nonce % _TOLD_EVERY == 0:
            progress(nonce, expected)
        attempt = start.copy()
        attempt.update(b"%d" % nonce)
        if int.from_bytes(attempt.digest()) < limit:
            break
    return Stamp(t, nonce)
