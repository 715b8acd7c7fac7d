"""`dmp web`: a link that signs a browser in."""

from core.errors import Code, DmpError
from replica.api import tokens
from replica.cli.context import Cli, command, pass_cli
from replica.service.lock import holder


@command("web")
@pass_cli
def web(cli: Cli) -> None:
    """Print a link that opens this replica's page, signed in as you.

    It works once, within ten minutes, while `dmp serve` runs.
    """
    with cli.node() as node:
        serving = holder(node.directory.service_lock)
        if serving is None or serving.url is None:
            raise DmpError(
                Code.UNAVAILABLE, f"nothing serves this replica; start that with `{cli.command('serve')}`"
            )
        link = f"{serving.url}/node/open?code={tokens.code(node).secret}"
    if cli.as_json:
        cli.screen.document({"url": link, "seconds": tokens.CODE_SECONDS})
        return
    cli.screen.note("Open this in a browser on this machine; it works once, within ten minutes:")
    cli.screen.exact(link)
