"""Every route there is."""

from typing import Final

from replica.api import agents, channels, messages, node_chains, node_team, own
from replica.api.table import Route

ROUTES: Final[tuple[Route, ...]] = (
    *own.ROUTES,
    *messages.ROUTES,
    *channels.ROUTES,
    *agents.ROUTES,
    *node_team.ROUTES,
    *node_chains.ROUTES,
)
