"""Proofs of the forks that were met here: one for a key, kept whatever becomes of its log (`crypto.fork_proof`)."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from crypto.fork_proof import ForkProof, read_proof
from replica.records import subjects
from replica.records.problems import Problem


@dataclass(frozen=True, slots=True)
class Kept:
    """A proof, and when its fork was first met."""

    proof: ForkProof
    at: str


def keep(db: sqlite3.Connection, proof: ForkProof, at: str) -> None:
    """Keep a proof inside an open transaction; of a key that has one, that one stays."""
    db.execute(
        "INSERT OR IGNORE INTO fork_proofs (replica, fingerprint, proof, at) VALUES (?, ?, ?, ?)",
        (proof.replica, proof.key.fingerprint, proof.to_bytes(), at),
    )


def kept(db: sqlite3.Connection, replica: str | None = None) -> list[Kept]:
    """The proofs that are kept, or those against one replica's keys, by replica and fingerprint."""
    rows = db.execute(
        "SELECT proof, at FROM fork_proofs WHERE ? IS NULL OR replica = ? ORDER BY replica, fingerprint",
        (replica, replica),
    )
    return [Kept(read_proof(bytes(proof)), at) for proof, at in rows]


def proven(db: sqlite3.Connection, found: Iterable[Problem]) -> set[str]:
    """The subjects of those problems that tell of a fork of which there is a proof."""
    against = {replica for (replica,) in db.execute("SELECT DISTINCT replica FROM fork_proofs")}
    kinds = (subjects.HALT, subjects.OWN_STOPPED)
    return {each.subject for each in found if each.kind in kinds and each.replica in against}
