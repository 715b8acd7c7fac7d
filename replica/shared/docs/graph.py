"""The graph of a document's revisions: what is whole, what is latest, where two of them part (wire 8.18).

Pure functions on revisions by their ids. None recurses: a chain may be as long as its publishers please.
"""

from collections.abc import Collection, Iterable, Mapping, Set

from replica.shared.docs.rows import RevisionRow

Revisions = Mapping[str, RevisionRow]


def whole(revisions: Revisions) -> list[str]:
    """The revisions all of whose ancestors are there, parents before children.

    One whose parents never come, or that descends from itself, is not among them.
    """
    missing = {id_: len(set(row.parents)) for id_, row in revisions.items()}
    children: dict[str, list[str]] = {}
    for id_, row in revisions.items():
        for parent in set(row.parents):
            children.setdefault(parent, []).append(id_)
    found = [id_ for id_, count in missing.items() if count == 0]
    for id_ in found:  # which grows meanwhile
        for child in children.get(id_, ()):
            missing[child] -= 1
            if missing[child] == 0:
                found.append(child)
    return found


def with_ancestors(revisions: Revisions, ids: Iterable[str]) -> set[str]:
    """Revisions and all they descend from, as far as they are there."""
    found: set[str] = set()
    left = [id_ for id_ in ids if id_ in revisions]
    while left:
        id_ = left.pop()
        if id_ not in found:
            found.add(id_)
            left.extend(parent for parent in revisions[id_].parents if parent in revisions)
    return found


def heads(revisions: Revisions, among: Set[str]) -> list[RevisionRow]:
    """Those among some revisions that no other of them descends from, the latest first."""
    parents = {parent for id_ in among for parent in revisions[id_].parents}
    return in_order([revisions[id_] for id_ in among - parents], latest_first=True)


def chains(revisions: Revisions, ordered: Iterable[str], among: Collection[str]) -> dict[str, int]:
    """How many of some revisions are on the longest way that leads to each; `ordered` has parents before children."""
    found: dict[str, int] = {}
    for id_ in ordered:
        if id_ in among:
            found[id_] = 1 + max((found.get(parent, 0) for parent in revisions[id_].parents), default=0)
    return found


def base(revisions: Revisions, ours: Iterable[str], theirs: str) -> RevisionRow | None:
    """The latest revision that both sides descend from; None for texts that began apart."""
    common = with_ancestors(revisions, ours) & with_ancestors(revisions, [theirs])
    found = heads(revisions, common)
    return found[0] if found else None


def in_order(rows: Iterable[RevisionRow], *, latest_first: bool = False) -> list[RevisionRow]:
    """Revisions by their clocks."""
    return sorted(rows, key=lambda row: (row.place, row.id), reverse=latest_first)
