"""The shape of a vector (section 12.4.1), and the outcomes that its steps are expected to have."""

from typing import Any, Final, TypeAlias

KIT: Final = "1.0.0-draft.1"

Json: TypeAlias = dict[str, Any]
Expected: TypeAlias = tuple[Json, Json | None]
"""A step, and the outcome it should have; None leaves it unchecked."""


def ok(step: Json, **result: Any) -> Expected:
    """A step that succeeds with at least these members in its result."""
    return step, {"ok": True, "result": result}


def refused(step: Json, reason: str | None = None) -> Expected:
    """A step that fails as invalid, for this reason where one is given."""
    error = {"code": "invalid"} if reason is None else {"code": "invalid", "reason": reason}
    return step, {"ok": False, "error": error}


def vector(
    id: str,
    title: str,
    *steps: Expected,
    sections: tuple[str, ...] = ("F.1",),
    given: Json | None = None,
    level: str = "MUST",
    profile: str = "core",
    **then: Any,
) -> Json:
    """One vector; `id` goes without the prefix of its class. `then` has its expectations besides those of the steps."""
    return {
        "id": f"fed.{id}",
        "title": title,
        "class": "federation",
        "level": level,
        "profile": profile,
        "sections": list(sections),
        "given": given or {},
        "when": [step for step, _ in steps],
        "then": {"steps": [outcome for _, outcome in steps], **then},
    }


def file_of(area: str, vectors: list[Json]) -> Json:
    """A vector file."""
    return {"kit": KIT, "class": "federation", "area": area, "vectors": vectors}
