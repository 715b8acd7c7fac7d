"""Faults as a file says them (TOML), for `dmp sync --faults`; docs/transports.md describes the file.

`seed` draws what is struck and, with `passes`, the faults of so many passes. Otherwise each `[[step]]` names its
faults, and what narrows them. A name that means nothing here is refused, so that no fault is thought to be on
that is not.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from transports.base import Transport
from transports.faults import Fault, FaultyTransport, Step, drawn_steps
from transports.lines import complete_lines, lane_of

_VERSION_BYTES: Final = 32 * 1024 * 1024


class SpecError(ValueError):
    """A file of faults that cannot be used; the text says where and why."""


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """Which faults strike when, and the seed of everything left to chance."""

    seed: int
    steps: tuple[Step, ...]

    def around(self, inner: Transport, own: str = "") -> FaultyTransport:
        """Put these faults in front of a transport; `own` is the lane of whoever reads there."""
        return FaultyTransport(inner, self.steps, Random(self.seed), own=own)


def read_faults(path: Path) -> FaultSpec:
    """Read a file of faults. Raises SpecError and OSError."""
    try:
        members = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} is no TOML: {error}") from None
    _known(members, {"seed", "passes", "step"}, str(path))
    seed = _whole(members, "seed", str(path), least=0) or 0
    passes = _whole(members, "passes", str(path), least=1)
    tables = members.get("step", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SpecError(f"{path}: a step begins with [[step]]")
    if (passes is None) == (not tables):
        raise SpecError(f"{path}: give either `passes`, for faults drawn from the seed, or [[step]]s")
    if passes is not None:
        return FaultSpec(seed, tuple(drawn_steps(seed, passes)))
    return FaultSpec(
        seed, tuple(_step(table, f"{path}: step {at}", path.parent) for at, table in enumerate(tables, 1))
    )


_STEP: Final = frozenset(("faults", "from", "until", "count", "lanes", "share", "version"))


def _step(table: Mapping[str, object], place: str, folder: Path) -> Step:
    _known(table, _STEP, place)
    faults = _texts(table, "faults", place)
    unknown = [name for name in faults if name not in set(Fault)]
    if not faults or unknown:
        raise SpecError(
            f"{place}: {f'no such fault: {unknown[0]}' if unknown else '`faults` is missing'}; "
            f"there are {', '.join(Fault)}"
        )
    version = table.get("version")
    if (Fault.FORK in faults) != isinstance(version, str):
        raise SpecError(
            f"{place}: a fork goes on with signed lines: name their file as `version`, and only for a fork"
        )
    share = table.get("share", 0.3)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise SpecError(f"{place}: `share` is a number above 0, and at most 1")
    first = _whole(table, "from", place, least=1) or 1
    return Step(
        frozenset(Fault(name) for name in faults),
        first,
        _whole(table, "until", place, least=first),
        _whole(table, "count", place, least=1),
        frozenset(_texts(table, "lanes", place)),
        float(share),
        _versions(folder / version) if isinstance(version, str) else {},
    )


def _versions(path: Path) -> dict[str, list[bytes]]:
    """The lines of a file, by the lane each names."""
    found: dict[str, list[bytes]] = {}
    with path.open("rb") as file:
        data = file.read(_VERSION_BYTES + 1)
    if len(data) > _VERSION_BYTES:
        raise SpecError(f"{path} is longer than {_VERSION_BYTES // 1024 // 1024} MiB")
    for number, raw in enumerate(complete_lines(data), 1):
        lane = lane_of(raw)
        if lane is None:
            raise SpecError(f"{path}: line {number} is no line of a lane")
        found.setdefault(lane, []).append(raw)
    return found


def _known(table: Mapping[str, object], names: frozenset[str] | set[str], place: str) -> None:
    for name in table:
        if name not in names:
            raise SpecError(f"{place}: `{name}` means nothing here; what does is {', '.join(sorted(names))}")


def _whole(table: Mapping[str, object], name: str, place: str, *, least: int) -> int | None:
    value = table.get(name)
    if value is None:
        return None
    if type(value) is not int or value < least:
        raise SpecError(f"{place}: `{name}` is a whole number, at least {least}")
    return value


def _texts(table: Mapping[str, object], name: str, place: str) -> list[str]:
    value = table.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SpecError(f"{place}: `{name}` is a list of texts")
    return value
