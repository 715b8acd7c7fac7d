"""How a branch of a git repository is opened by its address."""

from typing import Final

from transports.base import Transport
from transports.git.transport import GitTransport
from transports.opening import Kind, Opening
from transports.remotes import Source, parse_remote


def _read(text: str, source: Source) -> str:
    return parse_remote(text, source).url


def _open(opening: Opening) -> Transport:
    return GitTransport(
        parse_remote(opening.address, opening.source), opening.directory, opening.branch, sleep=opening.sleep
    )


KIND: Final = Kind(_read, _open)
