"""What the world of a `federation` vector has besides: the replica that its steps are on, and its team."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.message import Via
from crypto.ed25519 import SEED_BYTES
from crypto.encoding import unb64u
from crypto.sealing import SEAL_KEY_BYTES
from replica.host.config import Policy
from replica.records.remote import RemoteRow
from vectors.adapter.federation.given_lines import raw
from vectors.adapter.given import START, Given
from vectors.adapter.members import MalformedError, Members

POLICIES: Final[tuple[Policy, ...]] = ("ask", "allow")

_MEMBERS: Final = ("replica", "lanes", "sealPrivs", "muted", "memoryPolicy", "remote")


@dataclass(frozen=True, slots=True)
class GivenReplica:
    """The replica: its id, its private keys, the founding it follows, and all it published so far.

    `founding` is None where nobody said yet which one is meant; `handle` is its person's where nothing was published.
    """

    id: str
    sign_seed: bytes
    seal_private: bytes
    founding: str | None
    lane: Sequence[bytes]
    handle: str | None


@dataclass(frozen=True, slots=True)
class GivenTeam:
    """The world of the replica.

    `lanes` are what teammates published so far; `seal_privates` their private sealing keys, by which what the replica
    publishes can be opened; `muted` the agents that its owner muted; `memory_policy` is what becomes of memory that
    teammates publish with no person behind it; `remote` are the rows of recipients who are homed elsewhere, of
    messages in its store.
    """

    world: Given
    replica: GivenReplica
    lanes: Mapping[str, Sequence[bytes]]
    seal_privates: Mapping[str, bytes]
    muted: Sequence[str]
    memory_policy: Policy
    remote: Sequence[RemoteRow]

    @property
    def pending(self) -> list[str]:
        """The answers in its store that their settler, another replica, has not named."""
        messages = self.world.rows.messages
        elsewhere = {message.id for message in messages if message.origin is not None}
        return [each.id for each in messages if each.kind == "answer" and each.reply_to in elsewhere]


def read(vector: Members) -> GivenTeam:
    """Read a vector's `given`. Raises MalformedError, and Unsupported."""
    given = vector.object("given")
    others = {name: value for name, value in given.as_mapping().items() if name not in _MEMBERS}
    keys = given.object("sealPrivs")
    return GivenTeam(
        Given.from_json(others),
        _replica(given.object("replica")),
        lanes_of(given),
        {name: _key(keys, name, SEAL_KEY_BYTES) for name in keys.names()},
        given.texts("muted"),
        given.one_of("memoryPolicy", *POLICIES) if "memoryPolicy" in given else "ask",
        [_remote(row) for row in given.objects("remote")],
    )


def lanes_of(given: Members) -> Mapping[str, Sequence[bytes]]:
    """The lines of each lane that a member `lanes` holds; none where it is left out."""
    lanes = given.object("lanes")
    return {name: _lines(lanes, name) for name in lanes.names()}


def _lines(given: Members, name: str) -> list[bytes]:
    lines = given.raw(name)
    if not isinstance(lines, list):
        raise MalformedError(f"{given.place}.{name} must be a list")
    return [raw(line) for line in lines if isinstance(line, str | dict)]


def _remote(row: Members) -> RemoteRow:
    wake_at = row.text("wakeAt") if "wakeAt" in row else None
    return RemoteRow(
        row.text("message"),
        row.text("recipient"),
        row.one_of("via", *Via),
        row.texts("homes"),
        row.text("state"),
        {},
        START,
        wake_at,
    )


def _replica(given: Members) -> GivenReplica:
    return GivenReplica(
        given.text("id"),
        _key(given, "signPriv", SEED_BYTES),
        _key(given, "sealPriv", SEAL_KEY_BYTES),
        given.text("founding") if "founding" in given else None,
        _lines(given, "lane"),
        given.text("handle") if "handle" in given else None,
    )


def _key(given: Members, name: str, size: int) -> bytes:
    try:
        return unb64u(given.text(name), size)
    except ValueError as error:
        raise MalformedError(f"{given.place}.{name}: {error}") from None
