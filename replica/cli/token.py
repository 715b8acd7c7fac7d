"""`dmp token`: who may use the host API, and as whom (section A.1)."""

import click

from core.errors import not_found
from crypto.canonical import JsonValue
from replica.api import tokens as making
from replica.api.credentials import still_good
from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import moment, quoted
from replica.records import tokens
from replica.records.commits import CommitPoint
from replica.records.tokens import Kind, Tier, Token

_HOLDERS = {
    Kind.SHARED: "every process of this machine",
    Kind.CODE: "a link that signs in",
}


@group("token")
def token() -> None:
    """Tokens by which programs use this replica over HTTP, while `dmp serve` runs."""


@token.command("add")
@click.option(
    "--for",
    "whose",
    metavar="ADDRESS",
    help="A session, an agent of yours that is approved, or somebody whom this machine stands in for; by default you.",
)
@click.option(
    "--tier",
    type=click.Choice([tier.value for tier in Tier]),
    help="What somebody else's lets do: request by default, decide to answer gates too.",
)
@click.option("--label", default="", metavar="TEXT", help="What it is for, to know it again.")
@click.option(
    "--days", type=click.IntRange(1, 3650), metavar="N", help="Good for so long; without, until revoked."
)
@pass_cli
def add(cli: Cli, whose: str | None, tier: str | None, label: str, days: int | None) -> None:
    """Make a token. It is shown this once, and alone on standard output.

    Whoever has it is you, or whom it is for. A session's is good while the session lives, an agent's while it is
    approved.
    """
    with cli.acting() as node:
        made = making.make(node, whose, tier=None if tier is None else Tier(tier), label=label, days=days)
    if cli.as_json:
        cli.screen.document({"token": _json(made.token), "secret": made.secret})
        return
    cli.screen.note(
        f"{made.token.id} is a token of {made.token.address}. It is kept nowhere; take it back with:"
    )
    cli.screen.note(f"  {cli.command(f'token revoke {made.token.id}')}")
    cli.screen.exact(made.secret)


@token.command("list")
@pass_cli
def list_(cli: Cli) -> None:
    """List the tokens there are, without their secrets.

    One that is not good now may be so again: that of a session which lives no more, for one.
    """
    with cli.node() as node:
        now = node.now()
        found = [
            (each, each.kind is Kind.CODE or still_good(node, each))
            for each in tokens.every(node.store.db)
            if each.expires_at is None or each.expires_at > now
        ]
    if cli.as_json:
        cli.screen.document({"tokens": [{**_json(each), "good": good} for each, good in found]})
    elif found:
        cli.screen.table(
            ("token", "whose", "tier", "made", "good", "label"),
            [
                [
                    each.id,
                    each.address or _HOLDERS.get(each.kind, "nobody"),
                    "" if each.tier is None else str(each.tier),
                    moment(each.made_at),
                    _how_long(each) if good else "not now",
                    quoted(each.label) if each.label else "",
                ]
                for each, good in found
            ],
        )
    else:
        cli.screen.say("No tokens.")


@token.command("revoke")
@click.argument("token_id", metavar="TOKEN")
@pass_cli
def revoke(cli: Cli, token_id: str) -> None:
    """Let a token, or a browser that is signed in, be good no more. TOKEN is what `dmp token list` shows first."""
    with cli.node() as node, node.store.transaction(CommitPoint.TOKEN) as db:
        if not tokens.remove(db, token_id):
            raise not_found("TOKEN", "there is no such token; `dmp token list` shows those there are")
    if cli.as_json:
        cli.screen.document({"done": True})
    else:
        cli.screen.say(f"{token_id} is good no more.")


def _how_long(each: Token) -> str:
    return "until revoked" if each.expires_at is None else f"until {moment(each.expires_at)}"


def _json(each: Token) -> dict[str, JsonValue]:
    return {
        "id": each.id,
        "kind": str(each.kind),
        "address": each.address,
        "tier": None if each.tier is None else str(each.tier),
        "label": each.label,
        "madeAt": each.made_at,
        "expiresAt": each.expires_at,
    }
