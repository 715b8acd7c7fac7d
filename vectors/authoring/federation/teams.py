"""Teams whose members publish real ops: keys, nonces, ephemeral keys and clocks are fixed, so every byte is.

Ada founds a team and admits Bob and Cy. `Team` has one of their replicas run the vector's steps; what its teammates
publish after `begin` appears on the far side with the next `sync`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import rfc8785

from vectors.authoring.federation.author import START_MS, Author, b64u, line, op_hash
from vectors.authoring.federation.seals import content_key, sealed
from vectors.authoring.kit import Expected, Json, ok

ADA, BOB, CY = "ada-0000000a", "bob-0000000b", "cy-0000000c"
DESK = "bob-000000b2"
"""Bob's second machine."""
ADA2: Final = "ada-000000a2"
"""Ada's second machine."""
OBI = "obi-0000000f"
"""A machine that observes, where a team has one."""

AT: Final = "2026-09-21T14:13:20.000Z"
LIMITS: Final = {"urgentPerHour": 10, "agentTurnsPerThreadPerHour": 20}


def mid(number: int) -> str:
    """The id of a teammate's message."""
    return f"m-{number:026d}"


class Teammate(Author):
    """A replica of a team, and its log so far."""

    def __init__(self, team: "Team", replica: str) -> None:
        super().__init__(replica)
        self.entries: list[Json] = []
        self._team = team

    @property
    def address(self) -> str:
        """The address of its person."""
        return f"human:{self.replica[:-9]}"

    def publish(self, type: str, **content: Any) -> Json:
        """The next op of its log."""
        content.setdefault("hlc", f"{self._team.tick()}.0000.{self.replica}")
        after = self.entries[-1] if self.entries else None
        entry = self.op(after, type, **content)
        self.entries.append(entry)
        return entry

    def seals(self, type: str, payload: Any, to: Sequence["Teammate"], **content: Any) -> Json:
        """The next op of its log, sealed to some."""
        seq = self.entries[-1]["seq"] + 1
        content["sealed"] = sealed(
            rfc8785.dumps(payload), to, replica=self.replica, seq=seq, type=type, name=f"{self.replica} {seq}"
        )
        return self.publish(type, to=sorted(each.replica for each in to), **content)

    def says(self, action: str, **more: Any) -> Json:
        """A roster op."""
        return self.publish("roster", body={"rv": 1, "action": action, **more})

    def admits(self, other: "Teammate", role: str = "member", **more: Any) -> Json:
        """An admission."""
        return self.says(
            "admit",
            replica=other.replica,
            handle=other.replica[:-9],
            role=role,
            fingerprint=other.fingerprint,
            **more,
        )

    def revokes(self, other: "Teammate") -> Json:
        """A revocation, cutting off after what the other published so far."""
        last = other.entries[-1]
        return self.says(
            "revoke", replica=other.replica, afterSeq=last["seq"], afterHash=op_hash(last), reason="left"
        )

    def message(self, number: int, to: str | Sequence[str], **members: Any) -> Json:
        """A message as it is stored at its origin, which is this replica."""
        id = mid(number)
        found: Json = {
            "id": id,
            "thread": id,
            "replyTo": None,
            "from": self.address,
            "to": [to] if isinstance(to, str) else list(to),
            "kind": "message",
            "body": f"Message {number}.",
            "refs": [],
            "urgent": False,
            "blocking": False,
            "wake": "none",
            "createdAt": AT,
            "hlc": f"{self._team.tick()}.0000.{self.replica}",
        }
        found.update(members)
        return found

    def mail(
        self,
        to: "Teammate | Sequence[Teammate]",
        message: Json,
        targets: Sequence[Json] | None = None,
        **content: Any,
    ) -> Json:
        """Mail that carries a message to some replicas, by default for each person named, at those that are hers."""
        readers = [to] if isinstance(to, Teammate) else list(to)
        if targets is None:
            targets = [
                target(each, *(reader for reader in readers if reader.address == each))
                for each in message["to"]
            ]
        return self.seals("mail", {"message": message, "targets": list(targets)}, readers, **content)

    def forwards(
        self, original: Json, to: "Teammate | Sequence[Teammate]", target: str, key: bytes | None = None
    ) -> Json:
        """Mail of another's, handed on."""
        readers = [to] if isinstance(to, Teammate) else list(to)
        name = f"{original['replica']} {original['seq']}"
        payload = {"target": target, "key": b64u(key or content_key(name))}
        return self.seals("mail", payload, readers, body={"forward": original})

    def state(self, to: "Teammate | Sequence[Teammate]", *entries: Json) -> Json:
        """A state op."""
        readers = [to] if isinstance(to, Teammate) else list(to)
        return self.seals("state", {"entries": list(entries)}, readers)

    def presence(self, **body: Any) -> Json:
        """A presence op."""
        return self.publish("presence", body=body)

    def runs(self, session: str, work_item: str | None, live: bool = True, kind: str = "execute") -> Json:
        """The presence of a session, both by their addresses."""
        return self.presence(
            kind="run",
            run=session.removeprefix("run:"),
            task=None if work_item is None else work_item.removeprefix("task:"),
            runKind=kind,
            live=live,
        )

    def task(self, work_item: str, **fields: Any) -> Json:
        """An edit of a work item."""
        return self.publish(
            "task", body={"task": work_item.removeprefix("task:"), "kind": "put", "fields": fields}
        )

    def agent(self, address: str, status: str = "approved", **more: Any) -> Json:
        """The registration of an agent."""
        body = {
            "address": address,
            "displayName": "An agent",
            "client": "a program",
            "status": status,
            **more,
        }
        return self.publish("agent", body=body)

    def channel(self, name: str, member: str, joined: bool = True) -> Json:
        """A change of a channel."""
        return self.publish("channel", body={"channel": name, "member": member, "joined": joined})


class Team:
    """A team, one of whose replicas, `me`, runs the steps of a vector.

    Each of `more` beyond Ada, Bob and Cy has a machine too; what else they publish before `begin` the replica knows.
    """

    def __init__(
        self, me: str, *more: str, roles: Mapping[str, Json] | None = None, recovery_pub: str = "r"
    ) -> None:
        self._ms = START_MS
        self._shown: dict[str, int] = {}
        self._given: Json | None = None
        self.mates = {replica: Teammate(self, replica) for replica in (ADA, BOB, CY, *more)}
        self.me = self.mates[me]
        for each in self.mates.values():
            each.publish("key", body=each.key)
        self.found = self.ada.says("found", name="Orchard", legacy=[], recoveryPub=recovery_pub)
        for replica, each in self.mates.items():
            if replica != ADA:
                self.ada.admits(each, **(roles or {}).get(replica, {}))

    @property
    def ada(self) -> Teammate:
        return self.mates[ADA]

    @property
    def bob(self) -> Teammate:
        return self.mates[BOB]

    @property
    def cy(self) -> Teammate:
        return self.mates[CY]

    def tick(self) -> int:
        """The next millisecond, which no two ops share."""
        self._ms += 1
        return self._ms

    def begin(self, **members: Any) -> "Team":
        """Let the vector start here: what was published is known to the replica. `members` are more of the world."""
        others = {replica: each for replica, each in self.mates.items() if each is not self.me}
        self._given = {
            "limits": LIMITS,
            **members,
            "replica": {
                "id": self.me.replica,
                "signPriv": b64u(self.me.signing.private_bytes_raw()),
                "sealPriv": self.me.seal_priv,
                "founding": op_hash(self.found),
                "lane": [line(entry) for entry in self.me.entries],
            },
            "lanes": {replica: [line(entry) for entry in each.entries] for replica, each in others.items()},
            "sealPrivs": {replica: each.seal_priv for replica, each in others.items()},
        }
        self.news()
        return self

    @property
    def given(self) -> Json:
        """The world of the vector."""
        assert self._given is not None
        return self._given

    def news(self) -> dict[str, list[str]]:
        """The lines that teammates published since this was last asked, or since the vector began."""
        found = {}
        for replica, each in self.mates.items():
            new = each.entries[self._shown.get(replica, 0) :]
            self._shown[replica] = len(each.entries)
            if new:
                found[replica] = [line(entry) for entry in new]
        return found

    def sync(self, **result: Any) -> Expected:
        """The replica's next pass, in which what was published since the last one appears."""
        return sync(self.news(), **result)


def sync(lanes: Mapping[str, Sequence[Any]], **result: Any) -> Expected:
    """A pass of the replica, with lines that appear; with at least these members in its result."""
    step: Json = {"op": "sync", "lanes": lanes} if lanes else {"op": "sync"}
    return ok(step, **result)


def target(recipient: str, *homes: Teammate, via: str = "direct", wake_at: Teammate | None = None) -> Json:
    """A recipient, as a payload names it."""
    found: Json = {"recipient": recipient, "via": via, "homes": sorted(each.replica for each in homes)}
    return found if wake_at is None else {**found, "wakeAt": wake_at.replica}


def report(message: str, recipient: str, state: str) -> Json:
    """A home tells the state of its delivery."""
    return {"t": "delivery", "message": message, "recipient": recipient, "state": state, "at": AT}


def settle(question: str, answer: str, closed: str | None = None) -> Json:
    """A question's origin names its answer."""
    found = {"t": "settle", "question": question, "answer": answer, "at": AT}
    return found if closed is None else {**found, "closed": closed}


def refusal(message: str, reason: str = "invalid: no") -> Json:
    """A home refuses a message."""
    return {"t": "refused", "message": message, "reason": reason, "at": AT}
