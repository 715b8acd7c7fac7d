"""Where a receiver tells how envelopes for it are to be had, free, and gives them where its owner wants that.

Whoever asks for one signs the request with the key of the did:key that is to be the envelope's sender: the caller
proof. Nothing is kept of a request.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bindings.machine_envelope.credential import AUTHENTICATION, MAX_TEXT, SUITE
from bindings.machine_envelope.did_key import read_did, write_did
from bindings.machine_envelope.extension import URI, Params
from bindings.machine_envelope.issuing import LIFETIME_MS, Terms, issue
from bindings.machine_envelope.keyfile import OwnKey
from core.errors import forbidden, invalid
from crypto import ed25519
from crypto.canonical import JsonError, JsonValue, canonical
from crypto.ed25519 import SigningKey

PROOF: Final = "caller_proof"
_BOUND: Final = ("sender", "recipient", "kind", "context_protocol", "message_id", "payload_sha256")
_SHA256: Final = re.compile("[0-9a-f]{64}")
_SIGNATURE: Final = re.compile("[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Acquisition:
    """What is published, whose envelopes are accepted, and the key that issues some; None where none are issued."""

    params: Params
    issuers: frozenset[str]
    issuer: OwnKey | None

    def describe(self) -> dict[str, JsonValue]:
        """What the endpoint answers to whoever asks; the same for everybody."""
        found: dict[str, JsonValue] = {
            "extension": URI,
            "params": self.params.to_json(),
            "accepted_issuers": [*sorted(self.issuers)],
            "suite": SUITE,
            "payload": (
                "the SHA-256 of the RFC 8785 bytes of the message without its envelope, in lower-case hexadecimal"
            ),
            "issues": self.issuer is not None,
        }
        if self.issuer is None:
            found["how"] = "get an envelope from one of the accepted issuers"
        else:
            found["how"] = (
                "POST a JSON object with these members, with the bearer token that messages are sent with; "
                f"{PROOF} is the Ed25519 signature by the sender's key, in hexadecimal, over the RFC 8785 bytes of "
                "the object without it"
            )
            found["request"] = [*_BOUND, PROOF]
            found["authentication"] = AUTHENTICATION
            found["lifetime_seconds"] = LIFETIME_MS // 1000
        return found

    def issue(
        self, request: Mapping[str, JsonValue], now: int, random: Callable[[int], bytes]
    ) -> dict[str, JsonValue]:
        """Issue an envelope that was asked for. Raises DmpError `invalid` or `forbidden` on the member at fault."""
        if self.issuer is None:
            raise forbidden(
                "issues", "this host issues no envelopes; get one from one of the accepted issuers"
            )
        if request.keys() != {*_BOUND, PROOF}:
            raise invalid(None, f"a request has the members {', '.join((*_BOUND, PROOF))}, and no others")
        terms = Terms(**{name: _text(request, name) for name in _BOUND})
        for name, published in (
            ("recipient", self.params.recipient),
            ("kind", self.params.kind),
            ("context_protocol", self.params.context_protocol),
        ):
            if request[name] != published:
                raise invalid(name, "this is not what the card publishes")
        if _SHA256.fullmatch(terms.payload_sha256) is None:
            raise invalid("payload_sha256", "a digest is 64 digits of lower-case hexadecimal")
        proof = _text(request, PROOF)
        signed = _signed(request)
        if _SIGNATURE.fullmatch(proof) is None or not ed25519.verify(
            read_did(terms.sender, "sender"), signed, bytes.fromhex(proof)
        ):
            raise forbidden(PROOF, "this is no signature by the sender's key over the rest of the request")
        return issue(self.issuer.key, terms, now, random)


def request_for(terms: Terms, key: SigningKey) -> dict[str, JsonValue]:
    """The request for an envelope, as its sender signs it."""
    assert terms.sender == write_did(key.public), "a sender signs for itself"
    request: dict[str, JsonValue] = {name: getattr(terms, name) for name in _BOUND}
    return {**request, PROOF: key.sign(canonical(request)).hex()}


def _text(request: Mapping[str, JsonValue], name: str) -> str:
    found = request[name]
    if not isinstance(found, str) or not found or len(found) > MAX_TEXT:
        raise invalid(name, f"this must be a text of 1 to {MAX_TEXT} characters")
    return found


def _signed(request: Mapping[str, JsonValue]) -> bytes:
    try:
        return canonical({name: each for name, each in request.items() if name != PROOF})
    except JsonError as error:
        raise invalid(None, f"a request must have a canonical form: {error}") from None
