"""The metadata of a message: what may be in it, and how much together (section 8.3)."""

from collections.abc import Mapping
from typing import Final

from core.errors import invalid
from crypto.canonical import JsonError, JsonValue, canonical_size

MAX_METADATA_BYTES: Final = 64 * 1024
"""The most that all metadata of one message takes as canonical JSON."""

FIELD: Final = "message.metadata"


def extension_of(message: Mapping[str, JsonValue], uri: str) -> JsonValue:
    """What a message carries of an extension; None where that is nothing.

    Raises DmpError `invalid` on `message.metadata` for metadata that is no object.
    """
    metadata = message.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise invalid(FIELD, "metadata is an object with the URIs of extensions as its names")
    return metadata.get(uri)


def check_size(message: Mapping[str, JsonValue]) -> None:
    """Check that all metadata of a message fits, that of its parts included.

    Raises DmpError `invalid` on `message.metadata`.
    """
    size = _size(message.get("metadata"))
    parts = message.get("parts")
    if isinstance(parts, list):
        size += sum(_size(part.get("metadata")) for part in parts if isinstance(part, dict))
    if size > MAX_METADATA_BYTES:
        raise invalid(
            FIELD, f"the metadata of a message may take {MAX_METADATA_BYTES} bytes; it takes {size}"
        )


def _size(metadata: JsonValue) -> int:
    if metadata is None:
        return 0
    try:
        return canonical_size(metadata)
    except JsonError as error:
        raise invalid(FIELD, f"metadata must be JSON: {error}") from None
