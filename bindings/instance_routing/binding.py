"""What the node runs of the Agent Mailbox instance routing (`replica.host.binding.Binding`)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from replica.host.config import Config

if TYPE_CHECKING:
    from replica.service.changes import Changes


class InstanceRoutingBinding:
    """The extension's listener. What it does is imported when it does it."""

    @asynccontextmanager
    async def running(
        self, root: Path, changes: "Changes", config: Config, /
    ) -> AsyncIterator[Mapping[str, str]]:
        """Run the listener where it is configured, and the worker that looks at wakes."""
        routing = config.instance_routing
        if routing.listen is None:
            yield {}
            return
        from bindings.instance_routing import running

        async with running.running(
            root, changes, routing.listen, routing.url, config.a2a.requests_per_minute
        ) as url:
            yield {"instances": url}


BINDING: Final = InstanceRoutingBinding()
