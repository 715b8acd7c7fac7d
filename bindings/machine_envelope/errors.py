"""What the listener answers where it refuses: one table, from what is wrong to a JSON-RPC error.

It is this listener's own: its card requires the extension, so some of its refusals mean nothing elsewhere. The
message of the extension's three is their name alone, as the extension has it; what a person reads is in the data.
"""

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bindings.machine_envelope.extension import URI
from bindings.machine_envelope.verifying import RejectedError
from core.errors import Code, DmpError
from crypto.canonical import JsonValue

ERROR_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST: Final = "type.googleapis.com/google.rpc.BadRequest"

A2A: Final = "a2a-protocol.org"
"""The domain of reasons that A2A itself defines."""

OWN: Final = "agent-guild-5d5r.onrender.com"
"""The domain of the extension's reasons."""


class Wrong(StrEnum):
    """What is wrong with a request, as an ErrorInfo says it."""

    EXTENSION_REQUIRED = "MACHINE_ENVELOPE_EXTENSION_REQUIRED"
    ENVELOPE_REQUIRED = "MACHINE_ENVELOPE_REQUIRED"
    REJECTED = "MACHINE_ENVELOPE_REJECTED"
    PARSE_ERROR = "PARSE_ERROR"
    INVALID_REQUEST = "INVALID_REQUEST"
    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    INVALID_PARAMS = "INVALID_PARAMS"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    PUSH_NOTIFICATION_NOT_SUPPORTED = "PUSH_NOTIFICATION_NOT_SUPPORTED"
    UNSUPPORTED_OPERATION = "UNSUPPORTED_OPERATION"
    CONTENT_TYPE_NOT_SUPPORTED = "CONTENT_TYPE_NOT_SUPPORTED"
    EXTENDED_CARD_NOT_CONFIGURED = "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
    VERSION_NOT_SUPPORTED = "VERSION_NOT_SUPPORTED"
    FORBIDDEN = "FORBIDDEN"
    LIMITED = "LIMITED"
    UNAVAILABLE = "UNAVAILABLE"


TABLE: Final[Mapping[Wrong, tuple[int, str]]] = {
    Wrong.EXTENSION_REQUIRED: (-32008, OWN),  # A2A's ExtensionSupportRequiredError
    Wrong.ENVELOPE_REQUIRED: (-32051, OWN),
    Wrong.REJECTED: (-32052, OWN),
    Wrong.PARSE_ERROR: (-32700, A2A),
    Wrong.INVALID_REQUEST: (-32600, A2A),
    Wrong.METHOD_NOT_FOUND: (-32601, A2A),
    Wrong.INVALID_PARAMS: (-32602, A2A),
    Wrong.INTERNAL_ERROR: (-32603, A2A),
    Wrong.TASK_NOT_FOUND: (-32001, A2A),
    Wrong.PUSH_NOTIFICATION_NOT_SUPPORTED: (-32003, A2A),
    Wrong.UNSUPPORTED_OPERATION: (-32004, A2A),
    Wrong.CONTENT_TYPE_NOT_SUPPORTED: (-32005, A2A),
    Wrong.EXTENDED_CARD_NOT_CONFIGURED: (-32007, A2A),
    Wrong.VERSION_NOT_SUPPORTED: (-32009, A2A),
    Wrong.FORBIDDEN: (-32053, OWN),
    Wrong.LIMITED: (-32054, OWN),
    Wrong.UNAVAILABLE: (-32055, OWN),
}
"""The JSON-RPC code, and whose word the reason is."""

_OF_EXTENSION: Final = (Wrong.EXTENSION_REQUIRED, Wrong.ENVELOPE_REQUIRED, Wrong.REJECTED)

_CODES: Final[Mapping[Code, Wrong]] = {
    Code.INVALID: Wrong.INVALID_PARAMS,
    Code.FORBIDDEN: Wrong.FORBIDDEN,
    Code.NOT_FOUND: Wrong.INVALID_PARAMS,
    Code.CONFLICT: Wrong.UNSUPPORTED_OPERATION,
    Code.LIMITED: Wrong.LIMITED,
    Code.UNAVAILABLE: Wrong.UNAVAILABLE,
}


@dataclasses.dataclass(eq=False)
class Refusal(Exception):  # noqa: N818 - an answer
    """A refused request. `metadata` goes into the ErrorInfo; `acquisition` tells where envelopes are to be had."""

    wrong: Wrong
    text: str
    field: str | None = None
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    acquisition: Mapping[str, JsonValue] | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The member `error` of a JSON-RPC answer."""
        code, domain = TABLE[self.wrong]
        extends = self.wrong in _OF_EXTENSION
        named = {"extension": URI, "detail": self.text} if extends else {}
        details: list[JsonValue] = [
            {
                "@type": ERROR_INFO,
                "reason": str(self.wrong),
                "domain": domain,
                "metadata": {**named, **self.metadata},
            }
        ]
        if self.acquisition is not None:
            details.append({"@type": URI, "acquisition": dict(self.acquisition)})
        if self.field is not None:
            violation: JsonValue = {"field": self.field, "description": self.text}
            details.append({"@type": BAD_REQUEST, "fieldViolations": [violation]})
        return {
            "code": code,
            "message": str(self.wrong).lower() if extends else self.text,
            "data": details,
        }


def rejected(error: RejectedError) -> Refusal:
    """The refusal of an envelope, with the finer reason inside."""
    return Refusal(Wrong.REJECTED, error.text, metadata={"reason": str(error.reason)})


def refused(error: DmpError) -> Refusal:
    """What a refusal of this host is on the wire."""
    wrong = _CODES[error.code]
    if error.code is Code.NOT_FOUND and error.field == "taskId":
        return Refusal(Wrong.TASK_NOT_FOUND, "there is no such task")
    return Refusal(wrong, error.message, error.field, {"dmpCode": str(error.code)})
