"""One op, and everything that can be checked about it, from any source."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonValue
from crypto.keys import KeyBody
from crypto.op import ABSENT, SEALED_TYPES, STUB_TYPES, ZERO_HASH, Unreadable, Unverified, tampering
from crypto.roster.bodies import Admit, Malformed, Recover, Unknown, read_body
from crypto.roster.ops import RosterOp
from crypto.roster.view import Decision, View
from replica.audit.chains import Walked
from replica.audit.evidence import Evidence
from replica.audit.marks import Mark
from replica.audit.reading import Reading

HOLDS: Final = True
FAILS: Final = False

_FORKED: Final = "its replica signed two histories, and none counts from op {} on"


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was checked. `holds` is None where it cannot be told from what is there."""

    what: str
    holds: bool | None
    text: str

    def to_json(self) -> dict[str, JsonValue]:
        return {"check": self.what, "holds": self.holds, "text": self.text}


@dataclass(frozen=True, slots=True)
class OneOp:
    """An op, or what claims to be one, with what was checked of it.

    `accepted` tells whether the chain goes over it, and `counts` whether it has any effect where it stands, as far as
    that is for the roster to say.
    """

    evidence: Evidence
    checks: tuple[Check, ...]
    accepted: bool
    counts: bool

    @property
    def read(self) -> Unverified | Unreadable:
        """What it says; nothing vouches for it but the checks."""
        return self.evidence.read

    @property
    def body(self) -> JsonValue:
        """Its content as it travels, None where it has none in the clear. It is text of others."""
        read = self.read
        return None if isinstance(read, Unreadable) or read.body is ABSENT else read.body

    def to_json(self) -> dict[str, JsonValue]:
        read, raw = self.read, self.evidence.raw
        found: dict[str, JsonValue] = {
            "replica": read.replica,
            "seq": read.seq,
            "type": read.type,
            "hash": read.hash,
            "prev": read.prev,
            "accepted": self.accepted,
            "counts": self.counts,
            "size": len(raw),
            "checks": [each.to_json() for each in self.checks],
        }
        if isinstance(read, Unverified):
            found |= {
                "hlc": str(read.hlc),
                "bodyHash": read.body_hash,
                "sig": read.sig,
                "to": None if read.to is None else list(read.to),
                "stub": read.pruned,
                "body": self.body,
            }
        return found


def ops_at(reading: Reading, replica: str, seq: int) -> list[OneOp]:
    """Every op, or line that claims to be one, at a place in a chain: the one the chain goes over first.

    `reading` was made with its marks kept. There is more than one where somebody forked a chain or damaged a line.
    """
    key = reading.key(replica)
    walked = None if key is None else reading.walk(replica, key)
    found = [
        _judged(reading, replica, key, walked, each)
        for each in reading.evidence(replica, seq)
        if each.read.seq == seq
    ]
    return sorted(found, key=lambda each: not each.accepted)


def _judged(
    reading: Reading, replica: str, key: KeyBody | None, walked: Walked | None, evidence: Evidence
) -> OneOp:
    read = evidence.read
    if isinstance(read, Unreadable):
        return OneOp(evidence, (Check("shape", FAILS, f"it is no op: {read.reason}"),), False, False)
    at = None if walked is None or walked.tally.marks is None else walked.tally.marks.find(read.seq)
    marks = None if walked is None else walked.tally.marks
    on_chain = at is not None and marks is not None and marks.hash_at(at) == read.hash
    accepted = on_chain and evidence.authentic
    before = marks[at - 1] if on_chain and marks is not None and at else None
    rights = _rights(reading, read, on_chain=on_chain)
    checks = [
        _content(read),
        _signature(key, evidence),
        _key(reading, replica, key),
        _link(read, on_chain=on_chain, before=before),
        _place(reading, replica, key, walked, read, on_chain=on_chain),
        rights,
    ]
    return OneOp(evidence, tuple(checks), accepted, accepted and rights.holds is True)


def _content(read: Unverified) -> Check:
    flaw = tampering(read)
    if flaw is not None:
        return Check("content", FAILS, f"it is not what its publisher signed ({flaw})")
    if read.pruned:
        return Check(
            "content", HOLDS, f"a stub: its content was pruned, as that of {_listed(STUB_TYPES)} may be"
        )
    text = "its content has the hash that was signed"
    return Check("content", HOLDS, f"{text}, sealed" if read.type in SEALED_TYPES else text)


def _listed(types: Iterable[str]) -> str:
    first, *rest = sorted(types, reverse=True)
    return f"{', '.join(sorted(rest))} and {first}"


def _signature(key: KeyBody | None, evidence: Evidence) -> Check:
    if key is None or evidence.signed is None:
        return Check("signature", None, "no key is decided for its replica, so nobody can tell who signed it")
    if evidence.signed:
        return Check("signature", HOLDS, f"signed with the key of fingerprint {key.fingerprint}")
    return Check("signature", FAILS, f"not signed with the key of fingerprint {key.fingerprint}")


def _key(reading: Reading, replica: str, key: KeyBody | None) -> Check:
    """How the key came to count."""
    if key is None:
        count = reading.survey.count_announced(replica)
        text = (
            f"{count} keys were announced for it, and the roster decides for none"
            if count
            else "no key op is here"
        )
        return Check("key", None if count else FAILS, text)
    if reading.team is None:
        return Check("key", None, "no team was founded here: the key is only what its holder says")
    view = reading.team.view
    if replica == view.founder:
        return Check("key", HOLDS, f"it founded the team {view.team_id}")
    admitted = _admission(reading.team.ops, view, replica, key.fingerprint)
    if admitted is None:
        return Check("key", FAILS, "nobody has admitted this key")
    if admitted.replica == replica:
        return Check("key", HOLDS, f"it let itself in with the recovery code, in op {admitted.seq}")
    return Check("key", HOLDS, f"admitted by {admitted.replica} in op {admitted.seq}")


def _admission(ops: Iterable[RosterOp], view: View, replica: str, fingerprint: str) -> RosterOp | None:
    """The first op that let in a replica with this key, and counts."""
    held = view.members.get(replica) or view.revoked.get(replica)
    if held is None or held.fingerprint != fingerprint:
        return None
    return min(
        (
            op
            for op in ops
            if op.hash not in view.ignored
            and (
                (
                    isinstance(op.body, Admit)
                    and op.body.replica == replica
                    and op.body.fingerprint == fingerprint
                )
                or (isinstance(op.body, Recover) and op.replica == replica and op.key == fingerprint)
            )
        ),
        key=lambda op: op.position,
        default=None,
    )


def _link(read: Unverified, *, on_chain: bool, before: Mark | None) -> Check:
    if not on_chain:
        follows = (
            "it begins a chain" if read.prev == ZERO_HASH else f"it names {read.prev} as the op before it"
        )
        return Check("prev", None, f"{follows}, and the chain does not go over it")
    if before is None:
        return Check("prev", HOLDS, "the first op of its chain")
    return Check("prev", HOLDS, f"follows op {before.seq}, whose hash it names, with a later clock")


def _place(
    reading: Reading,
    replica: str,
    key: KeyBody | None,
    walked: Walked | None,
    read: Unverified,
    *,
    on_chain: bool,
) -> Check:
    """Where the chain is there: on its way, forked, or at its end."""
    if key is None or walked is None:
        return Check("chain", None, "its chain is not read as long as no key is decided")
    if on_chain:
        return Check("chain", HOLDS, "the chain goes over it")
    fault = reading.fault(replica, key, walked)
    head = walked.outcome.head
    end = "the chain has no op" if head is None else f"the chain ends at op {head.seq}"
    if fault is not None and fault.seq is not None and fault.seq <= read.seq:
        return Check("chain", FAILS, fault.text)
    if head is not None and read.seq <= head.seq:
        return Check("chain", FAILS, "the chain goes over another op here, or over none")
    return Check("chain", FAILS, f"{end}, and this does not link to it")


def _rights(reading: Reading, read: Unverified, *, on_chain: bool) -> Check:
    """Whether what it says counts, by the roster."""
    if reading.team is None:
        return Check("rights", None, "without a team nobody has any")
    view, replica = reading.team.view, read.replica
    if read.type == "roster":
        return _roster_effect(view, read, on_chain=on_chain)
    if replica in view.forks and read.seq >= view.forks[replica]:
        return Check(
            "rights",
            FAILS,
            f"its replica signed two histories, and none counts from op {view.forks[replica]} on",
        )
    cut = view.revoked.get(replica)
    if cut is not None and read.seq > cut.point.after_seq:
        return Check(
            "rights", FAILS, f"past its cut: {cut.by} revoked {replica} after op {cut.point.after_seq}"
        )
    if not view.standing(replica, read.seq):
        ends = "it waits for an admission" if cut is None else "it was revoked, and never was a member"
        # Everybody may announce a key, and is asked for nothing more.
        return Check("rights", None if read.type == "key" else FAILS, f"{replica} is not in the team: {ends}")
    member = view.members.get(replica)
    observes = member.observer if member is not None else cut is not None and cut.observer
    if observes and read.type not in ("presence", "key"):
        return Check("rights", FAILS, "an observer publishes presence only")
    return Check(
        "rights",
        HOLDS,
        f"{reading.status(replica).value} at this op" + ("" if cut is None else ", before its cut"),
    )


def _roster_effect(view: View, read: Unverified, *, on_chain: bool) -> Check:
    body = read_body(None if read.body is ABSENT else read.body)
    decision, ignored = view.resolution.get(read.hash), view.ignored.get(read.hash)
    fork = view.forks.get(read.replica)
    if ignored is not None:
        return Check("rights", FAILS, f"no effect: {ignored.value}")
    if decision is Decision.VOID:
        return Check("rights", FAILS, "no effect: a removal that was void")
    if isinstance(body, Malformed):
        return Check("rights", FAILS, f"no effect: its member {body.member} is missing or of the wrong type")
    if isinstance(body, Unknown):
        return Check("rights", None, "a newer build's: what it does cannot be read here")
    if fork is not None and read.seq > fork:
        return Check("rights", FAILS, _FORKED.format(fork))
    if not on_chain and fork is None:
        return Check("rights", FAILS, "no effect: it is not on its chain")
    return Check(
        "rights",
        HOLDS,
        "its publisher had the right to it" + (", and the removal stands" if decision else ""),
    )
