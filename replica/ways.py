"""The transports of a replica while a command runs: each is opened when it is first used, and closed at the end."""

import threading
import time
from collections.abc import Callable
from types import TracebackType

from crypto.keys import team_id
from replica.abreast import Abreast
from replica.node import DirectoryNode
from replica.records import ops
from replica.records.link import Link
from replica.records.meta import Meta, get
from transports.base import Transport, TransportError
from transports.fault_spec import FaultSpec
from transports.opening import Opening, open_transport
from transports.remotes import RemoteError


class Myself:
    """This replica, as it shows itself to a far side that wants to know who asks (transports.opening.Member).

    The store belongs to the thread that opened it: others get to know what that one saw last.
    """

    def __init__(self, node: DirectoryNode) -> None:
        self._node = node
        self._thread = threading.get_ident()
        self._team: str | None = None
        self._key_op: bytes | None = None
        self.look()

    @property
    def replica(self) -> str:
        return self._node.me

    def sign(self, data: bytes) -> bytes:
        return self._node.identity.secrets.signer.sign(data)

    def team(self) -> str | None:
        self.look()
        return self._team

    def key_op(self) -> bytes | None:
        self.look()
        return self._key_op

    def look(self) -> None:
        """See which team is followed, or is asked to be joined, and what was signed."""
        if threading.get_ident() != self._thread:
            return
        db = self._node.store.db
        founding = get(db, Meta.FOUNDING)
        self._team = get(db, Meta.INVITED_TEAM) if founding is None else team_id(founding)
        self._key_op = ops.line_at(db, self.replica, 1)


class Ways:
    """The transports of a replica. `sleep` (seconds) is how they wait for news; `faults` strike each of them."""

    def __init__(
        self,
        node: DirectoryNode,
        sleep: Callable[[float], None] = time.sleep,
        faults: FaultSpec | None = None,
    ) -> None:
        self._node = node
        self._sleep = sleep
        self._faults = faults
        self._myself = Myself(node)
        self._open: dict[Link, Transport] = {}
        self.asking = Abreast()

    def open(self, link: Link) -> Transport:
        """The transport of a link, opened where it is not open yet. Raises TransportError."""
        self._myself.look()
        if link not in self._open:
            directory = self._node.directory.clone_of(link.remote, link.branch)
            opening = Opening(link.remote, link.source, directory, link.branch, self._myself, self._sleep)
            try:
                made = open_transport(opening)
            except RemoteError as error:
                raise TransportError(str(error)) from None
            self._open[link] = made if self._faults is None else self._faults.around(made, self._node.me)
        return self._open[link]

    def __enter__(self) -> "Ways":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for transport in self._open.values():
            if not self.asking.is_busy(transport):  # one that still does something goes with the process
                transport.close()
        self._open.clear()
