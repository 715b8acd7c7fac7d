"""Handoffs, from the draft to what work on it came to (section 8.6)."""

from typing import Any

import pytest

from bindings.a2a import artifacts, handoffs
from bindings.a2a.commits import CommitPoint
from bindings.a2a.extensions import WORK
from core.errors import Code, DmpError
from core.gate_data import data_type
from crypto.canonical import JsonValue, canonical_size
from replica.host import items, raising
from tests.bindings.a2a.exchange.desk import ACME, OTHER, Desk, texts


def item_of(desk: Desk, task: Any) -> items.WorkItem:
    found = items.find(desk.node.store.db, desk.item(task))
    assert found is not None
    return found


def test_a_handoff_is_a_draft_and_a_gate_that_replies_to_it(desk: Desk) -> None:
    task = desk.hand_off("Rate-limit uploads", acceptance=["It answers 429."], writes=["api/**"])

    item, gate, root = item_of(desk, task), desk.gate(task), desk.root(task)
    assert (item.title, item.status) == ("Rate-limit uploads", "draft")
    assert gate.data == {
        "type": "task-proposal",
        "task": item.id,
        "proposedBy": ACME,
        "message": task["id"],
    }
    assert (gate.sender, gate.to, gate.blocking) == ("agent:dispatch", ("human:ada",), True)
    assert gate.choices == ("approve", "decline")
    assert (root.kind, root.to) == ("handoff", ("human:ada", item.address))
    assert root.body.endswith("Accepted when:\n- It answers 429.\n\nWrites:\n- api/**")


def test_approving_it_makes_the_draft_ready_and_declining_drops_it(desk: Desk) -> None:
    approved, declined = desk.hand_off(), desk.hand_off()
    desk.decide(desk.gate(approved))
    desk.decide(desk.gate(declined), "decline")

    assert (item_of(desk, approved).status, item_of(desk, declined).status) == ("ready", "dropped")


def test_declining_its_message_drops_the_draft_and_closes_the_gate_once_the_client_was_told(
    desk: Desk,
) -> None:
    task = desk.hand_off()
    gate = desk.gate(task)
    desk.decide(desk.root(task), "decline")

    assert desk.state(task) == "REJECTED"
    assert item_of(desk, task).status == "dropped"
    with pytest.raises(DmpError) as told:
        desk.decide(gate, "approve")
    assert told.value.code is Code.CONFLICT


@pytest.mark.parametrize(
    ("asked", "given"),
    [("urgent", "medium"), ("high", "medium"), ("medium", "medium"), ("low", "low"), (None, None)],
)
def test_a_clients_priority_is_capped(desk: Desk, asked: str | None, given: str | None) -> None:
    task = desk.hand_off(**({} if asked is None else {"priority": asked}))

    assert item_of(desk, task).priority == given


def test_a_clients_labels_are_marked_as_such(desk: Desk) -> None:
    task = desk.hand_off(labels=["perf", "perf", " ", "two\nlines", "é" * 25])

    assert item_of(desk, task).labels == ("a2a/perf", "a2a/two lines", f"a2a/{'é' * 25}")


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"title": " "}, "work.title"),
        ({"title": "x", "writes": ["ok", "../up"]}, "work.writes[1]"),
        ({"title": "x", "priority": "now"}, "work.priority"),
    ],
)
def test_a_request_outside_its_limits_leaves_no_draft(desk: Desk, request_: Any, field: str) -> None:
    with pytest.raises(DmpError) as refused:
        desk.hand_off(**request_)
    assert (refused.value.code, refused.value.field) == ("invalid", field)
    assert items.every(desk.node.store.db) == []


def test_a_handoff_that_says_nothing_or_too_much_leaves_no_draft(desk: Desk) -> None:
    for text in ("", "x" * 65536):
        with pytest.raises(DmpError) as refused:
            desk.hand_off(text=text)
        assert (refused.value.code, refused.value.field) == ("invalid", "body")
    assert items.every(desk.node.store.db) == []


def test_the_skill_decides_whatever_kind_and_recipients_the_envelope_has(desk: Desk) -> None:
    work = {"skill": "handoff", "title": "Do it"}
    task = desk.send(work=work, envelope={"kind": "notice", "to": ["human:nobody"]})["task"]

    assert desk.root(task).kind == "handoff"


def test_a_handoff_that_comes_again_is_one(desk: Desk) -> None:
    first, again = desk.hand_off(messageId="h"), desk.hand_off(messageId="h")

    assert first["id"] == again["id"]
    assert len(items.every(desk.node.store.db)) == 1


@pytest.mark.parametrize("point", ["a2a.drafted", "core.send"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_in_a_handoff_is_taken_up_by_the_clients_next_try(
    desk: Desk, point: str, moment: str
) -> None:
    def crash(reached: str, when: str) -> None:
        if (reached, when) == (point, moment):
            raise InterruptedError

    desk.node.store.observer = crash
    with pytest.raises(InterruptedError):
        desk.hand_off(messageId="h")
    desk.node.store.observer = None

    task = desk.hand_off(messageId="h")

    assert len(items.every(desk.node.store.db)) == 1
    assert data_type(desk.gate(task).data) == "task-proposal"


def test_a_crash_before_the_gate_is_taken_up_by_the_next_look_at_the_task(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(handoffs, "propose", lambda *_: None)
        task = desk.hand_off()
    assert desk.node.engine.open_gates() == []

    assert desk.state(task) == "AUTH_REQUIRED"


def test_a_handoff_that_the_send_refuses_leaves_no_draft(desk: Desk) -> None:
    for _ in range(2):
        with pytest.raises(DmpError) as refused:
            desk.send(envelope={"replyTo": "m-nothing"}, work={"skill": "handoff", "title": "Mend"})
        assert refused.value.field == "replyTo"

    assert items.every(desk.node.store.db) == []


def crash_before_the_message(desk: Desk, key: str, title: str) -> None:
    """Leave a draft by a process that ends before the handoff itself is stored."""

    def crash(reached: str, when: str) -> None:
        if (reached, when) == ("core.send", "before"):
            raise InterruptedError

    desk.node.store.observer = crash
    with pytest.raises(InterruptedError):
        desk.hand_off(title, messageId=key)
    desk.node.store.observer = None


def test_what_is_approved_is_what_the_message_asks_for_whatever_a_crash_left_of_another(desk: Desk) -> None:
    crash_before_the_message(desk, "h", "Fix a typo")

    task = desk.hand_off("Rewrite the deploy", messageId="h", writes=["deploy/**"])

    assert [each.title for each in items.every(desk.node.store.db)] == ["Rewrite the deploy"]
    assert item_of(desk, task).title == "Rewrite the deploy"
    assert texts(task["history"][0]) == ["Please do it."]


def test_an_ask_by_the_id_of_a_handoff_that_a_crash_cut_off_is_an_ask(desk: Desk) -> None:
    crash_before_the_message(desk, "h", "Fix a typo")

    task = desk.ask(messageId="h")

    assert "metadata" not in desk.get(task)
    assert desk.node.engine.open_gates() == []
    desk.answer(task)
    assert desk.state(task) == "COMPLETED"


def test_a_client_has_only_so_many_handoffs_that_wait(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoffs, "MAX_WAITING", 2)
    first, _ = desk.hand_off(), desk.hand_off()
    with pytest.raises(DmpError) as refused:
        desk.hand_off()
    assert refused.value.code == "limited"
    desk.as_(OTHER).hand_off()
    desk.decide(desk.gate(first))

    desk.hand_off()


def test_a_session_that_starts_on_it_is_told_what_was_asked_for(desk: Desk) -> None:
    task = desk.approved()
    held = [each.body for _, each in desk.node.engine.inbox(desk.item(task))]

    assert held == ["Please do it.\n\nTitle: Rate-limit uploads"]


def test_the_client_reads_back_what_it_wrote_itself(desk: Desk) -> None:
    assert texts(desk.hand_off(text="Please do it.")["history"][0]) == ["Please do it."]


def test_only_an_approved_handoffs_work_item_may_be_addressed(desk: Desk) -> None:
    task = desk.hand_off()
    envelope = {"kind": "message", "to": [desk.item(task)]}
    with pytest.raises(DmpError) as refused:
        desk.send(envelope=envelope)
    assert (refused.value.code, refused.value.field) == ("forbidden", "to[0]")
    desk.decide(desk.gate(task))

    desk.send("How far?", envelope=envelope)

    with pytest.raises(DmpError):
        desk.as_(OTHER).send(envelope=envelope)
    assert texts(desk.get(task)["history"][-1]) == ["How far?"]


def test_more_on_a_handoff_goes_to_the_owner_and_once_approved_to_the_work_item(desk: Desk) -> None:
    task = desk.hand_off()
    desk.send("Before.", taskId=task["id"])
    desk.decide(desk.gate(task))
    desk.send("After.", taskId=task["id"])

    to = {each.body: each.to for each in desk.thread(task)}
    assert (to["Before."], to["After."]) == (("human:ada",), (desk.item(task),))


def test_a_question_of_a_session_to_the_client_is_answered_by_it(desk: Desk) -> None:
    task = desk.approved()
    desk.set(task, "working")
    with desk.session(task) as session:
        question = desk.say(ACME, body="Per user or per team?", by=session, kind="question", blocking=True)
        assert (desk.state(task), desk.says(task)) == ("INPUT_REQUIRED", "Per user or per team?")

        desk.send("Per team.", taskId=task["id"])

        answer = desk.node.engine.answer_of(question.id)
        assert answer is not None
        assert (answer.body, answer.to) == ("Per team.", (session.address,))
        assert desk.state(task) == "WORKING"


def test_canceling_a_draft_drops_it_and_asks_the_owner_no_more(desk: Desk) -> None:
    task = desk.hand_off()

    assert desk.cancel(task)["metadata"][WORK]["status"] == "dropped"
    assert item_of(desk, task).status == "dropped"
    assert desk.node.engine.open_gates() == []


def test_canceling_work_drops_it_and_tells_who_does_it(desk: Desk) -> None:
    task = desk.approved()
    desk.set(task, "working")

    desk.cancel(task)
    desk.cancel(task)

    told = [each for _, each in desk.node.engine.inbox(desk.item(task)) if each.kind == "notice"]
    assert [each.sender for each in told] == ["agent:dispatch"]
    assert (item_of(desk, task).status, desk.state(task)) == ("dropped", "CANCELED")


def test_a_handoff_that_landed_is_not_canceled(desk: Desk) -> None:
    task = desk.approved()
    desk.set(task, "landed")

    with pytest.raises(DmpError) as refused:
        desk.cancel(task)
    assert refused.value.code == "conflict"


# status


def test_status_tells_of_the_clients_own_handoffs_alone(desk: Desk) -> None:
    task, other = desk.approved(title="Mine"), desk.as_(OTHER).hand_off("Theirs")
    desk.set(task, "review")
    desk.ask("Not a handoff")

    said = desk.send(None, work={"skill": "status"}, parts=[{"text": "How far?"}])["message"]

    assert texts(said) == [f"{task['id']}: Mine: working (review)"]
    assert said["parts"][1]["data"]["handoffs"] == [
        {
            "task": item_of(desk, task).id,
            "taskId": task["id"],
            "title": "Mine",
            "status": "review",
            "stage": "review",
        }
    ]
    assert other["id"] not in repr(said)


def test_status_of_one_handoff_and_of_none(desk: Desk) -> None:
    first, _ = desk.hand_off("First"), desk.hand_off("Second")

    one = desk.send(work={"skill": "status", "task": first["id"]})["message"]
    assert texts(one) == [f"{first['id']}: First: auth required"]
    assert texts(desk.as_(OTHER).send(work={"skill": "status"})["message"]) == [
        "You have handed off nothing."
    ]


def test_status_stores_nothing(desk: Desk) -> None:
    before = desk.node.store.db.total_changes
    desk.send(work={"skill": "status"})

    assert desk.node.store.db.total_changes == before


# Artifacts


def keep(desk: Desk, task: Any, value: JsonValue) -> None:
    with desk.node.store.transaction(CommitPoint.RESULT):
        artifacts.keep_result(desk.node, desk.item(task), value)


PR: JsonValue = {"kind": "pr", "url": "https://example.org/pull/7", "number": 7, "state": "merged"}


NOTHING: dict[str, JsonValue] = {"kind": "diffstat", "files": 0, "insertions": 0, "deletions": 0}


def files(count: int, size: int = 8) -> dict[str, JsonValue]:
    per_file: list[JsonValue] = [
        {"path": f"{index:04}".ljust(size, "x"), "insertions": 1, "deletions": 0} for index in range(count)
    ]
    return {"kind": "diffstat", "files": count, "insertions": count, "deletions": 0, "perFile": per_file}


def checks(count: int, summary: str = "passed") -> dict[str, JsonValue]:
    made: list[JsonValue] = [
        {"command": "make test", "exitCode": 0, "durationMs": 5, "summary": summary} for _ in range(count)
    ]
    return {"kind": "evidence", "items": made}


def test_results_are_artifacts_by_their_kind(desk: Desk) -> None:
    task = desk.approved()
    for value in (PR, files(2), checks(1)):
        keep(desk, task, value)
    desk.set(task, "landed")

    found = {each["artifactId"]: each for each in desk.get(task)["artifacts"]}

    assert {name: each["metadata"][WORK] for name, each in found.items()} == {
        "diffstat": files(2),
        "evidence": checks(1),
        "pr": PR,
    }
    plain = {each["artifactId"]: texts(each) for each in desk.plain().get(task)["artifacts"]}
    assert plain["pr"] == ["Pull request #7 (merged): https://example.org/pull/7"]
    assert plain["evidence"] == ["1 checks\n- make test (exit 0): passed"]


@pytest.mark.parametrize(
    "value",
    [files(201), files(200, 1000), checks(51), checks(40, "é" * 2000)],
    ids=["files", "paths", "items", "text"],
)
@pytest.mark.parametrize("active", [True, False])
def test_an_artifact_is_cut_to_64_kib_and_says_so(desk: Desk, value: JsonValue, active: bool) -> None:
    task = desk.approved()
    keep(desk, task, value)

    (artifact,) = (desk if active else desk.plain()).get(task)["artifacts"]

    assert artifact["metadata"]["truncated"] is True
    assert canonical_size(artifact) <= 64 * 1024
    if active:
        shown = artifact["metadata"][WORK]
        assert 1 <= len(shown.get("perFile", shown.get("items"))) <= 200


def test_what_fits_is_whole(desk: Desk) -> None:
    task = desk.approved()
    keep(desk, task, files(200))

    (artifact,) = desk.get(task)["artifacts"]
    assert "truncated" not in artifact["metadata"]


def test_a_long_answer_is_cut_in_its_artifact_alone(desk: Desk) -> None:
    task = desk.ask()
    desk.answer(task, "é" * 32_000)

    now = desk.get(task)
    assert canonical_size(now["artifacts"][0]) <= 64 * 1024
    whole = "é" * 32_000
    assert texts(now["status"]["message"]) == [whole]
    assert whole.startswith(texts(now["artifacts"][0])[0])


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"kind": "branch", "name": "fix"}, "kind"),
        ({"kind": "pr", "url": "file:///etc", "number": 1}, "url"),
        ({"kind": "pr", "url": "https://x", "number": 1, "state": "draft"}, "state"),
        (
            {"kind": "diffstat", "files": 1, "insertions": 0, "deletions": 0, "perFile": [{"path": ""}]},
            "perFile[0].path",
        ),
        ({"kind": "evidence", "items": [{"command": "a\nb"}]}, "items[0].command"),
    ],
)
def test_a_result_of_another_shape_is_refused(desk: Desk, value: JsonValue, field: str) -> None:
    task = desk.approved()
    with pytest.raises(DmpError) as refused:
        keep(desk, task, value)
    assert (refused.value.code, refused.value.field) == ("invalid", field)


def test_of_a_result_nothing_is_kept_that_work_v1_does_not_name(desk: Desk) -> None:
    task = desk.approved()
    entry: JsonValue = {"path": "a.py", "insertions": 1, "deletions": 0, "patch": "-secret"}
    value: JsonValue = {**NOTHING, "perFile": [entry], "commit": "c0ffee"}
    keep(desk, task, value)

    shown = repr(desk.get(task))
    assert "secret" not in shown
    assert "c0ffee" not in shown


def test_the_cli_and_the_edge_propose_a_draft_once(desk: Desk) -> None:
    task = desk.hand_off()

    assert raising.propose(desk.node, item_of(desk, task), desk.root(task)).id == desk.gate(task).id
