"""`dmp envelope`: the key, issuing and checking, for people and for programs."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings.machine_envelope.did_key import write_did
from bindings.machine_envelope.extension import METADATA_KEY, URI
from replica.cli import main
from replica.node import create
from tests.bindings.machine_envelope.making import STRANGER, message

Run = Callable[..., Any]
OTHER = write_did(STRANGER.public)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    create(tmp_path / "ada", "ada", "laptop")
    (tmp_path / "message.json").write_text(json.dumps(message()))
    return tmp_path / "ada"


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands in this process, and read their documents."""
    monkeypatch.chdir(root.parent)

    def run_(*arguments: str, code: int = 0) -> Any:
        assert main.run(["envelope", *arguments, "--json", "--dir", str(root)]) == code
        told = capsys.readouterr()
        assert told.err == ""
        return json.loads(told.out)

    return run_


def signed(run: Run, root: Path, *options: str) -> Any:
    found = run("issue", "message.json", *options)
    (root.parent / "signed.json").write_text(json.dumps(found))
    return found


def reason(run: Run, *options: str) -> str:
    return str(run("verify", "signed.json", *options, code=1)["error"]["code"])


def test_the_key_is_its_owners_alone_and_is_never_shown_or_replaced(
    run: Run, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("key", "show", code=1)["error"]["code"] == "not-found"
    made = run("key", "make")
    path = Path(made["file"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    kept = path.read_text()
    assert json.loads(kept)["seed"] not in json.dumps(made)
    assert run("key", "show") == made
    assert run("key", "make", code=1)["error"]["code"] == "conflict"
    assert path.read_text() == kept
    assert {each.name for each in path.parent.iterdir()} == {"machine-envelope.json", "replica.json"}
    path.chmod(0o640)
    assert run("key", "show", code=1)["error"]["code"] == "forbidden"
    path.chmod(0o600)
    for damaged in ("", "{}", kept.replace('"v": 1', '"v": 2'), kept.replace("did:key:z6Mk", "did:key:z6Mj")):
        path.write_text(damaged)
        assert run("key", "show", code=1)["error"]["code"] == "invalid"
    path.write_text(kept)
    assert main.run(["envelope", "key", "show", "--dir", str(root)]) == 0
    assert capsys.readouterr().out == f"{made['did']}\n"


def test_what_is_issued_is_good_for_what_it_was_issued_for(run: Run, root: Path) -> None:
    did = run("key", "make")["did"]
    found = signed(run, root, "--kind", "offer", "--recipient", OTHER)
    assert found["extensions"] == [URI]
    assert found["metadata"][METADATA_KEY]["sender"]["did"] == did
    good = run("verify", "signed.json", "--kind", "offer", "--recipient", OTHER)
    assert (good["good"], good["spent"], good["issuer"]) == (True, False, did)
    assert reason(run) == "wrong_recipient"
    assert reason(run, "--recipient", OTHER) == "wrong_purpose"
    given = ("--recipient", OTHER, "--kind", "offer")
    assert reason(run, *given, "--context-protocol", "x") == "context_mismatch"
    assert reason(run, *given, "--issuer", OTHER) == "untrusted_issuer"
    assert reason(run, *given, "--at", "2126-01-01T00:00:00Z") == "expired"
    assert reason(run, *given, "--at", "2006-01-01T00:00:00Z") == "not_yet_valid"
    assert reason(run, *given, "--issuer", "did:key:x") == "invalid"
    (root.parent / "signed.json").write_text(json.dumps({**found, "role": "ROLE_AGENT"}))
    assert reason(run, *given) == "payload_mismatch"
    assert run("verify", "message.json", code=1)["error"]["code"] == "required"


def test_a_person_is_told_in_sentences(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("key", "make")
    signed(run, root)
    assert main.run(["envelope", "verify", "signed.json", "--dir", str(root)]) == 0
    assert capsys.readouterr().out.startswith("Good until ")
    assert main.run(["envelope", "verify", "signed.json", "--kind", "x", "--dir", str(root)]) == 1
    assert "[wrong_purpose]" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"message": {}}'])
def test_what_is_no_message_is_refused(run: Run, root: Path, text: str) -> None:
    run("key", "make")
    (root.parent / "message.json").write_text(text)
    assert run("issue", "message.json", code=1)["error"]["field"] == "FILE"


def test_what_was_typed_wrongly_is_refused_as_such(run: Run) -> None:
    run("key", "make")
    assert run("verify", "message.json", "--at", "noon", code=2)["error"]["code"] == "usage"
    assert run("issue", "message.json", "--sender", "ada", code=1)["error"]["field"] == "--sender"
    assert run("issue", "absent.json", code=1)["error"]["code"] == "unavailable"


@pytest.mark.parametrize("command", [["key", "make"], ["key", "show"], ["issue"], ["verify"]])
def test_each_command_shows_an_example(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main.run(["envelope", *command, "--help"]) == 0
    assert f"Example:\n  $ dmp envelope {' '.join(command)}" in capsys.readouterr().out
