"""What vectors of the class `federation` have besides: steps, members of the world and of what is expected.

Section 12.1 reserves the class; `docs/vectors.md` says what each step does and what its result holds.
"""

from typing import Final

from crypto.canonical import JsonValue
from vectors.runner.shape import (
    Shape,
    anything,
    boolean,
    count,
    listed,
    mapped,
    matching,
    nullable,
    number,
    one_of,
    record,
    text,
)

_HEX_LINE: Final = record({"hex": matching("([0-9a-f]{2})*", "bytes in hex")})


def _line(value: JsonValue, place: str) -> None:
    (_HEX_LINE if isinstance(value, dict) else text)(value, place)


_LINES: Final = listed(_line)
_LANES: Final = mapped(_LINES)
_HEAD: Final = nullable(record({"seq": number, "opHash": text, "hlc": text}))
_REMEMBERED: Final = record({"seq": number, "prev": text, "opHash": text})
_ROSTER_OP: Final = record(
    {"replica": text, "seq": number, "hlc": text, "opHash": text, "body": anything}, {"key": text}
)
_KEY: Final = record({"handle": text, "fingerprint": text}, {"signPub": text})
_CLAIMED: Final[dict[str, Shape]] = {"team": text, "replica": text, "signPub": text}

REMOTE_ROW: Final = record(
    {
        "message": text,
        "recipient": text,
        "via": one_of("direct", "channel"),
        "homes": listed(text),
        "state": text,
    },
    {"wakeAt": text},
)
"""The row of a recipient who is homed elsewhere (section F.4)."""

STEPS: Final[dict[str, tuple[dict[str, Shape], dict[str, Shape]]]] = {
    "canonicalize": ({"text": _line}, {}),
    "readEntry": ({"line": _line}, {"padTo": count}),
    "verifyEntry": ({"line": _line, "head": _HEAD, "signPub": text}, {}),
    "verifyLog": (
        {"replica": text, "lines": _LINES},
        {"head": _HEAD, "pinned": anything, "halted": anything},
    ),
    "readLane": (
        {"replica": text, "lines": _LINES, "key": anything},
        {
            "head": _HEAD,
            "remembered": listed(_REMEMBERED),
            "horizonMs": number,
            "cut": record({"afterSeq": number, "afterHash": text}),
            "wanted": listed(text),
        },
    ),
    "keyClaims": ({"replica": text, "lines": _LINES}, {"named": listed(text)}),
    "readClock": ({"text": text}, {}),
    "compareClocks": ({"a": text, "b": text}, {}),
    "tickClock": ({"last": nullable(text), "wall": number, "replica": text}, {}),
    "fingerprint": ({"signPub": text, "sealPub": text}, {}),
    "readKeyBody": ({"body": anything}, {}),
    "teamId": ({"found": text}, {}),
    "openSealed": ({"line": _line, "me": text, "sealPriv": text}, {}),
    "openWithKey": ({"line": _line, "contentKey": text}, {}),
    "canSealTo": ({"sealPub": text}, {}),
    "proveInvite": ({"seed": text, **_CLAIMED}, {}),
    "verifyInvite": ({"pub": text, "proof": text, **_CLAIMED}, {}),
    "readInviteCode": ({"code": text}, {}),
    "proveRecovery": ({"code": text, **_CLAIMED}, {}),
    "verifyRecovery": ({"pub": text, "proof": text, **_CLAIMED}, {}),
    "signAcks": ({"replica": text, "through": mapped(number), "at": text, "signPriv": text}, {}),
    "readAcks": ({"text": _line, "replica": text, "signPub": text}, {}),
    "foldRoster": ({"found": text, "ops": listed(_ROSTER_OP), "keys": mapped(_KEY)}, {"relay": boolean}),
    "foldLanes": ({"found": text, "lanes": _LANES}, {}),
    "sync": ({}, {"lanes": _LANES}),
    "homes": ({"address": text}, {}),
    "workItem": ({"id": text}, {}),
    "agent": ({"address": text}, {}),
    "session": ({"address": text}, {}),
    "memory": ({"id": text}, {}),
    "document": ({"id": text}, {}),
    "roster": ({}, {}),
}
"""The members of each step, required and optional."""

GIVEN: Final[dict[str, Shape]] = {
    "replica": record(
        {"id": text, "signPriv": text, "sealPriv": text, "founding": text, "lane": _LINES},
    ),
    "lanes": _LANES,
    "sealPrivs": mapped(text),
    "muted": listed(text),
    "memoryPolicy": one_of("ask", "allow"),
    "remote": listed(REMOTE_ROW),
}
"""The members of the world."""

THEN: Final[dict[str, Shape]] = {
    "remote": listed(
        record(
            {"message": text, "recipient": text},
            {"via": one_of("direct", "channel"), "homes": listed(text), "state": text, "wakeAt": text},
        )
    ),
    "noRemote": listed(text),
}
"""What is expected of the rows of recipients who are homed elsewhere."""
