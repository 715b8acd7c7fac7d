"""Mail to a peer and what comes back: each row of section 8.9's table of peer events."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from aiohttp import web

from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.peers import adding, schedule
from core.errors import DmpError
from core.gate_types import GATE_TYPES
from core.inputs import Sender, SendInput
from core.message import Message, State
from crypto.canonical import JsonValue
from replica.host.raising import raise_gate
from tests.bindings.a2a.peers.stage import (
    COMPLETED,
    INPUT,
    SECRET,
    WORKING,
    Json,
    ScriptedPeer,
    Stage,
    refusal,
    stage,
)
from tests.replica.world import Machine

Play = Callable[[Stage], Awaitable[None]]
PEER = "a2a:acme"


def play(ada: Machine, peer: ScriptedPeer, scene: Play) -> None:
    async def run() -> None:
        async with stage(ada, peer) as made:
            await scene(made)

    asyncio.run(run())


def task_of(message: Message) -> str:
    return f"t-{message.id}"


# Sending


def test_a_question_goes_as_one_request_and_becomes_pushed_once_it_is_accepted(
    ada: Machine, peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.send(
            PEER, "Ship it?", kind="question", choices=["yes", "no"], blocking=True, data={"n": 1}
        )
        assert s.state(asked) is State.HELD
        await s.work()
        assert s.state(asked) is State.PUSHED
        (sent,) = peer.sent
        assert sent["configuration"]["returnImmediately"] is True
        message = sent["message"]
        assert message["messageId"] == asked.id
        assert message["role"] == "ROLE_USER"
        assert message["parts"] == [
            {"text": "Ship it?", "mediaType": "text/markdown"},
            {"data": {"n": 1}, "mediaType": "application/json"},
        ]
        assert message["extensions"] == [ENVELOPE]
        assert message["metadata"] == {
            ENVELOPE: {
                "from": "human:ada",
                "to": [PEER],
                "kind": "question",
                "choices": ["yes", "no"],
            }
        }
        headers = peer.headers[0]
        assert headers["Authorization"] == f"Bearer {SECRET}"
        assert headers["A2A-Version"] == "1.0"
        assert ENVELOPE in headers["A2A-Extensions"]
        await s.work(after=schedule.DAY)
        assert len(peer.sent) == 1

    play(ada, peer, scene)


def test_no_other_recipient_is_named_to_a_peer(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        ada.send((PEER, "task:t-abc123"), "hello")
        await s.work()
        assert one_peer.sent[0]["message"]["metadata"][ENVELOPE]["to"] == [PEER]
        assert "t-abc123" not in str(one_peer.sent[0]["message"])

    play(ada, one_peer, scene)


def test_a_handoff_carries_its_first_line_as_title_and_is_closed_at_the_first_decisive_state(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    one_peer.opens = {"state": "TASK_STATE_SUBMITTED"}

    async def scene(s: Stage) -> None:
        handoff = ada.send(PEER, "Fix the login\n\nIt loops.", kind="handoff")
        await s.work()
        assert one_peer.sent[0]["message"]["metadata"][WORK] == {"skill": "handoff", "title": "Fix the login"}
        assert s.answer(handoff) is None
        one_peer.says(task_of(handoff), WORKING, "On it.")
        await s.work(after=5_000)
        closed = s.answer(handoff)
        assert closed is not None
        assert closed.data == {"type": "x-closed", "reason": "the peer took it on"}
        assert [each.body for each in s.said(sender=PEER, kind="notice")] == ["On it."]
        one_peer.says(
            task_of(handoff),
            COMPLETED,
            "Done.",
            artifacts=[{"artifactId": "a", "parts": [{"text": "+1 -1"}]}],
        )
        await s.work(after=schedule.MINUTE)
        assert [each.body for each in s.said(sender=PEER, kind="notice")] == ["On it.", "Done.\n\n+1 -1"]

    play(ada, one_peer, scene)


# The table of peer events


def test_a_direct_message_answers_a_question_put_to_the_peer(ada: Machine, peer: ScriptedPeer) -> None:
    async def reply(_: web.Request, body: Json) -> web.StreamResponse:
        return web.json_response(
            {"message": {"messageId": "p1", "role": "ROLE_AGENT", "parts": [{"text": "Yes."}]}}
        )

    peer.on_send = reply

    async def scene(s: Stage) -> None:
        asked, told = ada.ask(PEER), ada.send(PEER, "By the way.")
        await s.work()
        answer = s.answer(asked)
        assert answer is not None
        assert (answer.sender, answer.body) == (PEER, "Yes.")
        assert s.state(asked) is State.ANSWERED
        (other,) = s.said(kind="message", sender=PEER)
        assert other.reply_to == told.id

    play(ada, peer, scene)


def test_completed_answers_with_the_status_text_and_the_artifacts(ada: Machine, peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        artifact = {
            "artifactId": "answer",
            "parts": [{"text": "All checks passed."}, {"data": {"type": "wake", "n": 2}}],
            "metadata": {WORK: {"kind": "answer", "messageId": "x", "choice": "yes"}},
        }
        peer.says(task_of(asked), COMPLETED, "Ship it.", artifacts=[artifact])
        await s.work(after=5_000)
        answer = s.answer(asked)
        assert answer is not None
        assert (answer.sender, answer.kind, answer.choice) == (PEER, "answer", "yes")
        assert answer.body == "Ship it.\n\nAll checks passed."
        assert answer.data == {ENVELOPE: {"type": "wake", "n": 2}}
        await s.work(after=schedule.DAY)
        assert len(s.said(sender=PEER)) == 1

    play(ada, peer, scene)


def test_completed_of_a_message_is_a_notice(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        told = ada.send(PEER, "The build is red.")
        await s.work()
        one_peer.says(task_of(told), COMPLETED, "Noted.")
        await s.work(after=5_000)
        assert [(each.kind, each.body) for each in s.said(sender=PEER)] == [("notice", "Noted.")]

    play(ada, one_peer, scene)


def test_input_required_asks_the_sender_and_the_answer_goes_back_to_the_task(
    ada: Machine, peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        offered = {ENVELOPE: {"choices": [" blue ", "green\nish", "blue", 5, "x" * 300]}}
        peer.says(task_of(asked), INPUT, "Which?", metadata=offered)
        await s.work(after=5_000)
        await s.work(after=60_000)  # the same event again
        (question,) = s.said(sender=PEER, kind="question")
        assert (question.blocking, question.reply_to, question.body) == (True, asked.id, "Which?")
        assert question.choices == ("blue", "green ish", "x" * 200)
        ada.answer(question, "blue")
        await s.work()
        message = peer.sent[-1]["message"]
        assert (message["taskId"], message["contextId"]) == (task_of(asked), f"ctx-{task_of(asked)}")
        assert message["metadata"][ENVELOPE]["choice"] == "blue"
        peer.says(task_of(asked), COMPLETED, "Blue it is.")
        await s.work(after=60_000)
        answer = s.answer(asked)
        assert answer is not None
        assert answer.body == "Blue it is."

    play(ada, peer, scene)


def test_a_question_left_without_choices_has_none(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        one_peer.says(task_of(asked), INPUT, "Which?", metadata={ENVELOPE: {"choices": ["", "  ", 3]}})
        await s.work(after=5_000)
        (question,) = s.said(sender=PEER, kind="question")
        assert question.choices is None

    play(ada, one_peer, scene)


def test_auth_required_is_a_notice_that_the_peer_waits(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        one_peer.says(task_of(asked), "TASK_STATE_AUTH_REQUIRED")
        await s.work(after=5_000)
        assert [each.body for each in s.said(sender=PEER, kind="notice")] == [
            "Waiting for its own authorization."
        ]

    play(ada, one_peer, scene)


def test_words_about_work_are_notices_once_a_minute_at_most(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        for step in range(20):
            one_peer.says(task_of(asked), WORKING, f"Step {step}.")
            await s.work(after=10_000)
        told = [each.body for each in s.said(sender=PEER, kind="notice")]
        assert told == ["Step 0.", "Step 6.", "Step 12.", "Step 18."]

    play(ada, one_peer, scene)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("TASK_STATE_FAILED", 'the peer failed: “No "disk".”'),
        ("TASK_STATE_REJECTED", 'the peer rejected it: “No "disk".”'),
        ("TASK_STATE_CANCELED", 'the peer canceled it: “No "disk".”'),
    ],
)
def test_an_end_without_a_result_closes_a_question_with_the_peers_reason(
    ada: Machine, one_peer: ScriptedPeer, state: str, reason: str
) -> None:
    async def scene(s: Stage) -> None:
        asked, told = ada.ask(PEER), ada.send(PEER, "By the way.")
        await s.work()
        one_peer.says(task_of(asked), state, "No “disk”.")
        one_peer.says(task_of(told), state, "No “disk”.")
        await s.work(after=5_000)
        closed = s.answer(asked)
        assert closed is not None
        assert (closed.sender, closed.data) == ("agent:dispatch", {"type": "x-closed", "reason": reason})
        assert [(each.reply_to, each.body) for each in s.said(sender=PEER, kind="notice")] == [
            (told.id, "No “disk”.")
        ]

    play(ada, one_peer, scene)


def test_a_question_of_a_task_that_ended_is_closed_too(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        one_peer.says(task_of(asked), INPUT, "Which?")
        await s.work(after=5_000)
        one_peer.says(task_of(asked), "TASK_STATE_CANCELED")
        await s.work(after=60_000)
        (question,) = s.said(sender=PEER, kind="question")
        assert s.answer(question) is not None
        assert s.node.engine.open_blocking() == []

    play(ada, one_peer, scene)


def test_a_task_without_an_end_closes_its_question_after_seven_days(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        asked = ada.ask(PEER)
        await s.work()
        await s.work(after=schedule.LONGEST_TASK - 1)
        assert s.answer(asked) is None
        await s.work(after=schedule.HOUR)
        closed = s.answer(asked)
        assert closed is not None
        assert "did not end within 7 days" in closed.body
        before = one_peer.asked
        await s.work(after=schedule.DAY)
        assert one_peer.asked == before

    play(ada, one_peer, scene)


# Channels


def test_a_reply_to_a_channels_question_is_a_message_and_never_its_answer(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def reply(_: web.Request, body: Json) -> web.StreamResponse:
        return web.json_response(
            {"message": {"messageId": "p1", "role": "ROLE_AGENT", "parts": [{"text": "Yes."}]}}
        )

    async def scene(s: Stage) -> None:
        for member in (PEER, "human:ada"):
            s.node.engine.join("all", member)
        one_peer.on_send = reply
        asked = ada.ask("channel:all")
        await s.work()
        assert s.answer(asked) is None
        assert [(each.kind, each.body) for each in s.said(sender=PEER)] == [("message", "Yes.")]
        one_peer.on_send = None
        other = ada.ask("channel:all", body="And this?")
        await s.work()
        one_peer.says(task_of(other), "TASK_STATE_FAILED", "No.")
        await s.work(after=5_000)
        assert s.answer(other) is None
        assert [each.body for each in s.said(sender=PEER, kind="notice")] == ["No."]

    play(ada, one_peer, scene)


def test_an_inactive_peer_in_a_channel_is_skipped_with_one_notice_a_day(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        s.node.engine.join("all", PEER)
        peer = adding.need(s.node, "acme")
        adding.disable(s.node, peer, "because")
        for _ in range(3):
            sent = ada.send("channel:all", "hello")
            assert s.node.engine.deliveries(sent.id) == []
            await s.work()
        notices = [each for each in s.said(kind="notice") if "channel" in each.body]
        assert len(notices) == 1
        assert one_peer.sent == []
        ada.clock.ms += schedule.DAY
        ada.send("channel:all", "hello")
        await s.work()
        assert len([each for each in s.said(kind="notice") if "channel" in each.body]) == 2

    play(ada, one_peer, scene)


def test_a_direct_send_to_a_peer_that_is_absent_or_inactive_is_not_found(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def scene(s: Stage) -> None:
        adding.disable(s.node, adding.need(s.node, "acme"), "because")
        refusals = []
        for address in (PEER, "a2a:nobody"):
            with pytest.raises(DmpError) as refused:
                ada.send(("human:ada", address), "hello")
            refusals.append((refused.value.code, refused.value.field, refused.value.message))
        assert refusals[0] == refusals[1]
        assert refusals[0][:2] == ("not-found", "to[1]")

    play(ada, one_peer, scene)


def test_over_the_quota_a_direct_send_is_refused_and_a_channels_waits(
    ada: Machine, one_peer: ScriptedPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DMP_A2A_PEER_MESSAGES_PER_HOUR", "2")

    async def scene(s: Stage) -> None:
        s.node.engine.join("all", PEER)
        ada.send(PEER, "one")
        ada.send(PEER, "two")
        before = ada.count("messages")
        with pytest.raises(DmpError) as refused:
            ada.send(PEER, "three")
        assert (refused.value.code, refused.value.field) == ("limited", "to[0]")
        assert ada.count("messages") == before
        waiting = ada.send("channel:all", "four")
        await s.work()
        assert len(one_peer.sent) == 2
        assert s.state(waiting) is State.HELD
        await s.work(after=schedule.HOUR + 1)
        assert [each["message"]["parts"][0]["text"] for each in one_peer.sent] == ["one", "two", "four"]
        ada.send(PEER, "five")
        with pytest.raises(DmpError):
            ada.send(PEER, "six")

    play(ada, one_peer, scene)


def test_the_host_itself_sends_nothing_to_a_peer(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        s.node.engine.join("all", PEER)
        system = Sender(s.node.host.system_address)
        for to in (PEER, "channel:all"):
            sent = s.node.engine.send(system, SendInput((to,), "notice", "Of this host."))
            assert sent.deliveries == ()

    play(ada, one_peer, scene)


def test_neither_a_gate_nor_a_reply_to_one_goes_to_a_peer(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        data: dict[str, JsonValue] = {"conversation": "c-1", "actionId": "a-1", "summary": "Delete it?"}
        gate = raise_gate(s.node, GATE_TYPES["overseer-action"], data).message
        system = Sender(s.node.host.system_address)
        again = SendInput(
            (PEER,), "question", "Delete it?", data={"type": "overseer-action", **data}, blocking=True
        )
        sends = (
            lambda: ada.send(PEER, "What do you think?", replyTo=gate.id),
            lambda: s.node.engine.send(system, replace(again, choices=("confirm", "cancel"))),
        )
        for send in sends:
            with pytest.raises(DmpError) as refused:
                send()
            assert (refused.value.code, refused.value.field) == ("forbidden", "data")

    play(ada, one_peer, scene)


def test_nobody_sends_as_a_peer(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def scene(s: Stage) -> None:
        with pytest.raises(DmpError) as refused:
            s.node.engine.send(Sender(PEER), SendInput(("human:ada",), "message", "hello"))
        assert (refused.value.code, refused.value.field) == ("forbidden", "from")

    play(ada, one_peer, scene)


# Failures


def test_a_5xx_for_a_day_is_retried_with_backoff_and_then_given_up(
    ada: Machine, one_peer: ScriptedPeer
) -> None:
    async def down(_: web.Request, body: Json) -> web.StreamResponse:
        return refusal(503, "down")

    async def scene(s: Stage) -> None:
        asked, told = ada.ask(PEER), ada.send(PEER, "By the way.")
        begun = ada.clock.ms
        one_peer.on_send = down
        for _ in range(400):
            await s.work(after=5 * schedule.MINUTE)
        assert {each["message"]["messageId"] for each in one_peer.sent} == {asked.id, told.id}
        assert 100 < len(one_peer.sent) < 300
        closed = s.answer(asked)
        assert closed is not None
        assert "did not take it within 24 hours" in closed.body
        (notice,) = s.said(sender="agent:dispatch", kind="notice")
        assert notice.reply_to == told.id
        assert ada.clock.ms - begun > schedule.DAY
        sends = len(one_peer.sent)
        one_peer.on_send = None
        await s.work(after=schedule.DAY)
        assert len(one_peer.sent) == sends

    play(ada, one_peer, scene)


def test_a_4xx_is_not_retried_and_its_words_reach_the_sender_in_quotation_marks(
    ada: Machine, peer: ScriptedPeer
) -> None:
    async def no(_: web.Request, body: Json) -> web.StreamResponse:
        return refusal(400, "Too “long”\x1b[2J\nAnswer: yes")

    async def scene(s: Stage) -> None:
        asked, told = ada.ask(PEER), ada.send(PEER, "By the way.")
        peer.on_send = no
        await s.work()
        await s.work(after=schedule.DAY)
        assert len(peer.sent) == 2
        closed = s.answer(asked)
        assert closed is not None
        assert '“Too "long" [2J Answer: yes”' in closed.body
        (notice,) = s.said(sender="agent:dispatch", kind="notice")
        assert (notice.reply_to, '“Too "long" [2J' in notice.body) == (told.id, True)

    play(ada, peer, scene)


@pytest.mark.parametrize(
    ("status", "reason", "fails"),
    [(401, "", True), (403, "AUTH_EXPIRED", True), (403, "OTHER", False), (403, "", False)],
)
def test_only_a_refused_credential_marks_a_peer_failed(
    ada: Machine, one_peer: ScriptedPeer, status: int, reason: str, fails: bool
) -> None:
    async def no(_: web.Request, body: Json) -> web.StreamResponse:
        return refusal(status, "no", reason)

    async def scene(s: Stage) -> None:
        one_peer.on_send = no
        told = [ada.send(PEER, text) for text in ("one", "two")]
        await s.work()
        assert adding.need(s.node, "acme").state == ("failed" if fails else "active")
        notices = [each for each in s.said(sender="agent:dispatch") if "credential" in each.body]
        assert len(notices) == (1 if fails else 0)
        assert s.state(told[0]) is State.HELD
        assert len(one_peer.sent) == (1 if fails else 2)

    play(ada, one_peer, scene)


def test_a_peer_and_an_agent_cannot_answer_each_other_for_ever(ada: Machine, one_peer: ScriptedPeer) -> None:
    async def reply(_: web.Request, body: Json) -> web.StreamResponse:
        made = {"messageId": f"p-{len(one_peer.sent)}", "role": "ROLE_AGENT", "parts": [{"text": "And you?"}]}
        return web.json_response({"message": made})

    async def scene(s: Stage) -> None:
        one_peer.on_send = reply
        ada.send(PEER, "hello")
        for _ in range(30):
            await s.work()
            heard = s.said(sender=PEER)
            if heard:
                ada.send(PEER, "Well.", replyTo=heard[-1].id)
        assert len(s.said(sender=PEER)) == 20

    play(ada, one_peer, scene)
