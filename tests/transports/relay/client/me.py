"""A replica that uses a relay in tests."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from crypto.ed25519 import SigningKey
from tests.transports.ops import ADA
from transports.base import Transport
from transports.opening import Member
from transports.relay.address import RelayAddress
from transports.relay.client.socket import SocketLink
from transports.relay.client.transport import RelayTransport

TEAM = "0123456789abcdef0123456789abcdef"


@dataclass
class Me:
    """A member that says of itself what a test says (transports.opening.Member)."""

    replica: str = ADA
    key: SigningKey = field(default_factory=lambda: SigningKey.from_seed(bytes(32)))
    key_line: bytes | None = None
    team_id: str | None = TEAM

    def sign(self, data: bytes) -> bytes:
        return self.key.sign(data)

    def team(self) -> str | None:
        return self.team_id

    def key_op(self) -> bytes | None:
        return self.key_line


def transport_to(
    url: str,
    directory: Path,
    me: Member | None = None,
    *,
    request_seconds: float = 15.0,
    heartbeat_seconds: float = 20.0,
    random: Callable[[], float] = lambda: -0.49,
    sleep: Callable[[float], None] = time.sleep,
) -> RelayTransport:
    """A transport to the relay at an address, that waits hardly at all before it connects again."""
    link = SocketLink(request_seconds=request_seconds, heartbeat_seconds=heartbeat_seconds, random=random)
    return RelayTransport(RelayAddress.parse(url), me or Me(), directory, link, sleep=sleep)


def lines(transport: Transport, since: dict[str, int] | None = None) -> list[bytes]:
    """What a pull hands over."""
    return [line.raw for line in transport.pull(since or {})]
