"""A branch of a git repository as a source, read as a replica reads it."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from replica.audit.source import Record, SourceError
from transports.base import Line, PullReport, Skipped, Transport, TransportError
from transports.git import GitTransport
from transports.remotes import RemoteError, Source, parse_remote


class TransportSource:
    """What a transport holds at one moment."""

    def __init__(self, transport: Transport, shown: str) -> None:
        self.shown = shown
        self.record = Record()
        self.transport = transport
        self._report = PullReport()

    def survey(self) -> Iterator[Line]:
        with readable():
            self.transport.refresh()
            pull = self.transport.pull({}, budget=None)
            self._report = pull.report
            yield from pull

    def lane(self, replica: str) -> Iterator[bytes]:
        with readable():
            for line in self.transport.lane(replica):
                yield line.raw

    def ahead(self, replica: str) -> Iterator[bytes]:  # noqa: ARG002 - a far side has none
        return iter(())

    def skipped(self) -> Sequence[Skipped]:
        return self._report.skipped


@contextmanager
def open_branch(address: str, branch: str) -> Iterator[TransportSource]:
    """Open a branch of a remote that a person typed, with a clone that is gone afterwards. Raises SourceError."""
    try:
        remote = parse_remote(address, Source.TYPED)
        with tempfile.TemporaryDirectory(prefix="dmp-audit-") as folder, readable():
            transport = GitTransport(remote, Path(folder), branch)
            try:
                yield TransportSource(transport, f"branch {branch} of {remote.shown}")
            finally:
                transport.close()
    except RemoteError as error:
        raise SourceError(str(error)) from error


@contextmanager
def readable() -> Iterator[None]:
    """Make what keeps a transport from being read a SourceError."""
    try:
        yield
    except TransportError as error:
        raise SourceError(error.message, error.hint) from error
    except RemoteError as error:
        raise SourceError(str(error)) from error
