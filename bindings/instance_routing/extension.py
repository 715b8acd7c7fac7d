"""The extension: its URI, its members, its limits, and the ids that it names mail by."""

from typing import Final, Literal

URI: Final = "https://github.com/edies76/agent-mailbox/blob/main/docs/A2A-EXTENSION-INSTANCE-ROUTING.md"

RECIPIENT: Final = "recipientInstanceId"
SUBJECT: Final = "subject"
MODE: Final = "deliveryMode"
BACKLOG: Final = "wakeBacklog"

Mode = Literal["inbox", "wake"]

MAX_SUBJECT: Final = 180
"""Characters of a subject."""

MAX_INSTANCE_ID: Final = 200
"""Characters of the id of an instance, this host's or another gateway's."""

_TASK: Final = "agent-mailbox-task-"
_CONTEXT: Final = "agent-mailbox-context-"


def task_id(message: str) -> str:
    """The id of the task that a message opened."""
    return f"{_TASK}{message}"


def context_id(thread: str) -> str:
    """The id of the context that a thread is."""
    return f"{_CONTEXT}{thread}"


def message_of(task: str) -> str:
    """The message that an id of a task names; empty for any other id."""
    return task.removeprefix(_TASK) if task.startswith(_TASK) else ""


def thread_of(context: str) -> str:
    """The thread that an id of a context names; empty for any other id."""
    return context.removeprefix(_CONTEXT) if context.startswith(_CONTEXT) else ""
