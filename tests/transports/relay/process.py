"""A relay as a process, and a client that is the `websockets` package and nothing of this project's own."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from crypto.op import Op, to_line
from tests.transports.relay.people import Person, body_of, found


@dataclass
class Served:
    """A relay that runs."""

    process: subprocess.Popen[str]
    listen: str
    url: str
    log: Path

    @property
    def http(self) -> str:
        return f"http://{self.listen}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def get(self, path: str) -> tuple[int, str]:
        return self._ask(urllib.request.Request(self.http + path))

    def post(self, path: str, body: bytes, token: str | None = None) -> tuple[int, Any]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        status, text = self._ask(urllib.request.Request(self.http + path, body, headers))
        return status, json.loads(text)

    def register(self, founder: Person) -> str:
        team = found(founder)
        status, answer = self.post("/v1/teams", body_of(founder))
        assert (status, answer) == (201, {"teamId": team})
        return team

    @staticmethod
    def _ask(request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@contextmanager
def served(
    directory: Path,
    *options: str,
    listen: str = "127.0.0.1:0",
    difficulty: int = 0,
    module: str = "replica.cli.main",
) -> Iterator[Served]:
    """Run a relay in a directory; it is killed in the end if it still runs."""
    log = directory.with_suffix(".log")
    arguments = ["relay", "serve", "--json", "--dir", str(directory), "--listen", listen, "--log", "json"]
    arguments += ["--difficulty", str(difficulty), *options]
    with log.open("a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    try:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        yield Served(process, said["listen"], said["url"], log)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


class Wire:
    """One WebSocket, spoken as docs/relay.md says."""

    def __init__(self, served: Served, team: str, person: Person) -> None:
        self.served = served
        self.team = team
        self.person = person
        opening = connect(
            f"ws://{served.listen}/v1/teams/{team}", max_size=2**24, compression=None, close_timeout=2
        )
        self.ws: ClientConnection = opening.__enter__()
        self.hints: list[dict[str, Any]] = []
        self._request = 0

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self.ws.close()

    def read(self) -> dict[str, Any]:
        frame = json.loads(self.ws.recv(timeout=20))
        assert isinstance(frame, dict)
        return frame

    def write(self, **frame: Any) -> None:
        self.ws.send(json.dumps(frame))

    def enter(self) -> dict[str, Any]:
        challenge = self.read()
        sig = self.person.prove(self.team, challenge["nonce"], self.served.url)
        key_op = json.loads(to_line(self.person.key_op()))
        self.write(t="auth", replica=self.person.replica, sig=sig, keyOp=key_op)
        return self.read()

    def ask(self, t: str, **members: Any) -> dict[str, Any]:
        self._request += 1
        self.write(t=t, id=self._request, **members)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        while True:
            frame = self.read()
            if "re" in frame or frame["t"] == "refused":
                return frame
            self.hints.append(frame)

    def publish(self, ops: Sequence[Op]) -> dict[str, Any]:
        return self.ask("publish", ops=[json.loads(to_line(op)) for op in ops])


def entered(served: Served, team: str, person: Person) -> Wire:
    """Connect somebody who is let in."""
    wire = Wire(served, team, person)
    said = wire.enter()
    assert said == {"t": "ready"}, said
    return wire
