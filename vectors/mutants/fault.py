"""A fault, and the file that holds them all. Nothing here imports what a fault may change."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FAULTS: Final = Path(__file__).with_name("faults.json")


class StaleError(Exception):
    """A fault whose place in the source is no longer there, or no longer the only one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One place of the source, changed.

    `file` is its path from the project's root; `says` is a sentence of what the host then does; `old` occurs once
    in the file and becomes `new`; `caught_by` are ids of the project's own vectors that fail by it.
    """

    name: str
    file: str
    says: str
    old: str
    new: str
    caught_by: tuple[str, ...]

    @property
    def module(self) -> str:
        """The module of its file."""
        return self.file.removesuffix(".py").replace("/", ".")

    def plant(self, source: str) -> str:
        """Return the source with the fault in it. Raises StaleError."""
        count = source.count(self.old)
        if count != 1:
            raise StaleError(
                f"the fault {self.name} no longer fits {self.file}: its text occurs {count} times, not once. "
                f"Write it anew in {FAULTS.name}, or take it out where the rule is gone:\n{self.old}"
            )
        return source.replace(self.old, self.new)


def read_faults() -> list[Fault]:
    """Return every fault, in the order of the file."""
    return [
        Fault(**{**each, "caught_by": tuple(each["caught_by"])})
        for each in json.loads(FAULTS.read_text("utf-8"))
    ]


def write_faults(faults: Iterable[Fault]) -> None:
    """Write the file anew."""
    raw = [
        {
            "name": each.name,
            "file": each.file,
            "says": each.says,
            "old": each.old,
            "new": each.new,
            "caught_by": list(each.caught_by),
        }
        for each in faults
    ]
    FAULTS.write_text(json.dumps(raw, indent=2, ensure_ascii=False) + "\n", "utf-8")
