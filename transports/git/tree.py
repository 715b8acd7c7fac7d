"""Git tree objects, read and written as bytes.

Names in a tree are bytes that strangers chose. Here they are compared and copied, and never become a path
in the file system, an option or an argument: lanes are told apart exactly, on disks that fold case as well
(K8). Symbolic links and submodules are entries like any other, and are not followed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from crypto.keys import REPLICA_ID

_ENTRY: Final = re.compile(rb"([0-7]{1,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_SEGMENT: Final = re.compile(rb"[0-9]{12}\.jsonl")
_FORMAT: Final = 0o170000
_TREE: Final = 0o040000
_FILE: Final = 0o100000

FED: Final = b"fed"
ACKS: Final = b"acks.json"


class MalformedTreeError(ValueError):
    """Bytes that are no tree object."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree: its mode in octal digits, its name and the object it names."""

    mode: bytes
    name: bytes
    oid: str

    @property
    def is_tree(self) -> bool:
        return int(self.mode, 8) & _FORMAT == _TREE

    @property
    def is_file(self) -> bool:
        """Whether this is an ordinary file; a symbolic link is none."""
        return int(self.mode, 8) & _FORMAT == _FILE


@dataclass(frozen=True, slots=True)
class Lane:
    """What a replica's folder holds: its segments in the order of their names, and its acknowledgements."""

    segments: tuple[tuple[str, str], ...]
    """(name, object id) of each."""

    acks: str | None
    """The object id of `acks.json`."""


def parse_tree(data: bytes) -> list[Entry]:
    """Read a tree object. Raises MalformedTreeError."""
    entries = []
    at = 0
    while at < len(data):
        found = _ENTRY.match(data, at)
        if found is None:
            raise MalformedTreeError("not a tree object")
        entries.append(Entry(found[1], found[2], found[3].hex()))
        at = found.end()
    return entries


def tree_bytes(entries: Iterable[Entry]) -> bytes:
    """Write a tree object, its entries in git's order and otherwise as they were read."""
    ordered = sorted(entries, key=lambda entry: entry.name + b"/" if entry.is_tree else entry.name)
    return b"".join(entry.mode + b" " + entry.name + b"\0" + bytes.fromhex(entry.oid) for entry in ordered)


def file_entry(name: bytes, oid: str) -> Entry:
    return Entry(b"100644", name, oid)


def tree_entry(name: bytes, oid: str) -> Entry:
    return Entry(b"40000", name, oid)


def replace(entries: Iterable[Entry], *new: Entry) -> list[Entry]:
    """Put entries into a tree, in place of all that have their names."""
    names = {entry.name for entry in new}
    return [entry for entry in entries if entry.name not in names] + list(new)


def subtree(entries: Iterable[Entry], name: bytes) -> str | None:
    """Return the object id of the folder of this name."""
    return next((entry.oid for entry in entries if entry.name == name and entry.is_tree), None)


def lanes(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the replicas that have a folder here, with its object id. Other names are never opened."""
    found: dict[str, str] = {}
    for entry in entries:
        name = entry.name.decode("ascii", "replace")
        if entry.is_tree and REPLICA_ID.fullmatch(name):
            found.setdefault(name, entry.oid)
    return found


def lane(entries: Iterable[Entry]) -> Lane:
    """Return what counts in a replica's folder. Anything else in it is ignored."""
    segments: dict[str, str] = {}
    acks = None
    for entry in entries:
        if not entry.is_file:
            continue
        if _SEGMENT.fullmatch(entry.name):
            segments.setdefault(entry.name.decode("ascii"), entry.oid)
        elif entry.name == ACKS and acks is None:
            acks = entry.oid
    return Lane(tuple(sorted(segments.items())), acks)
