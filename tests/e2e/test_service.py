"""`dmp serve`, as real processes: commands beside it, a second one, and every way it ends."""

import json
import signal
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replica.service.lock import Holder, holder
from tests.e2e.people import PATIENCE, Person, Running, Town

SERVE = ("serve", "--listen", "127.0.0.1:0", "--json")
SECRET = "the-walrus-sings-at-noon"


def started(running: Running) -> dict[str, Any]:
    """What a service says once it is reached."""
    found = json.loads(running.told('"url"'))
    assert isinstance(found, dict)
    return found


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def has(person: Person, body: str) -> bool:
    """Whether a message is in somebody's store."""
    with closing(sqlite3.connect(f"file:{person.root / 'state.db'}?mode=ro", uri=True)) as db:
        return db.execute("SELECT 1 FROM messages WHERE body = ?", (body,)).fetchone() is not None


def asked(url: str, token: str = "") -> str:
    """What a service answers."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def lock_of(person: Person) -> Path:
    return person.root / "serve.lock"


def test_mail_sent_by_a_command_arrives_where_a_service_runs_and_logs_tell_nothing_of_it(
    ada: Person, bob: Person
) -> None:
    (ada.root / "config.toml").write_text('[serve]\nlog_level = "error"\ninterval = 3\n')
    with ada.running(*SERVE, "--log-level", "debug") as hers, bob.running(*SERVE, "--verbose") as his:
        url = started(hers)["url"]
        started(his)
        ada.dmp("send", "human:bob", SECRET, "--kind", "question", "--blocking")
        wait_for(lambda: has(bob, SECRET))
        question = bob.json("inbox")["deliveries"][-1]["message"]["id"]
        bob.dmp("reply", question, f"{SECRET}, indeed")
        wait_for(lambda: has(ada, f"{SECRET}, indeed"))
        token = ada.dmp("token", "add").strip()
        assert SECRET in asked(f"{url}/api/messages/{question}", token)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            asked(f"{url}/api/messages/{question}", f"{token}x")
        metrics = asked(f"{url}/metrics")
        told = [one.end(signal.SIGTERM) for one in (hers, his)]
    assert [each.code for each in told] == [0, 0]
    logs = "".join(each.err for each in told)
    assert "synced: published" in logs
    assert all(isinstance(json.loads(line), dict) for line in logs.splitlines())
    keys = json.loads((ada.root / "keys" / "replica.json").read_text())
    for secret in (SECRET, token, keys["signPriv"], keys["sealPriv"]):
        assert secret not in logs
        assert secret not in metrics
    assert 'dmp_sync_passes_total{outcome="done"}' in metrics
    assert "dmp_unread_messages 1.0" in metrics
    assert "ada" not in "".join(line for line in metrics.splitlines() if not line.startswith("#"))


def test_one_service_runs_in_a_directory_and_commands_work_while_it_does_and_after_a_kill(
    ada: Person, bob: Person
) -> None:
    with bob.running(*SERVE) as first:
        told = started(first)
        found = holder(lock_of(bob))
        assert isinstance(found, Holder)
        assert (found.pid, found.url) == (told["pid"], told["url"])
        refused = bob.refused("serve", "--listen", "127.0.0.1:0")
        assert f"process {told['pid']}, at {told['url']}, serves {bob.root} already" in refused
        assert bob.json("serve", code=1)["error"]["code"] == "conflict"
        ada.dmp("send", "human:bob", "before")
        ada.dmp("sync")
        wait_for(lambda: has(bob, "before"))
        first.end(signal.SIGKILL)
    assert holder(lock_of(bob)) is None
    bob.dmp("send", "human:ada", "sent while nothing runs")
    with bob.running(*SERVE) as second:
        started(second)
        wait_for(lambda: not bob.json("sync")["waiting"]["messages"])
        begun = time.monotonic()
        assert second.end(signal.SIGINT).code == 0
        assert time.monotonic() - begun < PATIENCE
    assert not lock_of(bob).exists()
    ada.dmp("sync")
    assert ada.bodies() == ["sent while nothing runs"]
    assert bob.bodies() == ["before"]


def test_a_service_begins_without_a_team_and_syncs_once_there_is_one(town: Town) -> None:
    ada = town.person("ada")
    with ada.running(*SERVE, "--interval", "1") as running:
        started(running)
        ada.dmp("team", "found", "Orchard", "--git", str(town.repository))
        wait_for(lambda: ada.json("transport", "list")["transports"][0]["reachable"] is True)
        town.repository.rename(town.folder / "away.git")
        wait_for(lambda: "does not" in _error(ada) or bool(_error(ada)))
        (town.folder / "away.git").rename(town.repository)
        wait_for(lambda: not _error(ada))
        told = running.end(signal.SIGTERM)
    assert told.code == 0
    assert [json.loads(line)["level"] for line in told.err.splitlines()] == ["warning", "warning"]


def _error(person: Person) -> str:
    return str(person.json("transport", "list")["transports"][0]["error"] or "")


def test_a_setting_that_is_wrong_keeps_the_service_from_starting_and_is_named(bob: Person) -> None:
    (bob.root / "config.toml").write_text("[serve]\nlissen = '127.0.0.1:1'\n")
    assert "did you mean serve.listen?" in bob.refused("serve")
    (bob.root / "config.toml").write_text("")
    assert "--wake-policy: wake.policy must be" in bob.refused("serve", "--wake-policy", "maybe", code=2)
    with bob.running(*SERVE) as running:
        url = started(running)["url"]
        other = bob.try_(
            "serve", "--listen", url.removeprefix("http://"), "--dir", str(bob.root.parent / "ada")
        )
    assert other.code == 1
    assert "is in use; give another one with --listen" in other.err
    assert not (bob.root.parent / "ada" / "serve.lock").exists()


def test_the_doctor_asks_transports_while_no_service_runs_and_believes_the_service_while_one_does(
    orchard: Town, bob: Person
) -> None:
    well = bob.json("doctor")
    assert well["verdict"] == "ok"
    assert f"transport {orchard.repository}" in {each["check"] for each in well["checks"]}
    orchard.repository.rename(orchard.folder / "away.git")
    (failed,) = (each for each in bob.json("doctor", code=1)["checks"] if each["verdict"] != "ok")
    assert (failed["check"], failed["verdict"]) == (f"transport {orchard.repository}", "failure")
    (orchard.folder / "away.git").rename(orchard.repository)
    with bob.running(*SERVE) as running:
        started(running)
        wait_for(lambda: "a sync reached it" in bob.dmp("doctor"))


def test_the_log_goes_on_with_what_is_new(ada: Person) -> None:
    with ada.running("log", "--follow", "--json") as running:
        assert json.loads(running.told("founded the team"))["event"] == "roster"
        ada.dmp("team", "invite", "cy")
        assert json.loads(running.told("invited cy"))["replica"] == ada.replica
        running.end(signal.SIGINT)


def test_a_service_ends_in_seconds_although_a_program_waits_for_an_answer(ada: Person) -> None:
    question = ada.json("send", "human:bob", "Ship it?", "--kind", "question", "--blocking")["message"]["id"]
    token = ada.dmp("token", "add").strip()
    with ada.running(*SERVE) as running, ThreadPoolExecutor(1) as pool:
        url = started(running)["url"]
        waiting = pool.submit(asked, f"{url}/api/messages/{question}/answer?wait=1", token)
        asked(f"{url}/api/health")
        wait_for(lambda: waiting.running())
        begun = time.monotonic()
        assert running.end(signal.SIGTERM).code == 0
        assert time.monotonic() - begun < PATIENCE / 2  # a wait is half a minute long
        assert waiting.exception(PATIENCE) is not None or waiting.result()
