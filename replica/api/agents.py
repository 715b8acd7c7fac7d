"""Agents: registering one, and deciding on it (sections 6.7, 9.1, C.3, A.2)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from core.address import parse_address
from core.errors import DmpError, conflict, invalid
from core.inputs import Sender
from replica.api import tokens
from replica.api.schemas import TEXT, given, listing, record, ref
from replica.api.table import Answer, Call, Handler, Reply, Route, Who, Work
from replica.host import agents, registering
from replica.host.agents import Agent
from replica.host.shapes import agent_json
from replica.node import DirectoryNode, Node
from replica.records.commits import CommitPoint
from replica.records.tokens import Kind


def _roster(node: DirectoryNode, _: Call) -> Reply:
    return Reply(200, {"agents": [agent_json(each) for each in agents.every(node.store.db)]})


def _register(node: DirectoryNode, call: Call) -> Reply:
    name, client = _text(call, "name"), _text(call, "client")
    requester = call.caller.address or node.address
    with _on("name"):
        if ":" in name or "/" in name:
            raise invalid("name", "a name is the last part of the agent's address alone")
        address = agents.own_address(name, requester.partition(":")[2])
        with node.store.transaction(CommitPoint.AGENT) as db:
            known = agents.find(db, address)
            if known is not None and known.status == "pending":
                raise conflict(
                    "name", f"{address} waits to be approved already; revoke it to register it anew"
                )
            made = agents.register(db, node.random, address, client, node.me)
            token = tokens.keep(node, Kind.AGENT, address, None, "given when it registered")
    gate = registering.gate(node, made, requester)
    return Reply(201, {"agent": agent_json(made), "token": token.secret, "gate": gate.id})


def _text(call: Call, name: str) -> str:
    if not isinstance(call.body, dict):
        raise invalid(None, "the input must be a JSON object")
    found = call.body.get(name)
    if not isinstance(found, str):
        raise invalid(name, f"{name} must be a string")
    return found


def _decision(decide: Callable[[Node, Sender, str], Agent]) -> Handler:
    def handle(node: DirectoryNode, call: Call) -> Reply:
        with _on("addr"):
            parse_address(call.path["addr"], "addr", node.host.grammar)
            return Reply(200, {"agent": agent_json(decide(node, call.caller.sender, call.path["addr"]))})

    return handle


@contextmanager
def _on(field: str) -> Iterator[None]:
    """Name the caller's own field where the host speaks of an agent (section 10.2)."""
    try:
        yield
    except DmpError as error:
        if error.field != "agent":
            raise
        raise DmpError(error.code, error.message, field) from None


def _mute(node: Node, _: Sender, address: str) -> Agent:
    return registering.mute(node, address, muted=True)


def _unmute(node: Node, _: Sender, address: str) -> Agent:
    return registering.mute(node, address, muted=False)


_ONE: Final = record({"agent": ref("Agent")})
_NO_AGENT: Final = "No agent of that address is registered."


def _route(what: str, summary: str, decide: Callable[[Node, Sender, str], Agent]) -> Route:
    return Route(
        "POST",
        f"/api/agents/{{addr}}/{what}",
        f"{what}Agent",
        Who.DECIDE,
        summary,
        _decision(decide),
        {200: Answer("The agent as it is now.", _ONE)},
        work=Work.WRITE,
        refuses={
            404: _NO_AGENT,
            409: "It is registered on another machine, or was revoked, or the gate was decided meanwhile.",
        },
        tag="agents",
    )


ROUTES: Final = (
    Route(
        "GET",
        "/api/agents/roster",
        "listAgents",
        Who.REQUEST,
        "List every registered agent, never its token",
        _roster,
        {200: Answer("Them, by address.", record({"agents": listing(ref("Agent"))}))},
        tag="agents",
    ),
    Route(
        "POST",
        "/api/agents/register",
        "registerAgent",
        Who.REQUEST,
        "Register an agent, and ask the owner to approve it",
        _register,
        {
            201: Answer(
                "Pending. `token` is the agent's, shown this once: it is good once the gate is approved.",
                record({"agent": ref("Agent"), "token": TEXT, "gate": ref("Identifier")}),
            )
        },
        work=Work.WRITE,
        takes=given(
            {
                "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*$", "maxLength": 64},
                "client": {"type": "string", "minLength": 1, "maxLength": agents.MAX_CLIENT},
            }
        ),
        refuses={409: "An agent of that name is approved, or waits to be."},
        tag="agents",
    ),
    _route("approve", "Approve an agent, as the answer to its open gate", registering.approve),
    _route("revoke", "Revoke an agent: its token is good no more", registering.revoke),
    _route("mute", "Keep an agent's mail without its being pushed or told of", _mute),
    _route("unmute", "End a mute", _unmute),
)
