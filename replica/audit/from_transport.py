"""What a transport of any kind holds as a source: a relay as one of its team sees it, a folder, a git remote."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from replica.audit.from_git import TransportSource, readable
from replica.home.directory import Directory
from replica.node import opened
from replica.ways import Myself
from transports.base import Transport
from transports.opening import Member, Opening, open_transport, scheme_of, schemes
from transports.remotes import Source

_PATHS: Final = frozenset(("file", "ssh"))
"""Schemes that a path without any is read as."""


def is_address(text: str) -> bool:
    """Whether a text is the address of a transport; what looks like the path of a file is not."""
    return "://" in text or scheme_of(text) in set(schemes()) - _PATHS


@contextmanager
def open_address(address: str, branch: str, root: Path) -> Iterator[TransportSource]:
    """Open a transport that a person typed, with nothing left behind. Raises SourceError.

    Where there is a replica at `root`, a far side that wants to know who asks is told that it is that one.
    """
    with ExitStack() as stack, readable():
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dmp-audit-"))
        member: Member | None = None
        if Directory(root).key_file.exists():
            member = Myself(stack.enter_context(opened(root)))
        transport = open_transport(Opening(address, Source.TYPED, Path(folder), branch, member))
        stack.callback(transport.close)
        yield TransportSource(transport, _shown(transport, branch))


def _shown(transport: Transport, branch: str) -> str:
    is_git = scheme_of(transport.url) in ("file", "git", "http", "https", "ssh")
    return f"branch {branch} of {transport.url}" if is_git else transport.url
