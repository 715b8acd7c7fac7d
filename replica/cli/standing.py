"""Whether this machine takes part in the team's mail, and why not."""

from enum import Enum, auto

from replica.cli.text import quoted
from replica.node import Node
from replica.records.meta import Meta, get


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
