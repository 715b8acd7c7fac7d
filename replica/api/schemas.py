"""The JSON Schemas of what the API takes and gives (Appendix D, draft 2020-12), by the names the document has them by.

They say what a schema can: lengths in bytes and rules across fields are left to the host's own checks.
"""

from typing import Any, Final

from replica.api.table import Schema

_IDENTIFIER: Final = "[a-z0-9][a-z0-9._-]{0,63}"


def ref(name: str) -> Schema:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def listing(item: Schema) -> Schema:
    """A list of something."""
    return {"type": "array", "items": item}


def record(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def given(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object that somebody gives; members that are none of these are ignored."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def or_null(schema: Schema) -> Schema:
    """Something, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


TEXT: Final[Schema] = {"type": "string"}
FLAG: Final[Schema] = {"type": "boolean"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
MAYBE_TEXT: Final[Schema] = {"type": ["string", "null"]}

_ENVELOPE: Final[dict[str, Schema]] = {
    "id": ref("Identifier"),
    "thread": ref("Identifier"),
    "replyTo": or_null(ref("Identifier")),
    "from": ref("Address"),
    "to": {"type": "array", "items": ref("Address"), "minItems": 1},
    "kind": ref("Kind"),
    "body": TEXT,
    "refs": listing(ref("Ref")),
    "urgent": FLAG,
    "blocking": FLAG,
    "wake": {"enum": ["none", "request"]},
    "createdAt": ref("Timestamp"),
}
_ENVELOPE_OPTIONAL: Final[dict[str, Schema]] = {
    "session": TEXT,
    "data": {"description": "JSON that the sender attached: gate data, private data or a marker."},
    "choices": listing(TEXT),
    "choice": TEXT,
    "origin": {**TEXT, "description": "The replica that created it; absent where this one did."},
    "hlc": TEXT,
}

SCHEMAS: Final[dict[str, Schema]] = {
    "Identifier": {"type": "string", "maxLength": 64, "pattern": "^[a-z0-9][a-z0-9._-]*$"},
    "Address": {
        "type": "string",
        "maxLength": 256,
        "pattern": f"^(human:{_IDENTIFIER}|agent:({_IDENTIFIER}/)?{_IDENTIFIER}|(task|run):{_IDENTIFIER}"
        f"|channel:{_IDENTIFIER}(/{_IDENTIFIER})*|a2a:[a-z0-9][a-z0-9._-]{{0,39}})$",
    },
    "Timestamp": {
        "type": "string",
        "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
    },
    "Kind": {
        "type": "string",
        "anyOf": [
            {"enum": ["message", "question", "answer", "handoff", "notice"]},
            {"pattern": "^x-[a-z0-9][a-z0-9-]*$"},
        ],
    },
    "Ref": given({"type": ref("Identifier"), "id": {"type": "string", "minLength": 1}}, {"at": TEXT}),
    "Message": record(
        {
            **_ENVELOPE,
            "external": {**FLAG, "description": "Whether its sender is reached through a binding."},
            "remote": {**FLAG, "description": "Whether it came from another replica."},
            "standing": {
                "enum": ["accepted", "pending", "candidate", "superseded", "voided", None],
                "description": "What became of an answer; null on anything else.",
            },
            "receivedAt": or_null(ref("Timestamp")),
        },
        _ENVELOPE_OPTIONAL,
    ),
    "SendInput": given(
        {
            "to": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 50},
            "kind": ref("Kind"),
            "body": TEXT,
        },
        {
            "replyTo": MAYBE_TEXT,
            "session": TEXT,
            "refs": {"type": "array", "items": ref("Ref"), "maxItems": 50},
            "data": True,  # type: ignore[dict-item]
            "urgent": FLAG,
            "blocking": FLAG,
            "choices": {
                "type": "array",
                "items": TEXT,
                "minItems": 1,
                "maxItems": 20,
                "uniqueItems": True,
            },
            "choice": TEXT,
            "wake": {"enum": ["none", "request"]},
            "idempotencyKey": TEXT,
        },
    ),
    "ReplyInput": given(
        {"body": TEXT},
        {
            "choice": TEXT,
            "refs": {"type": "array", "items": ref("Ref"), "maxItems": 50},
            "data": True,  # type: ignore[dict-item]
            "session": TEXT,
            "idempotencyKey": TEXT,
        },
    ),
    "Delivery": record(
        {
            "id": ref("Identifier"),
            "message": ref("Identifier"),
            "recipient": ref("Address"),
            "session": or_null(ref("Address")),
            "via": {"enum": ["direct", "channel"]},
            "state": {"enum": ["held", "sending", "pushed", "notified", "read", "answered"]},
            "changedAt": ref("Timestamp"),
        }
    ),
    "RemoteRow": record(
        {
            "message": ref("Identifier"),
            "recipient": ref("Address"),
            "via": {"enum": ["direct", "channel"]},
            "homes": listing(TEXT),
            "state": {"enum": ["forwarded", "refused", "held", "pushed", "notified", "read", "answered"]},
            "refused": {"type": "object", "additionalProperties": TEXT},
            "changedAt": ref("Timestamp"),
        }
    ),
    "Agent": record(
        {
            "address": ref("Address"),
            "client": TEXT,
            "status": {"enum": ["pending", "approved", "revoked"]},
            "muted": FLAG,
            "replica": MAYBE_TEXT,
        }
    ),
    "Error": record({"error": TEXT, "code": TEXT}, {"field": TEXT}),
}


def component(name: str) -> dict[str, Any]:
    """A schema with those it names, standing for itself."""
    return {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
