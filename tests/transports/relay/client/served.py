"""The real relay as a process, reached through a network that a test can cut, with a team for whoever asks."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

from tests.transports.relay.client.me import Me, transport_to
from tests.transports.relay.client.standin import Network, free_port
from tests.transports.relay.client.team import Members, Team
from tests.transports.relay.process import Served, served
from transports.base import Transport
from transports.contract import Author, FarSide
from transports.relay.address import solve
from transports.relay.server.shell.serve import DATABASE
from transports.relay.server.sqlite import backup

_FOUNDERS = count(1)
_DIFFICULTY: Final = 4


class RelayProcess:
    """A relay that can be killed and started again, at an address that stays."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port = free_port()
        self.network = Network(self._port)
        self._running = ExitStack()
        self.start()

    @property
    def url(self) -> str:
        return self.network.url

    def start(self) -> None:
        """Run it."""
        listen = f"127.0.0.1:{self._port}"
        options = ("--url", self.url, "--trust-proxy")
        self._process: Served = self._running.enter_context(
            served(self._directory, *options, listen=listen, difficulty=_DIFFICULTY)
        )

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self._process.kill()
        self._running.close()

    def backup(self, file: Path) -> None:
        """Copy what it holds."""
        backup(self._directory / DATABASE, file)

    def restore(self, file: Path) -> None:
        """Start again with what a copy holds, and with nothing else."""
        self.kill()
        for old in self._directory.glob(f"{DATABASE}*"):
            old.unlink()
        (self._directory / DATABASE).write_bytes(file.read_bytes())
        self.start()

    def close(self) -> None:
        self._running.close()
        self.network.close()

    def team(self) -> Team:
        """A new team, which it holds. Each comes from elsewhere: few from one place are registered in an hour."""
        number = next(_FOUNDERS)
        team = Team(Author.new(f"fay-{number:08x}"))
        body = {"key": json.loads(team.key), "found": json.loads(team.found), "ops": []}
        stamped = solve(self.url, team.id, int(time.time()), _DIFFICULTY)
        body["pow"] = {"t": stamped.t, "nonce": stamped.nonce}
        asked = Request(
            f"http://127.0.0.1:{self._port}/v1/teams",
            json.dumps(body).encode(),
            {"X-Forwarded-For": f"10.0.0.{number}"},
        )
        with urlopen(asked, timeout=20) as answer:
            assert json.load(answer) == {"teamId": team.id}
        return team


@contextmanager
def running(directory: Path) -> Iterator[RelayProcess]:
    """A relay that runs for the length of a `with` block."""
    relay = RelayProcess(directory)
    try:
        yield relay
    finally:
        relay.close()


class ServedFarSide(FarSide):
    """A team of its own on a relay that others use too."""

    def __init__(self, relay: RelayProcess, folder: Path) -> None:
        self._relay = relay
        self._folder = folder
        self.members = Members(relay.team(), self._open, folder)

    def author(self, replica: str) -> Author:
        return self.members.author(replica)

    def open(self, author: Author, machine: str) -> Transport:
        return self.members.transport(author, machine)

    def cut(self) -> None:
        self._relay.network.close_door()

    def mend(self) -> None:
        self._relay.network.open_door()

    def backup(self) -> Callable[[], None]:
        copy = self._folder / "copy.db"
        self._relay.backup(copy)
        return lambda: self._relay.restore(copy)

    def _open(self, me: Me, directory: Path) -> Transport:
        return transport_to(self._relay.url, directory, me)
