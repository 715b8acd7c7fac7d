"""What `dmp` reads to start: a command waits for no module that it does not use."""

import subprocess
import sys

import click
import pytest

from replica.cli import main
from replica.cli.lines import LINES

HEAVY = (
    "aiohttp",
    "asyncio",
    "git",
    "jsonschema",
    "matplotlib",
    "mcp",
    "pydantic",
    "rich",
    "structlog",
    "tenacity",
)
NETWORK = ("aiohttp", "git", "jsonschema", "mcp", "replica.sync", "transports.git", "transports.relay")
UNUSED = (
    "cryptography.hazmat.primitives.serialization",
    "replica.host.effects",
    "replica.shared.docs",
    "subprocess",
)


def read_by(script: str, *arguments: str) -> set[str]:
    """The modules that a process has after it ran a command."""
    program = f"import sys; from replica.cli import main; {script}; print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", program, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


def of(names: tuple[str, ...], found: set[str]) -> list[str]:
    return sorted(
        each for each in found if any(each == name or each.startswith(f"{name}.") for name in names)
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("home") / "ada"
    assert main.run(["init", "--handle", "ada", "--dir", str(root)]) == 0
    return str(root)


def test_help_reads_no_command() -> None:
    found = read_by("main.run(['--help'])")
    commands = tuple(where.partition(":")[0] for where in main.COMMANDS.values())
    assert of((*HEAVY, *NETWORK, *UNUSED, *commands, "core.engine", "nacl", "cryptography"), found) == []


@pytest.mark.parametrize(
    "typed", [["inbox"], ["send", "human:ada", "hello"], ["open"], ["task", "list", "--json"], ["gates"]]
)
def test_a_command_that_reaches_nobody_reads_nothing_that_does(typed: list[str], home: str) -> None:
    found = read_by("main.run(sys.argv[1:])", *typed, "--dir", home)
    assert "core.engine" in found
    assert of((*HEAVY, *NETWORK, *UNUSED), found) == []


def test_completing_a_command_reads_none() -> None:
    ctx = click.Context(main.dmp)
    assert [each.value for each in main.dmp.shell_complete(ctx, "se")] == [
        *("send", "session", "serve", "service")
    ]
    assert "replica.cli.send" not in read_by("main.dmp.shell_complete(main.click.Context(main.dmp), 'se')")


def test_the_list_of_commands_says_of_each_what_its_own_help_begins_with() -> None:
    ctx = click.Context(main.dmp)
    for name in main.COMMANDS:
        command = main.dmp.get_command(ctx, name)
        assert command is not None
        assert LINES.get(name) == command.get_short_help_str(limit=1000), (
            "replica/cli/lines.py is not as it is said"
        )
