"""Raising a gate: who may, of which types, in which shape (sections 5.3, 5.6, 5.9, C.3)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given as given_
from hypothesis import strategies as st

from core.address import CORE, DISPATCH, Grammar
from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from core.inputs import Sender, SendInput
from core.validate import validate
from crypto.canonical import JsonValue
from tests.core.support import ADA, BOB, HOST, draft, refused

AGENT, SESSION = Sender("agent:bob/x"), Sender("run:r-000001")

VALID: dict[str, dict[str, JsonValue]] = {
    "wake": {"target": "task:t-000002", "message": "m-1"},
    "tool-approval": {"requestId": "q", "runId": "r-000001", "tool": "Bash", "input": {}, "floor": False},
    "scope": {"paths": ["src/a.py"], "reason": "the fix needs it"},
    "agent-registration": {"agent": "agent:ada/x", "client": "x"},
    "overseer-action": {"conversation": "c-1", "actionId": "a-1", "summary": "Archive it"},
    "memory": {
        "proposalId": "mp-01K6ABCDEFGHJKMNPQRSTVWXYZ",
        "action": "add",
        "scope": "team",
        "kind": "fact",
    },
    "task-proposal": {"task": "t-000002", "proposedBy": "agent:ada/a2a.acme", "message": "m-1"},
    "doc": {"doc": "doc-1", "proposal": "rev-1"},
}
RAISED_BY = {name: [HOST] for name in VALID} | {"scope": [SESSION], "memory": [HOST, ADA]}


def gate(type_: str, **members: Any) -> SendInput:
    """Return a gate of a type, with members of its data changed, or left out where they are `...`."""
    data = {"type": type_, **VALID[type_], **members}
    return draft(
        "human:ada",
        kind="question",
        blocking=True,
        choices=GATE_TYPES[type_].choices,
        data={name: value for name, value in data.items() if value is not ...},
    )


def check(given: SendInput, sender: Sender, *, grammar: Grammar = CORE, known: Any = GATE_TYPES) -> None:
    validate(sender, given, None, grammar=grammar, system_address=HOST.address, gate_types=known)


@pytest.mark.parametrize("name", VALID)
def test_each_type_is_raised_by_whom_its_definition_says_and_by_nobody_else(name: str) -> None:
    for sender in (HOST, ADA, BOB, AGENT, SESSION):
        if sender in RAISED_BY[name]:
            check(gate(name), sender)
            check(gate(name), sender, grammar=DISPATCH)
        else:
            with refused(Code.FORBIDDEN, "data"):
                check(gate(name), sender)


@pytest.mark.parametrize("name", VALID)
def test_a_type_this_host_does_not_implement_is_refused_whoever_sends_it(name: str) -> None:
    known = [other for other in GATE_TYPES if other != name]
    for sender in (HOST, ADA, SESSION):
        with refused(Code.INVALID, "data.type"):
            check(gate(name), sender, known=known)


@pytest.mark.parametrize("data_type", ["poll", "", "X-poll", "wake ", "Wake"])
def test_an_unlisted_type_is_no_gate_type(data_type: str) -> None:
    for sender in (HOST, ADA, BOB, SESSION):
        with refused(Code.INVALID, "data.type"):
            check(draft(kind="question", data={"type": data_type}), sender)


def test_a_type_of_the_hosts_own_is_raised_by_the_system_alone() -> None:
    """Section 5.3: a gate type the registry does not list."""
    own = draft(kind="question", data={"type": "poll", "n": 1})
    check(own, HOST, known=["wake", "poll"])
    for sender in (ADA, AGENT, SESSION):
        with refused(Code.FORBIDDEN, "data"):
            check(own, sender, known=["wake", "poll"])


@pytest.mark.parametrize("kind", ["message", "notice", "answer", "x-ping"])
def test_only_a_question_or_a_handoff_carries_gate_data(kind: str) -> None:
    for sender in (HOST, ADA, SESSION):
        for data_type in ("wake", "scope", "poll"):
            with refused(Code.INVALID, "data.type"):
                check(draft(kind=kind, data={"type": data_type}), sender)
        check(draft(kind="notice", data={"type": "x-poll"}), sender)


@pytest.mark.parametrize("name", ["scope", "memory", "doc"])
def test_a_fixed_gate_is_a_blocking_question_that_offers_exactly_its_choices(name: str) -> None:
    (sender, *_) = RAISED_BY[name]
    first, second = GATE_TYPES[name].choices
    for other in (
        replace(gate(name), kind="handoff"),
        replace(gate(name), blocking=False),
        replace(gate(name), choices=None),
        replace(gate(name), choices=(second, first)),
        replace(gate(name), choices=(first,)),
        replace(gate(name), choices=(first, second, "later")),
    ):
        with refused(Code.INVALID, "data"):
            check(other, sender)


@pytest.mark.parametrize("name", [name for name, listed in GATE_TYPES.items() if not listed.fixed])
def test_any_other_gate_offers_its_own_choices_or_none(name: str) -> None:
    check(replace(gate(name), choices=None), HOST)
    check(replace(gate(name), kind="handoff"), HOST)
    check(replace(gate(name), blocking=False), HOST)
    for choices in (("yes", "no"), tuple(reversed(GATE_TYPES[name].choices)), GATE_TYPES[name].choices[:1]):
        with refused(Code.INVALID, "data"):
            check(replace(gate(name), choices=choices), HOST)


OPTIONAL: dict[str, dict[str, JsonValue]] = {
    "tool-approval": {"runId": "r-000001", "conversation": "c-1", "truncated": True},
    "agent-registration": {"requestedBy": "human:ada"},
}


@pytest.mark.parametrize("name", VALID)
def test_every_member_that_is_not_optional_is_missed(name: str) -> None:
    (sender, *_) = RAISED_BY[name]
    for member in GATE_TYPES[name].members:
        if not member.optional:
            with refused(Code.INVALID, f"data.{member.name}"):
                check(gate(name, **{member.name: ...}), sender)
        else:
            assert member.name in OPTIONAL[name]


BAD = [
    ("wake", "target", "human:ada"),
    ("wake", "target", "t-000002"),
    ("wake", "target", None),
    ("wake", "message", "M 1"),
    ("wake", "message", 1),
    ("tool-approval", "requestId", 1),
    ("tool-approval", "runId", "run:r-000001"),
    ("tool-approval", "conversation", 1),
    ("tool-approval", "tool", None),
    ("tool-approval", "input", "é" * 4096),  # two bytes too many, with its quotes
    ("tool-approval", "truncated", False),
    ("tool-approval", "floor", 0),
    ("scope", "paths", []),
    ("scope", "paths", ["a", ""]),
    ("scope", "paths", ["a", 1]),
    ("scope", "paths", "a"),
    ("scope", "reason", " \u3000"),
    ("scope", "reason", 1),
    ("agent-registration", "agent", "human:ada"),
    ("agent-registration", "client", None),
    ("agent-registration", "requestedBy", "agent:ada/x"),
    ("agent-registration", "requestedBy", None),
    ("overseer-action", "conversation", None),
    ("overseer-action", "actionId", 1),
    ("overseer-action", "summary", ["x"]),
    ("memory", "proposalId", "mp-01k6abcdefghjkmnpqrstvwxyz"),
    ("memory", "proposalId", "mp-81K6ABCDEFGHJKMNPQRSTVWXYZ"),
    ("memory", "proposalId", "mp-01K6ABCDEFGHJKMNPQRSTVWXYZ0"),
    ("memory", "action", "edit"),
    ("memory", "scope", "personal"),
    ("memory", "kind", "rumor"),
    ("memory", "kind", ["fact"]),
    ("task-proposal", "task", "task:t-000002"),
    ("task-proposal", "proposedBy", "channel:x"),
    ("task-proposal", "message", ""),
    ("doc", "doc", "doc-"),
    ("doc", "doc", "handbook"),
    ("doc", "proposal", "doc-1"),
    ("doc", "proposal", f"rev-{'1' * 61}"),
]


@pytest.mark.parametrize(("name", "member", "value"), BAD)
def test_a_member_of_another_kind_is_invalid_on_its_name(name: str, member: str, value: JsonValue) -> None:
    (sender, *_) = RAISED_BY[name]
    with refused(Code.INVALID, f"data.{member}"):
        check(gate(name, **{member: value}), sender)


@pytest.mark.parametrize("ulid", ["01K6ABCDEFGHJKMNPQRSTVWXYZ", "01k6abcdefghjkmnpqrstvwxyz"])
def test_a_document_is_named_in_either_case(ulid: str) -> None:
    check(gate("doc", doc=f"doc-{ulid}", proposal=f"rev-{ulid}"), HOST)


def test_ids_and_addresses_follow_the_hosts_own_grammar() -> None:
    for given, field in (
        (gate("wake", target="task:cart"), "data.target"),
        (gate("tool-approval", runId="cart"), "data.runId"),
        (gate("task-proposal", task="cart"), "data.task"),
    ):
        check(given, HOST)
        with refused(Code.INVALID, field):
            check(given, HOST, grammar=DISPATCH)


def test_a_parked_call_names_where_it_is_parked_and_shows_8_kib_of_its_input() -> None:
    check(gate("tool-approval", runId=..., conversation="c-1"), HOST)
    with refused(Code.INVALID, "data"):
        check(gate("tool-approval", runId=...), HOST)
    check(gate("tool-approval", input="a" * 8190), HOST)
    # Of a text that is cut off, its own bytes count: escapes would make it longer again.
    check(gate("tool-approval", input="\n" * 8192, truncated=True), HOST)
    for shows in ("\n" * 8193, {"command": "ls"}):
        with refused(Code.INVALID, "data.input"):
            check(gate("tool-approval", input=shows, truncated=True), HOST)


def test_a_scope_gate_has_no_members_but_its_own_and_others_may() -> None:
    with refused(Code.INVALID, "data"):
        check(gate("scope", until="tomorrow"), SESSION)
    for name in set(VALID) - {"scope"}:
        check(gate(name, more=1), HOST)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given_(
    name=st.sampled_from(list(VALID)),
    member=st.sampled_from(
        sorted({member.name for listed in GATE_TYPES.values() for member in listed.members})
    ),
    value=JSON,
)
def test_whatever_a_member_holds_is_taken_or_refused_on_the_data(name: str, member: str, value: Any) -> None:
    (sender, *_) = RAISED_BY[name]
    found = None
    try:
        check(gate(name, **{member: value}), sender)
    except DmpError as error:
        found = error.code, error.field
    assert found in (None, (Code.INVALID, "data"), (Code.INVALID, f"data.{member}"))


@given_(data=st.dictionaries(st.text(max_size=8), JSON, max_size=4), name=st.sampled_from(list(VALID)))
def test_a_gate_without_its_members_is_never_raised(data: dict[str, Any], name: str) -> None:
    (sender, *_) = RAISED_BY[name]
    empty = replace(gate(name), data={**data, "type": name})
    with pytest.raises(DmpError) as refusal:
        check(empty, sender)
    assert refusal.value.code is Code.INVALID
