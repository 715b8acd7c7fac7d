"""The thread that keeps the host's time: what is due is done, and what dead processes left is taken up.

Deliveries to sessions whose process is gone, effects that were not recorded, sessions that ended unsaid and scope
gates that nobody decided are everyone's to take up (`Node.take_up`). Commands do it when they run; this does it
while none runs.
"""

from pathlib import Path
from typing import Final

from replica.node import opened
from replica.service.workers import Stop

TICK_SECONDS: Final = 1.0
"""How often it looks. Where nothing is due it only reads."""


def keep_time(root: Path, stop: Stop) -> None:
    """Do what is due until the service ends. Raises Stopped then."""
    with opened(root) as node:
        node.host.ended = stop.is_set
        while True:
            node.take_up()
            stop.rest(TICK_SECONDS)
