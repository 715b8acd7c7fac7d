"""A host for tests that need one and nothing it does."""

from collections.abc import Collection

from core.address import CORE
from core.host import AgentStatus, External, Limits, WakeError, WakeRuling
from core.message import Message


class QuietHost:
    """A host without sessions or agents, whose people read their mailboxes when they like."""

    system_address = "agent:dispatch"
    grammar = CORE
    gate_types: Collection[str] = ("wake",)
    limits = Limits()

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

    def owner(self, _target: str) -> str | None:
        return None

    def implicit_members(self, _channel: str) -> Collection[str]:
        return ()

    def external(self, _address: str) -> External | None:
        return None

    def admit_external(self, _recipient: str, _message: Message, *, direct: bool) -> bool:
        return direct

    def rule_wake(self, _target: str, _message: Message) -> WakeRuling:
        return "deny"

    def why_not_woken(self, _target: str) -> str | None:
        return None

    def wake(self, _target: str, _message: Message) -> None:
        raise WakeError("this host wakes nobody")

    def apply_effect(self, _gate: Message, _answer: Message) -> None:
        """Do nothing: no gate of this host has an effect."""

    def reaches(self, _session: str) -> bool:
        return False

    def push(self, _session: str, _message: Message) -> None:
        raise NotImplementedError("no session is ever live here")

    def notify(self, _session: str, _message: Message) -> None:
        raise NotImplementedError("no session is ever live here")

    def notify_human(self, _human: str, _message: Message) -> None:
        """Do nothing: the mail is in the mailbox."""

    def published(self, _message: Message) -> None:
        """Do nothing: nobody watches."""
