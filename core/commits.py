"""Where the core commits. A crash can fall before or after each of these and nowhere else.

`Store.observer` is called around every commit with the point's value, so that a test can stop the world
there; one that fails unless it visited them all keeps this list complete.
"""

from enum import StrEnum


class CommitPoint(StrEnum):
    """A transaction of the core."""

    MIGRATE = "core.migrate"
    SEND = "core.send"
    CLOSE = "core.close"
    MARK_READ = "core.mark-read"
    MEMBERSHIP = "core.membership"
    SESSION_START = "core.session-start"
    CLAIM = "core.claim"
    DISPATCHED = "core.dispatched"
    EFFECT = "core.effect"
    VOID = "core.void"
    NOTICE = "core.notice"
    RECOVER = "core.recover"
