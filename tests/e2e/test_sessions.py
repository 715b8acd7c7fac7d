"""Live sessions are processes: they get mail at once, one at a time, and die without losing any."""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.people import DMP, PATIENCE, Person, Town


def eventually(holds: Callable[[], bool]) -> None:
    """Wait for a condition that another process brings about."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "it never came to be"


@pytest.fixture
def zoe(town: Town) -> Person:
    """Somebody alone, with one work item."""
    someone = town.person("zoe")
    someone.dmp("task", "add", "Fix the login")
    return someone


@pytest.fixture
def task(zoe: Person) -> str:
    (found,) = zoe.json("task", "list")["tasks"]
    return f"task:{found['id']}"


def states(person: Person, address: str) -> list[tuple[str, str]]:
    """The bodies and states of a mailbox."""
    found = person.json("inbox", "--as", address)["deliveries"]
    return [(each["message"]["body"], each["delivery"]["state"]) for each in found]


def test_a_live_session_is_pushed_what_comes_and_told_in_a_line_what_a_channel_brings(
    zoe: Person, task: str
) -> None:
    zoe.dmp("send", task, "Waiting already.")
    zoe.dmp("channel", "join", "logins", task)
    with zoe.running("session", "attach", "--task", task) as session:
        assert "message from human:zoe · message" in session.told("message from")
        assert session.told("│") == "│ Waiting already.\n"
        zoe.dmp("send", task, "First line.\nSecond line.", "--kind", "question", "--blocking")
        assert "question" in session.told("message from")
        assert [session.told("│"), session.told("│")] == ["│ First line.\n", "│ Second line.\n"]
        session.told("The sender is waiting")
        zoe.dmp("send", "channel:logins", "Lunch?\nOr later.")
        assert "#logins · message from human:zoe: Lunch? (" in session.told("📬")
        assert states(zoe, task) == [
            ("Waiting already.", "pushed"),
            ("First line.\nSecond line.", "pushed"),
            ("Lunch?\nOr later.", "notified"),
        ]
        told = session.end(signal.SIGTERM)
    assert told.code == 0
    assert "Stopped" in told.err
    zoe.dmp("send", task, "Too late.")
    assert states(zoe, task)[-1] == ("Too late.", "held")


def test_mail_reaches_a_live_session_at_once(zoe: Person, task: str) -> None:
    with zoe.running("session", "attach", "--task", task, "--json") as session:
        session.told('"session"')
        sent = zoe.json("send", task, "Quick.")
        told = json.loads(session.told('"form"'))
        assert told["message"]["id"] == sent["message"]["id"]
        # From the commit to the push, by what both processes wrote down.
        (delivery,) = zoe.json("read", sent["message"]["id"])["deliveries"]
        made, pushed = sent["message"]["createdAt"], delivery["changedAt"]
        assert _milliseconds(pushed) - _milliseconds(made) < 1000
        assert told["form"] == "push"
        assert told["text"].splitlines()[1] == "│ Quick."
        session.end(signal.SIGTERM)


def _milliseconds(timestamp: str) -> int:
    from core.timestamp import milliseconds

    return milliseconds(timestamp)


def test_a_killed_session_is_dead_at_once_and_the_next_one_claims_its_mail(zoe: Person, task: str) -> None:
    with zoe.running("session", "attach", "--task", task, "--exec", "exit 1") as session:
        session.noted("This is run:")
        first = zoe.json("session", "list")["sessions"][0]
        assert first["live"]
        session.process.send_signal(signal.SIGSTOP)  # it can take nothing, and holds its lock
        zoe.dmp("send", task, "For whoever lives.")
        assert states(zoe, task) == [("For whoever lives.", "sending")]
        session.process.kill()
        session.process.wait()
    assert not zoe.json("session", "list")["sessions"][0]["live"]
    zoe.dmp("send", task, "And this.")  # a command that sends takes up what the killed one left
    assert states(zoe, task) == [("For whoever lives.", "held"), ("And this.", "held")]
    with zoe.running("session", "attach", "--task", task) as session:
        assert session.told("│") == "│ For whoever lives.\n"
        assert session.told("│") == "│ And this.\n"
        session.end(signal.SIGTERM)


def test_a_session_killed_in_the_middle_of_a_push_leaves_the_message_for_the_next(
    zoe: Person, task: str, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    hangs = f"exec >/dev/null; echo begun > {begun}; read end < {begun}"
    with zoe.running("session", "attach", "--task", task, "--exec", hangs) as session:
        session.noted("This is run:")
        zoe.dmp("send", task, "Half pushed.")
        assert begun.read_text() == "begun\n"
        session.process.kill()
        session.process.wait()
    with zoe.running("session", "attach", "--task", task) as session:
        assert session.told("│") == "│ Half pushed.\n"
        session.end(signal.SIGTERM)
    begun.write_text("end\n")  # what the killed one left running ends too


def test_a_command_that_fails_leaves_the_message_for_the_next_session(
    zoe: Person, task: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    command = f'echo "$DMP_FORM $DMP_WORK_ITEM" > {kept}; cat >> {kept}; echo "no room" >&2; exit 3'
    with zoe.running("session", "attach", "--task", task, "--exec", command) as session:
        session.noted("This is run:")
        zoe.dmp("send", task, "Take this.")
        assert "no room" in session.noted("waits, since the command failed")
        session.end(signal.SIGTERM)
    form, header, body = kept.read_text().splitlines()
    assert form == f"push {task}"
    assert header.startswith("[message from human:zoe")
    assert body == "│ Take this."
    assert states(zoe, task) == [("Take this.", "held")]


def test_a_work_item_has_one_live_session(zoe: Person, task: str) -> None:
    zoe.dmp("session", "start", "--task", task, "--id", "r-0000aa")
    zoe.dmp("session", "start", "--task", task, "--id", "r-0000bb")
    with zoe.running("session", "attach", "r-0000aa") as session:
        session.noted("This is run:r-0000aa")
        assert "is live: another process" in zoe.refused("session", "attach", "r-0000aa")
        refused = zoe.refused("session", "attach", "r-0000bb")
        assert "one at a time" in refused
        assert "[conflict on task]" in refused
        assert "one at a time" in zoe.refused("session", "attach", "--task", task)
        assert len(zoe.json("session", "list")["sessions"]) == 2
        assert "has ended" in zoe.dmp("session", "end", "r-0000aa")
        told = session.end()
    assert told.code == 0
    assert "was ended" in told.err
    with zoe.running("session", "attach", "r-0000bb") as session:
        session.noted("This is run:r-0000bb")
        session.end(signal.SIGTERM)


def test_ctrl_c_ends_a_session_and_says_so_by_its_code(zoe: Person, task: str) -> None:
    with zoe.running("session", "attach", "--task", task) as session:
        session.noted("This is run:")
        assert session.end(signal.SIGINT).code == 130
    (found,) = zoe.json("session", "list")["sessions"]
    assert (found["live"], found["endedAt"] is None) == (False, False)


def test_a_session_ends_when_nobody_reads_what_it_says(zoe: Person, task: str) -> None:
    with zoe.running("session", "attach", "--task", task) as session:
        session.noted("This is run:")
        assert session.process.stdout is not None
        session.process.stdout.close()
        session.process.wait(PATIENCE)
    zoe.dmp("send", task, "Nobody there.")
    assert states(zoe, task) == [("Nobody there.", "held")]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_takes_nothing_keeps_no_session_from_ending(
    zoe: Person, task: str, form: list[str]
) -> None:
    def found() -> list[str]:
        return [state for _, state in states(zoe, task)]

    with zoe.running("session", "attach", "--task", task, *form) as session:
        if form:
            session.told('"session"')
        else:
            session.noted("This is run:")
        for letter in "wxyz":
            zoe.dmp("send", task, "-", stdin=letter * 25_000)
        eventually(lambda: "pushed" in found() and "sending" in found())
        session.process.send_signal(signal.SIGTERM)
        assert session.process.wait(PATIENCE) == 0
    assert set(found()) == {"pushed", "held"}


def test_a_session_that_was_ended_finishes_one_message_and_leaves_the_rest(
    zoe: Person, task: str, tmp_path: Path
) -> None:
    for number in range(4):
        zoe.dmp("send", task, f"Number {number}.")
    go = tmp_path / "go"
    slow = f"echo begun; while [ ! -e {shlex.quote(str(go))} ]; do sleep 0.05; done"
    with zoe.running("session", "attach", "--task", task, "--exec", slow) as session:
        session.told("begun")
        run = zoe.json("session", "list")["sessions"][0]["address"]
        with zoe.running("session", "end", run) as ending:
            eventually(lambda: zoe.json("session", "list")["sessions"][0]["endedAt"] is not None)
            go.touch()
            assert "has ended" in ending.end().out
        assert session.end().code == 0
    assert [state for _, state in states(zoe, task)] == ["pushed", "held", "held", "held"]


def test_a_session_whose_output_is_closed_takes_no_mail(zoe: Person, task: str) -> None:
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *DMP, "session", "attach", "--task", task]
    told = subprocess.run(
        command, env=zoe.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    assert told.returncode == 2
    assert b"go nowhere" in told.stderr


def test_a_session_ends_with_its_standard_input(zoe: Person, task: str) -> None:
    zoe.dmp("send", task, "Take this and go.")
    told = zoe.try_("session", "attach", "--task", task)  # which closes it at once
    assert (told.code, "Take this and go." in told.out) == (0, True)
    assert states(zoe, task) == [("Take this and go.", "pushed")]


def test_two_sessions_that_begin_at_once_give_each_message_to_one(zoe: Person, task: str) -> None:
    for number in range(6):
        zoe.dmp("send", task, f"Number {number}.")
    zoe.dmp("session", "start", "--task", task, "--id", "r-0000aa")
    zoe.dmp("session", "start", "--task", task, "--id", "r-0000bb")
    with (
        zoe.running("session", "attach", "r-0000aa") as one,
        zoe.running("session", "attach", "r-0000bb") as other,
    ):
        eventually(lambda: None not in (one.process.poll(), other.process.poll()) or _all_pushed(zoe, task))
        said = one.end(signal.SIGTERM).out + other.end(signal.SIGTERM).out
    assert sorted(line for line in said.splitlines() if line.startswith("│")) == [
        f"│ Number {number}." for number in range(6)
    ]


def _all_pushed(person: Person, task: str) -> bool:
    return {state for _, state in states(person, task)} == {"pushed"}


def test_what_a_session_sends_is_its_own(zoe: Person, task: str) -> None:
    with zoe.running("session", "attach", "--task", task, "--json") as session:
        run = json.loads(session.told('"session"'))["session"]["address"]
        asked = zoe.json("send", "human:zoe", "Which database?", "--kind", "question", "--as", run)
        assert asked["message"]["from"] == run
        zoe.dmp("answer", asked["message"]["id"], "The small one.")
        told: dict[str, Any] = json.loads(session.told('"form"'))
        assert (told["message"]["kind"], told["message"]["body"]) == ("answer", "The small one.")
        session.end(signal.SIGTERM)
    assert "[forbidden on from]" in zoe.refused("send", "human:zoe", "Still here?", "--as", run)


def test_the_list_has_sessions_by_the_address_they_are_written_to(zoe: Person, task: str) -> None:
    zoe.dmp("session", "start", "--id", "r-0000aa", "--task", task)
    (row,) = [line for line in zoe.dmp("session", "list").splitlines() if "r-0000aa" in line]
    assert row.startswith(f"run:r-0000aa  {task}  not begun")
