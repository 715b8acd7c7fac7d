"""`dmp envelope`: signed envelopes for A2A messages, for a team that runs its own issuer."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from core.errors import DmpError, invalid
from replica.cli.context import Cli, group, pass_cli
from replica.cli.failures import Failure

if TYPE_CHECKING:
    from bindings.machine_envelope.extension import Params
    from bindings.machine_envelope.verifying import Policy
    from crypto.canonical import JsonValue
    from replica.host.config import EnvelopeConfig

_MOST_BYTES: Final = 1024 * 1024

_recipient = click.option("--recipient", metavar="DID", help="The receiver, as its card names it.")
_kind = click.option("--kind", metavar="WORD", help="The purpose that its card states.")
_protocol = click.option("--context-protocol", metavar="TEXT", help="The protocol that its card states.")


@group("envelope")
def envelope() -> None:
    """Signed envelopes for A2A messages: issue them, check them, keep the key."""


@group("key")
def key() -> None:
    """The key of this host that envelopes are issued with, and that names it."""


envelope.add_command(key)


@key.command("make", example="dmp envelope key make")
@pass_cli
def make(cli: Cli) -> None:
    """Make the key, in a file that you alone can read. There is one, and it is never replaced."""
    from bindings.machine_envelope.keyfile import make_key, path_of

    with cli.node() as node:
        made = make_key(cli.root, os.urandom(32), node.now())
    if cli.as_json:
        cli.screen.document({"did": made.did, "file": str(path_of(cli.root))})
        return
    cli.screen.note(f"The key is in {path_of(cli.root)}; keep a copy of that file. Its public name is:")
    cli.screen.exact(made.did)


@key.command("show", example="dmp envelope key show")
@pass_cli
def show(cli: Cli) -> None:
    """Show the public name of the key, for whoever is to accept its envelopes."""
    from bindings.machine_envelope.keyfile import path_of, read_key

    found = read_key(cli.root)
    if cli.as_json:
        cli.screen.document({"did": found.did, "file": str(path_of(cli.root))})
    else:
        cli.screen.exact(found.did)


@envelope.command("issue", example="dmp envelope issue message.json --recipient <did> --kind offer")
@click.argument("file", metavar="FILE")
@_recipient
@_kind
@_protocol
@click.option(
    "--sender", metavar="DID", help="Whose message it is, which you have checked; by default this host's."
)
@click.option(
    "--minutes",
    type=click.IntRange(1, 24 * 60),
    default=5,
    show_default=True,
    help="How long the envelope is good.",
)
@pass_cli
def issue(
    cli: Cli,
    file: str,
    recipient: str | None,
    kind: str | None,
    context_protocol: str | None,
    sender: str | None,
    minutes: int,
) -> None:
    """Print a message with an envelope, signed with this host's key.

    FILE is the message, as A2A 1.0 has it in JSON, or - for standard input. What is printed is to be sent as it is,
    with the header A2A-Extensions; this sends nothing. What no option says is as the settings of this host have it.
    """
    from bindings.machine_envelope.attaching import attached, semantic, terms
    from bindings.machine_envelope.did_key import read_did
    from bindings.machine_envelope.issuing import issue as make_envelope
    from bindings.machine_envelope.keyfile import read_key
    from replica.node import wall_clock

    message, own = _read(file), read_key(cli.root)
    published = _params(cli, recipient, kind, context_protocol, own.did)
    if sender is not None:
        read_did(sender, "--sender")
    bare = semantic(message, published)
    bound = terms(bare, published, sender or own.did)
    made = make_envelope(own.key, bound, wall_clock(), os.urandom, minutes * 60_000)
    cli.screen.document(attached(bare, published, made))


@envelope.command("verify", example="dmp envelope verify signed.json")
@click.argument("file", metavar="FILE")
@_recipient
@_kind
@_protocol
@click.option(
    "--issuer",
    "issuers",
    multiple=True,
    metavar="DID",
    help="Whose envelopes are good; may be given several times.",
)
@click.option("--at", metavar="TIME", help="The time to check for, such as 2026-01-31T12:00:00Z; else now.")
@pass_cli
def verify(
    cli: Cli,
    file: str,
    recipient: str | None,
    kind: str | None,
    context_protocol: str | None,
    issuers: tuple[str, ...],
    at: str | None,
) -> None:
    """Tell whether the envelope of a message is good, and else why not. Nothing is spent by this.

    FILE is the message, as A2A 1.0 has it in JSON, or - for standard input. What no option says is as the settings of
    this host have it. Exits with 1 for an envelope that is not good.
    """
    from bindings.machine_envelope.rfc3339 import read_time
    from bindings.machine_envelope.spending import is_spent
    from bindings.machine_envelope.verifying import RejectedError
    from bindings.machine_envelope.verifying import verify as check
    from core.timestamp import timestamp
    from replica.cli.text import moment, quoted
    from replica.node import wall_clock

    message, required = _read(file), _policy(cli, recipient, kind, context_protocol, issuers)
    try:
        now = wall_clock() if at is None else read_time(at)
    except (ValueError, OverflowError):
        raise click.UsageError("--at is a time of RFC 3339, such as 2026-01-31T12:00:00Z") from None
    metadata = message.get("metadata")
    carried = metadata.get(required.metadata_key) if isinstance(metadata, dict) else None
    if carried is None:
        raise Failure(
            "required", f"the message has no envelope, which is in its metadata as {required.metadata_key}"
        )
    try:
        found = check(carried, message, required, now)
    except RejectedError as error:
        raise Failure(str(error.reason), error.text, details={"good": False}) from None
    with cli.node() as node:
        spent = is_spent(node.store.db, found)
    until = timestamp(found.valid_until)
    if cli.as_json:
        cli.screen.document(
            {
                "good": True,
                "spent": spent,
                "id": found.id,
                "issuer": found.issuer,
                "sender": found.sender,
                "validUntil": until,
            }
        )
        return
    cli.screen.say(
        f"Good until {moment(until)}: message {quoted(found.message_id)} of {found.sender},",
        f"signed by {found.issuer}.",
        *(["It was used at this host already, which takes it no more."] if spent else []),
    )


def _read(file: str) -> "dict[str, JsonValue]":
    """The message of a file. Raises DmpError `invalid` for what is none."""
    from crypto.canonical import JsonError, decode, parse

    if file == "-":
        raw = sys.stdin.buffer.read(_MOST_BYTES + 1)
    else:
        with Path(file).open("rb") as opened:
            raw = opened.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise invalid("FILE", f"a message is at most {_MOST_BYTES} bytes")
    try:
        found = parse(decode(raw)).value
    except JsonError as error:
        raise invalid("FILE", f"a message is JSON: {error}") from None
    if not isinstance(found, dict) or "messageId" not in found:
        raise invalid("FILE", "a message is a JSON object with a messageId, and is not a whole request")
    return found


def _settings(cli: Cli) -> "EnvelopeConfig":
    from replica.home.directory import Directory
    from replica.host.config import read_config

    config = read_config(Directory(cli.root).config_file)
    if config.fault is not None:
        raise invalid(None, config.fault)
    return config.machine_envelope


def _params(
    cli: Cli, recipient: str | None, kind: str | None, context_protocol: str | None, own: str
) -> "Params":
    from bindings.machine_envelope.extension import Params

    settings = _settings(cli)
    return Params(
        recipient or settings.recipient or own,
        kind or settings.kind,
        context_protocol or settings.context_protocol,
        acquisition="",
    )


def _policy(
    cli: Cli, recipient: str | None, kind: str | None, context_protocol: str | None, issuers: tuple[str, ...]
) -> "Policy":
    from dataclasses import replace

    from bindings.machine_envelope.settled import policy

    settings = _settings(cli)
    given = replace(
        settings,
        recipient=recipient or settings.recipient,
        kind=kind or settings.kind,
        context_protocol=context_protocol or settings.context_protocol,
        issuers=issuers or settings.issuers,
    )
    try:
        return policy(cli.root, given)
    except DmpError as error:
        if error.field is None or not error.field.startswith("machine_envelope."):
            raise
        name = error.field.removeprefix("machine_envelope.")
        raise DmpError(error.code, error.message, f"--{name.removesuffix('s')}") from None
