"""Programs that a person's configuration names, run by real processes: to wake, and to notify."""

import json
from pathlib import Path

from tests.e2e.people import Person, Town
from tests.e2e.test_sessions import eventually, states

START = 'nohup dmp session attach --task "$DMP_WORK_ITEM" > "{folder}/said" 2> "{folder}/noted" < /dev/null &'


def configure(person: Person, text: str) -> None:
    (person.root / "config.toml").write_text(text)


def test_a_wake_command_starts_the_session_that_takes_the_mail(town: Town, tmp_path: Path) -> None:
    zoe = town.person("zoe")
    task = f"task:{zoe.json('task', 'add', 'Fix the login')['task']['id']}"
    program = tmp_path / "start"
    program.write_text(f"#!/bin/sh\n{START.format(folder=tmp_path)}\n")
    program.chmod(0o755)
    configure(zoe, f"[wake]\ncommand = {json.dumps(str(program))}\n")
    zoe.dmp("send", task, "Get up.", "--wake")
    eventually(lambda: states(zoe, task) == [("Get up.", "pushed")])
    assert "│ Get up." in (tmp_path / "said").read_text()
    zoe.dmp("send", task, "And on.", "--wake")  # it lives: nobody is woken
    eventually(lambda: states(zoe, task)[-1] == ("And on.", "pushed"))
    (session,) = zoe.json("session", "list")["sessions"]
    assert zoe.json("session", "end", session["address"])["wasLive"] is True
    assert zoe.bodies() == []


def test_a_wake_that_fails_is_told_and_the_mail_waits(town: Town) -> None:
    zoe = town.person("zoe")
    task = f"task:{zoe.json('task', 'add', 'Fix the login')['task']['id']}"
    configure(zoe, "[wake]\ncommand = 'echo \"no model today\" >&2; exit 1'\n")
    zoe.dmp("send", task, "Get up.", "--wake")
    assert zoe.bodies() == [f"Could not wake {task}: no model today. Your message is waiting for it."]
    assert states(zoe, task) == [("Get up.", "held")]


def test_mail_from_a_teammate_runs_the_notify_command(ada: Person, bob: Person, tmp_path: Path) -> None:
    configure(bob, f"[notify]\ncommand = 'cat >> {tmp_path}/told'\n")
    ada.dmp("send", "human:bob", "Lunch?\nOr later.")
    ada.dmp("sync")
    bob.dmp("sync")
    (line,) = (tmp_path / "told").read_text().splitlines()
    assert line.startswith("📬 message from human:ada")
    assert "Lunch?" in line
    assert "later" not in line


def test_a_configuration_with_a_fault_is_named_by_every_command_that_acts(town: Town) -> None:
    zoe = town.person("zoe")
    configure(zoe, '[wake]\ncomand = "x"\n')
    told = zoe.try_("send", "human:zoe", "Hi.")
    assert told.code == 0
    assert "there is no key wake.comand; did you mean wake.command?" in told.err
    (problem,) = zoe.json("problems")["problems"]
    assert (problem["subject"], "wake.comand" in problem["text"]) == ("config", True)
    configure(zoe, "")
    assert zoe.json("problems") == {"problems": []}
