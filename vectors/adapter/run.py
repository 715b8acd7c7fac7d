"""One vector on one fresh host: its world, its steps, and what was observed (sections 12.4.2-12.4.7)."""

from random import Random
from typing import Final

from core.address import CORE, DISPATCH, Grammar
from core.engine import Engine
from core.ids import Ulids
from core.store import Store
from core.store.schema import MIGRATIONS
from crypto.canonical import JsonValue
from vectors.adapter.clock import Clock
from vectors.adapter.given import Given
from vectors.adapter.host import ScriptedHost
from vectors.adapter.members import Members, Unsupported
from vectors.adapter.seed import seed
from vectors.adapter.steps import Steps

FEDERATION: Final = "federation"
A2A_BINDING: Final = "a2a-binding"
CLASSES: Final = ("envelope", "host-core", A2A_BINDING, FEDERATION)
GRAMMARS: Final = {"core": CORE, "dispatch": DISPATCH}
"""The grammar a vector of each profile is run under (section C.1); a replica has that of the profile alone."""


def observe(vector: Members, grammar: Grammar | None = None) -> dict[str, JsonValue]:
    """Run a vector and return its observation; under the grammar of its profile where none is given.

    Raises MalformedError and Unsupported.
    """
    vector_class = vector.text("class")
    if vector_class not in CLASSES:
        raise Unsupported(f"this host has no {vector_class}")
    profile = vector.one_of("profile", *GRAMMARS)
    if vector_class == FEDERATION:
        from vectors.adapter.federation.run import observation  # of a replica, which no other class needs

        seen = observation(vector)
    else:
        seen = _observation(vector, grammar or GRAMMARS[profile])
    return {"dmp": "observation", "id": vector.text("id"), **seen}


def _observation(vector: Members, grammar: Grammar) -> dict[str, JsonValue]:
    given = Given.from_json(vector.raw("given"))
    host, clock = ScriptedHost(given, grammar), Clock(given.clock)
    store = Store.open(":memory:", MIGRATIONS)
    try:
        seed(store, given)
        engine = Engine(store, host, clock, Ulids(Random(given.seed).randbytes))
        steps = Steps(given, store, engine, host, clock)
        for number, step in enumerate(vector.objects("when"), 1):
            steps.step(number, step)
        return steps.observation()
    finally:
        store.close()
