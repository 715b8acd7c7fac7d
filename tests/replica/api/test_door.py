"""What is checked of every request before anybody looks at who makes it, and how refusals look."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.replica.api.host import PATIENCE, Host, User, served

ORIGIN = "http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with served(tmp_path_factory.mktemp("door"), names=("dmp.example",)) as made:
        yield made


@pytest.fixture(scope="module")
def ada(host: Host) -> User:
    return host.user()


@pytest.mark.parametrize(
    "name",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "x@127.0.0.1:{port}",
        "",
        "[::1",
    ],
)
def test_a_request_for_another_host_is_refused(ada: User, name: str) -> None:
    """DNS rebinding: a name of somebody else's that leads here."""
    got = ada.get("/api/mailbox", {"Host": name.format(port=ada.port)})
    assert got.status == 403
    assert set(got.json) == {"error", "code"}


@pytest.mark.parametrize(
    "name", ["localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}", "dmp.example", "dmp.example:8443"]
)
def test_a_request_for_a_name_of_this_host_is_answered(ada: User, name: str) -> None:
    assert ada.get("/api/mailbox", {"Host": name.format(port=ada.port)}).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "http://localhost:{port}"]
)
@pytest.mark.parametrize("path", ["/api/mailbox", "/health", "/openapi.json"])
def test_a_page_of_another_origin_may_use_nothing(ada: User, origin: str, path: str) -> None:
    assert ada.get(path, {"Origin": origin.format(port=ada.port)}).status == 403


def test_a_page_of_this_host_may(ada: User) -> None:
    headers = {"Origin": ORIGIN.format(port=ada.port), "Sec-Fetch-Site": "same-origin"}
    assert ada.get("/api/mailbox", headers).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_has_a_browser_load_is_refused_but_a_link_may_be_followed(
    ada: User, site: str
) -> None:
    loaded = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    followed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    assert ada.get("/api/mailbox", loaded).status == 403
    assert ada.get("/health", followed).status == 200
    assert ada.post("/api/messages", {}, followed).status == 403


def test_a_path_that_is_not_there_is_refused_in_json(ada: User) -> None:
    got = ada.get("/api/nothing")
    assert (got.status, got.json["code"]) == (404, "not-found")
    assert got.header("Content-Type") == "application/json; charset=utf-8"


def test_another_method_is_refused_with_those_that_may_be_used(ada: User) -> None:
    got = ada.ask("PUT", "/api/messages", {})
    assert (got.status, got.header("Allow")) == (405, "POST")
    assert "error" in got.json


def test_a_body_that_is_too_long_is_refused(ada: User) -> None:
    got = ada.post("/api/messages", b'"' + b"x" * (1024 * 1024) + b'"')
    assert got.status == 413
    assert "error" in got.json


def test_a_body_that_is_not_said_to_be_json_is_refused(ada: User) -> None:
    assert (
        ada.post("/api/messages", b"to=x", {"Content-Type": "application/x-www-form-urlencoded"}).status
        == 415
    )


@pytest.mark.parametrize("body", [b"", b"{", b"[1", b"\xff\xff", b"1e999", b"[" * 5000])
def test_a_body_that_is_no_json_is_refused(ada: User, body: bytes) -> None:
    got = ada.post("/api/messages", body)
    assert got.status in (400, 415)
    assert "error" in got.json


@pytest.mark.parametrize("body", [b"null", b"[]", b'"x"', b"{}", b'{"to": 5, "kind": null, "body": {}}'])
def test_json_that_is_no_send_input_is_refused_on_its_field(ada: User, body: bytes) -> None:
    got = ada.post("/api/messages", body)
    assert (got.status, got.json["code"]) == (400, "invalid")


def test_a_refusal_says_what_is_at_fault_and_how_to_fix_it(ada: User) -> None:
    got = ada.post("/api/messages", {"to": ["human:bob", "nobody"], "kind": "message", "body": "x"})
    assert got.status == 400
    assert got.json["field"] == "to[1]"
    assert "needs a scheme" in got.json["error"]


def test_a_parameter_that_is_none_is_refused_with_those_there_are(ada: User) -> None:
    got = ada.get("/api/mailbox?stat=held")
    assert (got.status, "there are address, state" in got.json["error"]) == (400, True)
    assert ada.get("/api/channels?x=1").status == 400


def test_an_answer_is_not_kept_by_caches_and_tells_nothing_of_the_server(ada: User) -> None:
    got = ada.get("/api/mailbox")
    assert got.header("Cache-Control") == "no-store"
    assert got.header("X-Content-Type-Options") == "nosniff"
    assert got.header("Server") is None


def test_no_line_break_of_a_body_is_left_raw_in_an_answer(ada: User) -> None:
    """Section 6.8: a structured read escapes every line break of section 1.4."""
    breaks = "a\r\nb\nc\rd\x0be\x0cf\x85g\u2028h\u2029i"
    message = ada.send("human:ada", "human:bob", body=breaks)
    got = ada.get(f"/api/messages/{message['id']}")
    assert got.json["body"] == breaks
    assert got.raw.isascii()
    assert not set(b"\r\n\x0b\x0c") & set(got.raw)


def test_a_message_says_whether_its_sender_is_external(ada: User) -> None:
    """Section 6.8: a reader can tell an external sender's message from a local one."""
    message = ada.send("human:bob")
    assert (message["external"], message["remote"]) == (False, False)


def test_a_replica_that_cannot_be_opened_is_503_and_no_bug(tmp_path: Path) -> None:
    with served(tmp_path) as gone:
        user = gone.user()
        gone.root.rename(tmp_path / "elsewhere")
        got = user.get("/api/mailbox")
        (tmp_path / "elsewhere").rename(gone.root)
    assert (got.status, got.json["code"]) == (503, "unavailable")
    assert "key file" in got.json["error"] or "no replica" in got.json["error"]


def test_a_store_that_is_damaged_is_503_and_no_bug_and_works_again_once_it_is_put_back(
    tmp_path: Path,
) -> None:
    with served(tmp_path) as host:
        user = host.user()
        assert user.get("/api/channels").status == 200
        with host.node.store.transaction("a test") as db:
            db.execute("ALTER TABLE tokens RENAME TO lost")
        got = user.get("/api/channels")
        assert (got.status, got.json["code"]) == (503, "unavailable")
        with host.node.store.transaction("a test") as db:
            db.execute("ALTER TABLE lost RENAME TO tokens")
        assert user.get("/api/channels").status == 200


def test_no_secret_and_no_body_is_in_any_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Section 13.10."""
    caplog.set_level("DEBUG")
    with served(tmp_path) as host:
        user = host.user()
        user.send("human:bob", body="a body that is nobody else's")
        user.get(f"/ws?token={user.token}")
        with host.node.store.transaction("a test") as db:
            db.execute("ALTER TABLE messages RENAME COLUMN body TO lost")
        assert (
            user.post("/api/messages", {"to": ["human:bob"], "kind": "message", "body": "another"}).status
            == 503
        )
        with host.node.store.transaction("a test") as db:
            db.execute("ALTER TABLE messages RENAME COLUMN lost TO body")
    said = "\n".join(record.getMessage() for record in caplog.records)
    for secret in (str(user.token), "a body that", "another"):
        assert secret not in said


def begun(port: int, path: str, *headers: str, content: bytes = b"{") -> int:
    """The status of the answer to a request whose body only begins to come."""
    lines = (f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json", *headers)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode() + content)
        return int(connection.recv(1000).split()[1])


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/messages", (), 401),
        ("/api/messages", ("Authorization: Bearer dmp_app_none",), 401),
        ("/api/agents/register", ("Authorization: Bearer dmp_app_none",), 401),
        ("/api/session", (), 413),
    ],
)
def test_nobody_is_listened_to_for_long_before_they_are_known(
    host: Host, path: str, headers: tuple[str, ...], status: int
) -> None:
    assert begun(host.port, path, *headers, "Content-Length: 1000000") == status


def test_who_may_not_do_this_is_told_so_before_they_say_what(host: Host) -> None:
    secret = host.agent("tidy").token
    headers = (f"Authorization: Bearer {secret}", "Content-Length: 1000000")
    assert begun(host.port, "/api/agents/register", *headers) == 403


def test_a_sign_in_that_does_not_say_how_long_it_is_is_cut_off(host: Host) -> None:
    content = b"1000\r\n" + b" " * 0x1000 + b"\r\n1\r\n \r\n"
    assert begun(host.port, "/api/session", "Transfer-Encoding: chunked", content=content) == 413


def test_who_leaves_while_they_speak_is_nothing_to_log(
    host: Host, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    line = (
        f"POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\nAuthorization: Bearer {ada.token}\r\n"
    )
    with socket.create_connection(("127.0.0.1", host.port), timeout=PATIENCE) as connection:
        connection.sendall(f"{line}Content-Length: 9\r\nContent-Type: application/json\r\n\r\n{{".encode())
        connection.sendall(b'"a":')
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    for _ in range(3):  # by then the service has noticed
        assert ada.get("/api/mailbox").status == 200
    assert caplog.records == []
