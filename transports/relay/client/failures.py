"""What a connection that is not made, or that ends, is called for people."""

import os
import ssl
from typing import Final

import aiohttp

from transports.base import Unreachable
from transports.relay.client.reasons import shown, turned_away
from transports.relay.frames import Why, why

NETWORK: Final = "check the address and the network; what is to be published waits here"

_STATUSES: Final = {
    404: (
        "knows no such team",
        "register the team there first, `dmp team transport relay`; or check the address, the path in it too",
    ),
    403: ("does not let this machine in", "ask whoever runs the relay"),
    429: ("lets nobody in for now, since too many came", "try again in some minutes"),
    503: ("is shutting down, or has no room", "try again later"),
}


class TurnedAwayError(Unreachable):
    """The relay answered, and wants no connection of this replica. `later` tells that it may at another time."""

    def __init__(self, error: Unreachable, *, later: bool) -> None:
        super().__init__(error.message, error.hint)
        self.later = later


_LATER: Final = frozenset({Why.LIMITED, Why.PENDING, Why.REPLACED, Why.SLOW, Why.CLOSING, Why.FAILED, None})


def refused(reason: str) -> TurnedAwayError:
    """The relay said no, for this reason."""
    return TurnedAwayError(turned_away(reason), later=why(reason) in _LATER)


def not_made(url: str, error: Exception) -> Unreachable:
    """A connection could not be made."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        sentence, hint = _STATUSES.get(
            error.status,
            (
                f"is no relay: it answers with status {error.status}",
                "check the address, the path in it too",
            ),
        )
        later = error.status in (429, 503)
        return TurnedAwayError(Unreachable(f"{url} {sentence}", hint), later=later)
    if isinstance(error, aiohttp.TooManyRedirects):
        return Unreachable(f"{url} leads somewhere else", "use the address it leads to, if you trust it")
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLError | aiohttp.ClientSSLError):
        return Unreachable(
            f"{url} does not prove that it is who it says: {shown(str(error))}",
            "nothing was sent to it; for a certificate of your own authority, name that in SSL_CERT_FILE",
        )
    if isinstance(error, TimeoutError):
        return Unreachable(f"{url} does not answer in time", NETWORK)
    if isinstance(error, aiohttp.ClientConnectorError):  # whose own text shows objects of this process
        return Unreachable(f"{url} does not answer: {shown(_reason(error.os_error))}", NETWORK)
    return Unreachable(f"{url} does not answer: {shown(str(error))}", NETWORK)


def _reason(error: OSError) -> str:
    """Why a host cannot be reached, in the system's words where it has any."""
    return (
        os.strerror(error.errno)
        if error.errno is not None and error.errno > 0
        else str(error.strerror or error)
    )


class LostError(Unreachable):
    """A connection ended by itself, or was found to have ended: another one may be better at once."""


def lost(url: str, why_: str) -> LostError:
    """A connection ended by itself."""
    return LostError(*_gone(url, why_))


def replaced(reason: str) -> LostError:
    """Another connection of this replica took the place of this one, as a command does that is done by now."""
    error = turned_away(reason)
    return LostError(error.message, error.hint)


def given_up(url: str, why_: str) -> Unreachable:
    """A connection was ended from here."""
    return Unreachable(*_gone(url, why_))


def _gone(url: str, why_: str) -> tuple[str, str]:
    return f"the connection to {url} is gone: {shown(why_)}", NETWORK


def held(url: str) -> Unreachable:
    """This replica leaves the relay to another connection of the same replica for now."""
    return Unreachable(
        f"another connection of this same replica to {url} keeps taking the place of this one, which holds back",
        turned_away(Why.REPLACED.reason("")).hint,
    )
