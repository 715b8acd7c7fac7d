"""Whom the sessions of this machine wait on, as others are told of it (federation wire 8.2)."""

import sqlite3

from core.address import parse_address
from core.errors import DmpError
from core.store.messages import open_blocking_questions


def waiting_sessions(db: sqlite3.Connection) -> dict[str, str]:
    """The sessions here with an open blocking question, each with the handle of who is to answer its oldest one."""
    found: dict[str, str] = {}
    for question in open_blocking_questions(db):
        if question.origin is None and question.sender.startswith("run:"):
            handle = next((handle for each in question.to if (handle := _person(each)) is not None), None)
            if handle is not None:
                found.setdefault(question.sender, handle)
    return found


def _person(address: str) -> str | None:
    """The handle of the person behind an address; None for a work item, a session or a channel."""
    try:
        parsed = parse_address(address, "to")
    except DmpError:
        return None
    return parsed.operator if parsed.kind == "agent" else parsed.handle
