"""What the host decides for itself (section 2.1), behind one protocol.

The questions are asked inside a transaction, or right after one, and must answer from memory or from the
store, quickly and without sending anything. The hooks run after the commit and may fail: a push or a notify that
raises returns its delivery to `held` (section 6.2), an effect that does is left to recovery (section 6.3), a wake
that does is told to the sender (section C.8), and any other hook's failure is logged and changes nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from core.address import Grammar
from core.message import Message

AgentStatus = Literal["pending", "approved", "revoked"]
External = Literal["client", "peer"]
WakeRuling = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers of the guardrails (section 6.6), with the Dispatch profile's defaults (section C.7)."""

    urgent_per_hour: int = 10
    agent_turns_per_thread_per_hour: int = 20


class WakeError(Exception):
    """A wake that did not work; its text completes "Could not wake <target>: <reason>."."""


class Host(Protocol):
    """A host as the core sees it. Addresses are texts, sessions `run:` addresses, work items `task:` ones."""

    @property
    def system_address(self) -> str:
        """The agent address that is the host itself (section 2.3)."""

    @property
    def grammar(self) -> Grammar:
        """The grammar of work item and session ids (section 3.1)."""

    @property
    def gate_types(self) -> Collection[str]:
        """The gate types this host implements (section 5.6); `wake` is always one of them."""

    @property
    def limits(self) -> Limits:
        """The guardrails' numbers (section 6.6)."""

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

    def owner(self, target: str, /) -> str | None:
        """Return the human to ask or tell about a target (section 2.3); None when there is nobody."""

    def implicit_members(self, channel: str, /) -> Collection[str]:
        """Return the members of a channel that are computed now (section 3.6); `channel` is its bare name."""

    def external(self, address: str, /) -> External | None:
        """Return how an address is reached through a binding (section 8); None for one of this host."""

    def admit_external(self, recipient: str, message: Message, /, *, direct: bool) -> bool:
        """Return whether mail for an external recipient is delivered; else the recipient is skipped (section 8.8).

        Asked once for each external recipient of a send, before anything of it is stored; `direct` when it was
        addressed itself, and not through a channel. Raises DmpError for one that is refused: that fails the send,
        on the caller's own `to[i]`, where it was addressed directly, and skips it where a channel reached it.
        """

    def rule_wake(self, target: str, message: Message, /) -> WakeRuling:
        """Rule on waking a target for a message (section 6.5). One that raises wakes nobody."""

    def why_not_woken(self, target: str, /) -> str | None:
        """Say what an approved wake finds the target to be that it is not woken for; None to wake it.

        The text completes "Not woken: task <id> is <state>." (section C.8); one that raises could not tell.
        """

    def wake(self, target: str, message: Message, /) -> None:
        """Start or continue a session for a target (section 6.5). Raises WakeError with the reason."""

    def apply_effect(self, gate: Message, answer: Message, /) -> None:
        """Apply an answered gate's effect, whole or by raising not at all; it may be asked again (section 5.5).

        Of a `wake` gate the waking itself is the core's, after this.
        """

    def reaches(self, session: str, /) -> bool:
        """Return whether this process can push to a live session; else another does, and its mail waits."""

    def push(self, session: str, message: Message, /) -> None:
        """Put a message into a live session's context before its next turn."""

    def notify(self, session: str, message: Message, /) -> None:
        """Give a live session a one-line digest of a message."""

    def notify_human(self, human: str, message: Message, /) -> None:
        """Tell a human that a message arrived."""

    def published(self, message: Message, /) -> None:
        """Make a stored message visible to whoever watches."""
