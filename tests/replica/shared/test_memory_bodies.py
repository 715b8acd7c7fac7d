"""The body of a memory op: every limit of the wire, at it and past it (8.14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.shared.memory.bodies import FIELDS, MemoryPut, Trust, parse_memory
from tests.replica.shared.memory_acts import MEM, body

FULL: dict[str, JsonValue] = {
    "title": "Tabs",
    "body": "Indent with spaces.",
    "kind": "convention",
    "refs": ["file:setup.cfg"],
    "epic": "e-0000bb",
    "appliesTo": ["src/**"],
    "pinned": True,
    "status": "active",
    "statusReason": None,
    "supersedes": None,
    "supersededBy": None,
    "author": "human:ada",
    "createdAt": "2026-09-21T14:13:20.000Z",
    "decidedBy": "human:bob",
    "decidedByPolicy": {"rung": 3, "authorizedBy": "rung"},
}


def parsed(value: JsonValue) -> MemoryPut:
    found = parse_memory(value)
    assert found is not None
    return found


def field_at_fault(value: JsonValue) -> str | None:
    with pytest.raises(DmpError) as refused:
        parse_memory(value)
    assert refused.value.code is Code.INVALID
    return refused.value.field


def test_every_field_of_the_wire_is_read() -> None:
    assert set(FULL) == set(FIELDS)
    found = parsed(body(MEM, "confirmed", "agent:ada/helper", **FULL))
    assert found == MemoryPut(MEM, FULL, Trust.CONFIRMED, "agent:ada/helper")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", "é" * 100),
        ("body", "x" * 8_192),
        ("refs", ["x" * 512] * 20),
        ("refs", []),
        ("epic", "x" * 64),
        ("epic", None),
        ("appliesTo", ["é" * 256] * 50),
        ("statusReason", "undone"),
        ("supersedes", MEM),
        ("supersedes", [MEM, MEM.lower()]),
        ("supersededBy", MEM),
        ("author", "run:r-0000aa"),
        ("decidedBy", None),
        ("decidedByPolicy", None),
        ("decidedByPolicy", {"rung": 0, "authorizedBy": "override"}),
        ("kind", "reference"),
    ],
)
def test_a_field_at_its_limit_is_taken(name: str, value: JsonValue) -> None:
    assert parsed(body(**{name: value})).fields == {name: value}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", "x" * 201),
        ("title", "é" * 101),
        ("title", None),
        ("title", "\ud800"),
        ("body", "x" * 8_193),
        ("body", 1),
        ("kind", "rumour"),
        ("kind", ["fact"]),
        ("refs", ["x"] * 21),
        ("refs", ["x" * 513]),
        ("refs", "file:a"),
        ("refs", [1]),
        ("refs", None),
        ("epic", "x" * 65),
        ("epic", 1),
        ("appliesTo", ["x"] * 51),
        ("appliesTo", ["x" * 513]),
        ("pinned", 1),
        ("pinned", None),
        ("status", "deleted"),
        ("status", None),
        ("statusReason", "bored"),
        ("supersedes", "mem-1"),
        ("supersedes", [MEM] * 51),
        ("supersedes", 1),
        ("author", None),
        ("author", "ada"),
        ("author", "human:ada\n"),
        ("author", "channel:eng"),
        ("createdAt", 5),
        ("createdAt", "x" * 65),
        ("decidedBy", "agent:ada/helper"),
        ("decidedBy", "human:Ada"),
        ("decidedByPolicy", {"rung": 1}),
        ("decidedByPolicy", {"rung": True, "authorizedBy": "rung"}),
        ("decidedByPolicy", {"rung": 11, "authorizedBy": "rung"}),
        ("decidedByPolicy", {"rung": 1, "authorizedBy": "me"}),
        ("decidedByPolicy", []),
    ],
)
def test_one_bad_field_makes_the_whole_op_malformed(name: str, value: JsonValue) -> None:
    fields = {**FULL, name: value}
    assert (
        field_at_fault({"memory": MEM, "kind": "put", "trust": "human", "fields": fields}) == f"fields.{name}"
    )


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, "body"),
        ([], "body"),
        ({}, "memory"),
        ({"memory": "mem-x", "kind": "put", "trust": "human"}, "memory"),
        ({"memory": f"{MEM}\n", "kind": "put", "trust": "human"}, "memory"),
        ({"memory": "mem-8KE0000000000000000000000", "kind": "put", "trust": "human"}, "memory"),
        ({"memory": MEM, "kind": "take", "trust": "human"}, "kind"),
        ({"memory": MEM, "trust": "human"}, "kind"),
        ({"memory": MEM, "kind": "put"}, "trust"),
        ({"memory": MEM, "kind": "put", "trust": "me"}, "trust"),
        ({"memory": MEM, "kind": "put", "trust": ["human"]}, "trust"),
        ({"memory": MEM, "kind": "put", "trust": "human", "by": None}, "by"),
        ({"memory": MEM, "kind": "put", "trust": "human", "by": "bob"}, "by"),
        ({"memory": MEM, "kind": "put", "trust": "human", "fields": []}, "fields"),
        ({"memory": MEM, "kind": "put", "trust": "human", "fields": None}, "fields"),
    ],
)
def test_what_is_no_memory_op_is_refused_with_its_place(value: JsonValue, field: str) -> None:
    assert field_at_fault(value) == field


def test_unknown_fields_and_members_are_dropped() -> None:
    deep: JsonValue = {"rung": 1, "authorizedBy": "rung", "more": "x" * 900_000}
    value = body(MEM, "agent", None, pinned=True, mood="sunny", decidedByPolicy=deep)
    assert isinstance(value, dict)
    found = parsed({**value, "shade": "blue"})
    assert found.fields == {"pinned": True, "decidedByPolicy": {"rung": 1, "authorizedBy": "rung"}}


def test_a_remove_says_nothing_whatever_else_is_in_it() -> None:
    assert parse_memory({"memory": MEM, "kind": "remove", "fields": {"title": 1}, "trust": "bogus"}) is None


json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["memory", "kind", "fields", "trust", "by", "x"]), json)
    | st.fixed_dictionaries(
        {"memory": st.just(MEM), "kind": st.just("put"), "trust": st.just("human")},
        optional={"fields": st.dictionaries(st.sampled_from(FIELDS), json, max_size=3), "by": json},
    )
)
def test_anything_else_is_either_read_or_refused(value: JsonValue) -> None:
    code, found = Code.INVALID, None
    try:
        found = parse_memory(value)
    except DmpError as error:
        code = error.code
    assert code is Code.INVALID
    assert found is None or set(found.fields) <= set(FIELDS)
