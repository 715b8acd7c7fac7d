"""A blocking question waits for its answer, bounded, and holds nothing while it does (section B.2)."""

import asyncio
import contextlib
import itertools
import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from mcp.client import Client

from core.engine import Sent
from core.inputs import ReplyInput, Sender
from replica.host.agents import decide
from replica.mcp import answers, mail, server, tools
from replica.mcp.answers import CLOSED, LATER, Question
from replica.mcp.call import Call, Result, Waits
from replica.mcp.desk import Actor, Told
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.service.changes import Changes
from tests.replica.mcp.office import ADA, PATIENCE, SCOUT, SCRIBE, Office

QUESTION = {"kind": "question", "body": "Ship it?", "choices": ["yes", "no"], "blocking": True}


async def asked(ada: Office, count: int = 1) -> list[str]:
    """Wait until so many questions wait for an answer; their ids."""
    async with asyncio.timeout(PATIENCE):
        while ada.desk.waits < count:
            await asyncio.sleep(0.005)
    return [each.id for each in ada.node.engine.open_blocking()]


def answered(ada: Office, answer: Callable[[str], object], by: str = SCOUT, **question: Any) -> Any:
    """Ask, let somebody answer, and return what the tool returned."""

    async def work() -> Told:
        call = asyncio.create_task(ada.told("msg_send", by, **{"to": [ADA], **QUESTION, **question}))
        (id_,) = await asked(ada)
        answer(id_)
        return await call

    told = ada.run(work())
    assert not told.refused, told.text
    return json.loads(told.text)


def test_the_answer_is_returned_with_where_else_it_arrives(ada: Office) -> None:
    found = answered(ada, lambda id_: ada.answer(id_, "After lunch.", "yes"))
    assert found["message"]["kind"] == "question"
    assert (found["answer"]["choice"], found["answer"]["body"]) == ("yes", "After lunch.")
    (mail_,) = ada.call("inbox_read")["messages"]
    assert mail_["message"]["id"] == found["answer"]["id"]
    assert f"as delivery {mail_['delivery']['id']};" in found["note"]
    assert ada.desk.waits == 0


def test_a_sessions_scope_gate_is_waited_for(ada: Office) -> None:
    gate = {"choices": ["grant", "deny"], "data": {"type": "scope", "paths": ["docs/"], "reason": "to write"}}
    with ada.session(ada.task()) as run:
        found = answered(ada, lambda id_: ada.answer(id_, choice="grant"), by=run, **gate)
    assert (found["answer"]["from"], found["answer"]["choice"]) == (ADA, "grant")
    assert "in your mailbox" in found["note"]


def test_a_question_that_is_closed_is_waited_for_no_more(ada: Office) -> None:
    found = answered(ada, lambda id_: ada.node.engine.close(id_, "too late"))
    assert found["answer"]["data"] == {"type": "x-closed", "reason": "too late"}
    assert found["note"] == CLOSED


def test_an_agents_answer_is_waited_for_too(ada: Office) -> None:
    def answer(id_: str) -> None:
        ada.node.engine.reply(Sender(SCRIBE), id_, ReplyInput("Yes.", choice="yes"))

    assert answered(ada, answer, to=[SCRIBE])["answer"]["from"] == SCRIBE


def test_an_answer_between_the_first_look_and_the_watch_is_found(ada: Office) -> None:
    found = answers.Answered("yes", "")
    looks: Iterator[list[answers.Found]] = itertools.chain([[None]], itertools.repeat([found]))

    async def look(_: Sequence[Question]) -> list[answers.Found]:
        return next(looks)

    with Changes(ada.root / "state.db") as changes:
        changes.wait(0, PATIENCE)  # nothing is committed after it began
        waits = answers.Answers(lambda: contextlib.nullcontext(changes), look)
        assert ada.run(waits.wait(Question("m-1", SCOUT), PATIENCE)) is found


def test_a_wait_ends_in_time_and_the_answer_comes_by_mail(
    ada: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "longest_wait", lambda _, __: 0.05)
    found = ada.call("msg_send", to=[ADA], **QUESTION)
    assert (found["answer"], found["note"]) == (None, LATER)
    ada.answer(found["message"]["id"], choice="no")
    assert ada.call("inbox_read")["messages"][0]["message"]["choice"] == "no"


def test_a_handoff_is_waited_for_and_other_mail_is_not(ada: Office) -> None:
    handoff = answered(ada, lambda id_: ada.answer(id_, choice="accept"), kind="handoff", choices=None)
    assert handoff["answer"]["choice"] == "accept"
    assert "answer" not in ada.call("msg_send", to=[ADA], kind="question", body="No hurry")


@pytest.mark.parametrize(
    ("to", "configured", "seconds"),
    [
        ([ADA], 600, 1800),
        ([SCRIBE, ADA], 600, 1800),
        (["channel:people"], 600, 1800),
        ([SCRIBE], None, 600),
        ([SCRIBE], 20, 20),
        ([SCRIBE], 5000, 1800),
    ],
)
def test_humans_are_waited_for_half_an_hour_and_agents_as_configured(
    ada: Office, monkeypatch: pytest.MonkeyPatch, to: list[str], configured: int | None, seconds: int
) -> None:
    if configured is not None:
        monkeypatch.setenv("DMP_LIMITS_AGENT_BLOCKING_TIMEOUT_SEC", str(configured))
    for member in (ADA, SCRIBE):
        ada.node.engine.join("people", member)
    sent = ada.send(*to, by=SCOUT, kind="question")
    deliveries = tuple(ada.node.engine.deliveries(sent.id))
    assert mail.longest_wait(ada.node, Sent(sent, deliveries)) == seconds


def test_a_wait_that_is_cancelled_is_gone_and_the_question_stays_open(ada: Office) -> None:
    threads = threading.active_count()

    async def work() -> None:
        call = asyncio.create_task(ada.told("msg_send", to=[ADA], **QUESTION))
        await asked(ada)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        async with asyncio.timeout(PATIENCE):
            while threading.active_count() > threads + 1:  # of the one that watched the store
                await asyncio.sleep(0.005)

    ada.run(work())
    assert ada.desk.waits == 0
    (question,) = ada.node.engine.open_blocking()
    ada.answer(question.id, choice="yes")
    assert len(ada.call("inbox_read")["messages"]) == 1


def test_any_number_of_waits_takes_no_thread_and_no_transaction_of_its_own(ada: Office) -> None:
    ada.call("inbox_read")

    async def work() -> list[Told]:
        before = threading.active_count()
        calls = [
            asyncio.create_task(ada.told("msg_send", SCOUT, str(n), to=[ADA], **QUESTION)) for n in range(30)
        ]
        ids = await asked(ada, 30)
        assert threading.active_count() <= before + 1
        with ada.node.store.transaction(CommitPoint.AGENT):
            pass  # nobody is in one
        for id_ in ids:
            ada.answer(id_, choice="yes")
        return await asyncio.gather(*calls)

    told = [json.loads(each.text) for each in ada.run(work())]
    assert {each["answer"]["replyTo"] for each in told} == {each["message"]["id"] for each in told}
    assert len({each["message"]["id"] for each in told}) == 30


def test_a_call_that_is_repeated_while_it_waits_waits_for_the_same_answer(ada: Office) -> None:
    async def work() -> list[Told]:
        calls = [
            asyncio.create_task(ada.told("msg_send", SCOUT, "1", to=[ADA], **QUESTION)) for _ in range(2)
        ]
        (id_,) = await asked(ada, 2)
        ada.answer(id_, choice="yes")
        return await asyncio.gather(*calls)

    first, second = (json.loads(each.text) for each in ada.run(work()))
    assert (first["message"]["id"], first["answer"]) == (second["message"]["id"], second["answer"])
    assert {first["replayed"], second["replayed"]} == {True, False}
    late = ada.call("msg_send", SCOUT, "1", to=[ADA], **QUESTION)
    assert late["answer"] == first["answer"]


def test_whoever_is_revoked_meanwhile_hears_no_answer(ada: Office) -> None:
    async def work() -> Told:
        call = asyncio.create_task(ada.told("msg_send", to=[ADA], **QUESTION))
        (id_,) = await asked(ada)
        with ada.node.store.transaction(CommitPoint.AGENT) as db:
            decide(db, SCOUT, "revoked")
        ada.answer(id_, choice="yes")
        return await call

    told = ada.run(work())
    assert told.refused
    assert json.loads(told.text)["code"] == "forbidden"


def test_a_client_that_wants_to_know_is_told_that_a_call_goes_on(
    ada: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PROGRESS_SECONDS", 0.01)
    tools_ = server.server(ada.desk, lambda _: Actor(SCOUT), lambda _: None)

    async def work() -> None:
        told = asyncio.Event()

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            assert message == "still waiting for the answer"
            told.set()

        async with Client(tools_) as client:
            asking = asyncio.create_task(
                client.call_tool("msg_send", {"to": [ADA], **QUESTION}, progress_callback=progress)
            )
            await told.wait()
            (id_,) = await asked(ada)
            ada.answer(id_, choice="yes")
            assert not (await asking).is_error

    ada.run(work())


def test_who_waits_when_the_service_ends_is_told_where_the_answer_comes(ada: Office) -> None:
    async def work() -> tuple[Told, Told]:
        call = asyncio.create_task(ada.told("msg_send", to=[ADA], **QUESTION))
        await asked(ada)
        ada.desk.end()
        return await call, await ada.told("msg_send", to=[ADA], **QUESTION)

    assert [json.loads(each.text)["note"] for each in ada.run(work())] == [LATER, LATER]


def test_who_comes_when_too_many_wait_does_not(ada: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_WAITS", 0)
    assert ada.call("msg_send", to=[ADA], **QUESTION)["note"] == LATER


# What goes wrong


def test_a_send_whose_connection_drops_is_tried_once_more_and_stored_once(
    ada: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def flaky(node: Node, call: Call) -> Result | Waits:
        found = mail.msg_send(node, call)
        tried.append(call.key)
        if len(tried) == 1:
            raise sqlite3.OperationalError("disk I/O error")
        return found

    monkeypatch.setitem(tools.BY_NAME, "msg_send", replace(tools.BY_NAME["msg_send"], run=flaky))
    assert ada.call("msg_send", to=[ADA], kind="message", body="Hi")["replayed"] is True
    assert (len(set(tried)), len(tried), ada.stored()) == (1, 2, 1)


@pytest.mark.parametrize(
    ("error", "code"), [(sqlite3.OperationalError("full"), "unavailable"), (KeyError("Ship it?"), "bug")]
)
def test_what_fails_here_is_said_without_a_traceback_or_a_text(
    ada: Office,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    code: str,
) -> None:
    def failing(_: Node, __: Call) -> Result:
        raise error

    monkeypatch.setitem(tools.BY_NAME, "msg_send", replace(tools.BY_NAME["msg_send"], run=failing))
    with caplog.at_level(logging.DEBUG):
        refused = ada.refused("msg_send", to=[ADA], kind="message", body="Ship it?")
    assert refused["code"] == code
    assert "Traceback" not in refused["error"]
    assert "Ship it?" not in "".join((refused["error"], *(each.getMessage() for each in caplog.records)))
