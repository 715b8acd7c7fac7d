"""The listener in a real process: who gets in with what, and what each refusal says."""

import asyncio
import copy
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import rfc8785

from bindings.a2a.extensions import WORK
from bindings.machine_envelope.acquiring import request_for
from bindings.machine_envelope.attaching import attached, semantic, terms
from bindings.machine_envelope.did_key import write_did
from bindings.machine_envelope.extension import ACQUIRE_PATH, HEADER, METADATA_KEY, URI
from bindings.machine_envelope.issuing import issue
from replica.node import wall_clock
from tests.bindings.machine_envelope.host import ACME, KIND, OTHER, Host, served, serving
from tests.bindings.machine_envelope.making import SENDER, STRANGER, signed

Json = dict[str, Any]
ACTIVE = {HEADER: URI}


def ask(id_: str = "m-1", text: str = "Twelve crates?", **members: Any) -> Json:
    return {"messageId": id_, "role": "ROLE_USER", "parts": [{"text": text}], **members}


@dataclass
class Answer:
    status: int
    json: Any
    headers: Any

    @property
    def error(self) -> str:
        return str(self.json["error"]["message"])

    @property
    def info(self) -> Json:
        found: Json = self.json["error"]["data"][0]["metadata"]
        return found

    @property
    def acquisition(self) -> Any:
        details = self.json["error"]["data"]
        return next((each["acquisition"] for each in details if "acquisition" in each), None)


@dataclass
class Client:
    session: aiohttp.ClientSession
    url: str
    secret: str

    async def post(self, path: str, body: Any, headers: dict[str, str]) -> Answer:
        given = {"Authorization": f"Bearer {self.secret}", "A2A-Version": "1.0", **headers}
        async with self.session.post(f"{self.url}{path}", json=body, headers=given) as response:
            return Answer(response.status, await response.json(), response.headers)

    async def call(self, method: str, params: Json, headers: dict[str, str] = ACTIVE) -> Answer:
        return await self.post("/", {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, headers)

    async def send(self, message: Json, headers: dict[str, str] = ACTIVE) -> Answer:
        return await self.call("SendMessage", {"message": message}, headers)


def talking(ada: Host, talk: Callable[[Client], Awaitable[None]], **settings: str) -> None:
    async def work(url: str) -> None:
        async with aiohttp.ClientSession() as session:
            await talk(Client(session, url, ada.secrets[ACME]))

    with served(ada, **settings) as url:
        asyncio.run(work(url))


def test_a_message_with_its_envelope_is_taken_and_its_task_is_told_of(ada: Host) -> None:
    async def talk(client: Client) -> None:
        message = ada.signed(ask(metadata={"other": 1}))
        answer = await client.send(message)
        assert (answer.status, answer.headers[HEADER]) == (200, URI)
        task = answer.json["result"]["task"]
        (asked,) = ada.inbox()
        assert "Twelve crates?" in asked.body
        assert METADATA_KEY not in str(asked)
        again = await client.call("GetTask", {"id": task["id"]}, {})
        assert again.json["result"]["id"] == task["id"]
        assert HEADER not in again.headers
        listed = await client.call("ListTasks", {}, {})
        assert [each["id"] for each in listed.json["result"]["tasks"]] == [task["id"]]
        await refusals(client)
        await acquisition(client)

    async def refusals(client: Client) -> None:
        unnamed = await client.send(ada.signed(ask("m-2")), {})
        assert unnamed.error == "machine_envelope_extension_required"
        assert unnamed.info["extension"] == URI
        assert HEADER not in unnamed.headers
        only_in_the_message = await client.send(ask("m-2", extensions=[URI]), {HEADER: f"{URI}x, {URI}/"})
        assert only_in_the_message.error == "machine_envelope_extension_required"
        bare = await client.send(ask("m-2"), {HEADER: f"https://other.example/x, {URI}"})
        assert bare.error == "machine_envelope_required"
        assert (bare.status, bare.headers[HEADER]) == (200, URI)
        assert unnamed.acquisition == bare.acquisition
        assert bare.acquisition["params"]["kind"] == KIND
        bad = await client.send({**ask("m-2"), "metadata": {METADATA_KEY: {"credential": "..."}}})
        assert (bad.error, bad.info["reason"], bad.acquisition) == (
            "machine_envelope_rejected",
            "invalid",
            None,
        )
        for method in ("CancelTask", "SendStreamingMessage", "SubscribeToTask"):
            assert (await client.call(method, {"id": "t"})).json["error"]["code"] == -32004
        assert (await client.call("Nothing", {})).json["error"]["code"] == -32601
        assert (await client.call("GetTask", {"id": "m-absent"})).json["error"]["code"] == -32001
        assert (await client.send(ask(), {"A2A-Version": "0.3", **ACTIVE})).json["error"]["code"] == -32009
        assert (await client.post("/", [], ACTIVE)).json["error"]["code"] == -32600
        assert (await client.post("/nowhere", {}, {})).status == 404
        assert (len(ada.inbox()), ada.spent()) == (1, 1)

    async def acquisition(client: Client) -> None:
        card = await (await client.session.get(f"{client.url}/.well-known/agent-card.json")).json()
        (required,) = [each for each in card["capabilities"]["extensions"] if each["required"]]
        assert required["uri"] == URI
        assert required["params"] == {
            "metadata_key": METADATA_KEY,
            "recipient": ada.own.did,
            "kind": KIND,
            "context_protocol": "a2a-message/send@1.0",
            "acquisition": f"{client.url}{ACQUIRE_PATH}",
            "free_discovery": True,
        }
        async with client.session.get(required["params"]["acquisition"], headers=ACTIVE) as free:
            assert (await free.json())["issues"] is False
            assert free.headers[HEADER] == URI
        refused = await client.post(ACQUIRE_PATH, {}, ACTIVE)
        assert (refused.status, refused.json["accepted_issuers"]) == (404, [ada.own.did])

    talking(ada, talk)


def test_every_bad_bearer_is_answered_alike(ada: Host) -> None:
    async def talk(client: Client) -> None:
        answers = []
        for header in (
            None,
            "",
            "Bearer",
            "Bearer nobody",
            f"Basic {client.secret}",
            f"Bearer {client.secret}x",
        ):
            headers = {
                "A2A-Version": "1.0",
                **ACTIVE,
                **({} if header is None else {"Authorization": header}),
            }
            async with client.session.post(client.url, json={}, headers=headers) as response:
                answers.append((response.status, await response.read()))
        assert len(set(answers)) == 1
        assert answers[0][0] == 401

    talking(ada, talk)


def test_whatever_is_substituted_is_refused_with_its_reason(ada: Host) -> None:
    def with_terms(**changed: str) -> Json:
        bare = semantic(ask("m-3"), ada.params)
        bound = terms(bare, ada.params, ada.own.did)
        swapped = type(bound)(**{**{name: getattr(bound, name) for name in bound.__slots__}, **changed})
        return attached(bare, ada.params, issue(ada.own.key, swapped, wall_clock(), os.urandom))

    def by(key: Any) -> Json:
        bare = semantic(ask("m-3"), ada.params)
        made = issue(key, terms(bare, ada.params, ada.own.did), wall_clock(), os.urandom)
        return attached(bare, ada.params, made)

    good = ada.signed(ask("m-3", metadata={"other": 1}, contextId=""))
    late = copy.deepcopy(good)
    late["metadata"][METADATA_KEY] = signed(
        {
            **good["metadata"][METADATA_KEY],
            "valid_until": "2026-01-01T00:00:00Z",
            "issued_at": "2026-01-01T00:00:00Z",
        },
        ada.own.key,
    )
    early = copy.deepcopy(good)
    early["metadata"][METADATA_KEY] = signed(
        {
            **good["metadata"][METADATA_KEY],
            "valid_until": "2126-01-01T00:00:00Z",
            "issued_at": "2126-01-01T00:00:00Z",
        },
        ada.own.key,
    )
    cases = [
        ("payload_mismatch", {**good, "parts": [{"text": "Thirteen crates?"}]}),
        ("payload_mismatch", {**good, "messageId": "m-4"}),
        ("payload_mismatch", {**good, "taskId": "m-1"}),
        ("payload_mismatch", {**good, "extensions": []}),
        ("payload_mismatch", {**good, "metadata": {**good["metadata"], "other": 2}}),
        ("payload_mismatch", {**good, "metadata": {METADATA_KEY: good["metadata"][METADATA_KEY]}}),
        ("payload_mismatch", {name: each for name, each in good.items() if name != "contextId"}),
        ("wrong_recipient", with_terms(recipient=write_did(STRANGER.public))),
        ("wrong_purpose", with_terms(kind="intent")),
        ("context_mismatch", with_terms(context_protocol="a2a-message/send@0.3.0")),
        ("context_mismatch", with_terms(message_id="m-4")),
        ("untrusted_issuer", by(STRANGER)),
        ("expired", late),
        ("not_yet_valid", early),
    ]

    async def talk(client: Client) -> None:
        for expected, message in cases:
            answer = await client.send(message)
            assert (answer.error, answer.info["reason"]) == ("machine_envelope_rejected", expected)
        assert (len(ada.inbox()), ada.spent()) == (0, 0)
        assert "result" in (await client.send(good)).json
        assert (await client.send(good)).info["reason"] == "replayed"

    talking(ada, talk)


def test_of_a_hundred_at_once_exactly_one_passes(ada: Host) -> None:
    message = ada.signed(ask())
    forged = [copy.deepcopy(message) for _ in range(50)]
    for number, each in enumerate(forged):
        carried = each["metadata"][METADATA_KEY]
        bit = 1 << number
        carried["proof"] = f"{int(carried['proof'], 16) ^ bit:0128x}"

    async def talk(client: Client) -> None:
        other = Client(client.session, client.url, ada.secrets[OTHER])
        sends = [(client if number % 2 else other).send(message) for number in range(50)]
        sends += [client.send(each) for each in forged]
        answers = await asyncio.gather(*sends)
        told = Counter("passed" if "result" in each.json else each.info["reason"] for each in answers)
        assert told == {"passed": 1, "replayed": 49, "invalid": 50}

    talking(ada, talk)
    assert ada.spent() == 1
    with served(ada) as url:  # also after a restart

        async def again() -> None:
            async with aiohttp.ClientSession() as session:
                answer = await Client(session, url, ada.secrets[ACME]).send(message)
                assert answer.info["reason"] == "replayed"

        asyncio.run(again())


KILLED = """
import os, signal, sys
from pathlib import Path
from bindings.a2a import clients
from bindings.machine_envelope.settled import receiver
from crypto.canonical import parse
from replica.host.config import EnvelopeConfig
from replica.node import opened

def observe(point, when):
    if (point, when) == ("machine-envelope-spent", sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

root = Path(sys.argv[1])
with opened(root) as node:
    node.store.observer = observe
    receiving = receiver(root, EnvelopeConfig(kind="offer", skills=frozenset({"ask"})))("http://here")
    client = clients.find(node, sys.argv[2])
    active = frozenset((receiving.acquisition.describe()["extension"],))
    receiving.call(node, client, "SendMessage", {"message": parse(sys.stdin.read()).value}, active)
"""


@pytest.mark.parametrize(("when", "spent"), [("before", 0), ("after", 1)])
def test_a_process_that_is_killed_leaves_the_envelope_spent_or_not_and_never_the_message_without(
    ada: Host, tmp_path: Path, when: str, spent: int
) -> None:
    message = ada.signed(ask())
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    done = subprocess.run(
        [sys.executable, str(script), str(ada.root), ada.secrets[ACME], when],
        input=rfc8785.dumps(message),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert (ada.spent(), ada.inbox()) == (spent, [])


def test_a_host_that_issues_gives_an_envelope_for_a_proof_and_for_nothing_else(ada: Host) -> None:
    async def talk(client: Client) -> None:
        bare = semantic(ask("m-5"), ada.params)
        asked = request_for(terms(bare, ada.params, write_did(SENDER.public)), SENDER)
        given = await client.post(ACQUIRE_PATH, asked, ACTIVE)
        assert (given.status, given.headers[HEADER]) == (200, URI)
        answer = await client.send(attached(bare, ada.params, given.json["envelope"]))
        assert "result" in answer.json
        digest = sha256(rfc8785.dumps(bare)).hexdigest()
        assert given.json["envelope"]["message"]["payload_sha256"] == digest
        for changed in (
            {"sender": write_did(STRANGER.public)},
            {"kind": "intent"},
            {"payload_sha256": "0" * 64},
            {"message_id": "m-6"},
            {"caller_proof": "0" * 128},
            {"more": 1},
            {"sender": 1},
        ):
            refused = await client.post(ACQUIRE_PATH, {**asked, **changed}, ACTIVE)
            assert refused.status in (400, 403)
            assert "envelope" not in refused.json
        stranger = Client(client.session, client.url, "nobody")
        assert (await stranger.post(ACQUIRE_PATH, asked, ACTIVE)).status == 401

    talking(ada, talk, ISSUE="true")
    assert ada.spent() == 1


def test_only_the_skills_that_its_owner_named_are_taken(ada: Host) -> None:
    async def talk(client: Client) -> None:
        answer = await client.send(ada.signed(ask()))
        assert answer.json["error"]["code"] == -32004
        unread = await client.send(ada.signed(ask(parts=[])))
        assert unread.json["error"]["code"] == -32602
        assert (len(ada.inbox()), ada.spent()) == (0, 0)
        handed = ada.signed(ask(metadata={WORK: {"skill": "handoff", "title": "Pack twelve crates"}}))
        task = (await client.send(handed, {HEADER: f"{URI}, {WORK}"})).json["result"]["task"]
        assert ada.spent() == 1
        more = await client.send(ada.signed(ask("m-2", "Blue ones.", taskId=task["id"])))
        assert more.json["result"]["task"]["id"] == task["id"]

    talking(ada, talk, SKILLS="handoff")


def test_the_other_card_requires_nothing_and_offers_no_handoffs_that_need_envelopes(ada: Host) -> None:
    async def work(url: str) -> None:
        async with aiohttp.ClientSession() as session:
            card = await (await session.get(f"{url}/.well-known/agent-card.json")).json()
            assert [each["uri"] for each in card["capabilities"]["extensions"] if each.get("required")] == []
            assert "handoff" not in [each["id"] for each in card["skills"]]
            plain = Client(session, url, ada.secrets[ACME])
            request = {"message": ask(), "configuration": {"returnImmediately": True}}
            answer = await plain.post("/message:send", request, {})
            assert answer.status == 200

    with serving(ada, "--a2a", "127.0.0.1:0") as started:
        asyncio.run(work(started["a2a"]))
    assert (len(ada.inbox()), ada.spent()) == (1, 0)
