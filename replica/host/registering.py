"""Registering agents, and deciding on them, whoever asks for it (sections 6.7, 9.1, C.3)."""

from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender
from core.message import Message
from replica.host import agents, binding, raising
from replica.host.agents import Agent
from replica.node import Node
from replica.records.commits import CommitPoint


def gate(node: Node, found: Agent, requested_by: str | None = None) -> Message:
    """The gate of a pending registration, which is raised where a crash kept it from being."""
    return raising.registration_gate(node, GATE_TYPES["agent-registration"], found, requested_by)


def approve(node: Node, by: Sender, address: str) -> Agent:
    """Let an agent send and receive: the answer to its registration's gate.

    Raises DmpError: `not-found` on `agent`; `conflict` there for one that was revoked or is registered elsewhere.
    """
    found = agents.need(node.store.db, address)
    if found.status == "revoked":
        raise agents.not_pending(found)
    if found.status == "pending":
        agents.need_registered_at(found, node.me)
        _answer(node, by, found, "approve")
    return agents.need(node.store.db, address)


def revoke(node: Node, by: Sender, address: str) -> Agent:
    """Let an agent send no more; it may be registered again. What an external one still asks is closed.

    Raises DmpError `not-found` on `agent`.
    """
    found = agents.need(node.store.db, address)
    if found.status == "pending" and found.replica == node.me:
        _answer(node, by, found, "deny")
    elif found.status != "revoked":
        with node.store.transaction(CommitPoint.AGENT) as db:
            agents.decide(db, found.address, "revoked")
    if binding.external(found.address) is not None and (edge := binding.edge()) is not None:
        edge.revoked(node, found.address)
    return agents.need(node.store.db, address)


def mute(node: Node, address: str, *, muted: bool) -> Agent:
    """Keep an agent's mail without its being pushed or told of, or end that. Raises DmpError `not-found` on `agent`."""
    found = agents.need(node.store.db, address)
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.mute(db, found.address, muted)
    return agents.need(node.store.db, address)


def _answer(node: Node, by: Sender, found: Agent, choice: str) -> None:
    node.engine.reply(by, gate(node, found).id, ReplyInput("", choice=choice))
