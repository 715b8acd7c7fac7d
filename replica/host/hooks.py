"""The programs a person's configuration names, each with what it is told.

Imported where one is configured: most commands run none.
"""

from pathlib import Path
from typing import Final

from core.host import WakeError
from core.message import Message
from core.presentation import digest_text
from replica.host import effects
from replica.host.desktop import show_on_desktop
from replica.host.programs import ProgramError, directory_variables, run_program

NOTIFY_SECONDS: Final = 10.0
"""How long a notifier may take; whoever sends or syncs waits for it."""

WAKE_SECONDS: Final = 60.0
"""How long a wake command may take to start a session, which goes on without it."""

GATES_SECONDS: Final = 30.0
"""How long the command that is told of a decision may take; whoever answers waits for it."""


def wake(command: str, root: Path, target: str, work_item: str | None, message: Message) -> None:
    """Have a session started. Raises WakeError with the first line the command said of why it was not."""
    variables = {
        "DMP_TARGET": target,
        "DMP_WORK_ITEM": work_item or "",
        "DMP_MESSAGE": message.id,
        **directory_variables(root),
    }
    try:
        run_program(command, "", variables, seconds=WAKE_SECONDS)
    except ProgramError as error:
        raise WakeError(str(error)) from error


def tell_decision(command: str, root: Path, gate: Message, answer: Message) -> None:
    """Tell of a decision. Raises ProgramError."""
    line = effects.decision_line(gate, answer)
    run_program(command, line, directory_variables(root), seconds=GATES_SECONDS)


def notify(command: str, root: Path, message: Message) -> None:
    """Tell a person that a message arrived. Raises ProgramError."""
    digest = digest_text(message, external=message.origin is not None)
    variables = {"DMP_MESSAGE": message.id, **directory_variables(root)}
    run_program(command, f"{digest}\n", variables, seconds=NOTIFY_SECONDS)


def notify_desktop(message: Message) -> None:
    """Show a notice that a message arrived. Raises what `subprocess.run` does."""
    show_on_desktop(message, seconds=NOTIFY_SECONDS)
