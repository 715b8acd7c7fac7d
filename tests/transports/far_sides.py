"""Far sides of every kind there is here, for the contract and for whoever else takes any."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.transports.git.repo import GitFarSide
from transports.base import Transport
from transports.contract import Author, FarSide, WritableFarSide
from transports.directory import DirectoryTransport
from transports.faults import CALLS, Fault, FaultyTransport, Step
from transports.memory import MemoryRemote, MemoryTransport


class Memory(WritableFarSide):
    def __init__(self) -> None:
        self.remote = MemoryRemote()

    def open(self, author: Author, machine: str) -> Transport:
        return MemoryTransport(self.remote)

    def put(self, replica: str, *raws: bytes) -> None:
        self.remote.put(replica, *raws)

    def cut(self) -> None:
        self.remote.unreachable = True

    def mend(self) -> None:
        self.remote.unreachable = False

    def backup(self) -> Callable[[], None]:
        tip = self.remote.tip

        def restore() -> None:
            while self.remote.tip != tip:
                self.remote.roll_back()

        return restore


class Directory(WritableFarSide):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shared = folder / "shared"
        self.shared.mkdir()

    def open(self, author: Author, machine: str) -> Transport:
        return DirectoryTransport(self.shared, lambda _: None)

    def put(self, replica: str, *raws: bytes) -> None:
        lane = self.shared / "fed" / replica
        lane.mkdir(parents=True, exist_ok=True)
        with (lane / "0000000000000001.jsonl").open("ab") as file:
            file.writelines(raw + b"\n" for raw in raws)

    def cut(self) -> None:
        self.shared.rename(self.folder / "away")

    def mend(self) -> None:
        (self.folder / "away").rename(self.shared)

    def backup(self) -> Callable[[], None]:
        copy = self.folder / "copy"
        shutil.copytree(self.shared, copy)

        def restore() -> None:
            shutil.rmtree(self.shared)
            shutil.copytree(copy, self.shared)

        return restore


class Git(WritableFarSide):
    def __init__(self, folder: Path, branch: str = "dmp-federation") -> None:
        self.repository = GitFarSide(folder, branch)

    def open(self, author: Author, machine: str) -> Transport:
        return self.repository.open(f"{author.replica}-{machine}")

    def put(self, replica: str, *raws: bytes) -> None:
        self.repository.put(replica, *raws)

    def cut(self) -> None:
        self.repository.cut()

    def mend(self) -> None:
        self.repository.mend()

    def backup(self) -> Callable[[], None]:
        tip = self.repository.tip()

        def restore() -> None:
            self.repository.git("update-ref", f"refs/heads/{self.repository.branch}", tip)

        return restore


FAULTY_PASSES = 3

_ENDING = (
    Step(
        frozenset(Fault) - CALLS - {Fault.FORK, Fault.PARTITION, Fault.UNREACHABLE},
        last=FAULTY_PASSES,
        share=0.2,
    ),
    Step(CALLS, last=FAULTY_PASSES, count=1),
    Step(frozenset((Fault.PARTITION,)), first=2, last=FAULTY_PASSES),
    Step(frozenset((Fault.UNREACHABLE,)), first=2, last=2),
)


class Faulty(FarSide):
    """Another far side, whose transports do everything badly in their first passes, and well from then on."""

    def __init__(self, inner: FarSide) -> None:
        self._inner = inner
        self._opened = 0

    def author(self, replica: str) -> Author:
        return self._inner.author(replica)

    def open(self, author: Author, machine: str) -> Transport:
        self._opened += 1
        inner = self._inner.open(author, machine)
        return FaultyTransport(inner, _ENDING, Random(self._opened), own=author.replica)

    def cut(self) -> None:
        self._inner.cut()

    def mend(self) -> None:
        self._inner.mend()

    def backup(self) -> Callable[[], None]:
        return self._inner.backup()
