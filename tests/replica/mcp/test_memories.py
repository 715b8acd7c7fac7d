"""The memory tools read and write what is kept in mind as anybody else does, and ask where an agent may not decide."""

from typing import Any

import pytest

from core.inputs import Sender
from replica.host import memory
from replica.host.memory import Kept
from replica.shared.memory.bodies import KINDS
from tests.replica.mcp.office import ADA, SCOUT, SCRIBE, Office


def keep(ada: Office, title: str, body: str = "So it is.", scope: Any = "project", **more: Any) -> str:
    """Keep something in mind as Ada does; the id of the entry."""
    supersedes = more.pop("supersedes", ())
    fields = {"title": title, "body": body, "kind": "fact", **more}
    made = memory.put(ada.node, Sender(ADA, can_decide=True), scope, fields, supersedes=supersedes)
    assert isinstance(made, Kept)
    return made.entry.id


def titles(found: Any) -> list[str]:
    return [each["title"] for each in found["memories"]]


def save(ada: Office, scope: str, key: str | None = None, /, **more: Any) -> Any:
    return ada.call(
        "memory_save", SCOUT, key, **{"scope": scope, "kind": "fact", "title": "T", "body": "B", **more}
    )


# Searching and reading


def test_all_words_of_a_query_are_in_what_is_found(ada: Office) -> None:
    keep(ada, "Indent", "With four spaces.", refs=["file:a.py"])
    keep(ada, "Spaces", "Are cheap.")
    assert titles(ada.call("memory_search", query="SPACES indent")) == ["Indent"]
    assert titles(ada.call("memory_search", query="file:a.py")) == ["Indent"]
    assert titles(ada.call("memory_search", query="tabs")) == []


def test_an_empty_query_returns_pinned_and_new_entries_first_and_stale_ones_last(ada: Office) -> None:
    old = keep(ada, "Old")
    keep(ada, "Pinned", pinned=True)
    keep(ada, "New", supersedes=[old])
    found = ada.call("memory_search", query="")
    assert titles(found) == ["Pinned", "New", "Old"]
    assert [each["stale"] for each in found["memories"]] == [False, False, True]
    assert titles(ada.call("memory_search", query="", includeStale=False)) == ["Pinned", "New"]


def test_what_was_forgotten_is_not_found_but_can_be_read(ada: Office) -> None:
    entry = keep(ada, "Gone")
    memory.retire(ada.node, Sender(ADA, can_decide=True), entry, "forgotten")
    assert titles(ada.call("memory_search", query="")) == []
    assert ada.call("memory_read", id=entry)["memory"]["statusReason"] == "forgotten"


def test_a_search_is_narrowed_by_scope_kind_and_number(ada: Office) -> None:
    keep(ada, "Mine", scope="personal")
    for title in ("One", "Two"):
        keep(ada, title, kind="hazard")
    assert titles(ada.call("memory_search", query="", scope="personal")) == ["Mine"]
    assert set(titles(ada.call("memory_search", query="", kind="hazard"))) == {"One", "Two"}
    few = ada.call("memory_search", query="", limit=1)
    assert (len(few["memories"]), few["more"]) == (1, True)
    assert ada.refused("memory_search", query="", limit=51)["field"] == "limit"


def test_a_search_shows_how_a_body_begins_and_a_reading_all_of_it(ada: Office) -> None:
    body = "First\u2028" + "x" * 500
    entry = keep(ada, "Long", body)
    (hit,) = ada.call("memory_search", query="long")["memories"]
    assert (hit["excerpt"], "body" in hit) == ("First", False)
    for name in (entry, hit["handle"]):
        found = ada.call("memory_read", id=name)
        assert (found["memory"]["body"], found["memory"]["author"]) == (body, ADA)
        assert (found["memory"]["trust"], len(found["revisions"])) == ("human", 1)


@pytest.mark.parametrize("name", ["mem-zzzzzz", "mem-01ARZ3NDEKTSV4RRFFQ69G5FAV", "nothing", ""])
def test_an_entry_that_is_not_there_is_not_found(ada: Office, name: str) -> None:
    refused = ada.refused("memory_read", id=name)
    assert (refused["code"], refused["field"]) == ("not-found", "id")


# Saving


def test_a_personal_entry_counts_at_once_with_all_that_was_given(ada: Office) -> None:
    epic = ada.task("Logins", kind="epic").removeprefix("task:")
    old = keep(ada, "Old", scope="personal")
    made = save(
        ada,
        "personal",
        kind="hazard",
        title="Flaky",
        body="On Mondays.",
        refs=["commit:1a2b3c"],
        epic=epic,
        appliesTo=["src/**"],
        supersedes=[old],
        projectOnly=True,
    )
    entry = made["memory"]
    assert (entry["kind"], entry["title"], entry["body"]) == ("hazard", "Flaky", "On Mondays.")
    assert (entry["refs"], entry["epic"], entry["appliesTo"]) == (["commit:1a2b3c"], epic, ["src/**"])
    assert (entry["supersedes"], entry["author"], entry["trust"]) == ([old], SCOUT, "agent")
    assert made["proposal"] is None
    assert ada.call("memory_read", id=old)["memory"]["stale"] is True


@pytest.mark.parametrize("scope", ["project", "team"])
def test_what_is_for_others_waits_until_a_human_decides(ada: Office, scope: str) -> None:
    made = save(ada, scope, title="Flaky")
    assert (made["memory"], made["proposal"]["state"]) == (None, "open")
    assert "asked" in made["note"]
    assert titles(ada.call("memory_search", query="")) == []
    ada.answer(made["proposal"]["gate"], choice="approve")
    assert titles(ada.call("memory_search", query="")) == ["Flaky"]


def test_a_policy_may_accept_what_agents_save(ada: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DMP_MEMORY_AGENTS", "allow")
    assert save(ada, "project")["memory"]["title"] == "T"


def test_a_saving_that_is_repeated_saves_once(ada: Office) -> None:
    for scope in ("personal", "project"):
        first, again = (save(ada, scope, scope) for _ in range(2))
        assert first == again
    assert len(ada.call("memory_search", query="")["memories"]) == 1
    assert len(ada.node.engine.open_gates()) == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"scope": "everybody"}, "scope"),
        ({"kind": "rumour"}, "kind"),
        ({"kind": None}, "kind"),
        ({"title": "two\nlines"}, "title"),
        ({"body": " "}, "body"),
        ({"body": "x" * 8193}, "body"),
        ({"refs": ["nothing"]}, "refs[0]"),
        ({"refs": "commit:1"}, "refs"),
        ({"epic": "t-4a8cce"}, "epic"),
        ({"appliesTo": [1]}, "appliesTo[0]"),
        ({"scope": "team", "projectOnly": True}, "projectOnly"),
    ],
)
def test_what_is_wrong_with_an_entry_is_named(ada: Office, given: dict[str, Any], field: str) -> None:
    whole = {"scope": "personal", "kind": "fact", "title": "T", "body": "B", **given}
    refused = ada.refused("memory_save", **whole)
    assert (refused["code"], refused["field"]) == ("invalid", field)
    assert titles(ada.call("memory_search", query="")) == []


def test_only_what_is_there_is_superseded(ada: Office) -> None:
    refused = ada.refused(
        "memory_save", scope="personal", kind="fact", title="T", body="B", supersedes=["mem-zzzzzz"]
    )
    assert (refused["code"], refused["field"]) == ("not-found", "supersedes")


def test_every_kind_is_saved(ada: Office) -> None:
    assert [save(ada, "personal", kind=each)["memory"]["kind"] for each in KINDS] == [*KINDS]


# Forgetting


def test_a_personal_entry_is_forgotten_at_once_and_once(ada: Office) -> None:
    entry = save(ada, "personal")["memory"]["handle"]
    first = ada.call("memory_forget", id=entry, reason="wrong")
    assert (first["memory"]["status"], first["memory"]["statusReason"]) == ("retired", "forgotten")
    assert ada.call("memory_forget", id=entry, reason="wrong") == first


def test_whoever_decides_on_a_forgetting_reads_why(ada: Office) -> None:
    entry = keep(ada, "Ports")
    made = ada.call("memory_forget", id=entry, reason="they move \x1b[2J")
    assert (made["memory"], made["proposal"]["action"]) == (None, "retire")
    gate = ada.node.engine.message(made["proposal"]["gate"])
    assert gate is not None
    assert "they move" in gate.body
    assert "\x1b" not in gate.body
    assert ada.call("memory_forget", id=entry, reason="again") == made
    assert len(ada.node.engine.open_gates()) == 1
    assert (
        ada.call("memory_forget", SCRIBE, id=entry, reason="too")["proposal"]["id"] != made["proposal"]["id"]
    )
    ada.answer(gate.id, choice="approve")
    assert ada.call("memory_read", id=entry)["memory"]["status"] == "retired"


@pytest.mark.parametrize("reason", ["", " ", "two\u2028lines", "x" * 501, None, 5])
def test_a_reason_is_one_line(ada: Office, reason: object) -> None:
    entry = save(ada, "personal")["memory"]["id"]
    assert ada.refused("memory_forget", id=entry, reason=reason)["field"] == "reason"
    assert ada.call("memory_read", id=entry)["memory"]["status"] == "active"
