"""Pages of a client's tasks: each task once, the newest status first, whatever the sizes (A2A 1.0, ListTasks)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bindings.a2a import paging
from core.errors import DmpError
from crypto.canonical import JsonValue
from tests.bindings.a2a.exchange.desk import Desk

PLACES = st.tuples(
    st.integers(0, 5).map(lambda minute: f"2026-09-23T11:0{minute}:00.000Z"),
    st.text("abc", min_size=1, max_size=3),
)


def walk(places: Mapping[tuple[str, str], int], size: int) -> list[int]:
    """All pages, one after another."""
    found: list[int] = []
    token = ""
    while True:
        query = paging.read_query({"pageSize": size, "pageToken": token})
        here, token = paging.page(list(places.items()), query)
        assert len(here) <= size
        found += here
        if not token:
            return found


@settings(max_examples=60)
@given(places=st.dictionaries(PLACES, st.integers(), max_size=12), size=st.integers(1, 14))
def test_the_pages_hold_every_task_once_and_in_order(places: dict[tuple[str, str], int], size: int) -> None:
    assert walk(places, size) == [places[place] for place in sorted(places, reverse=True)]


@settings(max_examples=60)
@given(places=st.dictionaries(PLACES, st.integers(), min_size=3, max_size=12), data=st.data())
def test_a_page_goes_on_after_the_last_whatever_came_or_went(
    places: dict[tuple[str, str], int], data: st.DataObject
) -> None:
    first, token = paging.page(list(places.items()), paging.read_query({"pageSize": 2}))
    changed = {place: value for place, value in places.items() if data.draw(st.booleans())}

    rest, _ = paging.page(list(changed.items()), paging.read_query({"pageToken": token}))

    seen = sorted(places, reverse=True)[: len(first)]
    assert rest == [changed[place] for place in sorted(changed, reverse=True) if place < seen[-1]]


@settings(max_examples=100)
@given(st.text(max_size=60) | st.text("abcdefghijklmnopqrstuvwxyzABCDEFWIl0123456789-_", max_size=80))
def test_a_token_that_nobody_was_given_is_refused_or_reads_as_one(token: str) -> None:
    with suppress(DmpError):
        query = paging.read_query({"pageToken": token})
        assert query.after is None or paging._token(query.after) == token


@pytest.mark.parametrize("token", ["x", "=", "WyJhIl0", "é", "A" * 500])
def test_another_token_is_refused_on_its_field(token: str) -> None:
    with pytest.raises(DmpError) as refused:
        paging.read_query({"pageToken": token})
    assert (refused.value.code, refused.value.field) == ("invalid", "pageToken")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"pageSize": 0}, "pageSize"),
        ({"pageSize": 101}, "pageSize"),
        ({"pageSize": "-1"}, "pageSize"),
        ({"pageSize": True}, "pageSize"),
        ({"historyLength": -1}, "historyLength"),
        ({"status": "WORKING"}, "status"),
        ({"status": "TASK_STATE_DONE"}, "status"),
        ({"statusTimestampAfter": "yesterday"}, "statusTimestampAfter"),
        ({"statusTimestampAfter": "2026-09-23T11:00:00"}, "statusTimestampAfter"),
        ({"includeArtifacts": "perhaps"}, "includeArtifacts"),
        ({"contextId": 7}, "contextId"),
    ],
)
def test_a_query_of_another_form_is_refused(query: dict[str, JsonValue], field: str) -> None:
    with pytest.raises(DmpError) as refused:
        paging.read_query(query)
    assert (refused.value.code, refused.value.field) == ("invalid", field)


def ids(found: dict[str, Any]) -> list[str]:
    return [each["id"] for each in found["tasks"]]


@pytest.fixture
def asked(desk: Desk) -> list[str]:
    """Five asks, a second apart."""
    made = []
    for _ in range(5):
        made.append(desk.ask()["id"])
        desk.clock.ms += 1000
    return made


def test_a_client_walks_its_tasks_from_the_newest(desk: Desk, asked: list[str]) -> None:
    first = desk.listed(pageSize="2")
    second = desk.listed(pageSize=2, pageToken=first["nextPageToken"])
    third = desk.listed(pageSize=2, pageToken=second["nextPageToken"])

    assert ids(first) + ids(second) + ids(third) == asked[::-1]
    assert (first["totalSize"], first["pageSize"], third["nextPageToken"]) == (5, 2, "")
    desk.answer(asked[0])
    assert ids(desk.listed())[0] == asked[0]


def test_tasks_are_found_by_state_context_and_time(desk: Desk, asked: list[str]) -> None:
    since = desk.get(asked[3])["status"]["timestamp"]
    desk.answer(asked[1])

    assert ids(desk.listed(status="TASK_STATE_COMPLETED")) == [asked[1]]
    assert ids(desk.listed(contextId=asked[2])) == [asked[2]]
    assert ids(desk.listed(statusTimestampAfter=since)) == [asked[1], asked[4], asked[3]]
    assert len(ids(desk.listed(status="TASK_STATE_UNSPECIFIED"))) == 5
    for early in ("0001-01-01T00:00:00Z", "0999-12-31T23:59:59Z"):
        assert len(ids(desk.listed(statusTimestampAfter=early))) == 5


def test_a_list_has_no_history_and_no_artifacts_unless_asked_for(desk: Desk, asked: list[str]) -> None:
    desk.answer(asked[0])

    bare, full = desk.listed(pageSize=1), desk.listed(pageSize=1, historyLength=1, includeArtifacts=True)
    assert {"history", "artifacts"} & bare["tasks"][0].keys() == set()
    assert [len(full["tasks"][0][name]) for name in ("history", "artifacts")] == [1, 1]
    assert full["tasks"][0]["artifacts"] == desk.get(asked[0])["artifacts"]


def test_a_change_without_a_time_of_its_own_is_dated_when_the_client_sees_it(desk: Desk) -> None:
    task = desk.approved()
    desk.listed()
    desk.clock.ms += 1000
    since = desk.node.now()
    assert ids(desk.listed(statusTimestampAfter=since)) == []
    desk.clock.ms += 1000

    desk.set(task, "working")

    (changed,) = desk.listed(statusTimestampAfter=since)["tasks"]
    assert changed["status"]["state"] == "TASK_STATE_WORKING"
    desk.clock.ms += 1000
    assert desk.get(task)["status"] == changed["status"]
