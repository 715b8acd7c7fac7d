"""A host that answers from a vector's world and writes down every hook it is called with."""

from collections.abc import Collection
from typing import Final

from core.address import Grammar
from core.gate_types import GATE_TYPES
from core.host import AgentStatus, External, Limits, WakeError, WakeRuling
from core.message import Message
from crypto.canonical import JsonValue
from vectors.adapter.given import RULINGS, STATUSES, Given, wake_result
from vectors.adapter.members import Members, Unsupported

SYSTEM: Final = "agent:dispatch"


class ScriptedError(Exception):
    """What a hook raises that the vector wants to fail."""


class ScriptedHost:
    """A host without sessions, people or clocks of its own. `calls` are the hooks' calls as section 12.4.5 has them.

    A wake that succeeds is written down and starts nothing: what follows is for the vector's steps.
    """

    system_address = SYSTEM
    gate_types: Collection[str] = tuple(GATE_TYPES)  # all that are registered

    def __init__(self, given: Given, grammar: Grammar) -> None:
        self.grammar = grammar
        self.limits: Limits = given.limits
        self.calls: list[dict[str, str]] = []
        self.live = {item.address: item.live_session for item in given.work_items}
        self.auxiliary = set(given.aux_sessions)
        self.failing = set(given.fail_push)
        self.failing_effects = given.fail_effects
        self.status = {agent.address: agent.status for agent in given.agents}
        self._muted = {agent.address for agent in given.agents if agent.muted}
        self._implicit = given.implicit
        self._owner = given.owner
        self._rulings = dict(given.rulings)
        self._refusals = dict(given.refusals)
        self._external = given.external
        self._stands_for = {
            session: item.address
            for item in given.work_items
            for session in (item.live_session, *item.sessions)
            if session is not None
        }

    # Questions

    def live_session(self, work_item: str) -> str | None:
        return self.live.get(work_item)

    def is_live(self, session: str) -> bool:
        return session in self.auxiliary or session in self.live.values()

    def work_item(self, session: str) -> str | None:
        return self._stands_for.get(session)

    def sessions(self, work_item: str) -> Collection[str]:
        return [session for session, item in self._stands_for.items() if item == work_item]

    def agent_status(self, agent: str) -> AgentStatus | None:
        return self.status.get(agent)

    def is_muted(self, agent: str) -> bool:
        return agent in self._muted

    def owner(self, _target: str) -> str | None:
        return self._owner

    def implicit_members(self, channel: str) -> Collection[str]:
        return self._implicit.get(channel, ())

    def external(self, address: str) -> External | None:
        return self._external.get(address)

    def admit_external(self, recipient: str, message: Message, *, direct: bool) -> bool:  # noqa: ARG002 - every one
        self.calls.append({"hook": "admitExternal", "recipient": recipient, "message": message.id})
        return True

    def rule_wake(self, target: str, message: Message) -> WakeRuling:
        self.calls.append({"hook": "decide", "target": target, "message": message.id})
        return self._rulings.get(target, "deny")

    def why_not_woken(self, target: str) -> str | None:
        return "not to be woken" if self._rulings.get(target, "deny") == "deny" else None

    def reaches(self, _session: str) -> bool:
        return True

    # Hooks

    def wake(self, target: str, message: Message) -> None:
        self.calls.append({"hook": "wake", "target": target, "message": message.id})
        reason = self._refusals.get(target)
        if reason is not None:
            raise WakeError(reason)

    def apply_effect(self, gate: Message, answer: Message) -> None:
        self.calls.append({"hook": "onAnswered", "question": gate.id, "answer": answer.id})
        if self.failing_effects:
            raise ScriptedError

    def push(self, session: str, message: Message) -> None:
        self._session_hook("push", session, message)

    def notify(self, session: str, message: Message) -> None:
        self._session_hook("notify", session, message)

    def notify_human(self, human: str, message: Message) -> None:
        self.calls.append({"hook": "notifyHuman", "actor": human, "message": message.id})

    def published(self, message: Message) -> None:
        self.calls.append({"hook": "published", "message": message.id})

    def _session_hook(self, hook: str, session: str, message: Message) -> None:
        self.calls.append({"hook": hook, "session": session, "message": message.id})
        if session in self.failing:
            raise ScriptedError

    # The world

    def change(self, value: JsonValue) -> None:
        """Apply the change of a `world` step; the clock's is the run's.

        Raises MalformedError, and Unsupported for a change that section 12.4.3 does not list.
        """
        change = Members(value, "change")
        match change.names():
            case ("startSession",):
                started = change.object("startSession")
                item, session = f"task:{started.text('workItem')}", started.text("session")
                self.live[item] = session
                self._stands_for[session] = item
            case ("endSession",):
                self.live[f"task:{change.object('endSession').text('workItem')}"] = None
            case ("ruling",):
                ruling = change.object("ruling")
                self._rulings[ruling.text("target")] = ruling.one_of("ruling", *RULINGS)
            case ("wakeResult",):
                result = change.object("wakeResult")
                self._wake_result(result.text("target"), wake_result(result.object("result")))
            case ("failPush",):
                self.failing = set(change.texts("failPush"))
            case ("failOnAnswered",):
                self.failing_effects = change.flag("failOnAnswered")
            case ("agentStatus",):
                agent = change.object("agentStatus")
                self.status[agent.text("address")] = agent.one_of("status", *STATUSES)
            case names:
                raise Unsupported(
                    f"{change.place} is {', '.join(names)}, which this host's world does not do"
                )

    def _wake_result(self, target: str, reason: str | None) -> None:
        if reason is None:
            self._refusals.pop(target, None)
        else:
            self._refusals[target] = reason
