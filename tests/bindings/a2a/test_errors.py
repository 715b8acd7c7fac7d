"""The error table of section 8.2, row by row."""

from typing import Any

import pytest

from bindings.a2a.errors import BAD_REQUEST, ERROR_INFO, Refused, refused
from bindings.a2a.parts import ContentTypeNotSupportedError
from core.errors import Code, DmpError

INVALID = (400, "INVALID_ARGUMENT", "INVALID_PARAMS")
ABSENT = (404, "NOT_FOUND", "TASK_NOT_FOUND")
ENDED = (400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION")


def denied(reason: str) -> tuple[int, str, str]:
    return 403, "PERMISSION_DENIED", reason


ROWS: dict[str, tuple[Code, str | None, tuple[int, str, str], str | None]] = {
    "invalid on a field": (Code.INVALID, "choices[2]", INVALID, "choices[2]"),
    "invalid on body is on message.parts": (Code.INVALID, "body", INVALID, "message.parts"),
    "forbidden on the task": (Code.FORBIDDEN, "taskId", ABSENT, None),
    "not-found on the task": (Code.NOT_FOUND, "taskId", ABSENT, None),
    "forbidden on contextId": (Code.FORBIDDEN, "contextId", INVALID, "message.contextId"),
    "not-found on contextId": (Code.NOT_FOUND, "contextId", INVALID, "message.contextId"),
    "forbidden on replyTo": (Code.FORBIDDEN, "replyTo", INVALID, "replyTo"),
    "not-found on replyTo": (Code.NOT_FOUND, "replyTo", INVALID, "replyTo"),
    "forbidden on refs[i]": (Code.FORBIDDEN, "refs[1]", INVALID, "refs[1]"),
    "not-found on refs[i]": (Code.NOT_FOUND, "refs[1]", INVALID, "refs[1]"),
    "not-found on to[i]": (Code.NOT_FOUND, "to[0]", INVALID, "to[0]"),
    "forbidden on to[i]": (Code.FORBIDDEN, "to[0]", denied("FORBIDDEN_ADDRESS"), None),
    "forbidden on urgent": (Code.FORBIDDEN, "urgent", denied("URGENT_NOT_ALLOWED"), None),
    "forbidden on wake": (Code.FORBIDDEN, "wake", denied("WAKE_NOT_ALLOWED"), None),
    "forbidden on kind": (Code.FORBIDDEN, "kind", denied("KIND_NOT_ALLOWED"), None),
    "forbidden on from, as no bearer": (
        Code.FORBIDDEN,
        "from",
        (401, "UNAUTHENTICATED", "UNAUTHENTICATED"),
        None,
    ),
    "conflict": (Code.CONFLICT, "taskId", ENDED, None),
    "limited": (Code.LIMITED, None, (429, "RESOURCE_EXHAUSTED", "LIMITED"), None),
}


def told(error: Refused) -> tuple[int, str, str]:
    found: Any = error.to_json()["error"]
    assert (found["code"], found["details"][0]["@type"]) == (error.status, ERROR_INFO)
    return error.status, found["status"], found["details"][0]["reason"]


def path(error: Refused) -> str | None:
    found: Any = error.to_json()["error"]
    for each in found["details"]:
        if each["@type"] == BAD_REQUEST:
            return str(each["fieldViolations"][0]["field"])
    return None


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_table(row: str) -> None:
    code, field, answer, at = ROWS[row]
    found = refused(DmpError(code, "why", field))

    assert (told(found), path(found)) == (answer, at)


@pytest.mark.parametrize("field", ["taskId", "contextId", "replyTo", "refs[3]"])
def test_what_is_absent_and_what_is_anothers_are_answered_alike(field: str) -> None:
    absent, others = (
        refused(DmpError(code, text, field))
        for code, text in ((Code.NOT_FOUND, "no such thing"), (Code.FORBIDDEN, "not yours"))
    )
    assert absent.to_json() == others.to_json()


def test_limited_says_when_to_come_again() -> None:
    assert "Retry-After" in refused(DmpError(Code.LIMITED, "why")).all_headers


def test_parts_of_bytes_are_a_content_type_that_is_not_supported() -> None:
    found = refused(ContentTypeNotSupportedError(Code.INVALID, "no bytes", "message.parts[0]"))
    assert told(found) == (400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")


def test_a_task_that_has_ended_is_not_cancelable() -> None:
    found = refused(DmpError(Code.CONFLICT, "over", "taskId"), canceling=True)
    assert told(found) == (400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE")
