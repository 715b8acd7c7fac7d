"""Replicas with their stores use a relay that is killed while they sync, and that an older backup replaces (T2)."""

import json
import multiprocessing
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random

from crypto.keys import team_id
from crypto.op import read_entry
from replica.node import DirectoryNode
from replica.ways import Myself
from tests.replica.transports.places import own_lines
from tests.replica.world import Machine, world
from tests.transports.relay import test_killed
from tests.transports.relay.client.me import transport_to
from tests.transports.relay.client.standin import free_port
from transports.base import Unreachable
from transports.relay.server.registration import Registrar, Status
from transports.relay.server.settings import Settings
from transports.relay.server.shell.serve import DATABASE
from transports.relay.server.sqlite import SqliteStore, backup

KILLS = 12
BACKED_UP, RESTORED = 3, 8


class Relay:
    """A relay in a process of its own, which can be killed, at an address that stays."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}"
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([test_killed.__name__])
        self._process: BaseProcess | None = None

    def register(self, founder: Machine) -> None:
        """Hold the team of which this machine's log founds the beginning."""
        key, found, *rest = (json.loads(line) for line in own_lines(founder))
        body = json.dumps({"key": key, "found": found, "ops": rest}).encode()
        store = SqliteStore(self.directory / DATABASE)
        registrar = Registrar(Settings(self.url, difficulty=0), store, founder.clock)
        assert registrar.register(body, None).status is Status.NEW
        store.close()

    def start(self) -> None:
        ready = self._context.Event()
        self._process = self._context.Process(
            target=test_killed.run, args=(str(self.directory), self.port, ready)
        )
        self._process.start()
        assert ready.wait(60)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()

    @contextmanager
    def killed_after(self, seconds: float) -> Iterator[None]:
        """Die so long after the block begins, and run again after it."""
        timer = threading.Timer(seconds, self.kill)
        timer.start()
        yield
        timer.join()
        self.start()


def test_t2_no_mail_is_lost_or_doubled_by_kills_while_replicas_sync_and_by_an_older_backup(
    tmp_path: Path,
) -> None:
    random, relay, copy = Random(5), Relay(tmp_path / "relay"), tmp_path / "copy.db"
    with world(tmp_path / "team") as w:
        machines = w.team("ada", "bob", "cy")
        ada, interrupted = machines[0], 0
        for _ in range(3):
            for machine in machines:
                machine.sync()
        relay.register(ada)
        relay.start()
        try:
            for machine in machines:
                assert isinstance(machine.node, DirectoryNode)
                member = Myself(machine.node)
                assert member.team() == team_id(read_entry(own_lines(ada)[1]).hash)
                transport = transport_to(relay.url, machine.directory.root / "relay", member)
                w.stack.callback(transport.close)
                machine.transport = transport
            sent: dict[str, list[str]] = {machine.node.handle: [] for machine in machines}
            for kill in range(KILLS):
                with relay.killed_after(random.random() * 0.15):
                    for machine in random.sample(machines, 3):
                        for other in machines:
                            if other is not machine:
                                text = f"{machine.node.handle} {kill}"
                                machine.send(f"human:{other.node.handle}", text)
                                sent[other.node.handle].append(text)
                        try:
                            machine.sync()
                        except Unreachable:
                            interrupted += 1
                if kill == BACKED_UP:
                    backup(relay.directory / DATABASE, copy)
                if kill == RESTORED:
                    relay.kill()
                    for old in relay.directory.glob(f"{DATABASE}*"):
                        old.unlink()
                    (relay.directory / DATABASE).write_bytes(copy.read_bytes())
                    relay.start()
            assert interrupted
            for _ in range(4):
                for machine in machines:
                    machine.sync()
            for machine in machines:
                assert sorted(machine.bodies()) == sorted(sent[machine.node.handle])
                assert machine.count("unpublished") == 0
                assert not machine.problems()
                assert [read_entry(line).hash for line in machine.lane()] == [
                    read_entry(line).hash for line in own_lines(machine)
                ]
        finally:
            relay.kill()
