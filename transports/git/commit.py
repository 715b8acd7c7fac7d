"""A commit that changes one lane and nothing else, built from objects on top of a fetched one."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from transports.base import ACKS_BYTES, Refused
from transports.git import segments
from transports.git.branch import Snapshot
from transports.git.limits import SEGMENT_BYTES
from transports.git.loose import Loose
from transports.git.objects import UnusableError
from transports.git.tree import ACKS, FED, Entry, file_entry, lane, replace, subtree, tree_bytes, tree_entry
from transports.pruning import Pruned

AUTHOR: Final = "DMP sync <sync@dmp.invalid>"
"""In every commit: a branch shows which replica wrote, never which person."""

README: Final = b"""\
# Mail between the hosts of a team

Programs write this branch: each host of a team leaves signed lines for the others here, in a folder of its
own under `fed/`. There is nothing to edit, merge or rebase by hand, and a forced push over it loses mail.
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """What one replica adds to the branch as a snapshot shows it."""

    snapshot: Snapshot
    loose: Loose

    def commit(self, replica: str, lines: Sequence[bytes], acks: bytes | None) -> str | None:
        """Write the commit that adds `lines` to a lane and replaces its acknowledgements.

        Returns its object id, or None where nothing would change. Raises Refused for a branch that nothing
        can be added to, OSError, UnreadableError.
        """
        if acks is not None and len(acks) > ACKS_BYTES:
            raise ValueError("acknowledgements longer than 1 MiB are read by nobody")
        try:
            root = self.snapshot.root() or [file_entry(b"README.md", self._blob(README))]
            name = replica.encode("ascii")
            fed = self._entries(root, FED)
            own = self._entries(fed, name)
            new = self._segments(own, lines) if lines else []
            if acks is not None and (blob := self._blob(acks)) != lane(own).acks:
                new.append(file_entry(ACKS, blob))
        except UnusableError as error:
            raise Refused(f"nothing can be added to this branch: a folder on it {error}") from None
        if not new:
            return None
        tree = self._with_lane(root, fed, name, replace(own, *new))
        return self._write_commit(tree, _message(replica, len(lines)))

    def pruned(self, replica: str, shorter: Mapping[bytes, bytes]) -> tuple[str | None, Pruned]:
        """Write the commit that replaces lines of a lane in place. Returns and raises as `commit`."""
        lines = saved = 0
        new: list[Entry] = []
        try:
            root = self.snapshot.root()
            name = replica.encode("ascii")
            fed = self._entries(root, FED)
            own = self._entries(fed, name)
            for segment, oid in lane(own).segments:
                try:
                    data = self.snapshot.objects.read(oid, "blob", self.snapshot.limits.segment_bytes)
                except UnusableError:
                    continue  # nothing this replica has written is so long
                parts = data.split(b"\n")  # what follows the last line feed is torn, and stays
                found = [at for at, raw in enumerate(parts[:-1]) if raw in shorter]
                for at in found:
                    parts[at] = shorter[parts[at]]
                if found:
                    written = b"\n".join(parts)
                    lines, saved = lines + len(found), saved + len(data) - len(written)
                    new.append(file_entry(segment.encode("ascii"), self._blob(written)))
        except UnusableError as error:
            raise Refused(f"nothing can be changed on this branch: a folder on it {error}") from None
        pruned = Pruned(lines, saved)
        if not new:
            return None, pruned
        message = f"{replica}: pruned {lines} acknowledged op{'s' if lines > 1 else ''}\n"
        return self._write_commit(self._with_lane(root, fed, name, replace(own, *new)), message), pruned

    def _with_lane(
        self, root: Sequence[Entry], fed: Sequence[Entry], name: bytes, own: Sequence[Entry]
    ) -> str:
        """Write the tree of a branch where one lane holds these entries."""
        fed = replace(fed, tree_entry(name, self._tree(own)))
        return self._tree(replace(root, tree_entry(FED, self._tree(fed))))

    def _entries(self, parent: Sequence[Entry], name: bytes) -> list[Entry]:
        found = subtree(parent, name)
        limit = self.snapshot.limits.folder_bytes if name == FED else self.snapshot.limits.lane_bytes
        return [] if found is None else self.snapshot.tree(found, limit)

    def _segments(self, own: Sequence[Entry], lines: Sequence[bytes]) -> list[Entry]:
        # Whatever has a segment's name takes it, a link as well: only what is written here is replaced.
        taken = {entry.name.decode("utf-8", "replace") for entry in own}
        return [
            file_entry(written.name.encode("ascii"), self._blob(written.data))
            for written in segments.append(lines, taken, self._newest(own, lines))
        ]

    def _newest(self, own: Sequence[Entry], lines: Sequence[bytes]) -> tuple[str, bytes] | None:
        """Return the newest segment and its bytes; None where there is none, or it is too long to go on with."""
        readable = dict(lane(own).segments)
        name = segments.newest(readable, segments.first_seq(lines))
        if name is None:
            return None
        try:
            return name, self.snapshot.objects.read(readable[name], "blob", SEGMENT_BYTES)
        except UnusableError:
            return None

    def _blob(self, data: bytes) -> str:
        return self.loose.write("blob", data)

    def _tree(self, entries: Sequence[Entry]) -> str:
        # What others have put on the branch is kept as it is, well-formed or not.
        return self.loose.write("tree", tree_bytes(entries))

    def _write_commit(self, tree: str, message: str) -> str:
        # One clock zone for all: a commit shows when, not where.
        who = f"{AUTHOR} {int(time.time())} +0000"
        parents = f"parent {self.snapshot.tip}\n" if self.snapshot.tip else ""
        text = f"tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{message}"
        return self.loose.write("commit", text.encode())


def _message(replica: str, count: int) -> str:
    if not count:
        return f"{replica}: acks\n"
    return f"{replica}: {count} signed op{'s' if count > 1 else ''}\n"
