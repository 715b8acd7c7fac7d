"""`dmp team compact`: take back the content of mail that everybody has."""

import click

from core.errors import Code, DmpError
from replica.chain.prune import DAY_MS, Compacted, compact
from replica.cli.connection import remembered_link, sync_pass, transport_to
from replica.cli.context import Cli, command, pass_cli
from replica.cli.text import counted
from replica.node import Node
from transports.pruning import Prunes


@command("compact")
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(0, 36_500),
    default=0,
    metavar="DAYS",
    help="Leave what was sent in the last DAYS days.",
)
@pass_cli
def compact_now(cli: Cli, days: int) -> None:
    """Take this machine's own mail off the branch, as far as all its readers have it.

    What stays is a stub, which still proves that there was a message. Syncing does the same once a day with what is
    older than a week. The history of the branch keeps the sealed content, for whoever can read the repository.
    """
    with cli.node() as node:
        link = remembered_link(node)
        with transport_to(node, link) as transport, sync_pass(cli.screen, node, transport) as sync:
            report = sync.run()
            if report.paused is not None:
                raise DmpError(Code.CONFLICT, report.paused)
            if not isinstance(transport, Prunes):
                raise DmpError(
                    Code.CONFLICT,
                    f"nothing can be taken off {transport.url}: a relay drops by itself what everybody has, and a "
                    "directory keeps everything",
                )
            done = compact(node, transport, older_than_ms=days * DAY_MS)
        held = {_name(node, replica): count for replica, count in sorted(done.held_up_by.items())}
    if cli.as_json:
        cli.screen.document({"ops": done.ops, "saved": done.saved, "waitingFor": dict(held)})
        return
    cli.screen.say(*_told(done, held))


def _told(done: Compacted, held: dict[str, int]) -> list[str]:
    said = ["There is nothing to take back."]
    if done.ops:
        smaller = f"the tip of the branch is {done.saved:,} bytes smaller"
        said = [
            f"Took back the content of {counted(done.ops, 'op')}: {smaller}. Its history keeps the sealed content."
        ]
    return said + [f"{name} has yet to acknowledge {counted(count, 'op')}." for name, count in held.items()]


def _name(node: Node, replica: str) -> str:
    return replica if node.team is None else node.team.describe(replica)
