"""`python -m tests.bindings.a2a.peers.sdk_agent FILE`: an A2A agent made with the official SDK, as a process.

It prints its port, and serves both bindings until it is killed. What it does is what it is told:
the first word of a message says. A stream ends once the file is there.
"""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn
from a2a.helpers.proto_helpers import new_task, new_text_artifact, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    Message,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    TaskState,
)
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from bindings.a2a.extensions import ENVELOPE

SECRET = "sesame-opens"


class Told(AgentExecutor):
    """Answers, asks back, streams or fails, as the first word of a message says."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        task_id, context_id = context.task_id or "", context.context_id or ""
        if text.startswith("Say"):
            await event_queue.enqueue_event(
                new_text_message(text.removeprefix("Say "), context_id=context_id)
            )
            return
        if context.current_task is None:
            await event_queue.enqueue_event(
                new_task(task_id=task_id, context_id=context_id, state=TaskState.TASK_STATE_SUBMITTED)
            )
        updater = TaskUpdater(event_queue, task_id, context_id)

        def said(words: str, **metadata: object) -> Message:
            message = new_text_message(words, context_id=context_id, task_id=task_id)
            message.metadata.update(metadata)
            return message

        if text.startswith("Fail"):
            await updater.failed(said("The disk is full."))
        elif text.startswith("Choose"):
            await updater.requires_input(said("Which color?", **{ENVELOPE: {"choices": ["red", "blue"]}}))
        elif text.startswith("Stream"):
            await updater.start_work(said("Reading."))
            while not Path(sys.argv[1]).exists():
                await asyncio.sleep(0.05)
            await self._done(updater, "Read.")
        else:
            await self._done(updater, f"Done: {text}")

    async def _done(self, updater: TaskUpdater, text: str) -> None:
        artifact = new_text_artifact("answer", text)
        await updater.add_artifact(list(artifact.parts), name="answer")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def card(port: int, binding: str) -> AgentCard:
    return AgentCard(
        name="Told",
        description="Does what it is told.",
        version="1",
        supported_interfaces=[
            AgentInterface(
                url=f"http://localhost:{port}/{'rpc' if binding == 'JSONRPC' else 'a2a'}",
                protocol_binding=binding,
                protocol_version="1.0",
            )
        ],
        capabilities=AgentCapabilities(
            streaming=True, extensions=[AgentExtension(uri=ENVELOPE, description="DMP", required=False)]
        ),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="told", name="Told", description="Does what it is told.", tags=["told"])],
        security_schemes={
            "token": SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))
        },
        security_requirements=[SecurityRequirement(schemes={"token": StringList()})],
    )


def main() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        routes: list[BaseRoute] = []
        for binding in ("HTTP+JSON", "JSONRPC"):
            made = card(port, binding)
            handler = DefaultRequestHandler(Told(), InMemoryTaskStore(), made)
            routes += create_agent_card_routes(made, card_url=f"/{binding}.json")
            if binding == "JSONRPC":
                routes += create_jsonrpc_routes(handler, "/rpc")
            else:
                routes += create_rest_routes(handler, path_prefix="/a2a")
        app = Starlette(routes=routes)

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            known = scope["type"] != "http" or Headers(scope=scope).get("Authorization") == f"Bearer {SECRET}"
            if known or not scope["path"].startswith(("/a2a", "/rpc")):
                await app(scope, receive, send)
            else:
                await JSONResponse({"error": {"code": 401, "message": "who are you?"}}, 401)(
                    scope, receive, send
                )

        listening.listen()
        print(port, flush=True)
        config = uvicorn.Config(guarded, log_level="error")
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


if __name__ == "__main__":
    main()
