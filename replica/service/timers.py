"""The thread that keeps the host's time: what is due is done, and what dead processes left is taken up.

Deliveries to sessions whose process is gone, effects that were not recorded, sessions that ended unsaid and scope
gates that nobody decided are everyone's to take up (`Node.take_up`). Commands do it when they run; this does it
while none runs.
"""

from pathlib import Path
from typing import Final

from replica.node import opened
from replica.service.changes import Changes
from replica.service.workers import Stop

BUSY_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 5.0
"""How often it looks while the store changes, and while it does not. Where nothing is due it only reads."""


def keep_time(root: Path, changes: Changes, stop: Stop) -> None:
    """Do what is due until the service ends. Raises Stopped then."""
    with opened(root) as node:
        node.host.ended = stop.is_set
        while True:
            node.take_up()
            seen = changes.count  # with what was changed just now
            stop.rest(BUSY_SECONDS)
            stop.rest_until_change(changes, seen, IDLE_SECONDS - BUSY_SECONDS)
