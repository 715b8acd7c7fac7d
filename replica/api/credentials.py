"""From a token to whoever holds it (section A.1).

Whether a token is good is asked anew with each request, and for each event of a socket: an agent that is revoked, a
session that ends and a person whom this machine stands in for no more are out at once.
"""

from dataclasses import dataclass
from typing import Final

from core.inputs import Sender
from core.participation import acts_for
from replica.api import tokens as making
from replica.api.errors import Refusal, forbidden, unauthenticated
from replica.host import agents
from replica.node import Node
from replica.records import tokens
from replica.records.tokens import Kind, Tier, Token

_NO_GOOD: Final = "this token is not known here, or is good no more; `dmp token add` makes one"
"""One text, whatever the reason: nobody learns of tokens that were."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: the address, None for nobody's, and the tier of a person's token."""

    token: Token
    cookie: bool = False

    @property
    def address(self) -> str | None:
        return self.token.address

    @property
    def is_person(self) -> bool:
        """Whether a human holds the token."""
        return self.token.kind in (Kind.APP, Kind.TEAM, Kind.PAGE)

    def may(self, tier: Tier) -> bool:
        """Whether the token is of that tier or above. A session's and an agent's are of none."""
        return self.token.tier is not None and self.token.tier.holds(tier)

    @property
    def decides(self) -> bool:
        """Whether it is a human's credential at the tier that decides (section 9.2)."""
        return self.is_person and self.may(Tier.DECIDE)

    @property
    def operates(self) -> bool:
        """Whether a person acts on this machine as whoever runs it."""
        return self.is_person and self.may(Tier.OPERATOR)

    @property
    def sender(self) -> Sender:
        """The principal. Raises Refusal for a token that is nobody's."""
        if self.token.address is None:
            raise forbidden("this token is nobody's: it registers agents, and neither sends nor reads")
        return Sender(self.token.address, can_decide=self.decides)


def resolve(node: Node, secret: str, *, cookie: bool = False) -> Caller:
    """Who holds a secret. Raises Refusal: 401 for nobody, 403 for who is known and may not use this host (yet)."""
    token = tokens.find(node.store.db, secret)
    if token is None or (token.kind is Kind.PAGE) is not cookie:
        raise unauthenticated(_NO_GOOD)
    check(node, token)
    return Caller(token, cookie)


def check(node: Node, token: Token) -> None:
    """Check that a token is still good. Raises Refusal as `resolve` does."""
    if token.expires_at is not None and token.expires_at <= node.now():
        raise unauthenticated(_NO_GOOD)
    match token.kind:
        case Kind.CODE:
            raise unauthenticated(_NO_GOOD)
        case Kind.RUN:
            assert token.address is not None
            if not node.host.is_live(token.address):
                raise unauthenticated(_NO_GOOD)
        case Kind.AGENT:
            _check_agent(node, token)
        case Kind.TEAM | Kind.PAGE if token.address is not None and token.address != node.address:
            if not making.stands_in(node, token.address):
                raise forbidden(f"this machine does not stand in for {token.address} any more")


def still_good(node: Node, token: Token) -> bool:
    """Whether a token that was resolved before is there and good."""
    if tokens.by_id(node.store.db, token.id) is None:
        return False
    try:
        check(node, token)
    except Refusal:
        return False
    return True


def own_addresses(node: Node, address: str) -> frozenset[str]:
    """The addresses that a principal takes part in messages as (section 4.6)."""
    return frozenset(acts_for(node.host, address))


def _check_agent(node: Node, token: Token) -> None:
    assert token.address is not None
    found = agents.find(node.store.db, token.address)
    if found is None or found.status == "revoked" or found.replica not in (None, node.me):
        raise unauthenticated(_NO_GOOD)
    if node.host.external(token.address) is not None:  # whose token is its binding's
        raise unauthenticated(_NO_GOOD)
    if found.status == "pending":
        raise forbidden(f"{token.address} waits to be approved")
