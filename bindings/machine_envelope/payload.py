"""The semantic message: what an envelope's payload digest is over.

It is the message as it was received, less the envelope's own entry in its metadata. Implementations differ on metadata
that this leaves empty: some keep it, some drop it. The digest of either form is accepted, and of no other.
"""

from collections.abc import Mapping
from typing import Final

from bindings.machine_envelope.credential import digest
from core.errors import invalid
from crypto.canonical import JsonError, JsonValue, canonical

FIELD: Final = "message"
_METADATA: Final = "metadata"


def without_envelope(message: Mapping[str, JsonValue], key: str) -> dict[str, JsonValue]:
    """The message less the entry `key` of its metadata; metadata stays, also when that leaves it empty."""
    found, metadata = dict(message), message.get(_METADATA)
    if isinstance(metadata, dict):
        found[_METADATA] = {name: each for name, each in metadata.items() if name != key}
    return found


def payload_bytes(message: Mapping[str, JsonValue], key: str) -> bytes:
    """The RFC 8785 bytes of a message as a sender signs them: without metadata that would be empty.

    Raises DmpError `invalid` for what has no canonical form.
    """
    found = without_envelope(message, key)
    if found.get(_METADATA) == {}:
        del found[_METADATA]
    return _canonical(found)


def payload_digests(message: Mapping[str, JsonValue], key: str) -> frozenset[str]:
    """The digests that an envelope may state for a message. Raises DmpError as `payload_bytes`."""
    return frozenset(
        (digest(payload_bytes(message, key)), digest(_canonical(without_envelope(message, key))))
    )


def _canonical(value: dict[str, JsonValue]) -> bytes:
    try:
        return canonical(value)
    except JsonError as error:
        raise invalid(FIELD, f"a message must have a canonical form: {error}") from None
