"""Where a session's mail goes: to standard output, or to a command for each message.

A reader that is slow holds the session up, but cannot keep it from ending: nothing here waits for one that
takes nothing once the session is over.
"""

import json
import os
import select
import sys
from collections.abc import Callable
from typing import Final, TextIO

from crypto.canonical import JsonValue
from replica.cli.context import Cli
from replica.cli.text import body_lines
from replica.host.attach import Given
from replica.host.programs import ProgramError, directory_variables, run_program
from replica.host.sessions import Session
from replica.host.shapes import message_json
from replica.node import DirectoryNode

EXEC_SECONDS: Final = 60.0
"""How long a command may take over one message before it counts as failed."""

_LOOK_MS: Final = 40
"""How often it looks whether the session is over while nobody reads, in milliseconds."""


class Outlet:
    """Gives what a session is given on.

    `stopped` says that this process is to end at once. A session that was ended takes nothing more, but the
    command that has a message finishes it.
    """

    def __init__(
        self, cli: Cli, node: DirectoryNode, one: Session, command: str | None, stopped: Callable[[], bool]
    ) -> None:
        self._cli = cli
        self._session = one
        self._command = command
        self._stopped = stopped
        self._sessions = node.host.sessions_here
        self._root = node.directory.root
        self._host = node.host

    def give(self, given: Given) -> None:
        """Give a message on. Raises where that fails, which leaves it for the next session."""
        if self._over():
            raise ProgramError("the session ended")
        failed: ProgramError | None = None
        if self._command is not None:
            try:
                self._run(self._command, given)
            except ProgramError as error:
                failed = error
        if self._cli.as_json:
            self.document(
                {
                    "form": _form(given),
                    "text": given.text,
                    "message": message_json(self._host, given.message),
                    "failed": None if failed is None else str(failed),
                }
            )
        elif self._command is None:
            write(shown(given), self._over)
        if failed is not None:
            self.note(f"dmp: {given.message.id} waits, since the command failed: {failed}")
            raise failed

    def document(self, value: JsonValue) -> None:
        """Write one JSON document on one line."""
        write(f"{json.dumps(value)}\n", self._over)

    def note(self, line: str) -> None:
        """Say something beside the mail, unless nobody takes it."""
        if _takes(sys.stderr, 0):
            self._cli.screen.note(line)

    def _over(self) -> bool:
        return self._stopped() or not self._sessions.need(self._session.address).marked_live

    def _run(self, command: str, given: Given) -> None:
        variables = {
            "DMP_SESSION": self._session.address,
            "DMP_WORK_ITEM": self._session.task or "",
            "DMP_MESSAGE": given.message.id,
            "DMP_FORM": _form(given),
            **directory_variables(self._root),
        }
        run_program(
            command,
            f"{given.text}\n",
            variables,
            seconds=EXEC_SECONDS,
            ended=self._stopped,
            quiet=self._cli.as_json,
        )


def shown(given: Given) -> str:
    """What a session is given: as it is, but on a terminal, where nothing in it may act."""
    text = given.text
    if os.isatty(1):
        text = "\n".join(body_lines(text))
    return f"{text}\n\n" if given.pushed else f"{text}\n"


def write(text: str, over: Callable[[], bool]) -> None:
    """Write to standard output at once, as fast as it is taken.

    Raises ProgramError where the session is over before all of it is taken, and OSError where nobody can read it.
    """
    sys.stdout.flush()
    descriptor = sys.stdout.fileno()
    left = memoryview(text.encode(sys.stdout.encoding, "backslashreplace"))
    while left:
        if _takes(sys.stdout, _LOOK_MS):
            left = left[os.write(descriptor, left[: select.PIPE_BUF]) :]  # a write of so much never waits
        elif over():
            raise ProgramError("the session ended before this was read")


def _takes(stream: TextIO, milliseconds: int) -> bool:
    """Wait, and say whether a stream takes something, or fails at once to."""
    poll = select.poll()
    poll.register(stream.fileno(), select.POLLOUT)
    return bool(poll.poll(milliseconds))


def _form(given: Given) -> str:
    return "push" if given.pushed else "digest"
