"""`dmp a2a task`: what clients ask, what its owner declines, and what work came to."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bindings.a2a import clients
from replica.cli import main
from replica.host import items
from replica.node import create, opened
from replica.records.commits import CommitPoint
from tests.bindings.a2a.exchange.desk import ACME, ADA, Caller, Desk
from tests.replica.world import Clock

Typed = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    create(tmp_path / "ada", "ada", "laptop", wall=Clock())
    return tmp_path / "ada"


@pytest.fixture
def desk(root: Path) -> Iterator[Desk]:
    clock = Clock()
    with opened(root, wall=clock) as node:
        clients.add(node, ACME)
        clients.approve(node, ADA, ACME)
        yield Desk(node, Caller(ACME), clock)


@pytest.fixture
def typed(root: Path, desk: Desk, capsys: pytest.CaptureFixture[str]) -> Typed:
    def run(*arguments: str, code: int = 0) -> Any:
        assert main.run(["a2a", "task", *arguments, "--json", "--dir", str(root)]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_the_list_holds_what_goes_on_and_with_all_what_ended(typed: Typed, desk: Desk) -> None:
    ask, handoff = desk.ask(), desk.hand_off()
    desk.answer(ask)

    assert typed("list")["tasks"] == [
        {
            "task": handoff["id"],
            "client": ACME,
            "state": "TASK_STATE_AUTH_REQUIRED",
            "at": handoff["status"]["timestamp"],
            "workItem": desk.item(handoff),
        }
    ]
    assert [each["task"] for each in typed("list", "--all")["tasks"]] == [ask["id"], handoff["id"]]


def test_what_a_client_asks_is_quoted_in_the_list(
    root: Path, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.ask("Is it \x1b[31mred\x1b[0m?\nSecond line.")

    assert main.run(["a2a", "task", "list", "--dir", str(root)]) == 0
    out = capsys.readouterr().out
    assert "working" in out
    assert "\x1b" not in out
    assert "Second line." not in out


def test_declining_says_the_note_to_the_client(typed: Typed, desk: Desk) -> None:
    ask = desk.ask()

    assert typed("decline", ask["id"], "--note", "Ask Bob.") == {
        "task": ask["id"],
        "state": "TASK_STATE_REJECTED",
    }
    assert desk.says(ask) == "Declined by the project owner.\n\nAsk Bob."


def test_what_is_decided_or_no_clients_is_not_declined(typed: Typed, desk: Desk) -> None:
    ask, approved = desk.ask(), desk.approved()
    desk.answer(ask)

    for id_, code in ((ask["id"], "conflict"), (approved["id"], "conflict"), ("m-absent", "not-found")):
        assert typed("decline", id_, code=1)["error"]["code"] == code
    assert desk.state(ask) == "COMPLETED"


def test_a_result_is_shown_to_the_client(
    typed: Typed, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = desk.approved()
    item = desk.item(task)
    pr = {"kind": "pr", "url": "https://example.org/pull/7", "number": 7}
    (tmp_path / "pr.json").write_text(json.dumps(pr))

    assert typed("result", item, str(tmp_path / "pr.json")) == {"workItem": item, "kind": "pr"}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps({**pr, "number": 8}).encode())))
    typed("result", item)

    (artifact,) = desk.get(task)["artifacts"]
    assert artifact["parts"][0]["text"] == "Pull request #8: https://example.org/pull/7"


@pytest.mark.parametrize(
    ("text", "field"), [("{", "file"), ("[]", "kind"), ('{"kind": "branch"}', "kind"), (None, "file")]
)
def test_a_result_that_is_none_is_refused(
    typed: Typed, desk: Desk, tmp_path: Path, text: str | None, field: str
) -> None:
    item = desk.item(desk.approved())
    if text is not None:
        (tmp_path / "it.json").write_text(text)

    assert typed("result", item, str(tmp_path / "it.json"), code=1)["error"]["field"] == field


def test_a_result_of_other_work_is_refused(typed: Typed, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "pr.json").write_text('{"kind": "pr", "url": "https://example.org/7", "number": 7}')
    with desk.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        own = items.add(db, desk.node.random, {"title": "Own"}, now=desk.node.now()).id

    assert typed("result", own, str(tmp_path / "pr.json"), code=1)["error"]["code"] == "not-found"
