"""Every point where this room commits. A crash test visits each one, before and after."""

from enum import StrEnum


class CommitPoint(StrEnum):
    """A transaction of this binding, by what it makes lasting."""

    SPENT = (
        "machine-envelope-spent"  # an envelope that will not be accepted again, before anything of it is done
    )
