"""`dmp op show`: one op, and everything that can be checked about it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import click

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.op import ABSENT, SEALED_TYPES, Op, Unverified
from replica.audit.one_op import OneOp, ops_at
from replica.audit.open import STORE
from replica.audit.reading import Reading
from replica.cli.audit_source import reading_of, source_options
from replica.cli.context import Cli, group, pass_cli
from replica.cli.failures import REFUSED, USAGE, Failure
from replica.cli.messages import attributes, header
from replica.cli.screen import Screen
from replica.cli.text import counted, listing, moment, quoted
from replica.home.directory import Directory
from replica.host.shapes import message_json
from replica.mail.op_content import Closed, Content, Mail, content_of
from replica.mail.payloads import DeliveryReport, Refusal, Settle, StateEntry
from replica.node import DirectoryNode
from replica.records.about_op import problems_about, waiting_because

_LISTS: Final = "`dmp audit`, of the same source, says how many ops each replica has"

_MARK: Final = {True: "yes", False: "NO", None: "?"}


@group("op")
def op() -> None:
    """Look at signed ops."""


@op.command("show", paged=True)
@click.argument("replica")
@click.argument("seq", type=click.IntRange(min=1))
@source_options
@pass_cli
def show(cli: Cli, replica: str, seq: int, source: str, branch: str, team: str | None) -> int:
    """Show the op at SEQ in the chain of REPLICA, and all that was checked about it.

    The beginning of a replica's id will do. Where several ops claim the place, all are shown, that of the chain first.
    Exits 0 when the chain goes over the op and it counts, 1 when something is wrong with it, and 2 when there is none.
    """
    screen = cli.screen
    with ExitStack() as stack:
        reading = stack.enter_context(reading_of(cli, source, branch, team, keep_marks=True))
        (wanted,) = reading.asked_for(replica)
        found = ops_at(reading, wanted, seq)
        shown = reading.source.shown
        if not found:
            raise Failure(
                "not-found", f"there is no op {seq} of {wanted} in {shown}", hint=_LISTS, exit=USAGE
            )
        node = None
        if source == STORE and Directory(cli.root).key_file.exists():
            node = stack.enter_context(cli.node())
        if cli.as_json:
            screen.document({"source": shown, "ops": [_json(each, node) for each in found]})
        else:
            for index, each in enumerate(found):
                screen.say(*([""] if index else []))
                _show(screen, reading, each, node)
    return 0 if len(found) == 1 and found[0].counts else REFUSED


def _show(screen: Screen, reading: Reading, one: OneOp, node: DirectoryNode | None) -> None:
    read = one.read
    title = f"Op {read.seq} of {read.replica}"
    if not isinstance(read, Unverified):
        screen.say(f"{title}: a line that is no op ({read.reason}).")
        return
    whose = reading.handle(read.replica)
    state = (
        ""
        if one.accepted
        else ", not on its chain"
        if not read.pruned
        else ", a stub that is not on its chain"
    )
    screen.say(
        f"{title}{f', of {quoted(whose)}' if whose else ''}: {'a stub of ' if read.pruned else ''}{read.type}{state}",
        f"  clock     {moment(timestamp(read.hlc.ms))} ({read.hlc})",
        f"  hash      {read.hash}",
        f"  prev      {read.prev}",
        f"  content   {read.body_hash}",
        f"  size      {counted(len(one.evidence.raw), 'byte')}",
    )
    if read.to is not None:
        screen.say(f"  sealed to {listing([_named(reading, each) for each in read.to])}")
    screen.say("Checked:")
    screen.say(*(f"  {_MARK[each.holds]:<3} {each.what}: {each.text}" for each in one.checks))
    if read.body is not ABSENT:
        screen.say("It says:")
        screen.quote(json.dumps(one.body, indent=2, ensure_ascii=False))
    if node is not None and one.accepted:
        _show_content(screen, node, one)
        screen.say(*_noted(node, one))


def _named(reading: Reading, replica: str) -> str:
    handle = reading.handle(replica)
    return replica if handle is None else f"{quoted(handle)} ({replica})"


def _show_content(screen: Screen, node: DirectoryNode, one: OneOp) -> None:
    content = _content(node, one)
    match content:
        case None:
            return
        case Closed():
            screen.say(f"Inside: {content.reason}.")
        case Mail():
            by = "" if content.handed_on_by is None else f", handed on by {content.handed_on_by}"
            screen.say(f"Inside, a message for {listing([*content.recipients])}{by}:")
            screen.say(f"  {header(node, content.message)}")
            if content.may_read:
                screen.quote(content.message.body)
                screen.say(*(f"  {line}" for line in attributes(content.message)))
            else:
                screen.say("  Its text is not for you to read, or was refused here.")
        case _:
            screen.say("Inside:", *(f"  {_entry_text(each)}" for each in content.entries))


def _content(node: DirectoryNode, one: OneOp) -> Content | None:
    """What is sealed in an op, None for one in the clear and for a stub."""
    read = one.read
    if not isinstance(read, Unverified) or read.type not in SEALED_TYPES or read.pruned:
        return None
    entry = read.entry()
    return content_of(node, entry) if isinstance(entry, Op) else None


def _entry_text(entry: StateEntry) -> str:
    match entry:
        case DeliveryReport():
            return f"{entry.message} to {entry.recipient}: {entry.state}"
        case Settle():
            closed = "" if entry.closed is None else f", closed: {quoted(entry.closed)}"
            return f"question {entry.question} is settled by {entry.answer}{closed}"
        case Refusal():
            return f"{entry.message} was refused: {quoted(entry.reason)}"


def _noted(node: DirectoryNode, one: OneOp) -> Iterator[str]:
    """What this replica refused about an op, and why."""
    assert one.read.replica is not None
    assert one.read.seq is not None
    place = node.store.db, one.read.replica, one.read.seq
    for why in waiting_because(*place):
        yield f"Here: {why}."
    for problem in problems_about(*place):
        yield f"Noted here, {problem.subject}: {problem.text}."


def _json(one: OneOp, node: DirectoryNode | None) -> dict[str, JsonValue]:
    found = one.to_json()
    if node is None or not one.accepted:
        return found
    assert one.read.replica is not None
    assert one.read.seq is not None
    place = node.store.db, one.read.replica, one.read.seq
    content = _content(node, one)
    found["content"] = None if content is None else _content_json(node, content)
    found["waits"] = [*waiting_because(*place)]
    found["problems"] = [{"subject": each.subject, "text": each.text} for each in problems_about(*place)]
    return found


def _content_json(node: DirectoryNode, content: Content) -> dict[str, JsonValue]:
    match content:
        case Closed():
            return {"closed": content.reason}
        case Mail():
            message = message_json(node.host, content.message)
            if not content.may_read:
                for member in ("body", "data", "choices", "choice", "refs"):
                    message.pop(member, None)
            return {
                "message": message,
                "recipients": [*content.recipients],
                "forwardedBy": content.handed_on_by,
                "mayRead": content.may_read,
            }
        case _:
            return {"entries": [_entry_json(each) for each in content.entries]}


def _entry_json(entry: StateEntry) -> dict[str, JsonValue]:
    match entry:
        case DeliveryReport():
            return {
                "t": "delivery",
                "message": entry.message,
                "recipient": entry.recipient,
                "state": entry.state,
            }
        case Settle():
            return {
                "t": "settle",
                "question": entry.question,
                "answer": entry.answer,
                "closed": entry.closed,
            }
        case Refusal():
            return {"t": "refused", "message": entry.message, "reason": entry.reason}
