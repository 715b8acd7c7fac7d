"""A vector as the runner goes through it."""

from dataclasses import dataclass
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object whose shape has been checked."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One test vector; `raw` is the whole of it, as the file has it."""

    id: str
    vector_class: str
    level: str
    profile: str
    capability: str | None
    raw: JsonObject

    @classmethod
    def of(cls, raw: JsonObject) -> "Vector":
        """Return the vector of a value that has the shape of one."""
        return cls(raw["id"], raw["class"], raw["level"], raw["profile"], raw.get("capability"), raw)
