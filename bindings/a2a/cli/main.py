"""`dmp a2a`: the groups of commands of the A2A edge, each imported when it is used."""

import importlib
from collections.abc import Mapping
from typing import Final

import click

from replica.cli.context import Group, shared_options

_GROUPS: Final[Mapping[str, tuple[str, str]]] = {
    "client": ("bindings.a2a.cli.client:client", "A2A agents that may ask you."),
    "task": ("bindings.a2a.cli.task:task", "What clients ask of you and hand off."),
    "peer": ("bindings.a2a.cli.peer:peer", "A2A agents that you send to."),
    "instance": ("bindings.a2a.cli.instance:instance", "Agents of yours that A2A clients write to."),
}
"""Where each group is, and what its help says first."""


class _Groups(Group):
    """Groups that are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _GROUPS:
            return None
        module, _, name = _GROUPS[cmd_name][0].partition(":")
        found = getattr(importlib.import_module(module), name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _GROUPS.items()])


@click.group("a2a", cls=_Groups, params=shared_options())
def a2a() -> None:
    """The A2A edge: agents of others that you send to, and that send to you."""
