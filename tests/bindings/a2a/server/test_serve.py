"""The A2A listener of a real `dmp serve`, and clients made with the official SDK and with bare HTTP."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError
from google.protobuf.json_format import MessageToDict, ParseDict

from bindings.a2a.extensions import ENVELOPE, EXTENSIONS, WORK
from bindings.a2a.server.wire import MAX_BODY_BYTES
from tests.e2e.people import Person, Town

Refusal = tuple[int, dict[str, str], bytes]


@dataclass
class Place:
    """Ada's host, where it is reached, and the tokens of two approved clients."""

    ada: Person
    url: str
    acme: str
    other: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    ada = Town(tmp_path_factory.mktemp("a2a")).person("ada")
    tokens = {}
    for name in ("acme", "other"):
        tokens[name] = ada.json("a2a", "client", "add", name)["token"]
        ada.json("a2a", "client", "approve", name)
    with ada.running(
        "serve", "--listen", "127.0.0.1:0", "--a2a", "127.0.0.1:0", "--a2a-wait-seconds", "2", "--json"
    ) as service:
        url = json.loads(service.told(r'^\{.*"pid".*\}$'))["a2a"]
        yield Place(ada, url, tokens["acme"], tokens["other"])


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


@asynccontextmanager
async def sdk(place: Place, token: str, *, streaming: bool = True) -> AsyncIterator[Any]:
    """The official client, which activates every extension."""
    headers = {"Authorization": f"Bearer {token}", "A2A-Extensions": ", ".join(EXTENSIONS)}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        card = await A2ACardResolver(http, place.url).get_agent_card()
        config = ClientConfig(
            httpx_client=http, streaming=streaming, supported_protocol_bindings=["HTTP+JSON"]
        )
        yield ClientFactory(config).create(card)


def asking(id_: str, text: str, *, now: bool = False, **members: Any) -> Any:
    message = {"messageId": id_, "role": "ROLE_USER", "parts": [{"text": text}], **members}
    return ParseDict(
        {"message": message, "configuration": {"returnImmediately": now}}, a2a_pb2.SendMessageRequest()
    )


async def one(events: AsyncIterator[Any]) -> dict[str, Any]:
    found: dict[str, Any] = [MessageToDict(each) async for each in events][-1]
    return found


def test_a_client_asks_waits_streams_and_is_answered(place: Place) -> None:
    async def work() -> None:
        async with sdk(place, place.acme) as client:
            states = []
            async for event in client.send_message(asking("m1", "Is it final?")):
                shown = MessageToDict(event)
                if "task" in shown:
                    task = shown["task"]
                    states.append(task["status"]["state"])
                    await asyncio.to_thread(place.ada.dmp, "answer", task["id"], "Yes.")
                elif "statusUpdate" in shown:
                    states.append(shown["statusUpdate"]["status"]["state"])
        assert states == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
        found = MessageToDict(await get(place, place.acme, task["id"]))
        assert found["artifacts"][0]["artifactId"] == "answer"

    run(work())


@pytest.mark.parametrize("streaming", [True, False])
def test_a_client_that_takes_plain_text_alone_gets_no_other_in_whatever_answers_it(
    place: Place, streaming: bool
) -> None:
    async def work() -> None:
        request = asking(f"plain-{streaming}", "Which colour?")
        request.configuration.accepted_output_modes.append("text/plain")
        shown: list[str] = []
        async with sdk(place, place.acme, streaming=streaming) as client:
            task = ""
            async for event in client.send_message(request):
                shown.append(json.dumps(MessageToDict(event)))
                if streaming and not task:
                    task = MessageToDict(event)["task"]["id"]
                    await dmp(place, "answer", task, "Green.")
        assert '"text/plain"' in shown[-1]
        assert not [each for each in shown if "text/markdown" in each]

    run(work())


def test_a_client_answers_a_question_put_to_it(place: Place) -> None:
    async def work() -> None:
        async with sdk(place, place.acme) as client, sdk(place, place.acme, streaming=False) as answering:
            states: list[str] = []
            asked: dict[str, Any] = {}
            async for event in client.send_message(asking("q1", "Mend the fence?")):
                shown = MessageToDict(event)
                if "artifactUpdate" in shown:
                    continue
                status = (shown.get("task") or shown["statusUpdate"])["status"]
                states.append(status["state"])
                if "task" in shown:
                    asked = shown["task"]
                    back = ("--kind", "question", "--blocking", "--choice", "left", "--choice", "right")
                    await dmp(
                        place, "send", "agent:ada/a2a.acme", "Which one?", "--reply-to", asked["id"], *back
                    )
                elif status["state"] == "TASK_STATE_INPUT_REQUIRED":
                    question = status["message"]["metadata"][ENVELOPE]
                    assert (question["kind"], question["choices"]) == ("question", ["left", "right"])
                    extra = {"taskId": asked["id"], "metadata": {ENVELOPE: {"choice": "left"}}}
                    await one(answering.send_message(asking("q2", "The old one.", now=True, **extra)))
                elif states[-2:] == ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING"]:
                    await dmp(place, "answer", asked["id"], "Done.")
        assert states == [
            "TASK_STATE_WORKING",
            "TASK_STATE_INPUT_REQUIRED",
            "TASK_STATE_WORKING",
            "TASK_STATE_COMPLETED",
        ]
        (said,) = [
            each for each in place.ada.json("inbox")["deliveries"] if each["message"]["kind"] == "answer"
        ]
        assert (said["message"]["from"], said["message"]["choice"]) == ("agent:ada/a2a.acme", "left")

    run(work())


async def dmp(place: Place, *arguments: str) -> None:
    await asyncio.to_thread(place.ada.dmp, *arguments)


async def get(place: Place, token: str, task: str) -> Any:
    async with sdk(place, token) as client:
        return await client.get_task(a2a_pb2.GetTaskRequest(id=task))


def test_a_send_that_waits_does_so_for_no_longer_than_the_card_says(place: Place) -> None:
    async def work() -> None:
        async with sdk(place, place.acme, streaming=False) as client:
            shown = await one(client.send_message(asking("m2", "And now?")))
        assert shown["task"]["status"]["state"] == "TASK_STATE_WORKING"

    run(work())


def test_a_client_hands_work_off_and_cancels(place: Place) -> None:
    async def work() -> None:
        async with sdk(place, place.acme, streaming=False) as client:
            metadata = {WORK: {"skill": "handoff", "title": "Mend the fence"}}
            shown = await one(
                client.send_message(asking("m3", "Please.", metadata=metadata, extensions=[WORK]))
            )
            assert shown["task"]["status"]["state"] == "TASK_STATE_AUTH_REQUIRED"
            task = shown["task"]["id"]
            done = MessageToDict(await client.cancel_task(a2a_pb2.CancelTaskRequest(id=task)))
            assert done["status"]["state"] == "TASK_STATE_CANCELED"

    run(work())


def test_work_that_is_approved_is_followed_until_it_has_landed(place: Place) -> None:
    async def work() -> None:
        async with sdk(place, place.other) as following, sdk(place, place.other, streaming=False) as client:
            metadata = {WORK: {"skill": "handoff", "title": "Paint the gate"}}
            shown = await one(
                client.send_message(asking("w1", "Green.", metadata=metadata, extensions=[WORK]))
            )
            task, item = shown["task"]["id"], shown["task"]["metadata"][WORK]["task"]
            (gate,) = [
                each["gate"]["id"] for each in place.ada.json("gates")["gates"] if item in json.dumps(each)
            ]
            await dmp(place, "answer", gate, "approve")
            states = []
            async for event in following.subscribe(a2a_pb2.SubscribeToTaskRequest(id=task)):
                found = MessageToDict(event)
                states.append((found.get("task") or found["statusUpdate"])["status"]["state"])
                next_ = {"TASK_STATE_SUBMITTED": "working", "TASK_STATE_WORKING": "landed"}.get(states[-1])
                if next_ is not None:
                    await dmp(place, "task", "edit", item, "--status", next_)
            assert states == ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]

    run(work())


def bare(
    place: Place,
    method: str,
    path: str,
    *,
    token: str | None = None,
    data: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Refusal:
    """The status, the headers and the body of an answer."""
    with httpx.Client(base_url=place.url) as http:
        sent = {"Content-Type": "application/json", **(headers or {})}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        found = http.request(method, path, content=data, headers=sent)
        told = {name: value for name, value in found.headers.items() if name != "date"}
        return found.status_code, told, found.content


def reason(answer: Refusal) -> str:
    return str(json.loads(answer[2])["error"]["details"][0]["reason"])


def test_every_bearer_that_is_no_approved_clients_gets_one_answer_to_the_byte(place: Place) -> None:
    own = place.ada.json("token", "add")["token"]
    pending = place.ada.json("a2a", "client", "add", "pending")["token"]
    secrets = [None, "x", place.acme[:-1], f"{place.acme}x", "y" * 500, own, pending]
    answers = [bare(place, "GET", "/tasks", token=each) for each in secrets]

    assert answers[0][0] == 401
    assert answers[0][1]["www-authenticate"] == "Bearer"
    assert all(each == answers[0] for each in answers)


def test_anothers_task_and_an_absent_one_are_the_same_to_the_byte(place: Place) -> None:
    body = json.dumps({"message": {"messageId": "m9", "parts": [{"text": "Mine?"}]},
                       "configuration": {"returnImmediately": True}}).encode()  # fmt: skip
    task = json.loads(bare(place, "POST", "/message:send", token=place.other, data=body)[2])["task"]["id"]
    for path in ("/tasks/{}", "/tasks/{}:subscribe"):
        theirs = bare(place, "GET", path.format(task), token=place.acme)
        absent = bare(place, "GET", path.format("nothing"), token=place.acme)
        assert (theirs, theirs[0], reason(theirs)) == (absent, 404, "TASK_NOT_FOUND")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "INVALID_PARAMS"),
        (b"[]", "INVALID_PARAMS"),
        (b'{"message": {}, "message": {}}', "INVALID_PARAMS"),
        (b"[" * 10_000, "INVALID_PARAMS"),
        (b'"\xff"', "INVALID_PARAMS"),
        (b" " * (MAX_BODY_BYTES + 1), "REQUEST_TOO_LARGE"),
        (b'{"message": {"messageId": "x", "parts": [{"text": "a", "text": "b"}]}}', "INVALID_PARAMS"),
        (
            b'{"message": {"messageId": "x", "parts": [{"text": "a"}]}, "configuration": {"returnImmediately": 1}}',
            "INVALID_PARAMS",
        ),
        (
            b'{"message": {}, "configuration": {"taskPushNotificationConfig": {"url": "https://x"}}}',
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
    ],
)
def test_what_is_no_request_is_refused(place: Place, data: bytes, why: str) -> None:
    assert reason(bare(place, "POST", "/message:send", token=place.acme, data=data)) == why


@pytest.mark.parametrize(
    "packed", [gzip.compress(b'{"message": {}}', mtime=0), b"none", b"{}"], ids=["packed", "not", "as it is"]
)
def test_a_body_is_taken_as_it_is_and_unpacked_for_nobody(place: Place, packed: bytes) -> None:
    found = bare(
        place, "POST", "/message:send", token=place.acme, data=packed, headers={"Content-Encoding": "gzip"}
    )

    assert (found[0], reason(found)) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_client_that_is_revoked_while_its_body_arrives_leaves_nothing(place: Place) -> None:
    token = place.ada.json("a2a", "client", "add", "slow")["token"]
    place.ada.json("a2a", "client", "approve", "slow")
    work = {"skill": "handoff", "title": "Late work"}
    message = {"messageId": "late", "parts": [{"text": "Late."}], "metadata": {WORK: work}}
    body = json.dumps({"message": {**message, "extensions": [WORK]}}).encode()
    head = (
        f"POST /message:send HTTP/1.1\r\nHost: {urlsplit(place.url).netloc}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )

    async def send() -> None:
        reader, writer = await asyncio.open_connection(*urlsplit(place.url).netloc.split(":"))
        writer.write(head.encode() + body[:10])
        assert b"100 Continue" in await reader.readline()
        await asyncio.to_thread(place.ada.dmp, "a2a", "client", "revoke", "slow")
        writer.write(body[10:])
        await reader.readline()
        assert b" 401 " in await reader.readline()
        writer.close()

    run(send())
    assert "Late work" not in json.dumps(place.ada.json("task", "list", "--all"))


def test_a_body_is_not_waited_for_before_its_bearer_is_known(place: Place) -> None:
    async def never() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async def work() -> None:
        async with (
            aiohttp.ClientSession() as http,
            http.post(
                f"{place.url}/message:send", data=never(), headers={"Authorization": "Bearer x"}
            ) as found,
        ):
            assert found.status == 401

    run(work())


ENVELOPES: dict[str, tuple[dict[str, Any], str]] = {
    "to": ({"to": ["human:bob"]}, "FORBIDDEN_ADDRESS"),
    "urgent": ({"urgent": True}, "URGENT_NOT_ALLOWED"),
    "wake": ({"wake": "request"}, "WAKE_NOT_ALLOWED"),
    "kind": ({"kind": "x-own"}, "KIND_NOT_ALLOWED"),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_what_a_client_may_not_do_is_refused_by_its_reason(place: Place, name: str) -> None:
    envelope, why = ENVELOPES[name]
    message = {"messageId": name, "parts": [{"text": "Hey"}], "metadata": {ENVELOPE: envelope}}
    data = json.dumps({"message": {**message, "extensions": [ENVELOPE]}}).encode()
    found = bare(place, "POST", "/message:send", token=place.acme, data=data)

    assert (found[0], reason(found)) == (403, why)


def test_the_official_client_is_told_of_each_refusal(place: Place) -> None:
    async def work() -> None:
        async with sdk(place, place.other, streaming=False) as client:
            for name, (envelope, _) in ENVELOPES.items():
                request = asking(f"no-{name}", "Hey", metadata={ENVELOPE: envelope})
                with pytest.raises(A2AClientError, match="HTTP Error 403"):
                    await one(client.send_message(request))
            anothers = await one(client.send_message(asking("mine", "Mine?", now=True)))
        task = anothers["task"]["id"]
        async with sdk(place, place.acme, streaming=False) as client:
            with pytest.raises(TaskNotFoundError):
                await client.get_task(a2a_pb2.GetTaskRequest(id=task))
            with pytest.raises(TaskNotFoundError):
                await client.cancel_task(a2a_pb2.CancelTaskRequest(id=task))
            with pytest.raises(InvalidParamsError, match="unknown contextId"):
                await one(client.send_message(asking("his", "Hey", contextId=task)))
        with pytest.raises(A2AClientError, match="HTTP Error 401"):
            async with sdk(place, "nobody", streaming=False) as client:
                await client.get_task(a2a_pb2.GetTaskRequest(id=task))

    run(work())


@pytest.mark.parametrize("escaped", [False, True])
def test_a_clients_own_token_is_never_stored_however_it_is_written(place: Place, escaped: bool) -> None:
    text = f"\\u{ord(place.acme[0]):04x}{place.acme[1:]}" if escaped else place.acme
    data = f'{{"message": {{"messageId": "token-{escaped}", "parts": [{{"text": "{text}"}}]}}}}'.encode()
    found = bare(place, "POST", "/message:send", token=place.acme, data=data)
    assert (found[0], place.acme.encode() in found[2]) == (400, False)


def test_a_stream_is_no_answer_to_a_request_for_headers_alone(place: Place) -> None:
    message = {"messageId": "head", "parts": [{"text": "Well?"}]}
    data = json.dumps({"message": message, "configuration": {"returnImmediately": True}}).encode()
    task = json.loads(bare(place, "POST", "/message:send", token=place.acme, data=data)[2])["task"]["id"]

    assert bare(place, "HEAD", f"/tasks/{task}:subscribe", token=place.acme)[0] == 404


def test_nothing_is_pushed_and_the_card_says_so(place: Place) -> None:
    status, headers, body = bare(place, "GET", "/.well-known/agent-card.json")
    card = json.loads(body)

    assert status == 200
    assert card["capabilities"]["pushNotifications"] is False
    assert b"ada" not in body
    again = bare(place, "GET", "/.well-known/agent-card.json", headers={"If-None-Match": headers["etag"]})
    assert again[0] == 304
    pushed = bare(place, "POST", "/tasks/x/pushNotificationConfigs", token=place.acme, data=b"{}")
    assert reason(pushed) == "PUSH_NOTIFICATION_NOT_SUPPORTED"


def test_another_host_name_and_another_version_are_refused(place: Place) -> None:
    named = bare(place, "GET", "/tasks", token=place.acme, headers={"Host": "evil.example"})
    assert reason(named) == "HOST_NOT_ALLOWED"
    assert (
        reason(bare(place, "GET", "/tasks", token=place.acme, headers={"A2A-Version": "0.3"}))
        == "VERSION_NOT_SUPPORTED"
    )


def test_a_stream_ends_when_its_client_is_revoked(place: Place) -> None:
    token = place.ada.json("a2a", "client", "add", "gone")["token"]
    place.ada.json("a2a", "client", "approve", "gone")

    async def work() -> None:
        async with sdk(place, token) as client:
            events = client.send_message(asking("m1", "Still?"))
            assert "task" in MessageToDict(await anext(events))
            await asyncio.to_thread(place.ada.dmp, "a2a", "client", "revoke", "gone")
            async for _ in events:
                pass

    run(work())
    assert bare(place, "GET", "/tasks", token=token)[0] == 401
