"""Ops a hostile teammate or branch writer could make: anything its own key can sign."""

from collections.abc import Mapping

from crypto.canonical import JsonValue
from crypto.chain import Head
from crypto.clock import Reading
from crypto.op import ABSENT, Absent, Op, make_op, to_line
from crypto.sealing import seal
from replica.chain.signer import next_place
from replica.records import ops
from tests.replica.world import Machine


class Forger:
    """Signs with the key of a machine, outside its store, on top of what the machine last published."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.seq, self.prev = next_place(machine.node.store.db, machine.me)
        position = ops.position(machine.node.store.db, machine.me)
        head: Head | None = None if position is None else position.cursor.head
        self.ms = machine.clock.ms if head is None else max(machine.clock.ms, head.hlc.ms) + 1
        self.counter = 0

    def op(
        self,
        type_: str,
        *,
        body: JsonValue | Absent = ABSENT,
        payload: JsonValue = None,
        to: tuple[Machine, ...] = (),
    ) -> Op:
        """Sign the next op, sealed to `to` when there is anyone."""
        sealed = None
        if to:
            recipients = {each.me: _seal_key(each) for each in to}
            sealed = seal(
                payload,
                replica=self.machine.me,
                seq=self.seq,
                type=type_,
                recipients=recipients,
                random=self.machine.node.random,
            )
        return self._sign(type_, body, sealed)

    def _sign(self, type_: str, body: JsonValue | Absent, sealed: dict[str, JsonValue] | None) -> Op:
        made = make_op(
            replica=self.machine.me,
            seq=self.seq,
            prev=self.prev,
            hlc=Reading(self.ms, self.counter, self.machine.me),
            type=type_,
            signer=self.machine.node.identity.secrets.signer,
            body=body,
            sealed=sealed,
        )
        self.seq, self.prev, self.ms = made.seq + 1, made.hash, self.ms + 1
        return made

    def mail(self, to: Machine, /, **changes: JsonValue) -> Op:
        """A mail op that carries a plain message to one machine, with members of the message changed."""
        payload = self.payload(to, **changes)
        return self.op("mail", payload=payload, to=(to,))

    def payload(self, to: Machine, /, **changes: JsonValue) -> dict[str, JsonValue]:
        message: dict[str, JsonValue] = {
            "id": f"m-forged-{self.seq}",
            "thread": f"m-forged-{self.seq}",
            "replyTo": None,
            "from": self.machine.node.address,
            "to": [to.node.address],
            "kind": "message",
            "body": "forged",
            "refs": [],
            "urgent": False,
            "blocking": False,
            "wake": "none",
            "createdAt": "2026-09-21T14:13:20.000Z",
            "hlc": f"{self.ms}.0000.{self.machine.me}",
        }
        message.update(changes)
        return {
            "message": message,
            "targets": [{"recipient": to.node.address, "via": "direct", "homes": [to.me]}],
        }

    def state(self, to: Machine, *entries: Mapping[str, JsonValue]) -> Op:
        """A state op sealed to one machine."""
        return self.op("state", payload={"entries": [dict(entry) for entry in entries]}, to=(to,))

    def steal(self, sealed: dict[str, JsonValue] | None) -> Op:
        """The next op, with content in it that was sealed for another."""
        return self._sign("mail", ABSENT, sealed)

    def publish(self, *made: Op) -> None:
        """Put ops on the far side as anyone with write access could."""
        self.machine.transport._remote.put(self.machine.me, *(to_line(op) for op in made))  # type: ignore[attr-defined]


def _seal_key(machine: Machine) -> bytes:
    team = machine.node.team
    assert team is not None
    return team.keys[machine.me].seal_key
