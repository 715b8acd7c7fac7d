"""The tools are those of sections B.1 and B.3, with exactly their parameters, and the page names no others."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from replica.cli.main import dmp
from replica.mcp.tools import BY_NAME, TOOLS, Tool

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text()

FACTS: dict[str, tuple[set[str], set[str]]] = {
    "msg_send": ({"to", "kind", "body"}, {"refs", "data", "urgent", "blocking", "choices", "wake"}),
    "msg_reply": ({"messageId", "body"}, {"choice"}),
    "inbox_read": (set(), {"state", "limit", "markRead"}),
    "thread_read": ({"threadId"}, set()),
    "channel_join": ({"name"}, {"member"}),
    "channel_leave": ({"name"}, {"member"}),
    "channel_list": (set(), set()),
    "memory_search": ({"query"}, {"scope", "kind", "includeStale", "limit"}),
    "memory_read": ({"id"}, set()),
    "memory_save": (
        {"scope", "kind", "title", "body"},
        {"refs", "epic", "appliesTo", "supersedes", "projectOnly"},
    ),
    "memory_forget": ({"id", "reason"}, set()),
}
"""Each tool's parameters, and those that are optional, as the specification has them."""


def test_the_tools_are_those_of_the_specification_with_its_parameters() -> None:
    assert {each.name: (set(each.required), set(each.optional)) for each in TOOLS} == FACTS


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.name)
def test_a_tools_schema_is_one_and_takes_nothing_beside_its_parameters(tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.schema["additionalProperties"] is False
    assert all(each["description"] for each in tool.schema["properties"].values())


def test_the_defaults_are_those_of_the_specification() -> None:
    inbox, search = BY_NAME["inbox_read"].optional, BY_NAME["memory_search"].optional
    assert (inbox["limit"]["default"], inbox["markRead"]["default"]) == (50, True)
    assert (search["limit"]["maximum"], search["includeStale"]["default"]) == (50, True)


def test_the_page_lists_the_tools_with_their_parameters() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*)\|", PAGE, re.MULTILINE)
    shown = {}
    for name, parameters in rows:
        required, _, optional = parameters.partition("[")
        shown[name] = (set(re.findall(r"`(\w+)`", required)), set(re.findall(r"`(\w+)`", optional)))
    assert shown == FACTS


def _blocks() -> list[Any]:
    return [
        json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    ]


def test_what_the_page_has_clients_start_is_a_command() -> None:
    commands = [
        server["args"]
        for block in _blocks()
        for server in (block.get("mcpServers") or block.get("servers") or {}).values()
        if "args" in server
    ]
    assert len(commands) == 2
    for group, *arguments in commands:
        command = dmp.get_command(None, group)  # type: ignore[arg-type]
        assert command is not None
        assert command.make_context(group, arguments, resilient_parsing=True).params["acting"]


def test_the_calls_on_the_page_are_good() -> None:
    calls = [block for block in _blocks() if "arguments" in block]
    assert len(calls) == 2
    for call in calls:
        jsonschema.validate(call["arguments"], BY_NAME[call["name"]].schema)
