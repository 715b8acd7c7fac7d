"""Machines that write documents at random, apart, agree once they have met, and drop nothing of each other's."""

from pathlib import Path
from random import Random

import pytest

from core.errors import Code, DmpError
from replica.host import agents, documents
from replica.host.documents import Text
from replica.records.commits import CommitPoint
from replica.shared import fold
from replica.shared.docs import rows
from replica.shared.docs.library import Document
from replica.team import commands
from tests.replica.shared.acts import view_of
from tests.replica.shared.docs.acts import library
from tests.replica.world import Machine, exchange, world

STEPS = 90
HANDLES = ("ada", "bob", "cy")
SLUGS = ("guide", "plan", "notes")


class Acts:
    """What a machine may do, drawn by one seed."""

    def __init__(self, machines: list[Machine], random: Random) -> None:
        self.machines, self.random = machines, random

    def step(self) -> None:
        machine = self.random.choice(self.machines)
        machine.clock.ms += self.random.choice((0, 1, 40_000))
        acts = (
            self.create,
            self.put,
            self.put,
            self.put,
            self.merge,
            self.describe,
            self.decide,
            self.remove,
        )
        try:
            self.random.choice((*acts, self.sync, self.sync, self.sync))(machine)
        except DmpError as error:
            if error.code not in (Code.CONFLICT, Code.FORBIDDEN):
                raise

    def sync(self, machine: Machine) -> None:
        machine.sync()

    def create(self, machine: Machine) -> None:
        if len(list(library(machine).there())) > 4:
            return  # few documents, so that they meet often
        author = self.author(machine)
        slug = self.random.choice(SLUGS) if author == machine.node.address else None
        documents.create(machine.node, author, Text(self.text()), slug)

    def put(self, machine: Machine) -> None:
        document = self.any(machine)
        if document is not None:
            known = [*(row.id for row in document.heads), *sorted(document.past)]
            base = self.random.choice([None, *known])
            documents.put(machine.node, self.author(machine), document.id, Text(self.text()), base)

    def merge(self, machine: Machine) -> None:
        document = self.any(machine)
        if document is not None:
            documents.merge(machine.node, document.id, Text(self.text()), [row.id for row in document.heads])

    def describe(self, machine: Machine) -> None:
        document = self.any(machine)
        if document is not None:
            what: dict[str, str] = self.random.choice(
                ({"slug": self.random.choice(SLUGS)}, *[{"status": "accepted"}] * 4, {"status": "draft"})
            )
            documents.describe(machine.node, document.id, **what)  # type: ignore[arg-type]

    def decide(self, machine: Machine) -> None:
        decide = self.random.choice((documents.approve, documents.reject))
        waiting = [(each.doc, each.revision.id) for each in documents.proposals(machine.node)]
        waiting += [(row.doc, row.id) for each in library(machine).there() for row in each.held]
        if waiting:
            decide(machine.node, *self.random.choice(waiting))

    def remove(self, machine: Machine) -> None:
        document = self.any(machine)
        if document is not None and self.random.random() < 0.3:
            documents.remove(machine.node, document.id)

    def any(self, machine: Machine) -> Document | None:
        there = list(library(machine).there())
        return self.random.choice(there) if there else None

    def author(self, machine: Machine) -> str:
        return self.random.choice((machine.node.address, helper(machine)))

    def text(self) -> str:
        return f"word {self.random.randrange(1_000)}\n"


def helper(machine: Machine) -> str:
    return f"agent:{machine.node.handle}/helper"


@pytest.mark.parametrize("seed", range(6))
def test_machines_that_write_documents_apart_agree_once_they_have_met(tmp_path: Path, seed: int) -> None:
    with world(tmp_path / "machines") as w:
        machines = w.team(*HANDLES)
        for machine in machines:
            with machine.node.store.transaction(CommitPoint.AGENT) as db:
                agents.register(db, machine.node.random, helper(machine), "cli", machine.me)
                agents.decide(db, helper(machine), "approved")
        exchange(*machines)
        acts = Acts(machines, Random(seed))
        for _ in range(STEPS):
            acts.step()
        settle(machines)
        agree(machines)
        for machine in machines:
            assert not [subject for subject in machine.problems() if subject.startswith("doc")]
            before = library(machine)
            fold.refold(machine.node.store, view_of(machine), "now")
            assert library(machine) == before, "what was folded op by op is what all of them come to"
        ada, bob, cy = machines
        commands.revoke(ada.pass_(), cy.me, "left")
        settle([ada, bob])
        agree([ada, bob])


def settle(machines: list[Machine]) -> None:
    latest = max(machine.clock.ms for machine in machines)
    for machine in machines:
        machine.clock.ms = latest
    exchange(*machines)


def agree(machines: list[Machine]) -> None:
    first, *others = machines
    for machine in machines:
        assert rows.waiting(machine.node.store.db) == []
    for other in others:
        assert library(other) == library(first)
