"""`dmp op show` on a machine's own store: what a sealed op says is shown to whom it is for, and to nobody else."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from replica.cli import main
from tests.replica.forge import Forger
from tests.replica.world import Machine, exchange, world

Run = Callable[..., str]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[list[Machine]]:
    with world(tmp_path) as made:
        yield made.team("ada", "bob")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_(machine: Machine, *arguments: str, code: int = 0) -> str:
        assert main.run([*arguments, "--dir", str(machine.directory.root)]) == code, capsys.readouterr()
        return capsys.readouterr().out

    return run_


def shown(run: Run, machine: Machine, replica: str, seq: int, *, code: int = 0) -> Any:
    (found,) = json.loads(run(machine, "op", "show", replica, str(seq), "--json", code=code))["ops"]
    return found


def sealed_seq(machine: Machine) -> int:
    return next(each.seq for each in machine.chain() if each.type == "mail")


def test_mail_is_shown_where_it_is_read_and_stays_sealed_elsewhere(run: Run, team: list[Machine]) -> None:
    ada, bob = team
    ada.send("human:bob", "the key is under the mat")
    exchange(ada, bob)
    seq = sealed_seq(ada)
    text = run(bob, "op", "show", ada.me, str(seq))
    assert "  | the key is under the mat" in text
    assert "yes signature: signed with the key of fingerprint" in text
    own = run(ada, "op", "show", ada.me, str(seq))
    assert "under the mat" not in own
    assert "even its publisher cannot open it" in own
    found = shown(run, bob, ada.me, seq)
    assert found["content"]["message"]["body"] == "the key is under the mat"
    assert found["counts"] is True
    assert all(each["holds"] for each in found["checks"])
    # From a file nobody's keys are asked for.
    lines = bob.directory.root / "lines.jsonl"
    ada_lane = ada.lane()
    lines.write_bytes(b"\n".join([*ada_lane, *bob.lane()]) + b"\n")
    assert "Inside" not in run(bob, "op", "show", ada.me[:3], str(seq), "--from", str(lines))


def test_reports_of_homes_are_read_entry_by_entry(run: Run, team: list[Machine]) -> None:
    ada, bob = team
    message = ada.send("human:bob", "hello")
    exchange(ada, bob)
    seq = next(each.seq for each in bob.chain() if each.type == "state")
    assert f"{message.id} to human:bob: notified" in run(ada, "op", "show", bob.me, str(seq))
    assert shown(run, ada, bob.me, seq)["content"]["entries"][0]["t"] == "delivery"


def test_what_was_refused_here_is_told_with_the_reason_and_without_its_text(
    run: Run, team: list[Machine]
) -> None:
    ada, bob = team
    forger = Forger(ada)
    made = forger.mail(bob, **{"from": "human:carol", "body": "a forged secret"})
    forger.publish(made)
    bob.sync()
    text = run(bob, "op", "show", ada.me, str(made.seq))
    assert "Noted here, speaks-for:" in text
    assert "a forged secret" not in text
    found = shown(run, bob, ada.me, made.seq)
    assert found["problems"][0]["subject"].startswith("speaks-for:")
    assert "body" not in found["content"]["message"]


def test_an_op_in_the_clear_is_quoted_and_an_op_that_is_not_there_is_an_error(
    run: Run, team: list[Machine]
) -> None:
    ada, bob = team
    text = run(bob, "op", "show", ada.me, "1")
    assert '  |   "handle": "ada"' in text
    assert run(bob, "op", "show", ada.me, "999", code=2) == ""
    for asked, code in (((ada.me, "999"), "not-found"), (("nobody", "1"), "unreadable")):
        error = json.loads(run(bob, "op", "show", *asked, "--json", code=2))["error"]
        assert error["code"] == code
        assert "`dmp audit`" in error["hint"]
