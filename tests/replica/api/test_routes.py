"""Section A.2, row by row: what each route does, for whom, and what it answers otherwise."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender, SendInput
from core.message import State
from replica.api import app, recent, table
from replica.api.routes import ROUTES
from replica.host import raising
from replica.node import opened
from replica.records.tokens import Tier
from tests.replica.api.host import PATIENCE, Host, User, quoted, served, session, work_item

A_2 = [
    "POST /api/messages",
    "GET /api/messages/{id}",
    "POST /api/messages/{id}/reply",
    "GET /api/messages/{id}/answer",
    "GET /api/threads",
    "GET /api/threads/{id}",
    "GET /api/mailbox",
    "POST /api/deliveries/{id}/read",
    "GET /api/channels",
    "POST /api/channels/{name}/members",
    "DELETE /api/channels/{name}/members",
    "DELETE /api/channels/{name}/members/{addr}",
    "GET /api/agents/roster",
    "POST /api/agents/register",
    "POST /api/agents/{addr}/approve",
    "POST /api/agents/{addr}/revoke",
    "POST /api/agents/{addr}/mute",
    "POST /api/agents/{addr}/unmute",
    "GET /api/decisions/open",
]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with served(tmp_path_factory.mktemp("routes")) as made:
        yield made


@pytest.fixture(scope="module")
def ada(host: Host) -> User:
    return host.user()


@pytest.fixture(scope="module")
def bot(host: Host) -> User:
    return host.agent("bot")


@pytest.fixture(scope="module")
def stranger(host: Host) -> User:
    """An agent that takes part in nothing."""
    return host.agent("stranger")


def gate(host: Host, key: str) -> str:
    """A tool-approval gate to Ada."""
    data: dict[str, Any] = {
        "requestId": key,
        "runId": "r-0000aa",
        "tool": "Bash",
        "input": {},
        "floor": False,
    }
    return raising.raise_gate(host.node, GATE_TYPES["tool-approval"], data, key=key).message.id


def test_every_route_of_the_table_is_there() -> None:
    assert [each for each in A_2 if each not in {f"{route.method} {route.path}" for route in ROUTES}] == []


# POST /api/messages


def test_post_messages_sends_as_the_caller(ada: User, bot: User) -> None:
    got = bot.post(
        "/api/messages", {"to": ["human:ada"], "kind": "message", "body": "x", "from": "human:ada"}
    )
    assert got.status == 201
    assert got.json["message"]["from"] == "agent:ada/bot"
    assert [each["recipient"] for each in got.json["deliveries"]] == ["human:ada"]
    assert (got.json["replayed"], got.json["downgraded"]) == (False, False)


def test_post_messages_replays_an_idempotency_key_with_200(ada: User, bot: User) -> None:
    given = {"to": ["human:ada"], "kind": "message", "body": "once"}
    first = bot.post("/api/messages", given, {"Idempotency-Key": "k"})
    again = bot.post("/api/messages", {**given, "body": "twice"}, {"Idempotency-Key": "k"})
    in_body = bot.post("/api/messages", {**given, "idempotencyKey": "k"})
    others = ada.post("/api/messages", {**given, "to": ["human:bob"]}, {"Idempotency-Key": "k"})
    assert (first.status, again.status, in_body.status, others.status) == (201, 200, 200, 201)
    assert first.json["message"] == again.json["message"] == in_body.json["message"]
    assert again.json["replayed"] is True
    differing = bot.post("/api/messages", {**given, "idempotencyKey": "j"}, {"Idempotency-Key": "k"})
    assert (differing.status, differing.json["field"]) == (400, "idempotencyKey")
    too_long = bot.post("/api/messages", given, {"Idempotency-Key": "k" * 201})
    assert (too_long.status, too_long.json["field"]) == (400, "idempotencyKey")


def test_post_messages_answers_a_guardrail_with_429(host: Host, ada: User) -> None:
    talker = host.agent("talker")
    target = ada.send("agent:ada/talker")
    statuses = [
        talker.post(f"/api/messages/{target['id']}/reply", {"body": "x"}).status
        for _ in range(host.node.host.limits.agent_turns_per_thread_per_hour + 1)
    ]
    assert set(statuses[:-1]) == {201}
    assert statuses[-1] == 429


# GET /api/messages/{id}


def test_get_message_answers_who_may_not_read_it_as_for_an_absent_id(
    ada: User, bot: User, stranger: User
) -> None:
    """Section 13.5: to the byte, headers too."""
    there = ada.send("agent:ada/bot")["id"]
    absent = there[:-5] + "zzzzz"
    for path in ("", "/answer"):
        refused = stranger.get(f"/api/messages/{there}{path}")
        missing = stranger.get(f"/api/messages/{absent}{path}")
        assert refused.status == 404
        assert refused.json["error"] == f"no message {there}"
        status, headers, raw = missing.comparable
        assert refused.comparable == (status, headers, raw.replace(absent.encode(), there.encode()))
    assert bot.get(f"/api/messages/{there}").json["body"] == "Hello"
    assert ada.get(f"/api/messages/{there}").json["id"] == there


def test_get_message_of_a_deciding_human_reads_any(host: Host, bot: User, stranger: User) -> None:
    theirs = bot.send("agent:ada/stranger")["id"]
    assert host.user("human:carol", Tier.DECIDE).get(f"/api/messages/{theirs}").status == 200
    assert host.user("human:carol", Tier.REQUEST).get(f"/api/messages/{theirs}").status == 404


# POST /api/messages/{id}/reply


def test_post_reply_answers_a_question_and_else_sends_a_message(ada: User, bot: User) -> None:
    question = ada.send("agent:ada/bot", kind="question", choices=["yes", "no"])
    answered = bot.post(f"/api/messages/{question['id']}/reply", {"body": "", "choice": "yes"})
    assert answered.status == 201
    assert (answered.json["message"]["kind"], answered.json["message"]["choice"]) == ("answer", "yes")
    thanks = ada.post(f"/api/messages/{answered.json['message']['id']}/reply", {"body": "Thanks"})
    assert (thanks.status, thanks.json["message"]["kind"]) == (201, "message")
    twice = bot.post(f"/api/messages/{question['id']}/reply", {"body": "", "choice": "no"})
    assert (twice.status, twice.json["code"], twice.json["field"]) == (409, "conflict", "replyTo")


def test_post_reply_of_a_non_participant_is_not_found_on_reply_to_as_for_an_absent_id(
    ada: User, stranger: User
) -> None:
    there = ada.send("agent:ada/bot")["id"]
    refused = stranger.post(f"/api/messages/{there}/reply", {"body": "x"})
    missing = stranger.post("/api/messages/m-absent/reply", {"body": "x"})
    assert (refused.status, refused.json["field"]) == (404, "replyTo")
    assert refused.comparable == missing.comparable
    malformed = stranger.post(f"/api/messages/{there}/reply", {"body": 5})
    assert malformed.comparable == missing.comparable  # participation comes before validation (section 4.5)


def test_post_reply_to_a_gate_needs_a_deciding_human(host: Host, ada: User, bot: User) -> None:
    id_ = gate(host, "reply")
    assert (
        host.user("human:dan").post(f"/api/messages/{id_}/reply", {"body": "", "choice": "approve"}).status
        == 404
    )
    assert bot.post(f"/api/messages/{id_}/reply", {"body": "", "choice": "approve"}).status == 404
    decided = ada.post(f"/api/messages/{id_}/reply", {"body": "", "choice": "approve"})
    assert decided.status == 201


def test_a_gate_decided_by_requests_and_commands_at_once_has_one_decision(host: Host, ada: User) -> None:
    for round_ in range(10):
        id_ = gate(host, f"race-{round_}")
        ready = threading.Barrier(4)

        def by_request(choice: str, id_: str = id_, ready: threading.Barrier = ready) -> bool:
            ready.wait(PATIENCE)
            status = ada.post(f"/api/messages/{id_}/reply", {"body": "", "choice": choice}).status
            assert status in (201, 409)
            return status == 201

        def by_command(choice: str, id_: str = id_, ready: threading.Barrier = ready) -> bool:
            with opened(host.root) as node:
                ready.wait(PATIENCE)
                try:
                    node.engine.reply(
                        Sender(node.address, can_decide=True), id_, ReplyInput("", choice=choice)
                    )
                except DmpError as error:
                    if error.code is not Code.CONFLICT:
                        raise
                    return False
            return True

        with ThreadPoolExecutor(4) as pool:
            both = [
                pool.submit(each, choice)
                for each in (by_request, by_command)
                for choice in ("approve", "deny")
            ]
            assert sum(each.result() for each in both) == 1
        answers = [each for each in host.node.engine.thread(id_) if each.kind == "answer"]
        assert [each.reply_to for each in answers] == [id_]


# GET /api/messages/{id}/answer


def test_get_answer_is_null_until_there_is_one_and_400_for_another_kind(ada: User, bot: User) -> None:
    question = ada.send("agent:ada/bot", kind="question")
    path = f"/api/messages/{question['id']}/answer"
    assert ada.get(path).json == {"answer": None}
    answer = bot.post(f"/api/messages/{question['id']}/reply", {"body": "So"}).json["message"]
    assert ada.get(path).json["answer"]["id"] == answer["id"]
    assert ada.get(f"{path}?wait=1").json["answer"]["id"] == answer["id"]
    plain = ada.send("human:bob")
    assert ada.get(f"/api/messages/{plain['id']}/answer").status == 400


def waiting(user: User, question: str) -> tuple[threading.Thread, list[Any]]:
    """Somebody who waits for an answer in a thread."""
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(user.get(f"/api/messages/{question}/answer?wait=1").json["answer"])
    )
    thread.start()
    return thread, found


def test_get_answer_waits_for_the_asker_a_session_acting_for_it_and_a_deciding_human(
    host: Host, ada: User, bot: User
) -> None:
    task = work_item(host)
    with session(host, task) as run:
        asker = host.user(run)
        question = asker.send("agent:ada/bot", kind="question", blocking=True)["id"]
        threads = [
            waiting(each, question) for each in (asker, asker, ada, host.user("human:eve", Tier.DECIDE))
        ]
        answer = bot.post(f"/api/messages/{question}/reply", {"body": "Done"}).json["message"]["id"]
        for thread, found in threads:
            thread.join(PATIENCE)
            assert [each["id"] for each in found] == [answer]


def test_get_answer_ends_its_wait_with_null(monkeypatch: pytest.MonkeyPatch, ada: User, bot: User) -> None:
    monkeypatch.setattr(app, "WAIT_SECONDS", 0.2)
    question = bot.send("human:ada", kind="question", blocking=True)
    begun = time.monotonic()
    assert bot.get(f"/api/messages/{question['id']}/answer?wait=1").json == {"answer": None}
    assert time.monotonic() - begun >= 0.2


def test_get_answer_does_not_wait_for_who_was_asked(ada: User, bot: User) -> None:
    question = ada.send("agent:ada/bot", kind="question", blocking=True)
    begun = time.monotonic()
    assert bot.get(f"/api/messages/{question['id']}/answer?wait=1").json == {"answer": None}
    assert time.monotonic() - begun < table.WAIT_SECONDS


def test_get_answer_of_a_gate_is_null_until_its_effect_was_tried(host: Host, ada: User) -> None:
    """Section 5.5: no one hears of an answer before."""
    id_ = gate(host, "effect")
    heard: list[Any] = []
    host_of = host.node.host
    host_of.apply_effect = lambda *_: heard.append(ada.get(f"/api/messages/{id_}/answer").json)  # type: ignore[method-assign]
    try:
        host.node.engine.reply(Sender("human:ada", True), id_, ReplyInput("", choice="deny"))
    finally:
        del host_of.apply_effect
    assert heard == [{"answer": None}]
    assert ada.get(f"/api/messages/{id_}/answer").json["answer"]["choice"] == "deny"


# GET /api/threads


def test_get_threads_lists_the_latest_first_for_a_deciding_human(ada: User, bot: User) -> None:
    one, two = ada.send("human:bob", body="one"), ada.send("agent:ada/bot", body="two")
    late = bot.post(f"/api/messages/{two['id']}/reply", {"body": "late"}).json["message"]
    ada.post(f"/api/messages/{one['id']}/reply", {"body": "later"})
    found = ada.get("/api/threads?limit=2").json
    assert [each["thread"] for each in found["threads"]] == [one["id"], two["id"]]
    assert found["threads"][1]["latest"]["id"] == late["id"]
    assert found["threads"][1]["first"]["id"] == two["id"]
    assert found["threads"][1]["messages"] == 2
    assert bot.get("/api/threads").status == 403
    for limit in ("0", "201", "x", "-1", "1.0", "٣"):
        assert ada.get(f"/api/threads?limit={quoted(limit)}").status == 400, limit


def test_get_threads_goes_on_where_a_page_ended(ada: User) -> None:
    for index in range(5):
        ada.send("human:bob", body=str(index))
    whole = [each["thread"] for each in ada.get("/api/threads?limit=200").json["threads"]]
    pages: list[str] = []
    path = "/api/threads?limit=2"
    while True:
        page = ada.get(path).json
        pages += [each["thread"] for each in page["threads"]]
        if page["next"] is None:
            break
        path = f"/api/threads?limit=2&before={page['next']}"
    assert pages == whole
    assert ada.get("/api/threads?before=m-none").status == 404


def test_get_threads_looks_at_no_more_messages_than_it_may(
    monkeypatch: pytest.MonkeyPatch, ada: User
) -> None:
    first = ada.send("human:bob")["id"]
    for _ in range(4):
        ada.post(f"/api/messages/{first}/reply", {"body": "more"})
    monkeypatch.setattr(recent, "LOOKED_AT", 3)
    page = ada.get("/api/threads").json
    assert [each["thread"] for each in page["threads"]] == [first]
    following = ada.get(f"/api/threads?before={page['next']}").json
    assert first not in [each["thread"] for each in following["threads"]]


def test_get_threads_about_a_work_item_are_its_and_its_sessions(host: Host, ada: User) -> None:
    task = work_item(host)
    with session(host, task) as run:
        told = ada.send(task)["id"]
        said = host.user(run).send("human:bob")["id"]
    ada.send("human:bob")
    found = ada.get(f"/api/threads?about={quoted(task)}").json
    assert [each["thread"] for each in found["threads"]] == [said, told]
    assert ada.get("/api/threads?about=human:ada").status == 400
    assert ada.get(f"/api/threads?about={quoted(task)}&before={told}").status == 400


# GET /api/threads/{id}


def test_get_thread_is_all_of_it_to_who_may_read_any_of_its_messages(ada: User, bot: User) -> None:
    first = ada.send("human:bob")
    ada.send("agent:ada/bot", replyTo=first["id"], body="aside")
    found = bot.get(f"/api/threads/{first['id']}").json
    assert [each["message"]["body"] for each in found["messages"]] == ["Hello", "aside"]
    assert found["messages"][1]["deliveries"][0]["recipient"] == "agent:ada/bot"


def test_get_thread_answers_who_may_read_none_of_it_as_for_an_absent_id(ada: User, stranger: User) -> None:
    there = ada.send("agent:ada/bot")["id"]
    reply = ada.post(f"/api/messages/{there}/reply", {"body": "x"}).json["message"]["id"]
    for user, id_ in ((stranger, there), (ada, reply), (ada, "m-absent")):
        got, missing = user.get(f"/api/threads/{id_}"), user.get(f"/api/threads/{'x' * len(id_)}")
        assert got.json == {"error": f"no message {id_}", "code": "not-found"}
        assert got.status == 404
        assert got.comparable[1] == missing.comparable[1]


# GET /api/mailbox


def test_get_mailbox_is_the_callers_own_in_delivery_order(host: Host, ada: User) -> None:
    reader = host.agent("reader")
    sent = [ada.send("agent:ada/reader", body=str(index))["id"] for index in range(5)]

    def listed(query: str = "") -> list[str]:
        return [each["message"]["id"] for each in reader.get(f"/api/mailbox{query}").json["deliveries"]]

    assert listed() == sent
    assert listed("?order=newest") == sent[::-1]
    first = reader.get("/api/mailbox").json["deliveries"][0]["delivery"]["id"]
    assert reader.post(f"/api/deliveries/{first}/read").status == 200
    assert listed("?state=held") == sent[1:]
    assert listed("?state=read") == sent[:1]
    assert reader.get("/api/mailbox?state=lost").status == 400


@pytest.mark.parametrize("order", ["delivery", "newest"])
def test_get_mailbox_goes_on_where_a_page_ended(host: Host, ada: User, order: str) -> None:
    pager = host.agent(f"pager-{order}")
    sent = [ada.send(f"agent:ada/pager-{order}", body=str(index))["id"] for index in range(5)]
    found: list[str] = []
    after = ""
    while True:
        page = pager.get(f"/api/mailbox?limit=2&order={order}{after}").json
        assert len(page["deliveries"]) <= 2
        found += [each["message"]["id"] for each in page["deliveries"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert found == (sent if order == "delivery" else sent[::-1])


def test_get_mailbox_takes_no_others_delivery_to_go_on_after(ada: User, stranger: User) -> None:
    there = ada.post("/api/messages", {"to": ["agent:ada/bot"], "kind": "message", "body": "x"})
    others = there.json["deliveries"][0]["id"]
    refused, missing = stranger.get(f"/api/mailbox?after={others}"), stranger.get("/api/mailbox?after=d-none")
    assert (refused.status, refused.json["field"]) == (404, "after")
    assert refused.comparable == missing.comparable


def test_get_mailbox_of_a_session_holds_its_work_items_and_what_is_bound_to_it(host: Host, ada: User) -> None:
    task = work_item(host)
    with session(host, task) as earlier:
        left = ada.send(earlier)["id"]
    with session(host, task) as run:
        host.node.host.sessions_here.need(run)
        to_task, to_run = ada.send(task)["id"], ada.send(run)["id"]
        host.node.take_up()
        host.node.engine.session_started(run, task)  # claims what was left on the earlier one
        user = host.user(run)
        found = [each["message"]["id"] for each in user.get("/api/mailbox").json["deliveries"]]
        assert found == [left, to_task, to_run]
        assert user.get(f"/api/mailbox?address={quoted(task)}").status == 200
        assert user.get("/api/mailbox?address=human:ada").status == 403


def test_get_mailbox_of_another_is_403_whether_there_is_one_or_not(
    ada: User, bot: User, stranger: User
) -> None:
    there = stranger.get(f"/api/mailbox?address={quoted('agent:ada/bot')}")
    absent = stranger.get(f"/api/mailbox?address={quoted('agent:ada/none')}")
    nothing = stranger.get("/api/mailbox?address=nothing")
    assert there.status == 403
    assert there.comparable == absent.comparable == nothing.comparable
    assert ada.get(f"/api/mailbox?address={quoted('agent:ada/bot')}").status == 200  # hers, on her machine
    assert ada.get("/api/mailbox?address=human:bob").status == 403


# POST /api/deliveries/{id}/read


def test_post_read_is_for_the_recipient_who_acts_for_it_or_a_deciding_human(
    host: Host, ada: User, bot: User, stranger: User
) -> None:
    deliveries = [
        ada.post("/api/messages", {"to": ["agent:ada/bot"], "kind": "message", "body": "x"}).json[
            "deliveries"
        ][0]["id"]
        for _ in range(2)
    ]
    refused, missing = (
        stranger.post(f"/api/deliveries/{id_}/read") for id_ in (deliveries[0], "d" * len(deliveries[0]))
    )
    assert refused.status == 404
    assert refused.json["error"] == f"no delivery {deliveries[0]}"
    assert refused.comparable[1] == missing.comparable[1]
    assert refused.raw == missing.raw.replace(b"d" * len(deliveries[0]), deliveries[0].encode())
    assert bot.post(f"/api/deliveries/{deliveries[0]}/read").json["delivery"]["state"] == "read"
    assert bot.post(f"/api/deliveries/{deliveries[0]}/read").status == 200  # again changes nothing
    decider = host.user("human:fay", Tier.DECIDE)
    assert decider.post(f"/api/deliveries/{deliveries[1]}/read").json["delivery"]["state"] == "read"
    assert host.user("human:fay").post(f"/api/deliveries/{deliveries[1]}/read").status == 404


# Channels


def test_get_channels_lists_members_and_each_epics_implicit_ones(host: Host, ada: User, bot: User) -> None:
    epic = work_item(host, kind="epic")
    task = work_item(host, parent=epic.partition(":")[2])
    assert bot.post("/api/channels/guild%2Fart/members").status == 204
    found = {each["channel"]: each for each in bot.get("/api/channels").json["channels"]}
    assert found["guild/art"]["members"] == ["agent:ada/bot"]
    assert found[f"epic/{epic.partition(':')[2]}"] == {
        "channel": f"epic/{epic.partition(':')[2]}",
        "members": [],
        "implicit": [task],
    }


def test_post_members_joins_the_caller_and_a_session_as_its_work_item(
    host: Host, ada: User, bot: User
) -> None:
    task = work_item(host)
    with session(host, task) as run:
        assert host.user(run).post("/api/channels/joined/members").status == 204
    assert (
        ada.post("/api/channels/joined/members", {"member": "agent:ada/bot"}).status == 204
    )  # an agent of hers
    assert ada.post("/api/channels/joined/members").status == 204
    assert ada.post("/api/channels/joined/members").status == 204  # again changes nothing
    assert host.node.engine.members("joined") == ("agent:ada/bot", "human:ada", task)
    others = bot.post("/api/channels/joined/members", {"member": "human:ada"})
    assert (others.status, others.json["field"]) == (403, "member")
    assert bot.post("/api/channels/Not%20One/members").json["field"] == "channel"
    assert bot.post("/api/channels/joined/members", {"member": 5}).json["field"] == "member"
    with session(host) as auxiliary:
        alone = host.user(auxiliary).post("/api/channels/joined/members")
        assert (alone.status, alone.json["field"]) == (400, "member")


def test_delete_members_takes_the_caller_out_or_is_404(ada: User, bot: User) -> None:
    assert bot.post("/api/channels/left/members").status == 204
    assert bot.delete("/api/channels/left/members").status == 204
    assert bot.delete("/api/channels/left/members").status == 404
    assert bot.delete("/api/channels/never/members").status == 404


def test_delete_member_takes_out_whom_the_caller_acts_for(ada: User, bot: User) -> None:
    assert bot.post("/api/channels/out/members").status == 204
    assert ada.post("/api/channels/out/members").status == 204
    assert bot.delete("/api/channels/out/members/human:ada").status == 403
    assert ada.delete(f"/api/channels/out/members/{quoted('agent:ada/bot')}").status == 204
    assert ada.delete(f"/api/channels/out/members/{quoted('agent:ada/bot')}").status == 404


# Agents


def test_get_roster_lists_agents_never_their_tokens(host: Host, ada: User) -> None:
    made = ada.post("/api/agents/register", {"name": "listed", "client": "a program"}).json
    got = host.user("human:gil").get("/api/agents/roster")
    assert {"address": "agent:ada/listed", "client": "a program", "status": "pending"}.items() <= next(
        each for each in got.json["agents"] if each["address"] == "agent:ada/listed"
    ).items()
    assert made["token"].encode() not in got.raw


def test_post_register_raises_the_gate_to_the_owner_under_the_requesters_handle(
    host: Host, ada: User
) -> None:
    made = host.user("human:hal").post("/api/agents/register", {"name": "new", "client": "a program"})
    assert (made.status, made.json["agent"]["status"]) == (201, "pending")
    assert made.json["agent"]["address"] == "agent:hal/new"
    raised = ada.get(f"/api/messages/{made.json['gate']}").json
    assert raised["from"] == "agent:dispatch"
    assert raised["to"] == ["human:ada"]
    assert raised["data"] == {
        "type": "agent-registration",
        "agent": "agent:hal/new",
        "client": "a program",
        "requestedBy": "human:hal",
    }
    again = host.user("human:hal").post("/api/agents/register", {"name": "new", "client": "a program"})
    assert (again.status, again.json["field"]) == (409, "name")
    for name in ("", "A", "a/b", "agent:hal/x", "a2a.peer", "dispatch" * 20, 5):
        got = ada.post("/api/agents/register", {"name": name, "client": "x"})
        assert (got.status, got.json["field"]) == (400, "name"), name
    assert ada.post("/api/agents/register", {"name": "ok", "client": "two\nlines"}).json["field"] == "client"


def test_post_approve_is_the_answer_to_the_open_gate(host: Host, ada: User, bot: User) -> None:
    made = ada.post("/api/agents/register", {"name": "approved", "client": "x"}).json
    path = f"/api/agents/{quoted('agent:ada/approved')}/approve"
    assert bot.post(path).status == 403
    assert host.user("human:ida", Tier.REQUEST).post(path).status == 403
    assert host.user("human:ida", Tier.DECIDE).post(path).json["agent"]["status"] == "approved"
    answer = ada.get(f"/api/messages/{made['gate']}/answer").json["answer"]
    assert (answer["from"], answer["choice"]) == ("human:ida", "approve")
    assert ada.post(f"/api/agents/{quoted('agent:ada/none')}/approve").status == 404
    assert ada.post("/api/agents/nothing/approve").status == 400


def test_post_revoke_is_the_answer_to_the_open_gate_and_ends_the_token(
    host: Host, ada: User, bot: User
) -> None:
    made = ada.post("/api/agents/register", {"name": "denied", "client": "x"}).json
    path = f"/api/agents/{quoted('agent:ada/denied')}/revoke"
    assert bot.post(path).status == 403
    assert ada.post(path).json["agent"]["status"] == "revoked"
    assert ada.get(f"/api/messages/{made['gate']}/answer").json["answer"]["choice"] == "deny"
    assert User(host.port, made["token"]).get("/api/mailbox").status == 401
    assert ada.post(f"/api/agents/{quoted('agent:ada/denied')}/approve").status == 409


def test_post_mute_and_unmute_say_whether_an_agents_mail_starts_read(host: Host, ada: User) -> None:
    noisy = host.agent("noisy")
    path = f"/api/agents/{quoted('agent:ada/noisy')}"
    assert noisy.post(f"{path}/mute").status == 403
    states = []
    for step in ("mute", "unmute"):
        assert ada.post(f"{path}/{step}").json["agent"]["muted"] is (step == "mute")
        sent = noisy.post("/api/messages", {"to": ["human:ada"], "kind": "message", "body": "x"}).json
        states.append(sent["deliveries"][0]["state"])
    assert states == [State.READ, State.NOTIFIED]


# GET /api/decisions/open


def test_get_open_decisions_are_blocking_questions_to_a_human_gates_included(
    host: Host, ada: User, bot: User
) -> None:
    id_ = gate(host, "open")
    asked = bot.send("human:ada", kind="question", blocking=True)["id"]
    in_passing = bot.send("human:ada", kind="question")["id"]
    of_an_agent = ada.send("agent:ada/bot", kind="question", blocking=True)["id"]
    ada.post("/api/channels/deciders/members")
    by_channel = bot.send("channel:deciders", kind="question", blocking=True)["id"]
    found = {each["message"]["id"]: each["gate"] for each in ada.get("/api/decisions/open").json["decisions"]}
    assert found[id_] == "tool-approval"
    assert found[asked] is None
    assert by_channel in found
    assert in_passing not in found
    assert of_an_agent not in found
    ada.post(f"/api/messages/{asked}/reply", {"body": "Yes"})
    ids = [each["message"]["id"] for each in ada.get("/api/decisions/open").json["decisions"]]
    assert asked not in ids
    assert bot.get("/api/decisions/open").status == 403
    assert host.user("human:jo", Tier.REQUEST).get("/api/decisions/open").status == 403


def test_a_command_sees_what_was_sent_over_http_and_the_other_way_round(host: Host, ada: User) -> None:
    sent = ada.send("human:bob")["id"]
    assert host.node.engine.message(sent) is not None
    typed = host.node.engine.send(
        Sender("human:ada", True), SendInput(("human:bob",), "message", "typed")
    ).message
    assert ada.get(f"/api/messages/{typed.id}").json["body"] == "typed"
