"""Joining what was written to memory apart: an older value taken back, and several entries made one."""

import pytest

from core.errors import Code, DmpError
from core.inputs import Sender
from crypto.canonical import JsonValue
from replica.host import memory, memory_gates, memory_merging
from replica.host.memory import Kept
from replica.host.principals import sender
from replica.shared.memory import proposals
from tests.replica.forge import Forger
from tests.replica.shared.acts import register
from tests.replica.shared.memory_acts import GIVEN, answer, body, edit, kept, open_proposals, put, seen
from tests.replica.world import Machine, World, exchange


@pytest.fixture
def ada(w: World) -> Machine:
    return w.machine("ada")


def human(machine: Machine) -> Sender:
    return sender(machine.node, None)


def names(machine: Machine, name: str) -> list[str]:
    return [each for each, _ in memory_merging.names(kept(machine, name).entry)]


def join(machine: Machine, *named: str, **given: JsonValue) -> Kept:
    made = memory_merging.join(machine.node, human(machine), named, given)
    assert isinstance(made, Kept)
    return made


def test_an_older_value_is_taken_back_as_a_whole_or_by_field(ada: Machine) -> None:
    name = put(ada, "project")
    edit(ada, name, title="Spaces", body="Four.", pinned=True)
    assert names(ada, name) == ["here/1", "here/2"]
    memory_merging.take(ada.node, human(ada), name, "here/1", ["body"])
    entry = kept(ada, name).entry
    assert (entry.title, entry.body, entry.is_pinned) == ("Spaces", "Indent with spaces.", True)
    memory_merging.take(ada.node, human(ada), name, "here/1")
    entry = kept(ada, name).entry
    assert (entry.title, entry.body, entry.is_pinned) == ("Tabs", "Indent with spaces.", False)
    assert len(entry.revisions) == 4, "what was taken back from is there to be taken back too"


def test_a_retirement_is_taken_back_with_the_revision_before_it(ada: Machine) -> None:
    name = put(ada, "project")
    memory.retire(ada.node, human(ada), name, "undone")
    memory_merging.take(ada.node, human(ada), name, "here/1")
    entry = kept(ada, name).entry
    assert (entry.is_active, entry.values["statusReason"]) == (True, None)


@pytest.mark.parametrize(
    ("revision", "fields", "code", "field"),
    [
        ("here/3", [], Code.NOT_FOUND, "take"),
        ("ada-0000000a/7", [], Code.NOT_FOUND, "take"),
        ("here/2", ["title"], Code.INVALID, "field"),
        ("here/1", ["author"], Code.INVALID, "field"),
        ("here/2", [], Code.CONFLICT, "ID"),
    ],
)
def test_what_no_revision_wrote_is_not_taken(
    ada: Machine, revision: str, fields: list[str], code: Code, field: str
) -> None:
    name = put(ada, "project")
    edit(ada, name, body="Four.")
    with pytest.raises(DmpError) as refused:
        memory_merging.take(ada.node, human(ada), name, revision, fields)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_what_was_refused_of_a_teammates_can_be_taken_as_ones_own_word(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada)
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(forger.op("memory", body=body(name, "agent", "agent:bob/helper", body="Use tabs.")))
    ada.sync()
    (proposal,) = open_proposals(ada)
    answer(ada, proposal, "reject")
    memory_merging.take(ada.node, human(ada), name, names(ada, name)[-1])
    assert seen(ada, name) == ("Tabs", "Use tabs.", "human")


def test_an_agent_that_takes_a_value_back_proposes_it(ada: Machine) -> None:
    register(ada, "agent:ada/helper")
    name = put(ada, "project")
    edit(ada, name, body="Four.")
    made = memory_merging.take(ada.node, sender(ada.node, "agent:ada/helper"), name, "here/1", ["body"])
    assert isinstance(made, proposals.Proposal)
    assert kept(ada, name).entry.body == "Four."
    memory_gates.decide(ada.node, made, approve=True)
    assert kept(ada, name).entry.body == "Indent with spaces."


def test_several_entries_become_one_with_all_that_they_say(ada: Machine) -> None:
    one = put(ada, "project", refs=["file:a", "file:b"], epic="e-1", appliesTo=["src/**"])
    two = put(ada, "project", title="Spaces", body="Four.", refs=["file:b", "file:c"], pinned=True)
    same = put(ada, "project", title="Again", appliesTo=["docs/**"], epic="e-1")
    made = join(ada, one, two, same, one)
    entry, values = made.entry, made.entry.values
    assert (entry.title, entry.kind, entry.body) == ("Tabs", "convention", "Indent with spaces.\n\nFour.")
    assert values["refs"] == ["file:a", "file:b", "file:c"]
    assert values["appliesTo"] == ["src/**", "docs/**"]
    assert (values["epic"], entry.is_pinned, entry.supersedes) == ("e-1", True, (one, two, same))
    assert [each.entry.id for each in memory.every(ada.node) if each.entry.is_active] == [entry.id]


def test_what_is_said_anew_counts_in_the_place_of_what_they_said(ada: Machine) -> None:
    one, two = put(ada, "project", epic="e-1"), put(ada, "project", epic="e-2")
    entry = join(ada, one, two, title="Both", body="All of it.").entry
    assert (entry.title, entry.body, entry.values["epic"]) == ("Both", "All of it.", None)


def test_entries_that_together_say_too_much_ask_for_a_text(ada: Machine) -> None:
    one, two = put(ada, "project", body="x" * 5_000), put(ada, "project", body="y" * 5_000)
    with pytest.raises(DmpError) as refused:
        join(ada, one, two)
    assert (refused.value.code, refused.value.field) == (Code.INVALID, "body")
    assert kept(ada, one).entry.is_active


def test_one_entry_alone_or_ones_of_two_scopes_do_not_become_one(ada: Machine) -> None:
    one, two = put(ada, "project"), put(ada, "personal")
    for named, field in (((one, one), "ID"), ((one, two), "supersedes"), ((one, "mem-x"), "ID")):
        with pytest.raises(DmpError) as refused:
            join(ada, *named)
        assert refused.value.field == field


def test_with_a_key_entries_are_joined_once(ada: Machine) -> None:
    one, two = put(ada, "project"), put(ada, "project", title=str(GIVEN["title"]) * 2)
    made = [
        memory_merging.join(ada.node, human(ada), (one, two), {}, key="k").entry.id  # type: ignore[union-attr]
        for _ in range(2)
    ]
    assert made[0] == made[1]
