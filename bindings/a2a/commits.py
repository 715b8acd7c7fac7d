"""Where the A2A edge commits what no room of the node does."""

from enum import StrEnum


class CommitPoint(StrEnum):
    """A transaction of the edge, by what it makes lasting."""

    DRAFTED = "a2a.drafted"  # a handoff's draft, before the handoff itself is stored
    ENDED = "a2a.ended"  # a task that its client canceled, or that the owner declined
    RESULT = "a2a.result"  # what work on a handoff came to
    OBSERVED = "a2a.observed"  # how handoffs stood when their client looked
