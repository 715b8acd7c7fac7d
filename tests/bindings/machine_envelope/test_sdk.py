"""The official A2A client against the running listener: it activates the extension by the header, as it does any."""

import asyncio
from typing import Any

import httpx
import pytest
from a2a.client import ClientCallContext, ClientConfig, create_client
from a2a.client.client import Client
from a2a.client.errors import A2AClientError
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.extensions.common import find_extension_by_uri
from a2a.types.a2a_pb2 import (
    AgentCard,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import ExtensionSupportRequiredError
from google.protobuf.json_format import MessageToDict, ParseDict

from bindings.machine_envelope.acquiring import request_for
from bindings.machine_envelope.attaching import attached, semantic, terms
from bindings.machine_envelope.did_key import write_did
from bindings.machine_envelope.extension import URI, Params, read_params
from core.inputs import ReplyInput, Sender
from tests.bindings.machine_envelope.host import ACME, Host, served
from tests.bindings.machine_envelope.making import SENDER

ACTIVE = ClientCallContext(service_parameters=ServiceParametersFactory.create([with_a2a_extensions([URI])]))


def a_message() -> Message:
    return Message(message_id="m-1", role=Role.ROLE_USER, parts=[Part(text="Twelve crates?")])


async def send(client: Client, message: Message, context: ClientCallContext | None = ACTIVE) -> Task:
    (found,) = [
        each async for each in client.send_message(SendMessageRequest(message=message), context=context)
    ]
    return found.task


async def with_envelope(message: Message, params: Params, carrier: httpx.AsyncClient) -> Message:
    """The message as the SDK writes it, with an envelope acquired where the card says."""
    written: dict[str, Any] = MessageToDict(message)
    bare = semantic(written, params)
    asked = request_for(terms(bare, params, write_did(SENDER.public)), SENDER)
    given = (await carrier.post(params.acquisition, json=asked)).raise_for_status().json()
    sent = Message()
    ParseDict(attached(bare, params, given["envelope"]), sent)
    return sent


def test_the_official_client_acquires_an_envelope_asks_and_reads_the_answer(ada: Host) -> None:
    async def talk(client: Client, carrier: httpx.AsyncClient, card: AgentCard) -> None:
        extension = find_extension_by_uri(card, URI)
        assert extension is not None
        assert extension.required
        params = read_params(MessageToDict(extension.params))
        with pytest.raises(ExtensionSupportRequiredError, match="machine_envelope_extension_required"):
            await send(client, a_message(), None)
        with pytest.raises(A2AClientError, match="machine_envelope_required"):
            await send(client, a_message())
        message = await with_envelope(a_message(), params, carrier)
        task = await send(client, message)
        assert task.status.state == TaskState.TASK_STATE_WORKING
        with pytest.raises(A2AClientError, match="machine_envelope_rejected"):
            await send(client, message)
        again = await send(client, await with_envelope(a_message(), params, carrier))
        assert again.id == task.id
        (asked,) = ada.inbox()
        ada.node.engine.reply(Sender("human:ada", can_decide=True), asked.id, ReplyInput("Ten."))
        done = await client.get_task(GetTaskRequest(id=task.id))
        assert done.status.state == TaskState.TASK_STATE_COMPLETED

    async def work(url: str) -> None:
        headers = {"Authorization": f"Bearer {ada.secrets[ACME]}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as carrier:
            client = await create_client(
                url,
                ClientConfig(httpx_client=carrier, streaming=False, supported_protocol_bindings=["JSONRPC"]),
            )
            card = ParseDict((await carrier.get(f"{url}/.well-known/agent-card.json")).json(), AgentCard())
            await talk(client, carrier, card)

    with served(ada, ISSUE="true") as url:
        asyncio.run(work(url))
    assert ada.spent() == 2
