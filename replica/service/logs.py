"""The service's log: structured, on standard error, and without what must not be in a log (section 13.10).

What the rooms of this project log quotes no body, gate data, key or token. What libraries log may, an address with a
password or the repr of a request for one, so of theirs only the place is written; and of an exception that nobody
expected its type and where it was raised, since its text may hold whatever was handled there.
"""

import logging
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import structlog

from replica.cli.text import escaped
from transports.remotes import redact

ROOMS: Final = ("bindings", "core", "crypto", "replica", "transports")

_PLAIN: Final = ("timestamp", "level", "event")


def configure(style: str, level: str) -> None:
    """Write lines of at least this level: `json`, `console`, or with `auto` what fits standard error."""
    as_json = not sys.stderr.isatty() if style == "auto" else style == "json"
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _without_credentials,
            structlog.processors.JSONRenderer() if as_json else _line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_Bridge()]
    root.setLevel(logging.WARNING)
    for name in ROOMS:
        room = logging.getLogger(name)
        room.handlers = []
        room.setLevel(level.upper())


class _Bridge(logging.Handler):
    """Hands on what is logged in the standard library's way."""

    def emit(self, record: logging.LogRecord) -> None:
        details: dict[str, object] = {"logger": record.name}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            details |= {"error": type(error).__name__, "at": places(error)}
        if record.name.partition(".")[0] in ROOMS:
            said = record.getMessage()
        else:
            said, details["place"] = "a library logged something", f"{record.module}:{record.lineno}"
        structlog.get_logger().log(record.levelno, said, **details)


def places(error: BaseException) -> list[str]:
    """Where an exception was raised, from the outside in, without any text of it."""
    return [
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]


def _without_credentials(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    return {key: redact(value) if isinstance(value, str) else value for key, value in event.items()}


def _line(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    more = " ".join(f"{key}={value}" for key, value in event.items() if key not in _PLAIN)
    return escaped(
        f"{event['timestamp']} {event['level']:<8} {event['event']}{f'  ({more})' if more else ''}"
    )
