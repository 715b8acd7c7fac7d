"""What the gateway answers where it refuses: one table, from what is wrong to A2A's `google.rpc.Status`.

It is this listener's own: its card requires the extension, so some of its refusals mean nothing elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bindings.a2a.errors import A2A, BAD_REQUEST, ERROR_INFO
from core.errors import Code, DmpError
from crypto.canonical import JsonValue

OWN: Final = "instance-routing.dmp"
"""The domain of this listener's own reasons."""


class Reason(StrEnum):
    """Why a request is refused, as an ErrorInfo says it."""

    INVALID_PARAMS = "INVALID_PARAMS"
    INVALID_REQUEST = "INVALID_REQUEST"
    CONTENT_TYPE_NOT_SUPPORTED = "CONTENT_TYPE_NOT_SUPPORTED"
    EXTENSION_SUPPORT_REQUIRED = "EXTENSION_SUPPORT_REQUIRED"
    EXTENDED_AGENT_CARD_NOT_CONFIGURED = "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
    PUSH_NOTIFICATION_NOT_SUPPORTED = "PUSH_NOTIFICATION_NOT_SUPPORTED"
    TASK_NOT_CANCELABLE = "TASK_NOT_CANCELABLE"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    UNSUPPORTED_OPERATION = "UNSUPPORTED_OPERATION"
    VERSION_NOT_SUPPORTED = "VERSION_NOT_SUPPORTED"
    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    INSTANCE_NOT_FOUND = "INSTANCE_NOT_FOUND"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE"
    LIMITED = "LIMITED"
    UNAVAILABLE = "UNAVAILABLE"


_TABLE: Final[Mapping[Reason, tuple[int, str, str]]] = {
    Reason.INVALID_PARAMS: (400, "INVALID_ARGUMENT", A2A),
    Reason.INVALID_REQUEST: (400, "INVALID_ARGUMENT", A2A),
    Reason.CONTENT_TYPE_NOT_SUPPORTED: (400, "INVALID_ARGUMENT", A2A),
    Reason.EXTENSION_SUPPORT_REQUIRED: (400, "FAILED_PRECONDITION", A2A),
    Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED: (400, "FAILED_PRECONDITION", A2A),
    Reason.PUSH_NOTIFICATION_NOT_SUPPORTED: (400, "FAILED_PRECONDITION", A2A),
    Reason.TASK_NOT_CANCELABLE: (400, "FAILED_PRECONDITION", A2A),
    Reason.TASK_NOT_FOUND: (404, "NOT_FOUND", A2A),
    Reason.UNSUPPORTED_OPERATION: (400, "FAILED_PRECONDITION", A2A),
    Reason.VERSION_NOT_SUPPORTED: (400, "FAILED_PRECONDITION", A2A),
    Reason.METHOD_NOT_FOUND: (404, "NOT_FOUND", A2A),
    Reason.INTERNAL_ERROR: (500, "INTERNAL", A2A),
    Reason.UNAUTHENTICATED: (401, "UNAUTHENTICATED", OWN),
    Reason.FORBIDDEN: (403, "PERMISSION_DENIED", OWN),
    Reason.INSTANCE_NOT_FOUND: (404, "NOT_FOUND", OWN),
    Reason.IDEMPOTENCY_CONFLICT: (409, "ABORTED", OWN),
    Reason.REQUEST_TIMEOUT: (408, "DEADLINE_EXCEEDED", OWN),
    Reason.REQUEST_TOO_LARGE: (413, "INVALID_ARGUMENT", OWN),
    Reason.LIMITED: (429, "RESOURCE_EXHAUSTED", OWN),
    Reason.UNAVAILABLE: (503, "UNAVAILABLE", OWN),
}
"""The HTTP status, the status of google.rpc, and whose word the reason is."""

_HEADERS: Final[Mapping[Reason, Mapping[str, str]]] = {
    Reason.UNAUTHENTICATED: {"WWW-Authenticate": "Bearer"},
    Reason.LIMITED: {"Retry-After": "60"},
    Reason.UNAVAILABLE: {"Retry-After": "1"},
}

_REASONS: Final[Mapping[Code, Reason]] = {
    Code.INVALID: Reason.INVALID_PARAMS,
    Code.FORBIDDEN: Reason.FORBIDDEN,
    Code.NOT_FOUND: Reason.INVALID_PARAMS,
    Code.CONFLICT: Reason.UNSUPPORTED_OPERATION,
    Code.LIMITED: Reason.LIMITED,
    Code.UNAVAILABLE: Reason.UNAVAILABLE,
}

_PATHS: Final[Mapping[str, str]] = {
    "body": "message.parts",
    "data": "message.parts",
    "idempotencyKey": "message.messageId",
}
"""Fields of a DMP message, by where an A2A request has what became of them."""


@dataclass(eq=False)  # not frozen: Python itself sets where an exception passed
class Refused(Exception):  # noqa: N818 - named for what it is to whoever called
    """A request that is refused. `path` is the member at fault."""

    reason: Reason
    message: str
    path: str | None = None
    status: int = field(init=False)
    headers: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.status = _TABLE[self.reason][0]
        self.headers = _HEADERS.get(self.reason, {})

    def to_json(self) -> dict[str, JsonValue]:
        """The answer: a google.rpc.Status with an ErrorInfo, and a BadRequest where a member is at fault."""
        status, name, domain = _TABLE[self.reason]
        details: list[JsonValue] = [
            {
                "@type": ERROR_INFO,
                "reason": str(self.reason),
                "domain": domain,
            }
        ]
        if self.path is not None:
            violation: JsonValue = {"field": self.path, "description": self.message}
            details.append({"@type": BAD_REQUEST, "fieldViolations": [violation]})
        return {"error": {"code": status, "status": name, "message": self.message, "details": details}}


def refused(error: DmpError) -> Refused:
    """The refusal that an error of the protocol is here.

    What this host would say of the recipient's address is kept: a client knows an instance by its id alone.
    """
    field_ = error.field
    if field_ is not None and field_.startswith("to"):
        return no_such_instance()
    if field_ == "from":  # a client that was revoked just now
        return nobody()
    path = None if field_ is None else _PATHS.get(field_, field_)
    return Refused(_REASONS[error.code], error.message, path)


def nobody() -> Refused:
    """One answer for every bearer that is no approved client's, whatever else it may be good for."""
    return Refused(
        Reason.UNAUTHENTICATED, "send the header Authorization: Bearer TOKEN, with the token of a client"
    )


def no_such_instance() -> Refused:
    """One answer for an instance that is not there, is hidden, or does not receive mail any more."""
    return Refused(
        Reason.INSTANCE_NOT_FOUND,
        "no instance has that id; the directory lists those that there are",
        "metadata.recipientInstanceId",
    )


def no_such_task() -> Refused:
    """One answer for a task that is absent and for another's (section 13.5)."""
    return Refused(Reason.TASK_NOT_FOUND, "no task of yours has that id")


def no_such_context() -> Refused:
    """One answer for a context that is absent and for another's (section 13.5)."""
    return Refused(Reason.INVALID_PARAMS, "unknown contextId", "message.contextId")


def invalid(path: str | None, message: str) -> Refused:
    """The refusal of a request that breaks a rule."""
    return Refused(Reason.INVALID_PARAMS, message, path)
