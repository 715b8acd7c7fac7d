"""The state of a client's task: each row of the table, and which row comes first (sections 8.5, 8.7)."""

from collections.abc import Sequence
from typing import Any, Final

from vectors.authoring.a2a_binding.parts import CLIENT, projected
from vectors.authoring.cast import COVE, NORA
from vectors.authoring.host_steps import SYSTEM, ok, vector
from vectors.authoring.kit import Expected, Json

_AT: Final = "2026-09-23T12:00:00.000Z"


def _is(state: str, *, stage: str | None = None, **facts: Any) -> Expected:
    return ok(projected(**facts), state=state, **({} if stage is None else {"stage": stage}))


def _item(status: str, *, approved: bool = True) -> Json:
    return {"id": "t-c0c0c0", "title": "Map the west field", "status": status, "approved": approved}


def _handoff(
    state: str, status: str, *, approved: bool = True, stage: str | None = None, **facts: Any
) -> Expected:
    return _is(state, stage=stage, skill="handoff", task=_item(status, approved=approved), **facts)


def _answer(sender: str = NORA, **more: Any) -> Json:
    return {"id": "m-answer", "replyTo": "m-root", "from": sender, "to": [CLIENT], "kind": "answer", **more}


def _closed(sender: str) -> Json:
    return _answer(sender, body="Closed: it is over.", data={"type": "x-closed", "reason": "it is over"})


def _asked(id: str = "m-asked", **more: Any) -> Json:
    return {"id": id, "replyTo": "m-root", "from": NORA, "to": [CLIENT], **more}


def _gate(id: str = "m-gate", type: str = "tool-approval") -> Json:
    return {"id": id, "type": type, "openedAt": _AT}


def _wakes(id: str) -> Json:
    return _asked(id, data={"type": "wake", "target": COVE, "message": "m-root"})


_EVERYTHING: Final[Sequence[tuple[str, str, Json]]] = (
    ("CANCELED", "canceledAt", {"canceledAt": _AT}),
    ("REJECTED", "declinedAt", {"declinedAt": _AT}),
    ("FAILED", "answer", {"answer": _closed(SYSTEM)}),
    ("INPUT_REQUIRED", "openQuestions", {"openQuestions": [_asked()]}),
    ("AUTH_REQUIRED", "openGates", {"openGates": [_gate()]}),
    ("SUBMITTED", "rootDeliveries", {"rootDeliveries": ["held"]}),
)
"""Facts of an ask, each of which decides before those below it."""


def _from(first: int) -> Json:
    found: Json = {}
    for _, _, facts in _EVERYTHING[first:]:
        found |= facts
    return found


VECTORS: Final = [
    vector(
        "a2a.states.the-first-row-that-applies-decides",
        "With facts for many rows, the first of them decides, and without those for it the next one",
        *(_is(state, **_from(number)) for number, (state, _, _) in enumerate(_EVERYTHING)),
        _is("WORKING"),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.a-handoffs-rows-come-in-order",
        "Of a handoff too the first row decides: canceled, rejected, landed, asked, gated, then how its work is",
        _handoff("CANCELED", "dropped", canceledAt=_AT, dropped="other", openQuestions=[_asked()]),
        _handoff("REJECTED", "dropped", dropped="other", openQuestions=[_asked()], openGates=[_gate()]),
        _handoff("COMPLETED", "landed", openQuestions=[_asked()], openGates=[_gate()]),
        _handoff("INPUT_REQUIRED", "working", openQuestions=[_asked()], openGates=[_gate()]),
        _handoff("AUTH_REQUIRED", "working", openGates=[_gate()]),
        _handoff("AUTH_REQUIRED", "ready", openGates=[_gate()]),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.a-client-cancels-whatever-came-of-it",
        "A canceled task is canceled, whether it was answered, declined, closed or dropped, or its work landed",
        _is("CANCELED", canceledAt=_AT, declinedAt=_AT, answer=_answer()),
        _is("CANCELED", canceledAt=_AT, answer=_closed(SYSTEM), recipientTaskDropped=True),
        _is("CANCELED", canceledAt=_AT, skill="handoff", task="deleted"),
        _handoff("CANCELED", "landed", canceledAt=_AT),
        _handoff("CANCELED", "dropped", canceledAt=_AT, dropped="client"),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.a-decline-rejects",
        "An ask that the owner declined is rejected even when it was closed too, and so is a handoff by its proposal",
        _is("REJECTED", declinedAt=_AT, answer=_closed(SYSTEM)),
        _handoff("REJECTED", "draft", approved=False, declinedAt=_AT),
        _handoff("REJECTED", "draft", approved=False, answer=_answer(SYSTEM, choice="decline")),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.a-drop-by-anyone-else-rejects",
        "A handoff whose work item was dropped by anyone but its client is rejected, approved or not",
        _handoff("REJECTED", "dropped", dropped="other"),
        _handoff("REJECTED", "dropped", approved=False, dropped="other", openGates=[_gate()]),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.an-answer-that-declines-an-ask-completes-it",
        "Choosing decline as the answer to an ask answers it: only a handoff has a proposal to decline",
        _is("COMPLETED", answer=_answer(choice="decline")),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.only-the-systems-close-fails-an-ask",
        "A close fails an ask when it is the system's; the same data from a human, an agent or a session is an answer",
        _is("FAILED", answer=_closed(SYSTEM)),
        *(_is("COMPLETED", answer=_closed(each)) for each in (NORA, "agent:nora/scout", "run:r-c0c0c0")),
        _is("COMPLETED", answer=_answer(SYSTEM, data={"type": "x-policy", "gate": "scope", "rung": "auto"})),
        _is("COMPLETED", answer=_answer(SYSTEM, data={"note": {"type": "x-closed"}})),
        sections=("8.7", "13.14"),
    ),
    vector(
        "a2a.states.a-dropped-recipient-fails-an-ask-alone",
        "The work item that an ask went to, dropped, fails it before any question or gate; a handoff has no such row",
        _is("FAILED", recipientTaskDropped=True, openQuestions=[_asked()], openGates=[_gate()]),
        _handoff("WORKING", "working", recipientTaskDropped=True),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.a-deleted-work-item-fails-a-handoff",
        "A handoff whose work item is gone has failed, whatever is open",
        _is("FAILED", skill="handoff", task="deleted", openQuestions=[_asked()], openGates=[_gate()]),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.an-answered-ask-is-complete",
        "An answer completes an ask, before what is open or held; the answer to a handoff completes nothing",
        _is(
            "COMPLETED",
            answer=_answer(),
            openQuestions=[_asked()],
            openGates=[_gate()],
            rootDeliveries=["held"],
        ),
        _handoff("WORKING", "working", answer=_answer(choice="accept")),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.a-question-with-gate-data-asks-nothing",
        "A question with gate data, known or not, or that replies to such a message, asks the client nothing",
        _is("WORKING", openQuestions=[_wakes("m-gate")]),
        _is("WORKING", openQuestions=[_asked(data={"type": "astrolabe"})]),
        _is("WORKING", openQuestions=[_asked(replyTo="m-gate")], scope=[_wakes("m-gate")]),
        _is("INPUT_REQUIRED", openQuestions=[_wakes("m-gate"), _asked("m-later")]),
        sections=("8.7", "5.8"),
    ),
    vector(
        "a2a.states.data-that-is-no-gates-data-asks",
        "Private data and data without a type keep no question from the client",
        *(
            _is("INPUT_REQUIRED", openQuestions=[_asked(data=data)])
            for data in ({"type": "x-survey"}, {"kind": "wake"}, {"type": 3}, ["wake"], "wake", None)
        ),
        sections=("8.7", "5.8"),
    ),
    vector(
        "a2a.states.only-a-blocking-question-needs-input",
        "A question that does not block, and a message that is none, leave the task as it was",
        _is("WORKING", openQuestions=[_asked(blocking=False)]),
        _is("AUTH_REQUIRED", openQuestions=[_asked(blocking=False)], openGates=[_gate()]),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.each-open-gate-is-listed",
        "Every open gate is listed with its id, its type and its time, in order, and nothing else; else no gates are",
        ok(
            projected(openGates=[_gate(), _gate("m-next", "astrolabe")]),
            state="AUTH_REQUIRED",
            gates=[
                {"id": "m-gate", "type": "tool-approval", "openedAt": _AT, "waitingOn": "owner"},
                {"id": "m-next", "type": "astrolabe", "openedAt": _AT, "waitingOn": "owner"},
            ],
        ),
        sections=("8.5", "8.7"),
    ),
    vector(
        "a2a.states.work-under-way-has-its-stage",
        "Work in progress, in review, landing or in a status of the host's own is under way, with two stages",
        _handoff("WORKING", "working"),
        _handoff("WORKING", "review", stage="review"),
        _handoff("WORKING", "landing", stage="landing"),
        *(_handoff("WORKING", each) for each in ("parked", "Draft", "landed-twice")),
        sections=("8.6", "8.7"),
    ),
    vector(
        "a2a.states.approved-work-is-submitted",
        "Once approved, work that is a draft or ready is submitted; before, a draft without a gate is under way",
        _handoff("SUBMITTED", "draft"),
        _handoff("SUBMITTED", "ready"),
        _handoff("WORKING", "draft", approved=False),
        _handoff("WORKING", "ready", approved=False),
        _is("WORKING", skill="handoff"),
        sections=("8.7",),
    ),
    vector(
        "a2a.states.an-ask-held-everywhere-is-submitted",
        "An ask is submitted while every delivery of it is held, and under way with one that is not, or without any",
        _is("SUBMITTED", rootDeliveries=["held", "held"]),
        *(
            _is("WORKING", rootDeliveries=["held", each, "held"])
            for each in ("sending", "pushed", "notified", "read", "answered")
        ),
        _is("WORKING", rootDeliveries=[]),
        _handoff("WORKING", "draft", approved=False, rootDeliveries=["held"]),
        sections=("8.7",),
    ),
]
