"""The parts that JSON Schemas are made of."""

from typing import Final

from vectors.authoring.kit import Json

TEXT: Final[Json] = {"type": "string"}
FLAG: Final[Json] = {"type": "boolean"}
COUNT: Final[Json] = {"type": "integer", "minimum": 0}
ANYTHING: Final = True


def one_of(*values: str) -> Json:
    """One of these strings."""
    return {"enum": list(values)}


def or_null(shape: Json) -> Json:
    """That shape, or null."""
    return {"anyOf": [shape, {"type": "null"}]}


def list_of(shape: object, **more: int | bool) -> Json:
    """A list of that shape."""
    return {"type": "array", "items": shape, **more}


def map_of(shape: object) -> Json:
    """An object with any members, each of that shape."""
    return {"type": "object", "additionalProperties": shape}


def record(required: Json, optional: Json | None = None, **more: object) -> Json:
    """An object of these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
        **more,
    }
