"""`dmp relay`: keep other people's teams, as a server that reads no mail."""

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from replica.cli.context import Cli, group, pass_cli
from replica.cli.failures import Failure
from replica.cli.relay_bench import bench

if TYPE_CHECKING:
    from transports.relay.server.shell.serve import Address

DIR_VARIABLE: Final = "DMP_RELAY_DIR"
_WHOSE_DIR: Final = f"The relay's directory, which is made if need be; else ${DIR_VARIABLE}."
_FILE = click.Path(path_type=Path, dir_okay=False)


@group("relay")
def relay() -> None:
    """Run a relay: a server that keeps teams' ops and passes them on. It reads no mail."""


relay.add_command(bench)


@relay.command("serve", directory=_WHOSE_DIR)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="127.0.0.1:8787",
    show_default=True,
    envvar="DMP_RELAY_LISTEN",
    help="Where to wait for clients.",
)
@click.option(
    "--url",
    metavar="URL",
    envvar="DMP_RELAY_URL",
    help="The address that clients dial, wss://HOST; every client signs it. Needed but on this machine itself.",
)
@click.option(
    "--tls-cert", metavar="FILE", type=_FILE, envvar="DMP_RELAY_TLS_CERT", help="Certificate chain, PEM."
)
@click.option(
    "--tls-key", metavar="FILE", type=_FILE, envvar="DMP_RELAY_TLS_KEY", help="Its private key, PEM."
)
@click.option(
    "--trust-proxy",
    is_flag=True,
    envvar="DMP_RELAY_TRUST_PROXY",
    help="Take the addresses of clients from X-Forwarded-For, as the proxy in front writes it.",
)
@click.option(
    "--metrics",
    metavar="HOST:PORT",
    envvar="DMP_RELAY_METRICS",
    help="Where metrics and health are; else on --listen, for everybody.",
)
@click.option(
    "--difficulty",
    metavar="BITS",
    type=click.IntRange(0, 26),
    default=19,
    show_default=True,
    envvar="DMP_RELAY_DIFFICULTY",
    help="Work that registers a team; 0 for none.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    type=_FILE,
    envvar="DMP_RELAY_TOKEN_FILE",
    help="Tokens that do instead, one a line.",
)
@click.option(
    "--token-required", is_flag=True, envvar="DMP_RELAY_TOKEN_REQUIRED", help="Take tokens alone, no work."
)
@click.option(
    "--max-teams",
    metavar="N",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    envvar="DMP_RELAY_MAX_TEAMS",
    help="Teams that may be registered.",
)
@click.option(
    "--max-mib",
    metavar="N",
    type=click.IntRange(1),
    default=51_200,
    show_default=True,
    envvar="DMP_RELAY_MAX_MIB",
    help="What all teams together may store, in MiB.",
)
@click.option(
    "--max-team-mib",
    metavar="N",
    type=click.IntRange(1),
    default=2_048,
    show_default=True,
    envvar="DMP_RELAY_MAX_TEAM_MIB",
    help="What one team may store, in MiB.",
)
@click.option(
    "--max-connections",
    metavar="N",
    type=click.IntRange(1),
    default=5_000,
    show_default=True,
    envvar="DMP_RELAY_MAX_CONNECTIONS",
    help="Connections at once.",
)
@click.option(
    "--log",
    type=click.Choice(["json", "console"]),
    default="console",
    show_default=True,
    envvar="DMP_RELAY_LOG",
    help="How each line of the log is written on standard error.",
)
@pass_cli
def serve(
    cli: Cli,
    listen: str,
    url: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    trust_proxy: bool,
    metrics: str | None,
    difficulty: int,
    token_file: Path | None,
    token_required: bool,
    max_teams: int,
    max_mib: int,
    max_team_mib: int,
    max_connections: int,
    log: str,
) -> int:
    """Run a relay until it is told to stop (SIGTERM).

    Its state is in the directory that --dir or $DMP_RELAY_DIR names; one relay runs in it at a time. Every option
    may be given as an environment variable too, DMP_RELAY_LISTEN for --listen. docs/relay.md says how to run one.
    """
    from transports.relay.server.settings import Settings
    from transports.relay.server.shell.serve import Place, ServeError, configure_log, serve
    from transports.relay.server.store import StoreError

    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together")
    tokens = _tokens(token_file)
    if token_required and not tokens:
        raise click.UsageError("--token-required needs a --token-file with a token in it")
    address = _address(listen, "--listen")
    settings = Settings(
        _url(url, address, tls=tls_cert is not None),
        difficulty=difficulty,
        tokens=tokens,
        token_required=token_required,
        max_teams=max_teams,
        max_bytes=max_mib * 1024**2,
        max_team_bytes=max_team_mib * 1024**2,
    )
    place = Place(
        _directory(cli),
        address,
        None if metrics is None else _address(metrics, "--metrics"),
        tls_cert,
        tls_key,
        trust_proxy,
        max_connections,
    )
    configure_log(as_json=log == "json")

    def ready(listening: str, dialled: str) -> None:
        if cli.as_json:
            cli.screen.document({"listen": listening, "url": dialled})
        else:
            cli.screen.say(f"The relay listens on {listening}; clients dial {dialled}")

    try:
        serve(settings, place, ready)
    except (ServeError, StoreError) as error:
        raise Failure("unavailable", str(error)) from error
    except (OSError, sqlite3.Error) as error:
        raise Failure("unavailable", f"the relay cannot run: {error}") from error
    return 0


@relay.command("backup", directory=_WHOSE_DIR)
@click.argument("file", type=_FILE)
@pass_cli
def backup(cli: Cli, file: Path) -> int:
    """Copy everything a relay keeps into FILE, while it runs or not.

    To restore it, stop the relay and put the file in its directory as relay.db, with nothing else there.
    """
    from transports.relay.server.shell.serve import DATABASE
    from transports.relay.server.sqlite import backup as copy
    from transports.relay.server.store import StoreError

    try:
        copy(_directory(cli) / DATABASE, file)
    except StoreError as error:
        raise Failure("not-found", str(error)) from error
    except (OSError, sqlite3.Error) as error:
        raise Failure("unavailable", f"the backup was not made: {error}") from error
    if cli.as_json:
        cli.screen.document({"file": str(file), "bytes": file.stat().st_size})
    else:
        cli.screen.say(f"{file} holds everything the relay kept.")
    return 0


def _directory(cli: Cli) -> Path:
    text = cli.typed_dir or os.environ.get(DIR_VARIABLE)
    if not text:
        raise click.UsageError(f"name the relay's directory with --dir, or in ${DIR_VARIABLE}")
    return Path(text).expanduser()


def _address(text: str, option: str) -> "Address":
    from transports.relay.server.shell.serve import Address

    try:
        return Address.parse(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from None


def _url(url: str | None, listen: "Address", *, tls: bool) -> str:
    """The address that clients sign; empty where it is that of the socket, which is not known yet."""
    from transports.relay.address import AddressError, RelayAddress

    if url is None:
        if tls or listen.host not in ("127.0.0.1", "::1", "localhost"):
            raise click.UsageError("name the address that clients dial with --url wss://HOST")
        return ""
    try:
        return RelayAddress.parse(url).url
    except AddressError as error:
        raise click.UsageError(f"--url: {error}") from None


def _tokens(file: Path | None) -> frozenset[str]:
    if file is None:
        return frozenset()
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--token-file cannot be read: {type(error).__name__}") from None
    return frozenset(line.strip() for line in lines if line.strip())
