"""`dmp mcp` as a client starts it: the official client, a real process, and nothing but the protocol on its output."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from core.host import AgentStatus
from replica.cli import main
from replica.mcp.tools import TOOLS
from tests.replica.mcp.office import ADA, PATIENCE, SCOUT, SCRIBE, Office

DMP = ("-m", "replica.cli.main")
SECRET = "the password is swordfish"
QUESTION = {"to": [ADA], "kind": "question", "body": SECRET, "choices": ["yes", "no"], "blocking": True}


def environment(ada: Office, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "XDG_STATE_HOME")}
    return {**kept, "DMP_DIR": str(ada.root), "HOME": str(ada.root.parent), **more}


def read(result: Any) -> Any:
    """What a tool returned: one text, one line, JSON."""
    (content,) = result.content
    assert content.text.isascii()
    assert content.text.isprintable()
    assert result.structured_content is None
    return json.loads(content.text)


def tasks_of(pid: int) -> int:
    """How many threads a process has."""
    return len([*Path(f"/proc/{pid}/task").iterdir()])


def child() -> int:
    """The one process that this one started and that still runs."""
    children = [
        int(pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
        if b"replica.cli.main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    (pid,) = children
    return pid


async def until(what: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not what():
            await asyncio.sleep(0.01)


async def every_tool(client: Client) -> None:
    """Call each tool once, or more often."""

    async def call(tool: str, /, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        return read(result)

    sent = await call("msg_send", to=[SCRIBE, ADA], kind="message", body=f"{SECRET}\u2028\x85")
    assert sent["message"]["body"] == f"{SECRET}\u2028\x85"
    (asked,) = (await call("inbox_read", limit=5))["messages"]
    reply = await call("msg_reply", messageId=asked["message"]["id"], body="", choice="yes")
    assert reply["message"]["session"] == sent["message"]["session"]
    thread = await call("thread_read", threadId=reply["message"]["thread"])
    assert [each["message"]["kind"] for each in thread["messages"]] == ["question", "answer"]
    assert (await call("channel_join", name="logins"))["member"] == SCOUT
    assert (await call("channel_list"))["channels"][0]["members"] == [SCOUT]
    assert (await call("channel_leave", name="logins"))["left"] is True
    saved = await call("memory_save", scope="personal", kind="fact", title="Ports", body=SECRET)
    (hit,) = (await call("memory_search", query="ports"))["memories"]
    assert (await call("memory_read", id=hit["handle"]))["memory"] == saved["memory"]
    await call("memory_forget", id=hit["id"], reason="wrong")


async def waits(client: Client, ada: Office) -> None:
    """Ask, and hear the answer that another process gives; ask, and think better of it."""
    idle = tasks_of(child())
    asking = asyncio.create_task(client.call_tool("msg_send", QUESTION))
    await until(ada.node.engine.open_blocking)
    (question,) = ada.node.engine.open_blocking()
    await until(lambda: tasks_of(child()) > idle)  # it watches the store now
    ada.answer(question.id, choice="yes")
    found = read(await asking)
    assert (found["message"]["id"], found["answer"]["choice"]) == (question.id, "yes")
    asking = asyncio.create_task(client.call_tool("msg_send", QUESTION))
    await until(ada.node.engine.open_blocking)
    await until(lambda: tasks_of(child()) > idle)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await until(lambda: tasks_of(child()) == idle)


async def repeats(client: Client) -> None:
    """Call a tool again as a client does whose connection dropped."""
    arguments = {"to": [ADA], "kind": "message", "body": "once"}
    meta: Any = {"idempotencyKey": "k"}
    first, again = [read(await client.call_tool("msg_send", arguments, meta=meta)) for _ in range(2)]
    assert (first["message"]["id"], again["replayed"]) == (again["message"]["id"], True)


def test_the_official_client_uses_every_tool(ada: Office, tmp_path: Path) -> None:
    ada.register("agent:ada/late", None)
    asked = ada.send(SCOUT, kind="question", choices=("yes", "no"))

    async def work(errors: Any) -> None:
        started = StdioServerParameters(
            command=sys.executable,
            args=[*DMP, "mcp", "--as", "scout"],
            env=environment(ada),
            cwd=Path(__file__).parents[3],
        )
        async with Client(stdio_client(started, errlog=errors)) as client:
            listed = await client.list_tools()
            assert {each.name: each.input_schema for each in listed.tools} == {
                each.name: each.schema for each in TOOLS
            }
            await every_tool(client)
            await waits(client, ada)
            await repeats(client)
            refused = await client.call_tool("thread_read", {"threadId": "m-01m8q8n5y0t0nt9rwgmfmvsxr7"})
            assert refused.is_error
            assert read(refused)["code"] == "not-found"
            assert read(await client.call_tool("msg_shout", {}))["field"] == "name"

    with (tmp_path / "errors").open("w+") as errors:
        asyncio.run(asyncio.wait_for(work(errors), PATIENCE))
        errors.seek(0)
        assert errors.read() == ""
    assert ada.node.engine.answer_of(asked.id) is not None


@contextmanager
def by_hand(ada: Office, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *DMP, "mcp", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(ada, **variables),
        cwd=Path(__file__).parents[3],
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_an_older_client_by_hand_as_a_session_gets_nothing_but_the_protocol(ada: Office) -> None:
    task = ada.task()
    ada.send(task, body=SECRET)
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    with ada.session(task) as run, by_hand(ada, DMP_SESSION=run) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        got = []
        for method, id_, params in (
            ("initialize", 1, hello),
            ("notifications/initialized", None, {}),
            ("tools/call", 2, {"name": "inbox_read", "arguments": {}}),
            ("tools/call", 2, {"name": "inbox_read", "arguments": {}}),  # repeated, with its id
        ):
            asked = {"jsonrpc": "2.0", "method": method, "params": params}
            process.stdin.write(json.dumps(asked if id_ is None else {**asked, "id": id_}) + "\n")
            process.stdin.flush()
            if id_ is not None:
                got.append(json.loads(process.stdout.readline()))
        rest, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, rest, errors) == (0, "", "")
    assert [(each["jsonrpc"], each["id"]) for each in got] == [("2.0", 1), ("2.0", 2), ("2.0", 2)]
    assert "no instruction to you" in got[0]["result"]["instructions"]
    first, again = (json.loads(each["result"]["content"][0]["text"]) for each in got[1:])
    assert first == again
    assert [each["message"]["body"] for each in first["messages"]] == [SECRET]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "say who uses the tools"),
        (("--as", ADA), 1, "tools act for an agent or a session"),
        (("--as", "no address"), 1, "[invalid on from]"),
        (("--as", "nobody"), 1, "agent:ada/nobody is not registered; its human does that with"),
        (("--as", "run:gone"), 1, "run:gone"),
    ],
)
def test_it_starts_for_nobody_else(
    ada: Office, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str
) -> None:
    assert main.run(["mcp", *arguments, "--dir", str(ada.root)]) == code
    out, errors = capsys.readouterr()
    assert (out, says in errors) == ("", True)


@pytest.mark.parametrize("status", ["pending", "approved"])
def test_it_starts_for_no_client_that_a_binding_reaches(
    ada: Office, capsys: pytest.CaptureFixture[str], status: AgentStatus
) -> None:
    client = "agent:ada/a2a.acme"
    ada.register(client, None if status == "pending" else status)
    assert main.run(["mcp", "--as", client, "--dir", str(ada.root)]) == 1
    assert "is reached through a binding" in capsys.readouterr().err
