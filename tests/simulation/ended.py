"""How a run ended: who must agree, and what the far side holds, opened with the keys of its readers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from core.message import Message
from crypto.canonical import JsonValue
from crypto.chain import Cursor
from crypto.encoding import unb64u
from crypto.key_claims import key_claims
from crypto.lane import read_lane
from crypto.op import ABSENT, Entry, Op, Unverified, read_entry, read_value
from crypto.roster.view import View
from crypto.sealing import SealError, open_sealed, open_with_key
from replica.home.keyfile import Identity
from replica.mail.payloads import MailPayload, parse_mail
from replica.records import ops
from tests.simulation.machine import SimMachine
from tests.simulation.network import lanes_of
from tests.simulation.stage import FoundError, Stage


@dataclass
class Ended:
    """How a run ended: who must agree, what they agree on, and what the far side holds."""

    stage: Stage
    members: list[SimMachine]
    """Honest machines in the team, whose owners have not given them up."""
    view: View
    lanes: dict[str, Sequence[Entry]] = field(default_factory=dict)
    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    """By replica, the messages it holds, by id."""
    forked: frozenset[str] = frozenset()
    pruned: list[Op] = field(default_factory=list)
    """Ops that were published whole, and that somebody made stubs of on the far side since."""

    @property
    def by_id(self) -> dict[str, SimMachine]:
        return {each.me: each for each in self.stage.machines}

    @property
    def identities(self) -> dict[str, Identity]:
        """Of all who can be in the team, those who came in by a stolen invite too."""
        return {each.me: each.identity for each in self.stage.machines} | self.stage.thieves

    def counts(self, entry: Entry) -> bool:
        """Whether no cut and no fork touches an op, and its publisher is honest and does more than read along.

        A member reads along from when an admin admits it anew, as where a fork undid how it came in: what it sent
        before that counts for nobody who had not read it yet.
        """
        publisher = self.view.members.get(entry.replica)
        return (
            entry.replica not in self.stage.dishonest
            and entry.replica not in self.forked
            and (publisher is None or not publisher.observer)
            and self.view.standing(entry.replica, entry.seq)
        )


def gather(stage: Stage) -> Ended | None:
    """Read how a run ended; None where no honest machine is left in the team."""
    inside = []
    for machine in stage.standing:
        team = machine.node.team
        if machine.me in stage.dishonest | stage.turned_away:
            continue  # it may not know that it is out of the team
        if team is not None and machine.me in team.view.members:
            inside.append(machine)
    if not inside:
        return None
    team = inside[0].node.team
    assert team is not None
    forks = {row[0] for machine in inside for row in machine.store.db.execute("SELECT replica FROM forks")}
    ended = Ended(stage, inside, team.view, forked=frozenset(forks))
    wronged = stage.turned_away & team.view.members.keys()
    if wronged:
        raise FoundError(f"{wronged} are turned away, and are in the team")
    lanes = lanes_of(stage.network.main)
    for replica, raws in lanes.items():
        whose = ended.by_id.get(replica)
        printed = set() if whose is None else {whose.identity.fingerprint}
        for claim in key_claims(replica, raws, named=printed):  # also of whoever is in the team no more
            if claim.fingerprint in printed:
                ended.lanes[replica] = read_lane(replica, raws, Cursor(), claim.key).entries
        ended.pruned += [] if whose is None else _pruned(stage, whose, ended.lanes.get(replica, ()))
    for machine in stage.machines:
        rows = machine.store.db.execute("SELECT id FROM messages").fetchall()
        found = {row[0]: machine.node.engine.message(row[0]) for row in rows}
        ended.messages[machine.me] = {i: message for i, message in found.items() if message is not None}
    return ended


def _pruned(stage: Stage, machine: SimMachine, shown: Sequence[Entry]) -> list[Op]:
    whole = {entry.hash for entry in shown if isinstance(entry, Op)}
    found = [read_entry(line) for _, line in ops.lines_of(machine.store.db, machine.me)]
    return [
        entry
        for entry in found
        if isinstance(entry, Op) and entry.hash in stage.published and entry.hash not in whole
    ]


def opened(ended: Ended, op: Op) -> JsonValue:
    """The payload of a sealed op, by the key of any reader whose secrets the simulation has."""
    for reader in op.to or ():
        identity = ended.identities.get(reader)
        if identity is not None:
            return open_sealed(
                op.sealed,
                replica=op.replica,
                seq=op.seq,
                type=op.type,
                me=reader,
                private=identity.secrets.seal_private,
            )
    raise SealError("nobody's")


def mail(ended: Ended) -> Iterator[tuple[Op, MailPayload]]:
    """Every mail op of the far side by honest publishers that is no forward, opened; those of no standing too."""
    return opened_mail(ended, (entry for entries in ended.lanes.values() for entry in entries))


def opened_mail(ended: Ended, entries: Iterable[Entry]) -> Iterator[tuple[Op, MailPayload]]:
    """Those of some ops that are mail of honest publishers and no forward, opened."""
    for entry in entries:
        is_mail = isinstance(entry, Op) and entry.type == "mail" and entry.body is ABSENT
        if is_mail and entry.replica not in ended.stage.dishonest:
            assert isinstance(entry, Op)
            yield entry, parse_mail(opened(ended, entry))


def carried_message(ended: Ended, op: Op) -> str:
    """The id of the message that a mail op carries, also one that forwards another op."""
    payload = opened(ended, op)
    if op.body is ABSENT:
        return parse_mail(payload).message.id
    assert isinstance(op.body, dict)
    assert isinstance(payload, dict)
    inner = read_value(op.body["forward"])
    assert isinstance(inner, Unverified)
    entry = inner.entry()
    assert isinstance(entry, Op)
    key = unb64u(str(payload["key"]), 32)
    content = open_with_key(entry.sealed, key, replica=entry.replica, seq=entry.seq, type=entry.type)
    return parse_mail(content).message.id
