"""Reaching the team: which transports, how they are opened, and a pass over them that is shown."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

import click

from core.errors import Code, DmpError
from replica import passes
from replica.cli.screen import Screen
from replica.node import DirectoryNode, Node
from replica.records.link import Link, remembered
from replica.sync import SyncPass
from replica.ways import Ways
from transports.base import Transport
from transports.opening import kind_of, read_address, scheme_of, typed_address
from transports.remotes import RemoteError, Source, check_branch

MEETING: Final = "Where the team meets: a path, an ssh or https address, or dir:PATH."
"""What is said of the option that names the main transport."""


def typed_link(node: Node, remote: str | None, branch: str | None) -> Link:
    """The link a person named, or the one that is remembered.

    Raises click.UsageError when there is neither, and for what is no address or no branch.
    """
    known = remembered(node.store.db)
    if remote is None:
        if known is None:
            raise click.UsageError("say where the team meets: --git REMOTE")
        return known if branch is None else Link(known.remote, _branch(branch), known.source)
    return new_link(remote, branch, "--git")


def new_link(address: str, branch: str | None, given: str) -> Link:
    """The link to a transport whose address a person typed to meet a team there, as `given`.

    Raises click.UsageError for what is no address, no branch or no place to meet, TransportError where nothing can
    open it.
    """
    link = _link(typed_address, address, branch, given)
    if not kind_of(scheme_of(link.remote), link.remote).lasts:
        raise click.BadParameter(
            f"nobody can meet at {link.shown}: what is left there ends with the process that left it",
            param_hint=given,
        )
    return link


def used_link(address: str, branch: str | None, given: str) -> Link:
    """The link to a transport that may be in use, whatever a new one would be told. Raises as `new_link`."""
    return _link(lambda text: read_address(text, Source.TYPED), address, branch, given)


def _link(read: Callable[[str], str], address: str, branch: str | None, given: str) -> Link:
    try:
        url = read(address)
    except RemoteError as error:
        raise click.BadParameter(str(error), param_hint=given) from None
    return Link(url) if branch is None else Link(url, _branch(branch))


def remembered_link(node: Node) -> Link:
    """The link this replica founded or joined its team over. Raises DmpError `not-found` before that."""
    link = remembered(node.store.db)
    if link is None:
        raise DmpError(
            Code.NOT_FOUND,
            "this replica is in no team yet; found one with `dmp team found NAME --git REMOTE`, or join one "
            "with `dmp join [CODE] --git REMOTE`",
        )
    return link


def _branch(name: str) -> str:
    try:
        return check_branch(name)
    except RemoteError as error:
        raise click.BadParameter(str(error), param_hint="--branch") from None


@contextmanager
def transport_to(node: DirectoryNode, link: Link) -> Iterator[Transport]:
    """The transport over a link, for what concerns no other one. Raises TransportError."""
    with Ways(node) as ways:
        yield ways.open(link)


def sync_pass(
    screen: Screen, node: DirectoryNode, transport: Transport, ways: Ways | None = None
) -> AbstractContextManager[SyncPass]:
    """A pass as `replica.passes.sync_pass`, whose steps are shown."""
    return passes.sync_pass(node, transport, ways, screen.working)
