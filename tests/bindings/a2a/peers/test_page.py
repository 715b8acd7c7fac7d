"""The page about peers: its commands are typed, with a peer on this machine for the one that it tells of."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bindings.a2a.peers.peer import PeerState
from tests.bindings.a2a.peers.stage import ScriptedPeer, served
from tests.e2e.people import Town
from tests.e2e.test_readme import ROOT, Shell, commands

PAGE = "docs/a2a-peers.md"


@pytest.fixture
def card_url() -> Iterator[str]:
    """The URL of a card that is served beside the test."""
    peer, up, loop = ScriptedPeer(), threading.Event(), asyncio.new_event_loop()
    done = asyncio.Event()

    async def serve() -> None:
        async with served(peer):
            up.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    up.wait()
    yield peer.url
    loop.call_soon_threadsafe(done.set)
    thread.join()
    loop.close()


def test_the_commands_of_the_page_run(tmp_path: Path, card_url: str) -> None:
    town = Town(tmp_path)
    ada = town.person("ada")
    (ada.root / "config.toml").write_text('[a2a]\nprivate_hosts = "localhost"\n')
    ada.home.mkdir(exist_ok=True)
    (ada.home / "token").write_text("sesame\n")
    shell = Shell(ada.home, forks=True, DMP_DIR=str(ada.root))
    typed = [each.replace("<card-url>", card_url) for each in commands(PAGE)]
    assert len(typed) > 10
    for each in typed:
        shell.run(each)


def test_the_page_tells_of_every_state_of_a_peer() -> None:
    page = (ROOT / PAGE).read_text()
    told = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert told == {str(each) for each in PeerState}
