"""Every command that docs/api.md shows is run, beside a service, and so is its program that hears of events."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.people import PATIENCE, Person, Town
from tests.e2e.test_readme import ROOT, SERVED, Shell, commands

URL = "http://127.0.0.1:7440"
SOCKET = "ws://127.0.0.1:7440"


@contextmanager
def service(person: Person) -> Iterator[str]:
    """A person's service, at an address of its own, until the end of a block; it ends as it should."""
    with person.running("serve", "--listen", "127.0.0.1:0", "--json") as running:
        yield json.loads(running.told('"url"'))["url"]
        assert running.end(signal.SIGTERM).code == 0


def test_the_page_of_the_api_runs(orchard: Town, ada: Person) -> None:
    home = orchard.folder / "home"
    with service(ada) as url:
        shell = Shell(home, DMP_DIR=str(ada.root))
        typed = [command.replace(URL, url) for command in commands(SERVED)]
        for command in typed:
            shell.run(command)
        assert len(typed) > 10
        assert any("dmp web" in command for command in typed)
        (program,) = re.findall(
            r"^```python\n(.*?)^```$", (ROOT / SERVED).read_text(), re.MULTILINE | re.DOTALL
        )
        token = (home / "token.txt").read_text().strip()
        # It says that it listens, so that what it is to hear of is sent after that.
        listening = program.replace(SOCKET, url.replace("http", "ws")).replace(
            "as events:\n", "as events:\n    print('listening', flush=True)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", listening],
            env={**os.environ, "TOKEN": token},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            ada.dmp("send", "human:bob", "news")
            out, _ = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (0, "message.new\n")


def test_the_link_that_signs_in_is_of_the_service_that_runs(orchard: Town, ada: Person) -> None:
    assert "dmp serve" in ada.refused("web")
    with service(ada) as url:
        link = ada.dmp("web").strip()
        assert link.startswith(f"{url}/node/open?code=dmp_code_")


def test_a_token_is_shown_once_listed_without_its_secret_and_revoked(orchard: Town, ada: Person) -> None:
    secret = ada.dmp("token", "add", "--label", "a script", "--days", "2").strip()
    assert re.fullmatch(r"dmp_app_[A-Za-z0-9_-]{43}", secret)
    (token,) = ada.json("token", "list")["tokens"]
    assert secret not in json.dumps(token)
    assert {
        "kind": "app",
        "address": "human:ada",
        "tier": "operator",
        "label": "a script",
    }.items() <= token.items()
    assert token["good"] is True
    assert "a script" in ada.dmp("token", "list")
    ada.dmp("token", "revoke", token["id"])
    assert ada.dmp("token", "list").strip() == "No tokens."
    assert "no such token" in ada.refused("token", "revoke", token["id"])
    assert "does not stand in" in ada.refused("token", "add", "--for", "human:bob")


def test_processes_of_this_machine_find_the_service_and_register(orchard: Town, ada: Person) -> None:
    with service(ada) as url:
        told = json.loads((ada.root / "api.json").read_text())
        assert told["url"] == url
        asked = urllib.request.Request(
            f"{url}/api/agents/register",
            json.dumps({"name": "scribe", "client": "a test"}).encode(),
            {"Authorization": f"Bearer {told['token']}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            assert json.loads(answer.read())["agent"]["address"] == "agent:ada/scribe"


def test_a_session_has_a_token_in_a_file_while_it_lives(orchard: Town, ada: Person) -> None:
    file = orchard.folder / "run.token"
    with service(ada) as url:
        with ada.running(
            "session",
            "attach",
            ada.json("session", "start")["session"]["address"],
            "--json",
            "--token-file",
            str(file),
        ) as attached:
            attached.told('"session"')
            assert file.stat().st_mode & 0o077 == 0
            asked = urllib.request.Request(
                f"{url}/api/mailbox", headers={"Authorization": f"Bearer {file.read_text()}"}
            )
            with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
                assert answer.status == 200
            attached.end(signal.SIGTERM)
        assert not file.exists()
        assert ada.json("token", "list")["tokens"][0]["kind"] == "shared"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(asked, timeout=PATIENCE)
