"""A replica as a vector gives it: put together from its keys and from what it published so far."""

import sqlite3
from functools import cache
from random import Random

from core.engine import Engine
from core.ids import Ulids
from core.store import Store
from core.store.database import IN_MEMORY
from core.timestamp import timestamp
from crypto.chain import Cursor, Head
from crypto.ed25519 import SigningKey
from crypto.key_claims import key_claims
from crypto.keys import Secrets, team_id
from crypto.op import read_entry, to_line
from crypto.roster.founding import Founding
from replica.chain.clock import adopt_reading
from replica.chain.pinning import follow
from replica.home.keyfile import Identity
from replica.host.place import place_in_memory
from replica.node import Node, belong_to
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, put
from replica.records.schema import MIGRATIONS
from vectors.adapter.clock import Clock
from vectors.adapter.federation.given import GivenReplica, GivenTeam
from vectors.adapter.federation.host import WatchedHost, place_of
from vectors.adapter.members import MalformedError


def restored(given: GivenTeam, clock: Clock) -> tuple[Node, WatchedHost]:
    """The replica, with its own log and nothing of its teammates' yet, and its host. Raises MalformedError."""
    replica = given.replica
    secrets = Secrets(SigningKey.from_seed(replica.sign_seed), replica.seal_private)
    identity = Identity(replica.id, secrets, timestamp(clock()))
    store = _fresh_store()
    random = Random(given.world.seed).randbytes
    node = Node(
        identity, store, place_of(place_in_memory(), given.world.limits, given.memory_policy), clock, random
    )
    _remember(node, replica)
    node.host = host = WatchedHost(node, given.world)
    node.engine = Engine(store, host, clock, Ulids(random), node.engine.federation, node.place.dispatchers)
    return node, host


@cache
def _empty() -> bytes:
    """A store with all its tables and nothing in them: making those takes longer than most vectors."""
    made = Store.open(IN_MEMORY, MIGRATIONS)
    try:
        return made.db.serialize()
    finally:
        made.close()


def _fresh_store() -> Store:
    db = sqlite3.connect(IN_MEMORY, isolation_level=None)
    db.deserialize(_empty())
    db.execute("PRAGMA foreign_keys = ON")
    return Store(db)


def _remember(node: Node, given: GivenReplica) -> None:
    if given.founding is not None:
        with node.store.transaction(CommitPoint.CREATED) as db:
            put(db, Meta.INVITED_TEAM, team_id(given.founding))
    if given.handle is not None:
        with node.store.transaction(CommitPoint.CREATED) as db:
            belong_to(db, node.identity, given.handle, "desk")
        return
    claims = [
        claim for claim in key_claims(node.me, given.lane) if claim.fingerprint == node.identity.fingerprint
    ]
    if not claims:
        raise MalformedError("given.replica.lane must hold the key op of the replica's keys")
    (claim,) = claims
    with node.store.transaction(CommitPoint.CREATED) as db:
        belong_to(db, node.identity, claim.key.handle, claim.key.device)
        db.execute(
            "INSERT INTO claims (replica, fingerprint, line) VALUES (?, ?, ?)",
            (node.me, claim.fingerprint, to_line(claim.op)),
        )
        for line in given.lane:
            entry = read_entry(line)
            ops.insert(db, entry)
            head = Head(entry.seq, entry.hash, entry.hlc)
            ops.set_position(db, node.me, ops.Position(claim.fingerprint, Cursor(head)))
            adopt_reading(db, node.me, entry.hlc)
            if (
                entry.hash == given.founding
            ):  # it founded the team; else it finds the founding among the lanes
                follow(node.store, Founding(entry.hash, node.me, claim.fingerprint, ""))
                put(db, Meta.FIRM, "1")
