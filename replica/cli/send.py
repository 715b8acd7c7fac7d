"""`dmp send` and `dmp reply`: mail leaves in the next sync; who can read it is fixed and told now."""

import click

from core.engine import Sent
from core.errors import DmpError, invalid
from core.inputs import ReplyInput, SendInput
from core.message import ABSENT, Data, Message, Ref, Standing, State
from crypto.canonical import JsonError, JsonValue, parse
from replica.cli import given
from replica.cli.context import Cli, command, pass_cli
from replica.cli.messages import kept_here, replica_text
from replica.cli.standing import Signing, no_part, signing
from replica.cli.text import listing, quoted
from replica.host.principals import correspondent
from replica.host.shapes import delivery_json, message_json, row_json
from replica.mail.newly_reading import new_since_the_last
from replica.node import Node
from replica.records import remote

acting_as = click.option(
    "--as",
    "acting",
    metavar="ADDRESS",
    help="Send as a live session or an approved agent of yours, or as somebody whom this machine stands in for; "
    "by default as yourself.",
)


@command("send")
@click.argument("words", nargs=-1, required=True, metavar="ADDRESS... BODY")
@click.option(
    "--kind",
    default="message",
    show_default=True,
    metavar="KIND",
    help="message, question, handoff, notice, answer, or a private one such as x-ping.",
)
@click.option(
    "--choice",
    "choices",
    multiple=True,
    metavar="TEXT",
    help="An answer that a question offers; may be repeated. With --kind answer: the one chosen.",
)
@click.option("--blocking", is_flag=True, help="You wait for the answer to this question.")
@click.option("--urgent", is_flag=True, help="Push it also to those a channel reaches.")
@click.option("--wake", is_flag=True, help="Ask to have a session started for a work item that has none.")
@click.option("--reply-to", metavar="ID", help="The message it replies to.")
@click.option(
    "--ref", "refs", multiple=True, metavar="TYPE:ID", help="What it is about: commit:1a2b3c, file:a.py."
)
@click.option(
    "--data",
    metavar="JSON",
    help="Data for programs, with a type that starts with x-; or a session's scope gate.",
)
@click.option("--session", metavar="TEXT", help="The session it was sent from.")
@acting_as
@click.option("--idempotency-key", metavar="TEXT", help="Send once, however often this command is run.")
@pass_cli
def send(
    cli: Cli,
    words: tuple[str, ...],
    kind: str,
    choices: tuple[str, ...],
    blocking: bool,
    urgent: bool,
    wake: bool,
    reply_to: str | None,
    refs: tuple[str, ...],
    data: str | None,
    session: str | None,
    acting: str | None,
    idempotency_key: str | None,
) -> None:
    """Send BODY to one or more addresses, such as human:bob.

    A BODY of `-` is read from standard input, without its last line break; put `--` before one that starts
    with a dash. Works offline: the mail leaves with the next sync.
    """
    *addresses, body = words
    if not addresses:
        raise click.UsageError("say for whom it is, and then what: ADDRESS... BODY")
    if kind == "answer" and len(choices) > 1:
        raise click.UsageError("an answer makes one choice")
    sent = SendInput(
        to=tuple(addresses),
        kind=kind,
        body=given.body(body),
        reply_to=reply_to,
        session=session,
        refs=tuple(_ref(text, index) for index, text in enumerate(refs)),
        data=_data(data),
        urgent=urgent,
        blocking=blocking,
        choices=choices if choices and kind != "answer" else None,
        choice=choices[0] if choices and kind == "answer" else None,
        wake="request" if wake else "none",
        idempotency_key=idempotency_key,
    )
    with cli.acting() as node:
        _tell(cli, node, node.engine.send(correspondent(node, acting), sent))


@command("reply")
@click.argument("message", metavar="ID")
@click.argument("body", required=False, default="")
@click.option("--choice", metavar="TEXT", help="The choice made, where the question offers some.")
@acting_as
@click.option("--idempotency-key", metavar="TEXT", help="Send once, however often this command is run.")
@pass_cli
def reply(
    cli: Cli, message: str, body: str, choice: str | None, acting: str | None, idempotency_key: str | None
) -> None:
    """Reply to the sender of a message, or answer a question.

    BODY may be left out where a choice says it all; a BODY of `-` is read from standard input.
    """
    said = ReplyInput(given.body(body), choice=choice, idempotency_key=idempotency_key)
    with cli.acting() as node:
        _tell(cli, node, node.engine.reply(correspondent(node, acting), message, said))


@command("answer")
@click.argument("question", metavar="ID")
@click.argument("said", metavar="CHOICE|TEXT")
@click.argument("body", required=False, default="", metavar="[TEXT]")
@acting_as
@pass_cli
def answer(cli: Cli, question: str, said: str, body: str, acting: str | None) -> None:
    """Answer a question, a handoff or a gate.

    Say one of the choices it offers, and why if you like; or answer in your own words where it takes them.
    """
    with cli.acting() as node:
        who = correspondent(node, acting)
        # What the acting one may not read is as absent here as it is to the reply (section 13.5).
        asked = node.engine.message(question) if node.engine.can_read(who, question) else None
        choice = said if asked is not None and said in (asked.choices or ()) else None
        if asked is not None and choice is None and body:
            raise _no_choice(asked)
        text = body if choice is not None else said
        try:
            sent = node.engine.reply(who, question, ReplyInput(given.body(text), choice=choice))
        except DmpError as error:
            raise error if asked is None or error.field != "choice" else _no_choice(asked) from None
        _tell(cli, node, sent)


def _no_choice(asked: Message) -> DmpError:
    if not asked.choices:
        return invalid("choice", "it offers no choices; put the whole answer in quotation marks")
    offered = ", ".join(quoted(choice) for choice in asked.choices)
    return invalid("choice", f"it takes one of {offered}, to the letter; say why after it")


@command("close")
@click.argument("question", metavar="ID")
@click.argument("reason")
@pass_cli
def close(cli: Cli, question: str, reason: str) -> None:
    """Close a question, a handoff or a gate that was asked here, without an answer.

    Nothing follows from it, and nobody can answer it any more; REASON is kept with it.
    """
    with cli.acting() as node:
        closed = node.engine.close(question, reason)
    if cli.as_json:
        cli.screen.document({"message": message_json(node.host, closed)})
    else:
        cli.screen.say(f"Closed {question}.")


def _ref(text: str, index: int) -> Ref:
    kind, colon, name = text.partition(":")
    if not colon:
        raise invalid(f"refs[{index}]", "a ref is TYPE:ID, such as commit:1a2b3c")
    return Ref(kind, name)


def _data(text: str | None) -> Data:
    if text is None:
        return ABSENT
    try:
        return parse(text).value
    except JsonError as error:
        raise invalid("data", f"data must be JSON: {error}") from None


def _tell(cli: Cli, node: Node, sent: Sent) -> None:
    """Say what was sent, who can read it, and for whom it stays here."""
    message, db = sent.message, node.store.db
    rows = remote.rows_of(db, message.id)
    readers = remote.readers_of(db, message.id)
    screen = cli.screen
    signs = Signing.GOES_ON if sent.replayed else signing(node)
    reason = None if readers else no_part(node)
    if signs is Signing.STOPPED:
        readers, reason = (), f"This replica signs nothing any more (see `{cli.command('problems')}`)"
    stays = _stays(node, message, rows, reason)
    if cli.as_json:
        screen.document(
            {
                "message": message_json(node.host, message),
                "replayed": sent.replayed,
                "downgraded": sent.downgraded,
                "deliveries": [delivery_json(each) for each in sent.deliveries],
                "remote": [row_json(row) for row in rows],
                "readers": [_reader_json(node, reader) for reader in readers],
                "notes": [*stays],
            }
        )
        return
    screen.say(f"{'Sent before' if sent.replayed else 'Sent'}: {message.id}")
    if sent.downgraded:
        screen.say("It is not urgent: its sender sent as many urgent messages this hour as one may.")
    if readers:
        who = listing([replica_text(node, reader) for reader in readers])
        screen.say(f"Who can read it, as of now, besides this machine: {who}.")
        new = [] if node.team is None or sent.replayed else new_since_the_last(db, node.team, message)
        if new:
            who = listing([replica_text(node, reader) for reader in new])
            screen.say(f"New since your last message to the same address: {who}.")
    screen.say(*stays, *_waits(node, sent, rows))
    if message.kind == "answer" and signs is not Signing.STOPPED:
        screen.say(_settled(node, message))
    if readers and signs is Signing.PAUSED:
        screen.say(f"It waits: this replica signs nothing for now (see `{cli.command('problems')}`).")
    elif readers and not sent.replayed:
        screen.say(f"It leaves with the next sync: {cli.command('sync')}")


def _stays(node: Node, message: Message, rows: list[remote.RemoteRow], reason: str | None) -> list[str]:
    """Why mail stays here that should have gone to a teammate, or to what this machine does not know.

    `reason` says why no mail at all leaves this machine, as the beginning of a sentence; None while it does.
    """
    gone = () if reason is not None else {row.recipient for row in rows}
    kept = {each: kept_here(node, each) for each in message.to if each != message.sender and each not in gone}
    found = []
    if reason is not None and (
        rows or any(each.startswith("human:") for each in kept if each != node.address)
    ):
        found.append(f"{reason}: the mail stays here, and is not sent later.")
        kept = {each: why for each, why in kept.items() if not each.startswith("human:")}
    return [*found, *(f"Mail to {each} stays here: {why}." for each, why in kept.items() if why is not None)]


def _waits(node: Node, sent: Sent, rows: list[remote.RemoteRow]) -> list[str]:
    """Where mail waits that nobody sees at once; a waking that was asked for is told of by itself."""
    message = sent.message
    if not sent.deliveries and not rows and message.to != (node.host.system_address,):
        return ["It is stored, and delivered to nobody: one's own mail is not delivered to oneself."]
    if sent.replayed or message.wake == "request":
        return []
    held = [
        each.recipient
        for each in sent.deliveries
        if each.state is State.HELD and each.recipient.startswith("task:")
    ]
    why = {each: node.host.why_not_woken(each) for each in held if kept_here(node, each) is None}
    return [
        f"It waits for a session of {each}." if reason is None else f"It waits, and {each} is {reason}."
        for each, reason in why.items()
    ]


def _settled(node: Node, answer: Message) -> str:
    if answer.standing is Standing.ACCEPTED:
        return "The question is settled with this answer."
    question = None if answer.reply_to is None else node.engine.message(answer.reply_to)
    settler = "the asker's machine" if question is None else replica_text(node, question.origin or node.me)
    return f"The question is answered; {settler} settles it when it receives this."


def _reader_json(node: Node, replica: str) -> dict[str, JsonValue]:
    team = node.team
    member = None if team is None else team.view.members.get(replica)
    key = None if team is None else team.keys.get(replica)
    return {
        "replica": replica,
        "handle": None if member is None else member.handle,
        "device": None if key is None else key.device,
    }
