"""Where the gateway commits what no room of the node does."""

from enum import StrEnum


class CommitPoint(StrEnum):
    """A transaction of the gateway, by what it makes lasting."""

    EXPOSED = "instance.exposed"  # that an agent is an instance, or is none any more
    ASKED = (
        "instance.asked"  # the contents that a client's message id stands for, before the message is stored
    )
    WAKE = "instance.wake"  # what became of a wake
    CANCELED = "instance.canceled"  # that a client let its task end
