"""The team's memory on every machine: what travels, how it merges and how far it is trusted (F.7, wire 8.D)."""

import pytest

from core.errors import Code, DmpError
from core.store import registers
from crypto.canonical import JsonValue
from replica.chain import apply
from replica.chain.quotas import Quotas
from replica.host import memory, memory_gates
from replica.host.config import Config, MemoryPolicy
from replica.host.principals import sender
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.shared.fold import HANDLERS
from replica.shared.memory import proposals
from replica.shared.memory.proposals import Proposal
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import register
from tests.replica.shared.memory_acts import (
    GIVEN,
    MEM,
    bodies,
    body,
    edit,
    kept,
    open_proposals,
    put,
    seen,
)
from tests.replica.world import Machine, World, exchange


def forged(machine: Machine, *given: JsonValue) -> None:
    """Publish memory ops of these bodies, signed with a machine's key."""
    forger = Forger(machine)
    forger.publish(*(forger.op("memory", body=each) for each in given))


def test_an_entry_of_a_human_reaches_every_machine_as_a_humans(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada, refs=["file:setup.cfg"], pinned=True)
    exchange(ada, bob)
    for machine in (ada, bob):
        assert seen(machine, name) == ("Tabs", "Indent with spaces.", "human")
        entry = kept(machine, name).entry
        assert (entry.author, entry.is_pinned, entry.values["refs"]) == (
            "human:ada",
            True,
            ["file:setup.cfg"],
        )
        assert not kept(machine, name).waiting
    (said,) = bodies(ada)
    assert isinstance(said, dict)
    assert (said["memory"], said["kind"], said["trust"], said["by"]) == (name, "put", "human", "human:ada")


def test_entries_of_a_person_and_of_a_project_never_leave(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    mine, ours = put(ada, "personal"), put(ada, "project")
    exchange(ada, bob)
    assert bodies(ada) == []
    assert memory.every(bob.node) == []
    assert {each.entry.id for each in memory.every(ada.node)} == {mine, ours}


def test_an_entry_written_before_there_is_a_team_is_published_once_there_is_one(w: World) -> None:
    ada = w.machine("ada")
    name = put(ada)
    assert seen(ada, name) == ("Tabs", "Indent with spaces.", "human")
    commands.found_team(ada.pass_(), "Orchard")
    ada.sync()
    (said,) = bodies(ada)
    assert isinstance(said, dict)
    assert (said["memory"], said["trust"]) == (name, "human")


def test_entries_merge_field_by_field_and_the_later_clock_wins(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada)
    exchange(ada, bob)
    edit(ada, name, title="Spaces", epic="e-1")
    edit(bob, name, body="Four spaces.")
    edit(bob, name, epic="e-2")
    ada.sync()
    bob.clock.ms += 1_000
    exchange(ada, bob)
    for machine in (ada, bob):
        entry = kept(machine, name).entry
        assert (entry.title, entry.body, entry.values["epic"]) == ("Spaces", "Four spaces.", "e-2")


def test_clocks_are_compared_as_numbers_and_then_by_replica(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    full = {**GIVEN, "author": "human:bob"}
    forger.publish(forger.op("memory", body=body(MEM, "human", None, **full)))
    ada.sync()
    db = ada.node.store.db
    (ms,) = db.execute("SELECT max(ms) FROM memory_writes").fetchone()
    rows = [(9_999, "ada-00000001", "low"), (10_000, "ada-00000001", "high"), (10_000, "ada-00000000", "tie")]
    for index, (counter, replica, title) in enumerate(rows):
        with ada.node.store.transaction("test"):
            db.execute(
                "INSERT INTO memory_writes VALUES (?, ?, ?, ?, ?, 'human', NULL, ?)",
                (MEM, ms + 1, counter, replica, 90 + index, f'{{"title": "{title}"}}'),
            )
    titles = [each.write.fields.get("title") for each in kept(ada, MEM).entry.revisions]
    assert titles == ["Tabs", "low", "tie", "high"]


@pytest.mark.parametrize(
    ("claim", "author", "decided", "trust"),
    [
        ("human", "human:bob", None, "human"),
        ("human", "human:ada", None, "agent"),
        ("confirmed", "human:bob", None, "agent"),
        ("agent", "human:bob", None, "agent"),
        ("human", "agent:bob/helper", "human:bob", "confirmed"),
        ("human", "human:ada", "human:bob", "confirmed"),
        ("confirmed", "agent:bob/helper", "human:ada", "agent"),
        ("confirmed", "run:r-0000aa", "human:bob", "confirmed"),
        ("human", "agent:bob/helper", None, "agent"),
        ("agent", "agent:bob/helper", "human:bob", "agent"),
    ],
)
def test_trust_is_what_the_receiver_finds_and_not_what_is_claimed(
    w: World, claim: str, author: str, decided: str | None, trust: str
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forged(bob, body(MEM, claim, "human:bob", **GIVEN, author=author, decidedBy=decided))
    ada.sync()
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", trust)


def test_a_change_of_content_sets_the_trust_anew_and_any_other_never_lowers_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    full = body(MEM, "human", "human:bob", **GIVEN, author="human:bob")
    forged(bob, full)
    ada.sync()

    def trust_after(claim: str, **fields: JsonValue) -> str:
        forged(bob, full, *changes, body(MEM, claim, "human:bob", **fields))
        ada.sync()
        changes.append(body(MEM, claim, "human:bob", **fields))
        return str(kept(ada, MEM).entry.trust)

    changes: list[JsonValue] = []
    assert trust_after("agent", pinned=True) == "human"
    assert trust_after("agent", epic="e-1", appliesTo=["src/**"]) == "human"
    assert trust_after("agent", body="By nobody.") == "agent"
    assert trust_after("agent", pinned=False) == "agent"
    assert trust_after("confirmed", decidedBy="human:bob") == "confirmed"
    assert trust_after("agent", pinned=True) == "confirmed"
    assert trust_after("human", refs=["file:a"]) == "human"


def test_a_change_that_is_none_of_content_lends_nobody_anothers_name(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forged(
        bob,
        body(MEM, "human", "human:bob", **GIVEN, author="human:bob", decidedBy="human:bob"),
        body(MEM, "human", "human:bob", author="human:ada", decidedBy="human:ada", pinned=True),
    )
    ada.sync()
    entry = kept(ada, MEM).entry
    assert (entry.trust, entry.author, entry.decided_by, entry.is_pinned) == (
        "human",
        "human:bob",
        "human:bob",
        True,
    )


def test_who_is_named_by_others_and_pins_an_entry_does_not_stand_behind_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forged(bob, body(MEM, "human", "human:bob", **GIVEN, author="human:ada", decidedBy="human:ada"))
    ada.sync()
    edit(ada, MEM, pinned=True)
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "agent")
    ada.sync()
    (said,) = bodies(ada)
    assert isinstance(said, dict)
    assert said["trust"] == "agent"
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "agent")


def test_a_human_who_changes_what_another_wrote_confirms_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada)
    exchange(ada, bob)
    edit(bob, name, body="Two spaces.")
    exchange(ada, bob)
    for machine in (ada, bob):
        entry = kept(machine, name).entry
        assert seen(machine, name) == ("Tabs", "Two spaces.", "confirmed")
        assert (entry.author, entry.decided_by) == ("human:ada", "human:bob")


def test_a_pin_of_anothers_entry_counts_at_once_and_keeps_its_trust(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada)
    exchange(ada, bob)
    edit(bob, name, pinned=True)
    exchange(ada, bob)
    for machine in (ada, bob):
        assert kept(machine, name).entry.is_pinned
        assert kept(machine, name).entry.trust == "human"
        assert open_proposals(machine) == []


def test_each_author_of_changed_fields_has_an_op_and_the_latest_is_last(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, "agent:ada/helper")
    allow(ada)
    name = put(ada)
    edit(ada, name, by="agent:ada/helper", body="Eight spaces.", pinned=True)
    edit(ada, name, title="Spaces", body="Four spaces.")
    exchange(ada, bob)
    first, second = bodies(ada)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert (first["by"], second["by"]) == ("agent:ada/helper", "human:ada")
    assert first["fields"] == {"pinned": True, "decidedBy": None, "decidedByPolicy": memory.ALLOWED}
    assert second["trust"] == "human"
    for machine in (ada, bob):
        assert seen(machine, name) == ("Spaces", "Four spaces.", "human")


def allow(machine: Machine) -> None:
    """Let the policy of a machine accept what agents there write."""
    machine.node.host._config = Config(memory=MemoryPolicy(agents="allow"))


def test_what_only_an_agent_wrote_of_an_entry_waits_and_its_persons_part_counts(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, "agent:ada/helper")
    allow(ada)
    name = put(ada, by="agent:ada/helper", epic="e-1")
    edit(ada, name, title="Spaces", body="Four.", kind="fact", refs=["file:a"])
    exchange(ada, bob)
    (proposal,) = open_proposals(bob)
    assert proposal.by == "agent:ada/helper"
    assert kept(bob, name).entry.values.get("epic") is None
    memory_gates.decide(bob.node, proposal, approve=True)
    for machine in (ada, bob):
        entry = kept(machine, name).entry
        assert seen(machine, name) == ("Spaces", "Four.", "confirmed")
        assert (entry.author, entry.decided_by, entry.values["epic"]) == (
            "agent:ada/helper",
            "human:ada",
            "e-1",
        )


def test_remove_is_ignored_and_unknown_fields_are_dropped(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forged(
        bob,
        body(MEM, "human", None, **GIVEN, author="human:bob", mood="sunny"),
        {"memory": MEM, "kind": "remove", "trust": "human"},
    )
    ada.sync()
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "human")
    assert "mood" not in kept(ada, MEM).entry.values
    assert ada.problems() == {}


def test_one_bad_field_makes_the_op_malformed_and_is_noted(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forged(bob, body(MEM, "human", None, **{**GIVEN, "title": "x" * 201}, author="human:bob"))
    ada.sync()
    assert memory.find(ada.node, MEM) is None
    assert "fields.title" in ada.problems()[f"memory:{bob.me}"]


def test_a_retired_entry_travels_too_and_can_come_back(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada)
    exchange(ada, bob)
    memory.retire(bob.node, sender(bob.node, None), name, "undone")
    exchange(ada, bob)
    for machine in (ada, bob):
        entry = kept(machine, name).entry
        assert (entry.is_active, entry.values["statusReason"], entry.trust) == (False, "undone", "human")
    memory.restore(ada.node, sender(ada.node, None), name)
    exchange(ada, bob)
    assert kept(bob, name).entry.is_active


def test_one_entry_goes_in_the_place_of_several(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    one, two = put(ada), put(bob)
    exchange(ada, bob)
    made = memory.put(
        bob.node, sender(bob.node, None), "team", {**GIVEN, "title": "Both"}, supersedes=(one, two)
    )
    assert isinstance(made, memory.Kept)
    exchange(ada, bob)
    for machine in (ada, bob):
        assert kept(machine, made.entry.id).entry.supersedes == (one, two)
        for old in (one, two):
            entry = kept(machine, old).entry
            assert (entry.is_active, entry.values["statusReason"]) == (False, "superseded")
            assert entry.superseded_by == (made.entry.id,)


def test_an_entry_of_the_project_is_shared_as_it_is(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, "agent:ada/helper")
    allow(ada)
    name = put(ada, "project", by="agent:ada/helper")
    edit(ada, name, by="agent:ada/helper", title="Spaces")
    memory.share(ada.node, sender(ada.node, None), name)
    exchange(ada, bob)
    assert len(bodies(ada)) == 1
    for machine in (ada, bob):
        assert seen(machine, name) == ("Spaces", "Indent with spaces.", "confirmed")
        assert kept(machine, name).entry.author == "agent:ada/helper"
        assert kept(machine, name).scope == "team"


@pytest.mark.parametrize("published", [False, True])
def test_what_was_proposed_before_an_entry_was_shared_is_published_once_approved(
    w: World, published: bool
) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, "agent:ada/helper")
    name = put(ada, "project")
    proposed = memory.edit(ada.node, sender(ada.node, "agent:ada/helper"), name, {"body": "With tabs."})
    assert isinstance(proposed, Proposal)
    memory.share(ada.node, sender(ada.node, None), name)
    if published:
        exchange(ada, bob)
    memory_gates.decide(ada.node, proposed, approve=True)
    assert kept(ada, name).scope == "team"
    exchange(ada, bob)
    for machine in (ada, bob):
        assert seen(machine, name) == ("Tabs", "With tabs.", "confirmed")
        assert not kept(machine, name).waiting


def test_an_entry_is_shared_as_it_is_when_that_is_written(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = w.machine("ada")
    name = put(ada, "project")
    need = memory.need

    def inside(node: Node, named: str) -> memory.Kept:
        read_in.append(node.store.db.in_transaction)
        return need(node, named)

    read_in: list[bool] = []
    monkeypatch.setattr(memory, "need", inside)
    memory.share(ada.node, sender(ada.node, None), name)
    assert read_in[0], "what another process writes between reading and sharing would be lost"


def test_a_teammate_who_learns_the_id_of_an_entry_that_is_not_shared_gets_nothing_of_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    name = put(ada, "personal", body="Mine alone.")
    forger = Forger(bob)
    forger.publish(forger.op("memory", body=body(name, by="human:bob", title="Theirs", author="human:bob")))
    ada.sync()
    assert kept(ada, name).scope == "personal"
    assert seen(ada, name) == ("Tabs", "Mine alone.", "human")
    edit(ada, name, title="Spaces")
    ada.sync()
    assert kept(ada, name).scope == "personal"
    assert bodies(ada) == []


def test_an_entry_whose_place_a_proposal_waits_to_take_is_not_shared_before_that_is_decided(w: World) -> None:
    """Or one of the team would be superseded by one that the team never gets."""
    (ada,) = w.team("ada")
    register(ada, "agent:ada/helper")
    name = put(ada, "project")
    made = memory.put(
        ada.node,
        sender(ada.node, "agent:ada/helper"),
        "project",
        {"title": "Spaces", "body": "Two.", "kind": "fact"},
        supersedes=[name],
    )
    assert isinstance(made, Proposal)
    with pytest.raises(DmpError) as refused:
        memory.share(ada.node, sender(ada.node, None), name)
    assert (refused.value.code, refused.value.field) == (Code.CONFLICT, "ID")
    with ada.node.store.transaction(CommitPoint.MEMORY) as db:
        proposals.set_state(db, made, proposals.State.REJECTED)
    assert memory.share(ada.node, sender(ada.node, None), name).scope == "team"


def test_a_memory_about_what_never_leaves_is_not_the_teams(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    gate = ada.ask("human:ada", body="May I?")
    local = ada.node.engine.close(gate.id, "Gone.")
    with pytest.raises(DmpError) as refused:
        put(ada, refs=["file:a", f"message:{local.id}"])
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "refs[1]")
    name = put(ada, "project", refs=[f"message:{local.id}"])
    with pytest.raises(DmpError):
        memory.share(ada.node, sender(ada.node, None), name)
    exchange(ada, bob)
    assert bodies(ada) == []


def test_the_replica_that_made_an_entry_may_leave_and_its_entries_stay(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    name = put(bob)
    exchange(ada, bob, cy)
    commands.revoke(ada.pass_(), bob.me, "left")
    forger = Forger(bob)
    forger.publish(forger.op("memory", body=body(name, "human", "human:bob", body="Later.")))
    exchange(ada, cy)
    for machine in (ada, cy):
        assert seen(machine, name) == ("Tabs", "Indent with spaces.", "human")


def test_memory_that_was_kept_unread_counts_after_an_upgrade(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    with monkeypatch.context() as older:
        older.delitem(HANDLERS, "memory")
        forged(bob, body(MEM, "human", "human:bob", **GIVEN, author="human:bob"))
        ada.sync()
        assert memory.find(ada.node, MEM) is None
    ada.sync()
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "human")


def test_an_entry_whose_beginning_is_missing_says_nothing_yet(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forged(bob, body(MEM, "human", "human:bob", pinned=True, title="Only a title"))
    ada.sync()
    assert seen(ada, MEM) is None
    assert memory.every(ada.node) == []
    with pytest.raises(DmpError) as refused:
        edit(ada, MEM, title="Mine")
    assert refused.value.code is Code.NOT_FOUND


def test_an_edit_that_changes_nothing_is_refused(w: World) -> None:
    ada = w.machine("ada")
    name = put(ada, "project")
    with pytest.raises(DmpError) as refused:
        edit(ada, name, title="Tabs", pinned=False, refs=[])
    assert refused.value.code is Code.CONFLICT


@pytest.mark.parametrize(
    ("name", "value"),
    [("title", "Two\nlines"), ("title", " "), ("body", "\n"), ("body", "x" * 8_193), ("kind", "rumour")],
)
def test_what_teammates_would_refuse_or_misread_is_not_written_here(w: World, name: str, value: str) -> None:
    ada = w.machine("ada")
    kept_already = put(ada, "project")
    for write in (
        lambda: put(ada, "team", None, **{name: value}),
        lambda: edit(ada, kept_already, None, **{name: value}),
    ):
        with pytest.raises(DmpError) as refused:
            write()
        assert (refused.value.code, refused.value.field) == (Code.INVALID, name)


def test_only_one_of_its_own_scope_goes_in_the_place_of_an_entry(w: World) -> None:
    ada = w.machine("ada")
    name = put(ada, "project")
    with pytest.raises(DmpError) as refused:
        memory.put(ada.node, sender(ada.node, None), "team", GIVEN, supersedes=(name,))
    assert refused.value.field == "supersedes"


def test_one_author_that_is_never_reached_from_elsewhere_writes_nothing_for_the_team(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    allow(ada)
    with ada.node.store.transaction("test") as db:
        registers.edit(db, "agent", "agent:ada/overseer", {"status": "approved", "replica": ada.me})
    with pytest.raises(DmpError) as refused:
        put(ada, by="agent:ada/overseer")
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "from")
    put(ada, "project", by="agent:ada/overseer")


def test_a_replica_speaks_for_those_it_hosts(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    commands.set_hosts(ada.pass_(), bob.me, ["cy"])
    exchange(ada, bob)
    forged(bob, body(MEM, "human", "human:cy", **GIVEN, author="human:cy"))
    ada.sync()
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "human")


def test_what_was_published_before_a_machine_joined_is_taken_in_at_once(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    for index in range(4):
        put(bob, title=f"No. {index}")
    exchange(ada, bob)
    cy = w.machine("cy")
    cy.node.host._config = Config(quotas=Quotas(memories=2))
    w.admit(ada, cy)
    exchange(ada, cy)
    assert len(memory.every(cy.node)) == 4
    bob.clock.ms = ada.clock.ms = cy.clock.ms = ada.clock.ms + 1_000
    for index in range(4):
        put(bob, title=f"Later {index}")
    exchange(bob, cy, rounds=1)
    assert len(memory.every(cy.node)) == 6
    assert f"memory-quota:{bob.me}" in cy.problems()


def test_all_that_waits_is_taken_in_though_nothing_new_is_on_the_far_side(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply, "RETRIES", 2)
    ada, bob = w.team("ada", "bob")
    bob.node.host._config = Config(quotas=Quotas(memories=3))
    for index in range(9):
        put(ada, title=f"No. {index}")
    ada.sync()
    bob.sync()
    assert len(memory.every(bob.node)) == 3
    bob.clock.ms += 3_600_000
    assert bob.sync().more
    assert bob.sync().more
    assert len(memory.every(bob.node)) == 6
    assert not bob.sync().more, "the hour has no room for more"
    bob.clock.ms += 3_600_000
    for _ in range(3):
        bob.sync()
    assert len(memory.every(bob.node)) == 9
