"""A replica that signs whatever it is told to, right or wrong, with other libraries than `crypto` uses."""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from vectors.authoring.kit import Json

ZEROS: Final = "0" * 64
START_MS: Final = 1_790_000_000_000
HEADER: Final = ("v", "replica", "seq", "prev", "hlc", "type", "to", "bodyHash")

CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def b64u(data: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def unb64u(text: str) -> bytes:
    """The bytes of base64url without padding."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def crockford(data: bytes) -> str:
    """Crockford base 32, by way of one string of bits."""
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return "".join(CROCKFORD[int(bits[at : at + 5], 2)] for at in range(0, len(bits), 5))


def sha256(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def line(entry: Json, **changes: Any) -> str:
    """An entry as a line, in the order its members were written, with members changed, or REMOVED."""
    value = {name: item for name, item in (entry | changes).items() if item is not REMOVED}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Removed:
    def __repr__(self) -> str:
        return "REMOVED"


REMOVED: Final = _Removed()
"""Stands for a member that is to be taken out."""


def op_hash(entry: Json) -> str:
    """The opHash of an entry."""
    return sha256(rfc8785.dumps({name: entry[name] for name in (*HEADER, "sig") if name in entry}))


def content_hash(entry: Json) -> str:
    """The hash of an entry's content."""
    return sha256(rfc8785.dumps({name: entry[name] for name in ("body", "sealed") if name in entry}))


def stub(entry: Json) -> Json:
    """The stub of an op."""
    return {name: entry[name] for name in (*HEADER, "sig") if name in entry} | {"pruned": True}


def head(entry: Json) -> Json:
    """A chain's head, at this entry."""
    return {"seq": entry["seq"], "opHash": op_hash(entry), "hlc": entry["hlc"]}


class Author:
    """A replica with keys made from its name."""

    def __init__(self, replica: str, *, keys: str | None = None) -> None:
        self.replica = replica
        seed = (keys or replica).encode()
        self.signing = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"sign " + seed).digest())
        self.sealing = X25519PrivateKey.from_private_bytes(hashlib.sha256(b"seal " + seed).digest())
        self.sign_pub = b64u(self.signing.public_key().public_bytes_raw())
        self.seal_pub = b64u(self.sealing.public_key().public_bytes_raw())
        self.seal_priv = b64u(self.sealing.private_bytes_raw())

    @property
    def key(self) -> Json:
        """The body of its key op."""
        return {
            "handle": self.replica[:-9],
            "device": "desk",
            "build": "1.0",
            "signPub": self.sign_pub,
            "sealPub": self.seal_pub,
            "legacy": None,
        }

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its keys."""
        text = f"dispatch-fp-v1\n{self.sign_pub}\n{self.seal_pub}"
        code = crockford(hashlib.sha256(text.encode()).digest()[:15])
        return "-".join(code[at : at + 4] for at in range(0, 24, 4))

    def sign(self, tag: str, text: bytes) -> str:
        """The signature over a tag, a line feed and a text."""
        return b64u(self.signing.sign(tag.encode() + b"\n" + text))

    def key_op(self, **changes: Any) -> Json:
        """Its key op, with members of the header or content changed."""
        return self.op(None, "key", body=self.key, **changes)

    def op(self, after: Json | None, type: str = "task", **changes: Any) -> Json:
        """An op after another one, signed with whatever members are given in place of those that fit."""
        seq = changes.pop("seq", 1 if after is None else after["seq"] + 1)
        entry: Json = {
            "v": 2,
            "replica": self.replica,
            "seq": seq,
            "prev": ZEROS if after is None else op_hash(after),
            "hlc": f"{START_MS + seq}.0000.{self.replica}",
            "type": type,
        }
        entry |= changes
        entry = {name: item for name, item in entry.items() if item is not REMOVED}
        entry.setdefault("bodyHash", content_hash(entry))
        return self.resigned(entry)

    def resigned(self, entry: Json) -> Json:
        """An entry with this author's signature over its header as it stands."""
        header: Json = {name: entry[name] for name in HEADER if name in entry}
        return entry | {"sig": self.sign("dispatch-op-v2", rfc8785.dumps(header))}
