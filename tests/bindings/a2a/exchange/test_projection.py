"""Every row of the projection table, reached through the store as clients and owners do (section 8.7)."""

from collections.abc import Callable
from typing import Any

import pytest

from bindings.a2a import ending
from bindings.a2a.extensions import GATE, WORK
from core.errors import DmpError
from core.gate_types import GATE_TYPES
from core.inputs import Sender
from replica.host.raising import raise_gate
from tests.bindings.a2a.exchange.desk import ACME, ADA, Desk, texts


def test_row_1_a_task_the_client_canceled_is_canceled(desk: Desk) -> None:
    task = desk.ask()

    assert desk.cancel(task)["status"]["state"] == "TASK_STATE_CANCELED"
    assert desk.says(task) == "Canceled by the client."


def test_row_2_an_ask_the_owner_declined_is_rejected_with_the_note(desk: Desk) -> None:
    task = desk.ask()
    ending.decline(desk.node, ADA, task["id"], "Ask again in May.")

    assert desk.state(task) == "REJECTED"
    assert desk.says(task) == "Declined by the project owner.\n\nAsk again in May."


def test_row_2_a_handoff_whose_proposal_was_declined_is_rejected_without_the_answers_words(
    desk: Desk,
) -> None:
    task = desk.hand_off()
    desk.decide(desk.gate(task), "decline")

    assert (desk.state(task), desk.says(task)) == ("REJECTED", "Declined by the project owner.")


def test_row_2_a_handoff_declined_with_a_note_for_the_client_says_it(desk: Desk) -> None:
    task = desk.hand_off()
    ending.decline(desk.node, ADA, task["id"], "No capacity.")

    assert (desk.state(task), desk.says(task)) == (
        "REJECTED",
        "Declined by the project owner.\n\nNo capacity.",
    )
    assert desk.node.engine.answer_of(desk.gate(task).id)


def test_row_2_a_handoff_that_anyone_but_the_client_dropped_is_rejected(desk: Desk) -> None:
    task = desk.approved()
    desk.set(task, "dropped")

    assert (desk.state(task), desk.says(task)) == ("REJECTED", "The task was dropped.")


def test_row_3_an_ask_the_system_closed_has_failed_with_the_reason(desk: Desk) -> None:
    task = desk.ask()
    desk.node.engine.close(task["id"], "nobody is here")

    assert (desk.state(task), desk.says(task)) == ("FAILED", "nobody is here")


def test_row_3_an_ask_whose_work_item_was_dropped_has_failed(desk: Desk) -> None:
    handoff = desk.approved()
    task = desk.ask("How far are you?", envelope={"to": [desk.item(handoff)]})
    desk.set(handoff, "dropped")

    assert desk.state(task) == "FAILED"


def test_row_4_a_handoff_whose_work_item_is_gone_has_failed(desk: Desk) -> None:
    task = desk.approved()
    desk.remove(task)

    assert (desk.state(task), desk.says(task)) == ("FAILED", "The task was deleted.")


def test_row_5_an_answered_ask_completes_with_the_answer_as_its_artifact(desk: Desk) -> None:
    task = desk.ask(envelope={"choices": ["yes", "no"]})
    desk.clock.ms += 1000
    answer = desk.answer(task, "It is final.", "yes")

    now = desk.get(task)
    assert now["status"]["state"] == "TASK_STATE_COMPLETED"
    assert now["status"]["timestamp"] == answer.created_at
    assert texts(now["status"]["message"]) == ["It is final."]
    (artifact,) = now["artifacts"]
    assert artifact["artifactId"] == "answer"
    assert texts(artifact) == ["It is final."]
    assert artifact["metadata"][WORK] == {"kind": "answer", "messageId": answer.id, "choice": "yes"}


def test_row_6_a_landed_handoff_completes(desk: Desk) -> None:
    task = desk.approved()
    desk.set(task, "landed")

    assert (desk.state(task), desk.says(task)) == ("COMPLETED", "Landed.")


def test_row_7_an_open_question_to_the_client_needs_input(desk: Desk) -> None:
    task = desk.ask()
    first, _later = desk.question(task, "Which region?"), desk.question(task, "And when?")

    assert (desk.state(task), desk.says(task)) == ("INPUT_REQUIRED", "Which region?")
    assert desk.get(task)["status"]["message"]["messageId"] == first.id


def test_row_7_a_question_that_nobody_waits_for_needs_no_input(desk: Desk) -> None:
    task = desk.ask()
    desk.say(ACME, kind="question", body="By the way?", replyTo=task["id"])

    assert desk.state(task) == "WORKING"


def test_row_8_an_open_gate_needs_authorization_and_shows_id_type_and_time(desk: Desk) -> None:
    task = desk.hand_off()
    gate = desk.gate(task)

    status = desk.get(task)["status"]
    assert status["state"] == "TASK_STATE_AUTH_REQUIRED"
    assert texts(status["message"]) == ["Waiting for the project owner to approve this handoff."]
    assert status["message"]["metadata"][GATE] == {
        "gates": [{"id": gate.id, "type": "task-proposal", "openedAt": gate.created_at, "waitingOn": "owner"}]
    }


@pytest.mark.parametrize("type_", ["tool-approval", "scope", "wake"])
def test_row_8_gates_about_the_work_item_and_its_sessions_are_in_scope(desk: Desk, type_: str) -> None:
    task, other = desk.approved(), desk.approved(title="Another")
    desk.set(task, "working")
    desk.set(other, "working")
    with desk.session(task) as session:
        run = session.address.partition(":")[2]
        if type_ == "scope":
            desk.say(
                "human:ada",
                by=session,
                kind="question",
                blocking=True,
                choices=["grant", "deny"],
                data={"type": "scope", "paths": ["secret/plan.md"], "reason": "needs it"},
            )
        else:
            data = {
                "tool-approval": {
                    "requestId": "1",
                    "runId": run,
                    "tool": "shell",
                    "input": {"command": "rm secret"},
                    "floor": False,
                },
                "wake": {"target": desk.item(task), "message": task["id"]},
            }
            raise_gate(desk.node, GATE_TYPES[type_], data[type_])

        assert desk.state(task) == "AUTH_REQUIRED"
        assert desk.state(other) == "WORKING"
        assert "secret" not in repr(desk.answers)


@pytest.mark.parametrize("status", ["working", "review", "landing"])
def test_row_9_a_handoff_that_is_worked_on_is_working_with_its_stage(desk: Desk, status: str) -> None:
    task = desk.approved()
    desk.set(task, status)

    now = desk.get(task)
    assert now["status"]["state"] == "TASK_STATE_WORKING"
    assert now["metadata"][WORK].get("stage") == (None if status == "working" else status)
    assert now["metadata"][WORK]["status"] == status


def test_row_9_the_latest_word_to_the_client_is_the_status(desk: Desk) -> None:
    task = desk.approved()
    desk.set(task, "working")
    with desk.session(task) as session:
        desk.say(ACME, body="Half of it is done.", by=session)

        assert (desk.state(task), desk.says(task)) == ("WORKING", "Half of it is done.")


def test_row_10_an_approved_handoff_waits(desk: Desk) -> None:
    task = desk.approved()

    assert (desk.state(task), desk.says(task)) == ("SUBMITTED", "Approved; waiting to be scheduled.")


def test_row_11_an_ask_that_waits_in_a_mailbox_is_submitted(desk: Desk) -> None:
    item = desk.item(desk.approved())
    task = desk.ask(envelope={"to": [item]})

    assert (desk.state(task), desk.says(task)) == ("SUBMITTED", f"Waiting in the mailbox of {item}.")


def test_row_12_any_other_task_is_working(desk: Desk) -> None:
    task = desk.ask()

    assert (desk.state(task), desk.says(task)) == ("WORKING", "Working.")


def test_row_12_a_draft_whose_gate_was_closed_is_working(desk: Desk) -> None:
    task = desk.hand_off()
    desk.node.engine.close(desk.gate(task).id, "it was raised by mistake")

    assert desk.state(task) == "WORKING"


def test_only_a_deciding_principal_declines(desk: Desk) -> None:
    task = desk.ask()
    with pytest.raises(DmpError) as refused:
        ending.decline(desk.node, Sender("human:ada"), task["id"])
    assert (refused.value.code, desk.state(task)) == ("forbidden", "WORKING")


# An end is an end, whatever comes after it


def test_row_5_an_answer_stays_one_when_the_work_item_that_gave_it_is_dropped(desk: Desk) -> None:
    handoff = desk.approved()
    task = desk.ask(envelope={"to": [desk.item(handoff)]})
    desk.answer(task)

    desk.set(handoff, "dropped")

    assert desk.state(task) == "COMPLETED"
    assert desk.get(task)["artifacts"]


@pytest.mark.parametrize("look", [Desk.state, lambda desk, _: desk.listed()])
def test_row_3_an_ask_that_failed_by_a_drop_stays_so(desk: Desk, look: Callable[[Desk, Any], Any]) -> None:
    handoff = desk.approved()
    task = desk.ask(envelope={"to": [desk.item(handoff)]})
    desk.set(handoff, "dropped")
    look(desk, task)

    desk.set(handoff, "working")

    assert (desk.state(task), desk.says(task)) == ("FAILED", "The task this was asked of was dropped.")
    with pytest.raises(DmpError):
        desk.answer(task)


@pytest.mark.parametrize("after", ["draft", "ready", "working", "dropped", "landed", None])
@pytest.mark.parametrize(("end", "told"), [("landed", "COMPLETED"), ("dropped", "REJECTED")])
def test_a_handoff_that_its_client_was_told_has_ended_stays_so(
    desk: Desk, end: str, told: str, after: str | None
) -> None:
    task = desk.approved()
    desk.set(task, end)
    before = desk.state(task), desk.says(task)

    if after is None:
        desk.remove(task)
    else:
        desk.set(task, after)

    assert before[0] == told
    assert (desk.state(task), desk.says(task)) == before
    (listed,) = desk.listed()["tasks"]
    assert listed["status"]["state"] == f"TASK_STATE_{told}"
    stands = desk.get(task).get("metadata", {}).get(WORK, {}).get("status")
    assert stands == (None if after is None else end)
