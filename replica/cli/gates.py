"""`dmp gates`: what waits for your decision, and what was decided (section 5)."""

import time
from typing import Final

import click

from core.errors import invalid, not_found
from core.gate_data import data_type
from core.gate_types import GATE_TYPES
from core.message import Message
from crypto.canonical import JsonError, JsonValue, parse
from replica.cli import given
from replica.cli.context import Cli, group, pass_cli
from replica.cli.failures import Failure
from replica.cli.messages import choices_text, sender_text, show_data
from replica.cli.text import CLIPPED, moment, quoted
from replica.host import raising
from replica.host.raising import RAISED_HERE, Outcome
from replica.host.shapes import message_json
from replica.node import Node

_LOOK_SECONDS: Final = 0.05
"""How often a waiting command looks whether the store has changed."""

_TAKE_UP_SECONDS: Final = 10.0
"""How often it takes up what others left undone, and what is due."""


@group("gates", invoke_without_command=True, paged=True)
@click.option("--all", "everything", is_flag=True, help="Those that were decided or closed, too.")
@click.pass_context
@pass_cli
def gates(cli: Cli, ctx: click.Context, /, everything: bool) -> None:
    """List the gates that wait for your decision; raise one; wait for one."""
    if ctx.invoked_subcommand is not None:
        return
    with cli.node() as node:
        found = [
            (gate, raising.outcome(node, gate)) for gate in raising.every_gate(node, everything=everything)
        ]
        if cli.as_json:
            cli.screen.document({"gates": [_json(node, gate, outcome) for gate, outcome in found]})
            return
        for gate, outcome in found:
            _show(cli, node, gate, outcome)
    if not found:
        cli.screen.say("No gates." if everything else "No open gates.")


@gates.command("raise")
@click.argument("type_", metavar="TYPE")
@click.argument("body", required=False, metavar="[TEXT]")
@click.option(
    "--data", required=True, metavar="JSON", help="The gate's data without its type; - for standard input."
)
@click.option("--reply-to", metavar="ID", help="The message it is about.")
@click.option("--idempotency-key", metavar="TEXT", help="Raise it once, however often this command is run.")
@pass_cli
def raise_(
    cli: Cli, type_: str, body: str | None, data: str, reply_to: str | None, idempotency_key: str | None
) -> None:
    """Ask yourself to decide something, in the name of this host.

    A program does this that parked what it wants to do, and waits for the decision with `dmp gates wait`.
    TYPE is tool-approval, overseer-action, memory, task-proposal or doc. A session raises a scope gate with
    `dmp send --as`, and `dmp agent register` that of an agent.
    """
    if type_ not in RAISED_HERE:
        message = f"a gate that a command raises is one of {', '.join(RAISED_HERE)}"
        raise click.BadParameter(message, param_hint="TYPE")
    with cli.acting() as node:
        sent = raising.raise_gate(
            node,
            GATE_TYPES[type_],
            _data(data),
            body=None if body is None else given.body(body),
            reply_to=reply_to,
            key=idempotency_key,
        )
    if cli.as_json:
        cli.screen.document({"gate": message_json(node.host, sent.message), "replayed": sent.replayed})
        return
    cli.screen.say(f"{'Raised before' if sent.replayed else 'Raised'}: {sent.message.id}. Answer it with:")
    cli.screen.exact(f"  {cli.command(f'answer {sent.message.id} CHOICE')}")


@gates.command("wait")
@click.argument("gate_id", metavar="ID")
@pass_cli
def wait(cli: Cli, gate_id: str) -> None:
    """Wait until a gate is decided, and print the choice.

    Exits 1 when it is closed without a decision. Any question or handoff may be waited for.
    """
    with cli.acting() as node:
        gate = node.engine.message(gate_id)
        if gate is None:
            raise not_found("ID", "no message has that id; `dmp gates --all` lists the gates")
        if not gate.takes_answer:
            raise invalid("ID", "that is no gate, question or handoff, and gets no answer")
        with cli.screen.working(f"waiting for an answer to {gate.id}"):
            outcome = _await(node, gate)
    document = _json(node, gate, outcome)
    if outcome.reason is not None:
        raise Failure(
            "conflict", f"it was closed without a decision: {quoted(outcome.reason)}", details=document
        )
    if cli.as_json:
        cli.screen.document(document)
    else:
        cli.screen.exact(outcome.answer.body if outcome.choice is None else outcome.choice)


def _await(node: Node, gate: Message) -> Outcome:
    due = time.monotonic() + _TAKE_UP_SECONDS
    while True:
        if time.monotonic() > due:
            node.take_up()
            due = time.monotonic() + _TAKE_UP_SECONDS
        found = raising.outcome(node, gate)
        if found is not None and raising.is_settled(node, found, gate):
            return raising.outcome(node, gate) or found
        time.sleep(_LOOK_SECONDS)


def _data(text: str) -> dict[str, JsonValue]:
    try:
        value = parse(given.body(text)).value
    except JsonError as error:
        raise invalid("data", f"data must be JSON: {error}") from None
    if not isinstance(value, dict):
        raise invalid("data", "a gate's data is a JSON object")
    return {name: member for name, member in value.items() if name != "type"}


def _show(cli: Cli, node: Node, gate: Message, outcome: Outcome | None) -> None:
    cli.screen.say(f"{gate.id}  {moment(gate.created_at)}  {data_type(gate.data)}, {sender_text(node, gate)}")
    cli.screen.quote(gate.body)
    show_data(cli.screen, gate, CLIPPED)
    if outcome is None:
        if gate.choices:
            cli.screen.say(f"  {choices_text(gate.choices)}")
        cli.screen.exact(f"  {cli.command(f'answer {gate.id} CHOICE')}")
        return
    if outcome.reason is not None:
        cli.screen.say(f"  closed: {quoted(outcome.reason)}")
        return
    done = "" if outcome.applied else "; what follows from it was not done yet, and is tried again"
    said = quoted(outcome.choice if outcome.choice is not None else outcome.answer.body)
    cli.screen.say(f"  decided {said} by {outcome.answer.sender}{done}")


def _json(node: Node, gate: Message, outcome: Outcome | None) -> dict[str, JsonValue]:
    return {
        "gate": message_json(node.host, gate),
        "type": data_type(gate.data),
        "answer": None if outcome is None else message_json(node.host, outcome.answer),
        "choice": None if outcome is None else outcome.choice,
        "closed": None if outcome is None else outcome.reason,
        "applied": outcome is not None and outcome.applied,
    }
