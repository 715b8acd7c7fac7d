"""What an entry's writes come to: its fields, how far it is trusted, and what waits for a decision (F.7, wire 8.15).

A pure function of the writes there are, the roster, and what was decided here. Writes are taken in the order of their
clocks, so the later one of a field wins; a change of content sets the trust anew, any other never lowers it. A write
of a teammate's that no human stands behind counts for nothing until it is accepted here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, TypeAlias

from crypto.canonical import JsonValue
from replica.shared.memory.bodies import ATTRIBUTION, TRUSTS, Trust, superseded
from replica.shared.memory.writes import Write

Speaks: TypeAlias = Callable[[str, str, int | None], bool]
"""Whether what a replica wrote at a seq speaks for a handle."""


class Decision(Enum):
    """What was decided here on a write that no human stands behind."""

    APPROVED = auto()
    """By this host's person."""
    ALLOWED = auto()
    """By this host's policy."""
    REFUSED = auto()


Decisions: TypeAlias = Mapping[tuple[str, int | None], Decision]
"""By replica and seq of a write."""


class Standing(Enum):
    """What became of a write here."""

    COUNTS = auto()
    HELD = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Revision:
    """A write of an entry, how far it is trusted by itself, and what became of it.

    `fields` are those it wrote, without names it could not give; `before` are the values they had.
    """

    write: Write
    fields: Mapping[str, JsonValue]
    before: Mapping[str, JsonValue]
    trust: Trust
    standing: Standing


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as it stands here; a field that nobody wrote has the value it has by default."""

    id: str
    values: Mapping[str, JsonValue]
    trust: Trust
    revisions: tuple[Revision, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it says anything: its first write may be missing, or wait for a decision."""
        return all(isinstance(self.values.get(name), str) for name in ("title", "body", "kind"))

    @property
    def held(self) -> tuple[Revision, ...]:
        """The writes that wait for a decision."""
        return tuple(each for each in self.revisions if each.standing is Standing.HELD)

    @property
    def title(self) -> str:
        """Its title."""
        return self._text("title")

    @property
    def body(self) -> str:
        """What it says."""
        return self._text("body")

    @property
    def kind(self) -> str:
        """One of seven."""
        return self._text("kind")

    @property
    def is_active(self) -> bool:
        """Whether it was not retired."""
        return self.values.get("status", "active") == "active"

    @property
    def is_pinned(self) -> bool:
        """Whether it goes before the others."""
        return self.values.get("pinned") is True

    @property
    def author(self) -> str | None:
        """Who wrote it first, by what was said."""
        return self._text("author") or None

    @property
    def decided_by(self) -> str | None:
        """The human who decided that it holds, by what was said."""
        return self._text("decidedBy") or None

    @property
    def created_at(self) -> str:
        """When it was made, by what was said."""
        return self._text("createdAt")

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The entries in whose place it is."""
        return superseded(self.values.get("supersedes"))

    @property
    def superseded_by(self) -> tuple[str, ...]:
        """The entries in its place."""
        return superseded(self.values.get("supersededBy"))

    def _text(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _State:
    values: dict[str, JsonValue] = field(default_factory=dict)
    trust: Trust = Trust.AGENT


def entry_of(memory: str, writes: Iterable[Write], me: str, speaks: Speaks, decisions: Decisions) -> Entry:
    """What the writes of an entry come to on the replica `me`; they are in the order of their clocks."""
    state, revisions = _State(), []
    for write in writes:
        fields = _attributed(write, speaks)
        trust = derived_trust(write, state.values, speaks)
        decision = decisions.get(write.place)
        standing = _standing(write, trust, me, speaks, decision)
        if decision is Decision.APPROVED and trust is Trust.AGENT:
            trust = Trust.CONFIRMED  # by the human of this host, whoever it names
            if write.is_content:
                fields = {**fields, "decidedBy": None}
        before = {name: state.values.get(name) for name in fields}
        if standing is Standing.COUNTS:
            state.values.update(fields)
            state.trust = trust if write.is_content else _higher(state.trust, trust)
        revisions.append(Revision(write, fields, before, trust, standing))
    return Entry(memory, state.values, state.trust, tuple(revisions))


def derived_trust(write: Write, values: Mapping[str, JsonValue], speaks: Speaks) -> Trust:
    """How far a write is trusted on an entry of these values: as far as its publisher claims and may (8.15).

    `human` where it speaks for the author, `confirmed` where it speaks for who decided; a claim of less is taken at
    its word, or whoever pins an entry would stand behind what others named them for.
    """
    said = {name: write.fields.get(name, values.get(name)) for name in ATTRIBUTION}
    if write.claim is Trust.HUMAN and _spoken_for(write, said["author"], speaks):
        return Trust.HUMAN
    if write.claim is not Trust.AGENT and _spoken_for(write, said["decidedBy"], speaks):
        return Trust.CONFIRMED
    return Trust.AGENT


def _standing(write: Write, trust: Trust, me: str, speaks: Speaks, decision: Decision | None) -> Standing:
    backed = trust is not Trust.AGENT or _spoken_for(write, write.by, speaks)
    if backed or write.replica == me or decision in (Decision.APPROVED, Decision.ALLOWED):
        return Standing.COUNTS
    return Standing.HELD if decision is None else Standing.REFUSED


def _attributed(write: Write, speaks: Speaks) -> Mapping[str, JsonValue]:
    """The fields of a write, without names that would borrow trust.

    What does not change the content keeps the trust there is, so it gives an entry no other's name as its author, nor
    as who decided it.
    """
    if write.is_content or ATTRIBUTION.isdisjoint(write.fields):
        return write.fields
    return {
        name: value
        for name, value in write.fields.items()
        if name not in ATTRIBUTION or value is None or _may_name(write, value, speaks)
    }


def _may_name(write: Write, address: JsonValue, speaks: Speaks) -> bool:
    """Whether a write's publisher speaks for a human, or for the one whose agent it names."""
    if isinstance(address, str) and address.startswith("agent:"):
        return speaks(write.replica, address.removeprefix("agent:").partition("/")[0], write.seq)
    return _spoken_for(write, address, speaks)


def _spoken_for(write: Write, address: JsonValue, speaks: Speaks) -> bool:
    """Whether a write's publisher speaks for a human."""
    if not isinstance(address, str):
        return False
    scheme, _, handle = address.partition(":")
    return scheme == "human" and speaks(write.replica, handle, write.seq)


_RANK: Final = {trust: rank for rank, trust in enumerate(TRUSTS)}


def _higher(one: Trust, other: Trust) -> Trust:
    return max(one, other, key=_RANK.__getitem__)
