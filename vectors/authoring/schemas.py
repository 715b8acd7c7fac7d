"""The JSON Schemas of Appendix D, made from the document's constants.

They say what JSON Schema can: types, members, counts, patterns. Byte limits, one-line members, blank texts,
rules between two members and whether a recipient is an address a host knows are left to the text.
"""

from pathlib import Path
from typing import Final

from core.address import MAX_ADDRESS_BYTES, MAX_PART_BYTES
from core.message import Via
from core.validate import MAX_CHOICES, MAX_RECIPIENTS, MAX_REFS
from vectors.authoring.kit import KIT, Json
from vectors.authoring.layout import write_json
from vectors.registries import GateType, Status, registries
from vectors.runner.document import (
    CAPABILITIES,
    FEDERATED_FIELDS,
    HOOKS,
    LEVELS,
    MESSAGE_FIELDS,
    PREFIXES,
    PROFILES,
)

FOLDER: Final = Path(__file__).parent.parent / "schemas"

TEXT: Final[Json] = {"type": "string"}
FLAG: Final[Json] = {"type": "boolean"}
COUNT: Final[Json] = {"type": "integer", "minimum": 0}
ANYTHING: Final = True

_IDENTIFIER: Final = "[a-z0-9][a-z0-9._-]*"
_PART: Final = f"[a-z0-9][a-z0-9._-]{{0,{MAX_PART_BYTES - 1}}}"
_ALIAS: Final = "[a-z0-9][a-z0-9._-]{0,39}"


def _schema(name: str, title: str, **members: object) -> Json:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://dispatch.foo/protocol/{KIT}/schemas/{name}.schema.json",
        "title": title,
        **members,
    }


def _shared(name: str) -> Json:
    """A shape that the schema of a message defines for the others."""
    return {"$ref": f"message.schema.json#/$defs/{name}"}


def _here(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def _one_of(*values: str) -> Json:
    return {"enum": list(values)}


def _or_null(shape: Json) -> Json:
    return {"anyOf": [shape, {"type": "null"}]}


def _list(shape: object, **more: int | bool) -> Json:
    return {"type": "array", "items": shape, **more}


def _map(shape: object) -> Json:
    return {"type": "object", "additionalProperties": shape}


def _record(required: Json, optional: Json | None = None, **more: object) -> Json:
    """An object of these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
        **more,
    }


IDENTIFIER: Final = _shared("identifier")
ADDRESS: Final = _shared("address")
TIMESTAMP: Final = _shared("timestamp")
REF: Final[Json] = {"$ref": "ref.schema.json"}
KIND: Final = _shared("kind")

_DEFS: Final[Json] = {
    "identifier": {"type": "string", "maxLength": MAX_PART_BYTES, "pattern": f"^{_IDENTIFIER}$"},
    "address": {
        "type": "string",
        "maxLength": MAX_ADDRESS_BYTES,
        "pattern": (
            f"^(human:{_PART}|agent:({_PART}/)?{_PART}|(task|run):{_PART}"
            f"|channel:{_PART}(/{_PART})*|a2a:{_ALIAS})$"
        ),
    },
    "timestamp": {
        "type": "string",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
    },
    "kind": {
        "type": "string",
        "anyOf": [
            {"enum": [entry.value for entry in registries().kinds]},
            {"pattern": "^x-[a-z0-9][a-z0-9-]*$"},
        ],
    },
}

_FIELDS: Final[Json] = {
    "id": _here("identifier"),
    "thread": _here("identifier"),
    "replyTo": _or_null(_here("identifier")),
    "from": _here("address"),
    "session": TEXT,
    "to": _list(_here("address"), minItems=1),
    "kind": _here("kind"),
    "body": TEXT,
    "refs": _list(REF),
    "data": ANYTHING,
    "urgent": FLAG,
    "blocking": FLAG,
    "choices": _list(TEXT),
    "choice": TEXT,
    "wake": _one_of("none", "request"),
    "createdAt": _here("timestamp"),
    "origin": TEXT,
    "hlc": TEXT,
}
_NOT_ALWAYS: Final = ("session", "data", "choices", "choice", *FEDERATED_FIELDS)


def message() -> Json:
    """A stored message (section 4.1), and what a replica adds to it (section F.4)."""
    return _schema(
        "message",
        "A stored message",
        **_record(
            {name: shape for name, shape in _FIELDS.items() if name not in _NOT_ALWAYS},
            {name: _FIELDS[name] for name in _NOT_ALWAYS},
        ),
        **{"$defs": _DEFS},
    )


def send_input() -> Json:
    """A send input (section 4.1); members that are none of its own are ignored."""
    return _schema(
        "send-input",
        "A send input",
        type="object",
        required=["to", "kind", "body"],
        properties={
            "to": _list(TEXT, minItems=1, maxItems=MAX_RECIPIENTS),
            "kind": KIND,
            "body": TEXT,
            "replyTo": {"type": ["string", "null"]},
            "session": TEXT,
            "refs": _list(REF, maxItems=MAX_REFS),
            "data": ANYTHING,
            "urgent": FLAG,
            "blocking": FLAG,
            "choices": _list(TEXT, minItems=1, maxItems=MAX_CHOICES, uniqueItems=True),
            "choice": TEXT,
            "wake": _one_of("none", "request"),
            "idempotencyKey": TEXT,
        },
    )


def ref() -> Json:
    """A ref (section 4.3), of any type that is an identifier, as a received one may be."""
    return _schema(
        "ref",
        "What a message is about",
        type="object",
        required=["type", "id"],
        properties={"type": IDENTIFIER, "id": {"type": "string", "minLength": 1}, "at": TEXT},
    )


def delivery() -> Json:
    """A delivery (section 6) as the kit observes it."""
    return _schema(
        "delivery",
        "One recipient's record of one message",
        **_record(
            {
                "id": IDENTIFIER,
                "message": IDENTIFIER,
                "recipient": ADDRESS,
                "session": _or_null(ADDRESS),
                "via": _one_of(*Via),
                "state": _one_of(
                    *(
                        state.value
                        for state in registries().delivery_states
                        if state.status is Status.PERMANENT
                    )
                ),
            }
        ),
    )


_HOLDS: Final[Json] = {
    "string": TEXT,
    "boolean": FLAG,
    "true": {"const": True},
    "string[]": _list({"type": "string", "minLength": 1}, minItems=1),
    "address": ADDRESS,
    "message id": IDENTIFIER,
    "session id": IDENTIFIER,
    "JSON preview of at most 8 KiB": ANYTHING,
}
"""The shape of a member of gate data, by the words the registry has for it."""


def gate_data() -> Json:
    """The data of each permanent gate type (section 11.6); a host may check other members too."""
    return _schema(
        "gate-data",
        "The data of a gate",
        oneOf=[_gate(gate) for gate in registries().gate_types if gate.status is Status.PERMANENT],
    )


def _gate(gate: GateType) -> Json:
    return {
        "title": gate.effect,
        "type": "object",
        "required": ["type", *(member.name for member in gate.data if not member.optional)],
        "properties": {
            "type": {"const": gate.value},
            **{member.name: _HOLDS[member.holds] for member in gate.data},
        },
    }


_AS: Final = _record({"address": TEXT, "canDecide": FLAG})
_ORIGIN: Final = _one_of("local", "received")
_STATUS: Final = _one_of("pending", "approved", "revoked")
_RULING: Final = _one_of("allow", "ask", "deny")
_CHANNEL: Final = _record({"name": TEXT, "members": _list(TEXT)})
_WAKE_RESULT: Final[Json] = {
    "anyOf": [
        _record({"ok": {"const": True}, "session": TEXT}),
        _record({"ok": {"const": False}, "reason": TEXT}),
    ]
}
_ROW: Final = _record(
    {"id": TEXT}, {name: ANYTHING for name in (*MESSAGE_FIELDS, *FEDERATED_FIELDS) if name != "id"}
)

_GIVEN: Final = _record(
    {},
    {
        "clock": TIMESTAMP,
        "seed": {"type": "number"},
        "workItems": _list(_record({"id": TEXT}, {"liveSession": _or_null(TEXT), "sessions": _list(TEXT)})),
        "auxSessions": _list(TEXT),
        "agents": _list(_record({"address": TEXT, "status": _STATUS}, {"muted": FLAG})),
        "channels": _list(_CHANNEL),
        "implicit": _map(_list(TEXT)),
        "owner": TEXT,
        "rulings": _map(_RULING),
        "wakeResults": _map(_WAKE_RESULT),
        "failPush": _list(TEXT),
        "failOnAnswered": FLAG,
        "limits": _record({}, {"urgentPerHour": COUNT, "agentTurnsPerThreadPerHour": COUNT}),
        "external": _map(_one_of("client", "peer")),
        "store": _record(
            {},
            {
                "messages": _list(_ROW),
                "deliveries": _list(
                    _record(
                        {"id": TEXT, "message": TEXT, "recipient": TEXT, "state": TEXT},
                        {"session": _or_null(TEXT), "via": TEXT},
                    )
                ),
                "appliedGates": _list(TEXT),
            },
        ),
    },
)

_CHANGES: Final[Json] = {
    "startSession": _record({"workItem": TEXT, "session": TEXT}),
    "endSession": _record({"workItem": TEXT}),
    "ruling": _record({"target": TEXT, "ruling": _RULING}),
    "wakeResult": _record({"target": TEXT, "result": _WAKE_RESULT}),
    "failPush": _list(TEXT),
    "failOnAnswered": FLAG,
    "advanceMs": {"type": "number"},
    "agentStatus": _record({"address": TEXT, "status": _STATUS}),
}

_STEPS: Final[dict[str, tuple[Json, Json]]] = {
    "send": ({"as": _AS, "input": ANYTHING}, {"origin": _ORIGIN}),
    "reply": ({"as": _AS, "message": TEXT, "input": ANYTHING}, {}),
    "close": ({"question": TEXT, "reason": TEXT}, {}),
    "markRead": ({"message": TEXT, "recipient": TEXT}, {}),
    "inbox": ({"recipient": TEXT}, {"states": _list(TEXT)}),
    "thread": ({"thread": TEXT}, {}),
    "canRead": ({"message": TEXT, "as": _AS}, {}),
    "openBlocking": ({}, {}),
    "join": ({"channel": TEXT, "member": ANYTHING}, {}),
    "leave": ({"channel": TEXT, "member": ANYTHING}, {}),
    "deliverHeld": ({"session": TEXT, "workItem": TEXT}, {}),
    "recover": ({}, {}),
    "parseAddress": ({"input": ANYTHING}, {}),
    "validate": ({"as": _AS, "input": ANYTHING}, {"replyTarget": TEXT, "origin": _ORIGIN}),
    "render": ({"message": TEXT}, {"form": _one_of("push", "digest"), "external": FLAG}),
    "a2a.validate": ({"extension": _one_of("envelope", "work"), "raw": ANYTHING}, {}),
    "a2a.project": ({"facts": _map(ANYTHING)}, {}),
    "a2a.inbound": (
        {"as": TEXT, "envelope": ANYTHING, "body": ANYTHING},
        {"parts": _list(ANYTHING), "answers": TEXT},
    ),
    "world": ({"change": _record({}, _CHANGES, minProperties=1, maxProperties=1)}, {}),
}
"""The members of each step, required and optional (section 12.4.3)."""

_CALL: Final[Json] = {
    "anyOf": [
        _record({"hook": {"const": hook}, **dict.fromkeys(members, TEXT)}) for hook, members in HOOKS.items()
    ]
}

_OUTCOME: Final[Json] = {
    "anyOf": [
        _record({"ok": {"const": True}}, {"result": _map(ANYTHING)}),
        _record({"ok": {"const": False}, "error": _record({"code": TEXT}, {"field": TEXT})}),
    ]
}

_THEN: Final = _record(
    {},
    {
        "steps": _list(_or_null(_here("outcome"))),
        "messages": _list(_ROW),
        "noOtherMessages": FLAG,
        "deliveries": _list(
            _record(
                {"message": TEXT, "recipient": TEXT}, {"via": TEXT, "state": TEXT, "session": _or_null(TEXT)}
            )
        ),
        "noDeliveries": _list(TEXT),
        "calls": _list(_here("call")),
        "callsInclude": _list(_here("call")),
        "gateEffects": _list(TEXT),
        "voided": _list(TEXT),
        "channels": _list(_CHANNEL),
        "render": _list(_record({"step": COUNT, "text": TEXT})),
    },
)

_RUNNABLE: Final[Json] = {
    "id": {"type": "string", "pattern": r"^[a-z0-9]+(\.[a-z0-9-]+){2}$"},
    "title": {"type": "string", "minLength": 1},
    "class": _one_of(*PREFIXES),
    "level": _one_of(*LEVELS),
    "profile": _one_of(*PROFILES),
    "sections": _list({"type": "string", "pattern": r"^([0-9]+|[A-F])(\.[0-9]+)*$"}, minItems=1),
    "given": _here("given"),
    "when": _list(_here("step"), minItems=1),
}
_OPTIONAL: Final[Json] = {"capability": _one_of(*CAPABILITIES), "tags": _list(TEXT)}
_ONLY_MAY_HAS_A_CAPABILITY: Final[Json] = {
    "if": {"properties": {"level": {"const": "MAY"}}},
    "then": {"required": ["capability"]},
    "else": {"not": {"required": ["capability"]}},
}


def vector() -> Json:
    """A vector file (section 12.4.1); `runnable` is a vector without `then`, as the runner sends it."""
    return _schema(
        "vector",
        "A file of vectors",
        **_record(
            {
                "kit": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$"},
                "class": _one_of(*PREFIXES),
                "area": {"type": "string", "pattern": "^[a-z0-9-]+$"},
                "vectors": _list(_here("vector")),
            }
        ),
        **{
            "$defs": {
                "vector": _record(
                    {**_RUNNABLE, "then": _here("then")}, _OPTIONAL, **_ONLY_MAY_HAS_A_CAPABILITY
                ),
                "runnable": _record(_RUNNABLE, _OPTIONAL, **_ONLY_MAY_HAS_A_CAPABILITY),
                "given": _GIVEN,
                "step": {
                    "anyOf": [
                        _record({"op": {"const": op}, **required}, optional)
                        for op, (required, optional) in _STEPS.items()
                    ]
                },
                "then": _THEN,
                "outcome": _OUTCOME,
                "call": _CALL,
            }
        },
    )


def _line(word: str, required: Json, optional: Json | None = None) -> Json:
    return _record({"dmp": {"const": word}, **required}, optional)


def adapter() -> Json:
    """The lines between the runner and an adapter (sections 12.4.7, D.2)."""
    of_vectors = "vector.schema.json#/$defs/"
    lines = {
        "runnerHello": _line("hello", {"kit": TEXT}),
        "hello": _line(
            "hello",
            {
                "implementation": _record({"name": TEXT, "version": TEXT}),
                "classes": _list(_one_of(*PREFIXES), minItems=1, uniqueItems=True),
                "profiles": _list(_one_of(*PROFILES), minItems=1, uniqueItems=True),
                "capabilities": _list(_one_of(*CAPABILITIES), uniqueItems=True),
                "systemAddress": ADDRESS,
                "gateTypes": {**_list(TEXT, uniqueItems=True), "contains": {"const": "wake"}},
                "render": _record(
                    {"quotePrefix": TEXT, "header": TEXT, "hostLines": _list(TEXT), "digestLead": TEXT}
                ),
            },
        ),
        "run": _line("run", {"vector": {"$ref": of_vectors + "runnable"}}),
        "observation": _line(
            "observation",
            {
                "id": TEXT,
                "steps": _list({"$ref": of_vectors + "outcome"}),
                "messages": _list({"$ref": "message.schema.json"}),
                "deliveries": _list({"$ref": "delivery.schema.json"}),
                "calls": _list({"$ref": of_vectors + "call"}),
                "gateEffects": _list(IDENTIFIER),
                "voided": _list(IDENTIFIER),
                "channels": _list(_CHANNEL),
                "render": _list(_record({"step": COUNT, "text": TEXT})),
            },
        ),
        "unsupported": _line("unsupported", {"id": TEXT, "reason": TEXT}),
        "bye": _line("bye", {}),
    }
    return _schema(
        "adapter",
        "A line between the runner and an adapter",
        anyOf=[_here(name) for name in lines],
        **{"$defs": lines},
    )


def contents() -> dict[str, str]:
    """The name and the text of every schema."""
    schemas = {
        "message": message(),
        "send-input": send_input(),
        "ref": ref(),
        "delivery": delivery(),
        "gate-data": gate_data(),
        "vector": vector(),
        "adapter": adapter(),
    }
    return {f"{name}.schema.json": write_json(schema) for name, schema in schemas.items()}


def write() -> None:
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in contents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
