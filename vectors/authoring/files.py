"""Which vectors go into which file."""

import json
from pathlib import Path
from typing import Final

from vectors.authoring import canonical, chains, entries, keys, rosters, seals
from vectors.authoring.kit import Json, file_of

FOLDER: Final = Path(__file__).parent.parent / "federation"

AREAS: Final[dict[str, list[Json]]] = {
    "canonical": canonical.VECTORS,
    "entries": entries.VECTORS,
    "logs": chains.LOGS,
    "lanes": chains.LANES,
    "claims": chains.CLAIMS,
    "seals": seals.VECTORS,
    "keys": keys.KEYS,
    "clocks": keys.CLOCKS,
    "rosters": rosters.VECTORS,
}


def contents() -> dict[str, str]:
    """The name and the text of every file."""
    return {
        f"{area}.json": json.dumps(file_of(area, vectors), indent=1, ensure_ascii=True) + "\n"
        for area, vectors in AREAS.items()
    }


def write() -> None:
    """Write every file."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in contents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
