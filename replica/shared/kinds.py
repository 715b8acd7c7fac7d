"""The kinds of registers that are folded from ops, and by no other means."""

from typing import Final

from core import channels

TASK: Final = "task"
REMOVED_TASK: Final = "task-removed"
"""The registers of a work item that was removed, in case it is written to again."""

TOMBSTONE: Final = "task-tombstone"
AGENT: Final = "agent"
CHANNEL: Final = channels.REGISTERS
RESOLVED_RUN: Final = "run-resolved"

SESSION: Final = "session"
"""The sessions made on this machine; those of others are claims (replica.shared.runs)."""

KINDS: Final = (TASK, REMOVED_TASK, TOMBSTONE, AGENT, CHANNEL, RESOLVED_RUN)
