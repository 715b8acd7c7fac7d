"""What the node asks of the A2A binding, and runs of it (`replica.host.binding.Edge`)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final

from core.message import Message
from replica.host.config import Config

if TYPE_CHECKING:
    from replica.node import Node
    from replica.service.changes import Changes


class A2aBinding:
    """The binding of section 8. What it does is imported when it does it."""

    def admit(
        self, db: Connection, config: Config, recipient: str, message: Message, /, *, direct: bool
    ) -> bool:
        """Whether mail for a client or a peer is delivered. Raises DmpError for one that is refused."""
        from bindings.a2a import admission

        return admission.admit(db, config, recipient, message, direct=direct)

    def revoked(self, node: "Node", client: str, /) -> None:
        """Close what a revoked client still asks."""
        from bindings.a2a import revoking

        revoking.close_asks(node, client)

    @asynccontextmanager
    async def running(
        self, root: Path, changes: "Changes", config: Config, /
    ) -> AsyncIterator[Mapping[str, str]]:
        """Run the listener where it is configured, and the worker that relays to peers."""
        from bindings.a2a.peers.relaying import relaying

        async with relaying(root, changes, config):
            address = config.a2a.listen
            if address is None:
                yield {}
                return
            from bindings.a2a.server.running import running

            async with running(root, changes, address, config) as url:
                yield {"a2a": url}


BINDING: Final = A2aBinding()
