"""Acts of what a team knows: memory and documents."""

from random import Random
from typing import Final

from core.inputs import Sender
from crypto.canonical import JsonValue
from replica.host import documents, memory, memory_gates, memory_merging, principals
from replica.host.documents import Text
from replica.host.memory import Kept
from replica.shared.docs.library import Document
from replica.shared.docs.reading import read
from replica.shared.memory import proposals
from replica.shared.memory.bodies import KINDS, REASONS
from replica.shared.memory.proposals import Proposal, State
from tests.simulation.machine import SimMachine
from tests.simulation.mail import agents_of, first_with, person, session_of, words
from tests.simulation.registry import act
from tests.simulation.stage import Stage

_SLUGS: Final = ("plan", "spec", "notes")


def entry(random: Random) -> dict[str, JsonValue]:
    return {"title": words(random), "body": words(random), "kind": random.choice(KINDS)}


def of_the_team(machine: SimMachine) -> list[Kept]:
    return [each for each in memory.every(machine.node) if each.scope == "team"]


def writers(machine: SimMachine) -> list[Sender]:
    """Who writes on a machine without being its person."""
    agents = [principals.sender(machine.node, each) for each in agents_of(machine)]
    return [*agents, *session_of(machine)]


@act("put memory", 2.5)
def _put(_: Stage, machine: SimMachine, random: Random) -> None:
    memory.put(machine.node, person(machine), "team", entry(random))


@act("put memory as an agent", 1.5)
def _put_as_agent(stage: Stage, machine: SimMachine, random: Random) -> None:
    """It waits for its person, who is asked by a gate."""
    machine, found = first_with(stage, machine, writers)
    memory.put(machine.node, random.choice(found), "team", entry(random))
    memory_gates.judge(machine.node)


@act("change memory", 3)
def _change(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, of_the_team)
    changes: list[dict[str, JsonValue]] = [
        {"title": words(random)},
        {"body": words(random)},
        {"pinned": random.random() < 0.5},
        {"kind": random.choice(KINDS)},
    ]
    named = random.choice(found).entry.id
    memory.edit(machine.node, person(machine), named, random.choice(changes))


@act("retire memory", 3)
def _retire(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, of_the_team)
    memory.retire(machine.node, person(machine), random.choice(found).entry.id, random.choice(REASONS))


@act("merge memory", 8)
def _merge(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(
        stage, machine, lambda each: of_the_team(each) if len(of_the_team(each)) > 1 else []
    )
    named = [each.entry.id for each in random.sample(found, 2)]
    memory_merging.join(machine.node, person(machine), named, {"title": words(random)})


@act("keep memory here", 1.5)
def _keep(stage: Stage, machine: SimMachine, random: Random) -> None:
    kept = memory.put(machine.node, person(machine), "project", entry(random))
    assert isinstance(kept, Kept)
    stage.left[kept.entry.id] = machine.me


@act("share memory", 1)
def _share(stage: Stage, machine: SimMachine, random: Random) -> None:
    kept = memory.put(machine.node, person(machine), "project", entry(random))
    assert isinstance(kept, Kept)
    memory.share(machine.node, person(machine), kept.entry.id)


@act("decide on memory", 11)
def _decide(stage: Stage, machine: SimMachine, random: Random) -> None:
    def open_here(each: SimMachine) -> list[Proposal]:
        memory_gates.judge(each.node)
        return proposals.in_state(each.store.db, State.OPEN)

    machine, found = first_with(stage, machine, open_here)
    memory_gates.decide(machine.node, random.choice(found), approve=random.random() < 0.6)


# Documents


def there(machine: SimMachine) -> list[Document]:
    return list(read(machine.store, machine.me).there())


def text(random: Random) -> Text:
    return Text("".join(f"{words(random)}\n" for _ in range(3)))


@act("make a document", 2.5)
def _make(_: Stage, machine: SimMachine, random: Random) -> None:
    slug = random.choice((None, *_SLUGS))
    documents.create(machine.node, machine.address, text(random), slug)


@act("make a document as an agent", 1)
def _make_as_agent(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, writers)
    documents.create(machine.node, random.choice(found).address, text(random), None)


@act("write a document", 4)
def _write(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, there)
    document = random.choice(found)
    base = random.choice(sorted(document.past | {each.id for each in document.heads}) or [None])
    for _ in range(
        random.choice((1, 1, 2))
    ):  # two from one base are concurrent, as if two people had written
        documents.put(machine.node, machine.address, document.id, text(random), base)


@act("write a document as an agent", 2)
def _write_as_agent(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, lambda each: there(each) if writers(each) else [])
    document = random.choice(found)
    base = document.heads[0].id if document.heads else None
    if len(document.heads) == 1 and random.random() < 0.6:  # an agent's change of it then waits for a person
        documents.describe(machine.node, document.id, status="accepted")
    sender = random.choice(writers(machine))
    documents.put(machine.node, sender.address, document.id, text(random), base)


@act("merge a document", 14)
def _merge_document(stage: Stage, machine: SimMachine, random: Random) -> None:
    def apart(each: SimMachine) -> list[Document]:
        return [one for one in there(each) if len(one.heads) > 1]

    machine, found = first_with(stage, machine, apart)
    document = random.choice(found)
    documents.merge(machine.node, document.id, text(random), [each.id for each in document.heads])


@act("describe a document", 2)
def _describe(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, there)
    document = random.choice(found)
    if random.random() < 0.5:
        documents.describe(machine.node, document.id, slug=random.choice(_SLUGS))
    else:
        documents.describe(machine.node, document.id, status=random.choice(("draft", "accepted", "archived")))


@act("remove a document", 1.2)
def _remove(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, there)
    documents.remove(machine.node, random.choice(found).id)


@act("decide on a document", 2)
def _decide_document(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Decide on what waits; where nothing does, an agent proposes something first."""

    def waiting(each: SimMachine) -> list[tuple[str, str]]:
        held = [(one.id, row.id) for one in there(each) for row in one.held]
        return [*held, *((one.doc, one.revision.id) for one in documents.proposals(each.node))]

    found = waiting(machine)
    if not found:
        machine, senders = first_with(stage, machine, writers)
        made = documents.create(machine.node, machine.address, text(random), None).document
        documents.describe(machine.node, made.id, status="accepted")
        documents.put(machine.node, random.choice(senders).address, made.id, text(random), None)
        found = waiting(machine)
    decide = documents.approve if random.random() < 0.6 else documents.reject
    decide(machine.node, *random.choice(found))
