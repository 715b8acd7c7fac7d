"""Adding a peer, and looking daily whether it is still what its owner agreed to (section 8.9)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from aiohttp.abc import AbstractResolver
from yarl import URL

from bindings.a2a import public_url
from bindings.a2a.peers import card, credentials, desk, events, extensions, recording, records, schedule
from bindings.a2a.peers.card import FIELD, Card, read_card
from bindings.a2a.peers.peer import Peer, PeerState, check_alias, no_such_peer
from bindings.a2a.peers.records import Point
from bindings.a2a.public_url import UnreachableError, check_url
from core.errors import DmpError, conflict, invalid
from replica.node import DirectoryNode, Node


async def fetch_card(
    card_url: str, private: frozenset[str], resolver: AbstractResolver | None = None
) -> Card:
    """Fetch and read a card: steps 1, 2 and 4. Raises DmpError `invalid` on `card`."""
    url = check_url(card_url, FIELD, private)
    try:
        found = await public_url.fetch(
            url, private, headers={"Accept": "application/json"}, resolver=resolver
        )
    except UnreachableError as error:
        raise card.refused(f"the card cannot be fetched: {error}") from None
    if 300 <= found.status < 400:
        raise card.refused("the card's URL redirects, and no redirect is followed; name where the card is")
    if found.status != 200:
        raise card.refused(f"the card cannot be fetched: its host answers with {found.status}")
    read = read_card(found.body, extensions.extensions().keys())
    check_url(read.interface.url, FIELD, private)
    return read


def check_origin(card_url: str, found: Card, confirmed: str | None, private: frozenset[str]) -> None:
    """Check that a card's interface is at its own origin, or at one that its owner confirmed: step 3.

    Raises DmpError `invalid` on `origin`.
    """
    own = public_url.origin(check_url(card_url, FIELD, private))
    called = public_url.origin(check_url(found.interface.url, FIELD, private))
    if called in (own, None if confirmed is None else confirmed.rstrip("/")):
        return
    raise invalid(
        "origin",
        f"the card is at {own}, and its agent is called at {called}; if you know that to be the same agent's, add it "
        f"with --origin {called}",
    )


async def add(
    alias: str,
    card_url: str,
    private: frozenset[str],
    *,
    origin: str | None = None,
    options: Mapping[str, str] | None = None,
    resolver: AbstractResolver | None = None,
) -> Peer:
    """Return the peer that a card makes; nothing is kept of it yet.

    Raises DmpError: `invalid` on `alias`, `card` or `origin`, and what extensions say of the options.
    """
    check_alias(alias)
    found = await fetch_card(card_url, private, resolver)
    check_origin(card_url, found, origin, private)
    peer = Peer(alias, card_url, found.interface, found.about, PeerState.NO_CREDENTIAL, "", 0, options or {})
    extensions.check(peer)
    return peer


def keep(node: DirectoryNode, peer: Peer, credential: str | None) -> Peer:
    """Keep a new peer, and its credential apart from it. Raises DmpError: `conflict` on `alias`, as `credentials`."""
    if records.find(node.store.db, peer.alias) is not None:
        raise is_there(peer.alias)
    if credential is not None:
        credentials.write(node.directory.root, peer.alias, credential)
    state = PeerState.NO_CREDENTIAL if credential is None else PeerState.ACTIVE
    kept = replace(peer, state=state, added_at=node.now(), refresh_at=node.wall() + schedule.REFRESH)
    with node.store.transaction(Point.PEER) as db:
        records.forget_tasks(db, kept.alias)
        records.put(db, kept)
        records.try_now(db, kept.alias)
    return kept


def is_there(alias: str) -> DmpError:
    """The refusal of an alias that a peer has."""
    return conflict("alias", f"{alias} is a peer already; remove it first, or choose another alias")


def origin_of(peer: Peer) -> str:
    """Where a peer is called now, which its owner agreed to."""
    return public_url.origin(URL(peer.interface.url))


def switch_off(node: Node, alias: str) -> Peer:
    """Send a peer nothing more, as its owner wishes. Raises DmpError `not-found` on `alias`."""
    peer = need(node, alias)
    with node.store.transaction(Point.PEER) as db:
        records.move(db, alias, PeerState.DISABLED, "you disabled it")
    return replace(peer, state=PeerState.DISABLED, why="you disabled it")


def remove(node: DirectoryNode, alias: str) -> None:
    """Forget a peer and its credential; what it was asked and has not answered is closed.

    Raises DmpError `not-found` on `alias`.
    """
    need(node, alias)
    credentials.remove(node.directory.root, alias)
    with node.store.transaction(Point.PEER) as db:
        records.remove(db, alias)
        records.try_now(db, alias)
    desk.let_go(node, alias)


def changed(node: DirectoryNode, alias: str, fresh: Peer) -> Peer:
    """Keep what is known anew of a peer, which gets mail again where it has a credential."""
    has_one = credentials.read(node.directory.root, alias) is not None
    state = PeerState.ACTIVE if has_one else PeerState.NO_CREDENTIAL
    kept = replace(fresh, state=state, why="", refresh_at=node.wall() + schedule.REFRESH)
    with node.store.transaction(Point.PEER) as db:
        records.put(db, kept)
        records.try_now(db, alias)
    return kept


def need(node: Node, alias: str) -> Peer:
    """A peer by its alias. Raises DmpError `not-found` on `alias`."""
    found = records.find(node.store.db, alias)
    if found is None:
        raise no_such_peer(alias)
    return found


async def refresh(
    desk: Callable[[Callable[[DirectoryNode], Any]], Awaitable[Any]],
    alias: str,
    private: frozenset[str],
    resolver: AbstractResolver | None = None,
) -> None:
    """Fetch a peer's card again. One whose agent is called elsewhere now, or not as before, disables the peer."""
    peer: Peer | None = await desk(lambda node: records.find(node.store.db, alias))
    if peer is None:
        return
    try:
        url = check_url(peer.card_url, FIELD, private)
        found = await public_url.fetch(
            url, private, headers={"Accept": "application/json"}, resolver=resolver
        )
    except (DmpError, UnreachableError):
        found = None
    if found is None or found.status != 200:  # its host may be down: what is known goes on to hold
        await desk(lambda node: _later(node, alias))
        return
    before = peer
    try:
        read = read_card(found.body, extensions.extensions().keys())
        check_url(read.interface.url, FIELD, private)
        fresh = replace(before, interface=read.interface, about=read.about)
        _check_same(before, fresh)
        extensions.check(fresh)
    except DmpError as error:
        why = error.message
        await desk(lambda node: disable(node, before, why))
        return
    await desk(lambda node: _refreshed(node, fresh))


def _check_same(before: Peer, fresh: Peer) -> None:
    """Check that a peer is called where it was. Raises DmpError `invalid` on `card`."""
    was, now = origin_of(before), origin_of(fresh)
    if was != now:
        raise invalid(FIELD, f"its card says now that it is called at {now}, and no longer at {was}")


def disable(node: Node, peer: Peer, why: str) -> None:
    """Send a peer nothing more, and tell the owner once."""
    if records.state_of(node.store.db, peer.alias) is not PeerState.ACTIVE:
        return
    body = (
        f"The A2A peer {peer.alias} is disabled: {why}. If that is as it should be, look at it and enable it again: "
        f"dmp a2a peer enable {peer.alias}"
    )
    key = f"a2a-disabled:{events.digest(peer.alias, why, str(peer.refresh_at))}"
    recording.tell(node, node.host.person, body, key)
    with node.store.transaction(Point.PEER) as db:
        records.move(db, peer.alias, PeerState.DISABLED, why)


def _later(node: Node, alias: str) -> None:
    with node.store.transaction(Point.PEER) as db:
        records.refresh_later(db, alias, node.wall() + schedule.REFRESH_FAILED)


def _refreshed(node: Node, fresh: Peer) -> None:
    with node.store.transaction(Point.PEER) as db:
        current = records.find(db, fresh.alias)
        if current is not None and current.card_url == fresh.card_url:
            records.put(
                db,
                replace(
                    current,
                    interface=fresh.interface,
                    about=fresh.about,
                    refresh_at=node.wall() + schedule.REFRESH,
                ),
            )
