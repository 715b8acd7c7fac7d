"""Proofs of the forks in a source: those its owner kept, and those its lines still show."""

from collections.abc import Iterable

from crypto.fork_proof import ForkProof, find_proof
from crypto.op import Unverified
from replica.audit.reading import Reading
from replica.audit.report import Fault, Trouble


def proofs_in(reading: Reading, replicas: Iterable[str]) -> list[ForkProof]:
    """What proves that the keys of these replicas signed two histories, of those that did."""
    return [
        found for each in replicas if (found := proof_in(reading, each, fault_in(reading, each))) is not None
    ]


def fault_in(reading: Reading, replica: str) -> Fault | None:
    """Why the chain of a replica does not verify to its end, where its key is decided."""
    key = reading.key(replica)
    return None if key is None else reading.fault(replica, key, reading.walk(replica, key))


def proof_in(reading: Reading, replica: str, fault: Fault | None) -> ForkProof | None:
    """What proves that the key decided for a replica signed two histories; None where nothing does.

    `fault` is what is wrong with its chain. A proof that the owner of the source kept may be of a key that was decided
    for before.
    """
    key = reading.key(replica)
    kept = [each for each in reading.source.record.proofs if each.replica == replica]
    kept.sort(key=lambda each: key is None or each.key.fingerprint != key.fingerprint)
    if kept:
        return kept[0]
    seq = _forks_at(reading, replica, fault)
    announced = None if key is None else reading.survey.key_op(replica, key.fingerprint)
    if seq is None or announced is None:
        return None
    there = reading.evidence(replica, seq)
    return find_proof(
        announced,
        [each.read.entry() for each in there if each.authentic and isinstance(each.read, Unverified)],
    )


def _forks_at(reading: Reading, replica: str, fault: Fault | None) -> int | None:
    """From which seq on there are two histories, whether one of them counts or not."""
    if reading.team is not None and replica in reading.team.forks:
        return reading.team.forks[replica].seq
    return None if fault is None or fault.trouble is not Trouble.FORK else fault.seq
