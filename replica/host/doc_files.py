"""Which revisions a file was written from, or became: what a text that is put again was made from."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path


def remember(db: sqlite3.Connection, path: Path, doc: str, revisions: Sequence[str]) -> None:
    """Note the revisions a file stands for now, inside an open transaction; several where it joins them."""
    db.execute(
        "INSERT OR REPLACE INTO doc_files (path, doc, rev) VALUES (?, ?, ?)",
        (_key(path), doc, " ".join(revisions)),
    )


def recall(db: sqlite3.Connection, path: Path) -> tuple[str, list[str]] | None:
    """The document of a file and the revisions it stands for; None for a file nobody told of."""
    row = db.execute("SELECT doc, rev FROM doc_files WHERE path = ?", (_key(path),)).fetchone()
    return None if row is None else (str(row[0]), str(row[1]).split(" "))


def _key(path: Path) -> bytes:
    return os.fsencode(path.resolve())
