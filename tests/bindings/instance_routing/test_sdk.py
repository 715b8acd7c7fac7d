"""The official A2A client against the running service: it is asked for nothing that this project made."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a.client import ClientCallContext, ClientConfig, create_client
from a2a.client.client import Client
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.extensions.common import find_extension_by_uri
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    ExtensionSupportRequiredError,
    TaskNotCancelableError,
    TaskNotFoundError,
)
from google.protobuf.json_format import MessageToDict

from bindings.instance_routing.extension import URI
from tests.bindings.instance_routing.gateway import ACME, OTHER, Machine, run

ACTIVE = ClientCallContext(service_parameters=ServiceParametersFactory.create([with_a2a_extensions([URI])]))


@asynccontextmanager
async def service(ada: Machine) -> AsyncIterator[str]:
    """`dmp serve` in a process of its own; the URL of its gateway."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "replica.cli.main", "serve", "--dir", str(ada.root)),
        *("--listen", "127.0.0.1:0", "--instance-routing-listen", "127.0.0.1:0", "--json"),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield str(json.loads(await process.stdout.readline())["instances"])
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


@asynccontextmanager
async def connected(url: str, secret: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as carrier:
        config = ClientConfig(httpx_client=carrier, supported_protocol_bindings=["HTTP+JSON"])
        yield await create_client(url, config)


async def instance_of(url: str, secret: str, card: AgentCard) -> str:
    """The one instance of the directory, where the extension's parameters say that it is."""
    extension = find_extension_by_uri(card, URI)
    assert extension is not None
    assert extension.required
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as carrier:
        listed = (await carrier.get(str(extension.params["directory"]))).json()
    (found,) = listed["instances"]
    return str(found["instanceId"])


def a_message(instance: str, *parts: Part, id_: str = "m1", waits: bool = False) -> SendMessageRequest:
    request = SendMessageRequest(
        message=Message(message_id=id_, role=Role.ROLE_USER, parts=parts, extensions=[URI]),
        configuration=SendMessageConfiguration(return_immediately=not waits),
    )
    request.metadata.update({URI: {"recipientInstanceId": instance, "subject": "Release"}})
    return request


async def send(client: Client, request: SendMessageRequest) -> Task:
    (found,) = [each async for each in client.send_message(request, context=ACTIVE)]
    return found.task


def test_the_official_client_writes_to_an_instance_and_reads_its_replies(ada: Machine) -> None:
    async def work() -> None:
        async with service(ada) as url:
            async with connected(url, ada.secrets[ACME]) as client:
                await talk(client, url)
            async with connected(url, ada.secrets[OTHER]) as client:
                await spy(client)

    async def talk(client: Client, url: str) -> None:
        card = await client.get_extended_agent_card(GetExtendedAgentCardRequest(), context=ACTIVE)
        assert not card.capabilities.streaming
        assert not card.capabilities.push_notifications
        instance = await instance_of(url, ada.secrets[ACME], card)
        first = a_message(instance, Part(text="Ship it?"), Part(raw=b"\x00\x01", filename="a.bin"))
        task = await send(client, first)
        assert task.status.state == TaskState.TASK_STATE_SUBMITTED
        assert (await send(client, first)).id == task.id
        (asked,) = ada.inbox()
        assert task.id == f"agent-mailbox-task-{asked.id}"
        assert asked.body == "Subject: Release\n\nShip it?"
        ada.answer(asked, "Yes.", data={"build": 7})
        done = await client.get_task(GetTaskRequest(id=task.id), context=ACTIVE)
        assert done.status.state == TaskState.TASK_STATE_COMPLETED
        (artifact,) = done.artifacts
        assert [each.WhichOneof("content") for each in artifact.parts] == ["text", "data"]
        assert MessageToDict(artifact.parts[1])["data"] == {"build": 7}

        waiting = asyncio.create_task(
            send(client, a_message(instance, Part(text="And?"), id_="m2", waits=True))
        )
        while len(ada.inbox()) < 2:
            await asyncio.sleep(0.01)
        ada.answer(ada.inbox()[1], "Soon.")
        assert (await waiting).artifacts[0].parts[0].text == "Soon."

        third = await send(client, a_message(instance, Part(text="Never mind"), id_="m3"))
        canceled = await client.cancel_task(CancelTaskRequest(id=third.id), context=ACTIVE)
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=task.id), context=ACTIVE)
        listed = await client.list_tasks(ListTasksRequest(page_size=2), context=ACTIVE)
        assert listed.tasks[0].id == third.id
        assert listed.total_size == 3

        with pytest.raises(A2AError, match="409"):
            await send(client, a_message(instance, Part(text="Changed")))
        with pytest.raises(ContentTypeNotSupportedError):
            await send(client, a_message(instance, Part(url="https://example.org/x"), id_="m4"))
        with pytest.raises(ExtensionSupportRequiredError):
            async for _ in client.send_message(a_message(instance, Part(text="a"), id_="m5")):
                pass
        with pytest.raises(NotImplementedError):  # the client itself, by what the card says
            async for _ in client.subscribe(SubscribeToTaskRequest(id=task.id), context=ACTIVE):
                pass

    async def spy(client: Client) -> None:
        for asked in ada.inbox():
            with pytest.raises(TaskNotFoundError):
                await client.get_task(GetTaskRequest(id=f"agent-mailbox-task-{asked.id}"), context=ACTIVE)

    run(work())
