"""The gateway on a socket: what clients are answered, and what hostile ones are not."""

import asyncio
import base64
import json
from typing import Any

import pytest

from bindings.a2a import clients
from bindings.a2a.extensions import ENVELOPE
from bindings.instance_routing import gateway as serving
from bindings.instance_routing import instances
from bindings.instance_routing.commits import CommitPoint
from bindings.instance_routing.extension import URI
from core.inputs import Sender, SendInput
from core.message import Message
from replica.addresses import SYSTEM_ADDRESS
from replica.api import tokens
from replica.host import agents
from replica.records.commits import CommitPoint as Replica
from tests.bindings.instance_routing.gateway import (
    ACME,
    HEADERS,
    OTHER,
    SCRIBE,
    Answer,
    Caller,
    Gateway,
    Json,
    Machine,
    a_request,
    approve,
    run,
    served,
)


async def opened_task(gateway: Gateway, text: str = "Ship it?", id_: str = "m1", **routing: Any) -> Json:
    request = a_request(gateway.machine.scribe.id, text, id_, **routing)
    answer = await gateway.client().send(request)
    assert answer.status == 200, answer.json
    task: Json = answer.json["task"]
    return task


def only(messages: list[Message]) -> Message:
    (found,) = messages
    return found


# What it is


def test_the_card_requires_the_extension_and_names_nobody(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            answer = await Caller(gateway.session, gateway.url, "none").ask(
                "GET", "/.well-known/agent-card.json"
            )
        card = answer.json
        assert answer.status == 200
        assert card["supportedInterfaces"] == [
            {"url": gateway.url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
        ]
        (extension,) = card["capabilities"].pop("extensions")
        assert (extension["uri"], extension["required"]) == (URI, True)
        assert extension["params"] == {"directory": f"{gateway.url}/instances"}
        assert card["capabilities"] == {
            "streaming": False,
            "pushNotifications": False,
            "extendedAgentCard": False,
        }
        for secret in (b"ada", b"scribe", ada.scribe.id.encode()):
            assert secret not in answer.body

    run(work())


def test_the_directory_lists_those_that_are_exposed_and_receive_mail(ada: Machine) -> None:
    approve(ada.node, "agent:ada/second")
    approve(ada.node, "agent:ada/unseen")

    async def work() -> None:
        async with served(ada) as gateway:
            client = gateway.client()
            listed = (await client.ask("GET", "/instances")).json
            assert listed["instances"] == [
                {"instanceId": ada.scribe.id, "name": "scribe", "deliveryModes": ["inbox"]}
            ]
            assert listed["self"] != (await gateway.client(OTHER).ask("GET", "/instances")).json["self"]
            second = ada.expose("agent:ada/second", name="The second")
            names = [each["name"] for each in (await client.ask("GET", "/instances")).json["instances"]]
            assert names == ["scribe", "The second"]
            with ada.node.store.transaction(Replica.AGENT) as db:
                agents.mute(db, SCRIBE, muted=True)
                agents.decide(db, second.address, "revoked")
            assert (await client.ask("GET", "/instances")).json["instances"] == []

    run(work())


def test_one_answer_for_every_bearer_that_is_no_approved_clients(ada: Machine) -> None:
    own = tokens.make(ada.node).secret

    async def work() -> None:
        async with served(ada) as gateway:
            clients.revoke(ada.node, Sender("human:ada", can_decide=True), OTHER)
            found = set()
            for secret in ("", "nobody", own, ada.secrets[SCRIBE], ada.secrets[OTHER]):
                for verb, path in (("GET", "/instances"), ("GET", "/tasks/x"), ("POST", "/message:send")):
                    answer = await Caller(gateway.session, gateway.url, secret).ask(verb, path)
                    assert answer.headers["WWW-Authenticate"] == "Bearer"
                    found.add((answer.status, answer.body))
            assert [status for status, _ in found] == [401]

    run(work())


def test_who_asks_too_often_is_told_to_wait_and_a_request_counts_once(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada, per_minute=12) as gateway:  # two at once
            client = gateway.client()
            assert (await client.send(a_request(ada.scribe.id))).status == 200
            assert (await client.ask("GET", "/tasks")).status == 200
            refused = await client.ask("GET", "/tasks")
            assert (refused.status, refused.json["error"]["details"][0]["reason"]) == (429, "LIMITED")
            assert int(refused.headers["Retry-After"]) > 0
            assert (await gateway.client(OTHER).ask("GET", "/tasks")).status == 200

    run(work())


# From a message to its reply


def test_a_message_is_a_question_in_the_mailbox_and_its_reply_an_artifact(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            task = await opened_task(gateway, subject="Release")
            asked = only(ada.inbox())
            assert (asked.sender, asked.to, asked.kind, asked.blocking) == (ACME, (SCRIBE,), "question", True)
            assert asked.wake == "none"
            assert not asked.urgent
            assert task["id"] == f"agent-mailbox-task-{asked.id}"
            assert task["contextId"] == f"agent-mailbox-context-{asked.thread}"
            assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
            assert task["metadata"] == {URI: {"recipientInstanceId": ada.scribe.id, "subject": "Release"}}
            assert task["history"][0]["messageId"] == "m1"
            assert task["artifacts"] == []
            ada.answer(asked, "Yes.", data={"build": 7})
            answer = await gateway.client().ask("GET", f"/tasks/{task['id']}")
            done = answer.json
            assert answer.headers["A2A-Extensions"] == URI
            assert done["status"]["state"] == "TASK_STATE_COMPLETED"
            (artifact,) = done["artifacts"]
            assert artifact["parts"] == [
                {"text": "Yes.", "mediaType": "text/markdown"},
                {"data": {"build": 7}, "mediaType": "application/json"},
            ]
            assert artifact["metadata"] == {URI: {"instanceId": ada.scribe.id}}
            for address in (b"agent:", b"human:", b"scribe"):
                assert address not in answer.body

    run(work())


def test_a_message_that_is_waited_for_comes_back_with_its_reply(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            request = a_request(ada.scribe.id)
            del request["configuration"]
            asking = asyncio.create_task(gateway.client().send(request))
            while not ada.inbox():
                await asyncio.sleep(0.01)
            ada.answer(only(ada.inbox()), "Yes.")
            assert (await asking).json["task"]["status"]["state"] == "TASK_STATE_COMPLETED"

    run(work())


def test_a_wait_ends_at_its_bound_with_the_task_as_it_stands(
    ada: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "WAIT_SECONDS", 0.05)

    async def work() -> None:
        async with served(ada) as gateway:
            request = a_request(ada.scribe.id)
            del request["configuration"]
            answer = await gateway.client().send(request)
            assert answer.json["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"

    run(work())


def test_a_file_arrives_as_data_and_comes_back_as_it_was_sent(ada: Machine) -> None:
    part = {"raw": base64.b64encode(b"\x89PNG").decode(), "filename": "a.png", "mediaType": "image/png"}

    async def work() -> None:
        async with served(ada) as gateway:
            request = a_request(ada.scribe.id)
            request["message"]["parts"].append(part)
            task = (await gateway.client().send(request)).json["task"]
            assert only(ada.inbox()).data == {ENVELOPE: part}
            assert task["history"][0]["parts"][1] == {"data": part, "mediaType": "application/json"}

    run(work())


def test_only_what_is_said_to_the_client_itself_is_shown(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            task = await opened_task(gateway)
            asked = only(ada.inbox())
            engine, ada_ = ada.node.engine, Sender("human:ada", can_decide=True)
            engine.send(
                Sender(SCRIBE), SendInput(("human:ada",), "question", "What do I say to them?", asked.id)
            )
            engine.send(ada_, SendInput((SCRIBE,), "message", "Say nothing of the secret.", asked.id))
            engine.send(Sender(SCRIBE), SendInput((ACME,), "message", "A moment.", asked.id))
            engine.send(Sender(SCRIBE), SendInput((ACME,), "message", "Something else, unasked."))
            answer = await gateway.client().ask("GET", f"/tasks/{task['id']}")
            said = [each["parts"][0]["text"] for each in answer.json["artifacts"]]
            assert said == ["A moment."]
            for hidden in (b"What do I say", b"secret", b"unasked"):
                assert hidden not in answer.body

    run(work())


def test_a_context_of_ones_own_goes_on_with_the_same_instance_and_replies_stay_apart(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            client, first = gateway.client(), await opened_task(gateway)
            ada.answer(only(ada.inbox()), "First.")
            request = a_request(ada.scribe.id, "And now?", "m2")
            request["message"]["contextId"] = first["contextId"]
            second = (await client.send(request)).json["task"]
            assert second["contextId"] == first["contextId"]
            ada.answer(ada.inbox()[-1], "Second.")
            for task, said in ((first, "First."), (second, "Second.")):
                shown = (await client.ask("GET", f"/tasks/{task['id']}")).json
                assert [each["parts"][0]["text"] for each in shown["artifacts"]] == [said]

    run(work())


def test_a_close_by_the_host_fails_a_task_and_a_close_by_anybody_else_is_an_answer(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            closed, answered = await opened_task(gateway), await opened_task(gateway, id_="m2")
            first, second = ada.inbox()
            ada.node.engine.close(first.id, "no time")
            ada.answer(second, "Closed: no", data={"type": "x-closed", "reason": "no"})
            states = [
                (await gateway.client().ask("GET", f"/tasks/{each['id']}")).json["status"]["state"]
                for each in (closed, answered)
            ]
            assert states == ["TASK_STATE_FAILED", "TASK_STATE_COMPLETED"]

    run(work())


def test_a_message_that_was_read_is_being_worked_on(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            task = await opened_task(gateway)
            (delivery,) = ada.node.engine.deliveries(only(ada.inbox()).id)
            ada.node.engine.mark_read(delivery.id)
            shown = (await gateway.client().ask("GET", f"/tasks/{task['id']}")).json
            assert shown["status"]["state"] == "TASK_STATE_WORKING"

    run(work())


# Idempotency


def test_the_same_id_with_the_same_contents_is_the_same_task(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            first, second = await opened_task(gateway), await opened_task(gateway)
            assert first == second
            only(ada.inbox())
            with ada.node.store.transaction(CommitPoint.EXPOSED) as db:
                instances.hide(db, SCRIBE)
            assert (await opened_task(gateway))["id"] == first["id"]

    run(work())


def test_the_same_id_with_changed_contents_conflicts(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            await opened_task(gateway)
            client = gateway.client()
            for changed in (
                a_request(ada.scribe.id, "Ship it!"),
                a_request(ada.scribe.id, "Ship it?", subject="Release"),
                a_request("i-another", "Ship it?"),
            ):
                answer = await client.send(changed)
                assert (answer.status, answer.reason) == (409, "IDEMPOTENCY_CONFLICT")
            only(ada.inbox())
            other = await gateway.client(OTHER).send(a_request(ada.scribe.id, "Ship it!"))
            assert other.status == 200  # ids are each client's own

    run(work())


def test_of_many_requests_at_once_with_one_id_one_is_stored(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            texts = ["One", "Two"] * 25
            answers = await asyncio.gather(
                *(gateway.client().send(a_request(ada.scribe.id, text)) for text in texts)
            )
            stored = only(ada.inbox())
            for text, answer in zip(texts, answers, strict=True):
                if text == stored.body:
                    assert answer.json["task"]["id"] == f"agent-mailbox-task-{stored.id}"
                else:
                    assert answer.reason == "IDEMPOTENCY_CONFLICT"

    run(work())


def test_a_key_that_other_mail_of_the_client_has_is_a_conflict_and_shows_nothing_of_it(ada: Machine) -> None:
    from bindings.instance_routing.request import key_of

    ada.node.engine.send(
        Sender(ACME), SendInput(("human:ada",), "question", "Another", idempotency_key=key_of("m1"))
    )

    async def work() -> None:
        async with served(ada) as gateway:
            answer = await gateway.client().send(a_request(ada.scribe.id))
            assert answer.reason == "IDEMPOTENCY_CONFLICT"
            assert b"Another" not in answer.body

    run(work())


# Guessing


def test_ids_of_tasks_are_answered_to_the_byte_the_same_whether_absent_or_anothers(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            task = await opened_task(gateway)
            bare = task["id"].removeprefix("agent-mailbox-task-")
            direct = ada.node.engine.send(
                Sender(OTHER), SendInput((SCRIBE,), "question", "Not through the gateway")
            ).message.id
            guessed = (task["id"], bare, "agent-mailbox-task-none", f"agent-mailbox-task-{direct}")
            found = set()
            for each in guessed:
                for verb, suffix in (("GET", ""), ("POST", ":cancel")):
                    answer = await gateway.client(OTHER).ask(verb, f"/tasks/{each}{suffix}")
                    assert answer.reason == "TASK_NOT_FOUND"
                    found.add((answer.status, answer.body))
            assert len(found) == 1
            assert (await gateway.client(OTHER).ask("GET", "/tasks")).json["tasks"] == []
            assert (await gateway.client().ask("GET", f"/tasks/{task['id']}")).status == 200

    run(work())


def test_contexts_are_answered_to_the_byte_the_same_whether_absent_or_anothers(ada: Machine) -> None:
    approve(ada.node, "agent:ada/second")
    second = ada.expose("agent:ada/second")

    async def work() -> None:
        async with served(ada) as gateway:
            mine = await opened_task(gateway)
            found = set()
            for client, recipient, context in (
                (gateway.client(OTHER), ada.scribe.id, mine["contextId"]),
                (gateway.client(OTHER), ada.scribe.id, "agent-mailbox-context-none"),
                (gateway.client(OTHER), ada.scribe.id, mine["contextId"].rpartition("-context-")[2]),
                (gateway.client(), second.id, mine["contextId"]),
            ):
                request = a_request(recipient, id_="m2")
                request["message"]["contextId"] = context
                answer = await client.send(request)
                found.add((answer.status, answer.body))
            assert len(found) == 1
            assert len(ada.inbox()) == 1

    run(work())


def test_instances_are_answered_to_the_byte_the_same_whether_absent_hidden_or_no_instance(
    ada: Machine,
) -> None:
    approve(ada.node, "agent:ada/hidden")
    hidden = ada.expose("agent:ada/hidden")
    with ada.node.store.transaction(CommitPoint.EXPOSED) as db:
        instances.hide(db, hidden.address)

    async def work() -> None:
        async with served(ada) as gateway:
            found = set()
            for guessed in ("i-0", hidden.id, SCRIBE, "human:ada", ACME, ada.scribe.id.upper()):
                answer = await gateway.client().send(a_request(guessed))
                assert answer.reason == "INSTANCE_NOT_FOUND"
                found.add((answer.status, answer.body))
            assert len(found) == 1
            assert all(each.sender == SYSTEM_ADDRESS for each in ada.inbox("human:ada"))

    run(work())


# Refusals


async def refused(gateway: Gateway, request: Any, **given: Any) -> Answer:
    answer = await gateway.client().send(request, **given)
    assert gateway.machine.inbox() == []
    return answer


def test_what_may_not_be_sent_is_refused_by_name_and_nothing_is_stored(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            plain = a_request(ada.scribe.id)
            unnamed = await refused(gateway, plain, headers={"A2A-Version": "1.0"})
            assert unnamed.reason == "EXTENSION_SUPPORT_REQUIRED"
            linked = a_request(ada.scribe.id)
            linked["message"]["parts"] = [{"url": "http://169.254.169.254/"}]
            assert (await refused(gateway, linked)).reason == "CONTENT_TYPE_NOT_SUPPORTED"
            heavy = a_request(ada.scribe.id)
            heavy["message"]["parts"] = [{"raw": base64.b64encode(bytes(60_000)).decode()}]
            assert (await refused(gateway, heavy)).field == "message.parts[0].raw"
            huge = a_request(ada.scribe.id, "x" * serving.MAX_BODY_BYTES)
            answer = await refused(gateway, huge)
            assert (answer.status, answer.reason) == (413, "REQUEST_TOO_LARGE")
            old = await refused(gateway, plain, headers={**HEADERS, "A2A-Version": "0.3"})
            assert old.reason == "VERSION_NOT_SUPPORTED"
            broken = await gateway.client().ask(
                "POST", "/message:send", data=b'{"message": {}, "message": {}}'
            )
            assert broken.reason == "INVALID_REQUEST"

    run(work())


@pytest.mark.parametrize("where", ["text", "metadata", "filename", "escaped"])
def test_a_clients_own_token_is_never_stored(ada: Machine, where: str) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            request = a_request(ada.scribe.id)
            secret = ada.secrets[ACME]
            match where:
                case "text":
                    request["message"]["parts"] = [{"text": f"I am {secret}"}]
                case "metadata":
                    request["metadata"]["token"] = secret
                case _:
                    request["message"]["parts"] = [{"raw": "AA==", "filename": secret}]
            data = json.dumps(request).encode()
            if where == "escaped":
                data = data.replace(secret.encode(), f"\\u{ord(secret[0]):04x}{secret[1:]}".encode())
            answer = await gateway.client().ask("POST", "/message:send", data=data)
            assert answer.status == 400
            assert secret.encode() not in answer.body
            assert ada.inbox() == []

    run(work())


@pytest.mark.parametrize(
    ("verb", "path", "reason"),
    [
        ("POST", "/message:stream", "UNSUPPORTED_OPERATION"),
        ("POST", "/tasks/x:subscribe", "UNSUPPORTED_OPERATION"),
        ("POST", "/tasks/x/pushNotificationConfigs", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("DELETE", "/tasks/x/pushNotificationConfigs/1", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("GET", "/extendedAgentCard", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
        ("GET", "/elsewhere", "METHOD_NOT_FOUND"),
    ],
)
def test_what_the_card_says_is_not_here_is_refused_as_such(
    ada: Machine, verb: str, path: str, reason: str
) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            assert (await gateway.client().ask(verb, path)).reason == reason

    run(work())


# Canceling and listing


def test_a_canceled_task_stays_canceled_and_is_answered_no_more(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            task, client = await opened_task(gateway), gateway.client()
            for _ in range(2):
                answer = await client.ask("POST", f"/tasks/{task['id']}:cancel", json={})
                assert answer.json["status"]["state"] == "TASK_STATE_CANCELED"
            with pytest.raises(Exception, match="already has its answer"):
                ada.answer(only(ada.inbox()), "Yes.")
            shown = (await client.ask("GET", f"/tasks/{task['id']}")).json
            assert shown["status"]["state"] == "TASK_STATE_CANCELED"
            assert shown["artifacts"] == []

    run(work())


def test_a_task_that_has_its_reply_is_not_canceled(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            task = await opened_task(gateway)
            ada.answer(only(ada.inbox()), "Yes.")
            answer = await gateway.client().ask("POST", f"/tasks/{task['id']}:cancel", json={})
            assert answer.reason == "TASK_NOT_CANCELABLE"

    run(work())


def test_tasks_are_listed_by_pages_the_newest_first_and_by_state_and_context(ada: Machine) -> None:
    async def work() -> None:
        async with served(ada) as gateway:
            client = gateway.client()
            opened = [await opened_task(gateway, id_=f"m{index}") for index in range(3)]
            ids = [each["id"] for each in opened]
            ada.answer(ada.inbox()[0], "Yes.")
            first = (await client.ask("GET", "/tasks", params={"pageSize": "2"})).json
            assert [each["id"] for each in first["tasks"]] == [ids[0], ids[2]]
            assert (first["pageSize"], first["totalSize"]) == (2, 3)
            assert "artifacts" not in first["tasks"][0]
            rest = (await client.ask("GET", "/tasks", params={"pageToken": first["nextPageToken"]})).json
            assert [each["id"] for each in rest["tasks"]] == [ids[1]]
            assert rest["nextPageToken"] == ""
            done = {"status": "TASK_STATE_COMPLETED", "includeArtifacts": "true"}
            (shown,) = (await client.ask("GET", "/tasks", params=done)).json["tasks"]
            assert shown["artifacts"][0]["parts"][0]["text"] == "Yes."
            (shown,) = (await client.ask("GET", "/tasks", params={"contextId": opened[1]["contextId"]})).json[
                "tasks"
            ]
            assert shown["id"] == ids[1]
            assert (await client.ask("GET", "/tasks", params={"pageSize": "0"})).field == "pageSize"

    run(work())


def test_ids_stay_when_an_agent_is_hidden_and_exposed_again(ada: Machine) -> None:
    with ada.node.store.transaction(CommitPoint.EXPOSED) as db:
        instances.hide(db, SCRIBE)
    assert ada.expose(name="Anew").id == ada.scribe.id
