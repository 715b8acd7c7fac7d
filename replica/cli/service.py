"""`dmp service`: what `dmp serve` goes by, whether it runs, and its systemd unit."""

import click

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.cli.context import Cli, group, pass_cli
from replica.cli.text import moment
from replica.home.directory import Directory
from replica.home.keyfile import read_key_file
from replica.service.unit import NAME, Unit


@group("service")
def service() -> None:
    """See whether a service runs and what it goes by, and let systemd start it."""


@service.command("config")
@pass_cli
def config(cli: Cli) -> None:
    """Print every setting there is, as a `config.toml` in which each stands with its default as a comment.

    With --json, what each is now, and whether that is from the environment, the file, or the default.
    """
    from replica.host.config import read_values
    from replica.host.settings import SETTINGS, SettingError, template

    if not cli.as_json:
        for line in template().splitlines():
            cli.screen.exact(line)
        return
    try:
        everything = read_values(Directory(cli.root).config_file)
        of_file = read_values(Directory(cli.root).config_file, {})
    except SettingError as error:
        raise DmpError(Code.INVALID, str(error)) from None
    cli.screen.document(
        {
            "settings": [
                {
                    "key": each.name,
                    "flag": each.flag,
                    "variable": each.variable,
                    "value": everything.get(each.name, each.default),
                    "default": each.default,
                    "from": "default"
                    if each.name not in everything
                    else "file"
                    if everything[each.name] == of_file.get(each.name, object())
                    else "environment",
                }
                for each in SETTINGS
            ]
        }
    )


def _name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if NAME.fullmatch(value) is None:
        raise click.BadParameter("a name is up to 64 letters, digits, _, . and -")
    return value


_named = click.option(
    "--name", default="dmp", show_default=True, callback=_name, help="The unit's name, without .service."
)


@service.command("install")
@_named
@pass_cli
def install(cli: Cli, name: str) -> None:
    """Write a systemd user unit that runs `dmp serve` in this directory; start nothing."""
    unit = _unit(cli, name)
    read_key_file(Directory(cli.root).key_file)
    unit.install()
    if cli.as_json:
        cli.screen.document({"unit": str(unit.path), "name": f"{name}.service"})
        return
    cli.screen.say(f"Wrote {unit.path}. To start it now, and whenever you log in:")
    cli.screen.exact("  systemctl --user daemon-reload")
    cli.screen.exact(f"  systemctl --user enable --now {name}.service")
    cli.screen.say("To have it run also while you are not logged in:")
    cli.screen.exact("  loginctl enable-linger")
    cli.screen.say("What it logs:")
    cli.screen.exact(f"  journalctl --user --unit {name}.service")


@service.command("uninstall")
@_named
@pass_cli
def uninstall(cli: Cli, name: str) -> None:
    """Remove the systemd user unit; stop nothing, and delete nothing of the replica."""
    unit = _unit(cli, name)
    removed = unit.uninstall()
    if cli.as_json:
        cli.screen.document({"unit": str(unit.path), "removed": removed})
    elif removed:
        cli.screen.say(f"Removed {unit.path}. If it runs, or starts when you log in:")
        cli.screen.exact(f"  systemctl --user disable --now {name}.service")
        cli.screen.exact("  systemctl --user daemon-reload")
    else:
        cli.screen.say(f"There is no {unit.path}.")


@service.command("status")
@_named
@pass_cli
def status(cli: Cli, name: str) -> None:
    """Show whether a service runs in this directory, where it is reached, and whether systemd has its unit."""
    from replica.service.lock import holder

    directory, unit = Directory(cli.root), _unit(cli, name)
    read_key_file(directory.key_file)
    found = holder(directory.service_lock)
    if cli.as_json:
        running: JsonValue = (
            None if found is None else {"pid": found.pid, "since": found.since, "url": found.url}
        )
        cli.screen.document({"running": running, "unit": str(unit.path) if unit.is_installed else None})
        return
    if found is None:
        cli.screen.say("No service runs in this directory.")
    else:
        where = "it starts" if found.url is None else found.url
        cli.screen.say(f"Process {found.pid} serves this directory since {moment(found.since)}: {where}")
    if unit.is_installed:
        cli.screen.say(f"Its systemd unit is {unit.path}.")
    else:
        cli.screen.say(f"systemd has no unit of it: {cli.command('service install')}")


def _unit(cli: Cli, name: str) -> Unit:
    return Unit(name, cli.root.absolute())
