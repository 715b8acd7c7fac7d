"""How a relay is opened by its address, which begins with wss:// or, on this machine itself, with ws://."""

from typing import Final

from transports.base import Transport, TransportError
from transports.opening import Kind, Opening
from transports.relay.address import AddressError, RelayAddress
from transports.remotes import RemoteError, Source, redact


def _read(text: str, source: Source) -> str:
    if redact(text) != text:
        raise RemoteError(f"a relay's address holds no name and no password: {redact(text)}")
    try:
        address = RelayAddress.parse(text)
    except AddressError as error:
        raise RemoteError(str(error)) from None
    if source is Source.NAMED and not address.url.startswith("wss://"):
        raise RemoteError(f"an invite or the roster may only name a wss relay, not {address.url}")
    return address.url


def _open(opening: Opening) -> Transport:
    # These bring an HTTP client with them, which commands that reach no relay need not wait for.
    from transports.relay.client.socket import SocketLink
    from transports.relay.client.transport import RelayTransport

    if opening.member is None:
        raise TransportError("a relay wants to know which replica asks", "use it from a replica's directory")
    return RelayTransport(
        RelayAddress.parse(opening.address),
        opening.member,
        opening.directory,
        SocketLink(),
        sleep=opening.sleep,
    )


KIND: Final = Kind(_read, _open)
