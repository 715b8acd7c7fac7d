"""`PersonHost`: a host that one person runs on one machine (section 2.1, Appendix C).

It answers from the registers, which sessions, agents and work items are written in, and does what the person's
configuration names. Its owner is that person, for every target.
"""

import logging
import sqlite3
from collections.abc import Callable, Collection
from typing import Final, Protocol

from core.address import DISPATCH
from core.errors import Code, DmpError, not_found
from core.gate_types import GATE_TYPES
from core.host import AgentStatus, External, Limits, WakeError, WakeRuling
from core.message import Message
from core.store import Store
from replica.addresses import SYSTEM_ADDRESS
from replica.host import agents, binding, items
from replica.host.config import Config
from replica.host.place import Place, Programs
from replica.host.sessions import Sessions
from replica.records.meta import Meta, get
from replica.shared import runs
from replica.team.roster import TeamReader

EPIC: Final = "epic/"
"""What the name of a channel with implicit members starts with; the epic's id follows (Appendix C)."""

_log = logging.getLogger(__name__)


class Attachment(Protocol):
    """The live session that this process is."""

    @property
    def session(self) -> str:
        """Its address."""

    def push(self, message: Message, /) -> None:
        """Put a message into the session's context. Raises where that fails."""

    def notify(self, message: Message, /) -> None:
        """Give the session a digest of a message. Raises where that fails."""


class PersonHost:
    """What a person's replica decides for itself (core.host.Host).

    `attached` is set in the one process that is a live session; `ended` says that this process is to end, and
    waits for no program any more.
    """

    def __init__(self, store: Store, place: Place, replica: str, reader: TeamReader) -> None:
        self.system_address = SYSTEM_ADDRESS
        self.grammar = DISPATCH
        self.gate_types: Collection[str] = tuple(GATE_TYPES)
        self.sessions_here = Sessions(store.db, place.sessions, replica)
        self.attached: Attachment | None = None
        self.ended: Callable[[], bool] = lambda: False
        self._store = store
        self._reader = reader
        self._place = place
        self._config: Config | None = None
        self._made_programs: Programs | None = None

    @property
    def person(self) -> str:
        """The address of the person this is the host of."""
        return f"human:{get(self._db, Meta.HANDLE) or ''}"

    @property
    def config(self) -> Config:
        """What its owner set, as it was when it was first asked for."""
        if self._config is None:
            self._config = self._place.config()
            if self._config.fault is not None:
                _log.warning("the configuration counts for nothing: %s", self._config.fault)
        return self._config

    @property
    def limits(self) -> Limits:
        return self.config.limits

    # Sessions and work items

    def live_session(self, work_item: str) -> str | None:
        found = self.sessions_here.live_of(work_item)
        return None if found is None else found.address

    def is_live(self, session: str) -> bool:
        return self.sessions_here.is_live(session)

    def work_item(self, session: str) -> str | None:
        found = self.sessions_here.find(session)
        if found is not None:
            return found.task
        claim = runs.binding(self._db, session).claim
        return None if claim is None else claim.task

    def sessions(self, work_item: str) -> Collection[str]:
        here = [session.address for session in self.sessions_here.of(work_item)]
        elsewhere = [claim.run for claim in runs.of_work_item(self._db, work_item)]
        return list(dict.fromkeys((*here, *elsewhere)))

    def implicit_members(self, channel: str) -> Collection[str]:
        if not channel.startswith(EPIC):
            return ()
        return [item.address for item in items.under(self._db, channel.removeprefix(EPIC))]

    # Agents and people

    def agent_status(self, agent: str) -> AgentStatus | None:
        found = agents.find(self._db, agent)
        return None if found is None else found.status

    def is_muted(self, agent: str) -> bool:
        return agents.is_muted(self._db, agent)

    def owner(self, _target: str) -> str | None:
        return self.person

    def external(self, address: str) -> External | None:
        return binding.external(address)

    def admit_external(self, recipient: str, message: Message, *, direct: bool) -> bool:
        edge = binding.edge()
        if edge is None:
            raise not_found(None, "this host has no A2A binding, so nobody is reached through one")
        return edge.admit(self._db, self.config, recipient, message, direct=direct)

    # Waking (section C.8)

    def rule_wake(self, target: str, message: Message) -> WakeRuling:
        # A teammate's wake is taken as an agent's (section F.5, step 10).
        by_human = message.sender.startswith("human:") and message.origin is None
        if target.startswith("run:"):
            return "allow" if by_human else "deny"
        if not target.startswith("task:") or self.why_not_woken(target) is not None:
            return "deny"
        return "allow" if by_human or self.config.wake_policy == "allow" else "ask"

    def why_not_woken(self, target: str) -> str | None:
        if not target.startswith("task:"):
            return None
        return items.why_not_worked_on(items.find(self._db, target))

    def wake(self, target: str, message: Message) -> None:
        config = self.config
        if config.wake_command is None:
            raise WakeError(
                "no wake command is configured" if config.fault is None else "the configuration is malformed"
            )
        work_item = self.work_item(target) if target.startswith("run:") else target
        self._programs().wake(config.wake_command, target, work_item, message)

    # Effects (section C.3)

    def apply_effect(self, gate: Message, answer: Message) -> None:
        from replica.host import effects  # late: it knows documents and memory; most commands need neither

        effects.apply(self._store, gate, answer)
        command = self.config.gates_command
        if command is not None and effects.is_for_others(gate):
            self._programs().tell_decision(command, gate, answer)

    # Hooks

    def remote_handle(self, message: Message) -> str | None:
        """The handle of the replica a message came from; None where it was created here."""
        if message.origin is None:
            return None
        team = self._reader.read(self._db)
        return message.origin if team is None else team.handle(message.origin)

    def reaches(self, session: str) -> bool:
        return self.attached is not None and self.attached.session == session

    def push(self, session: str, message: Message) -> None:
        self._attached(session).push(message)

    def notify(self, session: str, message: Message) -> None:
        self._attached(session).notify(message)

    def notify_human(self, human: str, message: Message) -> None:
        config = self.config
        if config.notify_command is None and not config.notify_desktop:
            return
        if human != self.person:
            return  # a teammate hears of mail on a machine of their own
        if config.notify_command is not None:
            self._programs().notify(config.notify_command, message, self.remote_handle(message))
        if config.notify_desktop:
            self._programs().notify_desktop(message)

    def published(self, _message: Message) -> None:
        """Do nothing: whoever watches the store sees it change."""

    def _programs(self) -> Programs:
        if self._made_programs is None:
            self._made_programs = self._place.programs(lambda: self.ended())
        return self._made_programs

    @property
    def _db(self) -> sqlite3.Connection:
        return self._store.db

    def _attached(self, session: str) -> Attachment:
        if self.attached is None or self.attached.session != session:
            raise DmpError(Code.UNAVAILABLE, "this process is not that session")
        return self.attached
