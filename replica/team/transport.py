"""The roster's word on where the team meets: at a relay, or on a branch of a git remote (federation wire 5.42, 7.8).

An admin says it, after everything that would leave somebody behind was looked at; each machine then goes there by
itself (`replica.moving`). A relay is told of the team before the roster names it, and lets this machine in, so that
nobody is sent to a place that does not take them, or that is known there by another address.
"""

import json
from collections.abc import Sequence
from typing import Final, Protocol

from core.errors import Code, DmpError, invalid
from crypto.op import Op, read_entry
from crypto.roster.bodies import Admit, SetTransport, TransportKind, read_body
from replica.capabilities import RELAY
from replica.moving import place_of, relay_link, repository_link, target_of
from replica.node import Node
from replica.records import ops
from replica.records.meta import Meta, get
from replica.sync import SyncPass
from replica.team.commands import change
from replica.team.roster import Team, named
from transports.remotes import RemoteError

DISCLOSURE: Final = (
    "Whoever runs the relay can read everything that is not sealed: the board (work items, channels, agents, "
    "sessions), team memory, documents, the roster, presence, and who messaged whom and when. They cannot read what "
    "messages say."
)
"""What a person confirms before the team moves to a relay (federation wire 7.12)."""


class Register(Protocol):
    """Makes a relay hold a team (federation wire 7.9)."""

    def __call__(self, url: str, key: bytes, found: bytes, ops: Sequence[bytes], /) -> object:
        """`key` and `found` are the lines of the founder's key op and founding, `ops` those of the founder's chain.

        Raises TransportError. Where the relay holds the team already, nothing happens.
        """


def use_relay(sync: SyncPass, url: str, register: Register, *, confirmed: bool) -> bool:
    """Move the team to a relay; False where it is there already.

    `confirmed` tells that a person read DISCLOSURE and said yes.

    Raises DmpError: `invalid` on `url`; `forbidden` without the right, and where nobody confirmed; `conflict` while the
    legacy window is open, or some machine cannot go there. TransportError where the relay does not take the team, or
    does not let this machine in; nothing is signed then.
    """
    try:
        address = relay_link(url).remote
    except RemoteError as error:
        raise invalid("url", str(error)) from None
    if not confirmed:
        raise DmpError(
            Code.FORBIDDEN, "nobody confirmed what whoever runs the relay can read; nothing was done"
        )
    node, said = sync.node, SetTransport(TransportKind.RELAY, address)

    def wanted(team: Team) -> SetTransport | None:
        _may_move(node, team)
        if place_of(team.view.transport) == place_of(said):
            return None
        staying = cannot_follow(node, team)
        if staying:
            raise DmpError(
                Code.CONFLICT,
                f"these machines run a version that does not know relays: {', '.join(staying)}; have their owners "
                "upgrade and sync, or revoke them",
            )
        key, found, chain = _founders(node, team)
        register(address, key, found, chain)
        if sync.open_ is not None and _is_known_by(chain, node.me):
            sync.step("connecting to the relay")
            sync.open_(relay_link(address)).refresh()
        return said

    return change(sync, wanted)


def use_git(sync: SyncPass, url: str | None) -> bool:
    """Move the team to a git remote, or without `url` back to where each machine met it before.

    False where it is there already.

    Raises DmpError: `invalid` on `url`; `forbidden` without the right; `conflict` while the legacy window is open, and
    without `url` where this machine knows no remote.
    """
    node = sync.node
    try:
        said = SetTransport(TransportKind.GIT, None if url is None else repository_link(url).remote)
    except RemoteError as error:
        raise invalid("url", str(error)) from None

    def wanted(team: Team) -> SetTransport | None:
        _may_move(node, team)
        if place_of(team.view.transport) == place_of(said):
            return None
        if target_of(node, said) is None:
            raise DmpError(
                Code.CONFLICT,
                "this machine knows no git remote of the team's; name one: `dmp team transport git REMOTE`",
            )
        return said

    return change(sync, wanted)


def cannot_follow(node: Node, team: Team) -> list[str]:
    """The members that announced nowhere that they know relays, in a person's words."""
    able = {
        replica
        for replica, caps in node.store.db.execute("SELECT replica, caps_json FROM devices")
        if RELAY in json.loads(caps)
    }
    return [
        team.describe(replica)
        for replica in sorted(team.view.members)
        if replica not in able and RELAY not in team.keys[replica].caps
    ]


def _may_move(node: Node, team: Team) -> None:
    if not team.view.is_admin(node.me):
        admins = [member.handle for member in team.view.members.values() if member.rank is not None]
        who = ", ".join(sorted({named(handle) for handle in admins}))
        raise DmpError(Code.FORBIDDEN, f"only an admin moves the team; ask {who}")
    if not team.view.legacy_closed:
        raise DmpError(
            Code.CONFLICT,
            "the team still counts unsigned logs of an earlier version; it can move once an admin has closed that "
            "window",
        )


def _founders(node: Node, team: Team) -> tuple[bytes, bytes, list[bytes]]:
    """The founder's key op and founding, and its chain as it is known here: all the admissions in it besides."""
    founder, db = team.view.founder, node.store.db
    chain = [line for _, line in ops.lines_of(db, founder)]
    founding = get(db, Meta.FOUNDING)
    (seq,) = db.execute("SELECT seq FROM ops WHERE replica = ? AND hash = ?", (founder, founding)).fetchone()
    found = ops.line_at(db, founder, seq)
    assert found is not None
    return chain[0], found, chain


def _is_known_by(chain: Sequence[bytes], me: str) -> bool:
    """Whether a relay that has only the founder's chain would let this machine in.

    One that another admin admitted comes in once that admin's chain is there.
    """
    for line in chain:
        entry = read_entry(line)
        if entry.replica == me:
            return True
        if isinstance(entry, Op) and entry.type == "roster":
            body = read_body(entry.body)
            if isinstance(body, Admit) and body.replica == me:
                return True
    return False
