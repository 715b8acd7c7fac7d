"""Which vectors go into which file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vectors.authoring.federation import (
    acknowledging,
    canonical,
    chains,
    contests,
    documenting,
    documenting_here,
    entering,
    entries,
    following,
    homes,
    keys,
    local_only,
    receive_checks,
    receive_mail,
    receive_work,
    remembering,
    remembering_here,
    reporting,
    rosters,
    seals,
    settle_elsewhere,
    settle_here,
    sharing,
    speaking,
)
from vectors.authoring.kit import Json, file_of

FOLDER: Final = Path(__file__).parents[2] / "federation"

AREAS: Final[dict[str, list[Json]]] = {
    "canonical": canonical.VECTORS,
    "entries": entries.VECTORS,
    "logs": chains.LOGS,
    "lanes": chains.LANES,
    "claims": chains.CLAIMS,
    "seals": seals.VECTORS,
    "keys": keys.KEYS,
    "acks": acknowledging.VECTORS,
    "clocks": keys.CLOCKS,
    "rosters": rosters.VECTORS,
    "team": following.VECTORS,
    "entering": entering.VECTORS,
    "homes": homes.VECTORS,
    "speaks-for": speaking.VECTORS,
    "local-only": local_only.VECTORS,
    "receive": [*receive_mail.VECTORS, *receive_checks.VECTORS, *receive_work.VECTORS],
    "settlement": [*settle_here.VECTORS, *settle_elsewhere.VECTORS],
    "state-merge": reporting.VECTORS,
    "shared-state": sharing.VECTORS,
    "memory": remembering.VECTORS,
    "memory-here": remembering_here.VECTORS,
    "documents": documenting.VECTORS,
    "documents-here": documenting_here.VECTORS,
}

CONTESTS: Final = {
    "contests-of-two": contests.TWO,
    "contests-of-three": contests.THREE,
    "contests-with-a-third": contests.THIRDS,
    "contests-of-sixteen": rosters.KNOTS,
}
"""Files of many small vectors, which are written one to a line."""


def contents() -> dict[str, str]:
    """The name and the text of every file."""
    whole = {
        f"{area}.json": json.dumps(file_of(area, vectors), indent=1, ensure_ascii=True) + "\n"
        for area, vectors in AREAS.items()
    }
    return whole | {f"{area}.json": _by_line(area, vectors) for area, vectors in CONTESTS.items()}


def _by_line(area: str, vectors: Sequence[Json]) -> str:
    head = json.dumps(file_of(area, []), indent=1).removesuffix("]\n}")
    lines = (json.dumps(each, ensure_ascii=True, separators=(",", ":")) for each in vectors)
    return head + "\n" + ",\n".join(lines) + "\n ]\n}\n"


def write() -> None:
    """Write every file."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in contents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
