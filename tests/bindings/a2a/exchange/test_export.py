"""What leaves, and what never does (sections 5.8, 8.7, 8.8, 13.5, 13.9).

One host holds something tempting of every kind. A client does all that a client can, and no answer that it gets has
any of it.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from bindings.a2a import artifacts
from bindings.a2a.commits import CommitPoint
from core.errors import DmpError
from core.gate_types import GATE_TYPES
from core.message import Delivery, Message, State, Via
from core.store.deliveries import insert_deliveries
from core.store.messages import insert_message
from replica.host.raising import raise_gate
from tests.bindings.a2a.exchange.desk import ACME, ALL, NONE, OTHER, THIRD, Desk, texts

SECRET = "SECRET"
"""In everything that must not leave, and nowhere else."""


def tempt(desk: Desk) -> dict[str, Any]:
    """A host with something of every kind that never leaves; the tasks that a client has there."""
    client = desk.caller.address
    ask, handoff = desk.ask(), desk.approved()
    item = desk.item(handoff)
    desk.set(handoff, "working")
    with desk.session(handoff) as session:
        # Messages that the client neither sent nor received, other threads, other recipients.
        desk.say("human:cleo", body=f"{SECRET}: between members", replyTo=ask["id"])
        desk.say(client, "human:cleo-secret", body="To you and another.", replyTo=ask["id"])
        desk.say("human:cleo", body=f"{SECRET}: another thread")
        desk.say(item, body=f"{SECRET}: to the session", replyTo=handoff["id"])
        desk.say("human:ada", body=f"{SECRET}: a session's log", by=session)
        desk.as_(THIRD).ask(f"{SECRET}: another client")
        # Gates, their data and answers to them.
        scope = desk.say(
            "human:ada",
            body=f"{SECRET}: a gate",
            by=session,
            kind="question",
            blocking=True,
            choices=["grant", "deny"],
            data={"type": "scope", "paths": [f"{SECRET}/plan.md"], "reason": SECRET},
        )
        raise_gate(
            desk.node,
            GATE_TYPES["tool-approval"],
            {
                "requestId": "1",
                "runId": session.address.partition(":")[2],
                "tool": f"{SECRET}-tool",
                "input": {"command": SECRET},
                "floor": False,
            },
        )
        desk.answer(scope.id, f"{SECRET}: an answer to a gate", "grant")
        desk.say(client, body="Half of it.", by=session, replyTo=handoff["id"])
    # What an older host may have stored: a gate that was put to the client, and an answer to one.
    old = stored(desk, ask, "m-00000000000000000000000001", data={"type": "scope", "paths": [SECRET]})
    stored(desk, ask, "m-00000000000000000000000002", reply_to=old)
    # Results with more than may be told.
    with desk.node.store.transaction(CommitPoint.RESULT):
        artifacts.keep_result(
            desk.node, item, {"kind": "pr", "url": "https://x/1", "number": 1, "branch": f"{SECRET}-branch"}
        )
    # Other work items.
    desk.as_(THIRD).approved(title=f"{SECRET} work")
    return {"ask": ask, "handoff": handoff}


def stored(desk: Desk, task: Any, id_: str, *, reply_to: str | None = None, **members: Any) -> str:
    """A blocking question to the client that is in the store, however it came there."""
    message = Message(
        id_,
        task["contextId"],
        reply_to or task["id"],
        "human:ada",
        (desk.caller.address,),
        "question",
        f"{SECRET}: a gate of old",
        desk.node.now(),
        blocking=True,
        **members,
    )
    with desk.node.store.transaction("test") as db:
        insert_message(db, message)
        delivery = Delivery(
            id_.replace("m-", "d-"),
            id_,
            desk.caller.address,
            Via.DIRECT,
            State.HELD,
            None,
            message.created_at,
        )
        insert_deliveries(db, [delivery])
    return id_


def everything(desk: Desk, made: dict[str, Any]) -> None:
    """All that a client can ask for."""
    for client in (desk, desk.plain()):
        for task in made.values():
            client.get(task)
            client.send("More?", taskId=task["id"])
        for query in ({}, {"historyLength": 100, "includeArtifacts": True}):
            client.listed(**query)
        client.send("How far?", work={"skill": "status"})
        client.send("Hello", envelope={"kind": "message"})
    desk.answer(made["ask"], "Done.")
    for task in made.values():
        desk.cancel(task) if task is made["handoff"] else desk.get(task)


def test_nothing_of_the_never_exported_list_leaves(desk: Desk) -> None:
    made = tempt(desk)
    everything(desk, made)

    shown = json.dumps(desk.as_(ACME).answers_to(ACME))
    assert SECRET not in shown
    assert "cleo" not in shown, "the other recipients of a message"
    assert '"to"' not in shown
    assert "Half of it." in shown


def test_what_is_exported_is_there(desk: Desk) -> None:
    made = tempt(desk)

    history = desk.get(made["handoff"])["history"]
    assert [texts(each) for each in history] == [["Please do it."], ["Half of it."]]
    assert [texts(each) for each in desk.get(made["ask"])["history"]] == [
        ["Is it final?"],
        ["To you and another."],
    ]


def test_a_gate_of_old_never_strands_a_client_in_input_required(desk: Desk) -> None:
    task = desk.ask()
    old = stored(desk, task, "m-00000000000000000000000001", data={"type": "wake"})
    stored(desk, task, "m-00000000000000000000000002", reply_to=old)

    assert desk.state(task) == "WORKING"
    assert len(desk.get(task)["history"]) == 1


def test_a_reply_names_no_message_that_the_client_is_not_shown(desk: Desk) -> None:
    task = desk.ask()
    hidden = desk.say("human:cleo", replyTo=task["id"])
    desk.say(ACME, body="By the way.", replyTo=hidden.id)

    assert hidden.id not in json.dumps(desk.get(task))


def test_a_message_that_replies_to_what_is_hidden_is_in_scope_when_its_chain_reaches_the_root(
    desk: Desk,
) -> None:
    task = desk.ask()
    hidden = desk.say("human:cleo", replyTo=task["id"])
    desk.say(ACME, body="By the way.", replyTo=hidden.id)
    desk.say(ACME, body="Another matter.")

    assert [texts(each) for each in desk.get(task)["history"]] == [["Is it final?"], ["By the way."]]


def test_metadata_is_written_for_active_extensions_alone(desk: Desk) -> None:
    made = tempt(desk)
    for uri in ALL:
        desk.active = frozenset((uri,))
        desk.answers.clear()
        for task in made.values():
            desk.get(task)
        desk.listed(historyLength=100, includeArtifacts=True)
        shown = json.dumps([each for _, each in desk.answers])
        assert not any(other in shown for other in ALL - desk.active)
    desk.active = NONE
    desk.answers.clear()
    desk.get(made["handoff"])
    assert "metadata" not in json.dumps([each for _, each in desk.answers])


def test_every_object_with_metadata_of_extensions_names_them(desk: Desk) -> None:
    made = tempt(desk)
    for task in made.values():
        found = desk.get(task)
        for each in [found["status"]["message"], *found.get("artifacts", ()), *found["history"]]:
            uris = [name for name in each.get("metadata", {}) if name in ALL]
            assert uris == each.get("extensions", [])


# The same answer for what is absent and what is another's


def answer_of(act: Callable[[], Any]) -> str:
    """What a client gets, to the byte: the document, or all of the refusal."""
    try:
        return json.dumps(act())
    except DmpError as error:
        return repr((type(error), str(error.code), error.field, error.message))


def test_answers_for_ids_of_others_equal_those_for_absent_ones(desk: Desk) -> None:
    tempt(desk.as_(OTHER))
    desk.say("human:ada", "human:cleo", body="Private.")
    db = desk.node.store.db
    known = [row[0] for row in db.execute("SELECT id FROM messages ORDER BY position")]
    items = [row[0] for row in db.execute("SELECT work_item FROM a2a_handoffs ORDER BY 1")]
    before = desk.listed()

    def same(act: Callable[[str], Any], there: str, nowhere: str) -> None:
        assert answer_of(lambda: act(there)) == answer_of(lambda: act(nowhere)), there

    for id_ in known:
        for act in (
            desk.get,
            lambda each: desk.cancel({"id": each}),
            lambda each: desk.listed(contextId=each),
            lambda each: desk.send(taskId=each, messageId="same"),
            lambda each: desk.send(contextId=each, messageId="same"),
            lambda each: desk.send(envelope={"replyTo": each}, messageId="same"),
            lambda each: desk.send(envelope={"refs": [{"type": "message", "id": each}]}, messageId="same"),
            lambda each: desk.send(work={"skill": "status", "task": each}, messageId="same"),
        ):
            same(act, id_, f"m-{'0' * (len(id_) - 2)}")
    for item in items:
        bare = item.partition(":")[2]
        same(lambda each: desk.send(envelope={"to": [each]}, messageId="same"), item, "task:t-00000000ff")
        same(
            lambda each: desk.send(envelope={"refs": [{"type": "task", "id": each}]}, messageId="same"),
            bare,
            "t-00000000ff",
        )
    same(lambda each: desk.send(envelope={"to": [each]}, messageId="same"), "human:cleo", "human:nobody")
    assert desk.listed() == before


def steps(desk: Desk, act: Callable[[str], Any], id_: str) -> int:
    """How many tens of instructions the store takes for something."""
    taken = 0

    def count() -> None:
        nonlocal taken
        taken += 1

    desk.node.store.db.set_progress_handler(count, 10)
    answer_of(lambda: act(id_))
    desk.node.store.db.set_progress_handler(None, 0)
    return taken


def test_ids_of_others_long_threads_cost_what_absent_ones_do(desk: Desk) -> None:
    desk.ask()
    first = desk.as_(OTHER).ask()
    for _ in range(100):
        desk.say(OTHER, body="More.", replyTo=first["id"])
    absent = f"m-{'0' * (len(first['id']) - 2)}"

    for act in (
        desk.get,
        lambda each: desk.listed(contextId=each),
        lambda each: desk.send(taskId=each, messageId="same"),
        lambda each: desk.send(contextId=each, messageId="same"),
        lambda each: desk.send(envelope={"replyTo": each}, messageId="same"),
        lambda each: desk.send(envelope={"refs": [{"type": "message", "id": each}]}, messageId="same"),
    ):
        there, nowhere = steps(desk, act, first["id"]), steps(desk, act, absent)
        assert there <= nowhere + 50


def test_whom_a_client_may_address_costs_the_same_however_much_it_asked(desk: Desk) -> None:
    def act(to: str) -> Any:
        return desk.send(envelope={"to": [to]}, messageId="same")

    before = steps(desk, act, "task:t-00000000ff")
    for _ in range(50):
        desk.ask()

    assert steps(desk, act, "task:t-00000000ff") <= before + 50


@pytest.mark.parametrize("id_", ["", "\ud800", "x" * 10_000, "m-\n", "../m"])
def test_an_odd_id_is_as_absent(desk: Desk, id_: str) -> None:
    assert answer_of(lambda: desk.get(id_)) == answer_of(lambda: desk.get("m-absent"))
