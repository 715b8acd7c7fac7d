"""The tools on standard input and output: one process for one agent or session, which the agent's client starts."""

import asyncio
from pathlib import Path

from mcp.server.stdio import stdio_server

from replica.api.workers import Workers
from replica.home.directory import Directory
from replica.mcp.desk import Actor, Desk, session_id
from replica.mcp.server import server
from replica.node import opened
from replica.service.changes import Changes


def run(root: Path, address: str) -> None:
    """Serve the tools to whoever has an address, until the client is gone."""
    workers = Workers(lambda: opened(root), 1, "mcp")
    try:
        asyncio.run(_run(root, workers, Actor(address, session_id())))
    finally:
        workers.close()


async def _run(root: Path, workers: Workers, actor: Actor) -> None:
    desk = Desk(workers, lambda: Changes(Directory(root).database))
    tools = server(desk, lambda _: actor, lambda _: actor.session)
    async with stdio_server() as (reading, writing):
        await tools.run(reading, writing, tools.create_initialization_options())
