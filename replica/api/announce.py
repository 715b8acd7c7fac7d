"""The file by which processes of this machine find the running host, and ask to be let in (section A.1).

Whoever can read it may register an agent, and no more: the token in it neither sends nor reads.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from replica.api import tokens
from replica.home.private import write_private
from replica.node import opened

FILE: Final = "api.json"


@dataclass(frozen=True, slots=True)
class Announced:
    """Where the host is reached, and the token that is nobody's."""

    url: str
    token: str


def announce(root: Path, url: str) -> None:
    """Say that the replica at `root` is served at `url`, with a new token. Raises DmpError, OSError."""
    with opened(root) as node:
        made = tokens.shared(node)
    write_private(root / FILE, json.dumps({"url": url, "token": made.secret}))


def announced(root: Path) -> Announced | None:
    """What was said last; whether the host still runs is for its lock to tell. None where nothing was."""
    try:
        told = json.loads((root / FILE).read_text(encoding="utf-8"))
        return Announced(str(told["url"]), str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
