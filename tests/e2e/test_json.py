"""What programs read: the shape of every command's document (docs/json.md names the members)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replica.cli import main
from tests.e2e.people import Person, Town, environment

Run = Callable[..., Any]

DELIVERY = {"id", "message", "recipient", "session", "via", "state", "changedAt"}
ROW = {"message", "recipient", "homes", "via", "state", "refused", "changedAt"}
MESSAGE = {
    *(
        "id",
        "thread",
        "replyTo",
        "from",
        "to",
        "kind",
        "body",
        "refs",
        "urgent",
        "blocking",
        "wake",
        "createdAt",
    ),
    *("hlc", "external", "remote", "standing", "receivedAt"),
}
REPORT = {
    *("published", "applied", "refused", "waiting", "paused", "admitted", "unread", "toAdmit", "problems"),
    "faults",
}


@pytest.fixture
def run(orchard: Town, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run commands in this process: their documents, parsed."""
    for name, value in environment(orchard.folder / "home").items():
        monkeypatch.setenv(name, value)

    def run_(person: Person, *arguments: str, code: int = 0) -> Any:
        assert main.run([*arguments, "--json", "--dir", str(person.root)]) == code
        told = capsys.readouterr()
        assert told.err == ""
        assert told.out.isascii()
        (line,) = told.out.splitlines()
        return json.loads(line)

    return run_


def test_documents_of_mail(run: Run, ada: Person, bob: Person) -> None:
    asked = run(
        ada,
        *("send", "human:bob", "human:carol", "Ship it?", "--kind", "question", "--blocking"),
        *("--choice", "yes", "--ref", "commit:1a2b", "--data", '{"type": "x-build", "n": 7}'),
    )
    assert asked.keys() == {
        *("message", "replayed", "downgraded", "deliveries", "remote", "readers", "notes"),
    }
    assert asked["message"].keys() == MESSAGE | {"choices", "data"}
    assert asked["readers"] == [{"replica": bob.replica, "handle": "bob", "device": "bob-laptop"}]
    assert [row["recipient"] for row in asked["remote"]] == ["human:bob"]
    assert asked["remote"][0].keys() == ROW
    assert [each.keys() for each in asked["deliveries"]] == [DELIVERY]
    assert len(asked["notes"]) == 1
    assert asked["message"]["remote"] is False
    id_ = asked["message"]["id"]

    assert run(ada, "sync").keys() == REPORT
    report = run(bob, "sync")
    assert (report["unread"], report["paused"], report["admitted"]) == (1, None, True)
    inbox = run(bob, "inbox")
    assert (inbox.keys(), inbox["total"]) == ({"deliveries", "total", "hosted"}, 1)
    (entry,) = inbox["deliveries"]
    assert entry.keys() == {"delivery", "message", "answer"}
    assert entry["message"].keys() == MESSAGE | {"choices", "data", "origin"}
    assert (entry["message"]["remote"], entry["message"]["origin"]) == (True, ada.replica)
    assert [each["id"] for each in run(bob, "open")["open"]] == [id_]

    answered = run(bob, "reply", id_, "--choice", "yes")
    assert answered["message"]["standing"] == "pending"
    read = run(bob, "read", id_)
    assert read.keys() == {"message", "deliveries", "answer"}
    assert read["answer"]["choice"] == "yes"
    run(bob, "sync")
    run(ada, "sync")
    thread = run(ada, "thread", id_)
    assert thread.keys() == {"thread", "messages"}
    question, answer = thread["messages"]
    assert question.keys() == {"message", "deliveries", "remote", "waiting"}
    assert (question["remote"][0]["state"], question["waiting"]) == ("answered", False)
    assert answer["message"]["standing"] == "accepted"


def test_documents_of_a_host(run: Run, town: Town) -> None:
    zoe = town.person("zoe")
    made = run(zoe, "task", "add", "Fix it", "--draft")["task"]
    assert made.keys() == {
        *("id", "title", "status", "kind", "parent", "assignee", "priority", "labels", "created"),
    }
    assert run(zoe, "task", "edit", made["id"], "--label", "web")["task"]["labels"] == ["web"]
    assert run(zoe, "task", "show", made["id"]).keys() == {"task", "session", "held"}
    asked = run(zoe, "send", "human:zoe", "Do it.", "--kind", "handoff", "--wake")["message"]
    gate = run(zoe, "task", "propose", made["id"], "--message", asked["id"])["gate"]
    assert gate.keys() == MESSAGE - {"hlc"} | {"data", "choices"}

    (listed,) = run(zoe, "gates")["gates"]
    assert listed.keys() == {"gate", "type", "answer", "choice", "closed", "applied"}
    assert (listed["type"], listed["answer"], listed["applied"]) == ("task-proposal", None, False)
    assert run(zoe, "answer", gate["id"], "approve")["message"]["choice"] == "approve"
    assert run(zoe, "gates", "wait", gate["id"])["choice"] == "approve"
    assert run(zoe, "task", "drop", made["id"])["task"]["status"] == "dropped"
    assert run(zoe, "task", "list") == {"tasks": []}
    assert len(run(zoe, "task", "list", "--all")["tasks"]) == 1

    raised = run(zoe, "gates", "raise", "doc", "--data", '{"doc": "doc-1", "proposal": "rev-1"}')
    assert raised.keys() == {"gate", "replayed"}
    assert run(zoe, "close", raised["gate"]["id"], "Gone.").keys() == {"message"}
    closed = run(zoe, "gates", "wait", raised["gate"]["id"], code=1)
    assert closed.keys() == {"error", *listed}
    assert (closed["closed"], closed["choice"]) == ("Gone.", None)

    session = run(zoe, "session", "start")["session"]
    assert session.keys() == {"address", "task", "live", "waitingOn", "replica", "startedAt", "endedAt"}
    assert run(zoe, "session", "list") == {"sessions": [session]}
    assert run(zoe, "session", "end", session["address"]) == {"session": session, "wasLive": False}

    registered = run(zoe, "agent", "register", "claude", "--client", "x")
    assert registered.keys() == {"agent", "gate"}
    assert registered["agent"].keys() == {"address", "client", "status", "muted", "replica"}
    approved = run(zoe, "agent", "approve", "claude")
    assert approved == {"agent": {**registered["agent"], "status": "approved"}}
    assert run(zoe, "agent", "list") == {"agents": [approved["agent"]]}
    assert run(zoe, "agent", "register", "a2a.x", "--client", "x", code=1)["error"]["field"] == "agent"
    assert (
        run(zoe, "agent", "register", "agent:bob/x", "--client", "x", code=1)["error"]["code"] == "forbidden"
    )

    joined = {"channel": "all", "member": "human:zoe"}
    assert run(zoe, "channel", "join", "channel:all") == joined
    members = {"channel": "all", "members": ["human:zoe"], "implicit": []}
    assert run(zoe, "channel", "members", "all") == members
    assert run(zoe, "channel", "list") == {"channels": [members]}
    assert run(zoe, "channel", "leave", "all") == joined
    assert run(zoe, "channel", "leave", "all", code=1)["error"]["code"] == "not-found"
    epic = run(zoe, "task", "add", "Logins", "--epic")["task"]["id"]
    child = run(zoe, "task", "add", "One", "--parent", epic)["task"]["id"]
    assert run(zoe, "channel", "members", f"epic/{epic}")["implicit"] == [f"task:{child}"]


def test_documents_of_memory(run: Run, town: Town) -> None:
    zoe = town.person("zoe")
    put = run(
        zoe, "memory", "put", "Tabs", "Four spaces.", "--kind", "convention", "--ref", "file:a", "--pin"
    )
    assert put.keys() == {"memory", "proposal"}
    made = put["memory"]
    assert made.keys() == {
        *("id", "scope", "trust", "waiting", "title", "body", "kind", "pinned", "status", "statusReason"),
        *("supersedes", "supersededBy", "refs", "appliesTo", "epic"),
        *("author", "createdAt", "decidedBy", "decidedByPolicy"),
    }
    assert (made["scope"], made["trust"], made["waiting"], made["refs"]) == (
        "project",
        "human",
        False,
        ["file:a"],
    )
    id_ = made["id"]
    edited = run(zoe, "memory", "edit", id_, "--body", "Two spaces.", "--epic", "e-0000aa")
    assert edited["memory"]["body"] == "Two spaces."
    assert run(zoe, "memory", "list", "two", "SPACES") == {"memories": [edited["memory"]], "proposals": 0}
    assert run(zoe, "memory", "list", "four") == {"memories": [], "proposals": 0}

    shown = run(zoe, "memory", "show", id_)
    assert shown.keys() == {"memory", "revisions", "proposals"}
    first, second = shown["revisions"]
    assert first.keys() == {"revision", "replica", "by", "at", "trust", "standing", "changes"}
    assert (second["revision"], second["standing"], second["by"]) == ("here/2", "counts", "human:zoe")
    assert {"field": "body", "before": "Four spaces.", "after": "Two spaces."} in second["changes"]
    assert run(zoe, "memory", "diff", id_) == {"memory": id_, "revisions": [second]}
    taken = run(zoe, "memory", "merge", id_, "--take", "here/1", "--field", "body")["memory"]
    assert (taken["body"], taken["epic"]) == ("Four spaces.", "e-0000aa")
    assert run(zoe, "memory", "retire", id_)["memory"]["statusReason"] == "forgotten"
    assert run(zoe, "memory", "restore", id_)["memory"]["status"] == "active"
    assert run(zoe, "memory", "restore", id_, code=1)["error"]["code"] == "conflict"
    assert run(zoe, "memory", "share", id_)["memory"]["waiting"] is True
    assert run(zoe, "memory", "show", "mem-x", code=1)["error"]["field"] == "ID"

    run(zoe, "agent", "register", "claude", "--client", "x")
    run(zoe, "agent", "approve", "claude")
    by_agent = ("--as", "agent:zoe/claude", "--scope", "team")
    asked = run(zoe, "memory", "put", "Ports", "8080.", *by_agent, "--idempotency-key", "k")
    assert asked["memory"] is None
    proposal = asked["proposal"]
    assert proposal.keys() == {
        *("id", "memory", "action", "scope", "kind", "by", "replica", "madeAt", "state", "gate"),
    }
    assert run(zoe, "memory", "put", "Ports", "8080.", *by_agent, "--idempotency-key", "k") == asked
    assert run(zoe, "memory", "proposals") == {"proposals": [proposal]}
    compared = run(zoe, "memory", "diff", proposal["id"])
    assert compared.keys() == {"proposal", "changes"}
    assert {"field": "body", "before": None, "after": "8080."} in compared["changes"]
    assert run(zoe, "memory", "reject", proposal["id"])["proposal"]["state"] == "rejected"
    assert run(zoe, "memory", "approve", proposal["id"])["proposal"]["state"] == "approved"
    assert run(zoe, "memory", "reject", proposal["id"], code=1)["error"]["code"] == "conflict"
    joined = run(zoe, "memory", "merge", id_, proposal["memory"], "--title", "Both")["memory"]
    assert (joined["supersedes"], joined["body"]) == ([id_, proposal["memory"]], "Four spaces.\n\n8080.")
    assert [each["id"] for each in run(zoe, "memory", "list")["memories"]] == [joined["id"]]
    assert len(run(zoe, "memory", "list", "--all")["memories"]) == 3


def test_documents_of_a_team(run: Run, orchard: Town, ada: Person, bob: Person) -> None:
    roster = run(bob, "team", "roster")
    assert roster.keys() == {
        *("team", "name", "founder", "members", "revoked", "pending", "people", "seats", "syncedAt"),
    }
    assert (roster["people"], roster["seats"]) == (["ada", "bob"], 3)
    assert [member["handle"] for member in roster["members"]] == ["ada", "bob"]
    assert roster["members"][0].keys() == {
        *("replica", "handle", "device", "role", "rank", "recovered", "hosts", "observer", "fingerprint"),
        "lastHeard",
    }
    own = run(bob, "team", "fingerprint")
    assert own["founder"] == {"replica": ada.replica, "fingerprint": roster["members"][0]["fingerprint"]}

    invited = run(ada, "team", "invite", "cy")
    assert invited.keys() == {"code", "handle", "observer", "remote", "branch"}
    cy = orchard.person("cy", init=False)
    made = run(cy, "init", "--handle", "cy")
    assert made.keys() == {"replica", "handle", "fingerprint", "dir"}
    joined = run(cy, "join", "--git", str(orchard.repository))
    assert joined.keys() == {"team", "name", "admitted", "replica", "fingerprint", "founder"}
    assert joined["admitted"] is False
    run(ada, "sync")
    (waiting,) = run(ada, "team", "pending")["pending"]
    assert waiting == {
        "replica": cy.replica,
        "handle": "cy",
        "device": waiting["device"],
        "fingerprint": made["fingerprint"],
        "by": None,
    }
    changed = {"done": True, "already": False}
    assert run(ada, "team", "admit", cy.replica, "--fingerprint", made["fingerprint"]) == changed
    assert run(ada, "team", "role", cy.replica, "admin") == changed
    assert run(ada, "team", "revoke", bob.replica, "--reason", "left") == changed
    (gone,) = run(ada, "team", "roster")["revoked"]
    assert gone == {"replica": bob.replica, "handle": "bob", "reason": "left", "by": ada.replica}
    assert run(ada, "team", "compact").keys() == {"ops", "saved", "waitingFor"}
    assert run(ada, "problems") == {"problems": []}
    assert run(ada, "resume") == {"resumed": "signing", "wasPaused": False}


def test_documents_of_a_founding_and_of_errors(run: Run, town: Town, tmp_path: Path) -> None:
    zoe = town.person("zoe", init=False)
    assert run(zoe, "inbox", code=1)["error"].keys() == {"code", "message"}
    run(zoe, "init", "--handle", "zoe")
    founded = run(zoe, "team", "found", "Pear", "--git", str(town.repository), "--branch", "pears")
    assert founded.keys() == {"team", "name", "recoveryCode", "remote", "branch"}
    assert founded["branch"] == "pears"
    refused = run(zoe, "send", "nobody", "x", code=1)
    assert refused["error"].keys() == {"code", "message", "field"}
    town.repository.rename(tmp_path / "away.git")
    away = run(zoe, "sync", code=1)
    assert away.keys() == {"error", "waiting", "applied", "refused", "faults"}
    assert away["waiting"] == {"messages": 0}
