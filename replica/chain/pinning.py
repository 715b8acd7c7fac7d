"""Which founding is followed, and so which team: the one there is, or the one that a person meant (4.5)."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from core.store import Store
from core.timestamp import timestamp
from crypto.chain import Cursor
from crypto.key_claims import key_claims
from crypto.roster.founding import Candidates, Founding, Pin, foundings
from crypto.roster.ops import RosterOp
from replica.quoting import quoted
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put

Lanes: TypeAlias = Mapping[str, Sequence[bytes]]
"""The lines that were pulled, by the replica whose lane they were in."""

_FOUNDINGS_SHOWN: Final = 4
_NAME_SHOWN: Final = 40


def pin_founding(store: Store, me: str, lanes: Lanes, now_ms: int) -> bool:
    """Follow a founding when exactly one can be meant, and keep the roster ops of its founder (4.5).

    Until this replica was admitted, or somebody said which one is meant, a second founding unpins the first:
    False then, since what was read of the others has to be pulled again.
    """
    db = store.db
    pinned = get(db, Meta.FOUNDING)
    if get(db, Meta.FIRM) == "1" and pinned is not None:
        return True
    seen = {
        claim.roster_op.hash: (claim.roster_op, claim.fingerprint)
        for replica, lines in lanes.items()
        for claim in key_claims(replica, lines)
        if claim.roster_op is not None
    }
    candidates = _chosen(
        foundings([RosterOp.of(*each) for each in seen.values()], invited_to=get(db, Meta.INVITED_TEAM)),
        get(db, Meta.TRUSTED),
    )
    if pinned is not None:
        if all(each.hash == pinned for each in candidates.foundings):
            return True
        with store.transaction(CommitPoint.PINNED):
            unpin(store, me)
        return False
    if candidates.provisional is not None:
        chosen = candidates.provisional
        with store.transaction(CommitPoint.PINNED):
            follow(store, chosen)
            ops.set_position(db, chosen.replica, ops.Position(chosen.fingerprint, Cursor()))
            ops.insert(db, seen[chosen.hash][0])
    elif candidates.pin is Pin.AMBIGUOUS:
        with store.transaction(CommitPoint.PROBLEM):
            text = _which(candidates)
            problems.note(db, problems.Problem(subjects.FOUNDING.of(), text, at=timestamp(now_ms)))
    return True


def _chosen(candidates: Candidates, trusted: str | None) -> Candidates:
    """What is left of them where a person said which founder is meant."""
    if trusted is None:
        return candidates
    return Candidates(tuple(each for each in candidates.foundings if each.fingerprint == trusted))


def _which(candidates: Candidates) -> str:
    """What there is to choose from. The names are text of the founders, of whom one may be an impostor."""
    shown = "; ".join(
        f"{quoted(each.name, _NAME_SHOWN)} of {each.replica}, {each.fingerprint}"
        for each in candidates.foundings[:_FOUNDINGS_SHOWN]
    )
    return (
        f"{len(candidates.foundings)} teams were founded there ({shown}). Ask your founder for their fingerprint and "
        "run `dmp team trust FINGERPRINT`, or join with an invite code"
    )


def follow(store: Store, founding: Founding) -> None:
    """Follow a founding, inside an open transaction; for good, where a person chose its founder."""
    put(store.db, Meta.FOUNDING, founding.hash)
    put(store.db, Meta.FOUNDER, founding.replica)
    put(store.db, Meta.FOUNDER_FINGERPRINT, founding.fingerprint)
    if get(store.db, Meta.TRUSTED) == founding.fingerprint:
        put(store.db, Meta.FIRM, "1")
    problems.clear(store.db, subjects.FOUNDING.of())


def unpin(store: Store, me: str) -> None:
    """Follow no founding any more, and forget what was read of others, inside an open transaction.

    Nothing but keys and the roster was published before that, so nothing of this replica's own is lost.
    """
    db = store.db
    for table in ("claims", "acks", *ops.TABLES):
        db.execute(f"DELETE FROM {table} WHERE replica <> ?", (me,))
    for name in (Meta.FOUNDING, Meta.FOUNDER, Meta.FOUNDER_FINGERPRINT, Meta.TIP, Meta.FOLDED_TYPES):
        put(db, name, None)
