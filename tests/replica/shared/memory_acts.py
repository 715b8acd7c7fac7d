"""What the tests of memory do on a machine, and read there."""

from crypto.canonical import JsonValue
from replica.host import memory, memory_gates
from replica.host.memory import Kept
from replica.host.principals import sender
from replica.shared.memory import proposals
from replica.shared.memory.proposals import Proposal, Scope, State
from tests.replica.world import Machine

ULID = "01KE0000000000000000000000"
MEM = f"mem-{ULID}"

GIVEN: dict[str, JsonValue] = {"title": "Tabs", "body": "Indent with spaces.", "kind": "convention"}


def put(machine: Machine, scope: Scope = "team", by: str | None = None, **fields: JsonValue) -> str:
    """Make an entry that counts at once; return its id."""
    made = memory.put(machine.node, sender(machine.node, by), scope, {**GIVEN, **fields})
    assert isinstance(made, Kept)
    return made.entry.id


def propose(machine: Machine, by: str, scope: Scope = "team", **fields: JsonValue) -> Proposal:
    """Make a proposal of an agent's or a session's, and ask about it."""
    made = memory.put(machine.node, sender(machine.node, by), scope, {**GIVEN, **fields})
    assert isinstance(made, Proposal)
    memory_gates.judge(machine.node)
    return known(machine, made.id)


def edit(machine: Machine, name: str, by: str | None = None, **fields: JsonValue) -> None:
    memory.edit(machine.node, sender(machine.node, by), name, fields)


def kept(machine: Machine, name: str) -> Kept:
    found = memory.find(machine.node, name)
    assert found is not None
    return found


def seen(machine: Machine, name: str) -> tuple[str, str, str] | None:
    """Title, body and trust of an entry; None where there is none that says anything."""
    found = memory.find(machine.node, name)
    if found is None or not found.entry.is_whole:
        return None
    return found.entry.title, found.entry.body, found.entry.trust


def known(machine: Machine, id_: str) -> Proposal:
    found = proposals.find(machine.node.store.db, id_)
    assert found is not None
    return found


def open_proposals(machine: Machine) -> list[Proposal]:
    return proposals.in_state(machine.node.store.db, State.OPEN)


def answer(machine: Machine, proposal: Proposal, choice: str) -> None:
    """Answer the gate of a proposal, as its person."""
    gate = known(machine, proposal.id).gate
    assert gate is not None
    machine.answer(machine.message(gate), choice)


def body(name: str = MEM, trust: str = "human", by: str | None = None, **fields: JsonValue) -> JsonValue:
    """The body of a memory op."""
    made: dict[str, JsonValue] = {"memory": name, "kind": "put", "fields": fields, "trust": trust}
    return made if by is None else {**made, "by": by}


def bodies(machine: Machine) -> list[JsonValue]:
    """The bodies of the memory ops a machine signed."""
    return [entry.body for entry in machine.chain() if entry.type == "memory"]  # type: ignore[union-attr, misc]
