"""Whether this machine takes part in the team's mail, and why not."""

from replica.cli.text import quoted
from replica.node import Node


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
