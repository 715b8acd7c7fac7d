"""Networks whose far sides are real ones: a directory of files, and a branch of a git repository.

What the far side in memory holds, which acts bend at will, is written to the real one as anybody with write access
could, whenever a machine asks for news and the two differ. Machines read and publish over the real transport alone.
"""

import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tests.simulation.machine import SimMachine, Time
from tests.simulation.network import Network
from transports.base import PASS_BYTES, Line, Pull, Transport
from transports.directory import DirectoryTransport
from transports.git import GitTransport
from transports.memory import MemoryRemote
from transports.remotes import DEFAULT_BRANCH, Source, parse_remote

Lanes = Mapping[str, Sequence[bytes]]


class RealSide(Protocol):
    """A far side outside this process."""

    def hold(self, lanes: Lanes, acks: Mapping[str, bytes]) -> None:
        """Hold this and nothing else."""

    def open(self, name: str) -> Transport:
        """A way to it, of a machine of this name."""


class DirectorySide:
    """A directory of files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "shared"
        self._path.mkdir()

    def hold(self, lanes: Lanes, acks: Mapping[str, bytes]) -> None:
        shutil.rmtree(self._path / "fed", ignore_errors=True)
        for replica in lanes.keys() | acks.keys():
            folder = self._path / "fed" / replica
            folder.mkdir(parents=True)
            if replica in lanes:
                (folder / "0000000000000001.jsonl").write_bytes(_joined(lanes[replica]))
            if replica in acks:
                (folder / "acks.json").write_bytes(acks[replica])

    def open(self, name: str) -> Transport:
        return DirectoryTransport(self._path)


class GitSide:
    """A branch of a bare repository in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bare = folder / "remote.git"
        subprocess.run(["git", "init", "--quiet", "--bare", str(self._bare)], check=True)

    def hold(self, lanes: Lanes, acks: Mapping[str, bytes]) -> None:
        branch = f"refs/heads/{DEFAULT_BRANCH}".encode()
        told = [b"commit %b\ncommitter x <x@example.invalid> 0 +0000\ndata 0\n" % branch]
        if self._git("for-each-ref", branch):
            told.append(b"from %b^0\ndeleteall\n" % branch)
        files = {f"fed/{replica}/000000000001.jsonl": _joined(raws) for replica, raws in lanes.items()}
        files |= {f"fed/{replica}/acks.json": raw for replica, raw in acks.items()}
        for path, data in files.items():
            told.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
        self._git("fast-import", "--quiet", stdin=b"".join(told))

    def _git(self, *arguments: str | bytes, stdin: bytes = b"") -> bytes:
        command = ["git", f"--git-dir={self._bare}", *arguments]
        return subprocess.run(command, input=stdin, check=True, capture_output=True).stdout

    def open(self, name: str) -> Transport:
        return GitTransport(parse_remote(str(self._bare), Source.TYPED), self._folder / name)


def _joined(raws: Sequence[bytes]) -> bytes:
    return b"".join(raw + b"\n" for raw in raws)


class CarriedNetwork(Network):
    """A network whose far sides are carried over real ones, in a folder that goes when the network does."""

    def __init__(self, name: str, real: Callable[[Path], RealSide]) -> None:
        self._real = real
        self.folder = Path(tempfile.mkdtemp(prefix="dmp-simulation-"))
        self._carriers: list[Carrier] = []
        weakref.finalize(self, _clear, self._carriers, self.folder)
        super().__init__(name)

    def transport_of(self, machine: SimMachine) -> Transport:
        side = self.side_of(machine.me)
        found = next((each for each in self._carriers if each.side is side), None)
        if found is None:
            folder = self.folder / str(len(self._carriers))
            folder.mkdir()
            found = Carrier(side, self._real(folder))
            self._carriers.append(found)
        return found.way_of(machine.me)


def _clear(carriers: "list[Carrier]", folder: Path) -> None:
    for carrier in carriers:
        carrier.close()
    shutil.rmtree(folder, ignore_errors=True)


class Carrier:
    """One far side in memory and the real one that shows it."""

    def __init__(self, side: MemoryRemote, real: RealSide) -> None:
        self.side = side
        self._real = real
        self._lanes: dict[str, list[bytes]] = {}
        self._acks: dict[str, bytes] = {}
        self._ways: dict[str, Carried] = {}

    def way_of(self, replica: str) -> "Carried":
        if replica not in self._ways:
            self._ways[replica] = Carried(self, self._real.open(replica))
        return self._ways[replica]

    def show(self) -> None:
        """Let the real far side hold what this one shows."""
        state, hidden = self.side.state(), self.side.hidden
        lanes = {replica: lane.raws[:length] for replica, (lane, length) in state.lanes.items()}
        for replica, end in hidden.items():
            lane, length = state.lanes.get(replica, (None, 0))
            if lane is not None:
                lanes[replica] = [
                    raw for raw, seq in zip(lane.raws[:length], lane.seqs, strict=False) if seq < end
                ]
        lanes = {replica: raws for replica, raws in lanes.items() if raws}
        if (lanes, state.acks) != (self._lanes, self._acks):
            self._real.hold(lanes, state.acks)
            self._lanes, self._acks = lanes, dict(state.acks)

    def add(self, replica: str, lines: Sequence[bytes], acks: bytes | None) -> None:
        """Hold here what the real far side has taken."""
        if lines or acks is not None:
            self.side.publish(self.side.tip, replica, lines, acks)
        self._lanes.setdefault(replica, []).extend(lines)
        if not self._lanes[replica]:
            del self._lanes[replica]
        if acks is not None:
            self._acks[replica] = acks

    def close(self) -> None:
        for way in self._ways.values():
            way.end()


class Carried:
    """A real transport, with a memory of what was published over it (transports.base.Transport)."""

    def __init__(self, carrier: Carrier, inner: Transport) -> None:
        self.url = inner.url
        self._carrier = carrier
        self._inner = inner

    def refresh(self) -> str:
        self._carrier.show()
        return self._inner.refresh()

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        return self._inner.pull(since, budget=budget)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        return self._inner.lane(replica, since)

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        return self._inner.acks(replicas)

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        self._inner.publish(replica, lines, acks=acks)
        self._carrier.add(replica, lines, acks)

    def watch(self, timeout: float) -> bool:
        return self._inner.watch(timeout)

    def close(self) -> None:
        """The next pass of the machine goes the same way."""

    def end(self) -> None:
        self._inner.close()


def over_directory(name: str, _time: Time) -> Network:
    """A network whose far sides are directories of files."""
    return CarriedNetwork(name, DirectorySide)


def over_git(name: str, _time: Time) -> Network:
    """A network whose far sides are branches of git repositories."""
    return CarriedNetwork(name, GitSide)
