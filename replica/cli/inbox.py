"""`dmp inbox` and `dmp open`: what came in, and what waits for an answer."""

from typing import Final

import click

from core.message import Delivery, Message
from crypto.canonical import JsonValue
from crypto.keys import HANDLE
from replica.cli.context import Cli, command, pass_cli
from replica.cli.messages import (
    UNREAD,
    choices_text,
    kind_text,
    question_json,
    question_text,
    reply_command,
    sender_text,
    show_data,
)
from replica.cli.screen import Screen
from replica.cli.text import CLIPPED, counted, lines, listing, moment
from replica.host.principals import mailboxes
from replica.host.shapes import delivery_json, message_json
from replica.node import Node
from replica.records import remote

FIRST_CHARACTERS: Final = 160
"""Characters of a body's first line that a list shows."""


@command("inbox", paged=True)
@click.option("--unread", is_flag=True, help="Only what was not read yet.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    metavar="N",
    help="At most the newest N.",
)
@click.option(
    "--as",
    "whose",
    metavar="ADDRESS",
    help="The mail of a session, a work item or an agent of yours, or of somebody whom this machine stands in "
    "for; a session's has its work item's too.",
)
@click.option(
    "--observed",
    is_flag=True,
    help="Instead, what came here and is nobody's mail on this machine: all mail where it is an observer, else what "
    "you sent from another one.",
)
@pass_cli
def inbox(cli: Cli, unread: bool, limit: int, whose: str | None, observed: bool) -> None:
    """List your mail on this machine, the newest last."""
    screen = cli.screen
    if observed:
        if unread or whose is not None:
            raise click.UsageError("what is only observed is nobody's, and is not marked read")
        _list_observed(cli, limit)
        return
    with cli.node() as node:
        hosted = [] if whose is not None else _hosted(node)
        boxes, states = mailboxes(node, whose), UNREAD if unread else None
        shown, total = node.engine.newest(boxes, states, limit), node.engine.count(boxes, states)
        if cli.as_json:
            screen.document(
                {
                    "deliveries": [
                        {
                            "delivery": delivery_json(delivery),
                            "message": message_json(node.host, message),
                            "answer": question_json(node, message),
                        }
                        for delivery, message in shown
                    ],
                    "total": total,
                    "hosted": [{"address": address, "unread": count} for address, count in hosted],
                }
            )
            return
        for delivery, message in shown:
            _show(screen, node, delivery, message)
    if not total:
        screen.say("No unread mail." if unread else "No mail.")
    elif len(shown) < total:
        screen.say(f"{counted(total - len(shown), 'older message')} not shown; see --limit.")
    for address, count in hosted:
        if count:
            screen.say(
                f"{counted(count, 'unread message')} for {address}: {cli.command(f'inbox --as {address}')}"
            )


def _hosted(node: Node) -> list[tuple[str, int]]:
    """Those whom this machine stands in for, and how much of their mail nobody read."""
    member = None if node.team is None else node.team.view.members.get(node.me)
    handles = () if member is None else (each for each in member.hosts if HANDLE.fullmatch(each))
    return [(address, node.engine.count((address,), UNREAD)) for address in map("human:{}".format, handles)]


def _list_observed(cli: Cli, limit: int) -> None:
    screen = cli.screen
    with cli.node() as node:
        ids, total = remote.observed(node.store.db, limit)
        found = [message for id_ in ids if (message := node.engine.message(id_)) is not None]
        if cli.as_json:
            shown: list[JsonValue] = [
                {"message": message_json(node.host, message), "answer": question_json(node, message)}
                for message in found
            ]
            screen.document({"messages": shown, "total": total})
            return
        for message in found:
            to = listing([*message.to])
            screen.say(
                f"{message.id}  {moment(message.created_at)}  {kind_text(message)}  "
                f"{sender_text(node, message)} to {to}"
            )
            _show_first_line(screen, message)
    if not found:
        screen.say("Nothing came here that is not somebody's mail.")
    elif len(found) < total:
        screen.say(f"{counted(total - len(found), 'older message')} not shown; see --limit.")


@command("open", paged=True)
@pass_cli
def open_questions(cli: Cli) -> None:
    """List the blocking questions that nobody has answered.

    Those that wait for you, and those you wait for.
    """
    screen = cli.screen
    with cli.node() as node:
        found = node.engine.open_blocking()
        if cli.as_json:
            screen.document({"open": [message_json(node.host, message) for message in found]})
            return
        for message in found:
            mine = message.sender == node.address
            waits = "you wait for an answer to" if mine else _whose(node, message)
            screen.say(f"{waits} {message.id}, {sender_text(node, message)}, {moment(message.created_at)}")
            _show_first_line(screen, message)
            show_data(screen, message, CLIPPED)
            if not mine:
                screen.exact(f"  {cli.command(reply_command(message))}")
    if not found:
        screen.say("No open questions.")


def _whose(node: Node, question: Message) -> str:
    """Whose answer a question waits for; you may give it whoever is asked, since you decide here."""
    asked = [delivery.recipient for delivery in node.engine.deliveries(question.id)]
    return "waits for your answer:" if node.address in asked or not asked else f"waits for {listing(asked)}:"


def _show(screen: Screen, node: Node, delivery: Delivery, message: Message) -> None:
    state = "unread" if delivery.state in UNREAD else str(delivery.state)
    screen.say(
        f"{state:<8} {message.id}  {moment(message.created_at)}  {kind_text(message)}  "
        f"{sender_text(node, message)}"
    )
    _show_first_line(screen, message)
    status = question_text(node, message)
    if status is not None:
        screen.say(f"  {status}")


def _show_first_line(screen: Screen, message: Message) -> None:
    cut = lines(message.body)[0][:FIRST_CHARACTERS]
    screen.quote(cut if cut == message.body else f"{cut} …")
    if message.choices:
        screen.say(f"  {choices_text(message.choices)}")
