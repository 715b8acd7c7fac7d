"""Work items in the registers, and the channel of an epic (sections 2.2, C)."""

import pytest

from core.address import DISPATCH, parse_address
from core.errors import DmpError
from crypto.canonical import JsonValue
from replica.host import items
from replica.host.items import WorkItem
from replica.node import Node
from replica.records.commits import CommitPoint


def add(node: Node, title: str = "Fix it", **fields: JsonValue) -> WorkItem:
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.add(db, node.random, {"title": title, **fields}, now=node.now())


def edit(node: Node, item: WorkItem, **fields: JsonValue) -> WorkItem:
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.edit(db, item.address, fields)


def test_a_work_item_is_kept_as_it_was_made(node: Node) -> None:
    epic = add(node, "Logins", kind="epic")
    made = add(node, parent=epic.address, assignee="human:bob", priority="high", labels=["web"])
    assert (made.status, made.kind, made.parent, made.created) == ("ready", "task", epic.id, node.now())
    assert items.find(node.store.db, made.address) == made
    assert items.every(node.store.db) == sorted([epic, made], key=lambda each: each.address)
    assert [epic.id[:2], made.id[:2]] == ["e-", "t-"]
    assert parse_address(made.address, None, DISPATCH).id == made.id


def test_what_belonged_to_an_epic_that_is_removed_belongs_to_none(node: Node) -> None:
    epic, other = add(node, "Logins", kind="epic"), add(node, "Logouts", kind="epic")
    one, two = add(node, parent=epic.id), add(node, parent=other.id)
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.remove(db, epic.address)
    found = {each.id: each.parent for each in items.every(node.store.db)}
    assert found == {other.id: None, one.id: None, two.id: other.id}


@pytest.mark.parametrize("text", ["e-0000aa", "task:e-0000aa"])
def test_an_epic_may_be_named_that_is_not_known_here(text: str) -> None:
    assert items.epic_id(text, "epic") == "e-0000aa"


@pytest.mark.parametrize("text", ["t-0000aa", "e-1", "run:r-0000aa", "logins"])
def test_what_can_be_no_epic_is_refused(text: str) -> None:
    with pytest.raises(DmpError) as refused:
        items.epic_id(text, "epic")
    assert refused.value.field == "epic"


def test_a_change_changes_only_what_it_names(node: Node) -> None:
    made = add(node, labels=["a"])
    changed = edit(node, made, status="working")
    assert (changed.status, changed.title, changed.labels) == ("working", "Fix it", ("a",))


def test_an_id_that_is_taken_is_not_made_again(node: Node) -> None:
    made = add(node)
    drawn = iter([bytes.fromhex(made.id[2:]), b"\1\2\3\4\5"])
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        other = items.add(db, lambda _: next(drawn), {"title": "Other"}, now=node.now())
    assert other.id == "t-0102030405"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"title": " "}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"status": "done"}, "status"),
        ({"parent": "e-000000"}, "parent"),
        ({"assignee": "task:t-000000"}, "assignee"),
        ({"priority": "soon"}, "priority"),
        ({"labels": ["a", "a"]}, "labels"),
        ({"labels": [""]}, "labels[0]"),
        ({"kind": "story"}, "kind"),
    ],
)
def test_what_breaks_a_rule_is_refused_on_its_field(
    node: Node, fields: dict[str, JsonValue], field: str
) -> None:
    with pytest.raises(DmpError) as refused:
        add(node, **{"title": "Fix it", **fields})  # type: ignore[arg-type]
    assert refused.value.field == field
    assert items.every(node.store.db) == []


def test_a_parent_is_an_epic_and_an_epic_has_none(node: Node) -> None:
    made, epic = add(node), add(node, "Logins", kind="epic")
    for child, parent in ((made, made.id), (epic, epic.id)):
        with pytest.raises(DmpError, match="parent"):
            edit(node, child, parent=parent)


def test_the_members_of_an_epics_channel_are_the_work_items_under_it(node: Node) -> None:
    epic = add(node, "Logins", kind="epic")
    one, two, other = add(node, parent=epic.id), add(node, parent=epic.id), add(node)
    channel = f"epic/{epic.id}"
    assert set(node.host.implicit_members(channel)) == {one.address, two.address}
    edit(node, two, parent=None)
    edit(node, other, parent=epic.id)
    assert set(node.host.implicit_members(channel)) == {one.address, other.address}
    assert node.host.implicit_members("logins") == ()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "ready"}, None),
        ({"status": "draft"}, None),
        ({"kind": "epic"}, "an epic"),
        ({"status": "landed"}, "landed"),
        ({"status": "dropped"}, "dropped"),
    ],
)
def test_why_a_work_item_is_not_woken(node: Node, fields: dict[str, JsonValue], reason: str | None) -> None:
    assert node.host.why_not_woken(add(node, **fields).address) == reason  # type: ignore[arg-type]
    assert node.host.why_not_woken("task:t-ffffff") == "missing"
