"""The arguments of a tool call, read once into typed values. Null is as good as an argument that is not there."""

from collections.abc import Collection, Mapping

from core.errors import invalid
from core.fields import as_flag, as_text, as_texts
from crypto.canonical import JsonValue


class Given:
    """The arguments of one call. Every reader raises DmpError `invalid` on the parameter."""

    def __init__(self, arguments: Mapping[str, JsonValue]) -> None:
        self.members = {name: value for name, value in arguments.items() if value is not None}

    def need_text(self, name: str) -> str:
        """A text that must be there."""
        if name not in self.members:
            raise invalid(name, f"{name} is missing; it is a string")
        return as_text(self.members[name], name)

    def text(self, name: str) -> str | None:
        """A text."""
        return self.need_text(name) if name in self.members else None

    def one_of(self, name: str, values: Collection[str]) -> str | None:
        """One of a few words."""
        found = self.text(name)
        if found is not None and found not in values:
            raise invalid(name, f"{name} must be one of {', '.join(values)}")
        return found

    def need_one_of(self, name: str, values: Collection[str]) -> str:
        """One of a few words, which must be there."""
        found = self.one_of(name, values)
        if found is None:
            raise invalid(name, f"{name} is missing; it is one of {', '.join(values)}")
        return found

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        return as_flag(self.members[name], name) if name in self.members else default

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts."""
        return as_texts(self.members[name], name) if name in self.members else None

    def count(self, name: str, default: int, highest: int) -> int:
        """A whole number from 1 on."""
        found = self.members.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= highest:
            raise invalid(name, f"{name} must be a whole number from 1 to {highest}")
        return found
