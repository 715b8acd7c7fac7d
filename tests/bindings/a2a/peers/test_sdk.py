"""A person, `dmp serve` and an agent made with the official SDK, as real processes over both bindings."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.a2a.peers.sdk_agent import SECRET
from tests.e2e.people import PATIENCE, Person, Town

ROOT = Path(__file__).parents[4]


@contextmanager
def agent(release: Path) -> Iterator[str]:
    """An SDK agent in a process; the value is where its cards are, by their bindings.

    Its streams end once there is a file `release`.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bindings.a2a.peers.sdk_agent", str(release)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert process.stdout is not None
    try:
        yield f"http://localhost:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def ada(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    person = Town(tmp_path).person("ada")
    (person.root / "config.toml").write_text('[a2a]\nprivate_hosts = "localhost"\n')
    return person


def messages(person: Person, where: str, *values: str) -> list[dict[str, Any]]:
    """Messages of a store, while others write to it."""
    with closing(sqlite3.connect(f"file:{person.root / 'state.db'}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        return [
            dict(row) for row in db.execute(f"SELECT * FROM messages WHERE {where} ORDER BY position", values)
        ]


def waited(look: Callable[[], list[dict[str, Any]]]) -> dict[str, Any]:
    """Wait until there is something, and return the last of it."""
    until = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found[-1]


BINDINGS = {"rest": "HTTP+JSON", "rpc": "JSONRPC"}


def test_an_agent_of_the_official_sdk_answers_asks_back_streams_and_fails(
    ada: Person, tmp_path: Path
) -> None:
    with agent(tmp_path / "release") as where:
        for alias, binding in BINDINGS.items():
            added = ada.dmp("a2a", "peer", "add", alias, f"{where}/{binding}.json")
            assert f"To do: dmp a2a peer credential {alias}" in added
            ada.dmp("a2a", "peer", "credential", alias, stdin="wrong-one\n")
        with ada.running("serve", "--listen", "127.0.0.1:0", "--json", "--log-level", "debug") as service:
            service.told('"url"')
            for alias in BINDINGS:
                converse(ada, alias, tmp_path / "release")
            ended = service.end(signal.SIGTERM)
    assert ended.code == 0
    logs = ended.err + ended.out
    for secret in (SECRET, "wrong-one", "Do it", "Say hello", "The warm one."):
        assert secret not in logs
    assert SECRET not in (ada.root / "state.db").read_bytes().decode(errors="replace")
    assert (ada.root / "a2a-peers" / "rpc").stat().st_mode & 0o777 == 0o600


def converse(ada: Person, alias: str, release: Path) -> None:
    """Ask a peer each thing that it knows to do."""

    def ask(text: str) -> str:
        sent = ada.json("send", f"a2a:{alias}", text, "--kind", "question", "--blocking")
        return str(sent["message"]["id"])

    def answer_to(question: str) -> dict[str, Any]:
        return waited(lambda: messages(ada, "reply_to = ? AND kind = 'answer'", question))

    refused = answer_to(ask("Say hello"))
    assert "who are you?" in refused["body"]
    states = {each["alias"]: each["state"] for each in ada.json("a2a", "peer", "list")["peers"]}
    assert states[alias] == "failed"
    ada.dmp("a2a", "peer", "credential", alias, stdin=f"{SECRET}\n")

    said, done, failed, streamed, chosen = map(
        ask, ("Say hello", "Do it", "Fail now", "Stream it", "Choose one")
    )
    assert (answer_to(said)["body"], answer_to(said)["sender"]) == ("hello", f"a2a:{alias}")
    assert answer_to(done)["body"] == "Done: Do it"
    closed = answer_to(failed)
    assert (closed["sender"], closed["body"]) == (
        "agent:dispatch",
        "Closed: the peer failed: “The disk is full.”",
    )
    waited(lambda: messages(ada, "reply_to = ? AND kind = 'notice' AND body = 'Reading.'", streamed))
    release.touch()
    assert answer_to(streamed)["body"] == "Read."
    release.unlink()
    question = waited(lambda: messages(ada, "reply_to = ? AND kind = 'question'", chosen))
    assert json.loads(question["choices"]) == ["red", "blue"]
    ada.dmp("reply", question["id"], "The warm one.", "--choice", "red")
    assert answer_to(chosen)["body"] == "Done: The warm one."
