"""A thread of the service that fails begins again, hinders no other, and ends with the service."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from replica.node import create
from replica.passes import Outcome
from replica.service import syncing, workers
from replica.service.changes import Changes
from replica.service.syncing import sync
from replica.service.timers import keep_time
from replica.service.workers import Stop, Stopped, Worker
from replica.sync import Report
from transports.base import TransportError

LONG = 30.0


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(workers, "LONGEST_PAUSE", 0.004)


def begin(stop: Stop, work: Callable[[], None], failed: list[str]) -> Worker:
    worker = Worker("digging", work, stop, failed.append)
    worker.start()
    return worker


def test_a_thread_that_fails_begins_again_while_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    stop, failed, tries, other = Stop(), list[str](), list[int](), threading.Event()
    errors = [
        DmpError(Code.UNAVAILABLE, "the store is busy"),
        TransportError("nobody answers"),
        ValueError("the walrus sings"),
        OSError(5, "input/output error"),
    ]

    def dig() -> None:
        tries.append(1)
        if len(tries) <= len(errors):
            raise errors[len(tries) - 1]
        other.wait(LONG)
        stop.rest(LONG)

    digging = begin(stop, dig, failed)
    begin(stop, other.set, list[str]())
    while len(tries) <= len(errors):
        time.sleep(0.001)
    stop.set()
    assert digging.join(LONG)
    assert failed == ["digging"] * len(errors)
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert said[0] == "digging failed, and is tried again: the store is busy"
    assert said[1] == "digging failed, and is tried again: nobody answers"
    assert "walrus" not in "".join(said)  # nobody knows what was handled there


def test_a_thread_ends_at_once_when_the_service_ends_whatever_it_waits_for(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    stop, failed = Stop(), list[str]()
    with Changes(tmp_path / "ada" / "state.db") as changes:
        told: list[Outcome] = []
        threads = [
            begin(stop, lambda: stop.rest(LONG), failed),
            begin(stop, lambda: sync(tmp_path / "ada", changes, stop, LONG, told.append), failed),
            begin(stop, lambda: keep_time(tmp_path / "ada", changes, stop), failed),
        ]
        time.sleep(0.2)
        begun = time.monotonic()
        stop.set()
        assert all(each.join(LONG) for each in threads)
        assert time.monotonic() - begun < LONG / 2
    assert failed == []
    with pytest.raises(Stopped):
        stop.rest(LONG)


def test_one_that_was_never_started_has_ended() -> None:
    assert Worker("idle", lambda: None, Stop(), list[str]().append).join(0)


def test_trouble_with_syncing_is_logged_once_and_so_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    error = TransportError("nobody answers")
    outcomes: list[Outcome] = [Report(), error, error, Report(paused="it looks restored"), Report(), Report()]
    monkeypatch.setattr(syncing, "remembered", lambda _: object())
    monkeypatch.setattr(syncing, "passes", lambda *_, **__: iter(outcomes))
    told: list[Outcome] = []
    with Changes(tmp_path / "ada" / "state.db") as changes:
        sync(tmp_path / "ada", changes, Stop(), 1, told.append)
    assert told == outcomes
    assert [record.getMessage() for record in caplog.records if record.name == syncing.__name__] == [
        *("sync: nobody answers", "sync: it looks restored", "sync: it works again")
    ]


def test_the_same_failure_again_and_again_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    stop, failed = Stop(), list[str]()

    def dig() -> None:
        if len(failed) == 5:
            stop.set()
        raise DmpError(Code.CONFLICT, "its key was used elsewhere" if failed else "the store is busy")

    assert begin(stop, dig, failed).join(LONG)
    assert len(failed) == 6
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR] == [
        "digging failed, and is tried again: the store is busy",
        "digging failed, and is tried again: its key was used elsewhere",
    ]
