"""A person's host whose owner rules on waking as a vector says, and which writes down every hook it is called with."""

from dataclasses import replace

from core.host import Limits, WakeError, WakeRuling
from core.message import Message
from crypto.canonical import JsonValue
from replica.home.locks import Held
from replica.host import agents
from replica.host.config import Config, MemoryPolicy, Policy
from replica.host.person import PersonHost
from replica.host.place import Place
from replica.node import Node
from replica.records.commits import CommitPoint
from vectors.adapter.given import RULINGS, STATUSES, Given, wake_result
from vectors.adapter.host import ScriptedError
from vectors.adapter.members import Members, Unsupported


class WatchedHost(PersonHost):
    """The host of a replica. `calls` are the hooks' calls as section 12.4.5 has them.

    A wake that succeeds is written down and starts nothing: what follows is for the vector's steps.
    """

    def __init__(self, node: Node, given: Given) -> None:
        super().__init__(node.store, node.place, node.me, node.reader)
        self.calls: list[dict[str, str]] = []
        self._node = node
        self._rulings = dict(given.rulings)
        self._refusals = dict(given.refusals)
        self._failing = set(given.fail_push)
        self._held: dict[str, Held] = {}

    # What its owner says, and the hooks

    def admit_external(self, recipient: str, message: Message, *, direct: bool) -> bool:  # noqa: ARG002 - every one
        self.calls.append({"hook": "admitExternal", "recipient": recipient, "message": message.id})
        return True

    def rule_wake(self, target: str, message: Message) -> WakeRuling:
        self.calls.append({"hook": "decide", "target": target, "message": message.id})
        return self._rulings.get(target, "deny")

    def wake(self, target: str, message: Message) -> None:
        self.calls.append({"hook": "wake", "target": target, "message": message.id})
        reason = self._refusals.get(target)
        if reason is not None:
            raise WakeError(reason)

    def reaches(self, _session: str) -> bool:
        return True

    def push(self, session: str, message: Message) -> None:
        self._session_hook("push", session, message)

    def notify(self, session: str, message: Message) -> None:
        self._session_hook("notify", session, message)

    def notify_human(self, human: str, message: Message) -> None:
        if human == self.person:  # a teammate hears of mail on a machine of their own
            self.calls.append({"hook": "notifyHuman", "actor": human, "message": message.id})

    def published(self, message: Message) -> None:
        self.calls.append({"hook": "published", "message": message.id})

    def _session_hook(self, hook: str, session: str, message: Message) -> None:
        self.calls.append({"hook": hook, "session": session, "message": message.id})
        if session in self._failing:
            raise ScriptedError

    # The world

    def change(self, value: JsonValue) -> None:
        """Apply the change of a `world` step. Raises MalformedError, and Unsupported."""
        change = Members(value, "change")
        match change.names():
            case ("startSession",):
                started = change.object("startSession")
                self._start(started.text("session"), f"task:{started.text('workItem')}")
            case ("endSession",):
                self._end(f"task:{change.object('endSession').text('workItem')}")
            case ("ruling",):
                ruling = change.object("ruling")
                self._rulings[ruling.text("target")] = ruling.one_of("ruling", *RULINGS)
            case ("wakeResult",):
                result = change.object("wakeResult")
                reason = wake_result(result.object("result"))
                self._refusals.pop(result.text("target"), None)
                if reason is not None:
                    self._refusals[result.text("target")] = reason
            case ("failPush",):
                self._failing = set(change.texts("failPush"))
            case ("agentStatus",):
                agent = change.object("agentStatus")
                with self._node.store.transaction(CommitPoint.AGENT) as db:
                    agents.decide(db, agent.text("address"), agent.one_of("status", *STATUSES))
            case names:
                raise Unsupported(
                    f"{change.place} is {', '.join(names)}, which this replica's world does not do"
                )

    def register(self, given: Given) -> None:
        """Register the agents of a vector's world on this machine."""
        with self._node.store.transaction(CommitPoint.AGENT) as db:
            for agent in given.agents:
                agents.register(db, self._node.random, agent.address, "a program", self._node.me)
                agents.decide(db, agent.address, agent.status)

    def mute(self, address: str) -> None:
        """Mute an agent on this machine."""
        with self._node.store.transaction(CommitPoint.AGENT) as db:
            agents.mute(db, address, True)

    def _start(self, session: str, work_item: str) -> None:
        with self._node.store.transaction(CommitPoint.SESSION):
            made = self.sessions_here.make(self._node.random, work_item, session, now=self._node.now())
            self._held[work_item] = self.sessions_here.hold(made.address)
            self.sessions_here.begin(made)

    def _end(self, work_item: str) -> None:
        live = self.sessions_here.live_of(work_item)
        if live is None:
            return
        self._held.pop(work_item).release()
        with self._node.store.transaction(CommitPoint.SESSION):
            self.sessions_here.end(live, now=self._node.now())


def place_of(place: Place, limits: Limits, memory_policy: Policy) -> Place:
    """A place whose owner set these limits, and what becomes of memory that teammates publish."""
    config = Config(limits=limits, memory=MemoryPolicy(teammates=memory_policy))
    return replace(place, config=lambda: config)
