"""Work items on every machine: edits that merge, removals, and one making of each id (federation wire 8.C)."""

import pytest

from core.errors import DmpError
from core.store import registers
from crypto.canonical import JsonValue
from crypto.op import Op
from replica.host import items
from replica.records.commits import CommitPoint
from tests.replica.forge import Forger
from tests.replica.shared.acts import add_task, edit_task, put_body, task, title_of
from tests.replica.world import Machine, World, exchange


def test_a_work_item_reaches_every_machine_and_merges_field_by_field(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    made = add_task(ada, priority="low", labels=["paint"])
    exchange(ada, bob)
    assert task(bob, made) == task(ada, made)
    (op,) = [entry for entry in ada.chain() if entry.type == "task"]
    edit_task(ada, made, title="Paint the door")
    edit_task(bob, made, priority="high")
    exchange(ada, bob)
    for each in (ada, bob):
        found = task(each, made)
        assert found is not None
        assert (found.title, found.priority, found.labels) == ("Paint the door", "high", ("paint",))
        assert each.count("register_edits") == 0
    changed = next(entry for entry in bob.chain() if entry.type == "task")
    assert changed.body["fields"] == {"priority": "high"}  # type: ignore[union-attr, index, call-overload]
    assert op.body["origin"] == op.body["fields"]["created"]  # type: ignore[union-attr, index, call-overload]


def test_a_work_item_past_what_an_op_holds_is_published_in_several_and_made_by_the_first(w: World) -> None:
    """8.12: fields in the order of their names, and when it was made in the first op alone."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    made = add_task(ada)
    large: dict[str, JsonValue] = {f"{where}:text": where * 870_000 for where in ("a", "b", "z")}
    with ada.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        registers.edit(db, "task", made, large)
    exchange(ada, bob)
    bodies = [op.body for op in ada.chain() if isinstance(op, Op) and op.type == "task"]
    fields = [body["fields"] for body in bodies if isinstance(body, dict)]
    assert [list(each) for each in fields if isinstance(each, dict)] == [
        ["a:text"],
        ["b:text", "created", "kind", "status", "title"],
        ["z:text"],
    ]
    assert ["origin" in body for body in bodies if isinstance(body, dict)] == [True, False, False]
    assert registers.fields_of(bob.node.store.db, "task", made) == registers.fields_of(db, "task", made)
    assert (bob.problems(), ada.count("register_edits")) == ({}, 0)


def test_an_edit_counts_here_at_once_and_gets_its_clock_when_it_is_published(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    edit_task(ada, made, title="Mine, first")
    found = task(ada, made)
    assert found is not None
    assert found.title == "Mine, first"
    bob.clock.ms += 60_000
    edit_task(bob, made, title="Bob's")
    bob.sync()
    ada.clock.ms += 120_000
    ada.sync()  # published after bob's, so later than bob's
    bob.sync()
    assert [each.title for each in (task(ada, made), task(bob, made)) if each] == ["Mine, first"] * 2


def test_the_members_of_an_epic_elsewhere_are_members_of_its_channel(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    epic = add_task(ada, kind="epic")
    made = add_task(ada, parent=epic.partition(":")[2])
    exchange(ada, bob)
    assert bob.node.host.implicit_members(f"epic/{epic.partition(':')[2]}") == [made]


def test_a_work_item_that_was_removed_is_gone_until_it_is_written_to_again(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    forger = Forger(bob)
    name = made.partition(":")[2]
    forger.publish(forger.op("task", body={"task": name, "kind": "remove"}))
    ada.sync()
    assert task(ada, made) is None
    forger.publish(forger.op("task", body={"task": name, "kind": "put", "fields": {"status": "working"}}))
    ada.sync()
    found = task(ada, made)
    assert found is not None
    assert (found.title, found.status) == ("Paint the wall", "working")


def test_a_work_item_that_is_removed_here_is_gone_at_once_and_then_everywhere(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made, unheard_of = add_task(ada), add_task(ada)
    edit_task(ada, unheard_of, title="Nobody knows of it")
    remove(ada, unheard_of)
    exchange(ada, bob)
    assert task(ada, unheard_of) is None
    assert [entry.body["task"] for entry in ada.chain() if entry.type == "task"] == [made[5:]]  # type: ignore[union-attr, index, call-overload]
    edit_task(ada, made, title="Not said any more")
    remove(ada, made)
    assert task(ada, made) is None
    with pytest.raises(DmpError):
        edit_task(ada, made, title="Gone")
    exchange(ada, bob)
    assert task(ada, made) is task(bob, made) is None
    assert ada.chain()[-1].body == {"task": made[5:], "kind": "remove"}  # type: ignore[union-attr]


def test_a_work_item_that_is_removed_comes_back_by_an_edit_of_who_had_not_heard_of_that(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    remove(ada, made)
    ada.sync()
    bob.clock.ms += 60_000
    edit_task(bob, made, status="working")
    exchange(bob, ada)
    for each in (ada, bob):
        found = task(each, made)
        assert found is not None
        assert (found.title, found.status) == ("Paint the wall", "working")


def remove(machine: Machine, address: str) -> None:
    with machine.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.remove(db, address)


def test_removing_a_work_item_costs_the_same_however_much_it_holds(w: World) -> None:
    """A teammate could have one grow without end, and then remove it and write to it again and again."""
    ada, bob = w.team("ada", "bob")
    forger = Forger(bob)

    def grow(name: str, ops: int) -> None:
        lines: list[JsonValue] = [0] * 100
        more: JsonValue = {"task": name, "kind": "put", "activity": lines}
        forger.publish(*(forger.op("task", body=more) for _ in range(ops)))

    def toggled(name: str) -> int:
        remove: JsonValue = {"task": name, "kind": "remove"}
        forger.publish(
            *(forger.op("task", body=each) for each in (remove, put_body(name, status="done")) * 3)
        )
        before = ada.node.store.db.total_changes
        ada.sync()
        return ada.node.store.db.total_changes - before

    grow("t-0000aa", 1)
    grow("t-0000bb", 8)
    ada.sync()
    assert toggled("t-0000bb") == toggled("t-0000aa")


def test_of_two_work_items_with_one_id_the_earlier_is_meant(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    early, late = Forger(bob), Forger(cy)
    early.ms, late.ms = early.ms + 10, early.ms + 5_000
    first = early.op("task", body=put_body("t-0000aa", origin="one", title="First"))
    second = late.op("task", body=put_body("t-0000aa", origin="two", title="Second", priority="high"))
    late.publish(second)
    ada.sync()
    assert title_of(ada) == "Second"
    early.publish(first)
    ada.sync()
    assert title_of(ada) == "First"
    found = task(ada, "task:t-0000aa")
    assert found is not None
    assert found.priority is None
    assert "seq 2" in ada.problems()[f"task:{cy.me}"]


def test_a_work_item_made_here_does_not_become_an_edit_of_one_with_its_id_that_came_in_since(
    w: World,
) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    for machine, title in ((ada, "First"), (bob, "Second")):
        bob.clock.ms += 1_000
        with machine.node.store.transaction(CommitPoint.WORK_ITEM) as db:
            made = items.add(db, lambda size: b"a" * size, {"title": title}, now=machine.node.now())
    exchange(ada, bob, cy)
    for each in (ada, bob, cy):
        found = task(each, made.address)
        assert found is not None
        assert found.title == "First"
        assert "another work item has the id" in each.problems()[f"task:{bob.me}"]
    assert bob.count("register_edits") == 0


def test_the_text_of_teammates_is_read_as_one_short_line(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(forger.op("task", body=put_body("t-0000aa", title="Up\nand " + "down " * 200)))
    ada.sync()
    title = title_of(ada)
    assert title is not None
    assert title.startswith("Up and down")
    assert len(title) <= items.MAX_TITLE_BYTES
