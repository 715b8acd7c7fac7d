"""What a sender does with a whole message: it names the extension, has that signed, and attaches the envelope."""

from collections.abc import Mapping

from bindings.machine_envelope.credential import digest
from bindings.machine_envelope.extension import URI, Params
from bindings.machine_envelope.issuing import Terms
from bindings.machine_envelope.payload import FIELD, payload_bytes
from core.errors import invalid
from crypto.canonical import JsonValue

Object = Mapping[str, JsonValue]


def semantic(message: Object, params: Params) -> dict[str, JsonValue]:
    """The message that is to be signed: it names the extension, and has no envelope yet.

    Raises DmpError `invalid` for metadata or extensions that are no such thing.
    """
    found, named = dict(message), message.get("extensions", [])
    metadata = message.get("metadata", {})
    if not isinstance(metadata, dict) or not isinstance(named, list):
        raise invalid(FIELD, "the metadata of a message is an object, and its extensions are a list")
    found["extensions"] = named if URI in named else [*named, URI]
    kept = {name: each for name, each in metadata.items() if name != params.metadata_key}
    found.pop("metadata", None)
    return {**found, "metadata": kept} if kept else found


def terms(message: Object, params: Params, sender: str) -> Terms:
    """What an envelope for a message binds. Raises DmpError `invalid` for a message without an id."""
    id_ = message.get("messageId")
    if not isinstance(id_, str) or not id_:
        raise invalid(f"{FIELD}.messageId", "a message has an id of its sender's own")
    return Terms(
        sender,
        params.recipient,
        params.kind,
        params.context_protocol,
        id_,
        digest(payload_bytes(message, params.metadata_key)),
    )


def attached(message: Object, params: Params, envelope: Object) -> dict[str, JsonValue]:
    """The message with its envelope."""
    metadata = message.get("metadata", {})
    assert isinstance(metadata, dict), "it was read by `semantic`"
    return {**message, "metadata": {**metadata, params.metadata_key: dict(envelope)}}
