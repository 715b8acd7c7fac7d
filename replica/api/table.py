"""What a route is declared as: one declaration registers its handler and describes it in the OpenAPI document."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from core.errors import invalid
from core.message import ABSENT, Data
from crypto.canonical import JsonValue
from replica.api.credentials import Caller
from replica.node import DirectoryNode

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema (draft 2020-12)."""


class Who(Enum):
    """Who may use a route (section A.2)."""

    ANYONE = auto()
    """Whoever can reach this host."""
    PRINCIPAL = auto()
    """Any sender: a person, a session or an agent."""
    DECIDING = auto()
    """A human who decides."""
    PERSON = auto()
    """A human."""
    REQUEST = auto()
    """A token of the tier `request` or above."""
    DECIDE = auto()
    """A token of the tier `decide` or above."""
    OPERATOR = auto()
    """The person who runs this machine."""


class Work(Enum):
    """Which threads do a route's work, so that none of one kind keeps those of another waiting."""

    READ = auto()
    WRITE = auto()
    FAR = auto()
    """It reaches the team over the network."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a query: how it is read, and what is said of it. `read` raises DmpError `invalid`."""

    name: str
    schema: Schema
    text: str
    read: Callable[[str], Any]
    default: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: what it means, and what it holds; nothing where `schema` is None."""

    text: str
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request, read: who makes it, and what it gives."""

    caller: Caller
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Data = ABSENT
    idempotency_key: str | None = None
    patient: bool = False
    """Whether the handler may answer `Wait`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler answers."""

    status: int
    body: JsonValue = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again when there is news of an answer to this question."""

    question: str


def elsewhere(_node: DirectoryNode, _call: Call) -> Reply:
    """The handler of a route that the application itself serves."""
    raise NotImplementedError


Handler: TypeAlias = Callable[[DirectoryNode, Call], Reply | Wait]


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `refuses` lists what it answers besides what all routes of its kind may."""

    method: str
    path: str
    name: str
    who: Who
    summary: str
    handler: Handler
    answers: Mapping[int, Answer]
    work: Work = Work.READ
    takes: Schema | None = None
    needs_body: bool = True
    """Whether there must be a body, where it takes one."""
    query: tuple[Param, ...] = ()
    text: str = ""
    refuses: Mapping[int, str] = field(default_factory=dict)
    keyed: bool = False
    """Whether it knows the Idempotency-Key header."""
    tag: str = "messages"


def number(name: str, text: str, *, default: int | None, lowest: int, highest: int) -> Param:
    """A parameter that is a whole number."""

    def read(given: str) -> int:
        if not given.isascii() or not given.isdigit() or len(given) > 16:
            raise invalid(name, f"{name} must be a whole number from {lowest} to {highest}")
        found = int(given)
        if not lowest <= found <= highest:
            raise invalid(name, f"{name} must be a whole number from {lowest} to {highest}")
        return found

    schema: dict[str, Any] = {"type": "integer", "minimum": lowest, "maximum": highest}
    if default is not None:
        schema["default"] = default
    return Param(name, schema, text, read, default)


def choice(name: str, text: str, values: tuple[str, ...]) -> Param:
    """A parameter that is one of a few words."""

    def read(given: str) -> str:
        if given not in values:
            raise invalid(name, f"{name} must be one of {', '.join(values)}")
        return given

    return Param(name, {"enum": list(values)}, text, read)


def word(name: str, text: str, schema: Schema | None = None) -> Param:
    """A parameter that is a text."""
    return Param(name, schema or {"type": "string"}, text, str)


WAIT_SECONDS: Final = 30.0
"""How long a request waits for an answer at most (section A.2)."""
