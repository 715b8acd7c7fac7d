"""The thread that syncs: pass after pass over every transport, as `dmp sync --watch` makes them."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from core.errors import DmpError
from replica.node import opened
from replica.passes import Outcome, passes
from replica.records.link import remembered
from replica.service.changes import Changes
from replica.service.workers import Stop
from replica.sync import Report
from transports.base import TransportError

NO_TEAM_SECONDS: Final = 5.0
"""How often it looks at least whether there is a team yet."""

_log = logging.getLogger(__name__)


def sync(root: Path, changes: Changes, stop: Stop, interval: float, told: Callable[[Outcome], None]) -> None:
    """Sync until the service ends; `told` of what became of each pass.

    Raises Stopped then, and DmpError for what waiting does not mend.
    """
    with opened(root) as node:
        node.host.ended = stop.is_set
        seen = changes.count
        while (link := remembered(node.store.db)) is None:
            stop.rest_until_change(changes, seen, NO_TEAM_SECONDS)
            seen = changes.count
        trouble = ""
        for outcome in passes(node, link, interval, rest=stop.rest):
            told(outcome)
            if trouble != (trouble := _trouble(outcome)):
                _log.warning("sync: %s", trouble or "it works again")
            if isinstance(outcome, Report) and (outcome.published or outcome.applied or outcome.refused):
                _log.info(
                    "synced: published %d, applied %d, refused %d",
                    *(outcome.published, outcome.applied, outcome.refused),
                )


def _trouble(outcome: Outcome) -> str:
    """What keeps a pass from doing all it should; empty when nothing does."""
    match outcome:
        case Report():
            faults = [each.error.message for each in outcome.faults if not each.only_read]
            return "; ".join([*([] if outcome.paused is None else [outcome.paused]), *faults])
        case TransportError() | DmpError():
            return outcome.message
