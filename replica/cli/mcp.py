"""`dmp mcp`: the tools by which an agent writes and reads mail (Appendix B)."""

import os

import click

from replica.cli.context import Cli, command, pass_cli

SESSION_VARIABLE = "DMP_SESSION"


@command("mcp")
@click.option(
    "--as",
    "acting",
    metavar="ADDRESS",
    help="Who uses the tools: an agent of yours, or a live session. By default the session that $DMP_SESSION names.",
)
@pass_cli
def mcp(cli: Cli, acting: str | None) -> None:
    """Serve an agent's tools over the Model Context Protocol, on standard input and output.

    The agent's client starts this; docs/agents.md shows how the usual ones are told to. What the tools send is the
    agent's word, and never yours: it must be registered and approved.
    """
    named = acting or os.environ.get(SESSION_VARIABLE)
    if not named:
        raise click.UsageError("say who uses the tools, such as --as agent:YOU/NAME")
    from replica.mcp.principals import address_of, standing
    from replica.service import logs

    with cli.node() as node:
        address = address_of(node, named)
        problem = standing(node, address)
    logs.configure("auto", "debug" if cli.verbose else "warning")
    if problem is not None:
        cli.screen.note(f"dmp: {problem}")
    from replica.mcp.stdio import run

    run(cli.root, address)
