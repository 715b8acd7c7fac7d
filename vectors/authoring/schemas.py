"""The JSON Schemas of Appendix D, made from the document's constants.

They say what JSON Schema can: types, members, counts, patterns. Byte limits, one-line members, blank texts,
rules between two members and whether a recipient is an address a host knows are left to the text.
"""

from pathlib import Path
from typing import Final

from core.address import MAX_ADDRESS_BYTES, MAX_PART_BYTES
from core.message import Via
from core.validate import MAX_CHOICES, MAX_RECIPIENTS, MAX_REFS
from vectors.authoring.federation import schema as federation
from vectors.authoring.kit import KIT, Json
from vectors.authoring.layout import write_json
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
from vectors.registries import GateType, Status, registries
from vectors.runner.document import (
    CAPABILITIES,
    FEDERATED_FIELDS,
    FEDERATION,
    HOOKS,
    LEVELS,
    MESSAGE_FIELDS,
    PREFIXES,
    PROFILES,
)

FOLDER: Final = Path(__file__).parent.parent / "schemas"

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
    "replyTo": or_null(_here("identifier")),
    "from": _here("address"),
    "session": TEXT,
    "to": list_of(_here("address"), minItems=1),
    "kind": _here("kind"),
    "body": TEXT,
    "refs": list_of(REF),
    "data": ANYTHING,
    "urgent": FLAG,
    "blocking": FLAG,
    "choices": list_of(TEXT),
    "choice": TEXT,
    "wake": one_of("none", "request"),
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
        **record(
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
            "to": list_of(TEXT, minItems=1, maxItems=MAX_RECIPIENTS),
            "kind": KIND,
            "body": TEXT,
            "replyTo": {"type": ["string", "null"]},
            "session": TEXT,
            "refs": list_of(REF, maxItems=MAX_REFS),
            "data": ANYTHING,
            "urgent": FLAG,
            "blocking": FLAG,
            "choices": list_of(TEXT, minItems=1, maxItems=MAX_CHOICES, uniqueItems=True),
            "choice": TEXT,
            "wake": one_of("none", "request"),
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
        **record(
            {
                "id": IDENTIFIER,
                "message": IDENTIFIER,
                "recipient": ADDRESS,
                "session": or_null(ADDRESS),
                "via": one_of(*Via),
                "state": one_of(
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
    "string[]": list_of({"type": "string", "minLength": 1}, minItems=1),
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


_AS: Final = record({"address": TEXT, "canDecide": FLAG})
_ORIGIN: Final = one_of("local", "received")
_STATUS: Final = one_of("pending", "approved", "revoked")
_RULING: Final = one_of("allow", "ask", "deny")
_CHANNEL: Final = record({"name": TEXT, "members": list_of(TEXT)})
_WAKE_RESULT: Final[Json] = {
    "anyOf": [
        record({"ok": {"const": True}, "session": TEXT}),
        record({"ok": {"const": False}, "reason": TEXT}),
    ]
}
_ROW: Final = record(
    {"id": TEXT}, {name: ANYTHING for name in (*MESSAGE_FIELDS, *FEDERATED_FIELDS) if name != "id"}
)

_GIVEN: Final[Json] = {
    "clock": TIMESTAMP,
    "seed": {"type": "number"},
    "workItems": list_of(record({"id": TEXT}, {"liveSession": or_null(TEXT), "sessions": list_of(TEXT)})),
    "auxSessions": list_of(TEXT),
    "agents": list_of(record({"address": TEXT, "status": _STATUS}, {"muted": FLAG})),
    "channels": list_of(_CHANNEL),
    "implicit": map_of(list_of(TEXT)),
    "owner": TEXT,
    "rulings": map_of(_RULING),
    "wakeResults": map_of(_WAKE_RESULT),
    "failPush": list_of(TEXT),
    "failOnAnswered": FLAG,
    "limits": record({}, {"urgentPerHour": COUNT, "agentTurnsPerThreadPerHour": COUNT}),
    "external": map_of(one_of("client", "peer")),
    "store": record(
        {},
        {
            "messages": list_of(_ROW),
            "deliveries": list_of(
                record(
                    {"id": TEXT, "message": TEXT, "recipient": TEXT, "state": TEXT},
                    {"session": or_null(TEXT), "via": TEXT},
                )
            ),
            "appliedGates": list_of(TEXT),
        },
    ),
}

_CHANGES: Final[Json] = {
    "startSession": record({"workItem": TEXT, "session": TEXT}),
    "endSession": record({"workItem": TEXT}),
    "ruling": record({"target": TEXT, "ruling": _RULING}),
    "wakeResult": record({"target": TEXT, "result": _WAKE_RESULT}),
    "failPush": list_of(TEXT),
    "failOnAnswered": FLAG,
    "advanceMs": {"type": "number"},
    "agentStatus": record({"address": TEXT, "status": _STATUS}),
}

_STEPS: Final[dict[str, tuple[Json, Json]]] = {
    "send": ({"as": _AS, "input": ANYTHING}, {"origin": _ORIGIN}),
    "reply": ({"as": _AS, "message": TEXT, "input": ANYTHING}, {}),
    "close": ({"question": TEXT, "reason": TEXT}, {}),
    "markRead": ({"message": TEXT, "recipient": TEXT}, {}),
    "inbox": ({"recipient": TEXT}, {"states": list_of(TEXT)}),
    "thread": ({"thread": TEXT}, {}),
    "canRead": ({"message": TEXT, "as": _AS}, {}),
    "openBlocking": ({}, {}),
    "join": ({"channel": TEXT, "member": ANYTHING}, {}),
    "leave": ({"channel": TEXT, "member": ANYTHING}, {}),
    "deliverHeld": ({"session": TEXT, "workItem": TEXT}, {}),
    "recover": ({}, {}),
    "parseAddress": ({"input": ANYTHING}, {}),
    "validate": ({"as": _AS, "input": ANYTHING}, {"replyTarget": TEXT, "origin": _ORIGIN}),
    "render": ({"message": TEXT}, {"form": one_of("push", "digest"), "external": FLAG}),
    "a2a.validate": ({"extension": one_of("envelope", "work"), "raw": ANYTHING}, {}),
    "a2a.project": ({"facts": map_of(ANYTHING)}, {}),
    "a2a.inbound": (
        {"as": TEXT, "envelope": ANYTHING, "body": ANYTHING},
        {"parts": list_of(ANYTHING), "answers": TEXT},
    ),
    "world": ({"change": record({}, _CHANGES, minProperties=1, maxProperties=1)}, {}),
}
"""The members of each step, required and optional (section 12.4.3)."""

_CALL: Final[Json] = {
    "anyOf": [
        record({"hook": {"const": hook}, **dict.fromkeys(members, TEXT)}) for hook, members in HOOKS.items()
    ]
}


def _outcome(*about: str) -> Json:
    """An outcome whose error may have these members besides its code."""
    return {
        "anyOf": [
            record({"ok": {"const": True}}, {"result": map_of(ANYTHING)}),
            record({"ok": {"const": False}, "error": record({"code": TEXT}, dict.fromkeys(about, TEXT))}),
        ]
    }


_THEN: Final[Json] = {
    "messages": list_of(_ROW),
    "noOtherMessages": FLAG,
    "deliveries": list_of(
        record({"message": TEXT, "recipient": TEXT}, {"via": TEXT, "state": TEXT, "session": or_null(TEXT)})
    ),
    "noDeliveries": list_of(TEXT),
    "calls": list_of(_here("call")),
    "callsInclude": list_of(_here("call")),
    "gateEffects": list_of(TEXT),
    "voided": list_of(TEXT),
    "channels": list_of(_CHANNEL),
    "render": list_of(record({"step": COUNT, "text": TEXT})),
}

_OF_ANY_CLASS: Final[Json] = {
    "id": {"type": "string", "pattern": r"^[a-z0-9]+(\.[a-z0-9-]+){2}$"},
    "title": {"type": "string", "minLength": 1},
    "level": one_of(*LEVELS),
    "profile": one_of(*PROFILES),
    "sections": list_of({"type": "string", "pattern": r"^([0-9]+|[A-F])(\.[0-9]+)*$"}, minItems=1),
}
_RUNNABLE: Final[Json] = {
    **_OF_ANY_CLASS,
    "class": one_of(*(name for name in PREFIXES if name != FEDERATION)),
    "given": _here("given"),
    "when": list_of(_here("step"), minItems=1),
}
_OF_FEDERATION: Final[Json] = {
    **_OF_ANY_CLASS,
    "class": {"const": FEDERATION},
    "given": _here("federationGiven"),
    "when": list_of(_here("federationStep"), minItems=1),
}
_OPTIONAL: Final[Json] = {"capability": one_of(*CAPABILITIES), "tags": list_of(TEXT)}
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
        **record(
            {
                "kit": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$"},
                "class": one_of(*PREFIXES),
                "area": {"type": "string", "pattern": "^[a-z0-9-]+$"},
                "vectors": list_of(_here("vector")),
            }
        ),
        **{
            "$defs": {
                "vector": {
                    "anyOf": [
                        _vector({**_RUNNABLE, "then": _here("then")}),
                        _vector({**_OF_FEDERATION, "then": _here("federationThen")}),
                    ]
                },
                "runnable": {"anyOf": [_vector(_RUNNABLE), _vector(_OF_FEDERATION)]},
                "given": record({}, _GIVEN),
                "federationGiven": record({}, {**_GIVEN, **federation.GIVEN}),
                "step": _any_step(_STEPS),
                "federationStep": {"anyOf": [_here("step"), _any_step(federation.STEPS)]},
                "then": record({}, {"steps": list_of(or_null(_here("outcome"))), **_THEN}),
                "federationThen": record(
                    {},
                    {
                        "steps": list_of(or_null(_here("reasonedOutcome"))),
                        **_THEN,
                        **federation.THEN,
                    },
                ),
                "outcome": _outcome("field"),
                "reasonedOutcome": _outcome("field", "reason"),
                "call": _CALL,
            }
        },
    )


def _vector(members: Json) -> Json:
    return record(members, _OPTIONAL, **_ONLY_MAY_HAS_A_CAPABILITY)


def _any_step(steps: dict[str, tuple[Json, Json]]) -> Json:
    return {
        "anyOf": [
            record({"op": {"const": op}, **required}, optional) for op, (required, optional) in steps.items()
        ]
    }


def _line(word: str, required: Json, optional: Json | None = None) -> Json:
    return record({"dmp": {"const": word}, **required}, optional)


def adapter() -> Json:
    """The lines between the runner and an adapter (sections 12.4.7, D.2)."""
    of_vectors = "vector.schema.json#/$defs/"
    lines = {
        "runnerHello": _line("hello", {"kit": TEXT}),
        "hello": _line(
            "hello",
            {
                "implementation": record({"name": TEXT, "version": TEXT}),
                "classes": list_of(one_of(*PREFIXES), minItems=1, uniqueItems=True),
                "profiles": list_of(one_of(*PROFILES), minItems=1, uniqueItems=True),
                "capabilities": list_of(one_of(*CAPABILITIES), uniqueItems=True),
                "systemAddress": ADDRESS,
                "gateTypes": {**list_of(TEXT, uniqueItems=True), "contains": {"const": "wake"}},
                "render": record(
                    {"quotePrefix": TEXT, "header": TEXT, "hostLines": list_of(TEXT), "digestLead": TEXT}
                ),
            },
        ),
        "run": _line("run", {"vector": {"$ref": of_vectors + "runnable"}}),
        "observation": _line(
            "observation",
            {
                "id": TEXT,
                "steps": list_of({"$ref": of_vectors + "reasonedOutcome"}),
                "messages": list_of({"$ref": "message.schema.json"}),
                "deliveries": list_of({"$ref": "delivery.schema.json"}),
                "calls": list_of({"$ref": of_vectors + "call"}),
                "gateEffects": list_of(IDENTIFIER),
                "voided": list_of(IDENTIFIER),
                "channels": list_of(_CHANNEL),
                "render": list_of(record({"step": COUNT, "text": TEXT})),
            },
            {"remote": list_of(federation.REMOTE_ROW)},
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
