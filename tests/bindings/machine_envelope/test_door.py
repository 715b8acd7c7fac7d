"""What the listener for envelopes takes of a client before it looks at any envelope."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from bindings.a2a import clients
from bindings.machine_envelope import server, settled
from replica.host.config import EnvelopeConfig
from tests.bindings.machine_envelope.host import ACME, KIND, OTHER, Host


@asynccontextmanager
async def listening(ada: Host, per_minute: int) -> AsyncIterator[aiohttp.ClientSession]:
    receiving = settled.receiver(ada.root, EnvelopeConfig(kind=KIND))
    async with (
        server.running(ada.root, "127.0.0.1:0", receiving, clients.find, "", per_minute) as url,
        aiohttp.ClientSession(url) as session,
    ):
        yield session


async def post(session: aiohttp.ClientSession, secret: str, body: bytes) -> aiohttp.ClientResponse:
    given = {"Authorization": f"Bearer {secret}", "A2A-Version": "1.0", "Content-Type": "application/json"}
    response = await session.post("/", data=body, headers=given)
    await response.read()
    return response


LIST = b'{"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}'


def test_who_calls_too_often_is_told_to_wait(ada: Host) -> None:
    async def work() -> None:
        async with listening(ada, per_minute=12) as session:  # two at once
            first = [(await post(session, ada.secrets[ACME], LIST)).status for _ in range(2)]
            refused = await post(session, ada.secrets[ACME], LIST)
            assert (first, refused.status) == ([200, 200], 429)
            assert int(refused.headers["Retry-After"]) > 0
            assert (await post(session, ada.secrets[OTHER], LIST)).status == 200

    asyncio.run(asyncio.wait_for(work(), 60))


def test_a_call_with_a_member_twice_is_refused(ada: Host) -> None:
    twice = LIST.replace(b'"params": {}', b'"params": {"pageSize": 1, "pageSize": 2}')

    async def work() -> None:
        async with listening(ada, per_minute=600) as session:
            refused = await post(session, ada.secrets[ACME], twice)
            assert (await refused.json())["error"]["code"] == -32700

    asyncio.run(asyncio.wait_for(work(), 60))
