"""The service's log: structured, quiet, and without what must not be in it."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from replica.service import logs

SECRET = "the-walrus-sings"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    names = (None, *logs.ROOMS)
    before = [
        (logging.getLogger(name), logging.getLogger(name).handlers, logging.getLogger(name).level)
        for name in names
    ]
    yield
    for logger, handlers, level in before:
        logger.handlers = handlers
        logger.setLevel(level)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_only_what_is_bad_enough_is_logged_and_each_line_is_a_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("auto", "warning")
    room = logging.getLogger("replica.sync")
    room.debug("a step")
    room.info("a pass")
    room.warning("trouble at %s", "https://ada:hunter2@git.example/x\x1b[31m\u2028")
    (line,) = lines(capsys)
    assert line["event"] == "trouble at https://git.example/x\x1b[31m\u2028"
    assert (line["level"], line["logger"]) == ("warning", "replica.sync")
    assert str(line["timestamp"]).endswith("Z")


def test_a_line_for_people_cannot_act_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("console", "debug")
    logging.getLogger("core.engine").debug("said \x1b[31m\n and more")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("debug    said \\x1b[31m\\x0a and more  (logger=core.engine)")


def test_of_an_exception_nobody_expected_only_its_type_and_place_are_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("json", "warning")
    try:
        int(SECRET)
    except ValueError as error:
        logging.getLogger("replica.service").warning("it failed", exc_info=error)
        logging.getLogger("replica.service").exception("it failed again")
    first, again = lines(capsys)
    assert first["error"] == again["error"] == "ValueError"
    assert "test_logs.py" in str(first["at"])
    assert SECRET not in str((first, again))


def test_of_what_libraries_log_only_the_place_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("json", "debug")
    for name in ("aiohttp.server", "asyncio", "replicas.not.this.room"):
        logging.getLogger(name).error("request %s", SECRET)
        logging.getLogger(name).info("more of %s", SECRET)
    found = lines(capsys)
    assert [each["logger"] for each in found] == ["aiohttp.server", "asyncio", "replicas.not.this.room"]
    assert SECRET not in str(found)
    assert "test_logs" in str(found[0]["place"])


@pytest.mark.parametrize("room", ["bindings.a2a.server.app", "core.engine", "transports.git"])
def test_what_a_room_of_the_project_logs_is_shown(capsys: pytest.CaptureFixture[str], room: str) -> None:
    logs.configure("json", "warning")
    logging.getLogger(room).error("a request failed: %s", "RuntimeError")

    assert [line["event"] for line in lines(capsys)] == ["a request failed: RuntimeError"]
