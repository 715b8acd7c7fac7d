"""The twelve rows of the table that decides a task's state, and what each lets the status message say (section 8.7)."""

from dataclasses import replace

import pytest

from bindings.a2a.projection import (
    APPROVED,
    CANCELED,
    CLOSED,
    DECLINED,
    DELETED,
    DROPPED,
    GATES,
    GONE,
    LANDED,
    OTHER_GATE,
    RECIPIENT_DROPPED,
    ROWS,
    WORKING,
    Facts,
    OpenGate,
    Projected,
    TaskState,
    WorkItem,
    project,
)
from core.message import Message, State

SYSTEM = "agent:dispatch"
CLIENT = "agent:nora/a2a.survey"
AT = "2026-09-23T12:00:00.000Z"


def message(id: str, sender: str = "human:nora", **fields: object) -> Message:
    made = Message(id, "m-root", "m-root", sender, (CLIENT,), "message", "Text.", AT)
    return replace(made, **fields)  # type: ignore[arg-type]


ROOT = message("m-root", CLIENT, to=("human:nora",), kind="question", blocking=True, reply_to=None)
ANSWER = message("m-answer", kind="answer")
ASKED = message("m-asked", kind="question", blocking=True)
REMARK = message("m-remark")
CLOSE = message("m-close", SYSTEM, kind="answer", data={"type": "x-closed", "reason": "client revoked"})
GATE = OpenGate("m-gate", "scope", AT)


def item(status: str, *, approved: bool = True) -> WorkItem:
    return WorkItem("t-c0c0c0", "Map the west field", status, approved)


def handoff(status: str, *, approved: bool = True) -> Facts:
    return Facts(ROOT, skill="handoff", work_item=item(status, approved=approved))


CASES: dict[int, list[tuple[Facts, Projected]]] = {
    1: [
        (Facts(ROOT, canceled_at=AT, answer=ANSWER), Projected(TaskState.CANCELED, CANCELED)),
        (replace(handoff("dropped"), dropped="client"), Projected(TaskState.CANCELED, CANCELED)),
    ],
    2: [
        (Facts(ROOT, declined_at=AT), Projected(TaskState.REJECTED, DECLINED)),
        (
            Facts(ROOT, declined_at=AT, note="Not here."),
            Projected(TaskState.REJECTED, f"{DECLINED}\n\nNot here."),
        ),
        (replace(handoff("dropped"), dropped="other"), Projected(TaskState.REJECTED, DROPPED)),
        (handoff("dropped"), Projected(TaskState.REJECTED, DROPPED)),
        (
            replace(
                handoff("draft", approved=False), answer=message("m-no", kind="answer", choice="decline")
            ),
            Projected(TaskState.REJECTED, DECLINED),
        ),
    ],
    3: [
        (Facts(ROOT, answer=CLOSE), Projected(TaskState.FAILED, "client revoked")),
        (
            Facts(ROOT, answer=replace(CLOSE, data={"type": "x-closed"})),
            Projected(TaskState.FAILED, CLOSED),
        ),
        (Facts(ROOT, recipient_dropped=True), Projected(TaskState.FAILED, RECIPIENT_DROPPED)),
    ],
    4: [(Facts(ROOT, skill="handoff", work_item=DELETED), Projected(TaskState.FAILED, GONE))],
    5: [(Facts(ROOT, answer=ANSWER), Projected(TaskState.COMPLETED, ANSWER))],
    6: [(handoff("landed"), Projected(TaskState.COMPLETED, LANDED))],
    7: [
        (Facts(ROOT, open_questions=(ASKED,)), Projected(TaskState.INPUT_REQUIRED, ASKED)),
        (
            Facts(ROOT, open_questions=(ASKED, replace(ASKED, id="m-later")), open_gates=(GATE,)),
            Projected(TaskState.INPUT_REQUIRED, ASKED),
        ),
    ],
    8: [
        (
            Facts(ROOT, open_gates=(GATE,)),
            Projected(TaskState.AUTH_REQUIRED, GATES["scope"], gates=(GATE,)),
        ),
        (
            Facts(ROOT, open_gates=(GATE, replace(GATE, type="wake"), GATE)),
            Projected(
                TaskState.AUTH_REQUIRED,
                f"{GATES['scope']} {GATES['wake']}",
                gates=(GATE, replace(GATE, type="wake"), GATE),
            ),
        ),
        (
            Facts(ROOT, open_gates=(replace(GATE, type="astrolabe"),)),
            Projected(TaskState.AUTH_REQUIRED, OTHER_GATE, gates=(replace(GATE, type="astrolabe"),)),
        ),
    ],
    9: [
        (handoff("working"), Projected(TaskState.WORKING, WORKING)),
        (handoff("review"), Projected(TaskState.WORKING, WORKING, stage="review")),
        (handoff("landing"), Projected(TaskState.WORKING, WORKING, stage="landing")),
        (
            replace(handoff("parked"), scope=(ROOT, REMARK, message("m-mine", CLIENT))),
            Projected(TaskState.WORKING, REMARK),
        ),
    ],
    10: [
        (handoff("draft"), Projected(TaskState.SUBMITTED, APPROVED)),
        (handoff("ready"), Projected(TaskState.SUBMITTED, APPROVED)),
    ],
    11: [
        (
            Facts(replace(ROOT, to=("task:t-c0c0c0",)), root_deliveries=(State.HELD,)),
            Projected(TaskState.SUBMITTED, "Waiting in the mailbox of task:t-c0c0c0."),
        )
    ],
    12: [
        (Facts(ROOT), Projected(TaskState.WORKING, WORKING)),
        (
            Facts(ROOT, scope=(ROOT, message("m-first"), REMARK)),
            Projected(TaskState.WORKING, REMARK),
        ),
        (Facts(ROOT, root_deliveries=(State.HELD, State.PUSHED)), Projected(TaskState.WORKING, WORKING)),
        (handoff("draft", approved=False), Projected(TaskState.WORKING, WORKING)),
    ],
}


def test_the_table_has_twelve_rows_in_order() -> None:
    assert [row.number for row in ROWS] == list(range(1, 13)) == list(CASES)


@pytest.mark.parametrize(
    ("number", "facts", "expected"),
    [(number, *case) for number, cases in CASES.items() for case in cases],
    ids=[f"row {number}" for number, cases in CASES.items() for _ in cases],
)
def test_a_row_decides_the_state_and_what_is_said(number: int, facts: Facts, expected: Projected) -> None:
    first = next(row.number for row in ROWS if row.applies(facts, SYSTEM))
    assert (first, project(facts, SYSTEM)) == (number, expected)


@pytest.mark.parametrize(
    "question", [replace(ASKED, data={"type": "wake"}), replace(ASKED, reply_to="m-gate")]
)
def test_what_is_about_a_gate_never_strands_a_client(question: Message) -> None:
    facts = Facts(ROOT, open_questions=(question,), gated=frozenset({"m-gate"}))
    assert project(facts, SYSTEM).state is TaskState.WORKING


def test_a_close_by_anyone_else_is_an_answer() -> None:
    forged = replace(CLOSE, sender="human:nora")
    assert project(Facts(ROOT, answer=forged), SYSTEM) == Projected(TaskState.COMPLETED, forged)


def test_a_decline_by_a_worker_after_approval_rejects_nothing() -> None:
    facts = replace(
        handoff("working"), answer=message("m-no", "run:r-c0c0c0", kind="answer", choice="decline")
    )
    assert project(facts, SYSTEM).state is TaskState.WORKING


def test_a_gate_leaves_with_its_id_type_and_time_alone() -> None:
    assert GATE.to_json() == {"id": "m-gate", "type": "scope", "openedAt": AT, "waitingOn": "owner"}


def test_states_have_the_names_of_a2a() -> None:
    assert {state.wire for state in TaskState if state.is_terminal} == {
        "TASK_STATE_COMPLETED",
        "TASK_STATE_FAILED",
        "TASK_STATE_CANCELED",
        "TASK_STATE_REJECTED",
    }
    assert {state for state in TaskState if state.waits and not state.is_terminal} == {
        TaskState.INPUT_REQUIRED,
        TaskState.AUTH_REQUIRED,
    }
