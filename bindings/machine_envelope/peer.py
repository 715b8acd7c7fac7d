"""The extension as this host speaks it to peers whose cards require it (`bindings.a2a.peers.extensions`).

Envelopes are issued with this host's own key, where the peer accepts it as an issuer; or they are acquired where the
peer's card says, which is proved to be asked for by that key. The owner chooses with the option `envelope`.
"""

import json
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bindings.machine_envelope.extension import HEADER, URI, activated, read_params
from core.errors import DmpError, invalid
from crypto.canonical import JsonValue

if TYPE_CHECKING:
    from bindings.a2a.peers.peer import Peer
    from bindings.machine_envelope.extension import Params
    from bindings.machine_envelope.keyfile import OwnKey

OPTION: Final = "envelope"
OWN: Final = "own"
ACQUIRE: Final = "acquire"

Object = Mapping[str, JsonValue]


class MachineEnvelopes:
    """A sender of messages with envelopes. What it does is imported when it does it."""

    uri = URI

    def check(self, params: Object, options: Mapping[str, str], /) -> None:
        """See that a peer's card can be satisfied. Raises DmpError."""
        read_params(params)
        if options.get(OPTION, OWN) not in (OWN, ACQUIRE):
            raise invalid(
                f"options.{OPTION}",
                f"this is {OWN}, for envelopes of this host's own key, or {ACQUIRE}, for those of whom the card names",
            )

    async def shape(
        self, root: Path, peer: "Peer", params: Object, request: Object, headers: MutableMapping[str, str], /
    ) -> Object:
        """Attach an envelope to a request's message, and activate the extension. Raises PeerError."""
        from bindings.a2a.peers.wire import PeerError
        from bindings.machine_envelope.attaching import attached, semantic, terms
        from bindings.machine_envelope.issuing import issue
        from bindings.machine_envelope.keyfile import read_key
        from replica.node import wall_clock

        message = request.get("message")
        assert isinstance(message, dict), "a request has a message"
        try:
            published, own = read_params(params), read_key(root)
            bare = semantic(message, published)
            bound = terms(bare, published, own.did)
            if peer.options.get(OPTION, OWN) == OWN:
                envelope: Object = issue(own.key, bound, wall_clock(), os.urandom)
            else:
                envelope = await _acquired(root, peer, published, bare, own, headers)
        except DmpError as error:
            raise PeerError("refused", f"no envelope could be made: {error.message}") from None
        named = headers.get(HEADER, "")
        if not activated([named]):
            headers[HEADER] = f"{named}, {URI}" if named else URI
        return {**request, "message": attached(bare, published, envelope)}

    def hear(self, headers: Mapping[str, str], /) -> None:
        """See that the peer says that it took the extension. Raises PeerError."""
        from bindings.a2a.peers.wire import PeerError

        if not activated([headers.get(HEADER.lower(), "")]):
            raise PeerError(
                "refused", "it does not say that it looked at the envelope, so its answer is not trusted"
            )


async def _acquired(
    root: Path,
    peer: "Peer",
    params: "Params",
    message: Object,
    own: "OwnKey",
    headers: Mapping[str, str],
) -> Object:
    """An envelope from where the peer's card says. Raises PeerError, and DmpError for a URL that may not be fetched."""
    from yarl import URL

    from bindings.a2a import public_url
    from bindings.a2a.peers.wire import PeerError
    from bindings.machine_envelope.acquiring import request_for
    from bindings.machine_envelope.attaching import terms
    from bindings.machine_envelope.verifying import Policy, RejectedError, verify
    from crypto.canonical import JsonError, decode, parse
    from replica.home.directory import Directory
    from replica.host.config import read_config
    from replica.node import wall_clock

    private = read_config(Directory(root).config_file).peers.private_hosts
    url = public_url.check_url(params.acquisition, "acquisition", private)
    asked = {"Content-Type": "application/json", HEADER: URI}
    # A credential goes to nobody but the peer it is for.
    if public_url.origin(url) == public_url.origin(URL(peer.interface.url)):
        asked[peer.interface.header] = headers[peer.interface.header]
    body = json.dumps(request_for(terms(message, params, own.did), own.key)).encode()
    try:
        answer = await public_url.fetch(url, private, method="POST", headers=asked, body=body)
        found = parse(decode(answer.body)).value
    except public_url.UnreachableError as error:
        raise PeerError("later", f"where it says that envelopes are to be had: {error}") from None
    except JsonError:
        found = None
    envelope = found.get("envelope") if answer.status == 200 and isinstance(found, dict) else None
    if not isinstance(envelope, dict):
        raise PeerError(
            "later" if answer.status >= 500 else "refused",
            f"where it says that envelopes are to be had, none is given (status {answer.status})",
        )
    issuer = envelope.get("issuer")
    accepted = Policy(
        frozenset((issuer,) if isinstance(issuer, str) else ()),
        params.recipient,
        params.kind,
        params.context_protocol,
        params.metadata_key,
    )
    try:
        verify(envelope, message, accepted, wall_clock())
    except RejectedError as error:
        raise PeerError("refused", f"the envelope that it gives is not good: {error.text}") from None
    return envelope


EXTENSION: Final = MachineEnvelopes()
