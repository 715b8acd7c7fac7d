"""What one commit of the branch holds, found through object names alone: nothing is ever checked out."""

from dataclasses import dataclass

from crypto.keys import REPLICA_ID
from transports.git.limits import Limits
from transports.git.objects import Objects, UnreadableError, UnusableError
from transports.git.tree import FED, Entry, Lane, MalformedTreeError, lane, lanes, parse_tree, subtree


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The branch at the commit `tip`, or without any commit where that is empty."""

    tip: str
    objects: Objects
    limits: Limits

    def root(self) -> list[Entry]:
        """Return the entries of the branch's root. Raises UnreadableError, UnusableError."""
        if not self.tip:
            return []
        commit = self.objects.read(self.tip, "commit", self.limits.folder_bytes)
        words = commit.split(b"\n", 1)[0].split(b" ")
        if words[0] != b"tree" or len(words) != 2:
            raise UnreadableError(f"commit {self.tip} names no tree")
        return self.tree(words[1].decode("ascii", "replace"), self.limits.folder_bytes)

    def fed(self) -> list[Entry]:
        """Return the entries of the folder of lanes. Raises UnreadableError, UnusableError."""
        found = subtree(self.root(), FED)
        return [] if found is None else self.tree(found, self.limits.folder_bytes)

    def lanes(self) -> dict[str, str]:
        """Return the object id of every replica's folder. Raises UnreadableError, UnusableError."""
        return lanes(self.fed())

    def lane_of(self, replica: str) -> str | None:
        """Return the object id of one replica's folder, however many there are. Raises UnreadableError."""
        if not self.tip or not REPLICA_ID.fullmatch(replica):
            return None
        header = self.objects.find(f"{self.tip}:fed/{replica}")
        return header.oid if header is not None and header.kind == "tree" else None

    def lane(self, folder: str) -> Lane:
        """Return what a replica's folder holds. Raises UnreadableError, UnusableError."""
        return lane(self.tree(folder, self.limits.lane_bytes))

    def tree(self, oid: str, limit: int) -> list[Entry]:
        """Return the entries of a tree. Raises UnreadableError, UnusableError."""
        try:
            return parse_tree(self.objects.read(oid, "tree", limit))
        except MalformedTreeError:
            raise UnusableError("is no tree that can be read") from None
