"""What the schema of a vector has besides for the class `federation`."""

from typing import Any, Final

from vectors.authoring.kit import Json
from vectors.authoring.schema_parts import (
    ANYTHING,
    COUNT,
    FLAG,
    TEXT,
    list_of,
    map_of,
    one_of,
    or_null,
    record,
)

_LINE: Final[Json] = {"anyOf": [TEXT, record({"hex": {"type": "string", "pattern": "^([0-9a-f]{2})*$"}})]}
_LINES: Final = list_of(_LINE)
_LANES: Final = map_of(_LINES)
_NUMBER: Final[Json] = {"type": "number"}
_HEAD: Final = or_null(record({"seq": _NUMBER, "opHash": TEXT, "hlc": TEXT}))
_CLAIMED: Final[dict[str, Any]] = {"team": TEXT, "replica": TEXT, "signPub": TEXT}
_VIA: Final = one_of("direct", "channel")

REMOTE_ROW: Final = record(
    {"message": TEXT, "recipient": TEXT, "via": _VIA, "homes": list_of(TEXT), "state": TEXT},
    {"wakeAt": TEXT},
)
"""The row of a recipient who is homed elsewhere (section F.4)."""

_AS: Final = record({"address": TEXT, "canDecide": FLAG})
_FIELDS: Final = map_of(ANYTHING)

STEPS: Final[dict[str, tuple[Json, Json]]] = {
    "canonicalize": ({"text": _LINE}, {}),
    "readEntry": ({"line": _LINE}, {"padTo": COUNT}),
    "verifyEntry": ({"line": _LINE, "head": _HEAD, "signPub": TEXT}, {}),
    "verifyLog": (
        {"replica": TEXT, "lines": _LINES},
        {"head": _HEAD, "pinned": ANYTHING, "halted": ANYTHING},
    ),
    "readLane": (
        {"replica": TEXT, "lines": _LINES, "key": ANYTHING},
        {
            "head": _HEAD,
            "remembered": list_of(record({"seq": _NUMBER, "prev": TEXT, "opHash": TEXT})),
            "horizonMs": _NUMBER,
            "cut": record({"afterSeq": _NUMBER, "afterHash": TEXT}),
            "wanted": list_of(TEXT),
        },
    ),
    "keyClaims": ({"replica": TEXT, "lines": _LINES}, {"named": list_of(TEXT)}),
    "readClock": ({"text": TEXT}, {}),
    "compareClocks": ({"a": TEXT, "b": TEXT}, {}),
    "tickClock": ({"last": or_null(TEXT), "wall": _NUMBER, "replica": TEXT}, {}),
    "fingerprint": ({"signPub": TEXT, "sealPub": TEXT}, {}),
    "readKeyBody": ({"body": ANYTHING}, {}),
    "teamId": ({"found": TEXT}, {}),
    "openSealed": ({"line": _LINE, "me": TEXT, "sealPriv": TEXT}, {}),
    "openWithKey": ({"line": _LINE, "contentKey": TEXT}, {}),
    "canSealTo": ({"sealPub": TEXT}, {}),
    "proveInvite": ({"seed": TEXT, **_CLAIMED}, {}),
    "verifyInvite": ({"pub": TEXT, "proof": TEXT, **_CLAIMED}, {}),
    "readInviteCode": ({"code": TEXT}, {}),
    "proveRecovery": ({"code": TEXT, **_CLAIMED}, {}),
    "verifyRecovery": ({"pub": TEXT, "proof": TEXT, **_CLAIMED}, {}),
    "signAcks": ({"replica": TEXT, "through": map_of(_NUMBER), "at": TEXT, "signPriv": TEXT}, {}),
    "readAcks": ({"text": _LINE, "replica": TEXT, "signPub": TEXT}, {}),
    "foldRoster": (
        {
            "found": TEXT,
            "ops": list_of(
                record(
                    {"replica": TEXT, "seq": _NUMBER, "hlc": TEXT, "opHash": TEXT, "body": ANYTHING},
                    {"key": TEXT},
                )
            ),
            "keys": map_of(record({"handle": TEXT, "fingerprint": TEXT}, {"signPub": TEXT})),
        },
        {"relay": FLAG},
    ),
    "foldLanes": ({"found": TEXT, "lanes": _LANES}, {}),
    "sync": ({}, {"lanes": _LANES}),
    "roster": ({}, {}),
    "homes": ({"address": TEXT}, {}),
    "workItem": ({"id": TEXT}, {}),
    "agent": ({"address": TEXT}, {}),
    "session": ({"address": TEXT}, {}),
    "memory": ({"id": TEXT}, {}),
    "document": ({"id": TEXT}, {}),
    "putMemory": (
        {"as": _AS, "fields": _FIELDS},
        {"scope": one_of("personal", "project", "team"), "supersedes": list_of(TEXT)},
    ),
    "editMemory": ({"as": _AS, "memory": TEXT, "fields": _FIELDS}, {}),
    "shareMemory": ({"as": _AS, "memory": TEXT}, {}),
    "takeMemory": (
        {"as": _AS, "memory": TEXT, "revision": record({"replica": TEXT, "seq": _NUMBER})},
        {"fields": list_of(TEXT)},
    ),
    "joinMemories": ({"as": _AS, "memories": list_of(TEXT)}, {"fields": _FIELDS}),
    "putDocument": (
        {"as": _AS, "body": TEXT},
        {"document": TEXT, "title": TEXT, "slug": TEXT, "base": TEXT},
    ),
    "mergeDocument": ({"document": TEXT, "seen": list_of(TEXT), "body": TEXT}, {"title": TEXT}),
    "revertDocument": ({"document": TEXT, "revision": TEXT}, {}),
    "describeDocument": (
        {"document": TEXT},
        {"slug": TEXT, "status": one_of("draft", "accepted", "archived")},
    ),
    "removeDocument": ({"document": TEXT}, {}),
    "decideRevision": ({"document": TEXT, "revision": TEXT, "approve": FLAG}, {}),
    "recoverTeam": ({"code": TEXT}, {}),
    "newRecoveryCode": ({}, {}),
    "trustFounder": ({"fingerprint": TEXT}, {}),
}

GIVEN: Final[Json] = {
    "replica": record(
        {"id": TEXT, "signPriv": TEXT, "sealPriv": TEXT, "lane": _LINES}, {"founding": TEXT, "handle": TEXT}
    ),
    "lanes": _LANES,
    "sealPrivs": map_of(TEXT),
    "muted": list_of(TEXT),
    "memoryPolicy": one_of("ask", "allow"),
    "remote": list_of(REMOTE_ROW),
}

THEN: Final[Json] = {
    "remote": list_of(
        record(
            {"message": TEXT, "recipient": TEXT},
            {"via": _VIA, "homes": list_of(TEXT), "state": TEXT, "wakeAt": TEXT},
        )
    ),
    "noRemote": list_of(TEXT),
}
