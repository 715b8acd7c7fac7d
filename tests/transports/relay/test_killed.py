"""A relay is killed under load, again and again, and once an older backup takes its place (T2, wire 7.11).

No op that a replica was told is stored is lost to the team, and none is there twice. The clients do what
docs/relay.md says: after connecting they pull their own lane and publish what is missing.
"""

import json
import multiprocessing
import os
import shutil
import socket
import threading
from contextlib import suppress
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from crypto.op import to_line
from tests.transports.relay.people import Person, body_of, found
from transports.relay.server.registration import Registrar, Status
from transports.relay.server.settings import Settings
from transports.relay.server.shell.serve import Address, Place, configure_log, serve
from transports.relay.server.sqlite import SqliteStore, backup

KILLS = 50
BACKED_UP, RESTORED = 15, 35
OPS_A_LIFE = 12


def run(directory: str, port: int, ready: Event) -> None:
    """One life of the relay, in a process of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    configure_log(as_json=True)
    serve(
        Settings(f"ws://127.0.0.1:{port}", ops_per_minute=1_000_000),
        Place(Path(directory), Address("127.0.0.1", port)),
        lambda *_: ready.set(),
    )


class Replica(threading.Thread):
    """Publishes one op after another for as long as it is told to, and reads everybody's."""

    def __init__(self, url: str, team: str, person: Person) -> None:
        super().__init__()
        self.url = url
        self.team = team
        self.person = person
        self.told = 0
        """The last of its ops that it was told is stored."""
        self.lost: list[int] = []
        """Ops that it was told are stored, and that were not there when it came back."""
        self.stop = threading.Event()
        self.lives = 0
        self.restored = threading.Event()
        """Set while an older backup has taken the relay's place since the last life."""

    def run(self) -> None:
        while not self.stop.is_set():
            with suppress(ConnectionClosed, InvalidHandshake, OSError, EOFError, TimeoutError):
                self._live()

    def _live(self) -> None:
        address = f"{self.url}/v1/teams/{self.team}"
        with connect(address, compression=None, open_timeout=5, close_timeout=1, max_size=2**24) as ws:
            nonce = json.loads(ws.recv(timeout=10))["nonce"]
            sig = self.person.prove(self.team, nonce, self.url)
            key_op = json.loads(to_line(self.person.chain[0]))
            ws.send(json.dumps({"t": "auth", "replica": self.person.replica, "sig": sig, "keyOp": key_op}))
            assert json.loads(ws.recv(timeout=10)) == {"t": "ready"}
            self.lives += 1
            stored, more = 0, True
            while more:
                mine = {self.person.replica: stored}
                ws.send(json.dumps({"t": "pull", "id": 0, "since": mine, "replicas": list(mine)}))
                while (answer := json.loads(ws.recv(timeout=10))).get("re") != 0:
                    pass
                stored = max([stored, *(op["seq"] for op in answer["ops"])])
                more = answer.get("more", False)
            if self.restored.is_set():
                self.restored.clear()
                self.told = 0
            self.lost += range(stored + 1, self.told + 1)
            while not self.stop.is_set() or stored < len(self.person.chain):
                if stored == len(self.person.chain):
                    self.person.task()
                ops = [json.loads(to_line(op)) for op in self.person.chain[stored:]][:500]
                ws.send(json.dumps({"t": "publish", "id": 1, "ops": ops}))
                while (answer := json.loads(ws.recv(timeout=10))).get("re") != 1:
                    pass
                assert answer["t"] == "stored", answer
                stored = answer["through"]
                self.told = max(self.told, stored)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_t2_nothing_stored_is_lost_or_doubled_by_50_kills_and_an_older_backup(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    directory, copy = tmp_path / "relay", tmp_path / "backup.db"
    directory.mkdir()
    url = f"ws://127.0.0.1:{port}"
    people = [Person("ada", 1), Person("bob", 2), Person("cy", 3)]
    team = found(people[0])
    for person in people[1:]:
        person.key_op()
        people[0].admit(person)
    store = SqliteStore(directory / "relay.db")
    registrar = Registrar(Settings(url, difficulty=0), store, lambda: people[0].clock_ms)
    assert registrar.register(body_of(people[0]), None).status is Status.NEW
    store.close()

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    replicas = [Replica(url, team, person) for person in people]

    def begin() -> ForkServerProcess:
        ready = context.Event()
        process = context.Process(target=run, args=(str(directory), port, ready))
        process.start()
        assert ready.wait(60)
        return process

    def wait_for(ops: int) -> None:
        """Wait until the replicas were told of so many more ops."""
        goal = sum(each.told for each in replicas) + ops
        tries = threading.Event()
        while sum(each.told for each in replicas) < goal and all(each.is_alive() for each in replicas):
            tries.wait(0.002)

    process = begin()
    try:
        for replica in replicas:
            replica.start()
        for kill in range(KILLS):
            wait_for(OPS_A_LIFE)
            if kill == BACKED_UP:
                backup(directory / "relay.db", copy)
            process.kill()
            process.join()
            if kill == RESTORED:
                shutil.rmtree(directory)
                directory.mkdir()
                shutil.copy(copy, directory / "relay.db")
                for replica in replicas:
                    replica.restored.set()
            process = begin()
        wait_for(OPS_A_LIFE)
        for replica in replicas:
            replica.stop.set()
        for replica in replicas:
            replica.join(60)
        assert [replica.told for replica in replicas] == [len(person.chain) for person in people]
        assert [replica.lost for replica in replicas] == [[], [], []]
        assert all(replica.lives > KILLS // 2 for replica in replicas)
        process.terminate()
        process.join()
        assert process.exitcode == 0
    finally:
        for replica in replicas:
            replica.stop.set()
        process.kill()
        process.join()
    store = SqliteStore(directory / "relay.db")
    for person in people:
        read = store.read(team, person.replica, 0, ops=100_000, size=2**30)
        assert [op.line for op in read] == [to_line(op).decode() for op in person.chain]
    store.close()
