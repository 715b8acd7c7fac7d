"""What the steps of the class `federation` share: the errors they end in, and the lines they are given."""

from typing import Any, TypeAlias

from crypto.op import Unreadable, Unverified, read_line

Json: TypeAlias = dict[str, Any]


class StepError(Exception):
    """A step that is refused as invalid, and the reason where it is one that implementations share."""

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason


def raw(text: str | Json) -> bytes:
    """A line, written as text or, where it is not UTF-8, as hex."""
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


def raws(step: Json) -> list[bytes]:
    """The step's lines."""
    return [raw(line) for line in step["lines"]]


def unverified(line: bytes) -> Unverified:
    """A line as an entry that nothing is known of yet. Raises StepError."""
    read = read_line(line)
    if isinstance(read, Unreadable):
        raise StepError(read.reason)
    return read
