"""The JSON Schemas of Appendix D say what the vectors, the adapter and the engine's store say."""

import json
import os
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import regress
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from core.address import SCHEMES
from core.message import Message
from tests.conftest import PUBLIC_VECTORS
from vectors.adapter.lines import converse
from vectors.adapter.run import CLASSES
from vectors.authoring.schemas import FOLDER, contents
from vectors.registries import Status, registries
from vectors.runner import vector_shape
from vectors.runner.document import FEDERATED_FIELDS, MESSAGE_FIELDS, VERSION
from vectors.runner.shape import ShapeError

KIT = FOLDER.parent / "kit"
FEDERATION = FOLDER.parent / "federation"
SCHEMAS: dict[str, Any] = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.schema.json"))
}


def _pattern(_: Validator, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
    """Search a pattern as ECMAScript does, where `$` never matches before a line break at the end."""
    if isinstance(instance, str) and not _compiled(pattern).find(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@cache
def _compiled(pattern: str) -> regress.Regex:
    return regress.Regex(pattern)


VALIDATOR = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]

# Without `$schema`, by which a referred schema would be taken out of this validator's hands.
BY_ID: Registry[Any] = Registry().with_resources(
    (
        schema["$id"],
        DRAFT202012.create_resource({name: of for name, of in schema.items() if name != "$schema"}),
    )
    for schema in SCHEMAS.values()
)


def accepts(name: str, value: Any, definition: str | None = None) -> bool:
    """Whether a schema, or one of its definitions, accepts a value."""
    return _validator(name, definition).is_valid(value)


@cache
def _validator(name: str, definition: str | None) -> Validator:
    part = "" if definition is None else f"#/$defs/{definition}"
    validator: Validator = VALIDATOR({"$ref": SCHEMAS[name]["$id"] + part}, registry=BY_ID)
    return validator


def _files(folder: Path) -> list[Any]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*/*.json"))]


def _public() -> list[Any]:
    folder = os.environ.get(PUBLIC_VECTORS)
    return _files(Path(folder) / "kit" / "vectors") if folder else []


OWN = [
    *_files(KIT),
    *(json.loads(path.read_text(encoding="utf-8")) for path in sorted(FEDERATION.glob("*.json"))),
]
PUBLIC = _public()


def _vectors(files: list[Any], class_: str) -> list[Any]:
    return [vector for file in files if file["class"] == class_ for vector in file["vectors"]]


def _inputs(vector: Any) -> Iterator[tuple[Any, bool]]:
    """The input of each step that sends or validates one, with the system address in place, and whether it passes."""
    outcomes = vector["then"].get("steps", [])
    for index, step in enumerate(vector["when"]):
        outcome = outcomes[index] if index < len(outcomes) else None
        if step["op"] in ("send", "validate") and outcome is not None:
            yield step["input"], outcome["ok"]


def test_the_committed_schemas_are_what_the_module_makes() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert committed == contents()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://dispatch.foo/protocol/{VERSION}/schemas/{name}.schema.json"


def test_schemas_refer_to_each_other_alone() -> None:
    def refs(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for member in value.values():
                yield from refs(member)
        elif isinstance(value, list):
            for item in value:
                yield from refs(item)

    for schema in SCHEMAS.values():
        for reference in refs(schema):
            file, _, part = reference.partition("#")
            assert file in {"", *(f"{name}.schema.json" for name in SCHEMAS)}
            target = SCHEMAS[file.removesuffix(".schema.json")] if file else schema
            for member in part.removeprefix("/").split("/") if part else ():
                target = target[member]


@pytest.mark.parametrize("vector", _vectors(OWN + PUBLIC, "envelope"), ids=lambda vector: vector["id"])
def test_send_input_agrees_with_the_envelope_vectors(vector: Any) -> None:
    for given, passes in _inputs(vector):
        if passes:
            assert accepts("send-input", given)
        elif "structural" in vector.get("tags", ()):
            assert not accepts("send-input", given)


@pytest.mark.parametrize("vector", _vectors(OWN, "envelope"), ids=lambda vector: vector["id"])
def test_an_input_that_a_schema_can_refuse_is_tagged(vector: Any) -> None:
    if "structural" not in vector.get("tags", ()):
        assert [given for given, _ in _inputs(vector) if not accepts("send-input", given)] == []


@pytest.mark.parametrize("file", OWN + PUBLIC, ids=lambda file: f"{file['class']}-{file['area']}")
def test_the_vector_schema_describes_a_file(file: Any) -> None:
    assert accepts("vector", file)


VECTOR: dict[str, Any] = {
    "id": "core.some.case",
    "title": "Something holds",
    "class": "host-core",
    "level": "MUST",
    "profile": "core",
    "sections": ["4.5"],
    "given": {},
    "when": [{"op": "recover"}],
    "then": {},
}


def _changed(**members: Any) -> Any:
    return {**VECTOR, **members}


@pytest.mark.parametrize(
    "vector",
    [
        {name: value for name, value in VECTOR.items() if name != "title"},
        _changed(note="more"),
        _changed(id="core.some"),
        _changed(id="core.some.case\n"),
        _changed(**{"class": "other"}),
        _changed(level="may"),
        _changed(level="MAY"),
        _changed(capability="implicit-members"),
        _changed(level="MAY", capability="flying"),
        _changed(profile="own"),
        _changed(sections=[]),
        _changed(sections=["§4"]),
        _changed(when=[]),
        _changed(when=[{"op": "recover", "now": True}]),
        _changed(when=[{"op": "restart"}]),
        _changed(when=[{"op": "world", "change": {"advanceMs": 1, "failOnAnswered": True}}]),
        _changed(when=[{"op": "world", "change": {}}]),
        _changed(when=[{"op": "send", "as": "human:mei", "input": {}}]),
        _changed(given={"time": "now"}),
        _changed(given={"clock": "2026-09-23"}),
        _changed(given={"wakeResults": {"task:t-0c0ffee": {"ok": True, "reason": "no"}}}),
        _changed(given={"limits": {"urgentPerHour": -1}}),
        _changed(then={"result": []}),
        _changed(then={"steps": [{"ok": False}]}),
        _changed(then={"steps": [{"ok": True, "error": {"code": "invalid"}}]}),
        _changed(then={"calls": [{"hook": "push", "message": "$s1"}]}),
        _changed(then={"calls": [{"hook": "published", "message": "$s1", "session": "run:r-0b5e55"}]}),
        _changed(then={"messages": [{"kind": "message"}]}),
    ],
)
def test_the_vector_schema_refuses_a_malformed_vector(vector: Any) -> None:
    assert accepts("vector", VECTOR, "vector")
    assert not accepts("vector", vector, "vector")
    vector_shape.vector(VECTOR, "the vector")
    with pytest.raises(ShapeError):  # nothing that a schema refuses passes the runner
        vector_shape.vector(vector, "the vector")


def test_a_runnable_vector_has_no_then() -> None:
    assert not accepts("vector", VECTOR, "runnable")
    assert accepts("vector", {name: value for name, value in VECTOR.items() if name != "then"}, "runnable")


def _exchange() -> Iterator[tuple[str, Any]]:
    """The lines of a real exchange about vectors this project's adapter runs, each with its definition.

    Of the class `federation` about one in seven, which are many and long.
    """
    asked: list[tuple[str, Any]] = [("runnerHello", {"dmp": "hello", "kit": VERSION})]
    for class_ in CLASSES:
        for vector in _vectors(OWN + PUBLIC, class_)[:: 7 if class_ == FEDERATION.name else 1]:
            runnable = {name: value for name, value in vector.items() if name != "then"}
            text = (
                json.dumps(runnable)
                .replace("$system", "agent:dispatch")
                .replace("$unimplementedGateType", "poll")
            )
            asked.append(("run", {"dmp": "run", "vector": json.loads(text)}))
    bye = {"dmp": "bye"}
    lines = [json.dumps(line).encode() + b"\n" for line in (*(line for _, line in asked), bye)]
    answers = BytesIO()
    converse(lines, answers)
    answered = [json.loads(line) for line in answers.getvalue().split(b"\n")[:-1]]
    yield from asked
    yield "bye", bye
    yield "hello", answered[0]
    for answer in answered[1:]:
        yield "observation", answer


def test_the_adapter_schema_describes_every_line_of_an_exchange() -> None:
    of_each_kind: dict[str, Any] = {
        "unsupported": {"dmp": "unsupported", "id": "core.some.case", "reason": "not here"}
    }
    for definition, line in _exchange():
        assert accepts("adapter", line, definition), line
        of_each_kind[definition] = line
    assert set(of_each_kind) == set(SCHEMAS["adapter"]["$defs"])
    for definition, line in of_each_kind.items():
        assert [name for name in of_each_kind if accepts("adapter", line, name)] == [definition]
        assert accepts("adapter", line)


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"dmp": "stop"},
        {"dmp": "bye", "now": True},
        {"dmp": "unsupported", "id": "core.some.case"},
        {"dmp": "hello"},
        {"dmp": "run", "vector": VECTOR},
        [],
    ],
)
def test_the_adapter_schema_refuses_other_lines(line: Any) -> None:
    assert not accepts("adapter", line)


def test_a_message_from_another_replica_is_a_message() -> None:
    message = Message(
        id="m-01m36vad80sm3jsp5ydyfp42e2",
        thread="m-01m36vad80sm3jsp5ydyfp42e2",
        reply_to=None,
        sender="human:mei",
        to=("agent:tomas/kiln", "channel:harvest/plums"),
        kind="x-row",
        body="Row 7.",
        created_at="2027-03-01T06:00:00.000Z",
        origin="mei-shed",
        hlc="1803880800000.0.mei-shed",
    ).to_json()
    assert accepts("message", message)
    assert not accepts("message", {**message, "createdAt": "2027-03-01T06:00:00Z"})
    assert not accepts("message", {**message, "readAt": None})
    assert not accepts("message", {name: value for name, value in message.items() if name != "wake"})


def test_a_stored_message_has_the_registered_fields() -> None:
    registered = [entry.value for entry in registries().envelope_fields if entry.value != "idempotencyKey"]
    assert set(SCHEMAS["message"]["properties"]) == set(registered)
    assert set(registered) == {*MESSAGE_FIELDS, *FEDERATED_FIELDS}
    absent_when_not_set = {"session", "data", "choices", "choice", "origin", "hlc"}
    assert set(SCHEMAS["message"]["required"]) == set(registered) - absent_when_not_set


@pytest.mark.parametrize("scheme", [entry.value for entry in registries().address_schemes])
def test_an_address_of_each_registered_scheme_is_one(scheme: str) -> None:
    assert scheme in SCHEMES
    assert accepts("message", f"{scheme}:orchard-7", "address")
    assert not accepts("message", f"{scheme}:Orchard", "address")
    assert not accepts("message", f"{scheme}:{'o' * 65}", "address")


@pytest.mark.parametrize("vector", _vectors(OWN + PUBLIC, "envelope"), ids=lambda vector: vector["id"])
def test_addresses_that_vectors_parse_are_addresses(vector: Any) -> None:
    steps = vector["then"].get("steps", [])
    for step, outcome in zip(vector["when"], steps, strict=False):
        if (
            step["op"] == "parseAddress"
            and outcome is not None
            and (outcome["ok"] or vector["profile"] == "core")
        ):
            assert accepts("message", step["input"], "address") is outcome["ok"]


PERMANENT = {gate.value for gate in registries().gate_types if gate.status is Status.PERMANENT}


def test_gate_data_describes_each_permanent_type() -> None:
    assert {each["properties"]["type"]["const"] for each in SCHEMAS["gate-data"]["oneOf"]} == PERMANENT


def test_gate_data_accepts_what_vectors_raise() -> None:
    seen = set()
    for class_ in ("envelope", "host-core"):
        for vector in _vectors(OWN + PUBLIC, class_):
            for given, passes in _inputs(vector):
                data = given.get("data") if isinstance(given, dict) else None
                if passes and isinstance(data, dict) and str(data.get("type")) in PERMANENT:
                    seen.add(data["type"])
                    assert accepts("gate-data", data), data
    assert "wake" in seen


@pytest.mark.parametrize(
    "data",
    [
        {"type": "wake", "target": "task:t-0c0ffee"},
        {"type": "wake", "target": "nobody", "message": "m-1"},
        {"type": "scope", "paths": [], "reason": "to prune"},
        {"type": "scope", "paths": [""], "reason": "to prune"},
        {"type": "overseer-action", "conversation": 7, "actionId": "a", "summary": "s"},
        {"type": "x-rows"},
        {"type": "poll"},
        {},
    ],
)
def test_gate_data_refuses_other_data(data: Any) -> None:
    assert not accepts("gate-data", data)


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ({"type": "file", "id": "rows.csv"}, True),
        ({"type": "wiki", "id": "rows", "at": "s2"}, True),
        ({"type": "Wiki", "id": "rows"}, False),
        ({"type": "wiki\n", "id": "rows"}, False),
        ({"type": "wiki", "id": ""}, False),
        ({"type": "wiki"}, False),
        ({"id": "rows"}, False),
        ("wiki:rows", False),
    ],
)
def test_a_ref_has_a_type_and_an_id(given: Any, passes: bool) -> None:
    assert accepts("ref", given) is passes


def test_a_delivery_is_in_a_state_that_a_host_may_expose() -> None:
    delivery = {
        "id": "d-1",
        "message": "m-1",
        "recipient": "human:mei",
        "session": None,
        "via": "direct",
        "state": "notified",
    }
    assert accepts("delivery", delivery)
    assert not accepts("delivery", {**delivery, "state": "forwarded"})
    assert not accepts("delivery", {**delivery, "via": "post"})
    assert not accepts("delivery", {**delivery, "session": "r-0b5e55"})
    assert not accepts("delivery", {name: value for name, value in delivery.items() if name != "session"})
