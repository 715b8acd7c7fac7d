"""An instance behind someone else's gateway, as a peer of this host: an alias for a card, an id and a delivery mode.

The owner names the instance with `dmp a2a peer add ALIAS CARD-URL --set recipientInstanceId=ID`; each message to the
alias then carries the extension, the same one with each try.
"""

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Final

from bindings.a2a.peers.peer import Peer
from bindings.instance_routing.extension import BACKLOG, MAX_INSTANCE_ID, MODE, RECIPIENT, URI
from core.errors import invalid
from crypto.canonical import JsonValue

_HEADER: Final = "A2A-Extensions"
_FLAGS: Final = {"true": True, "false": False}


class InstanceExtension:
    """The extension, as this host speaks it to peers (`bindings.a2a.peers.extensions.PeerExtension`)."""

    @property
    def uri(self) -> str:
        """Its URI."""
        return URI

    def check(self, _params: Mapping[str, JsonValue], options: Mapping[str, str], /) -> None:
        """Check what the owner set. Raises DmpError `invalid` on the option."""
        recipient = options.get(RECIPIENT, "")
        if not 1 <= len(recipient) <= MAX_INSTANCE_ID or not recipient.isprintable():
            raise invalid(
                RECIPIENT,
                f"this agent is a gateway to instances; name one of its directory with --set {RECIPIENT}=ID",
            )
        if options.get(MODE, "inbox") not in ("inbox", "wake"):
            raise invalid(MODE, f"{MODE} is inbox or wake")
        if options.get(BACKLOG, "false") not in _FLAGS:
            raise invalid(BACKLOG, f"{BACKLOG} is true or false")

    async def shape(
        self,
        _root: Path,
        peer: Peer,
        _params: Mapping[str, JsonValue],
        request: Mapping[str, JsonValue],
        headers: MutableMapping[str, str],
        /,
    ) -> Mapping[str, JsonValue]:
        """Return a request with the extension's value, named in the header and in the message too."""
        routing: dict[str, JsonValue] = {RECIPIENT: peer.options[RECIPIENT]}
        if MODE in peer.options:
            routing[MODE] = peer.options[MODE]
        if BACKLOG in peer.options:
            routing[BACKLOG] = _FLAGS[peer.options[BACKLOG]]
        named = headers.get(_HEADER, "")
        headers[_HEADER] = f"{named}, {URI}" if named else URI
        message = request["message"]
        assert isinstance(message, dict)
        listed, metadata = message.get("extensions"), request.get("metadata")
        return {
            **request,
            "message": {**message, "extensions": [*(listed if isinstance(listed, list) else ()), URI]},
            "metadata": {**(metadata if isinstance(metadata, dict) else {}), URI: routing},
        }


EXTENSION: Final = InstanceExtension()
