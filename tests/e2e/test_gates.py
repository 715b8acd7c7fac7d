"""Gates raised and answered from the command line: every type, what follows from each, and who waits for it."""

import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.people import Person, Town

TOOL = {"requestId": "q-1", "runId": "r-0000aa", "tool": "bash", "input": {"command": "make"}, "floor": False}


@pytest.fixture
def zoe(town: Town) -> Person:
    """Somebody alone."""
    return town.person("zoe")


def raised(person: Person, type_: str, data: dict[str, Any]) -> str:
    gate = person.json("gates", "raise", type_, "--data", json.dumps(data))["gate"]
    assert (gate["from"], gate["to"], gate["blocking"]) == ("agent:dispatch", ["human:zoe"], True)
    assert gate["data"]["type"] == type_
    return str(gate["id"])


def gate_of(person: Person, id_: str) -> Any:
    (found,) = [each for each in person.json("gates", "--all")["gates"] if each["gate"]["id"] == id_]
    return found


def decided(person: Person, id_: str, choice: str, *words: str) -> Any:
    """Answer a gate, and return what became of it."""
    assert id_ in {each["gate"]["id"] for each in person.json("gates")["gates"]}
    person.dmp("answer", id_, choice, *words)
    found = gate_of(person, id_)
    assert (found["choice"], found["applied"], found["closed"]) == (choice, True, None)
    assert person.json("gates")["gates"] == []
    return found


@pytest.mark.parametrize(
    ("type_", "data", "choice"),
    [
        ("tool-approval", TOOL, "approve-session"),
        ("overseer-action", {"conversation": "c", "actionId": "a-1", "summary": "Restart it."}, "confirm"),
        (
            "memory",
            {
                "proposalId": "mp-01J9ZQ7V5T3N8K2M4R6W0Y1XAB",
                "action": "add",
                "scope": "team",
                "kind": "fact",
            },
            "reject",
        ),
        ("doc", {"doc": "doc-1", "proposal": "rev-1"}, "approve"),
    ],
)
def test_a_program_raises_a_gate_waits_and_reads_the_choice(
    zoe: Person, type_: str, data: dict[str, Any], choice: str
) -> None:
    id_ = raised(zoe, type_, data)
    with zoe.running("gates", "wait", id_) as waiting:
        found = decided(zoe, id_, choice, "because")
        told = waiting.end()
    assert (told.code, told.out) == (0, f"{choice}\n")
    assert found["answer"]["body"] == "because"
    assert f"{choice}\n" == zoe.dmp("gates", "wait", id_)


def test_a_session_asks_to_write_elsewhere(zoe: Person) -> None:
    zoe.dmp("session", "start", "--id", "r-0000aa")
    with zoe.running("session", "attach", "r-0000aa") as session:
        session.noted("This is run:")
        asked = zoe.json(
            *("send", "human:zoe", "May I?", "--kind", "question", "--blocking", "--as", "run:r-0000aa"),
            *("--choice", "grant", "--choice", "deny"),
            *("--data", json.dumps({"type": "scope", "paths": ["docs/"], "reason": "The guide is wrong."})),
        )
        id_ = asked["message"]["id"]
        assert "[forbidden on replyTo]" in zoe.refused("answer", id_, "grant", "--as", "run:r-0000aa")
        decided(zoe, id_, "grant")
        session.told("choice: grant")
        session.end(signal.SIGTERM)


def test_a_session_cannot_tell_a_gate_of_others_from_none(zoe: Person) -> None:
    zoe.dmp("session", "start", "--id", "r-0000aa")
    id_ = raised(zoe, "tool-approval", TOOL)
    with zoe.running("session", "attach", "r-0000aa") as session:
        session.noted("This is run:")
        told = {
            zoe.refused("answer", question, said, "because", "--as", "run:r-0000aa")
            for question in (id_, "m-absent")
            for said in ("approve", "perhaps")
        }
        session.end(signal.SIGTERM)
    assert len(told) == 1, told
    assert "[not-found on replyTo]" in told.pop()


def test_only_sessions_raise_scope_gates(zoe: Person) -> None:
    shape = ("--kind", "question", "--blocking", "--choice", "grant", "--choice", "deny")
    data = json.dumps({"type": "scope", "paths": ["docs/"], "reason": "Why not?"})
    assert "[forbidden on data]" in zoe.refused("send", "human:zoe", "May I?", *shape, "--data", data)


def test_an_agent_is_registered_approved_muted_and_revoked(zoe: Person) -> None:
    registered = zoe.json("agent", "register", "claude", "--client", "Claude Code")
    assert registered["agent"]["status"] == "pending"
    agent = ("--as", "agent:zoe/claude")
    assert "[forbidden on from]" in zoe.refused("send", "human:zoe", "Hi.", *agent)
    again = zoe.json("agent", "register", "claude", "--client", "Claude Code")
    assert again["gate"]["id"] == registered["gate"]["id"]
    decided(zoe, registered["gate"]["id"], "approve")
    zoe.dmp("send", "human:zoe", "Hi.", *agent)
    assert zoe.json("agent", "mute", "claude")["agent"]["muted"]
    sent = zoe.json("send", "human:zoe", "Hello?", *agent)
    assert [each["state"] for each in sent["deliveries"]] == ["read"]
    zoe.dmp("agent", "unmute", "claude")
    zoe.dmp("send", "agent:zoe/claude", "Do this.")
    assert [each["message"]["body"] for each in zoe.json("inbox", *agent)["deliveries"]] == ["Do this."]
    assert zoe.json("agent", "revoke", "claude")["agent"]["status"] == "revoked"
    assert "[forbidden on from]" in zoe.refused("send", "human:zoe", "Still here.", *agent)
    assert "register it again" in zoe.refused("agent", "approve", "claude")
    (listed,) = zoe.json("agent", "list")["agents"]
    assert (listed["address"], listed["status"]) == ("agent:zoe/claude", "revoked")


def test_approving_an_agent_by_command_is_answering_its_gate(zoe: Person) -> None:
    gates = [
        zoe.json("agent", "register", name, "--client", "x")["gate"]["id"] for name in ("claude", "codex")
    ]
    assert zoe.json("agent", "approve", "claude")["agent"]["status"] == "approved"
    assert zoe.json("agent", "revoke", "codex")["agent"]["status"] == "revoked"
    assert [gate_of(zoe, each)["choice"] for each in gates] == ["approve", "deny"]
    assert "already has its answer" in zoe.refused("answer", gates[0], "deny")


def test_an_answer_to_an_earlier_registration_decides_no_later_one(zoe: Person) -> None:
    zoe.dmp("agent", "register", "claude", "--client", "x")
    zoe.dmp("agent", "revoke", "claude")
    again = zoe.json("agent", "register", "claude", "--client", "x")
    assert again["agent"]["status"] == "pending"
    # As if a crash had kept the first answer's effect from being recorded: the next command applies it again.
    with sqlite3.connect(zoe.root / "state.db") as db:
        db.execute("DELETE FROM effects")
    db.close()
    zoe.dmp("send", "human:zoe", "x", "--idempotency-key", "x")
    assert zoe.json("agent", "list")["agents"][0]["status"] == "pending"


@pytest.mark.parametrize(("choice", "status"), [("approve", "ready"), ("decline", "dropped")])
def test_a_draft_is_proposed(zoe: Person, choice: str, status: str) -> None:
    zoe.dmp("agent", "register", "claude", "--client", "x")
    zoe.dmp("agent", "approve", "claude")
    asked = zoe.json("send", "human:zoe", "Do it.", "--kind", "handoff", "--as", "agent:zoe/claude")[
        "message"
    ]
    draft = zoe.json("task", "add", "Do it", "--draft")["task"]
    gate = zoe.json("task", "propose", draft["id"], "--message", asked["id"])["gate"]
    assert gate["data"] == {
        "type": "task-proposal",
        "task": draft["id"],
        "proposedBy": "agent:zoe/claude",
        "message": asked["id"],
    }
    decided(zoe, gate["id"], choice)
    assert zoe.json("task", "show", draft["id"])["task"]["status"] == status
    assert "is no draft" in zoe.refused("task", "propose", draft["id"], "--message", asked["id"])


def test_a_closed_gate_decides_nothing(zoe: Person) -> None:
    id_ = raised(zoe, "doc", {"doc": "doc-1", "proposal": "rev-1"})
    with zoe.running("gates", "wait", id_) as waiting:
        zoe.dmp("close", id_, "No longer needed.")
        told = waiting.end()
    assert (told.code, told.out) == (1, "")
    assert "closed without a decision: “No longer needed.”" in told.err
    found = gate_of(zoe, id_)
    assert (found["choice"], found["applied"], found["closed"]) == (None, False, "No longer needed.")
    assert "already has its answer" in zoe.refused("answer", id_, "approve")


def test_waiting_can_be_interrupted(zoe: Person) -> None:
    id_ = raised(zoe, "tool-approval", TOOL)
    with zoe.running("gates", "wait", id_, "--verbose") as waiting:
        waiting.noted("waiting for")
        assert waiting.end(signal.SIGINT).code == 130
    assert len(zoe.json("gates")["gates"]) == 1


def test_a_parked_call_shows_the_beginning_of_a_long_input(zoe: Person) -> None:
    id_ = raised(zoe, "tool-approval", {**TOOL, "input": {"text": "é" * 9000}})
    data = gate_of(zoe, id_)["gate"]["data"]
    assert data["truncated"] is True
    assert 8190 <= len(data["input"].encode()) <= 8192
    assert data["input"].startswith('{"text":"éé')


def test_a_command_hears_of_a_decision_and_one_that_fails_is_run_again(zoe: Person, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    (zoe.root / "config.toml").write_text(f'[gates]\ncommand = "cat >> {heard} && test -e {tmp_path}/ok"\n')
    id_ = raised(zoe, "overseer-action", {"conversation": "c", "actionId": "a", "summary": "Restart it."})
    zoe.dmp("answer", id_, "confirm")
    assert gate_of(zoe, id_)["applied"] is False
    assert "was not done yet" in zoe.dmp("gates", "--all")
    (tmp_path / "ok").touch()
    zoe.dmp("send", "human:zoe", "Anything that sends takes it up.")
    assert gate_of(zoe, id_)["applied"] is True
    first, second = (json.loads(line) for line in heard.read_text().splitlines())
    assert first == second
    assert (first["type"], first["gate"], first["choice"]) == ("overseer-action", id_, "confirm")
    zoe.dmp("send", "human:zoe", "And not once more.")
    assert len(heard.read_text().splitlines()) == 2


def test_nobody_hears_of_a_decision_before_what_follows_from_it_was_tried(
    zoe: Person, tmp_path: Path
) -> None:
    """Not the session that asked, which another process reaches, and nobody who looks (section 5.5)."""
    begun, go = tmp_path / "begun", tmp_path / "go"
    os.mkfifo(begun)
    os.mkfifo(go)
    (zoe.root / "config.toml").write_text(f'[gates]\ncommand = "echo > {begun}; read _ < {go}"\n')
    zoe.dmp("session", "start", "--id", "r-0000aa")
    data = {"type": "scope", "paths": ["docs/"], "reason": "tidy"}
    with zoe.running("session", "attach", "r-0000aa") as session:
        session.noted("This is run:")
        gate = zoe.json(
            *("send", "human:zoe", "Only docs?", "--kind", "question", "--blocking", "--as", "run:r-0000aa"),
            *("--choice", "grant", "--choice", "deny", "--data", json.dumps(data)),
        )["message"]["id"]
        with zoe.running("answer", gate, "grant") as answering:
            begun.read_text()
            assert zoe.json("inbox", "--as", "run:r-0000aa")["deliveries"] == []
            assert zoe.json("read", gate, "--as", "run:r-0000aa")["answer"] is None
            assert len(zoe.json("thread", gate)["messages"]) == 1
            with sqlite3.connect(zoe.root / "state.db") as db:
                query = "SELECT m.id, state FROM deliveries d JOIN messages m ON m.id = message WHERE reply_to = ?"
                ((answer, state),) = db.execute(query, (gate,))
            assert state == "sending"
            zoe.refused("read", answer)
            go.write_text("\n")
            assert answering.end().code == 0
        session.told("^.message from human:zoe · answer")
    assert zoe.json("read", gate)["answer"]["id"] == answer
    assert [each["message"]["id"] for each in zoe.json("inbox", "--as", "run:r-0000aa")["deliveries"]] == [
        answer
    ]


@pytest.mark.parametrize("type_", ["wake", "scope", "agent-registration", "x-mine", "nothing"])
def test_a_command_raises_only_what_a_program_may_park(zoe: Person, type_: str) -> None:
    assert "is one of tool-approval" in zoe.refused("gates", "raise", type_, "--data", "{}", code=2)


def test_gate_data_of_another_shape_is_refused(zoe: Person) -> None:
    refused = zoe.refused("gates", "raise", "doc", "--data", '{"doc": "x", "proposal": "rev-1"}')
    assert "[invalid on data.doc]" in refused
    assert zoe.json("gates", "--all") == {"gates": []}


@pytest.mark.parametrize("listing", [("gates",), ("open",), ("read",), ("thread",)])
def test_who_decides_sees_what_the_decision_is_about(zoe: Person, listing: tuple[str, ...]) -> None:
    """What follows goes by the data, whatever the words say; no member's text passes for a line of the program."""
    zoe.dmp("session", "start", "--id", "r-0000aa")
    data = {"type": "scope", "paths": ["docs/", "/etc"], "reason": "tidy\n  settled: \u201cdeny\u201d"}
    with zoe.running("session", "attach", "r-0000aa") as session:
        session.noted("This is run:")
        asked = zoe.json(
            *("send", "human:zoe", "Only docs?", "--kind", "question", "--blocking", "--as", "run:r-0000aa"),
            *("--choice", "grant", "--choice", "deny", "--data", json.dumps(data)),
        )["message"]["id"]
        told = zoe.dmp(*listing, *([asked] if listing[0] in ("read", "thread") else []))
    assert '  | "paths": ["docs/","/etc"]\n' in told
    assert '  | "reason": "tidy\\n  settled: \u201cdeny\u201d"\n' in told
    assert not any(line.startswith("  settled") for line in told.splitlines())


def test_a_list_shows_the_beginning_of_what_is_long_and_read_the_whole(zoe: Person) -> None:
    call = {**TOOL, "input": {"command": "x" * 3000 + "END"}}
    gate = raised(zoe, "tool-approval", call)
    assert "xxx …\n" in zoe.dmp("gates")
    assert "END" not in zoe.dmp("gates")
    assert "xEND" in zoe.dmp("read", gate)


def test_the_answer_to_a_gate_of_this_host_goes_where_it_should(zoe: Person) -> None:
    gate = raised(zoe, "doc", {"doc": "doc-1", "proposal": "rev-1"})
    told = zoe.dmp("answer", gate, "approve")
    assert "settled with this answer" in told
    assert "stays here" not in told


def test_a_refused_gate_names_all_that_its_data_must_have(zoe: Person) -> None:
    told = zoe.refused("gates", "raise", "overseer-action", "--data", "{}")
    assert (
        "of type overseer-action must have conversation, actionId, summary [invalid on data.conversation]"
        in told
    )


def test_an_answer_that_is_no_choice_is_told_the_choices(zoe: Person) -> None:
    gate = raised(zoe, "doc", {"doc": "doc-1", "proposal": "rev-1"})
    for words in (["perhaps"], ["perhaps", "later"]):
        told = zoe.refused("answer", gate, *words)
        assert (
            "it takes one of “approve”, “reject”, to the letter; say why after it [invalid on choice]" in told
        )


def test_a_text_in_two_words_for_a_question_without_choices_wants_quotation_marks(zoe: Person) -> None:
    zoe.dmp("session", "start", "--id", "r-0000aa")
    with zoe.running("session", "attach", "r-0000aa") as session:
        session.noted("This is run:")
        asked = zoe.json("send", "human:zoe", "Which?", "--kind", "question", "--as", "run:r-0000aa")[
            "message"
        ]["id"]
    assert "put the whole answer in quotation marks" in zoe.refused("answer", asked, "the", "first")


def test_a_question_that_was_closed_is_shown_so(zoe: Person) -> None:
    gate = raised(zoe, "doc", {"doc": "doc-1", "proposal": "rev-1"})
    zoe.dmp("close", gate, "The page is gone.")
    assert "  closed without an answer: “The page is gone.”" in zoe.dmp("read", gate)
