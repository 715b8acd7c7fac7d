"""Bodies of shared state: what is read, and what is refused with the member at fault (federation wire 8.A-8.C)."""

import pytest

from core.errors import DmpError
from crypto.canonical import JsonValue
from crypto.op import ABSENT, Absent
from replica.shared.bodies import (
    MAX_FIELD_BYTES,
    AgentRow,
    DevicePresence,
    Membership,
    RunPresence,
    RunResolve,
    TaskPut,
    TaskRemove,
    parse_agent,
    parse_channel,
    parse_presence,
    parse_task,
)

TASK: dict[str, JsonValue] = {"task": "t-0000aa", "kind": "put", "fields": {}}
DEVICE: dict[str, JsonValue] = {"kind": "replica", "build": "dmp 1", "device": "desk", "wall": 17}
RUN: dict[str, JsonValue] = {
    "kind": "run",
    "run": "r-0000aa",
    "task": "t-0000aa",
    "runKind": "execute",
    "live": True,
}
RESOLVE: dict[str, JsonValue] = {"kind": "resolve", "run": "r-0000aa", "replica": "ada-0000000a"}
AGENT: dict[str, JsonValue] = {
    "address": "agent:ada/helper",
    "displayName": "Helper",
    "client": "cli",
    "status": "approved",
}
CHANNEL: dict[str, JsonValue] = {"channel": "eng/core", "member": "human:bob", "joined": False}

PARSERS = {
    "task": (parse_task, TASK),
    "device": (parse_presence, DEVICE),
    "run": (parse_presence, RUN),
    "resolve": (parse_presence, RESOLVE),
    "agent": (parse_agent, AGENT),
    "channel": (parse_channel, CHANNEL),
}


def test_bodies_are_read_into_what_they_say() -> None:
    made: dict[str, JsonValue] = {
        **TASK,
        "origin": "2026-09-21T14:13:20.000Z",
        "fields": {"title": "Wall", "x": [1]},
        "activity": ["a"],
    }
    assert parse_task(made) == TaskPut(
        "task:t-0000aa", '"2026-09-21T14:13:20.000Z"', {"title": "Wall", "x": [1]}, ("a",)
    )
    assert parse_task({"task": "e-0000aa", "kind": "remove"}) == TaskRemove("task:e-0000aa")
    assert parse_presence({**DEVICE, "caps": ["relay"]}) == DevicePresence("dmp 1", "desk", 17, ("relay",))
    assert parse_presence({**RUN, "waitingOn": "bob"}) == RunPresence(
        "run:r-0000aa", "task:t-0000aa", "execute", True, "bob"
    )
    assert parse_presence({**RUN, "task": None}) == RunPresence("run:r-0000aa", None, "execute", True, None)
    assert parse_presence(RESOLVE) == RunResolve("run:r-0000aa", "ada-0000000a")
    assert parse_agent(AGENT) == AgentRow("agent:ada/helper", "ada", "Helper", "cli", "approved")
    assert parse_channel({**CHANNEL, "new": 1}) == Membership("eng/core", "human:bob", False)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("task", "task", "t-XYZ"),
        ("task", "task", "t-0000aa\n"),
        ("task", "task", "r-0000aa"),
        ("task", "task", 7),
        ("task", "kind", "patch"),
        ("task", "origin", True),
        ("task", "origin", None),
        ("task", "fields", []),
        ("task", "fields", {"": 1}),
        ("task", "fields", {"\N{SECTION SIGN}activity x": 1}),
        ("task", "fields", {f"x{number}": 1 for number in range(1_001)}),
        ("task", "fields.title", {"title": 1}),
        ("task", "fields.assignee", {"assignee": ["human:bob"]}),
        ("task", "fields.labels", {"labels": ["a", 1]}),
        ("task", "fields.body", {"body": "x" * MAX_FIELD_BYTES}),
        ("task", "activity", "line"),
        ("device", "kind", "machine"),
        ("device", "build", ""),
        ("device", "build", "x" * 257),
        ("device", "device", None),
        ("device", "wall", True),
        ("device", "wall", "17"),
        ("device", "caps", ["x"] * 17),
        ("device", "caps", ["x" * 33]),
        ("run", "run", "r-12345"),
        ("run", "run", "r-0000aa "),
        ("run", "task", "x-0000aa"),
        ("run", "task", 1),
        ("run", "runKind", ""),
        ("run", "runKind", "x" * 33),
        ("run", "live", 1),
        ("run", "waitingOn", None),
        ("run", "waitingOn", "\ud800"),
        ("resolve", "replica", "ada"),
        ("agent", "address", "agent:dispatch"),
        ("agent", "address", "agent:ada/overseer"),
        ("agent", "address", "agent:ada/a2a.peer"),
        ("agent", "address", "human:ada"),
        ("agent", "displayName", "x" * 257),
        ("agent", "displayName", "\N{SEEDLING}" * 129),  # two UTF-16 units each
        ("agent", "client", "x" * 129),
        ("agent", "status", "ready"),
        ("channel", "channel", "Eng"),
        ("channel", "channel", ""),
        ("channel", "member", "run:r-0000aa"),
        ("channel", "member", "channel:other"),
        ("channel", "member", "agent:ada/overseer"),
        ("channel", "member", "a2a:client"),
        ("channel", "joined", "yes"),
    ],
)
def test_a_body_that_breaks_a_bound_is_refused_with_the_member_at_fault(
    kind: str, field: str, value: JsonValue
) -> None:
    parser, body = PARSERS[kind]
    with pytest.raises(DmpError) as caught:
        parser({**body, field.partition(".")[0]: value})
    assert caught.value.field == field


@pytest.mark.parametrize("kind", PARSERS)
def test_a_body_that_is_no_object_is_refused(kind: str) -> None:
    parser, _ = PARSERS[kind]
    given: list[JsonValue | Absent] = [ABSENT, None, [], "x"]
    for body in given:
        with pytest.raises(DmpError) as caught:
            parser(body)
        assert caught.value.field == "body"
