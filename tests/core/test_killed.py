"""Processes on one store that are killed at any moment: what they were told holds, and recovery finishes the rest."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from replica.home.dispatchers import LockedDispatchers
from tests.core.hammer import CHANNEL, MAILBOXES, Hammer, Log

ROUNDS = 8
LINES = (1, 80)
"""How much a process may have been told when it is killed: lines, the least and the most."""


class Killed:
    """The store when every process was killed and one host has recovered, and what all were told."""

    def __init__(self, folder: Path) -> None:
        path, self.told, random = folder / "dmp.db", Log(), Random(7)
        dispatchers = LockedDispatchers(folder / "dispatchers")
        self.one = Hammer(path, "parent", self.told, dispatchers)
        for member in MAILBOXES:
            self.one.engine.join(CHANNEL, member)
        for _ in range(ROUNDS):
            with hammering(path) as first, hammering(path) as second:
                for process in (first, second):
                    self.told += lines(islice(process.stdout or (), random.randint(*LINES)))
                for process in random.sample((first, second), 2):
                    process.send_signal(signal.SIGKILL)
                for process in (first, second):
                    self.told += lines(process.stdout or ())
                    assert process.wait() == -signal.SIGKILL
        self.one.engine.recover()

    def every(self, query: str) -> set[str]:
        return {str(row[0]) for row in self.one.store.db.execute(query)}

    def all_told(self, name: str) -> list[Any]:
        return [line for line in self.told if name in line]


@contextmanager
def hammering(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.core.hammer", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(said: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    return Killed(tmp_path_factory.mktemp("killed"))


def test_what_a_sender_was_told_is_stored_with_all_its_deliveries(killed: Killed) -> None:
    sent = killed.all_told("sent")
    assert len(sent) > 20
    for line in sent:
        assert killed.one.engine.message(line["sent"]) is not None
        recipients = sorted(each.recipient for each in killed.one.engine.deliveries(line["sent"]))
        assert recipients == line["recipients"]


def test_what_counts_as_pushed_or_notified_was_handed_over(killed: Killed) -> None:
    handed = {line["handed"] for line in killed.all_told("handed")}
    over = killed.every(
        "SELECT message FROM deliveries WHERE state = 'pushed' OR state = 'notified' AND session IS NOT NULL"
    )
    assert len(over) > 5
    assert over <= handed


def test_nothing_stays_in_between(killed: Killed) -> None:
    assert killed.every("SELECT id FROM deliveries WHERE state = 'sending'") == set()
    assert killed.one.engine.recover().replayed == 0


def test_every_decision_had_its_effect_and_nothing_else_had(killed: Killed) -> None:
    decided = killed.every(
        "SELECT gate.id FROM messages AS gate JOIN messages AS answer ON answer.reply_to = gate.id"
        " WHERE gate.sender = 'agent:dispatch' AND answer.kind = 'answer' AND answer.sender LIKE 'human:%'"
    )
    assert decided
    assert {line["effect"] for line in killed.all_told("effect")} == decided
    assert set(killed.one.engine.effects_applied()) == decided


def test_a_question_has_the_answer_its_answerer_was_told_of(killed: Killed) -> None:
    for line in killed.all_told("answered"):
        answer = killed.one.engine.answer_of(line["answered"])
        assert answer is not None
        assert answer.id == line["by"]
    unsettled = killed.every(
        "SELECT message FROM deliveries JOIN messages AS answer ON answer.reply_to = message"
        " WHERE answer.kind = 'answer' AND state != 'answered'"
    )
    assert unsettled == set()
