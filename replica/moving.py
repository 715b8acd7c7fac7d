"""Following the team to another main transport (federation wire 7.8).

What the roster says is where the team means to be; what a machine uses changes only once everything it has to say is
where it was, or that place is away, and its whole own log is where it goes. Until then it goes on over the one before,
so whatever fails on the way loses nothing and is tried again. The one before is then read as long as some member was
not seen on the new one: whoever has not heard yet says there what they have to say, a second change of place included.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from core.errors import Code, DmpError
from crypto.op import Unverified, read_line
from crypto.roster.bodies import SetTransport, TransportKind
from replica.chain.guard import own_head, pause_reason, stop_for_stranger
from replica.chain.own_lane import compare
from replica.chain.publish import mark_published, withdraw_from_leavers
from replica.node import Node
from replica.quoting import quoted
from replica.records import ops, outbox, problems, subjects, transports
from replica.records.commits import CommitPoint
from replica.records.link import Link, Role, make_main, remembered
from replica.records.meta import Meta, get, put
from replica.team.roster import Team
from transports.base import Behind, Refused, Transport, TransportError
from transports.opening import read_address
from transports.relay.address import AddressError, RelayAddress
from transports.remotes import RemoteError, Source

LISTENING_MS: Final = 30 * 24 * 60 * 60 * 1000
"""How long a former main transport is read for members who were not seen on the new one, in milliseconds."""

MAX_TRIES: Final = 5
"""Times the whole log is offered to a transport on which others publish at the same time."""

_AT_FIRST: Final = "git"
"""Where every team is until its roster says otherwise: where it was founded."""

Open = Callable[[Link], Transport]
"""Opens a transport, or returns the one that is open. Raises RemoteError and TransportError."""


def place_of(said: SetTransport) -> str:
    """What tells one place that the roster names from another."""
    return said.kind.value if said.url is None else f"{said.kind.value} {said.url}"


def is_relay(link: Link) -> bool:
    """Whether a link leads to a relay."""
    return link.remote.startswith(("wss://", "ws://"))


def relay_link(url: str) -> Link:
    """The link to a relay that an invite or the roster names: wss, or ws to this machine itself. Raises RemoteError."""
    try:
        address = RelayAddress.parse(url).url
    except AddressError as error:
        raise RemoteError(str(error)) from None
    local = address.startswith("ws://")  # which leads nowhere but here
    return Link(address, source=Source.TYPED if local else Source.NAMED)


def repository_link(url: str) -> Link:
    """The link to a git remote that the roster names. Raises RemoteError."""
    return Link(read_address(url, Source.NAMED), source=Source.NAMED)


def target_of(node: Node, said: SetTransport) -> Link | None:
    """Where the roster sends this machine; None where only its owner can know.

    Raises RemoteError for an address that is not used.
    """
    if said.kind is TransportKind.RELAY:
        return relay_link(said.url or "")
    if said.url is not None:
        named = repository_link(said.url)
        known = (each.link for each in transports.records(node.store.db) if each.link.remote == named.remote)
        return next(known, named)
    here = remembered(node.store.db)
    if here is not None and not is_relay(here):
        return here
    former = [each.link for each in transports.records(node.store.db) if each.role is Role.FORMER]
    return next((link for link in reversed(former) if not is_relay(link)), None)


def follows_already(node: Node, said: SetTransport) -> bool:
    """Whether this machine went by what the roster says of the main transport."""
    return place_of(said) == (get(node.store.db, Meta.FOLLOWED) or _AT_FIRST)


def note_met(db: sqlite3.Connection, said: SetTransport, link: Link | None) -> None:
    """Note where a machine that joins found its team, inside an open transaction: it stays where its owner said."""
    if link is None or (said.kind is TransportKind.RELAY) != is_relay(link):
        return
    if said.kind is TransportKind.GIT or said.url == link.remote:
        put(db, Meta.FOLLOWED, place_of(said))


def follow(node: Node, open_: Open, *, away: bool) -> Transport | None:
    """Go where the roster says, if that is elsewhere and nothing keeps this machine; the new main transport then.

    `away` tells that the main transport does not answer, so that nothing can be waited for there. What keeps this
    machine is noted as a problem. Raises DmpError `conflict` where the new one shows that this key is used elsewhere.
    """
    team, here = node.team, remembered(node.store.db)
    if team is None or here is None or not own_head(node)[0] or node.me in team.view.revoked:
        return None
    said = team.view.transport
    if follows_already(node, said):
        _clear(node)
        return None
    try:
        target = target_of(node, said)
        if target is None:
            _keep(
                node,
                team,
                "no repository that this machine knows: `dmp transport add REMOTE --main` says where",
            )
            return None
        if target == here:
            with node.store.transaction(CommitPoint.MOVED) as db:
                put(db, Meta.FOLLOWED, place_of(said))
            _clear(node)
            return None
        if not away and _has_something_to_say(node, team):
            return None
        transport = open_(target)
        carry(node, team, transport)
    except (RemoteError, TransportError) as error:
        hint = f" ({error.hint})" if isinstance(error, TransportError) and error.hint else ""
        _keep(node, team, f"{place_of(said)}, which this machine cannot use: {error}{hint}")
        return None
    settle(node, team, target)
    return transport


def carry(node: Node, team: Team | None, transport: Transport) -> None:
    """Leave the whole own log on a transport, and see that it is there.

    Raises DmpError `conflict` where this replica signs no more, or its key is used elsewhere; TransportError where it
    cannot be done.
    """
    stopped = get(node.store.db, Meta.STOPPED) or pause_reason(node)
    if stopped is not None:
        raise DmpError(Code.CONFLICT, stopped)
    if team is not None:
        withdraw_from_leavers(node.store, node.me, team)
    for _ in range(MAX_TRIES):
        transport.refresh()
        lane = compare(node.store.db, node.identity, transport.lane(node.me), 0, own_head(node)[0])
        lacking = stop_for_stranger(node, lane).lacking
        if not lacking:
            return
        try:
            transport.publish(node.me, _lines(node, lacking))
        except Behind:
            continue
        shown = {
            read.hash
            for line in transport.lane(node.me)
            if isinstance(read := read_line(line.raw), Unverified)
        }
        lost = [seq for seq in lacking if ops.hash_at(node.store.db, node.me, seq) not in shown]
        if lost:
            raise Refused(f"{transport.url} took op {lost[0]} of this replica, and does not show it")
        return
    raise Behind(f"others publish on {transport.url} all the time", "the next sync tries again")


def settle(node: Node, team: Team | None, target: Link) -> None:
    """Use another main transport from here on, which has the whole own log; the one before is only read."""
    before = remembered(node.store.db)
    mark_published(
        node.store, [seq for (seq,) in node.store.db.execute("SELECT seq FROM unpublished").fetchall()]
    )
    with node.store.transaction(CommitPoint.MOVED) as db:
        if before is not None:
            transports.add(db, before, Role.FORMER)
        make_main(db, target)
        transports.note_visit(db, target, at=node.now(), read_back=own_head(node)[0])
        db.execute("DELETE FROM acks")  # they tell of the place before
        for name in (Meta.TIP, Meta.ACKS, Meta.UNACKNOWLEDGED):
            put(db, name, None)
        put(db, Meta.MOVED_AT, str(node.wall()))
        if team is not None:
            put(db, Meta.FOLLOWED, place_of(team.view.transport))
            put(db, Meta.ARRIVING, json.dumps(sorted(team.view.members.keys() - {node.me})))
        problems.clear_all(db, subjects.WITHHELD)
        problems.clear(db, subjects.MOVE.of())


def arriving(node: Node) -> frozenset[str]:
    """The members that were not seen on the main transport since this machine came there."""
    said = get(node.store.db, Meta.ARRIVING)
    return frozenset() if said is None else frozenset(json.loads(said))


def note_arrived(node: Node, absent: Sequence[str]) -> None:
    """After a pull from the main transport: take those off the list who are there, or not in the team any more."""
    before, team = arriving(node), node.team
    if not before or team is None:
        return
    known = {replica for replica, at in ops.positions(node.store.db).items() if at.cursor.head is not None}
    left = before & team.view.members.keys() & ((known & set(absent)) | (before - known))
    if left != before:
        with node.store.transaction(CommitPoint.SYNCED) as db:
            put(db, Meta.ARRIVING, json.dumps(sorted(left)) if left else None)


def listens(node: Node) -> bool:
    """Whether former main transports are read in every pass."""
    moved = int(get(node.store.db, Meta.MOVED_AT) or 0)
    return bool(arriving(node)) and node.wall() - moved < LISTENING_MS


def _has_something_to_say(node: Node, team: Team) -> bool:
    """Whether something of this replica's is still to be published where it is now."""
    (unpublished,) = node.store.db.execute("SELECT count(*) FROM unpublished").fetchone()
    return bool(unpublished) or (team.ready(node.me) and outbox.waiting(node.store.db) > 0)


def _lines(node: Node, seqs: Sequence[int]) -> list[bytes]:
    lines = (ops.line_at(node.store.db, node.me, seq) for seq in seqs)
    return [line for line in lines if line is not None]


def _keep(node: Node, team: Team, why: str) -> None:
    """Note what keeps this machine where it is."""
    text = f"the team {quoted(team.view.name)} moved to {why}"
    with node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, problems.Problem(subjects.MOVE.of(), text, None, None, node.now()))


def _clear(node: Node) -> None:
    db = node.store.db
    if any(each.subject == subjects.MOVE.of() for each in problems.all_problems(db)):
        with node.store.transaction(CommitPoint.PROBLEM):
            problems.clear(db, subjects.MOVE.of())
