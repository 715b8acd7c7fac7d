"""Reading a request by its route's declaration, and who makes it."""

from typing import Any

from aiohttp import hdrs, web

from core.errors import Code, invalid
from core.message import ABSENT, Data
from core.text import shown
from crypto.canonical import JsonError, decode, parse
from replica.api import credentials
from replica.api.credentials import Caller
from replica.api.errors import Refusal, forbidden, unauthenticated
from replica.api.signing_in import cookie_of
from replica.api.table import Call, Route, Who
from replica.node import Node
from replica.records.tokens import Tier


async def read(request: web.Request, route: Route) -> "Given":
    """What a request gives. Raises Refusal, DmpError `invalid`."""
    query = {param.name: param.default for param in route.query}
    for name in request.query:
        if name not in query:
            raise invalid(None, f"there is no parameter {shown(name)} here; {_parameters(route)}")
    for param in route.query:
        text = request.query.get(param.name)
        if text is not None:
            query[param.name] = param.read(text)
    return Given(
        dict(request.match_info),
        query,
        await _body(request, route),
        request.headers.get("Idempotency-Key") if route.keyed else None,
    )


def _parameters(route: Route) -> str:
    names = ", ".join(param.name for param in route.query)
    return f"there are {names}" if names else "there is none"


class Given:
    """What a request gives, apart from who makes it."""

    def __init__(self, path: dict[str, str], query: dict[str, Any], body: Data, key: str | None) -> None:
        self.path = path
        self.query = query
        self.body = body
        self.key = key

    def by(self, caller: Caller, *, patient: bool) -> Call:
        """The call that it is, made by somebody."""
        return Call(caller, self.path, self.query, self.body, self.key, patient)


async def _body(request: web.Request, route: Route) -> Data:
    if route.takes is None:
        return ABSENT
    raw = await request.read()
    if not raw and not route.needs_body:
        return ABSENT
    if request.content_type != "application/json":
        raise Refusal(415, str(Code.INVALID), "send JSON, with the header Content-Type: application/json")
    try:
        return parse(decode(raw)).value
    except JsonError as error:
        raise invalid(None, f"the body must be JSON: {error}") from None


def secret_of(request: web.Request, *, query: bool = False) -> tuple[str, bool]:
    """The secret a request comes with, and whether a cookie holds it. Raises Refusal 401 where there is none."""
    header = request.headers.get(hdrs.AUTHORIZATION)
    if header is not None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise unauthenticated(
                "send the header Authorization: Bearer TOKEN; `dmp token add` makes a token"
            )
        return secret.strip(), False
    if query and "token" in request.query:
        return request.query["token"], False
    secret_ = cookie_of(request)
    if secret_ is None:
        raise unauthenticated("send the header Authorization: Bearer TOKEN; `dmp token add` makes a token")
    return secret_, True


def admit(node: Node, route: Route, secret: str, *, cookie: bool) -> Caller:
    """Who makes a request, if they may make it. Raises Refusal 401 or 403."""
    caller = credentials.resolve(node, secret, cookie=cookie)
    match route.who:
        case Who.PRINCIPAL:
            _ = caller.sender
        case Who.PERSON if not caller.is_person:
            raise forbidden("only a person may do this; use your own token")
        case Who.DECIDING if not caller.decides:
            raise forbidden("only a human who decides may do this: a token of the tier decide or above")
        case Who.REQUEST if not caller.may(Tier.REQUEST):
            raise _below(Tier.REQUEST)
        case Who.DECIDE if not caller.decides:
            raise _below(Tier.DECIDE)
        case Who.OPERATOR if not (caller.may(Tier.OPERATOR) and caller.address == node.address):
            raise forbidden("only the person who runs this machine may do this")
    return caller


def _below(tier: Tier) -> Refusal:
    return forbidden(f"this needs a person's token of the tier {tier} or above")
