"""The adapter's process and the lines exchanged with it (section 12.4.7).

The command runs in a shell and in a process group of its own, so that whatever it started ends with it. One
thread passes its standard error on; everything else happens in the caller's, with a deadline on each line.
"""

import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, Final, NoReturn, Self

from crypto.canonical import JsonError, JsonValue, parse

MAX_LINE: Final = 32 * 2**20
"""Bytes of a line. The largest vectors carry a few hundred KiB; a line without end must not fill the memory."""

_CHUNK: Final = 2**16
_LOG_LINE: Final = 2**13
"""Bytes of a line of the log; a longer one is passed on in parts."""

_LAST_WORDS: Final = 1.0
"""Seconds a process has to be gone once its output has ended, and its log to be read once it is gone."""


_SHELL_SIGNAL: Final = 128
"""What a shell adds to the number of the signal that ended its command, for its own exit code."""

_GLANCE: Final = 0.01
"""Seconds between two looks at whether a process has exited."""


class AdapterFault(Exception):  # noqa: N818 - named for what it is to the caller
    """What an adapter did instead of answering. Its process is of no more use."""


class Adapter:
    """A running adapter; leaving the block ends it, and all that it started."""

    def __init__(self, command: str, log: Callable[[str], None]) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._stdin, self._stdout, stderr = map(_open, self._streams())
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
        self._read = bytearray()
        self._asked = False  # whether what it writes first answers hello is told by what that is
        self._logging = threading.Thread(target=_pass_on, args=(stderr, log), daemon=True)
        self._logging.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def ask(self, line: JsonValue, seconds: float) -> JsonValue:
        """Write a line and return the one that answers it.

        Raises AdapterFault when none came in that time, or what came is no answer.
        """
        deadline = time.monotonic() + seconds
        if self._asked:
            self._refuse_more()
        self._asked = True
        self._write(line, deadline, seconds)
        return _json(self._line(deadline, seconds))

    def bye(self, seconds: float) -> str | None:
        """Tell the adapter to exit, and wait for it; return how it did not do so as it must, if it did not."""
        deadline = time.monotonic() + seconds
        try:
            self._refuse_more()
            self._write({"dmp": "bye"}, deadline, seconds)
        except AdapterFault as fault:
            return f"told bye, {fault}"
        self._stdin.close()
        code = self._exit_code(deadline)
        if code is None:
            return f"the adapter did not exit within {seconds:g} s of bye"
        return None if code == 0 else f"told bye, the adapter {_ending(code)}, where it must exit with 0"

    def kill(self) -> None:
        """End the process and its whole group at once. Safe to call again."""
        with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._logging.join(_LAST_WORDS)
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()

    def _streams(self) -> tuple[IO[bytes] | None, ...]:
        return self._process.stdin, self._process.stdout, self._process.stderr

    def _write(self, line: JsonValue, deadline: float, seconds: float) -> None:
        # In ASCII, so U+2028 and U+2029 are escaped, and every other character a reader may trip over.
        left = memoryview(json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        while left:
            self._wait(self._stdin, selectors.EVENT_WRITE, deadline, seconds)
            try:
                left = left[os.write(self._stdin.fileno(), left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return  # it reads no more; what it wrote before, and how it ended, is told by its output

    def _line(self, deadline: float, seconds: float) -> bytes:
        searched = 0
        while (end := self._read.find(b"\n", searched)) < 0:
            searched = len(self._read)
            if searched > MAX_LINE:
                raise AdapterFault(f"the adapter wrote a line of more than {MAX_LINE} bytes")
            self._wait(self._stdout, selectors.EVENT_READ, deadline, seconds)
            if not self._receive():
                self._ended()
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line.removesuffix(b"\r")

    def _refuse_more(self) -> None:
        self._receive()
        if self._read:
            raise AdapterFault("the adapter wrote before it was asked")

    def _receive(self) -> bool:
        """Take what the adapter has written, without waiting; return whether it may write more."""
        try:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        self._read += chunk
        return bool(chunk)

    def _wait(self, stream: IO[bytes], event: int, deadline: float, seconds: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(stream, event)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                half = " but half a line" if self._read else ""
                raise AdapterFault(f"the adapter wrote nothing{half} within {seconds:g} s")

    def _exit_code(self, deadline: float) -> int | None:
        """Wait for the exit, reading on meanwhile; what it started may keep its output open beyond that."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while (code := self._process.poll()) is None and time.monotonic() < deadline:
                if selector.select(_GLANCE) and not self._receive():
                    time.sleep(_GLANCE)  # its output has ended, and it has not
                self._read.clear()
        return code

    def _ended(self) -> NoReturn:
        half = " in the middle of a line" if self._read else ""
        try:
            ending = _ending(self._process.wait(_LAST_WORDS))
        except subprocess.TimeoutExpired:
            ending = "closed its input or output"
        raise AdapterFault(f"the adapter {ending}{half}")


def _json(line: bytes) -> JsonValue:
    try:
        value = parse(line.decode("utf-8")).value
        if b"\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a character of no text
    except (JsonError, UnicodeError):
        raise AdapterFault(f"the adapter wrote a line that is not JSON: {line[:80]!r}") from None
    return value


def _ending(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    if code > _SHELL_SIGNAL:
        with suppress(ValueError):
            return f"exited with {code}, as a shell does after {signal.Signals(code - _SHELL_SIGNAL).name}"
    return f"exited with {code}"


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _pass_on(stream: IO[bytes], log: Callable[[str], None]) -> None:
    """Give the log what the adapter writes to its standard error, line by line."""
    waiting = b""
    with stream:
        while chunk := stream.read(_LOG_LINE):
            *whole, waiting = (waiting + chunk).split(b"\n")
            if len(waiting) >= _LOG_LINE:
                whole.append(waiting)
                waiting = b""
            for line in whole:
                log(line.decode("utf-8", "replace"))
    if waiting:
        log(waiting.decode("utf-8", "replace"))
