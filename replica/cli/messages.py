"""Messages, deliveries and remote rows, in a person's words and as JSON."""

from collections.abc import Sequence, Set
from typing import Final

from core.address import parse_address
from core.gate_data import is_close
from core.message import Delivery, Message, Standing, State
from crypto.canonical import JsonValue, canonical
from replica.cli.screen import Screen
from replica.cli.text import listing, moment, quoted
from replica.host import agents, items
from replica.host.shapes import message_json
from replica.node import Node
from replica.records import remote
from replica.records.remote import RemoteRow
from replica.shared.homes import homes

UNREAD: Final = frozenset((State.HELD, State.PUSHED, State.NOTIFIED))
"""States of mail that its recipient has not read."""


def replica_text(node: Node, replica: str) -> str:
    """A replica in a person's words, as far as the team is known."""
    team = node.team
    if replica == node.me:
        return "this machine"
    return replica if team is None else team.describe(replica)


def sender_text(node: Node, message: Message) -> str:
    """Who sent a message, from which machine when that is another one, and whether a binding brought it."""
    if message.origin is not None:
        return f"{message.sender} (remote: {replica_text(node, message.origin)})"
    if node.host.external(message.sender) is not None:
        return f"{message.sender} (external)"
    return "dmp on this machine" if message.sender == node.engine.host.system_address else message.sender


def kind_text(message: Message) -> str:
    """What a message is, with what a person must see at once."""
    marks = [message.kind]
    if message.blocking:
        marks.append("blocking")
    if message.urgent:
        marks.append("urgent")
    return ", ".join(marks)


def header(node: Node, message: Message) -> str:
    """The line above a message's body."""
    return (
        f"{message.id}  {moment(message.created_at)}  {kind_text(message)}, "
        f"{sender_text(node, message)} to {listing([*message.to])}"
    )


def choices_text(choices: Sequence[str]) -> str:
    """What a question offers."""
    return f"choices: {', '.join(quoted(choice) for choice in choices)}"


def attributes(message: Message) -> list[str]:
    """What a message carries beside its body, in lines."""
    found = []
    if message.choices:
        found.append(choices_text(message.choices))
    if message.choice is not None:
        found.append(f"choice: {quoted(message.choice)}")
    for ref in message.refs:
        at = "" if ref.at is None else f" at {quoted(ref.at)}"
        found.append(f"about: {ref.type} {quoted(ref.id)}{at}")
    if message.session is not None:
        found.append(f"session: {quoted(message.session)}")
    return found


def show_data(screen: Screen, message: Message, limit: int | None = None) -> None:
    """Show what a message says to programs, its sender's words too: a gate's is what is decided about.

    What follows a decision goes by the data and not by the body, so whoever decides must see it. With `limit`,
    no more than so many characters of each member are shown.
    """
    if not isinstance(message.data, dict):
        return
    members = {name: canonical(value).decode() for name, value in message.data.items()}
    screen.say("  data:")
    screen.quote(
        "\n".join(
            f"{canonical(name).decode()}: {text if limit is None or len(text) <= limit else f'{text[:limit]} …'}"
            for name, text in members.items()
        )
    )


def question_text(node: Node, question: Message) -> str | None:
    """Whether a question or handoff is open, answered or settled; None for other messages."""
    if not question.takes_answer:
        return None
    answer = node.engine.answer_of(question.id)
    if answer is None:
        return "open: no answer yet"
    if is_close(answer, node.host.system_address):
        reason = answer.data.get("reason") if isinstance(answer.data, dict) else None
        return f"closed without an answer: {quoted(str(reason))}"
    said = quoted(answer.choice if answer.choice is not None else answer.body)
    if answer.standing is Standing.PENDING:
        return f"answered {said} by {answer.sender}; pending until {_settler(node, question)} settles it"
    return f"settled: {said} by {sender_text(node, answer)}"


def reply_command(question: Message) -> str:
    """The command that answers a question."""
    return f"reply {question.id} TEXT{' --choice CHOICE' if question.choices else ''}"


def answer_text(message: Message) -> str | None:
    """What became of a message that was sent as an answer; None for other messages."""
    match message.standing:
        case Standing.ACCEPTED:
            return "this is the answer"
        case Standing.PENDING:
            return "the answer here, pending until the asker's machine settles it"
        case Standing.CANDIDATE:
            return "another answer came first; pending until the asker's machine settles it"
        case Standing.SUPERSEDED:
            return "kept as a reply: another answer was accepted"
        case Standing.VOIDED:
            return "set aside: only those who decide answer gates"
    return None


def delivery_texts(node: Node, message: Message, waiting: Set[str]) -> list[str]:
    """How far a message got: its deliveries here, and what its other homes reported."""
    here = [_delivery_text(node, delivery) for delivery in node.engine.deliveries(message.id)]
    rows = remote.rows_of(node.store.db, message.id)
    return here + [_row_text(node, row, message, waiting) for row in rows]


def _delivery_text(node: Node, delivery: Delivery) -> str:
    reason = kept_here(node, delivery.recipient)
    if reason is not None:
        return f"{delivery.recipient}: kept here; {reason}"
    return f"{delivery.recipient}: delivered here: {delivery.state}"


def kept_here(node: Node, address: str) -> str | None:
    """Why mail to an address stays on this machine; None when that is where it is read, or it goes on."""
    team = node.team
    if address in (node.address, node.host.system_address) or (
        team is not None and node.me in homes(node.store.db, team.view, address)
    ):
        return None
    match parse_address(address, "to").kind:
        case "human":
            return "nobody of that name has a machine in the team"
        case "task" if items.find(node.store.db, address) is None:
            return "there is no work item of that id here"
        case "task" if team is not None and not homes(node.store.db, team.view, address):
            return "the work item has neither a live session nor an assignee, so it waits on this machine"
        case "run" if node.host.sessions_here.find(address) is None:
            return "there is no session of that id here"
        case "agent" if agents.find(node.store.db, address) is None:
            return "no agent of that name is registered here"
    return None


def _row_text(node: Node, row: RemoteRow, message: Message, waiting: Set[str]) -> str:
    homes_text = listing([replica_text(node, home) for home in row.homes])
    refusals = "; ".join(
        f"refused by {replica_text(node, home)}: {quoted(reason)}"
        for home, reason in sorted(row.refused.items())
    )
    if row.state == remote.REFUSED:
        return f"{row.recipient}: {refusals}"
    if row.state == remote.FORWARDED:
        if message.origin is not None:
            state = f"for {homes_text}; no report here yet"
        elif message.id in waiting:
            state = f"waiting to be published to {homes_text}"
        else:
            state = f"published to {homes_text}; no report yet"
    else:
        state = f"delivered to {homes_text}: {row.state}"
    return f"{row.recipient}: {state}{f'; {refusals}' if refusals else ''}"


def _settler(node: Node, question: Message) -> str:
    return "this machine" if question.origin is None else replica_text(node, question.origin)


def question_json(node: Node, question: Message) -> dict[str, JsonValue] | None:
    """A question's answer for programs; None for other messages and while it is open."""
    answer = node.engine.answer_of(question.id) if question.takes_answer else None
    return None if answer is None else message_json(node.host, answer)
