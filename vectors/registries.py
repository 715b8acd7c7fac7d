"""The registries of section 11 as typed values, read from `kit/registries.json`.

Entries stand in the order of the section's tables, which matters for gate types: `$unimplementedGateType`
is the first one an adapter did not declare (section 12.4.4).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

PATH: Final = Path(__file__).parent / "kit" / "registries.json"


class Status(StrEnum):
    """How far an entry is agreed (section 11.11)."""

    PERMANENT = "permanent"
    PROVISIONAL = "provisional"
    APPENDIX = "appendix"
    INFORMATIVE = "informative"
    RESERVED = "reserved"


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered value.

    `reference` is the public document that defines an entry whose scope is not core; `vectors` are ids of
    the protocol's own kit.
    """

    value: str
    scope: str
    status: Status
    since: str
    defined_in: str
    reference: str | None
    vectors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DataMember:
    """A member of a gate's data besides `type`, and in words what it holds."""

    name: str
    holds: str
    optional: bool


@dataclass(frozen=True, slots=True)
class GateType(Entry):
    """A gate type: who may raise it, what it offers, what its data holds, and what its effect is (5.1)."""

    raised_by: str
    choices: tuple[str, ...]
    data: tuple[DataMember, ...]
    effect: str


@dataclass(frozen=True, slots=True)
class DeliveryState(Entry):
    """A delivery state; a host may hide an `internal` one from its API (section 6.1)."""

    internal: bool


@dataclass(frozen=True, slots=True)
class ErrorCode(Entry):
    """An error code and the HTTP status that carries it (section 10.1)."""

    http: int


@dataclass(frozen=True, slots=True)
class Registries:
    """The ten registries of sections 11.1 to 11.10; `dmp` is the version of the document they belong to."""

    dmp: str
    address_schemes: tuple[Entry, ...]
    address_characters: tuple[Entry, ...]
    envelope_fields: tuple[Entry, ...]
    kinds: tuple[Entry, ...]
    ref_types: tuple[Entry, ...]
    gate_types: tuple[GateType, ...]
    system_markers: tuple[Entry, ...]
    delivery_states: tuple[DeliveryState, ...]
    error_codes: tuple[ErrorCode, ...]
    extension_uris: tuple[Entry, ...]


@lru_cache(maxsize=1)
def registries() -> Registries:
    """Return the registries of this project's kit."""
    return read_registries(json.loads(PATH.read_text(encoding="utf-8")))


def read_registries(raw: Mapping[str, Any]) -> Registries:
    """Read registries from their JSON. Raises KeyError or ValueError where a member is missing or wrong."""
    return Registries(
        dmp=raw["dmp"],
        address_schemes=_entries(raw["addressSchemes"]),
        address_characters=_entries(raw["addressCharacters"]),
        envelope_fields=_entries(raw["envelopeFields"]),
        kinds=_entries(raw["kinds"]),
        ref_types=_entries(raw["refTypes"]),
        gate_types=tuple(
            GateType(
                **_shared(entry),
                raised_by=entry["raisedBy"],
                choices=tuple(entry["choices"]),
                data=tuple(_data_member(name, holds) for name, holds in entry["data"].items()),
                effect=entry["effect"],
            )
            for entry in raw["gateTypes"]
        ),
        system_markers=_entries(raw["systemMarkers"]),
        delivery_states=tuple(
            DeliveryState(**_shared(entry), internal=entry["internal"]) for entry in raw["deliveryStates"]
        ),
        error_codes=tuple(ErrorCode(**_shared(entry), http=entry["http"]) for entry in raw["errorCodes"]),
        extension_uris=_entries(raw["extensionUris"]),
    )


def _entries(raw: list[Mapping[str, Any]]) -> tuple[Entry, ...]:
    return tuple(Entry(**_shared(entry)) for entry in raw)


def _shared(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members every registry has."""
    return {
        "value": entry["value"],
        "scope": entry["scope"],
        "status": Status(entry["status"]),
        "since": entry["since"],
        "defined_in": entry["definedIn"],
        "reference": entry.get("reference"),
        "vectors": tuple(entry["vectors"]),
    }


def _data_member(name: str, holds: str) -> DataMember:
    return DataMember(name.removesuffix("?"), holds, name.endswith("?"))
