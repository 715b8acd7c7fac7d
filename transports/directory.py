"""Lines in a directory of files, for a shared folder or a stick that is carried about: `dir:PATH`.

Each replica writes to its folder `fed/<replica>/` alone: files of lines, each named for a seq that no line of an
earlier one reaches, of which only the newest grows; and `acks.json`. Whatever else lies about is passed over.
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from crypto.keys import REPLICA_ID
from transports import files
from transports.base import ACKS_BYTES, PASS_BYTES, Behind, Line, Pull, PullReport, Skipped
from transports.lines import read_lines, seq_of
from transports.opening import Kind
from transports.remotes import RemoteError, Source

GROWN_BYTES: Final = 256 * 1024  # a longer file is not continued, since a file that grows is written anew
FILE_BYTES: Final = 8 * 1024 * 1024  # a longer file is not read
_ACKS: Final = "acks.json"
_FILE: Final = re.compile(
    r"[0-9]{16}([ .(~_-].*)?\.jsonl"
)  # or what a tool that syncs made of it in a conflict


class DirectoryTransport:
    """One replica's way to a directory. It has to be there: a stick that is not is no empty one."""

    def __init__(self, path: Path, sleep: Callable[[float], None] = time.sleep) -> None:
        self.url = f"dir:{path}"
        self._path = path
        self._reached = partial(files.unreachable_for, self.url, "is it there, and may you write to it?")
        self._sleep = sleep
        self._seen: dict[str, files.Folder] = {}
        self._turn = 0

    def refresh(self) -> str:
        with self._reached():
            self._seen = self._look()
        return files.summary(self._seen)

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        report = PullReport()
        return Pull(self._pull(since, budget, report), report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        for name in self._names(replica, since):
            yield from self._lines(replica, name, since, PullReport())

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:
        for replica in sorted(self._seen if replicas is None else self._seen.keys() & set(replicas)):
            if _ACKS in self._seen[replica] and (raw := self._bytes(replica, _ACKS, ACKS_BYTES)) is not None:
                yield Line(replica, raw)

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        if not lines and (acks is None or Line(replica, acks) in self.acks([replica])):
            return
        with self._reached(), files.writing(self._path, "fed", _folder(replica)) as at:
            if self._look().get(replica, {}) != self._seen.get(replica, {}):
                raise Behind(f"somebody else wrote to the lane of {replica} in {self.url}")
            for name, data in (self._grown(replica, lines) | ({} if acks is None else {_ACKS: acks})).items():
                files.write(at, name, data)
            self._seen = self._seen | {replica: self._look().get(replica, {})}

    def watch(self, timeout: float) -> bool:
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            self._sleep(min(left, 0.5))
            with suppress(OSError):
                if self._look() != self._seen:
                    return True
        return False

    def close(self) -> None:
        """Nothing is held between calls."""

    def _look(self) -> dict[str, files.Folder]:
        """What there is now. Raises OSError."""
        found = {}
        for name, there in files.tree(self._path, "fed").items():
            replica = re.sub("%([a-z])", lambda part: part[1].upper(), name)
            lane = {file: its for file, its in there.items() if file == _ACKS or _FILE.fullmatch(file)}
            if lane and REPLICA_ID.fullmatch(replica) and _folder(replica) == name:
                found[replica] = lane
        return found

    def _names(self, replica: str, since: int) -> list[str]:
        """The files in which lines from a seq on can be, in their order."""
        names = sorted(self._seen.get(replica, {}).keys() - {_ACKS})
        first = max((name[:16] for name in names if int(name[:16]) <= since), default="")
        return [name for name in names if name[:16] >= first]

    def _pull(self, since: Mapping[str, int], budget: int | None, report: PullReport) -> Iterator[Line]:
        lanes = sorted(self._seen)
        if budget is not None:  # each time another is first; those nobody asked for are behind all others
            self._turn = (self._turn + 1) % max(1, len(lanes))
            lanes = sorted(lanes[self._turn :] + lanes[: self._turn], key=lambda lane: lane not in since)
        asked = [(lane, name) for lane in lanes for name in self._names(lane, since.get(lane, 0))]
        for replica, name in asked:
            if budget is not None and budget <= 0:
                report.more = True
                return
            budget = None if budget is None else budget - self._seen[replica][name].size
            yield from self._lines(replica, name, since.get(replica, 0), report)

    def _lines(self, replica: str, name: str, since: int, report: PullReport) -> Iterator[Line]:
        place, data = f"fed/{replica}/{name}", self._bytes(replica, name, FILE_BYTES)
        if data is None:
            report.skipped.append(Skipped(replica, place, 0, 1, "may not be read, or is longer than 8 MiB"))
        yield from read_lines(replica, place, data or b"", since, report)

    def _bytes(self, replica: str, name: str, limit: int) -> bytes | None:
        """What a file held when it was seen, which has only grown since. Raises Unreachable."""
        with self._reached(), files.folder(self._path, "fed", _folder(replica)) as at:
            data = files.read(at, name, limit)
        return data if data is None or name == _ACKS else data[: self._seen[replica][name].size]

    def _grown(self, replica: str, lines: Sequence[bytes]) -> dict[str, bytes]:
        """The files to write so that a lane also holds these lines: the newest one, and new ones after it."""
        name = max((name for name in self._seen.get(replica, {}) if name[16:] == ".jsonl"), default="")
        old = self._bytes(replica, name, FILE_BYTES) if name else None
        data = b"" if old is None else old[: old.rfind(b"\n") + 1]  # what is torn was never published
        seqs = [seq_of(replica, line.raw) for line in read_lines(replica, name, data, 0)]
        top, written = max(int(name[:16] or 0), *seqs, 0), dict[str, bytes]()
        for raw in lines:
            if old is None or len(data) >= GROWN_BYTES:
                name, old, data, top = f"{top + 1:016}.jsonl", b"", b"", top + 1
            data += raw + b"\n"
            top, written[name] = max(top, seq_of(replica, raw)), data
        return written


def _folder(replica: str) -> str:
    """A name for each id, also on disks to which `a` and `A` are one."""
    return re.sub("[A-Z]", lambda letter: "%" + letter[0].lower(), replica)


def _read(text: str, _source: Source) -> str:
    path = text.partition(":")[2]
    if not path or re.match("//[^/]|~[^/]", path):
        raise RemoteError(f"the address of a directory is dir:PATH, not {text}")
    return f"dir:{Path(path).expanduser().absolute()}"


KIND: Final = Kind(_read, lambda opening: DirectoryTransport(Path(opening.address[4:]), opening.sleep))
