"""What other packages add to the requests that go to peers: an extension that a peer's card declares.

An entry point of the group `dmp.a2a.peers` names an object for one extension. It is asked for every peer whose card
declares the extension, and has the last word on each request: what it returns is sent as it is.
"""

import logging
from collections.abc import Mapping, MutableMapping
from functools import cache
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from bindings.a2a.peers.peer import Peer
from crypto.canonical import JsonValue

GROUP: Final = "dmp.a2a.peers"

_log = logging.getLogger(__name__)


@runtime_checkable
class PeerExtension(Protocol):
    """One extension, as this host speaks it to peers."""

    @property
    def uri(self) -> str:
        """Its URI, as cards declare it."""

    def check(self, params: Mapping[str, JsonValue], options: Mapping[str, str], /) -> None:
        """Look at what a card declares and what the peer's owner set for it, before the peer is added or changed.

        Raises DmpError for what this host cannot satisfy, and for options that are missing or mistyped.
        """

    async def shape(
        self,
        root: Path,
        peer: Peer,
        params: Mapping[str, JsonValue],
        request: Mapping[str, JsonValue],
        headers: MutableMapping[str, str],
        /,
    ) -> Mapping[str, JsonValue]:
        """Return a SendMessageRequest as it is to be sent, in proto-JSON; `headers` may be added to.

        It is whole but for what extensions add, and is asked for anew with each try of the same message. Raises
        `bindings.a2a.peers.wire.PeerError`, which says whether it is worth another try.
        """


@runtime_checkable
class HearingExtension(PeerExtension, Protocol):
    """One that looks at what a peer's answer says of it, before its result counts."""

    def hear(self, headers: Mapping[str, str], /) -> None:
        """Look at the headers of an answer, by lower-case names. Raises `bindings.a2a.peers.wire.PeerError`."""


@cache
def extensions() -> Mapping[str, PeerExtension]:
    """Those that are installed and can be loaded, by URI."""
    from importlib.metadata import entry_points  # late: it reads the metadata of everything that is installed

    found: dict[str, PeerExtension] = {}
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
        except Exception as error:  # noqa: BLE001 - whatever another package's import raises
            _log.warning("the extension %s cannot be loaded (%s)", entry.name, type(error).__name__)
            continue
        if isinstance(loaded, PeerExtension):
            found[loaded.uri] = loaded
        else:
            _log.warning("the extension %s cannot be loaded (it is none)", entry.name)
    return found


def of(peer: Peer) -> list[tuple[PeerExtension, Mapping[str, JsonValue]]]:
    """The extensions that a peer declares and this host speaks, with the parameters that the peer published."""
    known = extensions()
    return [(known[each.uri], each.params) for each in peer.about.extensions if each.uri in known]


def check(peer: Peer) -> None:
    """Have each of a peer's extensions look at it. Raises DmpError as they do."""
    for extension, params in of(peer):
        extension.check(params, peer.options)
