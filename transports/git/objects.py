"""Reading git objects by name, each bounded in size and time.

Two `git cat-file` processes answer for as long as the transport lives: one tells what an object is, one
hands it over. Nothing is taken before its size is known, and a process that keeps silent is ended. Small
objects are remembered: from one commit of the branch to the next most lanes stay as they were.
"""

import os
import select
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from transports.git.run import Runner, kill

if TYPE_CHECKING:
    from git.cmd import Git

_SMALL_BYTES: Final = 16 * 1024
_KEPT_BYTES: Final = 8 * 1024 * 1024


class UnreadableError(Exception):
    """An object that the clone should hold cannot be read: the clone is damaged."""


class UnusableError(Exception):
    """An object can be read and is of no use: longer than the caller takes, or not what its name promised."""


@dataclass(frozen=True, slots=True)
class Header:
    """An object's full name, its kind (`blob`, `tree`, `commit`, `tag`), and its size in bytes."""

    oid: str
    kind: str
    size: int


class Objects:
    """The objects of one clone. Names are object ids, refs, or paths such as `<commit>:fed/<replica>`."""

    def __init__(self, runner: Runner, seconds: float) -> None:
        self._headers = _CatFile(runner, "--batch-check", seconds)
        self._contents = _CatFile(runner, "--batch", seconds)
        self._kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._kept_bytes = 0

    def find(self, name: str) -> Header | None:
        """Tell what an object is, without reading it; None where there is none of that name."""
        return self._headers.ask(name)

    def read(self, oid: str, kind: str, limit: int) -> bytes:
        """Return the content of an object that must be there. Raises UnreadableError, UnusableError."""
        kept = self._kept.get((oid, kind))
        if kept is not None and len(kept) <= limit:
            self._kept.move_to_end((oid, kind))
            return kept
        header = self._headers.ask(oid)
        if header is None:
            raise UnreadableError(f"{kind} {oid} is missing")
        if header.kind != kind or header.size > limit:
            raise UnusableError(f"is a {header.kind} of {header.size} bytes")
        if self._contents.ask(oid) != header:
            self._contents.close()
            raise UnreadableError(f"{kind} {oid} cannot be read")
        content = self._contents.take(header.size)
        if header.size <= _SMALL_BYTES:
            self._keep((oid, kind), content)
        return content

    def close(self) -> None:
        """End both processes, and forget; the next question starts them anew."""
        self._kept.clear()
        self._kept_bytes = 0
        self._headers.close()
        self._contents.close()

    def _keep(self, name: tuple[str, str], content: bytes) -> None:
        self._kept[name] = content
        self._kept_bytes += len(content)
        while self._kept_bytes > _KEPT_BYTES:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)


class _CatFile:
    """One `git cat-file` process and what it has answered but nobody has taken yet."""

    def __init__(self, runner: Runner, mode: str, seconds: float) -> None:
        self._runner = runner
        self._mode = mode
        self._seconds = seconds
        self._process: Git.AutoInterrupt | None = None
        self._buffer = bytearray()

    def ask(self, name: str) -> Header | None:
        if "\n" in name:
            raise UnreadableError("a name of an object is one line")
        if self._process is None:
            self._process = self._runner.start_local("cat-file", self._mode)
        try:
            self._process.stdin.write(name.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            self.close()
            raise UnreadableError(f"git cat-file ended before {name} was read") from None
        # "<oid> <kind> <size>", or "<name> missing" and its like.
        words = self._line().decode("utf-8", "replace").split(" ")
        if len(words) != 3 or not words[2].isdecimal():
            return None
        return Header(words[0], words[1], int(words[2]))

    def take(self, size: int) -> bytes:
        """Return the content that follows a header, and drop the line feed after it."""
        deadline = time.monotonic() + self._seconds
        while len(self._buffer) <= size:
            self._fill(deadline)
        content = bytes(memoryview(self._buffer)[:size])
        del self._buffer[: size + 1]
        return content

    def close(self) -> None:
        process, self._process = self._process, None
        self._buffer.clear()
        if process is not None:
            with suppress(OSError):
                process.stdin.close()
            kill(process)

    def _line(self) -> bytes:
        deadline = time.monotonic() + self._seconds
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill(deadline)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _fill(self, deadline: float) -> None:
        assert self._process is not None
        pipe = self._process.stdout.fileno()
        ready = select.poll()
        ready.register(pipe, select.POLLIN)
        left = deadline - time.monotonic()
        data = os.read(pipe, 1024 * 1024) if left > 0 and ready.poll(left * 1000) else b""
        if not data:
            said = "ended" if left > 0 else "took too long"
            self.close()
            raise UnreadableError(f"git cat-file {said} before an object was read")
        self._buffer += data
