"""What the A2A edge answers where it refuses: one table, from what is wrong to a google.rpc.Status (section 8.2).

What is absent and what is another's get the same answer, to the byte (section 13.5).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bindings.a2a.parts import ContentTypeNotSupportedError
from core.errors import Code, DmpError
from crypto.canonical import JsonValue

A2A: Final = "a2a-protocol.org"
"""The domain of reasons that A2A itself defines."""

OWN: Final = "dispatch.foo"
"""The domain of reasons that DMP's binding adds."""

ERROR_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST: Final = "type.googleapis.com/google.rpc.BadRequest"

LIMITED_SECONDS: Final = 60
BUSY_SECONDS: Final = 1


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    name: str
    domain: str
    headers: tuple[tuple[str, str], ...] = ()


class Reason(StrEnum):
    """Why a request is refused, as an ErrorInfo says it."""

    INVALID_PARAMS = "INVALID_PARAMS"
    INVALID_REQUEST = "INVALID_REQUEST"
    CONTENT_TYPE_NOT_SUPPORTED = "CONTENT_TYPE_NOT_SUPPORTED"
    VERSION_NOT_SUPPORTED = "VERSION_NOT_SUPPORTED"
    UNSUPPORTED_OPERATION = "UNSUPPORTED_OPERATION"
    TASK_NOT_CANCELABLE = "TASK_NOT_CANCELABLE"
    PUSH_NOTIFICATION_NOT_SUPPORTED = "PUSH_NOTIFICATION_NOT_SUPPORTED"
    EXTENDED_AGENT_CARD_NOT_CONFIGURED = "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS"
    URGENT_NOT_ALLOWED = "URGENT_NOT_ALLOWED"
    WAKE_NOT_ALLOWED = "WAKE_NOT_ALLOWED"
    KIND_NOT_ALLOWED = "KIND_NOT_ALLOWED"
    FORBIDDEN = "FORBIDDEN"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE"
    LIMITED = "LIMITED"
    UNAVAILABLE = "UNAVAILABLE"


_ANSWERS: Final[Mapping[Reason, _Answer]] = {
    Reason.INVALID_PARAMS: _Answer(400, "INVALID_ARGUMENT", A2A),
    Reason.INVALID_REQUEST: _Answer(400, "INVALID_ARGUMENT", A2A),
    Reason.CONTENT_TYPE_NOT_SUPPORTED: _Answer(400, "INVALID_ARGUMENT", A2A),
    Reason.VERSION_NOT_SUPPORTED: _Answer(400, "FAILED_PRECONDITION", A2A),
    Reason.UNSUPPORTED_OPERATION: _Answer(400, "FAILED_PRECONDITION", A2A),
    Reason.TASK_NOT_CANCELABLE: _Answer(400, "FAILED_PRECONDITION", A2A),
    Reason.PUSH_NOTIFICATION_NOT_SUPPORTED: _Answer(400, "FAILED_PRECONDITION", A2A),
    Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED: _Answer(400, "FAILED_PRECONDITION", A2A),
    Reason.TASK_NOT_FOUND: _Answer(404, "NOT_FOUND", A2A),
    Reason.METHOD_NOT_FOUND: _Answer(404, "NOT_FOUND", A2A),
    Reason.INTERNAL_ERROR: _Answer(500, "INTERNAL", A2A),
    Reason.UNAUTHENTICATED: _Answer(401, "UNAUTHENTICATED", OWN, (("WWW-Authenticate", "Bearer"),)),
    Reason.FORBIDDEN_ADDRESS: _Answer(403, "PERMISSION_DENIED", OWN),
    Reason.URGENT_NOT_ALLOWED: _Answer(403, "PERMISSION_DENIED", OWN),
    Reason.WAKE_NOT_ALLOWED: _Answer(403, "PERMISSION_DENIED", OWN),
    Reason.KIND_NOT_ALLOWED: _Answer(403, "PERMISSION_DENIED", OWN),
    Reason.FORBIDDEN: _Answer(403, "PERMISSION_DENIED", OWN),
    Reason.REQUEST_TIMEOUT: _Answer(408, "DEADLINE_EXCEEDED", OWN),
    Reason.REQUEST_TOO_LARGE: _Answer(413, "INVALID_ARGUMENT", OWN),
    Reason.LIMITED: _Answer(429, "RESOURCE_EXHAUSTED", OWN, (("Retry-After", str(LIMITED_SECONDS)),)),
    Reason.UNAVAILABLE: _Answer(503, "UNAVAILABLE", OWN, (("Retry-After", str(BUSY_SECONDS)),)),
}
"""What goes with each."""

_NOT_ALLOWED: Final[Mapping[str, Reason]] = {
    "to": Reason.FORBIDDEN_ADDRESS,
    "urgent": Reason.URGENT_NOT_ALLOWED,
    "wake": Reason.WAKE_NOT_ALLOWED,
    "kind": Reason.KIND_NOT_ALLOWED,
}
"""What a `forbidden` on a field of the envelope is."""

_PATHS: Final[Mapping[str, str]] = {
    "body": "message.parts",
    "data": "message.parts",
    "parts": "message.parts",
    "messageId": "message.messageId",
    "idempotencyKey": "message.messageId",
    "contextId": "message.contextId",
    "taskId": "message.taskId",
}
"""Fields that an A2A request has under another name."""

_OTHERS: Final[Mapping[Code, Reason]] = {
    Code.INVALID: Reason.INVALID_PARAMS,
    Code.NOT_FOUND: Reason.INVALID_PARAMS,
    Code.FORBIDDEN: Reason.FORBIDDEN,
    Code.CONFLICT: Reason.UNSUPPORTED_OPERATION,
    Code.LIMITED: Reason.LIMITED,
    Code.UNAVAILABLE: Reason.UNAVAILABLE,
}

_END: Final = re.compile(r"[.\[]")
"""Where the name of a field's first member ends."""


@dataclass(eq=False)  # not frozen: Python itself sets where an exception passed
class Refused(Exception):  # noqa: N818 - named for what it is to whoever called
    """A request that is refused. `path` is the member at fault, None for none."""

    reason: Reason
    message: str
    path: str | None = None

    @property
    def status(self) -> int:
        """The HTTP status."""
        return _ANSWERS[self.reason].status

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer, besides those of every answer."""
        return dict(_ANSWERS[self.reason].headers)

    def to_json(self) -> dict[str, JsonValue]:
        """The answer: a google.rpc.Status with an ErrorInfo, and a BadRequest where a member is at fault."""
        answer = _ANSWERS[self.reason]
        details: list[JsonValue] = [
            {"@type": ERROR_INFO, "reason": str(self.reason), "domain": answer.domain}
        ]
        if self.path is not None:
            violation: JsonValue = {"field": self.path, "description": self.message}
            details.append({"@type": BAD_REQUEST, "fieldViolations": [violation]})
        return {
            "error": {
                "code": answer.status,
                "status": answer.name,
                "message": self.message,
                "details": details,
            }
        }


def refused(error: DmpError) -> Refused:
    """What an error of the protocol is here: the error table of section 8.2."""
    if isinstance(error, ContentTypeNotSupportedError):
        return Refused(Reason.CONTENT_TYPE_NOT_SUPPORTED, error.message, error.field)
    field = error.field
    name = "" if field is None else _END.split(field, maxsplit=1)[0]
    if error.code in (Code.FORBIDDEN, Code.NOT_FOUND):
        match name:
            case "taskId":
                return no_such_task()
            case "contextId":
                return Refused(Reason.INVALID_PARAMS, "unknown contextId", _PATHS["contextId"])
            case "replyTo" | "refs":
                return Refused(Reason.INVALID_PARAMS, "unknown message", field)
            case "from":  # a client that was revoked just now
                return nobody()
    if error.code is Code.FORBIDDEN and name in _NOT_ALLOWED:
        return Refused(_NOT_ALLOWED[name], error.message)
    path = None if field is None else _PATHS.get(name, name) + field[len(name) :]
    return Refused(_OTHERS[error.code], error.message, path if error.code is not Code.FORBIDDEN else None)


def not_cancelable(error: DmpError) -> Refused:
    """What an error of a cancel is: as any other's, but that A2A has a name of its own for a task that has ended."""
    if error.code is Code.CONFLICT:
        return Refused(Reason.TASK_NOT_CANCELABLE, error.message)
    return refused(error)


def no_such_task() -> Refused:
    """One answer for a task that is absent and for another's."""
    return Refused(Reason.TASK_NOT_FOUND, "no task of yours has that id")


def nobody() -> Refused:
    """One answer for every bearer that is no approved client's, whatever else it may be good for."""
    return Refused(
        Reason.UNAUTHENTICATED, "send the header Authorization: Bearer TOKEN, with the token of a client"
    )
