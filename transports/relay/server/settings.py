"""What a relay allows: its address, its limits, and how long it keeps things. Times are in milliseconds."""

from dataclasses import dataclass, field
from typing import Final

from transports.relay.address import USUAL_DIFFICULTY

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
GIB: Final = 1024**3


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one relay. `url` is the address that clients dial, without a slash at its end."""

    url: str
    difficulty: int = USUAL_DIFFICULTY
    """Leading zero bits of the work that registers a team; 0 asks for none."""
    tokens: frozenset[str] = field(default=frozenset(), repr=False)
    """Tokens that register a team in place of work."""
    token_required: bool = False
    """Whether work does not do, and a token is needed."""
    stamp_life_ms: int = 10 * MINUTE_MS
    """How far the time in a stamp may be from this relay's clock, before or after."""
    max_teams: int = 10_000
    max_bytes: int = 50 * GIB
    """What all teams together may store."""
    max_team_bytes: int = 2 * GIB
    """What one team may store; its admins may store an eighth more, so that they can still revoke somebody."""
    registrations_per_source: int = 20
    """Attempts to register that one source has in an hour."""
    ops_per_minute: int = 1_000
    """Ops that one replica may publish in a minute, the upload of its history aside."""
    history_ops: int = 1_000_000
    """Ops of one replica that may count as the upload of its history."""
    pending_per_team: int = 10
    """Machines that wait to be admitted to one team and may connect in a minute."""
    pending_per_source: int = 3
    """Such machines from one source in a minute, whatever the team."""
    max_pending: int = 200
    """Machines of one team that may wait to be admitted, each with an invite that is open."""
    retention_ms: int = 30 * DAY_MS
    """How long mail that nobody acknowledged is kept."""
    auth_ms: int = 10_000
    """How long a connection has to say who it is."""
    request_ms: int = 10_000
    """How long a socket has to send its first request."""
    body_ms: int = 15_000
    """How long a request to register may take to arrive."""
    unread_ms: int = 30_000
    """How long a client may leave what is sent to it unread before its connection is cut."""
    outbox_bytes: int = 512 * 1024
    """What may wait to be read by a client before it gets no more hints of what was stored."""
