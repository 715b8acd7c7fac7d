"""A JSON Lines file as a source: one entry a line, of any replicas, in any order.

The file is read through once to learn which bytes belong to which lane. After that a lane is read without
touching the rest, so a file that mixes many replicas costs no more than one that does not.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO, Final, NamedTuple

from crypto.canonical import JsonError, decode, parse
from crypto.keys import REPLICA_ID
from replica.audit.scratch import Scratch
from replica.audit.source import Record, SourceError
from transports.base import LINE_BYTES, Line, Skipped
from transports.lines import JunkError, is_blank, seq_of

_BATCH: Final = 1000
_CHUNK: Final = 64 * 1024


class FileSource:
    """The lines of a file that is open for reading and can be read at any place."""

    def __init__(self, file: BinaryIO, shown: str, scratch: Scratch) -> None:
        self.shown = shown
        self.record = Record()
        self._file = file
        self._db = scratch.db
        self._skipped: dict[str, Skipped] = {}

    def survey(self) -> Iterator[Line]:
        stretches = _Stretches(self)
        for number, line in enumerate(self._read(0), 1):
            lane = self._lane_of(number, line)
            stretches.add(lane, line)
            if lane is not None:
                yield Line(lane, line.raw)
        stretches.add(None, None)
        stretches.write()

    def lane(self, replica: str) -> Iterator[bytes]:
        query = "SELECT start, stop FROM stretches WHERE lane = ? ORDER BY start"
        for start, stop in self._db.execute(query, (replica,)):
            for line in self._read(start, stop):
                yield line.raw

    def ahead(self, replica: str) -> Iterator[bytes]:  # noqa: ARG002 - a file has none
        return iter(())

    def skipped(self) -> Sequence[Skipped]:
        return tuple(self._skipped.values())

    def places(self) -> Iterator["Place"]:
        """Where each line is that is not blank, and what op it claims to be. Raises SourceError."""
        for number, line in enumerate(self._read(0), 1):
            if not line.is_long and is_blank(line.raw):
                continue
            try:
                replica = _replica_of(line)
                seq = seq_of(replica, line.raw)
            except JunkError as error:
                yield Place(number, line.start, line.stop, None, None, str(error))
            else:
                yield Place(number, line.start, line.stop, replica, seq, "")

    def at(self, start: int, stop: int) -> bytes:
        """Read one line again. Raises SourceError."""
        return next(self._read(start, stop)).raw

    def keep(self, stretches: list[tuple[str, int, int]]) -> None:
        """Remember which bytes belong to which lane."""
        self._db.executemany("INSERT INTO stretches (lane, start, stop) VALUES (?, ?, ?)", stretches)

    def _lane_of(self, number: int, line: "_FileLine") -> str | None:
        """Return the replica a line claims to be of; None for what is passed over, which is counted."""
        if not line.is_long and is_blank(line.raw):
            return None
        try:
            return _replica_of(line)
        except JunkError as error:
            reason = str(error)
            earlier = self._skipped.get(reason, Skipped("", self.shown, number, 0, reason))
            self._skipped[reason] = Skipped("", self.shown, earlier.line, earlier.count + 1, reason)
            return None

    def _read(self, start: int, stop: int | None = None) -> Iterator["_FileLine"]:
        """Cut the file at its line feeds, from `start` on and until `stop`.

        Between two lines others may read elsewhere. Of a line that is too long nothing is kept.
        """
        place = start
        while stop is None or place < stop:
            try:
                self._file.seek(place)
                raw = self._file.readline(LINE_BYTES + 1)
                is_long = len(raw) > LINE_BYTES and not raw.endswith(b"\n")
                end = place + len(raw)
                while is_long and (rest := self._file.readline(_CHUNK)):
                    end += len(rest)
                    if rest.endswith(b"\n"):
                        break
            except OSError as error:
                raise SourceError(f"cannot read {self.shown}: {error.strerror}") from error
            if not raw:
                return
            yield _FileLine(place, end, b"" if is_long else raw.removesuffix(b"\n"), is_long)
            place = end


class Place(NamedTuple):
    """A line of a file: its number, from 1, its bytes, and the replica and seq it claims; or why it is no op."""

    number: int
    start: int
    stop: int
    replica: str | None
    seq: int | None
    junk: str


class _FileLine(NamedTuple):
    start: int
    stop: int
    raw: bytes
    is_long: bool


def _replica_of(line: _FileLine) -> str:
    """Return the replica that a line names. Raises JunkError for a line that names none."""
    if line.is_long:
        raise JunkError("longer than 1 MiB")
    try:
        value = parse(decode(line.raw)).value
    except JsonError:
        raise JunkError("not JSON") from None
    if not isinstance(value, dict):
        raise JunkError("not a JSON object")
    replica = value.get("replica")
    if not isinstance(replica, str) or not REPLICA_ID.fullmatch(replica):
        raise JunkError("names no replica")
    return replica


class _Stretches:
    """Joins neighbouring lines of one lane."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self._lane: str | None = None
        self._start = self._stop = 0
        self._batch: list[tuple[str, int, int]] = []

    def add(self, lane: str | None, line: _FileLine | None) -> None:
        if lane != self._lane:
            if self._lane is not None:
                self._batch.append((self._lane, self._start, self._stop))
            self._lane = lane
            self._start = 0 if line is None else line.start
            if len(self._batch) >= _BATCH:
                self.write()
        if line is not None:
            self._stop = line.stop

    def write(self) -> None:
        self._source.keep(self._batch)
        self._batch = []


@contextmanager
def open_file(path: Path, scratch: Scratch) -> Iterator[FileSource]:
    """Open a file as a source. What can only be read once, such as a pipe, is copied to a temporary file.

    Raises SourceError.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise SourceError(
            f"cannot read {path}: {error.strerror}",
            "name a file of lines that `dmp export` wrote, or `-` for standard input",
        ) from error
    with file:
        if file.seekable():
            yield FileSource(file, str(path), scratch)
        else:
            with spooled(file, str(path), scratch) as source:
                yield source


@contextmanager
def spooled(stream: BinaryIO, shown: str, scratch: Scratch) -> Iterator[FileSource]:
    """Copy a stream to a temporary file, which is the source. Raises SourceError."""
    with tempfile.TemporaryFile() as file:
        try:
            copyfileobj(stream, file)
        except OSError as error:
            raise SourceError(f"cannot read {shown}: {error.strerror}") from error
        yield FileSource(file, shown, scratch)
