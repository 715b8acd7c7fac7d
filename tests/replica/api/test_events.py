"""Section A.3, row by row: which event is sent when, and to whom alone."""

import json
import socket as sockets
import time
from contextlib import ExitStack
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender, SendInput
from replica.api import news, tokens
from replica.api import sockets as hub
from replica.api.credentials import own_addresses
from replica.host import agents, raising
from replica.records.commits import CommitPoint
from replica.records.tokens import Tier
from tests.replica.api.host import PATIENCE, Events, Host, User, quoted, session, work_item


def everything(events: Events, until: str) -> list[Any]:
    """What a socket hears, up to a message."""
    found = []
    while True:
        event = events.next()
        found.append(event)
        if event["type"] == "message.new" and event["message"]["id"] == until:
            return found


def closed(events: Events) -> int:
    """The code with which a socket is closed."""
    try:
        while True:
            events.socket.recv(timeout=PATIENCE)
    except ConnectionClosed as end:
        return 0 if end.rcvd is None else end.rcvd.code


def test_message_new_is_sent_when_a_message_is_stored(host: Host, ada: User) -> None:
    with ada.events() as events:
        sent = ada.send("human:bob")
        assert events.next() == {
            "type": "message.new",
            "message": ada.get(f"/api/messages/{sent['id']}").json,
        }
        typed = host.node.engine.send(
            Sender("human:ada", True), SendInput(("human:bob",), "message", "x")
        ).message
        assert events.next()["message"]["id"] == typed.id  # by another process too


def test_delivery_changed_is_sent_when_a_delivery_changes_state(host: Host, ada: User) -> None:
    bot = host.agent("bot")
    delivery = ada.post("/api/messages", {"to": ["agent:ada/bot"], "kind": "message", "body": "x"}).json[
        "deliveries"
    ][0]
    with ada.events() as events, bot.events() as own:
        bot.post(f"/api/deliveries/{delivery['id']}/read")
        expected = {
            "type": "delivery.changed",
            "deliveryId": delivery["id"],
            "messageId": delivery["message"],
        }
        assert events.next() == own.next() == expected


def test_both_go_to_who_may_read_the_message_alone(host: Host, ada: User) -> None:
    task = work_item(host)
    with session(host, task) as run, session(host) as auxiliary, ExitStack() as stack:
        users = {
            "ada": ada,
            "decider": host.user("human:dora", Tier.DECIDE),
            "requester": host.user("human:rob", Tier.REQUEST),
            "sender": host.agent("sender"),
            "recipient": host.agent("recipient"),
            "other": host.agent("other"),
            "run": host.user(run),
            "auxiliary": host.user(auxiliary),
        }
        shared = User(host.port, tokens.shared(host.node).secret)
        heard = {name: stack.enter_context(user.events()) for name, user in users.items()}
        nothing = stack.enter_context(shared.events())
        first = (
            users["sender"]
            .post("/api/messages", {"to": ["agent:ada/recipient"], "kind": "message", "body": "first"})
            .json
        )
        users["recipient"].post(f"/api/deliveries/{first['deliveries'][0]['id']}/read")
        to_task = users["sender"].send(task, body="to the work item")
        everyone = ada.send(
            "agent:ada/sender", "agent:ada/recipient", "agent:ada/other", task, auxiliary, "human:rob"
        )
        got = {
            name: {
                (each["type"], each.get("messageId") or each["message"]["id"])
                for each in everything(events, everyone["id"])
            }
            for name, events in heard.items()
        }
        new, changed = ("message.new", first["message"]["id"]), ("delivery.changed", first["message"]["id"])
        ends = ("message.new", everyone["id"])
        sent = ("message.new", to_task["id"])
        assert got["ada"] >= {new, changed, sent, ends}
        assert got["decider"] >= {new, changed, sent, ends}
        assert {new, changed, sent, ends} == got["sender"]
        assert got["recipient"] == {new, changed, ends}
        assert got["run"] == {sent, ends}
        for name in ("requester", "other", "auxiliary"):
            assert got[name] == {ends}, name
        with pytest.raises(TimeoutError):
            nothing.socket.recv(timeout=0.3)


def test_who_hears_of_a_message_is_who_may_read_it_by_the_cores_own_rule(host: Host, ada: User) -> None:
    """Section 9.3: the rule of the events and `can_read` say the same of every message and every principal."""
    node, engine = host.node, host.node.engine
    tasks = [work_item(host) for _ in range(2)]
    host.agent("a")
    host.agent("b")
    ada.post("/api/channels/all/members", {"member": "agent:ada/a"})
    ada.post("/api/channels/all/members")
    with session(host, tasks[0]) as earlier:
        node.engine.send(Sender("human:ada", True), SendInput((earlier, "human:x"), "question", "x"))
        engine.send(Sender(earlier), SendInput(("agent:ada/b",), "message", "x"))
    with session(host, tasks[0]) as run, session(host, tasks[1]) as second, session(host) as alone:
        engine.session_started(run, tasks[0])
        for sender, to in [
            ("human:ada", ("channel:all",)),
            ("agent:ada/a", ("agent:ada/b", run)),
            ("agent:ada/b", (tasks[0], tasks[1], "human:x")),
            (run, (second, alone, "human:ada")),
            (alone, ("channel:all", tasks[1])),
        ]:
            engine.send(Sender(sender), SendInput(to, "message", "x"))
        principals = [
            "human:ada",
            "human:x",
            "human:y",
            "agent:ada/a",
            "agent:ada/b",
            earlier,
            run,
            second,
            alone,
        ]
        ids = [row[0] for row in node.store.db.execute("SELECT id FROM messages")]
        assert len(ids) > 8
        for id_ in ids:
            message = engine.message(id_)
            assert message is not None
            audience = news.audience(node, message)
            for address in principals:
                for decides in (False, True):
                    reader = news.Reader(
                        address, own_addresses(node, address), decides and address.startswith("human:")
                    )
                    principal = Sender(address, can_decide=decides and address.startswith("human:"))
                    assert reader.may_read(audience) == engine.can_read(principal, id_), (address, message)


def test_an_answer_to_a_gate_is_no_news_before_its_effect_was_tried(host: Host, ada: User) -> None:
    """Section 5.5, nor is what it did to the gate's deliveries."""
    data: dict[str, Any] = {
        "requestId": "q",
        "runId": "r-0000aa",
        "tool": "Bash",
        "input": {},
        "floor": False,
    }
    gate = raising.raise_gate(host.node, GATE_TYPES["tool-approval"], data).message.id
    order: list[str] = []
    with ada.events() as events:

        def effect(*_: object) -> None:
            for body in ("while the effect is applied", "and once what came with that was told"):
                marker = ada.send("human:bob", body=body)["id"]
                order.extend(
                    each.get("messageId") or each["message"]["id"] for each in everything(events, marker)
                )

        host.node.host.apply_effect = effect  # type: ignore[method-assign, assignment]
        try:
            host.node.engine.reply(Sender("human:ada", True), gate, ReplyInput("", choice="deny"))
        finally:
            del host.node.host.apply_effect
        assert gate not in order
        assert len(order) == 2
        kinds = {events.next()["type"], events.next()["type"]}
    assert kinds == {"message.new", "delivery.changed"}


def test_a_message_is_new_again_when_it_is_an_answer_no_more(host: Host, ada: User) -> None:
    """Section 5.7: a voided answer is published as the message it is now."""
    sent = ada.send("human:bob", kind="x-odd")
    with ada.events() as events:
        with host.node.store.transaction(CommitPoint.EFFECT) as db:
            db.execute("UPDATE messages SET kind = 'message' WHERE id = ?", (sent["id"],))
        event = events.next()
    assert (event["type"], event["message"]["kind"]) == ("message.new", "message")


def test_a_token_may_be_in_the_query_since_a_browser_sets_no_headers(host: Host, ada: User) -> None:
    with host.stranger.events(f"/ws?token={ada.token}") as events:
        sent = ada.send("human:bob")
        assert events.next()["message"]["id"] == sent["id"]


@pytest.mark.parametrize("path", ["/ws", "/ws?token=no"])
def test_a_socket_needs_a_token(host: Host, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused, host.stranger.events(path):
        pass
    assert refused.value.response.status_code == 401


def test_a_page_of_another_origin_opens_no_socket(host: Host, ada: User) -> None:
    with pytest.raises(InvalidStatus) as refused, ada.events(headers={"Origin": "http://evil.example"}):
        pass
    assert refused.value.response.status_code == 403


def test_a_plain_request_is_no_socket(ada: User) -> None:
    got = ada.get("/ws")
    assert (got.status, got.json["code"]) == (400, "invalid")


def test_a_socket_ends_with_its_token_and_hears_nothing_in_between(host: Host, ada: User) -> None:
    bot = host.agent("bot")
    with bot.events() as events:
        with host.node.store.transaction(CommitPoint.AGENT) as db:
            agents.decide(db, "agent:ada/bot", "revoked")
        ada.send("agent:ada/bot")
        with pytest.raises(ConnectionClosed) as end:
            events.socket.recv(timeout=PATIENCE)
    assert end.value.rcvd is not None
    assert end.value.rcvd.code == hub.End.UNAUTHENTICATED


def test_a_slow_reader_is_closed_and_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, host: Host, ada: User
) -> None:
    monkeypatch.setattr(hub, "MAX_QUEUED", 20)
    monkeypatch.setattr(hub, "CLOSE_SECONDS", 0.2)
    body = "x" * 60_000
    with ada.events() as quick, _deaf(host, ada) as deaf:
        for _ in range(120):
            sent = ada.send("human:bob", body=body)
            assert events_up_to(quick, sent["id"])
        deaf.settimeout(PATIENCE)
        read = 0
        try:
            while chunk := deaf.recv(1 << 16):
                read += len(chunk)
        except ConnectionError:
            pass
    assert read < 110 * len(body)  # it did not get all of it


def events_up_to(events: Events, id_: str) -> bool:
    return any(
        each["message"]["id"] == id_ for each in everything(events, id_) if each["type"] == "message.new"
    )


def _deaf(host: Host, user: User) -> sockets.socket:
    """A connection that asks for events and reads none of them."""
    made = sockets.socket()
    made.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    made.connect(("127.0.0.1", host.port))
    lines = [
        "GET /ws HTTP/1.1",
        f"Host: 127.0.0.1:{host.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {'A' * 22}==",
        f"Authorization: Bearer {user.token}",
    ]
    made.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
    assert made.recv(12).startswith(b"HTTP/1.1 101")
    return made


def test_a_socket_is_closed_where_more_happened_than_is_kept(host: Host, ada: User) -> None:
    with ada.events() as events:
        with host.node.store.transaction(CommitPoint.EFFECT) as db:
            db.execute("INSERT INTO changed (position, message, delivery) VALUES (500, 'm-x', 'd-x')")
        assert closed(events) == hub.End.MISSED


def test_only_the_newest_changes_are_kept(host: Host) -> None:
    with host.node.store.transaction(CommitPoint.EFFECT) as db:
        db.execute("INSERT INTO changed (position, message, delivery) VALUES (12000, 'm-x', 'd-x')")
    message = host.node.engine.send(Sender("human:ada", True), SendInput(("human:bob",), "message", "x"))
    host.node.engine.mark_read(message.deliveries[0].id)
    (first,) = host.node.store.db.execute("SELECT min(position) FROM changed").fetchone()
    assert first == 12000
    with host.node.store.transaction(CommitPoint.EFFECT) as db:
        db.execute("INSERT INTO changed (position, message, delivery) VALUES (23000, 'm-x', 'd-x')")
    again = host.node.engine.send(Sender("human:ada", True), SendInput(("human:bob",), "message", "x"))
    host.node.engine.mark_read(again.deliveries[0].id)
    assert host.node.store.db.execute("SELECT position FROM changed ORDER BY 1").fetchall() == [
        (23000,),
        (23001,),
    ]


def test_node_changed_goes_to_the_person_who_runs_this_machine_alone(host: Host, ada: User) -> None:
    bot = host.agent("bot")
    with ada.events() as events, bot.events() as other:
        work_item(host)
        assert events.next("node.changed") == {"type": "node.changed"}
        sent = ada.send("agent:ada/bot")
        kinds = [json.loads(other.socket.recv(timeout=PATIENCE))["type"]]
        assert kinds == ["message.new"]
        assert sent["id"]


def test_what_a_client_says_is_ignored_and_too_much_of_it_ends_the_socket(host: Host, ada: User) -> None:
    with ada.events() as events:
        events.socket.send("hello")
        sent = ada.send("human:bob")
        assert events.next()["message"]["id"] == sent["id"]
        events.socket.send("x" * 10_000)
        assert closed(events) == 1009


def test_an_event_comes_within_a_tenth_of_a_second_or_so_of_another_process_sending(
    host: Host, ada: User
) -> None:
    with ada.events() as events:
        begun = time.monotonic()
        host.node.engine.send(Sender("human:ada", True), SendInput(("human:bob",), "message", "x"))
        events.next()
    print(f"noticed after {time.monotonic() - begun:.3f} s")  # timings never fail a test


def test_events_name_agents_of_this_machine_as_readers_of_their_own_mail(host: Host, ada: User) -> None:
    bot = host.agent("bot")
    path = f"/api/mailbox?address={quoted('agent:ada/bot')}"
    with bot.events() as events:
        sent = ada.send("agent:ada/bot")
        assert events.next()["message"]["id"] == sent["id"]
    assert [each["message"]["id"] for each in ada.get(path).json["deliveries"]] == [sent["id"]]
