"""Twenty replicas on one branch, each sending every second for a minute: `python -m tests.bench.crowd`.

Real replicas in processes of their own, and real git on one bare repository. Each sends one message a second to
one of the others, and syncs again and again, as `dmp sync --watch` does. Told at the end: how often a pass had to
begin again and to push, how long messages took to the branch and to their reader, how many passes of each replica
published, and what all of it cost. Whether everything arrived is told too; how fast is only recorded.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from core.inputs import Sender, SendInput
from replica.node import Node, opened
from replica.records import outbox
from replica.sync import SyncPass, waiting_to_publish
from replica.team import commands
from tests.replica.world import Machine, exchange, world
from transports.base import Behind
from transports.git.transport import GitTransport
from transports.memory import MemoryTransport
from transports.remotes import Source, parse_remote

DRAIN_SECONDS: Final = 300.0
"""How long replicas go on once the last message was sent."""

_IDLE_SECONDS: Final = 0.5


@dataclass
class Figures:
    """What one replica saw. Times are in seconds, counted from when a message was due to be sent."""

    handle: str
    sent: int = 0
    received: int = 0
    publishes: int = 0
    passes: int = 0
    attempts: int = 0
    most_attempts: int = 0
    pushes: int = 0
    most_pushes: int = 0
    gave_up: int = 0
    cpu: float = 0.0
    to_branch: list[float] = field(default_factory=list)
    to_reader: list[float] = field(default_factory=list)


class Counted(GitTransport):
    """Counts the times it pushes."""

    pushes = 0

    def _push(self, commit: str) -> None:
        self.pushes += 1
        super()._push(commit)


def handles(count: int) -> list[str]:
    return [f"r{number:02d}" for number in range(count)]


def prepare(folder: Path, count: int) -> Path:
    """Make a team of `count` replicas, each in a directory of its own, on the branch of a bare repository."""
    bare = folder / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    now = int(time.time() * 1000) - 60_000
    with world(folder) as made:
        machines: list[Machine] = []
        for handle in handles(count):
            machines.append(made.machine(handle))
            machines[-1].clock.ms = now
        first, *others = machines
        commands.found_team(first.pass_(), "Orchard")
        for other in others:
            code = commands.invite(first.pass_(), other.node.handle)
            commands.join(other.pass_(), code.encode())
        first.sync()
        exchange(*machines, rounds=1)
        far = MemoryTransport(made.remote)
        far.refresh()
        git = GitTransport(parse_remote(str(bare), Source.TYPED), folder / "first")
        git.refresh()
        for machine in machines:
            git.publish(machine.me, [line.raw for line in far.lane(machine.me)])
        git.close()
    return bare


@dataclass
class _Sender:
    """One replica at work."""

    node: Node
    transport: Counted
    figures: Figures
    others: Sequence[str]
    random: Random

    def send(self, due: float) -> None:
        """Send a message that tells when it was due."""
        given = SendInput.from_json(
            {"to": [f"human:{self.random.choice(self.others)}"], "kind": "message", "body": repr(due)}
        )
        self.node.engine.send(Sender(self.node.address, True), given)
        self.figures.sent += 1

    def sync(self, due: Sequence[float]) -> bool:
        """Make one pass; whether it published everything that was sent before it."""
        figures = self.figures
        figures.passes += 1
        before = self.transport.pushes
        try:
            report = SyncPass(self.node, self.transport, running=figures.passes == 1).run()
        except Behind:
            figures.gave_up += 1
            return False
        finally:
            pushes = self.transport.pushes - before
            figures.pushes += pushes
            figures.most_pushes = max(figures.most_pushes, pushes)
        figures.attempts += report.attempts
        figures.most_attempts = max(figures.most_attempts, report.attempts)
        figures.publishes += bool(report.published)
        now = time.time()
        figures.to_branch += [now - each for each in due]
        inbox = self.node.engine.inbox(self.node.address)
        fresh = inbox[figures.received :]
        figures.to_reader += [now - float(message.body) for _, message in fresh]
        figures.received += len(fresh)
        return True


def work(
    root: Path, bare: Path, handle: str, others: Sequence[str], seconds: float, every: float, start: float
) -> None:
    """Send every `every` seconds for `seconds`, and sync until everything of everyone has arrived here."""
    random = Random(handle)
    figures = Figures(handle)
    with opened(root) as node:
        transport = Counted(parse_remote(str(bare), Source.TYPED), root / "git" / "crowd")
        sender = _Sender(node, transport, figures, others, random)
        total = int(seconds / every)
        due = [start + every * (number + random.random()) for number in range(total)]
        waiting: list[float] = []
        time.sleep(max(0.0, start - time.time()))
        done = root / "done"
        while time.time() < start + seconds + DRAIN_SECONDS:
            while due and due[0] <= time.time():
                sender.send(due[0])
                waiting.append(due.pop(0))
            if sender.sync(waiting):
                waiting = []
            if not due and not waiting and not outbox.waiting(node.store.db) and not waiting_to_publish(node):
                done.touch()
                if all((root.parent / other / "done").exists() for other in others) and not transport.watch(
                    _IDLE_SECONDS
                ):
                    break
            transport.watch(min(_IDLE_SECONDS, max(0.01, due[0] - time.time() if due else _IDLE_SECONDS)))
        transport.close()
    figures.cpu = sum(os.times()[:4])
    (root / "figures.json").write_text(json.dumps(asdict(figures)))


def crowd(folder: Path, count: int, seconds: float, every: float) -> list[Figures]:
    """Let `count` replicas send every `every` seconds for `seconds`, and return what each saw."""
    bare = prepare(folder, count)
    names = handles(count)
    start = time.time() + 2.0
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(
            target=work,
            args=(
                folder / name,
                bare,
                name,
                [other for other in names if other != name],
                seconds,
                every,
                start,
            ),
        )
        for name in names
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [Figures(**json.loads((folder / name / "figures.json").read_text())) for name in names]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=1)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        began = time.time()
        found = crowd(Path(folder), options.replicas, options.seconds, options.every)
        spent = time.time() - began
    sent, received = sum(each.sent for each in found), sum(each.received for each in found)
    branch = sorted(value for each in found for value in each.to_branch)
    reader = sorted(value for each in found for value in each.to_reader)
    publishes = sorted(each.publishes for each in found)
    print(
        f"crowd: {options.replicas} replicas, {sent} messages sent, {received} received, {spent:.0f} s in all"
    )
    print(
        f"crowd: to the branch {median(branch):.1f} s at the median, {branch[-1]:.1f} s at most; to the reader "
        f"{median(reader):.1f} s and {reader[-1]:.1f} s"
    )
    print(
        f"crowd: {sum(each.passes for each in found)} passes, {sum(each.gave_up for each in found)} given up; of the "
        f"others {sum(each.attempts for each in found)} beginnings, {max(each.most_attempts for each in found)} in "
        f"one pass at most; {sum(each.pushes for each in found)} pushes, "
        f"{max(each.most_pushes for each in found)} in one pass at most"
    )
    print(
        f"crowd: passes that published, per replica: {publishes[0]} at least, {median(publishes):.0f} at the "
        f"median, {publishes[-1]} at most; {sum(each.cpu for each in found):.0f} s of CPU"
    )


if __name__ == "__main__":
    main()
