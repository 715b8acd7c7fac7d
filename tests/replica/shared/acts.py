"""What the tests of shared state do on a machine, and read there."""

from core.store import registers
from crypto.canonical import JsonValue
from crypto.roster.bodies import Action
from crypto.roster.view import View
from replica.host import agents, items
from replica.records.commits import CommitPoint
from replica.shared.homes import homes
from replica.team.changes import sign_change
from tests.replica.world import Machine


def add_task(machine: Machine, **fields: JsonValue) -> str:
    """Make a work item; return its address."""
    node = machine.node
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.add(db, node.random, {"title": "Paint the wall", **fields}, now=node.now()).address


def edit_task(machine: Machine, address: str, **fields: JsonValue) -> None:
    with machine.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.edit(db, address, fields)


def task(machine: Machine, address: str) -> items.WorkItem | None:
    return items.find(machine.node.store.db, address)


def register(machine: Machine, address: str) -> None:
    """Register an agent that is approved at once."""
    node = machine.node
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, node.random, address, "cli", node.me)
        agents.decide(db, address, "approved")


def run_session(machine: Machine, work_item: str | None) -> str:
    """A session that is marked live, as one that a process holds; return its address."""
    here, node = machine.node.host.sessions_here, machine.node
    with node.store.transaction(CommitPoint.SESSION) as db:
        made = here.make(node.random, work_item, None, now=node.now())
        registers.edit(db, "session", made.address, {"live": True})
    return made.address


def end_session(machine: Machine, address: str) -> None:
    here, node = machine.node.host.sessions_here, machine.node
    with node.store.transaction(CommitPoint.SESSION):
        here.end(here.need(address), now=node.now())


def homes_at(machine: Machine, address: str) -> tuple[str, ...]:
    return homes(machine.node.store.db, view_of(machine), address)


def types(machine: Machine) -> list[str]:
    return [entry.type for entry in machine.chain() if entry.type not in ("key", "roster")]


def put_body(name: str, origin: str | None = None, **fields: JsonValue) -> JsonValue:
    """The body of an op that writes to a work item."""
    made: dict[str, JsonValue] = {"task": name, "kind": "put", "fields": fields}
    return made if origin is None else {**made, "origin": origin}


def run_body(run: str, work_item: str | None, **changes: JsonValue) -> dict[str, JsonValue]:
    """The body of an op that tells of a live session."""
    name = None if work_item is None else work_item.partition(":")[2]
    return {"kind": "run", "run": run, "task": name, "runKind": "execute", "live": True, **changes}


def sign(machine: Machine, change: Action) -> None:
    with machine.node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
        sign_change(machine.node, db, change)


def view_of(machine: Machine) -> View:
    team = machine.node.team
    assert team is not None
    return team.view


def title_of(machine: Machine) -> str | None:
    found = task(machine, "task:t-0000aa")
    return None if found is None else found.title
