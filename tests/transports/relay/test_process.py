"""A relay as a process: many clients, bad clients, its end, its backup, its log (wire 7.11)."""

import gzip
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from shutil import SameFileError
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from crypto.op import to_line
from tests.transports.relay.people import Person, body_of, found
from tests.transports.relay.process import Served, Wire, entered, served
from transports.relay.server.shell.doors import PROVING_PER_SOURCE, UNPROVEN_BYTES
from transports.relay.server.sqlite import SqliteStore, backup
from transports.relay.server.store import NewTeam


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("relay") / "state") as relay:
        yield relay


NUMBERS = count(1)
"""Of founders: no two tests that share a relay register one team."""


@pytest.fixture
def ada() -> Person:
    return Person("ada", next(NUMBERS))


@pytest.fixture
def team(relay: Served, ada: Person) -> str:
    team = found(ada)
    status, _ = relay.post("/v1/teams", body_of(ada))
    assert status == 201
    return team


def memory(relay: Served) -> int:
    """The memory the process holds, in bytes."""
    for line in Path(f"/proc/{relay.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise AssertionError


def raw(relay: Served) -> socket.socket:
    host, _, port = relay.listen.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def upgrade(relay: Served, team: str) -> socket.socket:
    """Open a WebSocket by hand, and read up to the challenge."""
    sock = raw(relay)
    sock.sendall(
        f"GET /v1/teams/{team} HTTP/1.1\r\nHost: {relay.listen}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    seen = b""
    while b"challenge" not in seen:
        seen += sock.recv(4096)
    return sock


def is_closed(sock: socket.socket, seconds: float = 20) -> bool:
    sock.settimeout(seconds)
    with suppress(ConnectionError):
        while sock.recv(65536):
            pass
    return True


def test_what_is_not_served_is_said_in_http(relay: Served, team: str) -> None:
    assert relay.get("/healthz") == (200, "ok\n")
    assert relay.get("/readyz") == (200, "ok\n")
    assert relay.get("/elsewhere")[0] == 404
    assert relay.get(f"/v1/teams/{team}")[0] == 426
    for unknown in ("0" * 32, "x", team.upper() + "0"):
        with pytest.raises(InvalidStatus) as refused, connect(f"{relay.url}/v1/teams/{unknown}"):
            pass
        assert refused.value.response.status_code == 404
    assert relay.post("/v1/teams", b"{}")[0] == 400


def test_what_happens_is_counted_without_names(relay: Served, ada: Person, team: str) -> None:
    with entered(relay, team, ada) as wire:
        wire.publish([ada.task()])
        status, text = relay.get("/metrics")
    assert status == 200
    assert "dmp_relay_ops_stored_total" in text
    assert "dmp_relay_commit_seconds_count" in text
    assert ada.replica not in text
    assert team not in text


BAD_FRAMES: list[tuple[str | bytes, str]] = [
    ("{", "invalid"),
    ("[]", "invalid"),
    ('{"t":"pull","id":1,"since":{}}', "invalid"),
    ('{"t":"auth","replica":"../../x","sig":""}', "invalid"),
    ('{"t":"auth","replica":"eve-00000009","sig":"AAAA"}', "unknown"),
    (b"\x00\x01", "invalid"),
    ("[" * 50_000, "invalid"),
    ('{"t":"later","x":"' + "x" * UNPROVEN_BYTES + '"}', "limited"),
]


@pytest.mark.parametrize(("frame", "word"), BAD_FRAMES)
def test_malformed_and_unauthenticated_clients_are_refused(
    relay: Served, ada: Person, team: str, frame: str | bytes, word: str
) -> None:
    with Wire(relay, team, ada) as wire:
        assert wire.read()["t"] == "challenge"
        wire.ws.send(frame)
        assert wire.read()["reason"].startswith(f"{word}: ")
        with pytest.raises(ConnectionClosed):
            wire.read()


def test_7_11_a_frame_over_8_mib_ends_the_connection_and_one_below_does_not(
    relay: Served, ada: Person, team: str
) -> None:
    with entered(relay, team, ada) as wire:
        wire.ws.send('{"t":"later","x":"' + "x" * (8 * 2**20 - 100) + '"}')
        assert wire.publish([ada.task()])["t"] == "stored"
        with suppress(ConnectionClosed):
            wire.ws.send('{"t":"later","x":"' + "x" * (8 * 2**20) + '"}')
        with pytest.raises(ConnectionClosed) as closed:
            wire.answer()
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


def test_a_body_that_is_too_long_or_compressed_is_not_unpacked(relay: Served) -> None:
    with raw(relay) as sock, suppress(ConnectionError):
        sock.sendall(b"POST /v1/teams HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n")
        sock.sendall(b"x" * 9_000_000)
        assert sock.recv(4096).startswith(b"HTTP/1.1 413")
    before = memory(relay)
    bomb = gzip.compress(bytes(200 * 2**20), 1)
    head = (
        f"POST /v1/teams HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n"
    )
    with raw(relay) as sock:
        sock.sendall(head.encode() + bomb)
        assert sock.recv(4096).startswith(b"HTTP/1.1 400")
    assert memory(relay) - before < 64 * 2**20


def test_invalid_utf_8_ends_the_connection(relay: Served, ada: Person, team: str) -> None:
    with Wire(relay, team, ada) as wire:
        wire.ws.send(b"\xff\xfe", text=True)
        assert wire.read()["t"] == "challenge"
        with pytest.raises(ConnectionClosed):
            wire.read()


def test_slow_and_silent_clients_are_cut_off_in_time_and_hinder_nobody(tmp_path: Path) -> None:
    """Sockets that say nothing, requests that come byte by byte, WebSockets that never prove anything."""
    with served(tmp_path / "relay", module="tests.transports.relay.hasty") as relay, ExitStack() as stack:
        ada = Person("ada", 1)
        team = relay.register(ada)
        wire = stack.enter_context(entered(relay, team, ada))
        before = memory(relay)
        silent = [stack.enter_context(raw(relay)) for _ in range(50)]
        dribbling = [stack.enter_context(raw(relay)) for _ in range(50)]
        for sock in dribbling:
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        posting = [stack.enter_context(raw(relay)) for _ in range(3)]
        for sock in posting:
            sock.sendall(
                b"POST /v1/teams HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n" + b"x" * 1000
            )
        unproven = [stack.enter_context(upgrade(relay, team)) for _ in range(PROVING_PER_SOURCE)]
        half = bytes([0x81, 0xFF]) + (7 * 2**20).to_bytes(8) + bytes(4)
        for sock in unproven:
            sock.sendall(half + b"x" * 100_000)
        start = time.monotonic()
        assert wire.publish([ada.task()])["t"] == "stored"
        assert relay.get("/readyz")[0] == 200
        assert time.monotonic() - start < 5
        assert memory(relay) - before < 64 * 2**20
        for sock in silent + dribbling + unproven + posting:
            assert is_closed(sock)
        bob = Person("bob", 2)
        bob.key_op()
        assert wire.publish([ada.admit(bob)])["t"] == "stored"
        stack.enter_context(entered(relay, team, bob))


def test_a_client_that_does_not_read_holds_up_nobody_and_memory_stays_bounded(
    relay: Served, ada: Person, team: str
) -> None:
    with entered(relay, team, ada) as wire, ExitStack() as stack:
        others = [Person(f"b{number}", 100 + number) for number in range(10)]
        for other in others:
            other.key_op()
        wire.publish([ada.admit(other) for other in others])
        deaf = [stack.enter_context(entered(relay, team, other)) for other in others[:-1]]
        reader = stack.enter_context(entered(relay, team, others[-1]))
        for other, each in zip(others, deaf, strict=False):
            assert each.publish(other.chain)["t"] == "stored"
        for each in deaf:
            each.ws.recv_bufsize = 1
            for number in range(40):  # each answer is megabytes that nobody reads
                each.write(t="pull", id=number, since={})
        before = memory(relay)
        for _ in range(30):
            assert wire.publish([ada.task("x" * 200_000)])["t"] == "stored"
        answer = reader.ask("pull", since={ada.replica: len(ada.chain) - 1})
        assert [each["seq"] for each in answer["ops"] if each["replica"] == ada.replica] == [len(ada.chain)]
        assert memory(relay) - before < 100 * 2**20
        for each in deaf:
            each.ws.socket.close()


def test_100_clients_of_10_teams_get_each_others_ops(tmp_path: Path) -> None:
    with served(tmp_path / "relay") as relay:
        live_in_10_teams(relay)


def live_in_10_teams(relay: Served) -> None:
    teams: list[tuple[str, list[Person]]] = []
    for number in range(10):
        founder = Person(f"f{number}", 10 + number)
        members = [Person(f"m{number}-{each}", 20 + each) for each in range(9)]
        team = found(founder)
        for member in members:
            member.key_op()
            founder.admit(member)
        assert relay.post("/v1/teams", body_of(founder))[0] == 201
        teams.append((team, [founder, *members]))
    got: dict[str, int] = {}

    def live(team: str, person: Person) -> None:
        with entered(relay, team, person) as wire:
            wire.publish(person.chain)
            for _ in range(3):
                wire.publish([person.task()])
            everybody.wait(60)
            since: dict[str, int] = {}
            while True:
                answer = wire.ask("pull", since=since)
                for op in answer["ops"]:
                    since[op["replica"]] = op["seq"]
                if not answer.get("more"):
                    break
            got[person.replica] = sum(since.values())
            finished.wait(60)

    everybody = finished = threading.Barrier(100)
    threads = [threading.Thread(target=live, args=(team, each)) for team, people in teams for each in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _, people in teams:
        expected = sum(len(each.chain) for each in people)
        assert [got.get(each.replica) for each in people] == [expected] * 10


# Its end


def test_sigterm_finishes_what_was_begun_and_tells_everybody(tmp_path: Path) -> None:
    directory = tmp_path / "relay"
    with served(directory) as relay:
        ada = Person("ada", 1)
        team = relay.register(ada)
        with entered(relay, team, ada) as wire:
            for _ in range(20):
                wire._request += 1
                wire.write(t="publish", id=wire._request, ops=[json.loads(to_line(ada.task()))])
            stored = {wire.answer()["through"]}
            assert relay.stop() == 0
            said: list[dict[str, Any]] = []
            with suppress(ConnectionClosed):
                while True:
                    said.append(wire.read())
            assert said[-1]["reason"].startswith("closing: ")
            stored |= {each["through"] for each in said if each["t"] == "stored"}
    with served(directory) as again, entered(again, team, ada) as wire:
        answer = wire.ask("pull", since={})
        assert max(each["seq"] for each in answer["ops"]) >= max(stored)


def test_one_relay_runs_in_a_directory(tmp_path: Path) -> None:
    with served(tmp_path / "relay"):
        arguments = ["relay", "serve", "--dir", str(tmp_path / "relay"), "--listen", "127.0.0.1:0", "--json"]
        second = subprocess.run(
            [sys.executable, "-m", "replica.cli.main", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    assert second.returncode == 1
    assert "another relay runs" in json.loads(second.stdout)["error"]["message"]


def test_a_backup_made_while_the_relay_runs_is_a_relay(tmp_path: Path) -> None:
    with served(tmp_path / "relay") as relay:
        ada = Person("ada", 1)
        team = relay.register(ada)
        with entered(relay, team, ada) as wire:
            wire.publish([ada.task()])
            target = tmp_path / "restored" / "relay.db"
            target.parent.mkdir()
            arguments = ["relay", "backup", str(target), "--dir", str(tmp_path / "relay"), "--json"]
            made = subprocess.run(
                [sys.executable, "-m", "replica.cli.main", *arguments],
                capture_output=True,
                text=True,
                check=True,
            )
            assert json.loads(made.stdout)["bytes"] == target.stat().st_size
            wire.publish([ada.task()])
    with served(target.parent) as relay, entered(relay, team, ada) as wire:
        assert len(wire.ask("pull", since={})["ops"]) == 3
        assert wire.publish(ada.chain)["through"] == 4


def test_a_backup_into_a_folder_that_is_not_there_names_the_folder(tmp_path: Path) -> None:
    database = tmp_path / "relay.db"
    SqliteStore(database).close()
    with pytest.raises(OSError, match=r"/none takes no file \(No such file or directory\)$") as error:
        backup(database, tmp_path / "none" / "copy.db")
    assert "part" not in str(error.value)


def test_a_backup_that_was_killed_leaves_the_one_before_and_does_not_hinder_the_next(tmp_path: Path) -> None:
    database, target = tmp_path / "relay.db", tmp_path / "copy.db"
    store = SqliteStore(database)
    backup(database, target)
    before = target.read_bytes()
    store.write([NewTeam("0" * 32, "f" * 64, 1)], 1)
    killed = "import os; from pathlib import Path; from transports.relay.server import sqlite\n"
    killed += "sqlite.Path.replace = lambda *_: os.kill(os.getpid(), 9)\n"
    killed += f"sqlite.backup(Path({str(database)!r}), Path({str(target)!r}))"
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == -9
    assert target.read_bytes() == before
    backup(database, target)
    store.close()
    again = SqliteStore(target)
    assert again.teams() == 1
    again.close()
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".part")] == []


def test_no_backup_takes_the_place_of_the_file_a_relay_writes_to(tmp_path: Path) -> None:
    database, link = tmp_path / "relay.db", tmp_path / "copy.db"
    store = SqliteStore(database)
    link.symlink_to(database)
    before = database.stat().st_ino
    for target in (database, link):
        with pytest.raises(SameFileError, match="name another one"):
            backup(database, target)
    store.close()
    assert database.stat().st_ino == before
    assert link.is_symlink()


def test_what_a_relay_keeps_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "relay.db")
    modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    store.close()
    assert modes == dict.fromkeys(["relay.db", "relay.db-shm", "relay.db-wal"], 0o600)


def test_a_relay_whose_address_is_taken_says_what_helps(relay: Served, tmp_path: Path) -> None:
    arguments = ["relay", "serve", "--dir", str(tmp_path), "--listen", relay.listen, "--json"]
    second = subprocess.run(
        [sys.executable, "-m", "replica.cli.main", *arguments], capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    told = json.loads(second.stdout)["error"]["message"]
    assert told == f"{relay.listen} is in use; give another address with --listen"


def test_a_log_holds_no_secrets(tmp_path: Path) -> None:
    token = tmp_path / "tokens"
    token.write_text("s3cret-token\n")
    options = ("--token-file", str(token), "--token-required")
    with served(tmp_path / "relay", *options) as relay:
        ada = Person("ada", 1)
        team = found(ada)
        assert relay.post("/v1/teams", body_of(ada))[0] == 401
        assert relay.post("/v1/teams", body_of(ada), "wr0ng-token")[0] == 401
        assert relay.post("/v1/teams", body_of(ada), "s3cret-token")[0] == 201
        with entered(relay, team, ada) as wire:
            op = ada.task("a private title")
            wire.publish([op])
            wire.ws.send("{")
            with suppress(ConnectionClosed):
                wire.answer()
        assert relay.stop() == 0
        log = relay.log.read_text()
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert events == ["started", "team_registered", "connection_refused", "closing", "stopped"]
    for secret in ("token", "private", op.sig, "nonce"):
        assert secret not in log


# Its place on the network


def test_tls_by_flags_and_metrics_on_an_address_of_their_own(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    options = ("--tls-cert", str(certificate), "--tls-key", str(key), "--url", "wss://localhost/relay/")
    with served(tmp_path / "relay", *options, "--metrics", "127.0.0.1:0") as relay:
        assert relay.url == "wss://localhost/relay"
        context = ssl.create_default_context(cafile=str(certificate))
        with raw(relay) as plain, context.wrap_socket(plain, server_hostname="localhost") as tls:
            tls.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert tls.recv(4096).startswith(b"HTTP/1.1 404")
        ada = Person("ada", 1)
        team = found(ada)
        with raw(relay) as plain, context.wrap_socket(plain, server_hostname="localhost") as tls:
            body = body_of(ada)
            tls.sendall(
                b"POST /v1/teams HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            assert tls.recv(4096).startswith(b"HTTP/1.1 201")
        with connect(f"wss://localhost:{relay.listen.rpartition(':')[2]}/v1/teams/{team}", ssl=context) as ws:
            nonce = json.loads(ws.recv())["nonce"]
            sig = ada.prove(team, nonce, relay.url)
            ws.send(json.dumps({"t": "auth", "replica": ada.replica, "sig": sig}))
            assert json.loads(ws.recv()) == {"t": "ready"}


def make_certificate(certificate: Path, key: Path) -> None:
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ed25519",
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            *subject,
        ],
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize(
    "options",
    [
        ("--listen", "0.0.0.0:0"),
        ("--listen", "nowhere"),
        ("--url", "ws://relay.example.org"),
        ("--tls-cert", "x"),
        ("--token-required",),
        ("--token-file", "/nonexistent"),
        ("--difficulty", "27"),
    ],
)
def test_options_that_cannot_be_are_said_before_anything_is_opened(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    from click.testing import CliRunner

    from replica.cli.context import Cli
    from replica.cli.relay import relay

    result = CliRunner().invoke(relay, ["serve", "--dir", str(tmp_path / "relay"), *options], obj=Cli())
    assert result.exit_code == 2
    assert not (tmp_path / "relay").exists()
