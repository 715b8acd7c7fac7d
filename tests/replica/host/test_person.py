"""What a person's host rules, tells and does (sections 2.3, 6.5, 6.7, C.2, C.8)."""

import json
from pathlib import Path

import pytest

from core.inputs import Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.host import agents, items
from replica.host.attach import living
from replica.host.config import Config
from replica.host.sessions import Session
from replica.node import DirectoryNode
from replica.records.commits import CommitPoint
from tests.replica.world import Clock

ADA = Sender("human:ada", can_decide=True)
CLAUDE = Sender("agent:ada/claude")


@pytest.fixture
def task(node: DirectoryNode) -> str:
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.add(db, node.random, {"title": "Fix it"}, now=node.now()).address


@pytest.fixture
def claude(node: DirectoryNode) -> Sender:
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, node.random, CLAUDE.address, "x", node.me)
        agents.decide(db, CLAUDE.address, "approved")
    return CLAUDE


def configure(node: DirectoryNode, text: str) -> None:
    """Let the host read this file, as the next process would."""
    node.directory.config_file.write_text(text)
    node.host._config = None


def send(node: DirectoryNode, sender: Sender, to: str, body: str = "Look!", **members: JsonValue) -> Message:
    given = SendInput.from_json({"to": [to], "kind": "message", "body": body, **members})
    return node.engine.send(sender, given).message


def mail(node: DirectoryNode, address: str) -> list[str]:
    return [message.body for _, message in node.engine.inbox(address)]


def message(sender: str, origin: str | None = None) -> Message:
    return Message(
        id="m-1",
        thread="m-1",
        reply_to=None,
        sender=sender,
        to=("task:t-0000aa",),
        kind="message",
        body="x",
        created_at="2026-01-01T00:00:00.000Z",
        origin=origin,
    )


@pytest.mark.parametrize(
    ("target", "sender", "origin", "ruling"),
    [
        ("task", "human:ada", None, "allow"),
        ("task", "agent:ada/claude", None, "ask"),
        ("task", "run:r-0000aa", None, "ask"),
        ("task", "human:bob", "bob-00000000", "ask"),
        ("run:r-0000aa", "human:ada", None, "allow"),
        ("run:r-0000aa", "human:bob", "bob-00000000", "deny"),
        ("run:r-0000aa", "agent:ada/claude", None, "deny"),
        ("task:t-ffffff", "human:ada", None, "deny"),
        ("agent:ada/claude", "human:ada", None, "deny"),
    ],
)
def test_the_wake_policy(
    node: DirectoryNode, task: str, target: str, sender: str, origin: str | None, ruling: str
) -> None:
    assert node.host.rule_wake(task if target == "task" else target, message(sender, origin)) == ruling


def test_a_setting_lets_agents_wake(node: DirectoryNode, task: str) -> None:
    configure(node, '[wake]\npolicy = "allow"\n')
    assert node.host.rule_wake(task, message(CLAUDE.address)) == "allow"
    assert node.host.rule_wake("task:t-ffffff", message(CLAUDE.address)) == "deny"


def test_the_owner_of_everything_is_the_person(node: DirectoryNode, task: str) -> None:
    assert {node.host.owner(each) for each in (task, "run:r-0000aa", CLAUDE.address)} == {"human:ada"}


def test_a_wake_runs_the_command_with_what_it_is_about_and_without_the_body(
    node: DirectoryNode, task: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    configure(
        node,
        f"""[wake]\ncommand = 'printf "%s " "$DMP_TARGET" "$DMP_WORK_ITEM" "$DMP_MESSAGE" "$DMP_DIR" > {kept}'\n""",
    )
    sent = send(node, ADA, task, wake="request")
    assert kept.read_text().split() == [task, task, sent.id, str(node.directory.root.absolute())]
    assert mail(node, "human:ada") == []


def test_nobody_is_woken_without_being_asked(node: DirectoryNode, task: str, tmp_path: Path) -> None:
    configure(node, f'[wake]\ncommand = "touch {tmp_path}/woken"\n')
    send(node, ADA, task)
    assert not (tmp_path / "woken").exists()


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("", "no wake command is configured"),
        ("[wake]\ncommand = 'echo \"no model\" >&2; exit 1'\n", "no model"),
        ("[wake]\ncommand = 'exit 9'\n", "it ended with code 9"),
        ("[wake]\ncomand = 'true'\n", "the configuration is malformed"),
    ],
)
def test_the_sender_is_told_why_a_wake_failed(
    node: DirectoryNode, task: str, config: str, reason: str
) -> None:
    configure(node, config)
    send(node, ADA, task, wake="request")
    assert mail(node, "human:ada") == [f"Could not wake {task}: {reason}. Your message is waiting for it."]


def test_an_agents_wake_is_asked_of_the_person_and_done_when_approved(
    node: DirectoryNode, task: str, claude: Sender, tmp_path: Path
) -> None:
    configure(node, f'[wake]\ncommand = "touch {tmp_path}/woken"\n')
    sent = send(node, claude, task, "Look!\nNow.", wake="request")
    ((_, gate),) = node.engine.inbox("human:ada")
    assert gate.body == f"agent:ada/claude wants to wake {task}:\n\n> Look!"
    assert gate.data == {"type": "wake", "target": task, "message": sent.id}
    assert not (tmp_path / "woken").exists()
    given = SendInput.from_json(
        {"to": [gate.sender], "kind": "answer", "body": "", "replyTo": gate.id, "choice": "approve"}
    )
    node.engine.send(ADA, given)
    assert (tmp_path / "woken").exists()


def test_an_approved_wake_of_what_is_dropped_meanwhile_is_not_done(
    node: DirectoryNode, task: str, claude: Sender
) -> None:
    send(node, claude, task, wake="request")
    ((_, gate),) = node.engine.inbox("human:ada")
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.edit(db, task, {"status": "dropped"})
    given = SendInput.from_json(
        {"to": [gate.sender], "kind": "answer", "body": "", "replyTo": gate.id, "choice": "approve"}
    )
    node.engine.send(ADA, given)
    assert mail(node, claude.address) == [f"Not woken: task {task.partition(':')[2]} is dropped."]


def test_a_person_is_notified_with_the_digest_on_standard_input(
    node: DirectoryNode, claude: Sender, tmp_path: Path
) -> None:
    configure(node, f'[notify]\ncommand = "cat >> {tmp_path}/told"\n')
    sent = send(node, claude, "human:ada", "Look!\nNow.")
    assert (tmp_path / "told").read_text() == f"📬 message from agent:ada/claude: Look! ({sent.id})\n"


def test_a_teammates_mail_notifies_nobody_here(node: DirectoryNode, tmp_path: Path) -> None:
    configure(node, f'[notify]\ncommand = "touch {tmp_path}/told"\n')
    send(node, ADA, "human:bob")
    assert not (tmp_path / "told").exists()


def test_a_notifier_that_fails_fails_nothing(node: DirectoryNode, claude: Sender) -> None:
    configure(node, '[notify]\ncommand = "exit 1"\n')
    send(node, claude, "human:ada")
    assert mail(node, "human:ada") == ["Look!"]


def test_a_notice_on_the_desktop_says_nothing_of_the_body(
    node: DirectoryNode, claude: Sender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/shown\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    configure(node, "[notify]\ndesktop = true\n")
    sent = send(node, claude, "human:ada", "A secret.")
    shown = (tmp_path / "shown").read_text()
    assert f"message from agent:ada/claude ({sent.id})" in shown
    assert "secret" not in shown


def test_a_muted_agent_pushes_nothing(node: DirectoryNode, claude: Sender, tmp_path: Path) -> None:
    configure(node, f'[notify]\ncommand = "touch {tmp_path}/told"\n')
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.mute(db, claude.address, True)
    send(node, claude, "human:ada")
    assert [delivery.state for delivery, _ in node.engine.inbox("human:ada")] == ["read"]
    assert not (tmp_path / "told").exists()


def test_the_decision_on_a_gate_is_told_in_one_line_of_json(node: DirectoryNode, tmp_path: Path) -> None:
    from replica.host import effects

    gate = message("agent:dispatch")
    line = effects.decision_line(gate, message("human:ada"))
    assert line.endswith("\n")
    assert json.loads(line).keys() == {"type", "gate", "choice", "data", "body", "by"}


def test_a_scope_gate_that_nobody_decides_is_denied_after_29_minutes(node: DirectoryNode, task: str) -> None:
    def make() -> Session:
        return node.host.sessions_here.make(node.random, task, None, now=node.now())

    clock = node.wall
    assert isinstance(clock, Clock)
    with living(node, make) as session:
        gate = send(
            node,
            Sender(session.address),
            "human:ada",
            kind="question",
            blocking=True,
            choices=["grant", "deny"],
            data={"type": "scope", "paths": ["docs/"], "reason": "Why not?"},
        )
        clock.ms += 29 * 60_000 - 1
        node.take_up()
        assert node.engine.answer_of(gate.id) is None
        clock.ms += 1
        node.take_up()
    answer = node.engine.answer_of(gate.id)
    assert answer is not None
    assert (answer.sender, answer.choice, answer.data) == ("agent:dispatch", "deny", {"type": "x-expired"})
    assert node.engine.effects_applied() == [gate.id]


def test_a_config_that_is_not_there_is_read_once(node: DirectoryNode) -> None:
    assert node.host.config is node.host.config
    assert node.host.config == Config()
