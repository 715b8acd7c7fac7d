"""The relay's helper looks at ops in a process of its own, and whatever becomes of it, what is stored is the same."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from time import monotonic, sleep

import pytest

from crypto.chain import is_signed
from crypto.op import Unverified, to_line
from tests.transports.relay.people import Desk, Person, refused
from tests.transports.relay.process import entered, served
from transports.relay import frames
from transports.relay.frames import Carried, Frame, Why, carried, write
from transports.relay.server import publication
from transports.relay.server.publication import Examined, PublicationError, Sound, examining, sound
from transports.relay.server.shell import helper as helper_module
from transports.relay.server.shell.helper import Helper
from transports.relay.server.shell.metrics import Metrics
from transports.relay.server.shell.pipeline import Pipeline


def looked_at(person: Person, ops: Sequence[Carried]) -> dict[int, Sound]:
    found = (sound(person.replica, person.key.sign_key, op.text) for op in ops)
    return {number: each for number, each in enumerate(found) if each is not None}


def examined(person: Person, ops: Sequence[Carried], ahead: dict[int, Sound]) -> Examined | str:
    steps = examining(person.replica, None, person.key, ops, {}, ahead)
    try:
        while True:
            next(steps)
    except StopIteration as done:
        found: Examined = done.value
        return found
    except PublicationError as error:
        return error.reason


def in_a_frame(lines: Sequence[bytes]) -> tuple[Carried, ...]:
    frame = frames.parse(write(frames.Publish(1, carried(lines))))
    assert isinstance(frame, frames.Publish)
    return frame.ops


def chain() -> tuple[Person, list[bytes]]:
    ada, bob = Person("ada", 1), Person("bob", 2)
    ada.key_op()
    ops = [
        ada.chain[0],
        ada.task("é \N{GRINNING FACE} \\ \x07"),
        ada.mail(bob),
        ada.admit(bob),
        ada.run("r-0123456789"),
    ]
    return ada, [*map(to_line, ops), to_line(ada.mail(bob).stub())]


def test_what_was_looked_at_ahead_is_stored_as_what_was_not() -> None:
    ada, lines = chain()
    ops = in_a_frame(lines)
    ahead = looked_at(ada, ops)
    assert sorted(ahead) == [1, 2, 4, 5]  # not what says something of the team
    without = examined(ada, ops, {})
    assert isinstance(without, Examined)
    assert examined(ada, ops, ahead) == without


def other_text(line: bytes) -> bytes:
    return line.replace(b'"title":"', b'"title":"x')


def other_signature(line: bytes) -> bytes:
    at = line.index(b'"sig":"') + 7
    return line[:at] + (b"B" if line[at : at + 1] == b"A" else b"A") + line[at + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        other_text,
        other_signature,
        lambda line: line.replace(b'"ada-', b'"eve-'),
        lambda line: line.replace(b'"v":2', b'"v":2,"v":2'),
        lambda line: line.replace(b'"v":2', b'"v":3'),
        lambda line: line.replace(b'"title"', b'"\\ud800"'),
        lambda line: line[:-1],
        lambda line: b"[" * 100_000,
        lambda line: b"1",
    ],
)
def test_nothing_is_said_ahead_of_an_op_with_which_something_is_wrong(
    change: Callable[[bytes], bytes],
) -> None:
    ada, lines = chain()
    changed = change(lines[1])
    assert changed != lines[1]
    assert sound(ada.replica, ada.key.sign_key, lines[1].decode()) is not None
    assert sound(ada.replica, ada.key.sign_key, changed.decode()) is None


def test_what_was_looked_at_ahead_still_has_to_follow_its_lane() -> None:
    ada, lines = chain()
    ops = in_a_frame([lines[0], lines[2], lines[1]])
    without = examined(ada, ops, {})
    assert isinstance(without, str)
    assert examined(ada, ops, looked_at(ada, ops)) == without


class Bench:
    """A pipeline with a helper, and how many signatures it has checked itself."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk = desk
        self.line = desk.line(desk.founder)
        self.helper = Helper()
        self.pipeline = Pipeline(desk.relay, Metrics(), self.helper)
        self.checked = 0

        def counted(read: Unverified, key: bytes) -> bool:
            self.checked += 1
            return is_signed(read, key)

        monkeypatch.setattr(publication, "is_signed", counted)

    async def publish(self, lines: Sequence[bytes]) -> Frame:
        self.checked = 0
        self.line.session.receive(write(frames.Publish(1, carried(lines))))
        await self.pipeline.drain()
        (answer,) = [each for each in self.line.listen() if getattr(each, "re", None) == 1]
        return answer

    async def until_helped(self) -> None:
        """Publish so much that the helper starts, and wait until it has."""
        await self.publish(self.tasks(10))
        while not self.helper.is_there:
            await asyncio.sleep(0)

    def tasks(self, number: int) -> list[bytes]:
        return [to_line(self.desk.founder.task()) for _ in range(number)]

    def run(self, story: Callable[[], Coroutine[None, None, None]]) -> None:
        async def all_of_it() -> None:
            running = asyncio.create_task(self.pipeline.run())
            try:
                await story()
            finally:
                running.cancel()
                self.pipeline.close()
                await asyncio.sleep(0)

        asyncio.run(all_of_it())


@pytest.fixture
def bench(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(desk, monkeypatch)


def test_many_ops_are_looked_at_by_the_helper_and_a_few_are_not(bench: Bench) -> None:
    async def story() -> None:
        await bench.until_helped()
        lines = bench.tasks(200)
        assert isinstance(await bench.publish(lines), frames.Stored)
        assert bench.checked == 0
        long = [to_line(bench.desk.founder.task("x" * 300_000)) for _ in range(10)]
        assert isinstance(await bench.publish(long), frames.Stored)
        assert bench.checked == 0
        assert isinstance(await bench.publish(lines), frames.Stored)  # which is there already
        assert isinstance(await bench.publish(bench.tasks(2)), frames.Stored)
        assert bench.checked == 2
        *good, last = bench.tasks(20)
        assert refused(await bench.publish([*good, other_signature(last)])) is Why.INVALID
        assert bench.checked == 1  # the bad one, to say what is wrong with it
        assert isinstance(await bench.publish([*good, last]), frames.Stored)

    bench.run(story)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_without_an_answer_of_the_helper_the_relay_looks_itself(
    bench: Bench, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        await bench.until_helped()
        assert bench.helper.pid is not None
        os.kill(bench.helper.pid, how)
        monkeypatch.setattr(helper_module, "ANSWER_SECONDS", 0.2)
        assert isinstance(await bench.publish(bench.tasks(20)), frames.Stored)
        assert bench.checked == 20
        assert bench.helper.pid is None
        assert isinstance(await bench.publish(bench.tasks(20)), frames.Stored)

    bench.run(story)


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system for the children of a process")
def test_the_helper_ends_with_the_relay_however_that_ends(tmp_path: Path) -> None:
    if helper_module.processors() < 2:
        pytest.skip("a relay with one processor has no helper")
    with served(tmp_path / "relay") as relay:
        ada = Person("ada", 1)
        team = relay.register(ada)
        children = Path(f"/proc/{relay.process.pid}/task/{relay.process.pid}/children")
        with entered(relay, team, ada) as wire:
            assert wire.publish([ada.task() for _ in range(20)])["t"] == "stored"
        until = monotonic() + 60
        while not (found := children.read_text().split()) and monotonic() < until:
            sleep(0.01)
        (child,) = found
        relay.kill()
        while _runs(child) and monotonic() < until:
            sleep(0.01)
        assert not _runs(child)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
