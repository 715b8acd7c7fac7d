"""What a roster op says: the twelve actions as typed values (federation wire 5.1, 5.2).

Reading sorts bodies into three kinds. A *known* action is a value of its own class. A *malformed* body is
ignored by every build alike. An *unknown* one comes from a later build: what it does cannot be guessed, so it
may pause a replica until it is updated.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from crypto.canonical import JsonValue
from crypto.keys import REPLICA_ID

ROSTER_VERSION: Final = 1
"""The `rv` of every body this build can read."""

_MAX_SAFE_INTEGER: Final = 2**53 - 1

Json: TypeAlias = dict[str, JsonValue]


class Role(StrEnum):
    """What an admitted replica may do."""

    MEMBER = "member"
    ADMIN = "admin"


class TransportKind(StrEnum):
    """Where the team's ops travel."""

    GIT = "git"
    RELAY = "relay"


@dataclass(frozen=True, slots=True)
class CutPoint:
    """The last op of a replica that its remover had verified; all zeros where there was none."""

    after_seq: int
    after_hash: str

    def to_json(self) -> Json:
        return {"afterSeq": self.after_seq, "afterHash": self.after_hash}


@dataclass(frozen=True, slots=True)
class Attestation:
    """How far one replica's unsigned log of the first wire version is vouched for."""

    replica: str
    through_seq: int
    digest: str

    def to_json(self) -> Json:
        return {"replica": self.replica, "throughSeq": self.through_seq, "digest": self.digest}


@dataclass(frozen=True, slots=True)
class Found:
    """Founds a team; the hash of the op is what the team is known by."""

    name: str
    legacy: tuple[Attestation, ...]
    recovery_pub: str

    def to_json(self) -> Json:
        legacy: list[JsonValue] = [attestation.to_json() for attestation in self.legacy]
        return _body("found", {"name": self.name, "legacy": legacy, "recoveryPub": self.recovery_pub})


@dataclass(frozen=True, slots=True)
class Admit:
    """Lets in the replica whose key has this fingerprint."""

    replica: str
    handle: str
    role: Role
    fingerprint: str
    hosts: tuple[str, ...] = ()
    observer: bool = False

    def to_json(self) -> Json:
        fields: Json = {
            "replica": self.replica,
            "handle": self.handle,
            "role": self.role.value,
            "fingerprint": self.fingerprint,
        }
        if self.hosts:
            fields["hosts"] = list(self.hosts)
        if self.observer:
            fields["observer"] = True
        return _body("admit", fields)


@dataclass(frozen=True, slots=True)
class Revoke:
    """Ends a replica: its ops past the cut count for nothing."""

    replica: str
    cut: CutPoint
    reason: str

    def to_json(self) -> Json:
        return _body("revoke", {"replica": self.replica, **self.cut.to_json(), "reason": self.reason})


@dataclass(frozen=True, slots=True)
class SetRole:
    """Raises a replica to admin or, with a cut, makes it a plain member again."""

    replica: str
    role: Role
    cut: CutPoint | None = None

    def to_json(self) -> Json:
        cut = self.cut.to_json() if self.cut else {}
        return _body("role", {"replica": self.replica, "role": self.role.value, **cut})


@dataclass(frozen=True, slots=True)
class SetHosts:
    """Replaces the handles a replica speaks for besides its own."""

    replica: str
    hosts: tuple[str, ...]
    cut: CutPoint | None = None

    def to_json(self) -> Json:
        cut = self.cut.to_json() if self.cut else {}
        return _body("hosts", {"replica": self.replica, "hosts": list(self.hosts), **cut})


@dataclass(frozen=True, slots=True)
class CloseLegacy:
    """Closes the window in which unsigned logs of the first wire version still count."""

    entries: tuple[Attestation, ...] = ()

    def to_json(self) -> Json:
        return _body("close-legacy", {"entries": [entry.to_json() for entry in self.entries]})


@dataclass(frozen=True, slots=True)
class SetLicense:
    """Shares a licence key with the team."""

    key: str

    def to_json(self) -> Json:
        return _body("license", {"key": self.key})


@dataclass(frozen=True, slots=True)
class OpenInvite:
    """Announces an invite, so that its holder can be told from others who ask to be admitted."""

    id: str
    pub: str
    handle: str
    expires: str

    def to_json(self) -> Json:
        return _body(
            "invite", {"id": self.id, "pub": self.pub, "handle": self.handle, "expires": self.expires}
        )


@dataclass(frozen=True, slots=True)
class Recover:
    """Lets its publisher in as an admin by the proof of the recovery code."""

    proof: str

    def to_json(self) -> Json:
        return _body("recover", {"proof": self.proof})


@dataclass(frozen=True, slots=True)
class SetRecoveryKey:
    """Replaces the recovery key."""

    pub: str

    def to_json(self) -> Json:
        return _body("recovery-key", {"pub": self.pub})


@dataclass(frozen=True, slots=True)
class SetTransport:
    """Says where the team's ops travel. The text of `url` is whatever an admin published."""

    kind: TransportKind
    url: str | None = None

    def to_json(self) -> Json:
        url: Json = {} if self.url is None else {"url": self.url}
        return _body("transport", {"kind": self.kind.value, **url})


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Takes one held roster op out of the fold."""

    replica: str
    seq: int
    hash: str

    def to_json(self) -> Json:
        return _body("dismiss", {"replica": self.replica, "seq": self.seq, "hash": self.hash})


@dataclass(frozen=True, slots=True)
class Malformed:
    """A body that says nothing, and the member that is missing or of the wrong type."""

    member: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A body of a later build."""


Action: TypeAlias = (
    Found
    | Admit
    | Revoke
    | SetRole
    | SetHosts
    | CloseLegacy
    | SetLicense
    | OpenInvite
    | Recover
    | SetRecoveryKey
    | SetTransport
    | Dismiss
)
Body: TypeAlias = Action | Malformed | Unknown


def read_body(body: object) -> Body:
    """Read the body of a roster op, or whatever stands where one should (federation wire 5.2)."""
    if not isinstance(body, dict):
        return Malformed("body")
    version, action = body.get("rv"), body.get("action")
    if not _is_integral(version):
        return Malformed("rv")
    if not isinstance(action, str):
        return Malformed("action")
    if version != ROSTER_VERSION or action not in _READERS:
        return Unknown()
    try:
        return _READERS[action](_Members(body))
    except _WrongMemberError as wrong:
        return Malformed(wrong.member)


def is_known(body: Body) -> bool:
    """Whether a body is one of the twelve actions of this version, well-formed or not (federation wire 5.31)."""
    return not isinstance(body, Unknown) and not (isinstance(body, Malformed) and body.member in _FRAME)


_FRAME: Final = frozenset(("body", "rv", "action"))
"""What has to be read of a body before it is known to be one of the actions."""


def _body(action: str, fields: Json) -> Json:
    return {"rv": ROSTER_VERSION, "action": action, **fields}


def _is_integral(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value) and value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


class _WrongMemberError(Exception):
    def __init__(self, member: str) -> None:
        super().__init__(member)
        self.member = member


class _Members:
    """The members of one JSON object, each read as the type it must have."""

    def __init__(self, members: Mapping[str, object]) -> None:
        self._members = members

    def has(self, name: str) -> bool:
        return name in self._members

    def text(self, name: str) -> str:
        value = self._members.get(name)
        if not isinstance(value, str):
            raise _WrongMemberError(name)
        return value

    def replica(self) -> str:
        value = self.text("replica")
        if REPLICA_ID.fullmatch(value) is None:
            raise _WrongMemberError("replica")
        return value

    def integer(self, name: str) -> int:
        value = self._members.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_SAFE_INTEGER:
            raise _WrongMemberError(name)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._members.get(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _WrongMemberError(name)
        return tuple(value)

    def role(self) -> Role:
        try:
            return Role(self.text("role"))
        except ValueError:
            raise _WrongMemberError("role") from None

    def transport(self) -> TransportKind:
        try:
            return TransportKind(self.text("kind"))
        except ValueError:
            raise _WrongMemberError("kind") from None

    def true(self, name: str) -> bool:
        """An optional member whose one value is `true`."""
        if not self.has(name):
            return False
        if self._members[name] is not True:
            raise _WrongMemberError(name)
        return True

    def cut(self) -> CutPoint:
        return CutPoint(self.integer("afterSeq"), self.text("afterHash"))

    def cut_if_given(self) -> CutPoint | None:
        """A cut, where both members of the pair are there; either alone counts for nothing."""
        after_seq = self.integer("afterSeq") if self.has("afterSeq") else None
        after_hash = self.text("afterHash") if self.has("afterHash") else None
        if after_seq is None or after_hash is None:
            return None
        return CutPoint(after_seq, after_hash)

    def attestations(self, name: str) -> tuple[Attestation, ...]:
        value = self._members.get(name)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise _WrongMemberError(name)
        return tuple(_attestation(_Members(item), name) for item in value)


def _attestation(members: _Members, name: str) -> Attestation:
    try:
        return Attestation(members.replica(), members.integer("throughSeq"), members.text("digest"))
    except _WrongMemberError:
        raise _WrongMemberError(name) from None


_READERS: Final[Mapping[str, Callable[[_Members], Action]]] = {
    "found": lambda of: Found(of.text("name"), of.attestations("legacy"), of.text("recoveryPub")),
    "admit": lambda of: Admit(
        of.replica(),
        of.text("handle"),
        of.role(),
        of.text("fingerprint"),
        of.texts("hosts") if of.has("hosts") else (),
        of.true("observer"),
    ),
    "revoke": lambda of: Revoke(of.replica(), of.cut(), of.text("reason")),
    "role": lambda of: SetRole(of.replica(), of.role(), of.cut_if_given()),
    "hosts": lambda of: SetHosts(of.replica(), of.texts("hosts"), of.cut_if_given()),
    "close-legacy": lambda of: CloseLegacy(of.attestations("entries")),
    "license": lambda of: SetLicense(of.text("key")),
    "invite": lambda of: OpenInvite(of.text("id"), of.text("pub"), of.text("handle"), of.text("expires")),
    "recover": lambda of: Recover(of.text("proof")),
    "recovery-key": lambda of: SetRecoveryKey(of.text("pub")),
    "transport": lambda of: SetTransport(of.transport(), of.text("url") if of.has("url") else None),
    "dismiss": lambda of: Dismiss(of.replica(), of.integer("seq"), of.text("hash")),
}
