"""The names of messages in a vector's steps (section 12.4.4)."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from core.message import Message
from crypto.canonical import JsonValue

MADE: Final = ("memory", "document", "revision")
"""What steps of the class `federation` make besides messages: the members of a result that name it."""

_SYMBOL: Final = re.compile(rf"\$(s|gate|notice|{'|'.join(MADE)})([0-9]+)")
_MOST_DIGITS: Final = 18


class Symbols:
    """What `$sN`, `$gateN` and `$noticeN` stand for as a vector runs, and `$memoryN` and the others of step N.

    `seeded` are the ids of the messages the store had at the start.
    """

    def __init__(self, system_address: str, seeded: Iterable[str]) -> None:
        self._system = system_address
        self._seeded = frozenset(seeded)
        self._steps: dict[int, str] = {}
        self._made: dict[tuple[str, int], str] = {}

    def created(self, step: int, message_id: str) -> None:
        """Note the message that a step created."""
        self._steps[step] = message_id

    def made(self, step: int, result: Mapping[str, JsonValue]) -> None:
        """Note what else a step made, as its result names it."""
        for role in MADE:
            named = result.get(role)
            if isinstance(named, str):
                self._made[role, step] = named

    def resolve(self, value: JsonValue, messages: Callable[[], Iterable[Message]]) -> JsonValue:
        """Return a value with every symbol in its strings replaced; one that names nothing stays as it is.

        `messages` returns all messages in creation order.
        """
        if isinstance(value, str):
            return _SYMBOL.sub(lambda found: self._id(found, messages) or found[0], value)
        if isinstance(value, list):
            return [self.resolve(each, messages) for each in value]
        if isinstance(value, dict):
            return {
                str(self.resolve(name, messages)): self.resolve(each, messages)
                for name, each in value.items()
            }
        return value

    def _id(self, found: re.Match[str], messages: Callable[[], Iterable[Message]]) -> str | None:
        digits = found[2].lstrip("0") or "0"
        if (
            len(digits) > _MOST_DIGITS
        ):  # Python reads no number of thousands of digits, and this names nothing
            return None
        role, number = found[1], int(digits)
        if role == "s":
            return self._steps.get(number)
        if role in MADE:
            return self._made.get((role, number))
        known = self._seeded.union(self._steps.values())
        kind = "question" if role == "gate" else "notice"
        sent = [
            message.id
            for message in messages()
            if message.sender == self._system
            and message.origin is None
            and message.kind == kind
            and message.id not in known
        ]
        return sent[number - 1] if 1 <= number <= len(sent) else None
