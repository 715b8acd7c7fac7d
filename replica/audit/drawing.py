"""The chains of an audit as `replica/web/lanes.js` draws them over time."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Generic, TypeVar

from crypto.canonical import JsonValue
from crypto.op import Unverified
from replica.audit.evidence import Evidence
from replica.audit.marks import Link, Marks
from replica.audit.report import ReplicaReport, Trouble

T = TypeVar("T")

MAX_LANES: Final = 200
"""Chains that are drawn, the roster's first. Anyone can make up ids, by the thousand."""


class _Numbers(Generic[T]):
    """Numbers values in the order in which they are met."""

    def __init__(self) -> None:
        self.known: dict[T, int] = {}

    def of(self, value: T) -> int:
        return self.known.setdefault(value, len(self.known))


class Drawing:
    """Takes in chains one by one, and tells of them in columns of small numbers.

    What an op refers to is drawn where the chain it refers to is.
    """

    def __init__(self) -> None:
        self._lanes: list[tuple[ReplicaReport, Marks]] = []

    def add(self, row: ReplicaReport, marks: Marks | None) -> None:
        """Add a chain, as far as there is room."""
        if len(self._lanes) < MAX_LANES:
            self._lanes.append((row, Marks() if marks is None else marks))

    def to_json(self, *, hashes: bool = False) -> dict[str, JsonValue]:
        """The data of the drawing; lanes.js says what its members mean. Handles and texts are those of others.

        With `hashes` there is for each lane, in one text, how the opHash of each of its ops begins, in 16 characters.
        """
        at = {row.replica: index for index, (row, _) in enumerate(self._lanes)}
        types = _Numbers[str]()
        lists = _Numbers[tuple[int, ...]]()
        lists.of(())
        lanes: list[JsonValue] = [_lane(row, marks, at, types, lists) for row, marks in self._lanes]
        forks = [fork for index, (row, _) in enumerate(self._lanes) for fork in _forks(index, row)]
        found: dict[str, JsonValue] = {
            "types": [*types.known],
            "to": [[*each] for each in lists.known],
            "lanes": lanes,
            "links": [
                _link(index, link, at)
                for index, (_, marks) in enumerate(self._lanes)
                for link in marks.links
                if link.replica in at
            ],
            "forks": forks,
            "halts": [
                {
                    "lane": index,
                    "seq": row.fault.seq,
                    "kind": row.fault.trouble.value,
                    "text": row.fault.text,
                }
                for index, (row, _) in enumerate(self._lanes)
                if row.fault is not None and row.fault.trouble is not Trouble.FORK
            ],
            "cuts": [
                {"lane": index, "seq": row.cut}
                for index, (row, _) in enumerate(self._lanes)
                if row.cut is not None
            ],
        }
        if hashes:
            found["hashes"] = [
                "".join(marks.hash_at(at)[:16] for at in range(len(marks))) for _, marks in self._lanes
            ]
        return found


def _lane(
    row: ReplicaReport,
    marks: Marks,
    at: dict[str, int],
    types: _Numbers[str],
    lists: _Numbers[tuple[int, ...]],
) -> dict[str, JsonValue]:
    type_of = [types.of(name) for name in marks.types]
    list_of = [
        lists.of(tuple(at[replica] for replica in each if replica in at)) for each in marks.recipient_lists
    ]
    return {
        "replica": row.replica,
        "handle": row.handle,
        "status": row.status.value,
        "ops": {
            "seq": _differences(marks.seqs),
            "ms": _differences(marks.times),
            "type": [type_of[each] for each in marks.type_column],
            "grade": list(marks.grades),
            "to": [list_of[each] for each in marks.recipients],
        },
    }


def _differences(column: Sequence[int]) -> list[JsonValue]:
    return [*column[:1], *(after - before for before, after in pairwise(column))]


def _link(lane: int, link: Link, at: dict[str, int]) -> JsonValue:
    return {"kind": link.kind, "from": [lane, link.seq], "to": [at[link.replica], link.to_seq]}


def _forks(lane: int, row: ReplicaReport) -> Iterable[JsonValue]:
    if row.fault is None or row.fault.trouble is not Trouble.FORK:
        return
    yield {
        "lane": lane,
        "seq": row.fault.seq,
        "text": row.fault.text,
        "ops": [_rival(each) for each in row.evidence if each.authentic],
    }


def _rival(evidence: Evidence) -> JsonValue:
    read = evidence.read
    assert isinstance(read, Unverified)
    return {"seq": read.seq, "ms": read.hlc.ms, "type": read.type, "hash": read.hash}
