"""What a person hands in: words from standard input, and codes that they copied or heard."""

import sys
from typing import BinaryIO, Final

import click

from core.errors import invalid
from core.validate import MAX_BODY_BYTES
from crypto.encoding import CROCKFORD
from crypto.keys import grouped

STDIN: Final = "-"

_LONGEST: Final = MAX_BODY_BYTES + len("\r\n")
"""Bytes of standard input that may still be a body, with the line break at its end."""

_FINGERPRINT_CHARACTERS: Final = 24
_MISREAD: Final = str.maketrans("OIL", "011", " -\t")
"""Letters that base 32 has no use for, as what they were meant to be; dashes and spaces are left out."""


def body(text: str) -> str:
    """Return a body as it was typed, or for `-` what standard input gives, without its last line break.

    Raises DmpError `invalid` on `body` for what is no UTF-8, and for what is too long to be read whole.
    """
    if text != STDIN:
        if any("\udc80" <= char <= "\udcff" for char in text):  # how Python keeps bytes it cannot read
            raise invalid("body", "the text is not written in this terminal's encoding; use UTF-8")
        return text
    read = _stdin("body").read(_LONGEST + 1)
    if len(read) > _LONGEST:
        raise invalid("body", f"the body may take {MAX_BODY_BYTES} bytes; standard input gave more")
    try:
        return read.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise invalid("body", "what standard input gave is no UTF-8 text") from None


def invite_code(text: str) -> str:
    """Return an invite code as it was made; `-` stands for a line of standard input.

    A code that names no relay ends in a dot, which is easily lost where a code is copied.
    """
    code = text if text != STDIN else _stdin("code").readline().decode(errors="replace")
    code = code.strip()
    return f"{code}." if code.count(".") == 2 else code


def recovery_code() -> str:
    """Return a recovery code that a person types when asked, or a line of standard input where nobody sits there.

    It is shown while it is typed: it is long, it is read from paper, and it opens nothing once it was used. Raises
    DmpError `invalid` on `code` where standard input holds nothing.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        return str(click.prompt("Recovery code", err=True, prompt_suffix=": "))
    code = _stdin("code").readline().decode(errors="replace").strip()
    if not code:
        raise invalid("code", "standard input gave no code; type it on a terminal, or hand it in by a pipe")
    return code


def fingerprint(text: str) -> str:
    """Return a fingerprint as it is shown, from how somebody wrote it down: in either case, dashes or not.

    Raises DmpError `invalid` on `fingerprint` for what cannot be one.
    """
    found = text.upper().translate(_MISREAD) if text.isascii() else ""
    if len(found) != _FINGERPRINT_CHARACTERS or not set(found) <= set(CROCKFORD):
        raise invalid("fingerprint", "a fingerprint is six groups of four letters and digits")
    return grouped(found)


def _stdin(field: str) -> BinaryIO:
    if sys.stdin is None:  # it was closed before the command started
        raise invalid(field, "standard input is closed")
    return sys.stdin.buffer
