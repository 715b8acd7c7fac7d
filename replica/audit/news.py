"""What one audit has to say that the one before it had not."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from crypto.canonical import JsonValue
from crypto.chain import Head
from replica.audit.report import Fault, ReplicaReport, Report, Status


@dataclass(frozen=True, slots=True)
class NewOps:
    """A chain went on. `types` counts what is new by type, what became past its cut left out."""

    replica: str
    handle: str | None
    ops: int
    types: dict[str, int]
    head: Head


@dataclass(frozen=True, slots=True)
class Became:
    """A replica is something else in the team than before; `was` is None for one that is seen for the first time."""

    replica: str
    handle: str | None
    was: Status | None
    status: Status


@dataclass(frozen=True, slots=True)
class Lost:
    """A chain does not hold any more what was read from it: the source was set back, or shows another history."""

    replica: str
    was: Head
    head: Head | None


@dataclass(frozen=True, slots=True)
class Broke:
    """A chain has a fault that it had not; `proves` tells that there is a proof of a fork."""

    replica: str
    fault: Fault
    proves: bool


@dataclass(frozen=True, slots=True)
class Mended:
    """A chain has its fault no more."""

    replica: str
    was: Fault


@dataclass(frozen=True, slots=True)
class Noted:
    """A sentence on the roster, or on lines that are no ops."""

    text: str


News: TypeAlias = NewOps | Became | Lost | Broke | Mended | Noted


def news(before: Report, after: Report) -> Iterator[News]:
    """What changed from one audit of a source to the next, chain by chain."""
    known = {each.replica: each for each in before.replicas}
    for row in after.replicas:
        yield from _of_chain(known.pop(row.replica, None), row)
    for row in known.values():
        if row.head is not None:
            yield Lost(row.replica, row.head, None)
    notes = set(() if before.team is None else before.team.notes)
    for note in () if after.team is None else after.team.notes:
        if note not in notes:
            yield Noted(note)
    if after.skipped_count > before.skipped_count:
        yield Noted(f"{after.skipped_count - before.skipped_count} more lines passed over as no op.")


def _of_chain(was: ReplicaReport | None, row: ReplicaReport) -> Iterator[News]:
    if was is None or was.status is not row.status:
        yield Became(row.replica, row.handle, None if was is None else was.status, row.status)
    head = None if was is None else was.head
    if was is not None and head is not None and _went_back(head, row.head):
        yield Lost(row.replica, head, row.head)
    elif row.head is not None and row.head != head:
        types = Counter(row.types or {})
        types.subtract({} if was is None else was.types or {})
        new = row.ops + row.past_cut - (0 if was is None else was.ops + was.past_cut)
        found = {name: count for name, count in sorted(types.items()) if count > 0}
        yield NewOps(row.replica, row.handle, new, found, row.head)
    fault = None if was is None else was.fault
    if row.fault is not None and row.fault != fault:
        yield Broke(row.replica, row.fault, row.proof is not None)
    elif row.fault is None and fault is not None:
        yield Mended(row.replica, fault)


def _went_back(was: Head, head: Head | None) -> bool:
    return head is None or head.seq < was.seq or (head.seq == was.seq and head.hash != was.hash)


def to_json(one: News) -> dict[str, JsonValue]:
    """One piece of news as a JSON document (docs/audit.md)."""
    match one:
        case NewOps():
            return {
                "event": "ops",
                "replica": one.replica,
                "handle": one.handle,
                "ops": one.ops,
                "types": {**one.types},
                "head": _head(one.head),
            }
        case Became():
            was = None if one.was is None else one.was.value
            return {
                "event": "status",
                "replica": one.replica,
                "handle": one.handle,
                "was": was,
                "status": one.status.value,
            }
        case Lost():
            return {
                "event": "lost",
                "replica": one.replica,
                "was": _head(one.was),
                "head": None if one.head is None else _head(one.head),
            }
        case Broke():
            return {
                "event": "fault",
                "replica": one.replica,
                "kind": one.fault.trouble.value,
                "seq": one.fault.seq,
                "text": one.fault.text,
                "proof": one.proves,
            }
        case Mended():
            return {
                "event": "mended",
                "replica": one.replica,
                "kind": one.was.trouble.value,
                "seq": one.was.seq,
            }
        case Noted():
            return {"event": "note", "text": one.text}


def _head(head: Head) -> JsonValue:
    return {"seq": head.seq, "hash": head.hash}
