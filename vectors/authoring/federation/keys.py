"""Keys, fingerprints, invites, recovery and clocks (sections F.1 and F.2)."""

import hashlib
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.authoring.federation.author import CROCKFORD, START_MS, Author, b64u, crockford, sha256
from vectors.authoring.kit import Expected, Json, ok, refused, vector

ada, bob = Author("ada-0000000a"), Author("bob-0000000b")
SEED = hashlib.sha256(b"invite").digest()
SEED_PUB = b64u(Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw())
FOUND_HASH = sha256(b"a founding")
TEAM = FOUND_HASH[:32]
CLAIMED: Json = {"team": TEAM, "replica": bob.replica, "signPub": bob.sign_pub}
INVITE_CODE = f"di1.{TEAM}.{crockford(SEED)}."
RECOVERY_CODE = "-".join(crockford(SEED)[at : at + 4] for at in range(0, 52, 4))
SPARE = crockford(SEED)[:-1] + CROCKFORD[CROCKFORD.index(crockford(SEED)[-1]) + 1]
"""The seed's characters, with one of the bits set that it does not need."""


def proof(tag: str) -> str:
    """What the seed signs for a team, a replica and its signing key."""
    text = f"{tag}\n{TEAM}\n{bob.replica}\n{bob.sign_pub}"
    return b64u(Ed25519PrivateKey.from_private_bytes(SEED).sign(text.encode()))


INVITE_PROOF, RECOVERY_PROOF = proof("dispatch-invite-v1"), proof("dispatch-recovery-v1")


def key_body(**changes: Any) -> Json:
    return {"op": "readKeyBody", "body": ada.key | changes}


def without(name: str) -> Json:
    return {"op": "readKeyBody", "body": {key: value for key, value in ada.key.items() if key != name}}


def invite(valid: bool, **changes: Any) -> Expected:
    step = {"op": "verifyInvite", "pub": SEED_PUB, "proof": INVITE_PROOF} | CLAIMED | changes
    return ok(step, valid=valid)


def recovery(valid: bool, **changes: Any) -> Expected:
    step = {"op": "verifyRecovery", "pub": SEED_PUB, "proof": RECOVERY_PROOF} | CLAIMED | changes
    return ok(step, valid=valid)


def code(text: str) -> Json:
    return {"op": "readInviteCode", "code": text}


KEYS = [
    vector(
        "key.fingerprint",
        "A fingerprint is 15 bytes of a hash over both public keys as text, in six groups of Crockford base 32",
        ok(
            {"op": "fingerprint", "signPub": ada.sign_pub, "sealPub": ada.seal_pub},
            fingerprint=ada.fingerprint,
        ),
        ok(
            {"op": "fingerprint", "signPub": bob.sign_pub, "sealPub": bob.seal_pub},
            fingerprint=bob.fingerprint,
        ),
        ok(
            {"op": "fingerprint", "signPub": "A" * 43, "sealPub": "A" * 43},
            fingerprint="-".join(
                crockford(hashlib.sha256(b"dispatch-fp-v1\n" + b"A" * 43 + b"\n" + b"A" * 43).digest()[:15])[
                    at : at + 4
                ]
                for at in range(0, 24, 4)
            ),
        ),
        sections=("F.2",),
    ),
    vector(
        "key.body",
        "A key op's body has labels in bounds, two keys of 32 bytes, and the member legacy",
        ok(key_body(), fingerprint=ada.fingerprint),
        ok(key_body(extra=1, caps=["relay"], legacy={"throughSeq": 0, "digest": "0" * 64})),
        ok(key_body(invite={"id": "x", "sig": "y"}, device="é" * 128)),
        refused(without("legacy")),
        refused(without("signPub")),
        refused({"op": "readKeyBody", "body": None}),
        *(refused(key_body(handle=handle)) for handle in ("", "Ada", "-ada", "a" * 65, "ada\n")),
        *(refused(key_body(device=device)) for device in ("", "x" * 129, "a\u0000", "a\u0085", 1)),
        *(
            refused(key_body(signPub=key))
            for key in ("", b64u(bytes(31)), ada.sign_pub + "=", ada.sign_pub[:-1] + "B", 5)
        ),
        *(refused(key_body(legacy=legacy)) for legacy in ({}, {"throughSeq": True, "digest": "0" * 64}, 0)),
        *(refused(key_body(caps=caps)) for caps in ("relay", ["Relay"], ["a"] * 17, [1])),
        refused(key_body(invite=None)),
    ),
    vector(
        "key.team-id",
        "A team's id is the first 32 digits of the hash of its founding",
        ok({"op": "teamId", "found": FOUND_HASH}, teamId=TEAM),
    ),
    vector(
        "key.invite-proof",
        "An invite's proof is for one team, one replica and one key",
        ok({"op": "proveInvite", "seed": b64u(SEED)} | CLAIMED, proof=INVITE_PROOF, pub=SEED_PUB),
        ok(
            {"op": "verifyInvite", "pub": SEED_PUB, "proof": INVITE_PROOF} | CLAIMED,
            valid=True,
            id=sha256(SEED_PUB.encode())[:16],
        ),
        invite(False, team="0" * 32),
        invite(False, replica=ada.replica),
        invite(False, signPub=ada.sign_pub),
        invite(False, pub=ada.sign_pub),
        invite(False, proof=RECOVERY_PROOF),
        invite(False, proof=INVITE_PROOF + "="),
        sections=("F.2",),
    ),
    vector(
        "key.invite-code",
        "An invite code has one spelling, and another is damaged",
        ok(code(INVITE_CODE), team=TEAM, seed=b64u(SEED), relay=None),
        ok(code(INVITE_CODE + b64u(b"wss://relay.example")), seed=b64u(SEED), relay="wss://relay.example"),
        *(
            refused(code(text))
            for text in (
                "",
                INVITE_CODE[:-1],
                INVITE_CODE.lower(),
                INVITE_CODE.replace("di1", "di2"),
                INVITE_CODE.replace(TEAM, TEAM[1:]),
                INVITE_CODE.replace(TEAM, TEAM.upper()),
                INVITE_CODE[:-2] + ".",
                INVITE_CODE[:-2] + ("1." if INVITE_CODE[-2] == "0" else INVITE_CODE[-2] + "0."),
                INVITE_CODE + "=",
                INVITE_CODE + ".",
            )
        ),
    ),
    vector(
        "key.codes-have-no-spare-bits",
        "A code whose last character says more than its 32 bytes is damaged",
        refused(code(f"di1.{TEAM}.{SPARE}.")),
        refused({"op": "proveRecovery", "code": SPARE} | CLAIMED),
    ),
    vector(
        "key.recovery",
        "A recovery code is read in either case and without its dashes, and its proof is no invite's",
        ok({"op": "proveRecovery", "code": RECOVERY_CODE} | CLAIMED, proof=RECOVERY_PROOF),
        ok(
            {"op": "proveRecovery", "code": RECOVERY_CODE.lower().replace("-", "")} | CLAIMED,
            proof=RECOVERY_PROOF,
        ),
        refused({"op": "proveRecovery", "code": RECOVERY_CODE[:-1]} | CLAIMED),
        refused({"op": "proveRecovery", "code": "U" + RECOVERY_CODE[1:]} | CLAIMED),
        recovery(True),
        recovery(False, proof=INVITE_PROOF),
        recovery(False, team="0" * 32),
        sections=("F.2",),
    ),
]


def hlc(ms: int, counter: int, replica: str = "ada-0000000a") -> str:
    return f"{ms:013d}.{counter:04d}.{replica}"


def ticks(last: str | None, wall: int, expected: str) -> Expected:
    return ok({"op": "tickClock", "last": last, "wall": wall, "replica": ada.replica}, hlc=expected)


def compare(a: str, b: str, order: int) -> Expected:
    return ok({"op": "compareClocks", "a": a, "b": b}, order=order)


CLOCKS = [
    vector(
        "clock.grammar",
        "A reading is 13 digits, 4 to 9 digits and whatever follows the second dot",
        ok({"op": "readClock", "text": hlc(START_MS, 0)}, ms=START_MS, counter=0, replica=ada.replica),
        ok(
            {"op": "readClock", "text": "0000000000001.999999999.a.b-00000000"},
            ms=1,
            counter=999_999_999,
            replica="a.b-00000000",
        ),
        ok({"op": "readClock", "text": f"{START_MS}.00012.x"}, counter=12, replica="x"),
        *(
            refused({"op": "readClock", "text": text})
            for text in (
                "",
                "1.0000.x",
                f"{START_MS}.000.x",
                f"{START_MS}.0000000000.x",
                f"{START_MS}.0000.",
                f"{START_MS}.0000.x\n",
            )
        ),
    ),
    vector(
        "clock.compares-as-numbers",
        "Readings compare by milliseconds, then by counter, as numbers; the replica is not compared",
        compare(hlc(START_MS, 9), hlc(START_MS + 1, 0), -1),
        compare(hlc(START_MS, 10_000), hlc(START_MS, 9_999), 1),
        compare(hlc(START_MS, 3, "a-00000000"), hlc(START_MS, 3, "b-00000000"), 0),
        compare(f"{START_MS}.00003.x", f"{START_MS}.0003.x", 0),
    ),
    vector(
        "clock.ticks",
        "A clock takes a later wall time, or else counts up, and goes on to the next millisecond from its last count",
        ticks(None, START_MS, hlc(START_MS, 0)),
        ticks(hlc(START_MS, 7), START_MS + 1, hlc(START_MS + 1, 0)),
        ticks(hlc(START_MS, 7), START_MS, hlc(START_MS, 8)),
        ticks(hlc(START_MS, 9_999), START_MS - 5, hlc(START_MS, 10_000)),
        ticks(hlc(START_MS, 999_999_999), START_MS, hlc(START_MS + 1, 0)),
        ticks(hlc(START_MS, 3, bob.replica), START_MS, hlc(START_MS, 4)),
    ),
]

VECTORS = KEYS + CLOCKS
