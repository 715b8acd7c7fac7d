"""What one publisher of documents can cost the others, and how much goes out and comes in at a time."""

import pytest

from core.errors import Code
from replica.chain import apply
from replica.chain.quotas import HOUR_MS, Quotas
from replica.host import documents
from replica.host.config import Config
from replica.host.documents import Text
from replica.passes import catch_up
from replica.shared import fold, publish
from replica.shared.docs import rows
from replica.team import commands
from tests.core.support import refused
from tests.replica.forge import Forger
from tests.replica.shared import acts as shared
from tests.replica.shared.docs import acts, said
from tests.replica.shared.docs.acts import accepted_by_ada, agents_change, agree
from tests.replica.shared.docs.said import DOC, OTHER, rev
from tests.replica.world import Machine, World, exchange


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
