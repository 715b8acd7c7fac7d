"""Acknowledgements: how far a replica holds every other's log, signed by it (section F.2)."""

from typing import Any, Final

import rfc8785

from vectors.authoring.federation.author import Author, b64u
from vectors.authoring.federation.teams import AT
from vectors.authoring.kit import Expected, Json, ok, refused, vector

ada, bob = Author("ada-0000000a"), Author("bob-0000000b")
THROUGH: Final = {bob.replica: 7, "cy-0000000c": 0}


def said(author: Author = ada, *, tag: str = "dispatch-ack-v1", **changes: Any) -> str:
    """Acknowledgements of a replica as a transport holds them."""
    members: Json = {"v": 1, "replica": ada.replica, "through": THROUGH, "at": AT, **changes}
    signed = {**members, "sig": author.sign(tag, rfc8785.dumps(members))}
    return rfc8785.dumps(signed).decode() + "\n"


def reading(text: str, by: Author = ada) -> Json:
    return {"op": "readAcks", "text": text, "replica": by.replica, "signPub": by.sign_pub}


def reads(text: str, **result: Any) -> Expected:
    return ok(reading(text), **result)


VECTORS = [
    vector(
        "acks.written-one-way",
        "Acknowledgements are one canonical object with a line feed, signed over all of it but the signature",
        ok(
            {
                "op": "signAcks",
                "replica": ada.replica,
                "through": THROUGH,
                "at": AT,
                "signPriv": b64u(ada.signing.private_bytes_raw()),
            },
            text=said(),
        ),
        reads(said(), through=THROUGH, at=AT),
        reads(said(more=True), through=THROUGH, at=AT),
        sections=("F.2",),
    ),
    vector(
        "acks.of-one-replica",
        "Acknowledgements count only as the words of the replica they are read for, under its key and their own tag",
        refused(reading(said(bob))),
        refused(reading(said(), bob)),
        refused(reading(said(replica=bob.replica))),
        refused(reading(said(tag="dispatch-op-v2"))),
        refused(reading(said().replace(":7", ":8"))),
        refused(reading(said(v=2))),
        sections=("F.2",),
    ),
    vector(
        "acks.name-seqs",
        "Acknowledgements name a seq of 0 or more for each replica",
        refused(reading(said(through={bob.replica: -1}))),
        refused(reading(said(through={bob.replica: "7"}))),
        refused(reading(said(through={bob.replica: True}))),
        refused(reading(said(through=[]))),
        refused(reading(said(at=7))),
        refused(reading("no json")),
        sections=("F.2",),
    ),
]
