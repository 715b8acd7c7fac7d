"""A notice on the desktop that mail came in.

It says from whom and of which kind, and nothing of the body: a command line is for everybody on the machine
to read.
"""

import shutil
import subprocess
from typing import Final

from core.message import Message

_PROGRAM: Final = "notify-send"


def show_on_desktop(message: Message, *, seconds: float) -> None:
    """Show a notice, where the machine has the program for it. Raises what `subprocess.run` does."""
    program = shutil.which(_PROGRAM)
    if program is None:
        return
    said = f"{message.kind} from {message.sender} ({message.id})"
    subprocess.run(
        [program, "--app-name=dmp", "--", "dmp", said],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=True,
    )
