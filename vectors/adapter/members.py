"""Reading the runner's lines: members by name and type, and what is wrong with a line that cannot be read."""

from collections.abc import Iterable, Iterator, Mapping

from core.errors import DmpError
from core.fields import Reader, T, as_flag, as_text, as_texts
from crypto.canonical import JsonValue


class MalformedError(Exception):
    """A line that is not what section 12.4 says a runner writes; its text says where."""


class Unsupported(Exception):  # noqa: N818 - an answer, not an error
    """A vector that wants what this host does not do; its text says what."""


class Members:
    """The members of one JSON object. `place` is where the object stands, for errors: `when[2].input`.

    Every reading raises MalformedError where a member is missing or has another type.
    """

    def __init__(self, value: JsonValue, place: str) -> None:
        if not isinstance(value, dict):
            raise MalformedError(f"{place} must be an object")
        self._value = value
        self.place = place

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def raw(self, name: str) -> JsonValue:
        """Return a member that must be there, whatever it is."""
        if name not in self._value:
            raise MalformedError(f"{self.place} needs {name}")
        return self._value[name]

    def text(self, name: str) -> str:
        return self._read(name, as_text)

    def flag(self, name: str) -> bool:
        """Return a flag; false where it is left out."""
        return name in self and self._read(name, as_flag)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; an empty one where it is left out."""
        return self._read(name, as_texts) if name in self else ()

    def number(self, name: str) -> int:
        value = self.raw(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedError(f"{self.place}.{name} must be a whole number")
        return value

    def one_of(self, name: str, *allowed: T) -> T:
        """Return the one of several texts that a member is."""
        return self._one_of(self.text(name), name, allowed)

    def each_of(self, name: str, *allowed: T) -> list[T]:
        """Return a list of what `one_of` returns."""
        return [
            self._one_of(text, f"{name}[{index}]", allowed) for index, text in enumerate(self.texts(name))
        ]

    def object(self, name: str) -> "Members":
        """Return an object; an empty one where it is left out."""
        return Members(self._value.get(name, {}), f"{self.place}.{name}")

    def objects(self, name: str) -> Iterator["Members"]:
        """Return the objects of a list; none where it is left out."""
        value = self._value.get(name, [])
        if not isinstance(value, list):
            raise MalformedError(f"{self.place}.{name} must be a list")
        for index, each in enumerate(value):
            yield Members(each, f"{self.place}.{name}[{index}]")

    def names(self) -> tuple[str, ...]:
        return tuple(self._value)

    def as_mapping(self) -> Mapping[str, JsonValue]:
        return self._value

    def _one_of(self, text: str, name: str, allowed: Iterable[T]) -> T:
        for each in allowed:
            if each == text:
                return each
        raise MalformedError(f"{self.place}.{name} must be one of {', '.join(map(str, allowed))}")

    def _read(self, name: str, read: Reader[T]) -> T:
        try:
            return read(self.raw(name), name)
        except DmpError as error:
            raise MalformedError(f"{self.place}: {error.message}") from None
