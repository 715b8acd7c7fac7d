"""Connected replicas that publish through a relay, many of them in a process of their own.

A load makes teams, registers and connects them, signs all it will say, and waits to be told to go on. It then
publishes at a rate, or as fast as answers come, and notes when each op was in a frame at each other replica.
"""

import asyncio
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection
from random import Random
from time import perf_counter, process_time
from typing import Final

import aiohttp

from crypto.canonical import parse
from transports.base import TransportError
from transports.bench.author import Author, Founding, found
from transports.relay import frames
from transports.relay.address import RelayAddress, auth_message

CONNECTING: Final = 12
"""Connections that are made at once: a relay lets 16 of one source prove themselves at a time."""

DRAIN_SECONDS: Final = 20.0
"""How long what was published may take to arrive, once the last op was sent."""

_PAUSE_SECONDS: Final = 0.001
_CLOCK: Final = re.compile(r'"hlc":"([^"]+)"')
"""Says which op it is: no two have one clock."""

_HINT: Final = '{"t":"ops"'
_STORED: Final = '{"t":"stored"'
_ERROR: Final = '{"t":"error"'


@dataclass(frozen=True, slots=True)
class Load:
    """What one process does. `rate` is in ops a second; 0 for as many as the relay takes, `window` at a time."""

    url: str
    teams: int
    size: int
    ops: int
    """Ops of all its replicas together."""
    rate: float = 0.0
    window: int = 4
    bare: bool = False
    """Whether the far side is no relay and asks nobody who they are."""
    seed: int = 0


@dataclass(slots=True)
class Outcome:
    """What one process saw. Times are in seconds."""

    sent: int = 0
    stored: int = 0
    refused: str = ""
    """Why the first request was refused that was."""
    seconds: float = 0.0
    """From the first publish to the answer to the last."""
    to_others: list[float] = field(default_factory=list)
    """From each publish until its op was in a frame at one other replica."""
    to_answer: list[float] = field(default_factory=list)
    unannounced: int = 0
    """Frames that only said that there is news."""
    cpu: float = 0.0
    """Seconds of the processor that the load took meanwhile."""
    late: float = 0.0
    """By how much the load fell behind its own rate at most."""


class LoadError(Exception):
    """A load could not begin; the text says why."""


@dataclass(slots=True)
class _Client:
    """One connected replica, and the frames it will publish."""

    ws: aiohttp.ClientWebSocketResponse
    ready: deque[tuple[str, str]]
    """Of each publication the clock of its op, and the frame."""


def run(load: Load, parent: Connection) -> None:
    """Be a process that loads a relay: say "ready", wait, send the Outcome. A LoadError is sent in its place."""
    try:
        asyncio.run(_Process(load, parent).run())
    except (LoadError, TransportError, aiohttp.ClientError, OSError) as error:
        parent.send(LoadError(str(error)))
    except KeyboardInterrupt:
        return


class _Process:
    def __init__(self, load: Load, parent: Connection) -> None:
        self._load = load
        self._parent = parent
        self._outcome = Outcome()
        self._sent: dict[str, float] = {}
        self._clients: list[_Client] = []
        self._reading: list[asyncio.Task[None]] = []
        self._last_answer = 0.0

    async def run(self) -> None:
        load = self._load
        teams = [found(load.size, hours=1) for _ in range(load.teams)]
        keys = {author.replica: author.announces() for team in teams for author in team.authors[1:]}
        said = self._signed(teams)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            try:
                for team in teams:
                    await self._enter(http, team, keys, said)
                self._parent.send("ready")
                await asyncio.to_thread(self._parent.recv)
                start, cpu = perf_counter(), process_time()
                self._last_answer = start
                await (self._at_a_rate(start) if load.rate else self._all_at_once())
                await self._drained()
                self._outcome.seconds = self._last_answer - start
                self._outcome.cpu = process_time() - cpu
            finally:
                for task in self._reading:
                    task.cancel()
                await asyncio.gather(*self._reading, return_exceptions=True)
            self._parent.send(self._outcome)

    # Before

    def _signed(self, teams: Sequence[Founding]) -> dict[str, deque[tuple[str, str]]]:
        """Sign everything, mail to one teammate and as many ops for all: of each op its clock, and the frame."""
        random = Random(self._load.seed)
        people = [(author, team) for team in teams for author in team.authors]
        said = {author.replica: deque[tuple[str, str]]() for author, _ in people}
        for number in range(self._load.ops):
            author, team = people[number % len(people)]
            others = [each for each in team.authors if each is not author]
            mail = others and (number // len(people)) % 2
            line = author.writes_to(random.choice(others)) if mail else author.speaks()
            frame = frames.write(frames.Publish(author.clock, frames.carried([line])))
            said[author.replica].append((author.clock, frame))
        return said

    async def _enter(
        self,
        http: aiohttp.ClientSession,
        team: Founding,
        keys: Mapping[str, bytes],
        said: Mapping[str, deque[tuple[str, str]]],
    ) -> None:
        """Register a team and connect all of it."""
        if not self._load.bare:
            body = b'{"key":%b,"found":%b,"ops":[%b]}' % (team.key, team.found, b",".join(team.chain))
            async with http.post(RelayAddress.parse(self._load.url).teams, data=body) as answer:
                if answer.status != 201:
                    raise LoadError(f"the relay registers no team ({answer.status}: {await answer.text()})")
        turns = asyncio.Semaphore(CONNECTING)

        async def connect(author: Author) -> None:
            async with turns:
                begun = [keys[author.replica]] if author.replica in keys else team.chain
                client = _Client(await self._connect(http, team, author, begun), said[author.replica])
            self._clients.append(client)
            self._reading.append(asyncio.create_task(self._read(client)))

        await asyncio.gather(*map(connect, team.authors))

    async def _connect(
        self, http: aiohttp.ClientSession, team: Founding, author: Author, begun: Sequence[bytes]
    ) -> aiohttp.ClientWebSocketResponse:
        """Connect somebody whose chain begins so, which is published."""
        url = self._load.url
        ws = await http.ws_connect(RelayAddress.parse(url).team(team.team), max_msg_size=0, compress=0)
        if not self._load.bare:
            challenge = frames.parse(await ws.receive_str())
            assert isinstance(challenge, frames.Challenge)
            proof = author.proves(auth_message(url, team.team, challenge.nonce))
            auth = frames.Auth(author.replica, proof, frames.Carried.line(begun[0]))
            await ws.send_str(frames.write(auth))
            greeted = frames.parse(await ws.receive_str())
            if not isinstance(greeted, frames.Ready):
                raise LoadError(f"the relay does not let a replica in: {greeted}")
        await ws.send_str(frames.write(frames.Publish("begun", frames.carried(begun))))
        while True:
            answer = frames.parse(await ws.receive_str())
            if isinstance(answer, frames.Stored):
                return ws
            if isinstance(answer, frames.Error | frames.Refused):
                raise LoadError(f"the relay does not take what a chain begins with: {answer.reason}")

    # Then

    async def _at_a_rate(self, start: float) -> None:
        """Publish op after op when each is due, whatever became of those before."""
        rate, ops, sent = self._load.rate, self._load.ops, 0
        turns = self._turns()
        while sent < ops:
            due = min(ops, int((perf_counter() - start) * rate) + 1)
            if due <= sent:
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            self._outcome.late = max(self._outcome.late, perf_counter() - start - sent / rate)
            for client in islice(turns, due - sent):
                await self._publish(client)
            sent = due
            await asyncio.sleep(0)

    def _turns(self) -> Iterator[_Client]:
        """Everybody's turns, in one order again and again, until all is published."""
        order = [*self._clients]
        Random(self._load.seed).shuffle(order)
        while order := [each for each in order if each.ready]:
            yield from order

    async def _all_at_once(self) -> None:
        """Let each replica have a few requests under way; `_read` goes on from there."""
        for client in self._clients:
            for _ in range(min(self._load.window, len(client.ready))):
                await self._publish(client)

    async def _publish(self, client: _Client) -> None:
        clock, text = client.ready.popleft()
        self._sent[clock] = perf_counter()
        self._outcome.sent += 1
        await client.ws.send_str(text)

    async def _read(self, client: _Client) -> None:
        outcome, sent = self._outcome, self._sent
        closed_loop = not self._load.rate
        async for message in client.ws:
            now, text = perf_counter(), message.data
            if text.startswith(_HINT):
                ops = _CLOCK.findall(text)
                outcome.unannounced += not ops
                for op in ops:
                    start = sent.get(op)
                    if start is not None:
                        outcome.to_others.append(now - start)
            elif text.startswith(_STORED):
                answer = parse(text).value
                assert isinstance(answer, dict)
                start = sent.get(str(answer["re"]))
                if start is not None:
                    outcome.stored += 1
                    outcome.to_answer.append(now - start)
                    self._last_answer = now
                    if closed_loop and client.ready:
                        await self._publish(client)
            elif text.startswith(_ERROR):
                outcome.refused = outcome.refused or text

    async def _drained(self) -> None:
        """Wait until everything arrived everywhere, for a while."""
        outcome, load = self._outcome, self._load
        until = perf_counter() + DRAIN_SECONDS
        seen = 0
        while outcome.stored < load.ops and not outcome.refused:
            if outcome.stored != seen:
                seen, until = outcome.stored, perf_counter() + DRAIN_SECONDS
            if perf_counter() > until:
                break
            await asyncio.sleep(0.02)
        others = 0 if load.bare else load.size - 1
        until = perf_counter() + DRAIN_SECONDS
        while len(outcome.to_others) < outcome.stored * others and perf_counter() < until:
            if outcome.unannounced:
                until = min(until, perf_counter() + 1.0)  # what such a frame stands for is not waited for
            await asyncio.sleep(0.02)
