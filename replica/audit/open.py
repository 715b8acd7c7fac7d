"""Opening what a person said to audit: a store, a branch, a file, or what comes in on standard input."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from replica.audit.from_file import open_file, spooled
from replica.audit.from_git import open_branch
from replica.audit.from_store import open_store
from replica.audit.from_transport import is_address, open_address
from replica.audit.scratch import Scratch
from replica.audit.source import Source
from replica.home.directory import Directory

STORE: Final = "store"


def open_source(text: str, root: Path, branch: str, scratch: Scratch) -> AbstractContextManager[Source]:
    """Open the source that `text` names: `store`, `git:<remote>`, the address of a transport, `-`, or a file's path.

    `root` is the replica directory whose store `store` means, `branch` the branch of a remote. Entering the
    result raises SourceError where the source cannot be opened.
    """
    if text == STORE:
        return open_store(Directory(root).database)
    if text.startswith("git:"):
        address = text if text.startswith("git://") else text.removeprefix("git:")
        return open_branch(address, branch)
    if is_address(text):
        return open_address(text, branch, root)
    if text == "-":
        return spooled(sys.stdin.buffer, "standard input", scratch)
    return open_file(Path(text), scratch)
