"""A fault, and the files that hold them all. Nothing here imports what a fault may change."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(__file__).parent


class StaleError(Exception):
    """A fault whose place in the source is no longer there, or no longer the only one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One place of the source, changed.

    `file` is its path from the project's root; `says` is a sentence of what the host then does; `old` occurs once
    in the file and becomes `new`; `caught_by` are ids of the project's own vectors that fail by it. Where there are
    none, `seed` is that of a simulated team that breaks a promise by it, or `test` the id of a test that fails by it.
    """

    name: str
    file: str
    says: str
    old: str
    new: str
    caught_by: tuple[str, ...]
    seed: int | None = None
    test: str | None = None

    @property
    def home(self) -> Path:
        """The file that holds it: that of the package it is planted in."""
        return FOLDER / f"{self.file.partition('/')[0]}.json"

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
                f"Write it anew in {self.home.name}, or take it out where the rule is gone:\n{self.old}"
            )
        return source.replace(self.old, self.new)


def read_faults() -> list[Fault]:
    """Return every fault, file by file in the order of their names, each in its own order."""
    return [
        Fault(**{**each, "caught_by": tuple(each["caught_by"])})
        for path in sorted(FOLDER.glob("*.json"))
        for each in json.loads(path.read_text("utf-8"))
    ]


def write_faults(faults: Iterable[Fault]) -> None:
    """Write the files anew."""
    raw: dict[Path, list[dict[str, object]]] = {}
    for each in faults:
        raw.setdefault(each.home, []).append(_raw(each))
    for path, found in raw.items():
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _raw(fault: Fault) -> dict[str, object]:
    found: dict[str, object] = {
        "name": fault.name,
        "file": fault.file,
        "says": fault.says,
        "old": fault.old,
        "new": fault.new,
        "caught_by": list(fault.caught_by),
    }
    found |= {} if fault.seed is None else {"seed": fault.seed}
    return found if fault.test is None else {**found, "test": fault.test}
