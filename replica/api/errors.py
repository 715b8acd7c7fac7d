"""Refusals as HTTP answers: what is wrong, at which field, and how to fix it (sections 10.1, A.2)."""

import dataclasses
from collections.abc import Mapping
from typing import Final

from core.errors import Code, DmpError
from crypto.canonical import JsonValue

STATUS: Final[Mapping[Code, int]] = {
    Code.INVALID: 400,
    Code.FORBIDDEN: 403,
    Code.NOT_FOUND: 404,
    Code.CONFLICT: 409,
    Code.LIMITED: 429,
    Code.UNAVAILABLE: 503,
}
"""The HTTP status of each code (section 10.1)."""


@dataclasses.dataclass(eq=False)  # not frozen: Python itself sets where an exception passed
class Refusal(Exception):  # noqa: N818 - named for what it is to whoever called
    """A request that is refused. `code` is one of the protocol's, or says what of HTTP's own is at fault."""

    status: int
    code: str
    message: str
    field: str | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, error: DmpError) -> "Refusal":
        """The refusal that an error of the protocol is."""
        return cls(STATUS[error.code], str(error.code), error.message, error.field)

    def to_json(self) -> dict[str, JsonValue]:
        """What the answer holds: `error` and, where part of the input is at fault, `field`, beside the code."""
        found: dict[str, JsonValue] = {"error": self.message, "code": self.code}
        if self.field is not None:
            found["field"] = self.field
        return found


def unauthenticated(message: str) -> Refusal:
    """Whoever asks is nobody this host knows (section A.1)."""
    return Refusal(401, "unauthenticated", message, headers={"WWW-Authenticate": "Bearer"})


def forbidden(message: str) -> Refusal:
    """Whoever asks is known, and may not do this."""
    return Refusal(403, str(Code.FORBIDDEN), message)
