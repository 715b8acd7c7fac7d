"""Making tokens, each shown once, and exchanging a one-time code for a browser's (section A.1)."""

from dataclasses import dataclass
from typing import Final

from core.address import DISPATCH, parse_address
from core.errors import conflict, forbidden, invalid
from core.text import is_blank, is_one_line, utf8_len
from core.timestamp import timestamp
from crypto.encoding import b64u
from replica.host import agents
from replica.node import Node
from replica.records import tokens
from replica.records.commits import CommitPoint
from replica.records.tokens import Kind, Tier, Token

CODE_SECONDS: Final = 600
"""How long a one-time code is good for."""

PAGE_DAYS: Final = 30
"""How long a browser stays signed in."""

MAX_LABEL_BYTES: Final = 128

_SECRET_BYTES: Final = 32
_ID_BYTES: Final = 4
_DAY_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Made:
    """A new token, and its secret, which is kept nowhere."""

    token: Token
    secret: str


def make(
    node: Node,
    address: str | None = None,
    *,
    tier: Tier | None = None,
    label: str = "",
    days: int | None = None,
) -> Made:
    """Make a token for a person, a session or an agent of this machine; without an address for its owner.

    `tier` is what a person's may do, by default all for the owner and the least for others. Raises DmpError: `invalid`
    on `for`, `tier` or `label`; `forbidden` on `for` for whom this machine does not stand in; `not-found` there;
    `conflict` there for an agent that is not approved or a session that does not live.
    """
    _check_label(label)
    address = address or node.address
    kind = _kind(node, address)
    if kind in (Kind.RUN, Kind.AGENT) and tier is not None:
        raise invalid("tier", "a session's or an agent's token has no tier: neither ever decides")
    if kind is Kind.APP:
        if tier not in (None, Tier.OPERATOR):
            raise invalid("tier", "your own token lets do all that you may: its tier is operator")
        tier = Tier.OPERATOR
    elif kind is Kind.TEAM:
        tier = tier or Tier.REQUEST
    with node.store.transaction(CommitPoint.TOKEN):
        return keep(node, kind, address, tier, label, None if days is None else days * _DAY_MS)


def shared(node: Node) -> Made:
    """Make the token that every process of this machine may read, in the place of the one before."""
    with node.store.transaction(CommitPoint.TOKEN) as db:
        tokens.remove_kind(db, Kind.SHARED)
        return keep(node, Kind.SHARED, None, Tier.REQUEST, "processes of this machine")


def code(node: Node) -> Made:
    """Make a one-time code by which its owner's browser signs in."""
    with node.store.transaction(CommitPoint.TOKEN):
        return keep(node, Kind.CODE, node.address, Tier.OPERATOR, "to sign in", CODE_SECONDS * 1000)


def page(node: Node, secret: str, label: str = "a browser") -> Made | None:
    """Give a browser a token of its own for a person's token or for a one-time code; None for any other secret.

    A code is gone with that. Whether the token is good is for the caller to have checked.
    """
    with node.store.transaction(CommitPoint.TOKEN) as db:
        found = tokens.find(db, secret)
        now = node.now()
        if found is None or (found.expires_at is not None and found.expires_at <= now):
            return None
        if found.kind not in (Kind.CODE, Kind.APP, Kind.TEAM):
            return None
        if found.kind is Kind.CODE:
            tokens.remove(db, found.id)
        left = found.expires_at if found.kind is Kind.TEAM else None
        return keep(node, Kind.PAGE, found.address, found.tier, label, PAGE_DAYS * _DAY_MS, until=left)


def keep(
    node: Node,
    kind: Kind,
    address: str | None,
    tier: Tier | None,
    label: str,
    milliseconds: int | None = None,
    *,
    until: str | None = None,
) -> Made:
    """Make a token, inside an open transaction; good for so long, and no longer than `until`. Expired ones go."""
    tokens.remove_expired(node.store.db, node.now())
    secret = f"dmp_{kind}_{b64u(node.random(_SECRET_BYTES))}"
    ends = None if milliseconds is None else timestamp(node.wall() + milliseconds)
    if until is not None:
        ends = until if ends is None else min(until, ends)
    token = Token(f"tk-{node.random(_ID_BYTES).hex()}", kind, address, tier, label, node.now(), ends)
    tokens.insert(node.store.db, token, secret)
    return Made(token, secret)


def stands_in(node: Node, address: str) -> bool:
    """Whether another person uses this machine: it stands in for them, or belongs to no team that could say so."""
    team = node.team
    if team is None:
        return True
    member = team.view.members.get(node.me)
    return member is not None and address in {f"human:{handle}" for handle in member.hosts}


def _kind(node: Node, address: str) -> Kind:
    parsed = parse_address(address, "for", DISPATCH)
    match parsed.kind:
        case "human":
            if address == node.address:
                return Kind.APP
            if not stands_in(node, address):
                raise forbidden("for", f"this machine does not stand in for {address}; see `dmp team hosts`")
            return Kind.TEAM
        case "run":
            if not node.host.is_live(address):
                raise conflict("for", f"{address} does not live; its token is good while it does")
            return Kind.RUN
        case "agent":
            if node.host.external(address) is not None:
                raise forbidden(
                    "for", f"{address} is reached through a binding, and has that one's token alone"
                )
            found = agents.need(node.store.db, address)
            agents.need_registered_at(found, node.me)
            if found.status != "approved":
                raise conflict("for", f"{address} is {found.status}; approve it first")
            return Kind.AGENT
    raise invalid("for", "a token is a person's, a session's or an agent's")


def _check_label(label: str) -> None:
    try:
        fits = is_one_line(label) and utf8_len(label) <= MAX_LABEL_BYTES
    except UnicodeEncodeError:
        fits = False
    if not fits or (label and is_blank(label)):
        raise invalid("label", f"a label is one line of at most {MAX_LABEL_BYTES} bytes")
