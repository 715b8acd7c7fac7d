"""A relay's address, and what a replica signs and stamps to prove itself to it (federation wire 7.1, 7.3, 7.9).

Every proof names the address that was dialled, so that a relay in between cannot use it towards another.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from itertools import count
from typing import Final
from urllib.parse import urlsplit

AUTH_TAG: Final = "dispatch-relay-v1"
STAMP_TAG: Final = "dispatch-relay-reg-v1"

USUAL_DIFFICULTY: Final = 19
"""Leading zero bits that a relay usually asks for in a stamp."""

MAX_DIFFICULTY: Final = 26
"""Leading zero bits above which a client gives up, about a minute's work."""

_URL = re.compile(r"(wss?)://[A-Za-z0-9.:\[\]_-]+(/[A-Za-z0-9._~/-]*)?", re.ASCII)


class AddressError(ValueError):
    """A text that is no relay's address; the message says what would be."""


@dataclass(frozen=True, slots=True)
class RelayAddress:
    """A relay: `url` begins with wss:// (or ws:// to this machine itself) and has no slash at its end."""

    url: str

    @classmethod
    def parse(cls, text: str) -> "RelayAddress":
        """Read an address. Raises AddressError."""
        url = text.rstrip("/")
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname or "", parts.port
        except ValueError:
            raise AddressError(f"not a relay's address: {text!r}") from None
        if not _URL.fullmatch(url) or not host:
            raise AddressError(
                f"a relay's address is wss://host, with a port and a path if need be: not {text!r}"
            )
        if parts.scheme == "ws" and not _is_loopback(host):
            raise AddressError("ws:// is only used to this machine itself; use wss://")
        return cls(url)

    def team(self, team_id: str) -> str:
        """Where a team's WebSocket is."""
        return f"{self.url}/v1/teams/{team_id}"

    @property
    def registration(self) -> str:
        """Where the relay says over HTTP what it asks of a new team."""
        return f"{self._http}/v1/registration"

    @property
    def teams(self) -> str:
        """Where a team is registered over HTTP."""
        return f"{self._http}/v1/teams"

    @property
    def _http(self) -> str:
        return "http" + self.url.removeprefix("ws")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def auth_message(url: str, team_id: str, nonce: str) -> bytes:
    """Return what a replica signs to answer a challenge; `url` is the relay's, without a slash at its end."""
    return f"{AUTH_TAG}\n{url}\n{team_id}\n{nonce}".encode()


@dataclass(frozen=True, slots=True)
class Stamp:
    """Work that was done to register a team: `t` in unix seconds, and the number that makes the hash small."""

    t: int
    nonce: int

    def bits(self, url: str, team_id: str) -> int:
        """How many zero bits the hash of this stamp begins with."""
        digest = sha256(f"{STAMP_TAG}\n{team_id}\n{url}\n{self.t}\n{self.nonce}".encode()).digest()
        return 256 - int.from_bytes(digest).bit_length()


def solve(url: str, team_id: str, t: int, difficulty: int) -> Stamp:
    """Make a stamp. It takes twice as long for each bit, about half a second for the usual difficulty."""
    start = sha256(f"{STAMP_TAG}\n{team_id}\n{url}\n{t}\n".encode())
    limit = 1 << (256 - difficulty)
    for nonce in count():
        attempt = start.copy()
        attempt.update(b"%d" % nonce)
        if int.from_bytes(attempt.digest()) < limit:
            break
    return Stamp(t, nonce)
