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

_AS: Final = record({"address": text, "canDecide": boolean})

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
    "putMemory": (
        {"as": _AS, "fields": mapped(anything)},
        {"scope": one_of("personal", "project", "team"), "supersedes": listed(text)},
    ),
    "editMemory": ({"as": _AS, "memory": text, "fields": mapped(anything)}, {}),
    "shareMemory": ({"as": _AS, "memory": text}, {}),
    "takeMemory": (
        {"as": _AS, "memory": text, "revision": record({"replica": text, "seq": number})},
        {"fields": listed(text)},
    ),
    "joinMemories": ({"as": _AS, "memories": listed(text)}, {"fields": mapped(anything)}),
    "putDocument": (
        {"as": _AS, "body": text},
        {"document": text, "title": text, "slug": text, "base": text},
    ),
    "mergeDocument": ({"document": text, "seen": listed(text), "body": text}, {"title": text}),
    "revertDocument": ({"document": text, "revision": text}, {}),
    "describeDocument": (
        {"document": text},
        {"slug": text, "status": one_of("draft", "accepted", "archived")},
    ),
    "removeDocument": ({"document": text}, {}),
    "decideRevision": ({"document": text, "revision": text, "approve": boolean}, {}),
    "recoverTeam": ({"code": text}, {}),
    "newRecoveryCode": ({}, {}),
    "trustFounder": ({"fingerprint": text}, {}),
}
"""The members of each step, required and optional."""

_MEMORY_STEPS: Final = ("putMemory", "editMemory", "shareMemory", "takeMemory", "joinMemories")
_REVISION_STEPS: Final = ("putDocument", "mergeDocument", "revertDocument")
_ULID: Final = "[0-7]([0-9A-HJKMNP-TV-Z]{25}|[0-9a-hjkmnp-tv-z]{25})"

MADE: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "memory": (f"mem-{_ULID}", _MEMORY_STEPS),
    "document": ("doc-[0-9A-Z]{26}", _REVISION_STEPS),
    "revision": ("rev-[0-9A-Z]{26}", (*_REVISION_STEPS, "decideRevision")),
}
"""What steps make besides messages: the member of a result that has its id, that id's form, and those steps."""

GIVEN: Final[dict[str, Shape]] = {
    "replica": record(
        {"id": text, "signPriv": text, "sealPriv": text, "lane": _LINES},
        {"founding": text, "handle": text},
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
