"""`dmp a2a instance`: exposing agents, listing them, and what cannot be exposed."""

import json
from typing import Any

import pytest

from core.errors import DmpError
from replica.cli import main
from replica.host import agents
from replica.records.commits import CommitPoint
from tests.bindings.instance_routing.gateway import ACME, SCRIBE, Machine, approve


@pytest.fixture
def typed(ada: Machine, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str, code: int = 0) -> Any:
        assert main.run(["a2a", "instance", *arguments, "--json", "--dir", str(ada.root)]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_an_agent_is_exposed_hidden_and_exposed_again_under_one_id(typed: Any, ada: Machine) -> None:
    approve(ada.node, "agent:ada/second")
    made = typed("expose", "second", "--name", "The second")["instance"]
    assert made == {
        "id": made["id"],
        "agent": "agent:ada/second",
        "name": "The second",
        "wakes": None,
        "exposed": True,
    }
    assert "second" not in made["id"]
    assert typed("hide", "second")["instance"] == {**made, "exposed": False}
    assert [each["agent"] for each in typed("list")["instances"]] == [SCRIBE]
    assert typed("expose", "agent:ada/second")["instance"]["id"] == made["id"]


def test_the_list_tells_who_receives_mail(typed: Any, ada: Machine) -> None:
    assert typed("list")["instances"][0]["receives"] is True
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.mute(db, SCRIBE, muted=True)
    assert typed("list")["instances"][0]["receives"] is False


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        (("expose", "nobody"), "not-found", "agent"),
        (("expose", "agent:bob/scribe"), "forbidden", "agent"),
        (("expose", ACME), "invalid", "agent"),
        (("expose", "pending"), "conflict", "agent"),
        (("expose", "scribe", "--name", "\x1b[31m"), "invalid", "name"),
        (("expose", "scribe", "--name", "n" * 81), "invalid", "name"),
        (("expose", "scribe", "--wakes", "t-0000000000"), "not-found", "wakes"),
        (("expose", "scribe", "--wakes", "human:ada"), "invalid", "wakes"),
        (("hide", "pending"), "not-found", "agent"),
    ],
)
def test_what_cannot_be_exposed_is_refused(
    typed: Any, ada: Machine, arguments: tuple[str, ...], code: str, field: str
) -> None:
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, ada.node.random, "agent:ada/pending", "a program", ada.node.me)
    error = typed(*arguments, code=1)["error"]
    assert (error["code"], error["field"]) == (code, field)


def test_a_client_is_no_instance_however_it_is_named(ada: Machine) -> None:
    with pytest.raises(DmpError, match="a client is no instance"):
        ada.expose(ACME)


def test_for_people_it_says_what_to_hand_on(ada: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("expose", "scribe"), ("list",), ("hide", "scribe"), ("list",)):
        assert main.run(["a2a", "instance", *arguments, "--dir", str(ada.root)]) == 0
    said = capsys.readouterr().out
    assert said.count(ada.scribe.id) == 2
    assert "agent:ada/scribe is hidden." in said
    assert "No instances; " in said
