"""`dmp serve`: one replica as a process that runs for long."""

import os
from ipaddress import ip_address

import click

from core.errors import Code, DmpError
from replica.cli.context import Cli, command, pass_cli
from replica.host.config import read_config
from replica.host.settings import SETTINGS, Setting, SettingError, with_flags


def _flag(setting: Setting) -> click.Option:
    plain = setting.shown_default.strip('"')  # quoted in the file, and not on a command line
    default = "" if setting.default in (None, "") else f" [default: {plain}]"
    return click.Option(
        [setting.flag, setting.name.replace(".", "_")],
        metavar="VALUE",
        help=f"{setting.says[0].upper()}{setting.says[1:]}; {setting.must_be}.{default}",
    )


def is_loopback(address: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    host = address.rpartition(":")[0].removeprefix("[").removesuffix("]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@command("serve", params=[_flag(each) for each in SETTINGS])
@pass_cli
def serve(cli: Cli, /, **flags: str | None) -> None:
    """Run this replica until it is told to stop: it syncs, delivers, keeps time, and serves programs and browsers.

    Commands work beside it as they do without it. Every option is a key of `config.toml` too (`dmp service config`
    prints them all) and an environment variable, DMP_SERVE_LISTEN for --listen; an option goes before the environment,
    and that before the file. SIGTERM or Ctrl-C ends it; nothing is lost, however it ends.
    """
    given = {each.name: text for each in SETTINGS if (text := flags[each.name.replace(".", "_")]) is not None}
    try:
        # What is opened in this process, and what that starts, goes by them too.
        os.environ.update(with_flags({}, given))
    except SettingError as error:
        raise click.UsageError(str(error)) from None
    config = read_config(cli.root / "config.toml")
    if config.fault is not None:
        raise DmpError(Code.INVALID, config.fault)
    from replica.service import logs
    from replica.service.process import Started
    from replica.service.process import serve as run

    logs.configure(config.serve.log, "debug" if cli.verbose else config.serve.log_level)

    def ready(started: Started) -> None:
        if cli.as_json:
            cli.screen.document(
                {
                    "replica": started.replica,
                    "url": started.url,
                    "metrics": started.metrics,
                    "mcp": started.mcp,
                    **started.bindings,
                    "pid": os.getpid(),
                }
            )
        else:
            cli.screen.say(f"Serving {started.replica} at {started.url} (Ctrl-C ends it).")
            for name, url in started.bindings.items():
                cli.screen.say(f"  {name}: {url}")
            if not is_loopback(config.serve.listen):
                cli.screen.note(
                    "dmp: it is reached from other machines, without TLS: whoever is on the way reads what it answers, "
                    "and the tokens. Put a proxy with TLS in front of it instead; see docs/service.md"
                )

    run(cli.root, config, ready)
    cli.screen.note("Stopped. Nothing is lost: the next run goes on from here.")
