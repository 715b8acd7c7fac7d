"""Throw-away replicas of a throw-away team, which sign real chains."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.encoding import b64u
from crypto.invites import public_of
from crypto.keys import KeyBody, Secrets, team_id
from crypto.op import ABSENT, ZERO_HASH, Absent, make_op, to_line
from crypto.roster.bodies import Admit, Found, Role
from crypto.sealing import seal

_HOUR_MS: Final = 60 * 60 * 1000

_TEXT: Final = "Ship it? The build is green and the notes are written. " * 4
"""What each op says, about as much as people write."""


@dataclass(slots=True)
class Author:
    """One replica. `seq` and `prev` say where its chain stands; its clock (ms) rises by one an op."""

    replica: str
    secrets: Secrets
    key: KeyBody
    clock_ms: int
    seq: int = 0
    prev: str = ZERO_HASH

    @property
    def clock(self) -> str:
        """The clock of its last op, as that writes it."""
        return str(Reading(self.clock_ms, 0, self.replica))

    @classmethod
    def new(cls, handle: str, clock_ms: int) -> "Author":
        """Make a replica that has said nothing yet."""
        made = Secrets.generate(secrets.token_bytes)
        key = KeyBody(handle, "bench", "dmp", made.sign_pub, made.seal_pub)
        return cls(f"{handle}-{secrets.token_hex(4)}", made, key, clock_ms)

    def announces(self) -> bytes:
        """Sign the key op, which is the first one."""
        return self._sign("key", self.key.to_json())[0]

    def speaks(self) -> bytes:
        """Sign an op that everybody may read."""
        return self._sign("task", {"task": "t-000001", "note": _TEXT})[0]

    def writes_to(self, reader: "Author") -> bytes:
        """Sign mail that one other replica may open."""
        sealed = seal(
            {"body": _TEXT},
            replica=self.replica,
            seq=self.seq + 1,
            type="mail",
            recipients={reader.replica: reader.key.seal_key},
            random=secrets.token_bytes,
        )
        return self._sign("mail", ABSENT, sealed)[0]

    def founds(self) -> tuple[bytes, str]:
        """Sign the founding of a team; return it and the id of the team."""
        line, hash_ = self._sign("roster", Found("Bench", (), public_of(secrets.token_bytes(32))).to_json())
        return line, team_id(hash_)

    def admits(self, other: "Author") -> bytes:
        """Sign that another replica is a member."""
        admit = Admit(other.replica, other.key.handle, Role.MEMBER, other.key.fingerprint)
        return self._sign("roster", admit.to_json())[0]

    def proves(self, message: bytes) -> str:
        """Sign what a relay wants to see signed, in base64url."""
        return b64u(self.secrets.signer.sign(message))

    def _sign(
        self, type_: str, body: JsonValue | Absent, sealed: dict[str, JsonValue] | None = None
    ) -> tuple[bytes, str]:
        self.seq += 1
        self.clock_ms += 1
        op = make_op(
            replica=self.replica,
            seq=self.seq,
            prev=self.prev,
            hlc=Reading(self.clock_ms, 0, self.replica),
            type=type_,
            signer=self.secrets.signer,
            body=body,
            sealed=sealed,
        )
        self.prev = op.hash
        return to_line(op), op.hash


@dataclass(frozen=True, slots=True)
class Founding:
    """A team that its first author founded: the lines a relay registers, and who is in it."""

    team: str
    key: bytes
    found: bytes
    chain: Sequence[bytes]
    """The founder's chain from the key op on, in which it admits everybody else."""
    authors: Sequence[Author]


def found(size: int, hours: int) -> Founding:
    """Found a team of so many, whose clocks are so many hours ahead, or behind.

    A relay takes what is older than the team's coming there at any rate, and counts what is newer.
    """
    clock_ms = int(time.time() * 1000) + hours * _HOUR_MS
    founder, *others = authors = [Author.new(f"r{number}", clock_ms) for number in range(size)]
    key = founder.announces()
    line, team = founder.founds()
    return Founding(team, key, line, [key, line, *map(founder.admits, others)], authors)
