"""Comparing and joining texts, by the git that is needed anyway: `git diff` and `git merge-file`.

Both run in an empty folder of their own, with no configuration and no attributes of anybody's, and on texts that
others wrote, so for no longer than TEXT_SECONDS.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.errors import Code, DmpError, invalid

TEXT_SECONDS: Final = 60.0
"""How long git may take over one text."""

_MERGE_FAILED: Final = 128
"""Exit codes from here on are failures; smaller ones count conflicts."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the texts that are joined, and what its parts are called where they conflict."""

    label: str
    body: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A text, and how many parts of it conflict, which are marked in it."""

    body: str
    conflicts: int


def diff(old: str, new: str, old_name: str, new_name: str) -> list[str]:
    """The lines of a unified diff of two texts; none where they are equal.

    Raises DmpError `unavailable` where git does not do it.
    """
    if old == new:
        return []
    options = ("--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--text", "--no-prefix")
    with tempfile.TemporaryDirectory(prefix="dmp-") as folder:
        _write(folder, "old", old)
        _write(folder, "new", new)
        done = _git(folder, "diff", *options, "--", "old", "new")
    if done.returncode not in (0, 1):
        raise _failed("diff")
    # Git's own lines are about files that nobody has; the text starts with the first `@@`.
    lines = _text(done.stdout).removesuffix("\n").split("\n")
    start = next((index for index, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return [f"--- {old_name}", f"+++ {new_name}", *lines[start:]]


def join(base: Side, ours: Side, theirs: Side) -> Joined:
    """Join what two texts made of a third. What both changed is in it twice, between marks.

    Raises DmpError: `invalid` on `doc` for what is no text to git, `unavailable` where it does not do it.
    """
    if "\0" in base.body + ours.body + theirs.body:
        raise invalid("doc", "a text with NUL characters is not joined by parts; take one side with --take")
    sides = {"ours": ours, "base": base, "theirs": theirs}
    labels = [part for side in sides.values() for part in ("-L", side.label)]
    with tempfile.TemporaryDirectory(prefix="dmp-") as folder:
        for name, side in sides.items():
            _write(folder, name, side.body)
        done = _git(folder, "merge-file", "-p", "--diff3", *labels, "--", *sides)
    if not 0 <= done.returncode < _MERGE_FAILED:
        raise _failed("merge-file")
    return Joined(_text(done.stdout), done.returncode)


def is_undecided(body: str, labels: Sequence[str]) -> bool:
    """Whether a text still has marks of conflicts between sides of these labels."""
    marks = {f"{mark} {label}" for mark in ("<" * 7, ">" * 7) for label in labels}
    return any(line.rstrip("\r") in marks for line in body.split("\n"))


def _write(folder: str, name: str, body: str) -> None:
    (Path(folder) / name).write_bytes(body.encode())


def _text(out: bytes) -> str:
    return out.decode("utf-8", "replace")


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": folder,
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(Path(folder).resolve().parent),
    }
    try:
        return subprocess.run(
            ["git", "-c", f"core.attributesFile={os.devnull}", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TEXT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise DmpError(Code.UNAVAILABLE, "git was not found; install git 2.34 or newer") from None
    except subprocess.TimeoutExpired:
        raise DmpError(
            Code.UNAVAILABLE, f"git took longer than {TEXT_SECONDS:.0f} seconds over that text"
        ) from None


def _failed(what: str) -> DmpError:
    return DmpError(Code.UNAVAILABLE, f"git {what} failed on that text")
