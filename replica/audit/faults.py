"""Why a chain does not verify to its end, in a sentence a person can act on."""

from core.timestamp import timestamp
from crypto.chain import PREV_MISMATCH, SHARED_SEQ, Halt
from crypto.judge import CUT_MISMATCH
from crypto.walk import Outcome
from replica.audit.report import Fault, Trouble


def fault_of(replica: str, outcome: Outcome, cut: int | None, now_ms: int) -> Fault | None:
    """Return the fault a walk ended with, None where the chain verifies to its end.

    `cut` is the last seq that a revocation leaves standing. What comes after it is nobody's concern; that the
    chain does not even reach it is.
    """
    fault = _fault(replica, outcome, now_ms)
    if cut is None:
        return fault
    if fault is not None and fault.reason != CUT_MISMATCH and _is_past(fault, cut):
        fault = None
    head = 0 if outcome.head is None else outcome.head.seq
    return _short(replica, head, cut) if fault is None and head < cut else fault


def undecided(replica: str, fingerprints: tuple[str, ...], count: int) -> Fault:
    """Several keys were announced for an id that was never admitted, so none of their chains is read."""
    which = ", ".join(fingerprints) + (" and others" if count > len(fingerprints) else "")
    return Fault(
        Trouble.UNDECIDED,
        None,
        "undecided key",
        f"{replica} rests on an undecided key: {count} were announced for it ({which}) and nobody has admitted "
        "one, so its chain was not read. An admission by the fingerprint of its owner's machine decides.",
    )


def without_key(replica: str, bad_key: Halt | None) -> Fault:
    """Nothing of a chain can be verified without its key op."""
    if bad_key is None:
        return Fault(
            Trouble.NO_KEY,
            None,
            "no key op",
            f"{replica} has no key op there, and without it nothing else of its chain can be verified.",
        )
    return Fault(
        Trouble.NO_KEY,
        bad_key.seq,
        bad_key.reason,
        f"the key op of {replica} at seq {bad_key.seq} does not verify ({bad_key.reason}), and without it nothing "
        "else of its chain can be.",
    )


def _fault(replica: str, outcome: Outcome, now_ms: int) -> Fault | None:
    after = 0 if outcome.head is None else outcome.head.seq
    if outcome.halt is not None:
        return _halted(replica, outcome.halt)
    if outcome.stall is not None:
        seq, reason = outcome.stall.seq, outcome.stall.reason
        return Fault(
            Trouble.STALL,
            seq,
            reason,
            f"{replica} stalls at seq {seq} ({reason}): what is there after seq {after} is not what its owner "
            "signed. An undamaged copy of it lets the chain go on.",
        )
    if outcome.held is not None:
        minutes = -(-(outcome.held.ms - now_ms) // 60_000)
        return Fault(
            Trouble.CLOCK,
            after,
            "clock ahead",
            f"{replica} waits after seq {after}: its next op is dated {timestamp(outcome.held.ms)}, about {minutes} "
            "minutes ahead of this machine's clock. One of the two clocks is wrong.",
        )
    if outcome.gap is not None:
        return Fault(
            Trouble.GAP,
            outcome.gap.seq,
            "an op is missing",
            f"{replica} has a gap: it signed an op at seq {outcome.gap.seq}, but what it follows, after seq "
            f"{after}, is not there. Its owner can publish it again.",
        )
    return None


def _halted(replica: str, halted: Halt) -> Fault:
    if halted.reason in (SHARED_SEQ, PREV_MISMATCH):
        return Fault(
            Trouble.FORK,
            halted.seq,
            halted.reason,
            f"{replica} forks at seq {halted.seq} ({halted.reason}): its key has signed two different histories, and "
            "neither counts from there on. A copy of it signed as well, or someone has its key; revoke it.",
        )
    return Fault(
        Trouble.HALT,
        halted.seq,
        halted.reason,
        f"{replica} halts at seq {halted.seq} ({halted.reason}): its own key signed what breaks a rule, and nothing "
        "counts from there on. Revoke it.",
    )


def _short(replica: str, head: int, cut: int) -> Fault:
    return Fault(
        Trouble.SHORT,
        cut,
        "ends before its cut",
        f"{replica} was revoked after seq {cut}, but its chain ends at seq {head} there: ops that were seen before "
        "are missing.",
    )


def _is_past(fault: Fault, cut: int) -> bool:
    """Whether a fault lies in what a revocation cut away."""
    assert fault.seq is not None
    return fault.seq >= cut if fault.trouble is Trouble.CLOCK else fault.seq > cut
