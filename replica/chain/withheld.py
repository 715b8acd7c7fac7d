"""Withheld news (K3): a far side can keep the newest ops of a replica, or a revocation, to itself.

Gaps in seqs are legal, so nothing looks missing. What shows it is somebody's signed word of a later op than the far
side has, an acknowledgement or a revocation's cut; and a lane that does not hold any more what was read from it.
Words can be false, so the text says whose they are.
"""

import json
from collections.abc import Collection, Iterator

from replica.chain.verify import Chain, Verified
from replica.node import Node
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.team.roster import Team


def note_withheld(node: Node, verified: Verified, arriving: Collection[str] = ()) -> None:
    """After a pull that handed over everything: note what it seems to keep back, and forget what it shows again.

    Of `arriving` nothing is expected yet: they may not have heard that the team is here now.
    """
    team, db = node.team, node.store.db
    if team is None:
        return
    found = dict(_withheld(node, team, verified))
    for replica in arriving:
        found.pop(replica, None)
    noted = {
        subject
        for (subject,) in db.execute(
            "SELECT subject FROM problems WHERE subject BETWEEN ? AND ?",
            (subjects.WITHHELD.of(""), subjects.WITHHELD.of("~")),
        )
    }
    gone = noted - {subjects.WITHHELD.of(replica) for replica in found}
    if not found and not gone:
        return
    with node.store.transaction(CommitPoint.PROBLEM):
        for replica, (text, seq) in found.items():
            problems.note(db, problems.Problem(subjects.WITHHELD.of(replica), text, replica, seq, node.now()))
        for subject in gone:
            problems.clear(db, subject)


def _withheld(node: Node, team: Team, verified: Verified) -> Iterator[tuple[str, tuple[str, int]]]:
    said = _said(node, team)
    for replica in sorted(team.view.members.keys() | team.view.revoked.keys()):
        chain = verified.chains.get(replica)
        known = ops.position(node.store.db, replica)
        if replica == node.me or _has_a_fault(chain) or (known is not None and known.cursor.halted):
            continue
        head = None if known is None else known.cursor.head
        top = 0 if head is None else head.seq
        if chain is not None and chain.found.entries:
            top = max(top, chain.found.entries[-1].seq)
        seq, whose = said.get(replica, (0, ""))
        name = team.describe(replica)
        if seq > top:
            shown = f"ends at op {top}" if top else "has none"
            yield replica, (f"{whose} speaks of op {seq} of {name}, but its log {shown} on the remote", seq)
        elif head is not None and replica in verified.missing_heads and replica in team.view.members:
            yield (
                replica,
                (f"op {head.seq} of {name} was read here, and is not on the remote any more", head.seq),
            )


def _has_a_fault(chain: Chain | None) -> bool:
    """Whether a log ends here for a reason that is told already."""
    if chain is None:
        return False
    found = chain.found
    faults = (found.stall, found.gap, found.held, found.cursor.halted)
    return any(each is not None for each in faults)


def _said(node: Node, team: Team) -> dict[str, tuple[int, str]]:
    """The latest op of each replica that a teammate's acknowledgement or a revocation names, and whose word it is."""
    said: dict[str, tuple[int, str]] = {}
    for teammate, text in node.store.db.execute("SELECT replica, through_json FROM acks ORDER BY replica"):
        for replica, seq in json.loads(text).items():
            if teammate != replica and seq > said.get(replica, (0, ""))[0]:
                said[replica] = seq, f"the acknowledgement of {team.describe(teammate)}"
    for replica, cut in team.view.revoked.items():
        seq = cut.point.after_seq
        if seq > said.get(replica, (0, ""))[0] or replica not in said:
            said[replica] = seq, f"its revocation by {team.describe(cut.by)}"
    return said
