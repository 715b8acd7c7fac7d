"""A client written from docs/relay.md alone, with the `websockets` package, and the commands that the page shows."""

import hashlib
import json
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.sync.client import ClientConnection, connect

from crypto.op import Op, to_line
from tests.transports.relay.people import Person, found
from tests.transports.relay.process import served
from transports.relay.frames import Why

PAGE = Path(__file__).parents[3] / "docs" / "relay.md"


def as_json(op: Op) -> dict[str, Any]:
    value = json.loads(to_line(op))
    assert isinstance(value, dict)
    return value


def stamp(team: str, url: str, difficulty: int) -> dict[str, int]:
    t, nonce = int(time.time()), 0
    while True:
        text = "\n".join(("dispatch-relay-reg-v1", team, url, str(t), str(nonce)))
        bits = "".join(f"{byte:08b}" for byte in hashlib.sha256(text.encode()).digest())
        if not bits[:difficulty].strip("0"):
            return {"t": t, "nonce": nonce}
        nonce += 1


class Client:
    """What the page says of a connection, and no more."""

    def __init__(self, url: str, team: str, person: Person) -> None:
        opening = connect(f"{url}/v1/teams/{team}", compression=None, max_size=2**24)
        self.ws: ClientConnection = opening.__enter__()
        self.passed_over: list[dict[str, Any]] = []
        challenge = self.read()
        assert challenge["t"] == "challenge"
        message = "\n".join(("dispatch-relay-v1", url, team, challenge["nonce"]))
        key = Ed25519PrivateKey.from_private_bytes(person.secrets.signer.seed)
        sig = urlsafe_b64encode(key.sign(message.encode())).decode().rstrip("=")
        self.write(t="auth", replica=person.replica, sig=sig, keyOp=as_json(person.key_op()))
        assert self.read() == {"t": "ready"}

    def read(self) -> dict[str, Any]:
        frame = json.loads(self.ws.recv(timeout=20))
        assert isinstance(frame, dict)
        return frame

    def write(self, **frame: Any) -> None:
        self.ws.send(json.dumps(frame))

    def until(self, t: str) -> dict[str, Any]:
        while True:
            frame = self.read()
            if frame["t"] == t:
                return frame
            self.passed_over.append(frame)


def test_somebody_elses_client_registers_connects_publishes_pulls_is_told_and_acknowledges(
    tmp_path: Path,
) -> None:
    with served(tmp_path / "relay", difficulty=8) as relay:
        ada, bob = Person("ada", 1), Person("bob", 2)
        team = found(ada)
        with urllib.request.urlopen(f"http://{relay.listen}/v1/registration") as answer:
            terms = json.loads(answer.read())
        assert terms == {"difficulty": 8, "tokenRequired": False, "tokenAccepted": False}
        key, founding = map(as_json, ada.chain)
        pow_ = stamp(team, relay.url, terms["difficulty"])
        body = json.dumps({"key": key, "found": founding, "ops": [], "pow": pow_}).encode()
        assert relay.post("/v1/teams", body) == (201, {"teamId": team})
        assert relay.post("/v1/teams", body) == (200, {"teamId": team})

        adas = Client(relay.url, team, ada)
        bob.key_op()
        adas.write(t="publish", id="a", ops=[as_json(ada.admit(bob))])
        assert adas.until("stored") == {"t": "stored", "re": "a", "through": 3}
        bobs = Client(relay.url, team, bob)
        bobs.write(t="publish", id=1, ops=[as_json(bob.chain[0])])
        assert bobs.until("stored") == {"t": "stored", "re": 1, "through": 1}
        assert adas.until("ops") == {"t": "ops", "ops": [as_json(bob.chain[0])]}

        mail, note = ada.mail(bob), ada.task()
        adas.write(t="publish", id="b", ops=[as_json(mail), as_json(note)])
        assert bobs.until("ops") == {"t": "ops", "ops": [as_json(mail), as_json(note)]}
        bobs.write(t="pull", id=2, since={ada.replica: 3}, replicas=[ada.replica], later="ignored")
        assert bobs.until("ops") == {"t": "ops", "re": 2, "ops": [as_json(mail), as_json(note)]}
        bobs.write(t="not-yet-known", id=9)
        bobs.write(t="ack", id=3, through={ada.replica: 5})
        assert bobs.until("acknowledged") == {"t": "acknowledged", "re": 3}
        bobs.write(t="pull", id=4, since={ada.replica: 3})
        stub = {name: value for name, value in as_json(mail).items() if name != "sealed"} | {"pruned": True}
        assert bobs.until("ops")["ops"] == [stub, as_json(note), as_json(bob.chain[0])]
        told = [frame for frame in bobs.passed_over if frame["t"] == "presence"]
        online = (told or [bobs.until("presence")])[-1]["online"]
        assert {each["replica"] for each in online} == {ada.replica, bob.replica}

        adas.write(t="publish", id="c", ops=[as_json(ada.sign("task", {}, after=mail))])
        assert re.match(r"behind: ", adas.until("error")["reason"])
        Client(relay.url, team, ada).ws.close()
        assert re.match(r"replaced: ", adas.until("refused")["reason"])
        bobs.ws.close()


def test_every_word_that_a_reason_begins_with_is_on_the_page() -> None:
    assert set(re.findall(r"^\| `([a-z]+)` \| .* \| .* \|$", PAGE.read_text(), re.MULTILINE)) >= {
        each.value for each in Why
    }


def test_the_commands_of_the_page_are_those_there_are() -> None:
    shown = re.findall(r"^(dmp relay (?:.*\\\n)*.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(shown) == 4
    for command in shown:
        words = shlex.split(command.replace("\\\n", " "))
        options = {word for word in words if word.startswith("--")}
        help_ = subprocess.run(
            [sys.executable, "-m", "replica.cli.main", *words[1:3], "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert all(re.search(rf"{option}\b", help_) for option in options), command
    for option, variable in re.findall(r"`(--[a-z-]+)[^|]*\|[^|]*\| `(DMP_[A-Z_]+)`", PAGE.read_text()):
        assert option == "--" + variable.removeprefix("DMP_RELAY_").replace("_", "-").lower()
