"""`dmp read` and `dmp thread`: a message, and the conversation it is part of."""

import click

from core.errors import not_found
from core.inputs import Sender
from core.message import Message
from replica.cli.context import Cli, command, pass_cli
from replica.cli.messages import (
    answer_text,
    attributes,
    delivery_texts,
    header,
    question_json,
    question_text,
    reply_command,
    show_data,
)
from replica.cli.screen import Screen
from replica.host.principals import mailboxes
from replica.host.shapes import delivery_json, message_json, row_json
from replica.node import Node
from replica.records import outbox, remote


@command("read", paged=True)
@click.argument("message_id", metavar="ID")
@click.option(
    "--as",
    "whose",
    metavar="ADDRESS",
    help="Read as a session or an agent of yours, or as somebody whom this machine stands in for; by default as "
    "yourself.",
)
@pass_cli
def read(cli: Cli, message_id: str, whose: str | None) -> None:
    """Show a message, and mark it as read.

    Its sender is told that you read it.
    """
    screen = cli.screen
    with cli.node() as node:
        own = mailboxes(node, whose)
        message = _message(node, own[0], message_id)
        deliveries = [
            node.engine.mark_read(delivery.id) if delivery.recipient in own else delivery
            for delivery in node.engine.deliveries(message.id)
        ]
        if cli.as_json:
            screen.document(
                {
                    "message": message_json(node.host, message),
                    "deliveries": [delivery_json(each) for each in deliveries],
                    "answer": question_json(node, message),
                }
            )
            return
        _show(screen, node, message)
        if message.takes_answer and node.engine.answer_of(message.id) is None and deliveries:
            screen.say("Answer it with:")
            screen.exact(f"  {cli.command(reply_command(message))}")


@command("thread", paged=True)
@click.argument("message_id", metavar="ID")
@pass_cli
def thread(cli: Cli, message_id: str) -> None:
    """Show a thread, and how far each message in it got.

    ID is a thread's, or that of any message in it.
    """
    screen = cli.screen
    with cli.node() as node:
        known = node.engine.message(message_id)
        messages = node.engine.thread(message_id if known is None else known.thread)
        if not messages:
            raise not_found("ID", "no thread has that id, and no message; `dmp inbox` lists them")
        waiting = outbox.waiting_messages(node.store.db)
        if cli.as_json:
            screen.document(
                {
                    "thread": messages[0].thread,
                    "messages": [
                        {
                            "message": message_json(node.host, message),
                            "deliveries": [
                                delivery_json(each) for each in node.engine.deliveries(message.id)
                            ],
                            "remote": [row_json(row) for row in remote.rows_of(node.store.db, message.id)],
                            "waiting": message.id in waiting,
                        }
                        for message in messages
                    ],
                }
            )
            return
        for index, message in enumerate(messages):
            if index:
                screen.say("")
            _show(screen, node, message)
            screen.say(*(f"  {line}" for line in delivery_texts(node, message, waiting)))


def _message(node: Node, reader: str, message_id: str) -> Message:
    """A message that its reader may read; one that is not there and one of others look alike (section 13.5)."""
    found = node.engine.message(message_id)
    may = node.engine.can_read(Sender(reader, can_decide=reader == node.address), message_id)
    if found is None or not may:
        raise not_found("ID", "no message has that id; `dmp inbox` lists those you have")
    return found


def _show(screen: Screen, node: Node, message: Message) -> None:
    screen.say(header(node, message))
    screen.quote(message.body)
    show_data(screen, message)
    lines = [*attributes(message), question_text(node, message), answer_text(message)]
    screen.say(*(f"  {line}" for line in lines if line is not None))
