"""What the node runs of the Agent Guild machine envelope (`replica.host.binding.Binding`)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from replica.host.config import Config

if TYPE_CHECKING:
    from replica.service.changes import Changes


class MachineEnvelopeBinding:
    """The extension's listener. What it does is imported when it does it."""

    @asynccontextmanager
    async def running(
        self, root: Path, _changes: "Changes", config: Config, /
    ) -> AsyncIterator[Mapping[str, str]]:
        """Run the listener where it is configured. Raises DmpError for settings that cannot be used."""
        settings = config.machine_envelope
        if settings.listen is None:
            yield {}
            return
        from bindings.a2a import clients
        from bindings.machine_envelope import server, settled

        receiving = settled.receiver(root, settings)
        async with server.running(
            root, settings.listen, receiving, clients.find, settings.url, config.a2a.requests_per_minute
        ) as url:
            yield {"envelopes": url}


BINDING: Final = MachineEnvelopeBinding()
