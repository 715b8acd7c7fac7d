"""What the A2A edge answers where it refuses: one table, from errors of DMP to A2A's `google.rpc.Status` (section 8.2).

What is absent and what is another's are answered by the same bytes (section 13.5).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bindings.a2a.parts import ContentTypeNotSupportedError
from core.errors import Code, DmpError
from crypto.canonical import JsonValue

ERROR_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST: Final = "type.googleapis.com/google.rpc.BadRequest"

A2A: Final = "a2a-protocol.org"
"""The domain of reasons that A2A itself defines."""

OWN: Final = "dispatch.foo"
"""The domain of the reasons that the binding adds."""


class Reason(StrEnum):
    """Why a request is refused, as an ErrorInfo says it."""

    INVALID_PARAMS = "INVALID_PARAMS"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS"
    URGENT_NOT_ALLOWED = "URGENT_NOT_ALLOWED"
    WAKE_NOT_ALLOWED = "WAKE_NOT_ALLOWED"
    KIND_NOT_ALLOWED = "KIND_NOT_ALLOWED"
    FORBIDDEN = "FORBIDDEN"
    UNSUPPORTED_OPERATION = "UNSUPPORTED_OPERATION"
    TASK_NOT_CANCELABLE = "TASK_NOT_CANCELABLE"
    CONTENT_TYPE_NOT_SUPPORTED = "CONTENT_TYPE_NOT_SUPPORTED"
    PUSH_NOTIFICATION_NOT_SUPPORTED = "PUSH_NOTIFICATION_NOT_SUPPORTED"
    EXTENDED_AGENT_CARD_NOT_CONFIGURED = "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
    VERSION_NOT_SUPPORTED = "VERSION_NOT_SUPPORTED"
    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    HOST_NOT_ALLOWED = "HOST_NOT_ALLOWED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    LIMITED = "LIMITED"
    UNAVAILABLE = "UNAVAILABLE"
    INTERNAL_ERROR = "INTERNAL_ERROR"


TABLE: Final[Mapping[Reason, tuple[int, str, str]]] = {
    Reason.INVALID_PARAMS: (400, "INVALID_ARGUMENT", A2A),
    Reason.TASK_NOT_FOUND: (404, "NOT_FOUND", A2A),
    Reason.FORBIDDEN_ADDRESS: (403, "PERMISSION_DENIED", OWN),
    Reason.URGENT_NOT_ALLOWED: (403, "PERMISSION_DENIED", OWN),
    Reason.WAKE_NOT_ALLOWED: (403, "PERMISSION_DENIED", OWN),
    Reason.KIND_NOT_ALLOWED: (403, "PERMISSION_DENIED", OWN),
    Reason.FORBIDDEN: (403, "PERMISSION_DENIED", OWN),
    Reason.UNSUPPORTED_OPERATION: (400, "FAILED_PRECONDITION", A2A),
    Reason.TASK_NOT_CANCELABLE: (400, "FAILED_PRECONDITION", A2A),
    Reason.CONTENT_TYPE_NOT_SUPPORTED: (400, "INVALID_ARGUMENT", A2A),
    Reason.PUSH_NOTIFICATION_NOT_SUPPORTED: (400, "FAILED_PRECONDITION", A2A),
    Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED: (400, "FAILED_PRECONDITION", A2A),
    Reason.VERSION_NOT_SUPPORTED: (400, "FAILED_PRECONDITION", A2A),
    Reason.METHOD_NOT_FOUND: (404, "NOT_FOUND", A2A),
    Reason.METHOD_NOT_ALLOWED: (405, "UNIMPLEMENTED", OWN),
    Reason.UNSUPPORTED_MEDIA_TYPE: (415, "INVALID_ARGUMENT", OWN),
    Reason.REQUEST_TOO_LARGE: (413, "INVALID_ARGUMENT", OWN),
    Reason.REQUEST_TIMEOUT: (408, "DEADLINE_EXCEEDED", OWN),
    Reason.HOST_NOT_ALLOWED: (403, "PERMISSION_DENIED", OWN),
    Reason.UNAUTHENTICATED: (401, "UNAUTHENTICATED", OWN),
    Reason.LIMITED: (429, "RESOURCE_EXHAUSTED", OWN),
    Reason.UNAVAILABLE: (503, "UNAVAILABLE", OWN),
    Reason.INTERNAL_ERROR: (500, "INTERNAL", A2A),
}
"""The HTTP status, the status of google.rpc, and whose word the reason is."""

_HEADERS: Final[Mapping[Reason, Mapping[str, str]]] = {
    Reason.UNAUTHENTICATED: {"WWW-Authenticate": "Bearer"},
    Reason.LIMITED: {"Retry-After": "60"},
    Reason.UNAVAILABLE: {"Retry-After": "1"},
}

_FORBIDDEN: Final[Mapping[str, Reason]] = {
    "to": Reason.FORBIDDEN_ADDRESS,
    "urgent": Reason.URGENT_NOT_ALLOWED,
    "wake": Reason.WAKE_NOT_ALLOWED,
    "kind": Reason.KIND_NOT_ALLOWED,
}

_PATHS: Final[Mapping[str, str]] = {
    "body": "message.parts",
    "data": "message.parts",
    "messageId": "message.messageId",
    "idempotencyKey": "message.messageId",
    "contextId": "message.contextId",
    "taskId": "message.taskId",
}
"""Fields of a DMP message, by where an A2A request has what became of them."""

_REF: Final = re.compile(r"refs\[\d+\]")


@dataclass(eq=False)  # not frozen: Python itself sets where an exception passed
class Refused(Exception):  # noqa: N818 - named for what it is to whoever called
    """A request that is refused. `path` is the member at fault, `headers` go with the answer."""

    reason: Reason
    message: str
    path: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return TABLE[self.reason][0]

    @property
    def all_headers(self) -> dict[str, str]:
        """What the answer says in headers."""
        return {**_HEADERS.get(self.reason, {}), **self.headers}

    def to_json(self) -> dict[str, JsonValue]:
        """The answer: a google.rpc.Status with an ErrorInfo, and a BadRequest where a member is at fault."""
        status, name, domain = TABLE[self.reason]
        details: list[JsonValue] = [{"@type": ERROR_INFO, "reason": str(self.reason), "domain": domain}]
        if self.path is not None:
            violation: JsonValue = {"field": self.path, "description": self.message}
            details.append({"@type": BAD_REQUEST, "fieldViolations": [violation]})
        return {"error": {"code": status, "status": name, "message": self.message, "details": details}}


def refused(error: DmpError, *, canceling: bool = False) -> Refused:
    """The refusal that an error of the protocol is on the wire; `canceling` when a task was to be canceled."""
    name = error.field or ""
    match error.code:
        case Code.INVALID:
            if isinstance(error, ContentTypeNotSupportedError):
                return Refused(Reason.CONTENT_TYPE_NOT_SUPPORTED, error.message, error.field)
            return Refused(Reason.INVALID_PARAMS, error.message, path_of(error.field))
        case Code.FORBIDDEN | Code.NOT_FOUND if name == "taskId":
            return Refused(Reason.TASK_NOT_FOUND, "no task of yours has that id")
        case Code.FORBIDDEN | Code.NOT_FOUND if name == "contextId":
            return Refused(Reason.INVALID_PARAMS, "unknown contextId", "message.contextId")
        case Code.FORBIDDEN | Code.NOT_FOUND if name == "replyTo" or _REF.match(name):
            return Refused(Reason.INVALID_PARAMS, "unknown message", name)
        case Code.FORBIDDEN if name == "from":  # revoked since the bearer was looked at
            return nobody()
        case Code.FORBIDDEN:
            return Refused(_FORBIDDEN.get(name.partition("[")[0], Reason.FORBIDDEN), error.message)
        case Code.NOT_FOUND:
            said = "nobody is reached at that address" if name.startswith("to[") else error.message
            return Refused(Reason.INVALID_PARAMS, said, path_of(error.field))
        case Code.CONFLICT:
            reason = Reason.TASK_NOT_CANCELABLE if canceling else Reason.UNSUPPORTED_OPERATION
            return Refused(reason, error.message)
        case Code.LIMITED:
            return Refused(Reason.LIMITED, error.message)
        case Code.UNAVAILABLE:
            return Refused(Reason.UNAVAILABLE, "this host cannot do that now; try again later")


def nobody() -> Refused:
    """The one refusal of whoever is no approved client, or is none any more."""
    return Refused(
        Reason.UNAUTHENTICATED, "send the header Authorization: Bearer TOKEN, with an approved client's token"
    )


def path_of(name: str | None) -> str | None:
    """Where an A2A request has what a field of a DMP message is; other fields are called as they are."""
    return None if name is None else _PATHS.get(name, name)
