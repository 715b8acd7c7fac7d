"""What a relay holds for members that are slow on purpose is bounded for all of them together."""

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from crypto.op import to_line
from tests.transports.relay.people import Person, body_of, found
from tests.transports.relay.process import Served, entered, served
from tests.transports.relay.test_process import memory, raw
from transports.relay.server.shell.held import HELD_BYTES, LARGE_BYTES, Gate, Held

MIB = 2**20


class Client:
    def __init__(self, held: Held) -> None:
        self.held = 0
        self.was_cut = False
        self.all = held

    def holds(self, size: int) -> None:
        self.held = size
        self.all.set(self, size)

    def cut(self) -> None:
        self.was_cut = True


def test_of_too_much_the_part_that_is_held_for_longest_goes_first() -> None:
    held = Held(10 * MIB)
    a, b, c, small = (Client(held) for _ in range(4))
    small.holds(LARGE_BYTES)
    a.holds(4 * MIB)
    b.holds(4 * MIB)
    a.holds(5 * MIB)
    assert not a.was_cut
    c.holds(2 * MIB)
    assert a.was_cut
    assert not any(each.was_cut for each in (b, c, small))
    c.holds(0)
    b.holds(9 * MIB)
    assert not b.was_cut


def test_what_was_given_back_meanwhile_is_nobody_s_fault() -> None:
    held = Held(10 * MIB)
    a, b = Client(held), Client(held)
    a.holds(8 * MIB)
    a.held = 0  # it was read, and nobody has looked since
    b.holds(8 * MIB)
    assert not any(each.was_cut for each in (a, b))


class Inner(asyncio.Protocol):
    def __init__(self) -> None:
        self.got = 0

    def data_received(self, data: bytes) -> None:
        self.got += len(data)


class Pipe(asyncio.Transport):
    def __init__(self, inner: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol: asyncio.BaseProtocol = inner

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self.protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol


def gate(over: Callable[[], None]) -> tuple[Gate, Inner]:
    inner = Inner()
    return Gate(Pipe(inner), Held(), narrow=LARGE_BYTES, over=over), inner


def test_before_a_client_is_known_little_comes_through_however_it_is_cut_up() -> None:
    calls: list[None] = []
    narrow, inner = gate(lambda: calls.append(None))
    for _ in range(200):
        narrow.data_received(b"x" * 1_000)
        narrow.read()
    assert inner.got == LARGE_BYTES // 1_000 * 1_000
    assert calls
    wide, inner = gate(lambda: calls.append(None))
    wide.widen()
    for _ in range(200):
        wide.data_received(b"x" * 1_000)
    assert inner.got == 200_000


@contextmanager
def by_hand(relay: Served, team: str, person: Person) -> Iterator[socket.socket]:
    """A member's WebSocket that answers no ping and reads nothing more."""
    with raw(relay) as sock:
        sock.sendall(
            f"GET /v1/teams/{team} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        nonce = json.loads(b"{" + _until(sock, b"}").partition(b"{")[2])["nonce"]
        key_op = json.loads(to_line(person.key_op()))
        say(sock, t="auth", replica=person.replica, sig=person.prove(team, nonce, relay.url), keyOp=key_op)
        _until(sock, b"ready")
        yield sock


def _until(sock: socket.socket, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        piece = sock.recv(4096)
        assert piece, seen
        seen += piece
    return seen


def say(sock: socket.socket, **frame: Any) -> None:
    data = json.dumps(frame).encode().ljust(126)
    sock.sendall(bytes((0x81, 0xFE)) + len(data).to_bytes(2) + bytes(4) + data)


def connections(relay: Served) -> int:
    """How many the relay says it has."""
    (count,) = re.findall(r"^dmp_relay_connections (\S+)$", relay.get("/metrics")[1], re.MULTILINE)
    return int(float(count))


HALF = bytes((0x81, 0xFF)) + (8 * MIB - 10).to_bytes(8) + bytes(4) + b" " * (7 * MIB)


@pytest.mark.parametrize("how", ["sends half of a long frame", "reads no answer"])
def test_a_hostile_team_fills_no_memory(tmp_path: Path, how: str) -> None:
    people = [Person(f"k{number}", 100 + number) for number in range(2 * HELD_BYTES // (4 * MIB))]
    ada = Person("ada", 1)
    found(ada)
    for person in people:
        person.key_op()
        ada.admit(person)
    with served(tmp_path / "relay") as relay, ExitStack() as stack:
        status, answer = relay.post("/v1/teams", body_of(ada))
        assert status == 201
        team = answer["teamId"]
        bea = Person("bea", 7)
        bea.clock_ms += 5
        other = stack.enter_context(entered(relay, relay.register(bea), bea))
        with entered(relay, team, ada) as wire:
            for _ in range(4):
                wire.publish([ada.task("x" * 900_000)])
        before = memory(relay)
        for person in people:
            sock = stack.enter_context(by_hand(relay, team, person))
            if how == "reads no answer":
                for number in range(3):
                    say(sock, t="pull", id=number, since={})
            else:
                sock.sendall(HALF)
        until = time.monotonic() + 50
        while connections(relay) > len(people):
            assert time.monotonic() < until, "nobody is cut off"
        assert other.publish([bea.task()])["t"] == "stored"
        assert memory(relay) - before < 5 * HELD_BYTES


def test_a_team_that_asks_for_much_keeps_no_other_waiting(tmp_path: Path) -> None:
    """While six members of one team pull megabytes without a pause, another team does more than they do."""
    ada, bea = Person("ada", 1), Person("bea", 7)
    found(ada)
    people = [Person(f"k{number}", 100 + number) for number in range(6)]
    for person in people:
        person.key_op()
        ada.admit(person)
    bea.clock_ms += 5
    pulls, enough = 0, threading.Event()

    def pull(person: Person) -> None:
        nonlocal pulls
        with entered(relay, team, person) as wire:
            while not enough.is_set():
                wire.ask("pull", since={})
                pulls += 1

    with served(tmp_path / "relay") as relay:
        status, answer = relay.post("/v1/teams", body_of(ada))
        assert status == 201
        team = answer["teamId"]
        with entered(relay, team, ada) as wire:
            for _ in range(4):
                wire.publish([ada.task("x" * 900_000)])
        with entered(relay, relay.register(bea), bea) as other:
            threads = [threading.Thread(target=pull, args=(person,)) for person in people]
            for thread in threads:
                thread.start()
            published = 0
            while pulls < 30:
                assert other.publish([bea.task()])["t"] == "stored"
                published += 1
            enough.set()
            for thread in threads:
                thread.join()
    assert published > 30
