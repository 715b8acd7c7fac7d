"""The world a vector starts from: its `given` (section 12.4.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from core.errors import DmpError
from core.host import AgentStatus, External, Limits, WakeRuling
from core.message import Delivery, Message, Standing, State, Via
from core.received import message_from_json
from core.timestamp import milliseconds, timestamp
from crypto.canonical import JsonValue
from vectors.adapter.members import MalformedError, Members, Unsupported

START: Final = "2026-09-23T10:00:00.000Z"
STATUSES: Final[tuple[AgentStatus, ...]] = ("pending", "approved", "revoked")
RULINGS: Final[tuple[WakeRuling, ...]] = ("allow", "ask", "deny")
BINDINGS: Final[tuple[External, ...]] = ("client", "peer")

_MEMBERS: Final = frozenset(
    (
        "clock",
        "seed",
        "workItems",
        "auxSessions",
        "agents",
        "channels",
        "implicit",
        "owner",
        "rulings",
        "wakeResults",
        "failPush",
        "failOnAnswered",
        "limits",
        "external",
        "store",
    )
)


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A work item, its live session if it has one, and its earlier ones; all as addresses."""

    address: str
    live_session: str | None
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered agent."""

    address: str
    status: AgentStatus
    muted: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """What the store holds before the first step."""

    messages: tuple[Message, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    applied_gates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """The world at the start. `clock` is in milliseconds since 1970.

    `refusals` holds the targets whose wake fails, each with the reason.
    """

    clock: int = milliseconds(START)
    seed: int = 0
    work_items: tuple[WorkItem, ...] = ()
    aux_sessions: tuple[str, ...] = ()
    agents: tuple[Agent, ...] = ()
    channels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    implicit: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    owner: str | None = None
    rulings: Mapping[str, WakeRuling] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    fail_push: tuple[str, ...] = ()
    fail_effects: bool = False
    limits: Limits = field(default_factory=Limits)
    external: Mapping[str, External] = field(default_factory=dict)
    rows: Rows = Rows()

    @classmethod
    def from_json(cls, value: JsonValue) -> "Given":
        """Read a vector's `given`. Raises MalformedError, and Unsupported for what section 12.4.2 does not list."""
        given = Members(value, "given")
        unknown = sorted(set(given.names()) - _MEMBERS)
        if unknown:
            raise Unsupported(f"the world has {', '.join(unknown)}, which this host does not know")
        clock = _clock(given)
        rulings, wakes, external = (given.object(name) for name in ("rulings", "wakeResults", "external"))
        implicit = given.object("implicit")
        results = {target: wake_result(wakes.object(target)) for target in wakes.names()}
        return cls(
            clock=clock,
            seed=given.number("seed") if "seed" in given else 0,
            work_items=tuple(map(_work_item, given.objects("workItems"))),
            aux_sessions=given.texts("auxSessions"),
            agents=tuple(map(_agent, given.objects("agents"))),
            channels={each.text("name"): each.texts("members") for each in given.objects("channels")},
            implicit={name: implicit.texts(name) for name in implicit.names()},
            owner=given.text("owner") if "owner" in given else None,
            rulings={target: rulings.one_of(target, *RULINGS) for target in rulings.names()},
            refusals={target: reason for target, reason in results.items() if reason is not None},
            fail_push=given.texts("failPush"),
            fail_effects=given.flag("failOnAnswered"),
            limits=_limits(given.object("limits")),
            external={address: external.one_of(address, *BINDINGS) for address in external.names()},
            rows=_rows(given.object("store"), clock),
        )


def wake_result(result: Members) -> str | None:
    """Return the reason why waking fails; None where it succeeds."""
    return None if result.flag("ok") else result.text("reason")


def _clock(given: Members) -> int:
    if "clock" not in given:
        return milliseconds(START)
    try:
        return milliseconds(given.text("clock"))
    except ValueError as error:
        raise MalformedError(f"given.clock is {error}") from None


def _work_item(item: Members) -> WorkItem:
    live = item.text("liveSession") if "liveSession" in item else None
    return WorkItem(f"task:{item.text('id')}", live, item.texts("sessions"))


def _agent(agent: Members) -> Agent:
    return Agent(agent.text("address"), agent.one_of("status", *STATUSES), agent.flag("muted"))


def _limits(limits: Members) -> Limits:
    defaults = Limits()
    return Limits(
        limits.number("urgentPerHour") if "urgentPerHour" in limits else defaults.urgent_per_hour,
        limits.number("agentTurnsPerThreadPerHour")
        if "agentTurnsPerThreadPerHour" in limits
        else defaults.agent_turns_per_thread_per_hour,
    )


def _rows(store: Members, clock: int) -> Rows:
    return Rows(
        tuple(stored_message(row, clock) for row in store.objects("messages")),
        tuple(_delivery(row, clock) for row in store.objects("deliveries")),
        store.texts("appliedGates"),
    )


def stored_message(row: Members, clock: int) -> Message:
    """Read a seeded message; what it leaves out is as a plain message that starts a thread has it."""
    plain: dict[str, JsonValue] = {
        "thread": row.text("id"),
        "replyTo": None,
        "refs": [],
        "urgent": False,
        "blocking": False,
        "wake": "none",
        "createdAt": timestamp(clock),
    }
    try:
        message = message_from_json({**plain, **row.as_mapping()})
    except DmpError as error:
        raise MalformedError(f"{row.place}: {error.message}") from None
    return replace(
        message,
        origin=row.text("origin") if "origin" in row else None,
        standing=Standing.ACCEPTED if message.kind == "answer" else None,
    )


def _delivery(row: Members, clock: int) -> Delivery:
    return Delivery(
        row.text("id"),
        row.text("message"),
        row.text("recipient"),
        row.one_of("via", *Via) if "via" in row else Via.DIRECT,
        row.one_of("state", *State),
        row.text("session") if row.as_mapping().get("session") is not None else None,
        timestamp(clock),
    )
