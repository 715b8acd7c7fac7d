"""Sockets that wait for whoever comes."""

import errno
import socket

from core.errors import Code, DmpError


def bound(address: str, option: str) -> socket.socket:
    """A socket that listens on an address, HOST:PORT, with 0 for a port that is free.

    Raises DmpError `unavailable`, which names the option that the address was given with.
    """
    name, port = _split(address)
    try:
        return socket.create_server(
            (name, int(port)), family=socket.AF_INET6 if ":" in name else socket.AF_INET
        )
    except OSError as error:
        why = (
            "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror or error})"
        )
        raise DmpError(
            Code.UNAVAILABLE, f"the address {address} {why}; give another one with {option}"
        ) from None


def reached_at(address: str, listening: socket.socket) -> str:
    """The address of a socket, with the port that was taken."""
    return f"{address.rpartition(':')[0]}:{listening.getsockname()[1]}"


def _split(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), port
