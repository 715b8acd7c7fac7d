"""Signing a browser in: the cookie, the one-time link, and what a browser must send to change something."""

import http.cookies

import pytest
from websockets.exceptions import InvalidStatus

from core.timestamp import timestamp
from replica.api import tokens
from replica.api.signing_in import CSRF_HEADER
from replica.node import wall_clock
from replica.records import tokens as rows
from replica.records.commits import CommitPoint
from replica.records.tokens import Tier
from tests.replica.api.host import Got, Host, User


def cookie_of(got: Got) -> http.cookies.Morsel[str]:
    jar = http.cookies.SimpleCookie(got.header("Set-Cookie"))
    (morsel,) = jar.values()
    return morsel


def browser(host: Host, got: Got) -> User:
    """Whoever has the cookie that was set, without the CSRF token."""
    morsel = cookie_of(got)
    return User(host.port, None, {"Cookie": f"{morsel.key}={morsel.value}"})


def page(host: Host, got: Got) -> User:
    """A page of this host in that browser, which knows the CSRF token."""
    made = browser(host, got)
    made.headers |= {
        "Origin": f"http://127.0.0.1:{host.port}",
        CSRF_HEADER: made.get("/node/session").json["csrf"],
    }
    return made


def signed_in(host: Host, token: str | None) -> Got:
    return host.stranger.post("/api/session", {"token": token})


def test_a_person_signs_in_with_their_token_and_gets_a_cookie_that_scripts_cannot_read(
    host: Host, ada: User
) -> None:
    got = signed_in(host, ada.token)
    assert got.status == 200
    assert (got.json["address"], got.json["tier"]) == ("human:ada", "operator")
    morsel = cookie_of(got)
    assert morsel["httponly"]
    assert morsel["samesite"] == "Strict"
    assert morsel["path"] == "/"
    assert morsel.value not in got.raw.decode()
    assert morsel.value != ada.token
    mine = browser(host, got)
    assert mine.get("/api/mailbox").status == 200
    assert mine.get("/node/session").json == {
        "address": "human:ada",
        "tier": "operator",
        "csrf": got.json["csrf"],
        "replica": host.node.me,
        "handle": "ada",
    }


def test_a_teammate_signs_in_at_the_tier_of_their_token(host: Host) -> None:
    got = signed_in(host, host.user("human:bob", Tier.DECIDE).token)
    assert (got.json["address"], got.json["tier"]) == ("human:bob", "decide")
    assert browser(host, got).get("/api/threads").status == 200
    assert browser(host, got).get("/node/team").status == 403


def test_only_a_person_signs_in(host: Host, ada: User) -> None:
    assert signed_in(host, host.agent("bot").token).status == 403
    assert signed_in(host, tokens.shared(host.node).secret).status == 403
    assert signed_in(host, "nothing").status == 401
    assert host.stranger.post("/api/session", {}).json["field"] == "token"
    secret = cookie_of(signed_in(host, ada.token)).value
    assert signed_in(host, secret).status == 401  # a cookie is good as a cookie alone
    assert User(host.port, secret).get("/api/mailbox").status == 401
    assert browser_with(host, str(ada.token)).get("/api/mailbox").status == 401  # and a token as a token


def browser_with(host: Host, secret: str) -> User:
    return User(host.port, None, {"Cookie": f"dmp-{host.port}={secret}"})


def test_a_link_signs_in_once(host: Host) -> None:
    secret = tokens.code(host.node).secret
    opened = host.stranger.get(f"/node/open?code={secret}")
    assert (opened.status, opened.header("Location")) == (303, "/")
    assert opened.header("Referrer-Policy") == "no-referrer"
    assert browser(host, opened).get("/node/session").json["address"] == "human:ada"
    again = host.stranger.get(f"/node/open?code={secret}")
    assert again.status == 401
    assert "dmp web" in again.json["error"]


def test_a_code_signs_in_once_in_a_request_too_and_is_no_token(host: Host) -> None:
    secret = tokens.code(host.node).secret
    assert User(host.port, secret).get("/api/mailbox").status == 401
    assert signed_in(host, secret).status == 200
    assert signed_in(host, secret).status == 401


def test_a_link_that_is_too_old_signs_nobody_in(host: Host) -> None:
    made = tokens.code(host.node)
    with host.node.store.transaction(CommitPoint.TOKEN) as db:
        db.execute("UPDATE tokens SET expires_at = ?", (timestamp(wall_clock() - 1),))
    assert host.stranger.get(f"/node/open?code={made.secret}").status == 401
    assert signed_in(host, made.secret).status == 401


@pytest.mark.parametrize("code", ["", "?code=", "?code=x"])
def test_a_link_without_a_code_signs_nobody_in(host: Host, ada: User, code: str) -> None:
    assert host.stranger.get(f"/node/open{code}").status == 401
    assert (
        host.stranger.get(f"/node/open?code={ada.token}").status == 401
    )  # a token has no business in a link


def test_a_browser_changes_nothing_without_the_csrf_token_of_a_page_of_this_host(
    host: Host, ada: User
) -> None:
    mine = page(host, signed_in(host, ada.token))
    message = {"to": ["human:bob"], "kind": "message", "body": "x"}
    assert mine.post("/api/messages", message).status == 201
    for wrong in (
        {CSRF_HEADER: ""},
        {CSRF_HEADER: "0" * 32},
        {CSRF_HEADER: "é".encode().decode("latin-1")},
        {"Origin": "http://127.0.0.1:1"},
    ):
        assert mine.post("/api/messages", message, wrong).status == 403, wrong
    mine.headers.pop("Origin")
    assert mine.post("/api/messages", message).status == 403
    assert mine.get("/api/mailbox").status == 200


def test_the_csrf_token_of_another_browser_is_of_no_use(host: Host, ada: User) -> None:
    one, other = page(host, signed_in(host, ada.token)), page(host, signed_in(host, ada.token))
    message = {"to": ["human:bob"], "kind": "message", "body": "x"}
    assert one.post("/api/messages", message, {CSRF_HEADER: other.headers[CSRF_HEADER]}).status == 403


def test_signing_out_needs_nothing_and_ends_the_cookie(host: Host, ada: User) -> None:
    mine = browser(host, signed_in(host, ada.token))
    gone = mine.delete("/api/session")
    assert gone.status == 204
    assert cookie_of(gone)["max-age"] == "0"
    assert mine.get("/api/mailbox").status == 401
    assert host.stranger.delete("/api/session").status == 204
    assert ada.delete("/api/session").status == 204
    assert ada.get("/api/mailbox").status == 200  # a token is no cookie


def test_a_browser_opens_a_socket_from_a_page_of_this_host_alone(host: Host, ada: User) -> None:
    mine = browser(host, signed_in(host, ada.token))
    with mine.events(headers={"Origin": f"http://127.0.0.1:{host.port}"}) as events:
        sent = ada.send("human:bob")
        assert events.next()["message"]["id"] == sent["id"]
    for headers in ({}, {"Origin": f"http://localhost:{host.port}"}):
        with pytest.raises(InvalidStatus) as refused, mine.events(headers=headers):
            pass
        assert refused.value.response.status_code == 403


def test_a_browsers_session_ends_when_the_person_says_so(host: Host, ada: User) -> None:
    mine = browser(host, signed_in(host, ada.token))
    with host.node.store.transaction(CommitPoint.TOKEN) as db:
        (page_,) = [each for each in rows.every(db) if each.kind is rows.Kind.PAGE]
        rows.remove(db, page_.id)
    assert mine.get("/api/mailbox").status == 401


def test_a_teammates_browser_is_signed_in_no_longer_than_their_token(host: Host) -> None:
    made = tokens.make(host.node, "human:bob", days=1)
    signed_in(host, made.secret)
    (page_,) = [each for each in rows.every(host.node.store.db) if each.kind is rows.Kind.PAGE]
    assert page_.expires_at == made.token.expires_at


def test_what_needs_no_token_says_nothing_of_anybody(host: Host) -> None:
    assert host.stranger.get("/health").json == {"status": "ok"}
    assert host.stranger.get("/api/health").json == {"status": "ok"}
    assert b"ada" not in host.stranger.get("/openapi.json").raw.replace(b"agent:ada%2F", b"")
