"""Commands that other packages add to `dmp`, found through entry points of the group `dmp.commands`.

The look-up reads the metadata of everything that is installed, so it is made only for a name that is none of
dmp's own, and for the list of commands in its help. A package whose command cannot be loaded costs that
command and nothing else.
"""

import logging
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import click

from core.errors import Code
from replica.cli.failures import Failure

GROUP: Final = "dmp.commands"

_log = logging.getLogger(__name__)


def commands() -> dict[str, click.Command]:
    """Load the added commands that can be loaded, in the order of their names."""
    loaded = {}
    for name, entry in sorted(_found().items()):
        try:
            loaded[name] = _loaded(entry)
        except Failure as failure:
            _log.warning("%s", failure.message)
    return loaded


def command(name: str) -> click.Command | None:
    """Load an added command; None where none has that name.

    Raises Failure where there is one and it cannot be loaded.
    """
    entry = _found().get(name)
    return None if entry is None else _loaded(entry)


def _loaded(entry: EntryPoint) -> click.Command:
    try:
        loaded = entry.load()
    except Exception as error:  # whatever another package's import raises
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(loaded, click.Command):
        raise _broken(entry, f"{entry.value} is no command")
    return loaded


def _found() -> Mapping[str, EntryPoint]:
    try:
        return {entry.name: entry for entry in entry_points(group=GROUP)}
    except Exception as error:  # noqa: BLE001 - metadata is any package's
        _log.warning("the commands of other packages cannot be listed: %s", type(error).__name__)
        return {}


def _broken(entry: EntryPoint, reason: str) -> Failure:
    source = f" {entry.dist.name}" if entry.dist is not None else ""
    return Failure(
        str(Code.UNAVAILABLE),
        f"the command {entry.name} cannot be loaded ({reason})",
        hint=f"install the package{source} again, which brings it",
    )
