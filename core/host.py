"""What the host decides for itself (section 2.1), behind one protocol.

The questions are asked inside a transaction and must answer from memory or from the store, quickly and
without sending anything. The hooks run after the commit and may fail: a push or a notify that raises
returns its delivery to `held` (section 6.2), and any other hook's failure is logged and changes nothing.
"""

from collections.abc import Collection
from typing import Literal, Protocol

from core.address import CORE, Grammar
from core.message import Message

AgentStatus = Literal["pending", "approved", "revoked"]


class Host(Protocol):
    """A host as the core sees it. Addresses are texts, sessions `run:` addresses, work items `task:` ones."""

    @property
    def system_address(self) -> str:
        """The agent address that is the host itself (section 2.3)."""

    @property
    def grammar(self) -> Grammar:
        """The grammar of work item and session ids (section 3.1)."""

    def live_session(self, work_item: str, /) -> str | None:
        """Return the work item's live session, when it has one."""

    def is_live(self, session: str, /) -> bool:
        """Return whether a session can take input now."""

    def work_item(self, session: str, /) -> str | None:
        """Return the work item a session stands for, live or ended; None for an auxiliary or unknown one."""

    def sessions(self, work_item: str, /) -> Collection[str]:
        """Return the work item's sessions, live and ended."""

    def agent_status(self, agent: str, /) -> AgentStatus | None:
        """Return an agent's registration; None when it has none (section 9.1)."""

    def is_muted(self, agent: str, /) -> bool:
        """Return whether a human muted this agent (section 6.7)."""

    def push(self, session: str, message: Message, /) -> None:
        """Put a message into a live session's context before its next turn."""

    def notify(self, session: str, message: Message, /) -> None:
        """Give a live session a one-line digest of a message."""

    def notify_human(self, human: str, message: Message, /) -> None:
        """Tell a human that a message arrived."""

    def published(self, message: Message, /) -> None:
        """Make a stored message visible to whoever watches."""


class QuietHost:
    """A host without sessions or agents, whose people read their mailboxes when they like."""

    def __init__(self, system_address: str = "agent:dispatch", grammar: Grammar = CORE) -> None:
        self.system_address = system_address
        self.grammar = grammar

    def live_session(self, _work_item: str) -> str | None:
        return None

    def is_live(self, _session: str) -> bool:
        return False

    def work_item(self, _session: str) -> str | None:
        return None

    def sessions(self, _work_item: str) -> Collection[str]:
        return ()

    def agent_status(self, _agent: str) -> AgentStatus | None:
        return None

    def is_muted(self, _agent: str) -> bool:
        return False

    def push(self, _session: str, _message: Message) -> None:
        raise NotImplementedError("no session is ever live here")

    def notify(self, _session: str, _message: Message) -> None:
        raise NotImplementedError("no session is ever live here")

    def notify_human(self, _human: str, _message: Message) -> None:
        """Do nothing: the mail is in the mailbox."""

    def published(self, _message: Message) -> None:
        """Do nothing: nobody watches."""
