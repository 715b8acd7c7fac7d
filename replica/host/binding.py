"""Bindings: packages that carry a host's mail over another protocol, found by entry points (section 8).

A binding is an object that an entry point of the group `dmp.bindings` names. The node asks one only when an address
or its service calls for it, so what the object itself imports at the top of its module should be little. One that
cannot be loaded costs what it would have done, and nothing else.
"""

import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from functools import cache
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from core.host import External
from core.message import Message
from replica.host.config import Config

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from replica.node import Node
    from replica.service.changes import Changes

GROUP: Final = "dmp.bindings"

A2A: Final = "a2a"
"""The binding that external addresses are reached through, and what their names begin with."""

_log = logging.getLogger(__name__)


@runtime_checkable
class Binding(Protocol):
    """What every binding has: what it runs while the node serves."""

    def running(
        self, root: Path, changes: "Changes", config: Config, /
    ) -> AbstractAsyncContextManager[Mapping[str, str]]:
        """Run the binding for the replica at `root` for the length of a block; the value names its listeners' URLs.

        `changes` tells of commits in its store. It is empty where the configuration turns its listeners on nowhere.
        Raises DmpError `unavailable` where an address cannot be used.
        """


@runtime_checkable
class Edge(Binding, Protocol):
    """A binding that external addresses are reached through."""

    def admit(
        self, db: Connection, config: Config, recipient: str, message: Message, /, *, direct: bool
    ) -> bool:
        """Whether mail for an external recipient is delivered to it; else the recipient is skipped (section 8.8).

        Asked inside the transaction of the send, before anything of it is stored; `direct` when the recipient was
        addressed itself, and not through a channel. Raises DmpError for one that is refused; whoever asked says on
        which field.
        """

    def revoked(self, node: "Node", client: str, /) -> None:
        """Settle what an external agent left open, once its registration is revoked, outside any transaction."""


def external(address: str) -> External | None:
    """How an address is reached through a binding, by its form alone (section 8.1); None for one of a host."""
    scheme, _, name = address.partition(":")
    if scheme == A2A:
        return "peer"
    operator, _, handle = name.partition("/")
    is_client = scheme == "agent" and operator and handle.startswith(f"{A2A}.")
    return "client" if is_client else None


def edge() -> Edge | None:
    """The binding that external addresses are reached through; None where there is none that can be loaded."""
    found = binding(A2A)
    return found if isinstance(found, Edge) else None


def bindings() -> dict[str, Binding]:
    """Every binding that can be loaded, in the order of their names."""
    loaded = {name: binding(name) for name in sorted(_found())}
    return {name: each for name, each in loaded.items() if each is not None}


@cache
def binding(name: str) -> Binding | None:
    """A binding by its name, as it was when it was first asked for; None, and a line in the log, without one."""
    entry = _found().get(name)
    if entry is None:
        _log.warning("the binding %s is not installed", name)
        return None
    try:
        loaded = entry.load()
    except Exception as error:  # noqa: BLE001 - whatever another package's import raises
        _log.warning("the binding %s cannot be loaded (%s: %s)", name, type(error).__name__, error)
        return None
    if not isinstance(loaded, Binding):
        _log.warning("the binding %s cannot be loaded (%s is no binding)", name, entry.value)
        return None
    return loaded


@cache
def _found() -> Mapping[str, "EntryPoint"]:
    # Late, and once: the look-up reads the metadata of everything that is installed.
    from importlib.metadata import entry_points

    try:
        return {entry.name: entry for entry in entry_points(group=GROUP)}
    except Exception as error:  # noqa: BLE001 - metadata is any package's
        _log.warning("bindings cannot be listed: %s", type(error).__name__)
        return {}
