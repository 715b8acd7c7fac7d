"""Documents between machines: what arrives counts alike everywhere, and only what its publisher may say."""

import pytest

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.roster.bodies import CutPoint, Revoke
from replica.host import documents
from replica.host.documents import Text
from replica.shared import fold
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared import acts as shared
from tests.replica.shared.docs import acts, said
from tests.replica.shared.docs.acts import HELPER, accepted_by_ada, agents_change, agree
from tests.replica.shared.docs.said import DOC, OTHER, rev
from tests.replica.world import World, exchange

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
