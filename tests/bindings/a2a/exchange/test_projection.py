"""Every row of the projection table, reached through the store as a client and an owner would (section 8.7)."""

from tests.bindings.a2a.exchange.desk import Desk


def test_row_1_a_task_the_client_canceled_is_canceled(desk: Desk) -> None:
    task = desk.ask()

    assert desk.cancel(task)["status"]["state"] == "TASK_STATE_CANCELED"
    assert desk.says(task) == "Canceled by the client."


def test_row_5_an_answered_ask_completes(desk: Desk) -> None:
    task = desk.ask()
    desk.answer(task, "Yes, final.")

    assert (desk.state(task), desk.says(task)) == ("COMPLETED", "Yes, final.")


def test_row_8_a_handoff_waits_on_its_proposal(desk: Desk) -> None:
    task = desk.hand_off()
    assert desk.state(task) == "AUTH_REQUIRED"
    desk.decide(desk.gate(task))
    assert desk.state(task) == "SUBMITTED"
