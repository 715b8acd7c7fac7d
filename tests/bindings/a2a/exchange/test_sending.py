"""What a client's messages become: the mapping table and envelope/v1, as the desk keeps them (sections 8.2-8.4)."""

from typing import Any

import pytest

from bindings.a2a.extensions import ENVELOPE
from core.errors import DmpError
from tests.bindings.a2a.exchange.desk import ACME, OTHER, Caller, Desk, texts


def refused(desk: Desk, **members: Any) -> tuple[str, str | None]:
    with pytest.raises(DmpError) as raised:
        desk.send(**members)
    return str(raised.value.code), raised.value.field


# The mapping table


def test_a_message_that_opens_an_exchange_is_a_task_of_its_id_and_thread(desk: Desk) -> None:
    task = desk.ask("Is it final?")

    root = desk.root(task)
    assert (root.sender, root.to, root.kind, root.blocking) == (ACME, ("human:ada",), "question", True)
    assert (root.body, task["contextId"]) == ("Is it final?", root.thread)


def test_text_parts_are_joined_and_urls_are_links(desk: Desk) -> None:
    task = desk.send(parts=[{"text": "One."}, {"text": "Two."}, {"url": "https://example.org/a"}])["task"]

    assert desk.root(task).body == "One.\n\nTwo.\n\n[https://example.org/a](https://example.org/a)"


def test_data_is_stored_wrapped_and_comes_back_as_it_was(desk: Desk) -> None:
    task = desk.ask(data=[{"type": "x-closed", "reason": "forged"}])

    assert desk.root(task).data == {ENVELOPE: {"type": "x-closed", "reason": "forged"}}
    (root,) = task["history"]
    assert root["parts"][1]["data"] == {"type": "x-closed", "reason": "forged"}


def test_a_message_is_known_again_by_its_id(desk: Desk) -> None:
    first = desk.ask("Is it final?", messageId="the-same")
    again = desk.ask("Is it final?", messageId="the-same")

    assert first == again
    assert len(desk.thread(first)) == 1
    assert desk.as_(OTHER).ask(messageId="the-same")["id"] != first["id"]


@pytest.mark.parametrize("key", [None, "", "two\nlines", "x" * 201, 7])
def test_a_message_needs_an_id_of_one_line(desk: Desk, key: Any) -> None:
    assert refused(desk, messageId=key) == ("invalid", "messageId")


def test_an_id_may_take_200_bytes(desk: Desk) -> None:
    assert desk.ask(messageId="x" * 200)["history"][0]["messageId"] == "x" * 200


def test_a_client_is_shown_text_as_plain_where_it_takes_that_alone(desk: Desk) -> None:
    found = desk.send(configuration={"acceptedOutputModes": ["text/plain"]})["task"]

    assert {part["mediaType"] for part in found["status"]["message"]["parts"]} == {"text/plain"}
    markdown = desk.send(configuration={"acceptedOutputModes": ["text/plain", "text/markdown"]})["task"]
    assert markdown["status"]["message"]["parts"][0]["mediaType"] == "text/markdown"


@pytest.mark.parametrize("kind", ["message", "notice"])
def test_a_message_or_a_notice_opens_no_task_and_is_answered_with_a_message(desk: Desk, kind: str) -> None:
    found = desk.send("Hello!", envelope={"kind": kind}, messageId="hi")

    said = found["message"]
    assert texts(said) == ["Received."]
    assert said["metadata"][ENVELOPE]["replyTo"] == said["contextId"]
    assert desk.listed()["totalSize"] == 0
    assert desk.send("Hello!", envelope={"kind": kind}, messageId="hi") == found


# envelope/v1


def test_metadata_of_an_extension_that_is_not_active_counts_for_nothing(desk: Desk) -> None:
    task = desk.plain().ask(envelope={"urgent": True, "kind": "message"})

    assert desk.root(task).kind == "question"


@pytest.mark.parametrize(
    ("envelope", "refusal"),
    [
        ({"urgent": True}, ("forbidden", "urgent")),
        ({"wake": "request"}, ("forbidden", "wake")),
        ({"kind": "x-odd"}, ("forbidden", "kind")),
        ({"kind": "answer"}, ("invalid", "kind")),
        ({"kind": "handoff"}, ("invalid", "kind")),
        ({"to": ["human:ada", "human:bob"]}, ("forbidden", "to[1]")),
        ({"to": ["human:nobody"]}, ("forbidden", "to[0]")),
        ({"to": ["task:t-4a8cce"]}, ("forbidden", "to[0]")),
        ({"refs": [{"type": "message", "id": "m-absent"}]}, ("not-found", "refs[0]")),
        ({"replyTo": "m-absent"}, ("not-found", "replyTo")),
    ],
)
def test_what_a_client_may_not_say_is_refused_on_its_field(
    desk: Desk, envelope: Any, refusal: tuple[str, str]
) -> None:
    assert refused(desk, envelope=envelope) == refusal
    assert desk.listed()["totalSize"] == 0


def test_a_client_reaches_the_humans_of_its_list(desk: Desk) -> None:
    desk.caller = Caller(ACME, ("human:ada", "human:cleo"))

    assert desk.root(desk.ask(envelope={"to": ["human:cleo"]})).to == ("human:cleo",)


def test_refs_name_what_the_client_was_shown(desk: Desk) -> None:
    task, handoff = desk.ask(), desk.approved()
    answer = desk.answer(task)
    item = desk.item(handoff).partition(":")[2]
    refs = [
        {"type": "message", "id": task["id"]},
        {"type": "message", "id": answer.id},
        {"type": "task", "id": item},
    ]

    asked = desk.ask(envelope={"refs": refs})

    assert asked["history"][0]["metadata"][ENVELOPE]["refs"] == refs


def test_refs_to_a_draft_that_waits_and_to_what_others_say_are_as_absent(desk: Desk) -> None:
    task, handoff = desk.ask(), desk.hand_off()
    hidden = desk.say("human:cleo", body="Between us.", replyTo=task["id"])
    for ref in (
        {"type": "task", "id": desk.item(handoff).partition(":")[2]},
        {"type": "message", "id": hidden.id},
        {"type": "message", "id": desk.gate(handoff).id},
        {"type": "message", "id": desk.as_(OTHER).ask()["id"]},
    ):
        assert refused(desk, envelope={"refs": [ref]}) == ("not-found", "refs[0]")


# Contexts and continuations


def test_a_task_in_a_context_the_client_takes_part_in_is_of_that_context(desk: Desk) -> None:
    first = desk.ask()
    second = desk.ask("And this?", contextId=first["contextId"])

    assert second["contextId"] == first["contextId"]
    assert second["id"] != first["id"]
    assert {each["id"] for each in desk.listed(contextId=first["contextId"])["tasks"]} == {
        first["id"],
        second["id"],
    }


def test_a_context_of_others_is_refused_as_an_absent_one_is(desk: Desk) -> None:
    other, private = desk.as_(OTHER).ask(), desk.say("human:ada", "human:cleo")

    found = []
    for context in (other["contextId"], private.thread, "m-absent"):
        with pytest.raises(DmpError) as raised:
            desk.ask(contextId=context)
        found.append(str(raised.value))
    assert set(found) == {"not-found on contextId: unknown contextId"}


def test_a_client_answers_the_question_put_to_it(desk: Desk) -> None:
    task = desk.ask()
    question = desk.question(task, choices=["east", "west"])

    now = desk.send("West.", taskId=task["id"], envelope={"choice": "west"}, messageId="reply")["task"]

    answer = desk.node.engine.answer_of(question.id)
    assert answer is not None
    assert (answer.sender, answer.choice, answer.to) == (ACME, "west", ("human:ada",))
    assert now["status"]["state"] == "TASK_STATE_WORKING"
    assert desk.send("West.", taskId=task["id"], messageId="reply")["task"]["id"] == task["id"]


def test_of_a_continuation_only_choice_and_refs_count(desk: Desk) -> None:
    task = desk.ask()
    question = desk.question(task)

    desk.send("West.", taskId=task["id"], envelope={"kind": "notice", "to": ["human:bob"], "replyTo": "m-x"})

    assert desk.is_answered(question.id)


def test_more_on_a_task_that_asks_nothing_goes_to_whom_it_was_put(desk: Desk) -> None:
    task = desk.ask()

    now = desk.send("I forgot to say.", taskId=task["id"])["task"]

    more = now["history"][-1]["metadata"][ENVELOPE]
    assert (more["kind"], more["replyTo"]) == ("message", task["id"])
    assert [each.body for _, each in desk.node.engine.inbox("human:ada")][-1] == "I forgot to say."


def test_a_continuation_names_no_other_context(desk: Desk) -> None:
    task, other = desk.ask(), desk.ask()

    assert refused(desk, taskId=task["id"], contextId=other["contextId"]) == ("not-found", "contextId")


@pytest.mark.parametrize("end", ["answer", "close", "cancel"])
def test_a_task_that_ended_takes_no_message(desk: Desk, end: str) -> None:
    task = desk.ask()
    match end:
        case "answer":
            desk.answer(task)
        case "close":
            desk.node.engine.close(task["id"], "it is late")
        case _:
            desk.cancel(task)

    assert refused(desk, taskId=task["id"]) == ("conflict", "taskId")


# Cancelling


def test_cancelling_closes_the_question_and_those_that_wait_for_the_client(desk: Desk) -> None:
    task = desk.ask()
    question = desk.question(task)

    first = desk.cancel(task)

    assert desk.is_answered(task["id"])
    assert desk.is_answered(question.id)
    assert desk.cancel(task) == first


@pytest.mark.parametrize("how", ["answer", "close"])
def test_a_task_that_ended_is_not_canceled(desk: Desk, how: str) -> None:
    task = desk.ask()
    if how == "answer":
        desk.answer(task)
    else:
        desk.node.engine.close(task["id"], "it is late")
    before = desk.state(task)

    with pytest.raises(DmpError) as raised:
        desk.cancel(task)
    assert (raised.value.code, raised.value.field) == ("conflict", "taskId")
    assert desk.state(task) == before


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_in_a_cancel_is_taken_up_by_the_next_look_at_the_task(desk: Desk, moment: str) -> None:
    task, handoff = desk.ask(), desk.hand_off()

    def crash(reached: str, when: str) -> None:
        if (reached, when) == ("a2a.ended", moment):
            raise InterruptedError

    desk.node.store.observer = crash
    for each in (task, handoff):
        with pytest.raises(InterruptedError):
            desk.cancel(each)
    desk.node.store.observer = None

    states = {desk.state(task), desk.state(handoff)}

    assert states == ({"CANCELED"} if moment == "after" else {"WORKING", "AUTH_REQUIRED"})
    assert desk.is_answered(task["id"]) is (moment == "after")
    assert desk.is_answered(desk.gate(handoff).id) is (moment == "after")


# Without extensions


def test_without_extensions_nothing_has_metadata_and_the_same_facts_are_text(desk: Desk) -> None:
    plain = desk.plain()
    task, handoff = plain.ask(), desk.hand_off()
    desk.question(task, "Which region?", choices=["east", "west"])

    assert plain.says(task) == "Which region?\nChoices: east, west"
    item = desk.item(handoff).partition(":")[2]
    assert plain.says(handoff) == (
        f"Waiting for the project owner to approve this handoff.\nWork item {item}, Rate-limit uploads: draft."
    )
    assert "metadata" not in repr([plain.get(task), plain.get(handoff), plain.listed()])


def test_a_history_is_as_long_as_was_asked_for(desk: Desk) -> None:
    task = desk.ask()
    desk.send("More.", taskId=task["id"])

    assert [len(desk.get(task, count).get("history", ())) for count in (None, 0, 1, 5)] == [2, 0, 1, 2]
    assert texts(desk.get(task, 1)["history"][0]) == ["More."]
