"""When what goes to peers and comes from them is tried again: pure functions of times, in milliseconds."""

from typing import Final

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

GIVE_UP: Final = DAY
"""How long a delivery is tried (section 8.9)."""

LONGEST_TASK: Final = 7 * DAY
"""How long a task is followed (section 8.9)."""

REFRESH: Final = DAY
"""How often a card is fetched again (section 8.9)."""

REFRESH_FAILED: Final = HOUR

WAIT: Final = 5 * MINUTE
"""How long what waits for its owner, or for a quota, waits at least."""

NOTICES: Final = MINUTE
"""How far notices about the same work are apart at least (section 8.9)."""

_FIRST_RETRY: Final = 5 * SECOND
_LONGEST_RETRY: Final = 15 * MINUTE

# Up to which age of a task it is asked for how often.
_POLLS: Final = ((MINUTE, 2 * SECOND), (10 * MINUTE, 10 * SECOND), (DAY, MINUTE), (LONGEST_TASK, 10 * MINUTE))


def retry(tries: int) -> int:
    """How long to wait after so many tries that failed, at least one: twice as long each time."""
    return min(_LONGEST_RETRY, _FIRST_RETRY << min(tries - 1, 20))


def poll(age: int, *, streamed: bool) -> int:
    """How long to wait before a task of an age is asked for again; one that is streamed only to be sure."""
    pause = next((pause for until, pause in _POLLS if age < until), 10 * MINUTE)
    return max(pause, MINUTE) if streamed else pause
