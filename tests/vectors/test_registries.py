"""The registries are well formed (section 11), and what the engine knows does not drift from them (11.11)."""

import json
import re
from dataclasses import fields

import pytest

from core.address import SCHEMES
from core.errors import Code
from core.gate_data import MARKERS
from core.gate_types import GATE_TYPES
from core.message import KINDS, State
from core.validate import REF_TYPES
from vectors.authoring.layout import write_json
from vectors.registries import PATH, Entry, GateType, Registries, Status, read_registries, registries

ALL: dict[str, tuple[Entry, ...]] = {
    field.name: getattr(registries(), field.name) for field in fields(Registries) if field.name != "dmp"
}
ENTRIES = [pytest.param(name, entry, id=f"{name}-{entry.value}") for name, of in ALL.items() for entry in of]

PROFILE_MARKERS = frozenset(("x-policy", "x-expired"))
"""Markers of the Dispatch profile, which are no registry entries (section C.4)."""

EXPORTS = {
    "address_schemes": frozenset(SCHEMES),
    "kinds": frozenset(KINDS),
    "ref_types": frozenset(REF_TYPES),
    "gate_types": frozenset(GATE_TYPES),
    "system_markers": frozenset(MARKERS) - PROFILE_MARKERS,
    "delivery_states": frozenset(State),
    "error_codes": frozenset(Code),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_permanent_entry_is_exported(name: str) -> None:
    permanent = {entry.value for entry in ALL[name] if entry.status is Status.PERMANENT}
    assert permanent <= EXPORTS[name]


@pytest.mark.parametrize("name", EXPORTS)
def test_every_exported_value_is_registered(name: str) -> None:
    implemented = {Status.PERMANENT, Status.PROVISIONAL}
    if name == "error_codes":  # hosts and bindings raise an informative code
        implemented.add(Status.INFORMATIVE)
    assert EXPORTS[name] <= {entry.value for entry in ALL[name] if entry.status in implemented}


@pytest.mark.parametrize("of", ALL.values(), ids=ALL)
def test_a_value_is_registered_once(of: tuple[Entry, ...]) -> None:
    values = [entry.value for entry in of]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_an_entry_keeps_the_policy(name: str, entry: Entry) -> None:
    assert entry.scope in {"core", "dispatch", "a2a", "memory", "docs", "federation"}
    assert (entry.reference is None) == (entry.scope == "core")
    assert re.fullmatch(r"(\d+|[CF])\.\d+", entry.defined_in)
    # A permanent entry has a vector; a reserved one's only vectors show that it is refused; no other has any.
    assert bool(entry.vectors) == (entry.status in {Status.PERMANENT, Status.RESERVED})
    # Private names are registered nowhere, but for the markers that stored messages carry.
    assert entry.value.startswith("x-") == (name == "system_markers")


def test_gate_types_are_in_the_order_of_their_table() -> None:
    assert [gate.value for gate in registries().gate_types] == [
        "wake",
        "tool-approval",
        "scope",
        "agent-registration",
        "overseer-action",
        "memory",
        "task-proposal",
        "doc",
    ]


def test_a_gate_type_says_who_raises_it_and_what_it_offers() -> None:
    for gate in registries().gate_types:
        assert gate.raised_by in {"system", "system-or-decider", "session"}
        assert len(gate.choices) >= 2
        assert gate.effect
        assert all(member.holds for member in gate.data)
        assert any(not member.optional for member in gate.data)


@pytest.mark.parametrize("entry", registries().gate_types, ids=lambda entry: entry.value)
def test_a_gate_type_is_implemented_as_it_is_registered(entry: GateType) -> None:
    implemented = GATE_TYPES[entry.value]
    assert implemented.raised_by == entry.raised_by
    assert implemented.choices == entry.choices
    checked = {(member.name, member.optional) for member in implemented.members}
    registered = {(member.name, member.optional) for member in entry.data}
    assert {each for each in registered if not each[1]} <= checked <= registered


def test_only_sending_is_internal() -> None:
    assert [state.value for state in registries().delivery_states if state.internal] == ["sending"]


def test_each_code_has_its_status() -> None:
    assert {code.value: code.http for code in registries().error_codes} == {
        "invalid": 400,
        "forbidden": 403,
        "not-found": 404,
        "conflict": 409,
        "limited": 429,
        "unavailable": 503,
    }


def test_an_entry_without_its_members_is_refused() -> None:
    raw = json.loads(PATH.read_text(encoding="utf-8"))
    raw["kinds"][0]["status"] = "agreed"
    with pytest.raises(ValueError, match="agreed"):
        read_registries(raw)


def test_the_file_is_laid_out_as_the_kit_is() -> None:
    text = PATH.read_text(encoding="utf-8")
    assert text == write_json(json.loads(text))


def test_no_entry_names_a_vector_of_this_project() -> None:
    own = {
        vector["id"]
        for path in PATH.parent.glob("*/*.json")
        for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]
    }
    assert not own & {vector for of in ALL.values() for entry in of for vector in entry.vectors}
