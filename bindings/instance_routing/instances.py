"""Instances: agents of this host that their owner lets A2A clients address, each by an id that says nothing of it.

An instance is an agent that is registered on this machine, approved and not muted, and that was exposed. Its id stays
the same when it is hidden and exposed again. Functions that write assume an open transaction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Final

from core.address import DISPATCH, parse_address
from core.errors import conflict, invalid, not_found
from core.text import is_blank, is_one_line
from replica.host import agents, binding, items
from replica.host.agents import Agent

MAX_NAME: Final = 80
"""Characters of the name that clients see."""

_COLUMNS: Final = "id, address, name, wakes, exposed"
_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Instance:
    """An agent that was exposed at some time. `wakes` is the work item that a client's wake is for, if any."""

    id: str
    address: str
    name: str
    wakes: str | None
    exposed: bool


def expose(
    db: Connection,
    random: Callable[[int], bytes],
    replica: str,
    address: str,
    *,
    name: str | None = None,
    wakes: str | None = None,
) -> Instance:
    """Let clients address an agent of this machine; `name` is what they see, else the last part of its address.

    Raises DmpError: `not-found` on `agent` or `wakes`; `conflict` on `agent` for one that is not approved here;
    `invalid` on `agent`, `name` or `wakes`.
    """
    agent = agents.need(db, address)
    if binding.external(address) is not None:
        raise invalid("agent", "a client is no instance; expose an agent of your own")
    agents.need_registered_at(agent, replica)
    if agent.status != "approved":
        raise conflict("agent", f"{address} is {agent.status}; approve it first")
    shown = address.rpartition("/")[2] if name is None else name
    if is_blank(shown) or not is_one_line(shown) or not shown.isprintable() or len(shown) > MAX_NAME:
        raise invalid("name", f"a name is one line of at most {MAX_NAME} characters")
    if wakes is not None:
        wakes = parse_address(wakes if ":" in wakes else f"task:{wakes}", "wakes", DISPATCH).text
        if not wakes.startswith("task:"):
            raise invalid("wakes", "a wake is for a work item; name one, such as task:t-4a8cce")
        if items.find(db, wakes) is None:
            raise not_found("wakes", "no work item has that id; `dmp task list` shows those there are")
    known = of_address(db, address)
    made = Instance(
        f"i-{random(_ID_BYTES).hex()}" if known is None else known.id, address, shown, wakes, True
    )
    db.execute(
        f"INSERT OR REPLACE INTO instances ({_COLUMNS}) VALUES (?, ?, ?, ?, 1)",
        (made.id, made.address, made.name, made.wakes),
    )
    return made


def hide(db: Connection, address: str) -> Instance:
    """Let nobody address an agent any more. Raises DmpError `not-found` on `agent` for one that is not exposed."""
    found = of_address(db, address)
    if found is None or not found.exposed:
        raise not_found("agent", f"{address} is not exposed; `dmp a2a instance list` shows those that are")
    db.execute("UPDATE instances SET exposed = 0 WHERE id = ?", (found.id,))
    return Instance(found.id, found.address, found.name, found.wakes, False)


def every(db: Connection) -> list[Instance]:
    """Those that are exposed, whether they receive mail or not, in the order of their addresses."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM instances WHERE exposed = 1 ORDER BY address")
    return [_instance(row) for row in rows]


def of_address(db: Connection, address: str) -> Instance | None:
    """What an agent was exposed as, also when it is hidden now."""
    row = db.execute(f"SELECT {_COLUMNS} FROM instances WHERE address = ?", (address,)).fetchone()
    return None if row is None else _instance(row)


def listed(db: Connection, replica: str) -> list[Instance]:
    """The directory: those that are exposed and receive mail here now."""
    return [each for each in every(db) if receives(db, replica, each)]


def find(db: Connection, replica: str, instance_id: str) -> Instance | None:
    """An instance of the directory by its id."""
    row = db.execute(f"SELECT {_COLUMNS} FROM instances WHERE id = ?", (instance_id,)).fetchone()
    found = None if row is None else _instance(row)
    return found if found is not None and found.exposed and receives(db, replica, found) else None


def named(db: Connection, instance_id: str) -> Instance | None:
    """What an id was given to, whether it is in the directory or not."""
    row = db.execute(f"SELECT {_COLUMNS} FROM instances WHERE id = ?", (instance_id,)).fetchone()
    return None if row is None else _instance(row)


def receives(db: Connection, replica: str, instance: Instance) -> bool:
    """Whether an instance's agent is approved on this machine and not muted."""
    agent: Agent | None = agents.find(db, instance.address)
    if agent is None or agent.status != "approved" or agent.muted:
        return False
    return agent.replica in (None, replica)


def _instance(row: tuple[str, str, str, str | None, int]) -> Instance:
    id_, address, name, wakes, exposed = row
    return Instance(id_, address, name, wakes, bool(exposed))
