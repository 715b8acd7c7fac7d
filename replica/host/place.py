"""What a replica has of the machine it is on, besides its keys and its store.

A replica with a directory of its own has lock files, its machine's markers and what its owner configured. One
without a directory has the same in memory, and is gone with its process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.dispatchers import Dispatchers, Lone
from core.errors import Code, DmpError
from core.message import Message
from replica.home.directory import Directory
from replica.home.dispatchers import LockedDispatchers
from replica.home.locks import LockFolder, Locks
from replica.home.marker import MachineMarkers, Markers
from replica.home.memory import MemoryLocks, MemoryMarkers
from replica.host.config import Config, read_config


class Programs(Protocol):
    """What a person's configuration has run, each by the command it names."""

    def wake(self, command: str, target: str, work_item: str | None, message: Message, /) -> None:
        """Have a session started. Raises core.host.WakeError."""

    def tell_decision(self, command: str, gate: Message, answer: Message, /) -> None:
        """Tell of a decision. Raises where that fails."""

    def notify(self, command: str, message: Message, remote: str | None = None, /) -> None:
        """Tell a person that a message arrived, from the replica of `remote`. Raises where that fails."""

    def notify_desktop(self, message: Message, /) -> None:
        """Show a notice that a message arrived. Raises where that fails."""


@dataclass(frozen=True, slots=True)
class Place:
    """A replica's place. `programs` is given what tells whether this process is to end."""

    sessions: Locks
    dispatchers: Dispatchers
    markers: Markers
    config: Callable[[], Config]
    programs: Callable[[Callable[[], bool]], Programs]


def place_at(directory: Directory, dispatchers: LockedDispatchers) -> Place:
    """The place of a replica with a directory."""

    def programs(ended: Callable[[], bool]) -> Programs:
        from replica.host.hooks import Hooks  # most commands run none

        return Hooks(directory, ended)

    return Place(
        LockFolder(directory.sessions),
        dispatchers,
        MachineMarkers(directory.root),
        lambda: read_config(directory.config_file),
        programs,
    )


def place_in_memory(markers: Markers | None = None) -> Place:
    """The place of a replica without a directory, whose owner configured nothing, and which runs no program.

    `markers` are those of its machine, where it remembers something already.
    """

    def no_programs(_ended: Callable[[], bool]) -> Programs:
        raise DmpError(Code.UNAVAILABLE, "a replica without a directory runs no programs")

    return Place(MemoryLocks(), Lone(), markers or MemoryMarkers(), Config, no_programs)
