"""Documents between machines: what arrives counts alike everywhere, and only what its publisher may say."""

import pytest

from core.errors import Code
from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.roster.bodies import CutPoint, Revoke
from replica.chain import apply
from replica.chain.quotas import HOUR_MS, Quotas
from replica.cli.connection import catch_up
from replica.host import documents
from replica.host.config import Config
from replica.host.documents import Text
from replica.shared import fold, publish
from replica.shared.docs import rows
from replica.team import commands
from tests.core.support import refused
from tests.replica.forge import Forger
from tests.replica.shared import acts as shared
from tests.replica.shared.docs import acts, said
from tests.replica.shared.docs.said import DOC, OTHER, rev
from tests.replica.world import Machine, World, exchange

HELPER = "agent:bob/helper"


def agree(*machines: Machine) -> None:
    """Check that all of them have the same documents, and that nothing is left to publish."""
    first, *others = machines
    for machine in machines:
        assert rows.waiting(machine.node.store.db) == []
    for other in others:
        assert acts.library(other) == acts.library(first)


def accepted_by_ada(ada: Machine, *others: Machine) -> str:
    """An accepted document that everybody has; return its id."""
    doc = acts.create(ada)
    acts.accept(ada, doc)
    exchange(ada, *others)
    return doc


def agents_change(forger: Forger, doc: str, *parents: str, name: str = "x", **changes: JsonValue) -> None:
    """Publish a change that no person stands behind, as another implementation may."""
    body = said.text(name, by=HELPER, doc=doc, **changes)
    content = body["revision"]
    assert isinstance(content, dict)
    content["parents"] = [*parents]
    acts.publish(forger, body)


# What reaches whom


def test_a_document_counts_here_at_once_and_everywhere_once_it_is_published(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    doc = acts.create(ada, "guide", "# Guide\n\nOne.\n")
    assert acts.text_of(ada, "guide") == "# Guide\n\nOne.\n"
    assert acts.head(ada, doc).is_unpublished
    exchange(ada, bob)
    agree(ada, bob)
    assert acts.text_of(bob, "guide") == "# Guide\n\nOne.\n"
    assert acts.document(bob, doc).title == "Guide"
    acts.put(bob, "guide", "Two.\n")
    exchange(bob, ada)
    assert acts.text_of(ada, "guide") == "Two.\n"
    assert acts.head(ada, doc).author == "human:bob"


def test_what_was_made_before_there_was_a_team_is_published_when_there_is_one(w: World) -> None:
    ada = w.machine("ada")
    acts.create(ada)
    acts.put(ada, "guide", "Two.\n")
    commands.found_team(ada.pass_(), "Orchard")
    bob = w.machine("bob")
    code = commands.invite(ada.pass_(), "bob")
    commands.join(bob.pass_(), code.encode())
    exchange(ada, bob)
    agree(ada, bob)
    assert acts.text_of(bob, "guide") == "Two.\n"


def test_two_who_change_it_apart_leave_two_heads_until_a_person_joins_them(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    doc = acts.create(ada)
    exchange(ada, bob)
    acts.put(ada, doc, "Ada's.\n")
    acts.put(bob, doc, "Bob's.\n")
    exchange(ada, bob)
    agree(ada, bob)
    heads = acts.document(ada, doc).heads
    assert sorted(acts.bodies(ada, heads)) == ["Ada's.\n", "Bob's.\n"]
    exchange(ada, bob)
    assert acts.document(ada, doc).heads == heads  # nothing was joined by itself
    documents.merge(bob.node, doc, Text("Both.\n"), [head.id for head in heads])
    exchange(ada, bob)
    agree(ada, bob)
    assert acts.text_of(ada, doc) == "Both.\n"
    joined = acts.head(ada, doc)
    assert (set(joined.parents), joined.author) == ({head.id for head in heads}, "human:bob")


def test_both_join_apart_and_the_joins_are_concurrent_again(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    doc = acts.create(ada)
    exchange(ada, bob)
    acts.put(ada, doc, "Ada's.\n")
    acts.put(bob, doc, "Bob's.\n")
    exchange(ada, bob)
    seen = [head.id for head in acts.document(ada, doc).heads]
    for machine in (ada, bob):
        documents.merge(machine.node, doc, Text("Both.\n"), seen)
    exchange(ada, bob)
    agree(ada, bob)
    assert len(acts.document(ada, doc).heads) == 2


def test_a_revision_waits_for_a_parent_of_another_publishers(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    first, second = Forger(bob), Forger(cy)
    acts.publish(second, said.text("b", "a", by="human:cy"))
    ada.sync()
    assert list(acts.library(ada).there()) == []
    acts.publish(first, said.text("a"))
    ada.sync()
    assert acts.head(ada, DOC).id == rev("b")


def test_a_chain_published_children_first_is_whole_in_the_end(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    acts.publish(Forger(bob), *(said.text(f"n{n}", f"n{n - 1}") for n in range(5, 0, -1)), said.text("n0"))
    ada.sync()
    assert acts.head(ada, DOC).id == rev("n5")


def test_ops_that_an_earlier_build_kept_are_folded_once_a_build_knows_them(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    acts.publish(Forger(bob), said.text("a"))
    with monkeypatch.context() as earlier:
        earlier.delitem(fold.HANDLERS, "doc")
        ada.sync()
        assert list(acts.library(ada).there()) == []
    ada.sync()
    assert acts.head(ada, DOC).id == rev("a")


# Who may say what


FORGED: list[JsonValue] = [
    said.text("a", by="human:ada"),
    said.text("a", by="agent:ada/helper"),
    said.text("a", by="agent:dispatch"),
    said.put("human:bob", revision=said.revision("a", author="human:ada")),
    said.put("human:bob", revision=said.revision("a", author="agent:ada/helper")),
    said.put("human:ada", meta={"slug": "guide"}),
    said.remove(HELPER),
    said.remove("run:r-0000aa"),
    said.text("a", cause="sync"),
    said.text("a", hash="0" * 64),
    said.text("a", by="agent:dispatch", cause="sync"),
]


@pytest.mark.parametrize("body", FORGED)
def test_what_its_publisher_may_not_say_is_dropped_and_noted(w: World, body: JsonValue) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    acts.publish(Forger(bob), body, said.text("ok", doc=OTHER))
    ada.sync()
    assert [each.id for each in acts.library(ada).documents.values()] == [OTHER]
    assert "seq" in ada.problems()[f"doc:{bob.me}"]


def test_a_host_speaks_for_those_it_hosts(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_hosts(ada.pass_(), bob.me, ["zoe"])
    exchange(ada, bob)
    acts.publish(Forger(bob), said.text("a", by="human:zoe"))
    ada.sync()
    assert acts.head(ada, DOC).author == "human:zoe"


def test_an_approval_counts_only_of_a_person_its_publisher_speaks_for(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    doc = accepted_by_ada(ada, bob)
    first = acts.head(ada, doc).id
    forger = Forger(bob)
    agents_change(forger, doc, first, name="x", approval={"by": "human:ada"})
    agents_change(forger, doc, first, name="y", approval={"by": HELPER})
    agents_change(forger, doc, first, name="z", approval={"by": "human:bob", "policy": {"rung": 2}})
    ada.sync()
    found = acts.document(ada, doc)
    assert [row.id for row in found.held] == [rev("x"), rev("y")]
    assert [row.id for row in found.heads] == [rev("z")]
    assert found.revisions[rev("z")].approved_by == "human:bob"
    assert found.revisions[rev("x")].approved_by is None


@pytest.mark.parametrize(("ahead_ms", "dated_ms"), [(600_000, 600_000), (600_001, 0), (10**12, 0)])
def test_a_revision_dated_over_ten_minutes_past_its_op_is_dated_by_the_op(
    w: World, ahead_ms: int, dated_ms: int
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    at = forger.ms
    acts.publish(forger, said.text("a", createdAt=timestamp(at + ahead_ms)))
    ada.sync()
    assert acts.head(ada, DOC).created_at == timestamp(at + dated_ms)


def test_a_revision_dated_long_ago_stays_dated_so(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    acts.publish(Forger(bob), said.text("a", createdAt="1999-12-31T23:59:59.000Z"))
    ada.sync()
    assert acts.head(ada, DOC).created_at == "1999-12-31T23:59:59.000Z"


def test_an_observers_edits_stay_its_own(w: World) -> None:
    (ada,) = w.team("ada")
    bob = w.machine("bob")
    code = commands.invite(ada.pass_(), "bob", observer=True)
    commands.join(bob.pass_(), code.encode())
    exchange(ada, bob)
    acts.create(bob)
    exchange(bob, ada)
    assert acts.document(bob, "guide").is_there
    assert acts.library(ada).documents == {}
    acts.publish(Forger(bob), said.text("a"))
    ada.sync()
    assert acts.library(ada).documents == {}


def test_a_cut_takes_back_what_was_said_after_it_and_holds_what_was_made_from_it(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    doc = acts.create(ada)
    exchange(ada, bob, cy)
    point = bob.chain()[-1]
    acts.put(bob, doc, "Bob's.\n")
    exchange(bob, cy, ada)
    acts.put(cy, doc, "Cy's, from Bob's.\n")
    exchange(cy, ada)
    assert acts.text_of(ada, doc) == "Cy's, from Bob's.\n"
    shared.sign(ada, Revoke(bob.me, CutPoint(point.seq, point.hash), "stolen"))
    exchange(ada, cy)
    agree(ada, cy)
    found = acts.document(cy, doc)
    assert acts.text_of(cy, doc) == "# Guide\n"
    assert acts.bodies(cy, found.waiting) == ["Cy's, from Bob's.\n"]


def test_a_sessions_revision_waits_until_its_machine_has_told_of_the_session(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    acts.publish(forger, said.text("a", by="run:r-0000aa"))
    ada.sync()
    assert not acts.library(ada).documents[DOC].is_there
    forger.publish(forger.op("presence", body=shared.run_body("r-0000aa", None)))
    ada.sync()
    assert acts.head(ada, DOC).author == "run:r-0000aa"


def test_another_who_claims_a_session_takes_nothing_that_it_wrote_away(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    run = shared.run_session(bob, None)
    acts.create(bob, author=run)
    exchange(bob, ada, cy)
    hostile = Forger(cy)
    hostile.publish(hostile.op("presence", body=shared.run_body(run.partition(":")[2], None)))
    ada.sync()
    (found,) = acts.library(ada).there()
    assert found.heads[0].author == run


def test_a_session_that_ended_before_the_team_is_told_of_with_what_it_wrote(w: World) -> None:
    ada = w.machine("ada")
    run = shared.run_session(ada, None)
    acts.create(ada, author=run)
    shared.end_session(ada, run)
    ada.clock.ms += 60_000
    commands.found_team(ada.pass_(), "Orchard")
    bob = w.machine("bob")
    code = commands.invite(ada.pass_(), "bob")
    commands.join(bob.pass_(), code.encode())
    exchange(ada, bob)
    (found,) = acts.library(bob).there()
    assert found.heads[0].author == run


# What is held


def test_a_change_that_no_person_stands_behind_is_held_everywhere_until_any_person_decides(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    doc = accepted_by_ada(ada, bob, cy)
    agents_change(Forger(bob), doc, acts.head(ada, doc).id, body="Oil it.\n")
    for machine in (ada, cy):
        machine.sync()
        found = acts.document(machine, doc)
        assert [row.id for row in found.held] == [rev("x")]
        assert acts.text_of(machine, doc) == "# Guide\n"
    documents.approve(cy.node, doc, rev("x"))
    assert acts.text_of(cy, doc) == "Oil it.\n"
    exchange(cy, ada)
    agree(cy, ada)
    assert acts.text_of(ada, doc) == "Oil it.\n"


def test_a_rejected_change_stays_in_the_history_and_nowhere_else_on_every_machine(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    doc = accepted_by_ada(ada, bob, cy)
    agents_change(Forger(bob), doc, acts.head(ada, doc).id, body="Oil it.\n")
    ada.sync()
    documents.reject(ada.node, doc, rev("x"), "No oil")
    exchange(ada, cy)
    agree(ada, cy)
    found = acts.document(cy, doc)
    assert (found.held, acts.text_of(cy, doc)) == ((), "# Guide\n")
    assert (found.heads[0].cause, found.heads[0].summary) == ("reject", "No oil")
    assert rev("x") in found.past


def test_a_change_approved_after_the_document_went_on_is_concurrent(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    doc = accepted_by_ada(ada, bob)
    agents_change(Forger(bob), doc, acts.head(ada, doc).id, body="Oil it.\n")
    acts.put(ada, doc, "Ada's.\n")
    ada.sync()
    documents.approve(ada.node, doc, rev("x"))
    assert sorted(acts.bodies(ada, acts.document(ada, doc).heads)) == ["Ada's.\n", "Oil it.\n"]


# What one publisher can cost the others


def set_quotas(machine: Machine, quotas: Quotas) -> None:
    machine.node.host._config = Config(quotas=quotas)


def numbered(number: int) -> str:
    return f"doc-{number:026d}"


def test_k6_new_documents_are_taken_in_up_to_an_hours_quota_and_the_rest_later(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    set_quotas(ada, Quotas(documents=3))
    acts.publish(Forger(bob), *(said.text("a", doc=numbered(n)) for n in range(5)))
    acts.publish(Forger(cy), said.text("a", by="human:cy", doc=OTHER))
    ada.sync()
    assert len(acts.library(ada).documents) == 4
    assert f"doc-quota:{bob.me}" in ada.problems()
    ada.sync()
    assert len(acts.library(ada).documents) == 4
    ada.clock.ms += HOUR_MS
    ada.sync()
    assert len(acts.library(ada).documents) == 6
    assert ada.count("parked") == 0
    assert f"doc-quota:{bob.me}" not in ada.problems()


def test_a_quota_on_documents_counts_no_changes_of_known_ones(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    set_quotas(ada, Quotas(documents=1))
    acts.publish(Forger(bob), *(said.text(f"n{n}", *([f"n{n - 1}"] if n else [])) for n in range(9)))
    ada.sync()
    assert acts.head(ada, DOC).id == rev("n8")


def test_k6_a_pass_takes_in_so_many_changes_of_documents_of_one_publisher(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    monkeypatch.setattr(apply, "DOCUMENT_OPS", 4)
    acts.publish(Forger(bob), *(said.text(f"n{n}", *([f"n{n - 1}"] if n else [])) for n in range(10)))
    heads = []
    for _ in range(3):
        ada.sync()
        heads.append(acts.head(ada, DOC).id)
    assert heads == [rev("n3"), rev("n7"), rev("n9")]


def test_what_waits_for_a_quota_is_not_let_in_when_all_is_folded_anew(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    monkeypatch.setattr(apply, "DOCUMENT_OPS", 2)
    acts.publish(Forger(bob), *(said.text("a", doc=numbered(n)) for n in range(5)))
    ada.sync()
    before = acts.library(ada)
    fold.refold(ada.node.store, shared.view_of(ada), "now")
    assert acts.library(ada) == before
    assert len(before.documents) == 2


def test_a_machine_that_comes_later_takes_in_at_once_what_there_was(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ada,) = w.team("ada")
    monkeypatch.setattr(apply, "DOCUMENT_OPS", 2)
    for number in range(5):
        acts.create(ada, f"guide-{number}")
    ada.sync()
    ada.clock.ms += 60_000
    bob = w.machine("bob")
    bob.clock.ms = ada.clock.ms
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    ada.sync()
    bob.sync()
    assert len(list(acts.library(bob).there())) == 5


def test_a_pass_publishes_so_many_changes_of_documents_and_says_that_more_wait(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    monkeypatch.setattr(publish, "DOCUMENTS_AT_A_TIME", 2)
    for number in range(5):
        acts.create(ada, f"guide-{number}")
    assert [(ada.sync().published, len(rows.waiting(ada.node.store.db))) for _ in range(3)] == [
        (2, 3),
        (2, 1),
        (1, 0),
    ]


def test_k6_fifty_changes_of_one_machine_are_held_whatever_it_floods(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    doc = accepted_by_ada(ada, bob, cy)
    first = acts.head(ada, doc).id
    forger = Forger(bob)
    for number in range(60):
        agents_change(forger, doc, first, name=f"n{number}")
    ada.sync()
    found = acts.document(ada, doc)
    assert ([row.id for row in found.held], found.passed_over) == ([rev(f"n{n}") for n in range(50)], 10)
    documents.reject(ada.node, doc, rev("n0"))
    assert acts.document(ada, doc).held[-1].id == rev("n50")


def test_seventeen_concurrent_revisions_are_joined_in_steps(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    acts.publish(Forger(bob), said.text("a"), *(said.text(f"n{n}", "a") for n in range(40)))
    ada.sync()
    found = acts.document(ada, DOC)
    assert len(found.heads) == 40
    with refused(Code.CONFLICT, "doc"):
        documents.joined(ada.node, found)
    documents.merge(ada.node, DOC, Text("All.\n"), [row.id for row in found.heads])
    exchange(ada, cy)
    agree(ada, cy)
    assert acts.text_of(cy, DOC) == "All.\n"
    assert all(len(row.parents) <= 16 for row in acts.document(cy, DOC).revisions.values())


def test_m1_no_other_revision_takes_the_place_of_one_made_here(w: World) -> None:
    """A teammate signs another text under the same id, at an earlier clock, after it was approved of."""
    ada, bob, mallory = w.team("ada", "bob", "mallory")
    exchange(ada, bob, mallory)
    early = Forger(mallory)
    for machine in (ada, bob, mallory):
        machine.clock.ms += 60_000
    doc = acts.create(bob, body="Bob's.\n")
    bob.sync()
    (made,) = acts.document(bob, doc).heads
    acts.publish(early, said.text("a", by="human:mallory", doc=doc, id=made.id, body="Mallory's.\n"))
    for machine in (ada, bob):
        machine.sync()
        assert acts.text_of(machine, doc) == "Bob's.\n"


@pytest.mark.parametrize("first", [0, 1])
def test_m1_of_two_texts_under_one_id_that_neither_made_the_earlier_counts_everywhere(
    w: World, first: int
) -> None:
    ada, bob, mallory = w.team("ada", "bob", "mallory")
    exchange(ada, bob, mallory)
    forgers = [Forger(bob), Forger(mallory)]
    forgers[1].ms = forgers[0].ms + 5_000
    bodies = [said.text("a", body="Bob's.\n"), said.text("a", by="human:mallory", body="Mallory's.\n")]
    for index in (first, 1 - first):
        acts.publish(forgers[index], bodies[index])
        ada.sync()
    assert acts.text_of(ada, DOC) == "Bob's.\n"


def test_a_sync_goes_on_until_every_document_is_published_and_taken_in(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    monkeypatch.setattr(publish, "DOCUMENTS_AT_A_TIME", 3)
    monkeypatch.setattr(apply, "DOCUMENT_OPS", 2)
    for number in range(7):
        acts.create(ada, f"guide-{number}")
    assert catch_up(ada.pass_()).published == 7
    assert catch_up(bob.pass_()).applied == 7
    agree(ada, bob)
