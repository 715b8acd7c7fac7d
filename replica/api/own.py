"""The routes that the application serves itself: whether it is up, signing in and out, events and the document."""

from typing import Final

from replica.api.schemas import MAYBE_TEXT, TEXT, given, record, ref
from replica.api.table import Answer, Route, Who, elsewhere, word

SESSION: Final = record({"address": ref("Address"), "tier": TEXT, "csrf": TEXT})

_UP: Final = Answer("It is up.", record({"status": {"const": "ok"}}))


def _health(path: str, name: str) -> Route:
    return Route("GET", path, name, Who.ANYONE, "Whether this host is up", elsewhere, {200: _UP}, tag="host")


ROUTES: Final = (
    _health("/health", "health"),
    _health("/api/health", "apiHealth"),
    Route(
        "GET",
        "/openapi.json",
        "openapi",
        Who.ANYONE,
        "This document",
        elsewhere,
        {200: Answer("It.", {"type": "object"})},
        tag="host",
    ),
    Route(
        "POST",
        "/api/session",
        "signIn",
        Who.ANYONE,
        "Sign a browser in",
        elsewhere,
        {200: Answer("Signed in: the cookie is set.", SESSION)},
        takes=given({"token": TEXT}),
        text="`token` is a person's token, or a one-time code of `dmp web`. The answer sets a cookie that scripts "
        "cannot read. Whatever changes something then needs the header `X-CSRF-Token` with the value of `csrf`.",
        refuses={401: "The token is none, or good no more.", 403: "It is no person's."},
        tag="host",
    ),
    Route(
        "DELETE",
        "/api/session",
        "signOut",
        Who.ANYONE,
        "Sign a browser out",
        elsewhere,
        {204: Answer("The cookie is cleared, and good for nothing any more.")},
        tag="host",
    ),
    Route(
        "GET",
        "/ws",
        "events",
        Who.PRINCIPAL,
        "Events, over a WebSocket",
        elsewhere,
        {101: Answer("From here on each event is a JSON object with a `type`.")},
        query=(word("token", "The token, where a browser cannot send it in a header."),),
        text="`message.new` has a `message`: one was stored, or became an answer, or is one no more. "
        "`delivery.changed` has `deliveryId` and `messageId`: read the thread to see how. Both go to who may "
        "read the message alone. `node.changed` goes to the person who runs this machine. There is no going back to "
        "what was missed: read what there is after connecting. Close codes: 4401 the token is good no more; 4408 too "
        "far behind; 4409 more happened than is kept.",
        refuses={400: "That is no WebSocket handshake.", 503: "There are too many connections."},
        tag="events",
    ),
    Route(
        "GET",
        "/node/open",
        "openPage",
        Who.ANYONE,
        "Sign a browser in by a link that `dmp web` prints, and go to the page",
        elsewhere,
        {303: Answer("Signed in; the page is at `/`.")},
        query=(word("code", "The one-time code."),),
        refuses={401: "The link was used, or is too old."},
        tag="node",
    ),
    Route(
        "GET",
        "/node/session",
        "getSession",
        Who.PERSON,
        "Whose browser this is, and the CSRF token it needs",
        elsewhere,
        {
            200: Answer(
                "`csrf` is null for a token that came in a header, which needs none.",
                record(
                    {
                        "address": ref("Address"),
                        "tier": TEXT,
                        "csrf": MAYBE_TEXT,
                        "replica": TEXT,
                        "handle": TEXT,
                    }
                ),
            )
        },
        tag="node",
    ),
)
