"""What the tests of documents do on a machine, and read there."""

from collections.abc import Sequence

from crypto.canonical import JsonValue
from crypto.op import Op
from replica.host import documents
from replica.host.documents import Put, Text
from replica.shared.docs import rows
from replica.shared.docs.library import Document, Library
from replica.shared.docs.reading import read
from replica.shared.docs.rows import RevisionRow
from tests.replica.forge import Forger
from tests.replica.shared.docs import said
from tests.replica.world import Machine, exchange

HELPER = "agent:bob/helper"


def library(machine: Machine) -> Library:
    return read(machine.node.store, machine.node.me)


def document(machine: Machine, named: str) -> Document:
    return library(machine).need(named)


def create(machine: Machine, slug: str = "guide", body: str = "# Guide\n", author: str | None = None) -> str:
    """Make a document; return its id."""
    node = machine.node
    writer = author or node.address
    made = documents.create(node, writer, Text(body), slug if writer == node.address else None)
    return made.document.id


def put(
    machine: Machine,
    named: str,
    body: str,
    author: str | None = None,
    base: str | None = None,
    summary: str = "",
) -> Put:
    node = machine.node
    return documents.put(node, author or node.address, named, Text(body, summary=summary), base)


def accept(machine: Machine, named: str) -> None:
    documents.describe(machine.node, named, status="accepted")


def head(machine: Machine, named: str) -> RevisionRow:
    """The one latest revision."""
    (found,) = document(machine, named).heads
    return found


def bodies(machine: Machine, revisions: Sequence[RevisionRow]) -> list[str]:
    return [rows.body_of(machine.node.store.db, row) for row in revisions]


def text_of(machine: Machine, named: str) -> str:
    (found,) = bodies(machine, [head(machine, named)])
    return found


def publish(forger: Forger, *found: JsonValue) -> list[Op]:
    """Publish doc ops as a hostile teammate may."""
    made = [forger.op("doc", body=body) for body in found]
    forger.publish(*made)
    return made


def agree(*machines: Machine) -> None:
    """Check that all of them have the same documents, and that nothing is left to publish."""
    first, *others = machines
    for machine in machines:
        assert rows.waiting(machine.node.store.db) == []
    for other in others:
        assert library(other) == library(first)


def accepted_by_ada(ada: Machine, *others: Machine) -> str:
    """An accepted document that everybody has; return its id."""
    doc = create(ada)
    accept(ada, doc)
    exchange(ada, *others)
    return doc


def agents_change(forger: Forger, doc: str, *parents: str, name: str = "x", **changes: JsonValue) -> None:
    """Publish a change that no person stands behind, as another implementation may."""
    body = said.text(name, by=HELPER, doc=doc, **changes)
    content = body["revision"]
    assert isinstance(content, dict)
    content["parents"] = [*parents]
    publish(forger, body)
