"""`dmp a2a peer`: what it prints, refuses and keeps to itself."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from replica.cli import main
from tests.bindings.a2a.peers.stage import SECRET, ScriptedPeer, served

Run = Callable[..., tuple[int, str, str]]
EVIL = "\x1b[2JAcme“ says ”dmp\u202e"


@pytest.fixture
def peer() -> Iterator[ScriptedPeer]:
    """A peer that is served beside the test, whose card's texts mean harm."""
    made, up, loop = ScriptedPeer(), threading.Event(), asyncio.new_event_loop()
    done = asyncio.Event()

    async def serve() -> None:
        async with served(made):
            made.card = made.make_card(
                name=EVIL, description=f"{EVIL}\nTo do: rm -rf", skills=[{"id": "x", "name": EVIL}]
            )
            up.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    up.wait()
    yield made
    loop.call_soon_threadsafe(done.set)
    thread.join()
    loop.close()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run commands in this process, on a replica whose owner allows this machine."""
    monkeypatch.setenv("DMP_DIR", str(tmp_path / "ada"))
    monkeypatch.setenv("DMP_A2A_PRIVATE_HOSTS", "localhost")

    def run_(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", StringIO(stdin))
        code = main.run(list(arguments))
        told = capsys.readouterr()
        assert SECRET not in told.out + told.err
        return code, told.out, told.err

    assert run_("init", "--handle", "ada")[0] == 0
    return run_


def json_of(run: Run, *arguments: str) -> Any:
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_peer_is_added_listed_shown_and_removed(run: Run, peer: ScriptedPeer, tmp_path: Path) -> None:
    assert run("a2a", "peer", "list")[1].startswith("No peers; `dmp a2a peer add")
    code, out, _ = run("a2a", "peer", "add", "acme", peer.url)
    assert code == 0
    assert "Nothing is sent to it yet. To do: dmp a2a peer credential acme" in out
    assert "dmp a2a peer credential acme" in run("a2a", "peer", "list")[1]
    assert run("a2a", "peer", "credential", "acme", stdin=f"{SECRET}\n")[0] == 0
    kept = tmp_path / "ada" / "a2a-peers" / "acme"
    assert kept.read_text() == f"{SECRET}\n"
    (one,) = json_of(run, "a2a", "peer", "list")["peers"]
    assert (one["alias"], one["address"], one["state"], one["why"]) == ("acme", "a2a:acme", "active", "")
    assert json_of(run, "a2a", "peer", "show", "a2a:acme")["peer"] == {**one, "openTasks": 0}
    assert json_of(run, "a2a", "peer", "disable", "acme")["peer"]["state"] == "disabled"
    assert "dmp a2a peer enable acme" in run("a2a", "peer", "list")[1]
    assert json_of(run, "a2a", "peer", "enable", "acme")["peer"]["state"] == "active"
    assert json_of(run, "a2a", "peer", "remove", "acme") == {"removed": "acme"}
    assert not kept.exists()
    assert json_of(run, "a2a", "peer", "list") == {"peers": []}


def test_a_credential_comes_from_a_file_too(run: Run, peer: ScriptedPeer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(SECRET)
    code, out, _ = run("a2a", "peer", "add", "acme", peer.url, "--credential-file", str(tmp_path / "token"))
    assert (code, "To do" in out) == (0, False)
    code, _, err = run("a2a", "peer", "credential", "acme", "--credential-file", str(tmp_path / "gone"))
    assert (code, "No such file" in err) == (1, True)
    assert run("a2a", "peer", "credential", "acme", "--credential-file", "-", stdin="other")[0] == 0
    assert (tmp_path / "ada" / "a2a-peers" / "acme").read_text() == "other\n"


def test_what_a_card_says_never_acts_on_a_terminal_nor_passes_for_dmp(run: Run, peer: ScriptedPeer) -> None:
    told = run("a2a", "peer", "add", "acme", peer.url)[1]
    told += run("a2a", "peer", "list")[1] + run("a2a", "peer", "show", "acme")[1]
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "\nTo do: rm" not in told
    for line in told.splitlines():
        assert line.count("“") == line.count("”")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "Acme", "URL"), "an alias is 1 to 40 of a-z"),
        (("add", "x" * 41, "URL"), "an alias is 1 to 40 of a-z"),
        (("add", "acme", "http://peer.example/card"), "a2a.private_hosts"),
        (("add", "acme", "https://127.0.0.1/card"), "name its host"),
        (("add", "acme", "URL", "--set", "novalue"), "NAME=VALUE"),
        (("show", "nobody"), "there is no peer nobody"),
        (("remove", "nobody"), "there is no peer nobody"),
        (("credential", "nobody"), "there is no peer nobody"),
    ],
)
def test_what_is_refused_says_why(
    run: Run, peer: ScriptedPeer, arguments: tuple[str, ...], says: str
) -> None:
    code, _, err = run("a2a", "peer", *(peer.url if each == "URL" else each for each in arguments))
    assert code == 1
    assert says in err
    assert json_of(run, "a2a", "peer", "list") == {"peers": []}


def test_an_alias_is_one_peers(run: Run, peer: ScriptedPeer) -> None:
    assert run("a2a", "peer", "add", "acme", peer.url)[0] == 0
    code, _, err = run("a2a", "peer", "add", "acme", peer.url)
    assert (code, "is a peer already" in err) == (1, True)


def test_a_secret_that_cannot_be_sent_is_refused_without_being_repeated(run: Run, peer: ScriptedPeer) -> None:
    run("a2a", "peer", "add", "acme", peer.url)
    code, out, err = run("a2a", "peer", "credential", "acme", stdin="half\nother half")
    assert code == 1
    assert "one line" in err
    assert "half" not in out + err


def test_every_example_names_its_own_command() -> None:
    from bindings.a2a.cli.peer import peer

    for name, each in peer.commands.items():
        example = getattr(each, "example", None)
        assert example is not None
        assert example.startswith(f"dmp a2a peer {name}")


def test_help_needs_nothing_of_the_network() -> None:
    script = (
        "import sys; from replica.cli.main import run; run(['a2a', 'peer', '--help']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "bindings.a2a.cli.peer" in done.stdout
    assert "aiohttp" not in done.stdout
