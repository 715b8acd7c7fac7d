"""Whether this machine takes part in the team's mail, and why not."""

from enum import Enum, auto
from typing import Final

from core.store import registers
from replica.cli.text import quoted
from replica.node import Node
from replica.records.meta import Meta, get
from replica.shared.kinds import AGENT, CHANNEL, RESOLVED_RUN, TASK, TOMBSTONE


def no_part(node: Node) -> str | None:
    """Why this machine neither sends nor receives mail, as the beginning of a sentence; None when it does."""
    team = node.team
    if team is None:
        return "This machine is in no team"
    if team.ready(node.me):
        return None
    cut = team.view.revoked.get(node.me)
    if cut is not None:
        return f"This machine was revoked by {team.describe(cut.by)} ({quoted(cut.reason)})"
    return "This machine waits to be admitted"


READS_ALONG: Final = "This machine only reads along in its team, so it stays here."


def reads_along(node: Node) -> bool:
    """Whether this machine observes: what it says beside that it is there counts nowhere."""
    member = None if node.team is None else node.team.view.members.get(node.me)
    return member is not None and member.observer


def shared_edits(node: Node) -> tuple[object, ...]:
    """What was written here to shared state, but to memory, and is not published; to tell one moment from another."""
    from replica.shared.docs import rows as docs  # late: of most machines nobody asks

    db, kinds = node.store.db, (TASK, TOMBSTONE, AGENT, CHANNEL, RESOLVED_RUN)
    written = {kind: registers.edits(db, kind) for kind in kinds}
    return written, docs.waiting(db)


class Signing(Enum):
    """Whether what is sent here will be signed, and so leave this machine."""

    GOES_ON = auto()
    PAUSED = auto()
    STOPPED = auto()


def signing(node: Node) -> Signing:
    """Whether this replica signs, as its last sync found it."""
    if get(node.store.db, Meta.STOPPED) is not None:
        return Signing.STOPPED
    return Signing.GOES_ON if get(node.store.db, Meta.PAUSED) is None else Signing.PAUSED
