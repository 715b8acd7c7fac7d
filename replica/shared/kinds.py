"""The kinds of registers that are folded from ops, and by no other means."""

from typing import Final

from core import channels

TASK: Final = "task"
TOMBSTONE: Final = "task-tombstone"
"""When a work item was removed. What it was stays, in case it is written to again."""

TOUCHED: Final = "task-touched"
"""When a work item was last written to."""

AGENT: Final = "agent"
CHANNEL: Final = channels.REGISTERS
RESOLVED_RUN: Final = "run-resolved"

SESSION: Final = "session"
"""The sessions made on this machine; those of others are claims (replica.shared.runs)."""

KINDS: Final = (TASK, TOMBSTONE, TOUCHED, AGENT, CHANNEL, RESOLVED_RUN)
