"""Random histories of a small team: whoever says whatever, removals above all."""

from collections.abc import Sequence

from hypothesis import strategies as st

from crypto.invites import public_of
from crypto.roster.bodies import Body, CloseLegacy, Malformed, Role, SetRecoveryKey, Unknown
from crypto.roster.ops import RosterOp, fold_order
from crypto.roster.reach import Reach
from crypto.roster.removals import Decisions, decide
from crypto.roster.rights import Removal
from crypto.roster.walk import Charter, charter_of, removal
from tests.crypto.roster.team import (
    ADA,
    BOB,
    CY,
    DEE,
    EVE,
    FOUNDING,
    OTHER_SEED,
    SEED,
    admin,
    admit,
    demote,
    fp,
    hosts,
    key_of,
    op,
    promote,
    recover,
    revoke,
)

LAPTOP = "bob-0000001b"
REPLICAS = (ADA, BOB, CY, DEE, EVE, LAPTOP)
KEYS = {**{replica: key_of(replica) for replica in REPLICAS}, DEE: key_of(DEE, "bob")}
CLAIMS = {replica: {fp(replica): key} for replica, key in KEYS.items()}


def charter_for(ops: list[RosterOp]) -> Charter:
    return charter_of(FOUNDING, CLAIMS, ops)


def decisions_on(charter: Charter, ops: Sequence[RosterOp]) -> Decisions:
    """What becomes of all removals among ops in fold order."""
    reach = Reach(charter, ops)
    found = [each for each in map(removal, ops) if each is not None and reach.could_ever_hold(each)]
    return decide(charter, reach, found)


def removals(ops: list[RosterOp]) -> list[Removal]:
    """The removals among ops, in fold order."""
    return [found for found in map(removal, fold_order(FOUNDING, ops)) if found is not None]


def _removing(replicas: st.SearchStrategy[str]) -> st.SearchStrategy[Body]:
    seqs = st.integers(0, 8)
    return st.one_of(
        st.builds(revoke, replicas, seqs),
        st.builds(demote, replicas, seqs),
        st.builds(lambda replica, after: hosts(replica, "eve", after_seq=after), replicas, seqs),
    )


def _bodies() -> st.SearchStrategy[Body]:
    replicas = st.sampled_from(REPLICAS)
    return st.one_of(
        st.builds(admit, replicas, st.sampled_from(Role)),
        st.builds(
            lambda replica, handle, observer: admit(replica, handle=handle, observer=observer),
            replicas,
            st.sampled_from(["bob", "cy"]),
            st.booleans(),
        ),
        st.builds(promote, replicas),
        _removing(replicas),
        _removing(replicas),
        st.sampled_from([Unknown(), Malformed("rv"), CloseLegacy(), SetRecoveryKey(public_of(OTHER_SEED))]),
    )


_said = st.tuples(st.sampled_from(REPLICAS), st.integers(3, 8), st.integers(-1, 12), _bodies())

_recovered = st.tuples(st.sampled_from((EVE, DEE)), st.integers(1, 12), st.sampled_from((SEED, OTHER_SEED)))


@st.composite
def piles(draw: st.DrawFn, size: int = 14) -> list[RosterOp]:
    """A founding, some admissions by the founder, recoveries, and whatever else."""
    start = [op(ADA, 3 + index, 1, admin(each)) for index, each in enumerate((BOB, CY, LAPTOP))]
    recoveries = [
        op(replica, 2, at, recover(replica, seed))
        for replica, at, seed in draw(st.lists(_recovered, max_size=2))
    ]
    others = [op(*said) for said in draw(st.lists(_said, max_size=size))]
    return [FOUNDING, *start, *recoveries, *others]


@st.composite
def quarrels(draw: st.DrawFn, most: int = 6) -> list[RosterOp]:
    """Admins, a recovered one among them at times, who remove each other and little else."""
    ops = [FOUNDING, *(op(ADA, 3 + index, 1, admin(each)) for index, each in enumerate((BOB, CY, LAPTOP)))]
    quarrelling = [ADA, BOB, CY, LAPTOP]
    if draw(st.booleans()):
        ops.append(op(EVE, 2, 2, recover(EVE)))
        quarrelling.append(EVE)
    who = st.sampled_from(quarrelling)
    for seq, (by, at, body) in enumerate(
        draw(st.lists(st.tuples(who, st.integers(3, 9), _removing(who)), min_size=2, max_size=most)), 6
    ):
        ops.append(op(by, seq, at, body))
    return ops
