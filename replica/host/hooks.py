"""The programs a person's configuration names, each with what it is told.

Imported where one is configured: most commands run none.
"""

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Final

from core.host import WakeError
from core.message import Message
from core.presentation import digest_text
from replica.home import locks
from replica.home.directory import Directory
from replica.host import effects
from replica.host.desktop import show_on_desktop
from replica.host.programs import ProgramError, SlowError, directory_variables, run_program

NOTIFY_SECONDS: Final = 10.0
"""How long a notifier may take; whoever sends or syncs waits for it."""

WAKE_SECONDS: Final = 60.0
"""How long a wake command may take to start a session, which goes on without it."""

GATES_SECONDS: Final = 30.0
"""How long the command that is told of a decision may take; whoever answers waits for it."""

REST_SECONDS: Final = 600.0
"""How long a command that took too long is not run again: much mail may be behind this one, and every command
that sends something tries again what was not done."""

WAKE_REST_SECONDS: Final = 60.0
"""The same for the wake command, which a person waits for and asks for again."""

DESKTOP: Final = "(desktop)"


@dataclass(frozen=True, slots=True)
class Hooks:
    """The programs of one replica.

    `ended` says that this process is to end, and waits for none of them any more.
    """

    directory: Directory
    ended: Callable[[], bool]

    def wake(self, command: str, target: str, work_item: str | None, message: Message) -> None:
        """Have a session started, which one process does at a time for one target.

        Raises WakeError with the first line the command said of why it was not.
        """
        variables = {"DMP_TARGET": target, "DMP_WORK_ITEM": work_item or "", "DMP_MESSAGE": message.id}
        lock = locks.take(self.directory.waking / target)
        if lock is None:  # a command that asks for what it is to do would be run without end
            raise WakeError("it is being woken already")
        try:
            self._run(command, "", variables, WAKE_SECONDS, WAKE_REST_SECONDS)
        except ProgramError as error:
            raise WakeError(str(error)) from error
        finally:
            lock.release()

    def tell_decision(self, command: str, gate: Message, answer: Message) -> None:
        """Tell of a decision. Raises ProgramError."""
        self._run(command, effects.decision_line(gate, answer), {}, GATES_SECONDS)

    def notify(self, command: str, message: Message, remote: str | None = None) -> None:
        """Tell a person that a message arrived, from the replica of `remote`. Raises ProgramError."""
        digest = digest_text(message, remote=remote)
        self._run(command, f"{digest}\n", {"DMP_MESSAGE": message.id}, NOTIFY_SECONDS)

    def notify_desktop(self, message: Message) -> None:
        """Show a notice that a message arrived. Raises ProgramError, and what `subprocess.run` does."""
        self._check_rest(DESKTOP, REST_SECONDS)
        try:
            show_on_desktop(message, seconds=NOTIFY_SECONDS)
        except TimeoutExpired:
            self._rest(DESKTOP)
            raise

    def _run(
        self, command: str, given: str, variables: dict[str, str], seconds: float, rest: float = REST_SECONDS
    ) -> None:
        self._check_rest(command, rest)
        variables |= directory_variables(self.directory.root)
        try:
            run_program(command, given, variables, seconds=seconds, ended=self.ended)
        except SlowError:
            self._rest(command)
            raise

    def _rest(self, command: str) -> None:
        """Note, for every process, that a command took too long just now."""
        with suppress(OSError):
            self.directory.resting.mkdir(mode=0o700, exist_ok=True)
            mark = self._mark(command)
            mark.touch(mode=0o600)
            os.utime(mark, (time.time(), time.time()))

    def _check_rest(self, command: str, seconds: float) -> None:
        try:
            ago = time.time() - self._mark(command).stat().st_mtime
        except OSError:
            return
        if 0 <= ago < seconds:  # a mark of a time to come is of a clock that was set back
            raise ProgramError("it took too long a moment ago, and is left alone for now")

    def _mark(self, command: str) -> Path:
        return self.directory.resting / hashlib.sha256(command.encode()).hexdigest()[:16]
