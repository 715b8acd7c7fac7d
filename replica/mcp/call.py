"""One call of a tool, and what comes of it."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.inputs import Sender
from crypto.canonical import JsonValue
from replica.mcp.answers import Question
from replica.mcp.given import Given

Result: TypeAlias = dict[str, JsonValue]

_KEPT: Final = 100


@dataclass(frozen=True, slots=True)
class Page:
    """What a reading of a mailbox returned: the deliveries, those it marked among them, and whether there were more."""

    deliveries: Sequence[str]
    marked: Sequence[str]
    more: bool


class Pages:
    """The latest readings that marked mail, by the keys of their calls: one that is repeated returns the same mail."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, Page] = OrderedDict()

    def find(self, key: str) -> Page | None:
        """What the call with a key returned."""
        return self._pages.get(key)

    def keep(self, key: str, page: Page) -> None:
        """Note what a call returned."""
        self._pages[key] = page
        while len(self._pages) > _KEPT:
            self._pages.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, with which arguments. `key` is the same when a call is repeated, and its sender's alone.

    `session` is what an agent's messages say they were sent from; None for a session, which is one itself.
    """

    sender: Sender
    session: str | None
    key: str
    given: Given
    pages: Pages


@dataclass(frozen=True, slots=True)
class Waits:
    """A result that an answer is still waited for, so many seconds at most."""

    result: Result
    question: Question
    seconds: float
