"""The systemd user unit of a service: what stands in it, and where it is.

A user's manager cannot make a file system of its own for a unit without privileges, so what hardens it is what a
process can give up by itself. What the unit starts, a wake command's agent for one, is bound by the same.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.errors import Code, DmpError

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

_PLAIN: Final = re.compile(r"[\w/ .+@-]+")

_TEXT: Final = """\
# Written by `dmp service install`; `dmp service uninstall` removes it.
[Unit]
Description=DMP replica in {described}
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={command} serve
Environment={directory}
Restart=on-failure
RestartSec=5
TimeoutStopSec=20
# What a wake command started goes on when the service is started anew.
KillMode=process
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit by its name, `dmp` for `dmp.service`, that serves the replica at `root`."""

    name: str
    root: Path

    @property
    def path(self) -> Path:
        """Where it is: `$XDG_CONFIG_HOME/systemd/user`, by default under `~/.config`."""
        base = os.environ.get("XDG_CONFIG_HOME")
        folder = Path(base) if base else Path.home() / ".config"
        return folder / "systemd" / "user" / f"{self.name}.service"

    @property
    def text(self) -> str:
        """What stands in it."""
        return _TEXT.format(
            described=_specified(str(self.root)),
            command=_command(program()),
            directory=_quoted(f"DMP_DIR={self.root}"),
        )

    @property
    def is_installed(self) -> bool:
        """Whether it is there, for this very replica."""
        try:
            found = self.path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        return f"Environment={_quoted(f'DMP_DIR={self.root}')}" in found.splitlines()

    def install(self) -> None:
        """Write it, or write it anew. Raises DmpError `conflict` where a unit of the name is for something else."""
        self._need_own()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.new")
        unfinished.write_text(self.text, encoding="utf-8")
        unfinished.replace(self.path)

    def uninstall(self) -> bool:
        """Remove it; False where there is none. Raises DmpError `conflict` where it is for something else."""
        self._need_own()
        if not self.path.exists():
            return False
        self.path.unlink()
        return True

    def _need_own(self) -> None:
        if self.path.exists() and not self.is_installed:
            raise DmpError(
                Code.CONFLICT, f"{self.path} is not of this replica; choose another name with --name", "name"
            )


def program() -> list[str]:
    """How `dmp` is run by whoever finds nothing in a PATH."""
    script = Path(sys.executable).with_name("dmp")
    return [str(script)] if script.exists() else [sys.executable, "-m", "replica.cli.main"]


def _command(words: list[str]) -> str:
    if _PLAIN.fullmatch(words[0]) is None:  # systemd takes no such name for a program
        words = ["/usr/bin/env", *words]
    return " ".join(_quoted(each).replace("$", "$$") for each in words)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_specified(escaped)}"'


def _specified(text: str) -> str:
    """A text in which no specifier is seen. Raises DmpError `invalid` for what no unit can hold."""
    if not text.isprintable():
        raise DmpError(Code.INVALID, f"no unit can name {text!a}: it holds what cannot be printed")
    return text.replace("%", "%%")
