"""What one commit of the branch holds, found through object names alone: nothing is ever checked out."""

from dataclasses import dataclass, field
from typing import Final

from crypto.keys import REPLICA_ID
from transports.git.limits import Limits
from transports.git.objects import Objects, UnreadableError, UnusableError
from transports.git.tree import FED, Entry, Lane, MalformedTreeError, lane, lanes, parse_tree, subtree

_KEPT_LANES: Final = 256


@dataclass(slots=True)
class Snapshot:
    """The branch at the commit `tip`, or without any commit where that is empty.

    A commit never changes, so what was once read of it is kept.
    """

    tip: str
    objects: Objects
    limits: Limits
    _folders: dict[str, str] | None = None
    _lanes: dict[str, Lane] = field(default_factory=dict)

    def root(self) -> list[Entry]:
        """Return the entries of the branch's root. Raises UnreadableError, UnusableError."""
        if not self.tip:
            return []
        commit = self.objects.read(self.tip, "commit", self.limits.folder_bytes)
        words = commit.split(b"\n", 1)[0].split(b" ")
        if words[0] != b"tree" or len(words) != 2:
            raise UnreadableError(f"commit {self.tip} names no tree")
        return self.tree(words[1].decode("ascii", "replace"), self.limits.folder_bytes)

    def folders(self) -> dict[str, str]:
        """Return the object id of every replica's folder. Raises UnreadableError, UnusableError."""
        if self._folders is None:
            found = subtree(self.root(), FED)
            self._folders = {} if found is None else lanes(self.tree(found, self.limits.folder_bytes))
        return self._folders

    def changed_since(self, earlier: "Snapshot") -> list[str]:
        """Return the replicas whose folder is not what it was; of none where there are too many to list."""
        try:
            before = earlier.folders()
            return [replica for replica, folder in self.folders().items() if before.get(replica) != folder]
        except UnusableError:
            return []

    def folder(self, replica: str) -> str | None:
        """Return the object id of one replica's folder, however many there are. Raises UnreadableError."""
        try:
            return self.folders().get(replica)
        except UnusableError:
            if not REPLICA_ID.fullmatch(replica):
                return None
        header = self.objects.find(f"{self.tip}:fed/{replica}")
        return header.oid if header is not None and header.kind == "tree" else None

    def lane(self, folder: str) -> Lane:
        """Return what a replica's folder holds. Raises UnreadableError, UnusableError."""
        found = self._lanes.get(folder)
        if found is None:
            found = lane(self.tree(folder, self.limits.lane_bytes))
            if len(self._lanes) < _KEPT_LANES:
                self._lanes[folder] = found
        return found

    def tree(self, oid: str, limit: int) -> list[Entry]:
        """Return the entries of a tree. Raises UnreadableError, UnusableError."""
        try:
            return parse_tree(self.objects.read(oid, "tree", limit))
        except MalformedTreeError:
            raise UnusableError("is no tree that can be read") from None
