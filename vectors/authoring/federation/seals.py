"""Sealed content: made with `pyhpke` under fixed ephemeral keys, so that it is the same each time (F.3)."""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.crypto.pyhpke_wrap import FixedEphemerals
from vectors.authoring.federation.author import Author, b64u, line, stub, unb64u
from vectors.authoring.kit import Expected, Json, ok, refused, vector

ada, bob, cy = Author("ada-0000000a"), Author("bob-0000000b"), Author("cy-0000000c")
KEY_OP = ada.key_op()
PAYLOAD: Json = {"message": {"id": "m-1", "body": "Ship it?\nÄ \u2028"}, "targets": [], "n": 1e21}


def fixed(name: str, size: int = 32) -> bytes:
    """Bytes that look random and are always the same."""
    return hashlib.sha256(name.encode()).digest()[:size]


def sealed(
    plaintext: bytes,
    to: Sequence[Author],
    *,
    replica: str = ada.replica,
    seq: int = 2,
    type: str = "mail",
    name: str | None = None,
) -> Json:
    """A sealed member for an op of this replica, seq and type.

    Its random bytes come from a name, by default the seq.
    """
    aad = f"dispatch-sealed-v1\n{replica}\n{seq}\n{type}".encode()
    name = name or str(seq)
    key, nonce = content_key(name), fixed(f"nonce {name}", 12)
    keys = {}
    for each in to:
        wrap = FixedEphemerals(partial(fixed, f"ephemeral {name} {each.replica}"))
        enc, wrapped = wrap(key, public=unb64u(each.seal_pub), info=aad + b"\n" + each.replica.encode())
        keys[each.replica] = {"enc": b64u(enc), "ct": b64u(wrapped)}
    return {"nonce": b64u(nonce), "ct": b64u(AESGCM(key).encrypt(nonce, plaintext, aad)), "keys": keys}


def content_key(name: str) -> bytes:
    """The content key of the op whose bytes come from this name."""
    return fixed(f"content key {name}")


def mail(content: Json, to: list[Author], **changes: Any) -> Json:
    """A mail op with this sealed member."""
    names = sorted(each.replica for each in to)
    return ada.op(KEY_OP, changes.pop("type", "mail"), to=names, sealed=content, **changes)


def opening(entry: Json, me: Author, **changes: Any) -> Json:
    return {"op": "openSealed", "line": line(entry, **changes), "me": me.replica, "sealPriv": me.seal_priv}


def opens(entry: Json, me: Author, payload: Any = PAYLOAD) -> Expected:
    return ok(opening(entry, me), payload=payload)


def stays_shut(entry: Json, me: Author) -> Expected:
    return refused(opening(entry, me))


PLAIN = rfc8785.dumps(PAYLOAD)
BOTH = sealed(PLAIN, [bob, cy])
MAIL = mail(BOTH, [bob, cy])
FORWARD_PAYLOAD = {"target": "human:cy", "key": b64u(content_key("2"))}
FORWARD = bob.op(
    bob.key_op(),
    "mail",
    seq=7,
    to=[cy.replica],
    body={"forward": MAIL},
    sealed=sealed(rfc8785.dumps(FORWARD_PAYLOAD), [cy], replica=bob.replica, seq=7),
)


def damaged(member: str) -> Json:
    """The sealed member with one bit of a member flipped."""
    raw = bytearray(unb64u(BOTH[member]))
    raw[0] ^= 1
    return BOTH | {member: b64u(bytes(raw))}


VECTORS = [
    vector(
        "seal.opens-for-each-recipient",
        "Each recipient opens the payload with its own private key, and nobody else does",
        opens(MAIL, bob),
        opens(MAIL, cy),
        stays_shut(MAIL, ada),
        refused(opening(MAIL, bob) | {"sealPriv": cy.seal_priv}),
        refused(opening(MAIL, bob) | {"me": cy.replica}),
        sections=("F.3",),
    ),
    vector(
        "seal.the-payload-need-not-be-canonical",
        "The payload is JSON in any form, and not JSON fails",
        opens(mail(sealed(b' {"b": 5.0, "a": "\\u00e9"} ', [bob]), [bob]), bob, {"a": "é", "b": 5}),
        stays_shut(mail(sealed(b"no json", [bob]), [bob]), bob),
        sections=("F.3",),
    ),
    vector(
        "seal.state-ops-seal-the-same-way",
        "The type in the associated data is the op's",
        opens(mail(sealed(PLAIN, [bob], type="state"), [bob], type="state"), bob),
        stays_shut(mail(sealed(PLAIN, [bob]), [bob], type="state"), bob),
        sections=("F.3",),
    ),
    vector(
        "seal.cannot-move-to-another-op",
        "A sealed member opens only in an op of the replica, seq and type it was sealed for",
        stays_shut(ada.op(KEY_OP, "mail", seq=3, to=MAIL["to"], sealed=BOTH), bob),
        stays_shut(bob.op(bob.key_op(), "mail", to=MAIL["to"], sealed=BOTH), bob),
        stays_shut(ada.op(KEY_OP, "state", to=MAIL["to"], sealed=BOTH), bob),
        sections=("F.3",),
    ),
    vector(
        "seal.cannot-be-damaged",
        "Damaged ciphertext, a nonce or wrap of the wrong form, and wraps exchanged between recipients do not open",
        *(stays_shut(mail(damaged(member), [bob, cy]), bob) for member in ("ct", "nonce")),
        stays_shut(mail(BOTH | {"nonce": BOTH["nonce"] + "=="}, [bob, cy]), bob),
        stays_shut(mail(BOTH | {"nonce": BOTH["nonce"][:-2]}, [bob, cy]), bob),
        stays_shut(
            mail(
                BOTH | {"keys": dict(zip(BOTH["keys"], reversed(BOTH["keys"].values()), strict=True))},
                [bob, cy],
            ),
            bob,
        ),
        stays_shut(mail(BOTH | {"keys": {bob.replica: {}, cy.replica: {}}}, [bob, cy]), bob),
        refused(opening(stub(MAIL), bob)),
        refused(opening(MAIL, bob, sealed=damaged("ct"))),
        sections=("F.3",),
    ),
    vector(
        "seal.a-forward-gives-the-content-key",
        "A forward keeps the original op and gives its content key, which opens it under the original's own data",
        opens(FORWARD, cy, FORWARD_PAYLOAD),
        ok(
            {"op": "openWithKey", "line": line(MAIL), "contentKey": FORWARD_PAYLOAD["key"]},
            payload=PAYLOAD,
        ),
        refused({"op": "openWithKey", "line": line(FORWARD), "contentKey": FORWARD_PAYLOAD["key"]}),
        ok({"op": "readEntry", "line": line(FORWARD)}, contentHash=FORWARD["bodyHash"]),
        sections=("F.3", "F.4"),
    ),
    vector(
        "seal.nothing-is-sealed-to-low-order-keys",
        "A key that gives the same secret for every private key, or that is not 32 bytes, gets nothing sealed",
        ok({"op": "canSealTo", "sealPub": bob.seal_pub}, can=True),
        *(
            ok({"op": "canSealTo", "sealPub": b64u(key)}, can=False)
            for key in (
                bytes(32),
                b"\x01" + bytes(31),
                bytes.fromhex("ec" + "ff" * 30 + "7f"),
                bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
                bytes(31),
                bytes(33),
            )
        ),
        sections=("F.3",),
    ),
]
