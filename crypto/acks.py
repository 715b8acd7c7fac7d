"""Acknowledgements: how far one replica holds every other's log, signed by it (federation wire 6.10).

`through[p]` is the last seq of p whose op was verified and stored. It frees p to prune what came before, so
it is believed only under the key of the replica that says it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonError, JsonValue, canonical, decode, parse
from crypto.ed25519 import SIGNATURE_BYTES, SigningKey, verify
from crypto.encoding import EncodingError, b64u, unb64u
from crypto.op import MAX_SEQ

ACK_TAG: Final = b"dispatch-ack-v1\n"
MAX_ACKS_BYTES: Final = 1024 * 1024

_VERSION: Final = 1


class AcksError(ValueError):
    """Acknowledgements that are not to be believed; the text says why."""


@dataclass(frozen=True, slots=True)
class Acks:
    """What `replica` has of each publisher's log, at a time it names as ISO 8601 text."""

    replica: str
    through: Mapping[str, int]
    at: str


def sign_acks(acks: Acks, signer: SigningKey) -> bytes:
    """Write acknowledgements as `acks.json` holds them, with a line feed at the end."""
    members: dict[str, JsonValue] = {
        "v": _VERSION,
        "replica": acks.replica,
        "through": dict(acks.through),
        "at": acks.at,
    }
    members["sig"] = b64u(signer.sign(ACK_TAG + canonical(members)))
    return canonical(members) + b"\n"


def read_acks(raw: bytes, *, replica: str, public: bytes) -> Acks:
    """Read what was found in the folder of `replica`, whose signing key is `public`.

    Raises AcksError unless that replica said exactly this.
    """
    if len(raw) > MAX_ACKS_BYTES:
        raise AcksError("longer than 1 MiB")
    try:
        members = parse(decode(raw)).value
    except JsonError as error:
        raise AcksError(str(error)) from None
    if not isinstance(members, dict) or members.get("v") is True or members.get("v") != _VERSION:
        raise AcksError("not acknowledgements of version 1")
    if members.get("replica") != replica:
        raise AcksError("of another replica")
    _check_signature(members, public)
    return Acks(replica, _through(members.get("through")), _text(members.get("at")))


def _check_signature(members: Mapping[str, JsonValue], public: bytes) -> None:
    said = {name: value for name, value in members.items() if name != "sig"}
    try:
        signature = unb64u(_text(members.get("sig")), SIGNATURE_BYTES)
        message = ACK_TAG + canonical(said)
    except (EncodingError, JsonError) as error:
        raise AcksError(str(error)) from None
    if not verify(public, message, signature):
        raise AcksError("bad signature")


def _through(value: JsonValue) -> dict[str, int]:
    if not isinstance(value, dict):
        raise AcksError("without seqs")
    through: dict[str, int] = {}
    for publisher, seq in value.items():
        if type(seq) is not int or not 0 <= seq <= MAX_SEQ:
            raise AcksError("with something that is no seq")
        through[publisher] = seq
    return through


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise AcksError("a member that should be text is missing")
    return value
