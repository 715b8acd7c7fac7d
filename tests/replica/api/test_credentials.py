"""Section A.1, row by row: who holds what, what it resolves to, and which status it gets otherwise."""

from dataclasses import replace

import pytest

from core.errors import Code, DmpError
from core.store import registers
from core.timestamp import timestamp
from replica.api import announce, tokens
from replica.host import agents
from replica.node import wall_clock
from replica.records import tokens as rows
from replica.records.commits import CommitPoint
from replica.records.tokens import Kind, Tier
from tests.replica.api.host import Host, User, quoted, session, work_item


def test_app_token_is_the_owner_at_the_operator_tier(host: Host, ada: User) -> None:
    assert ada.send("human:bob")["from"] == "human:ada"
    assert ada.get("/api/threads").status == 200  # decides
    assert ada.get("/node/team").status == 200  # operates


@pytest.mark.parametrize(
    ("tier", "threads", "node"),
    [(Tier.REQUEST, 403, 403), (Tier.DECIDE, 200, 403), (Tier.OPERATOR, 200, 403)],
)
def test_team_token_is_the_teammate_at_its_tier(host: Host, tier: Tier, threads: int, node: int) -> None:
    bob = host.user("human:bob", tier)
    assert bob.send("human:ada")["from"] == "human:bob"
    assert bob.get("/api/agents/roster").status == 200  # every tier holds request
    assert bob.get("/api/threads").status == threads
    assert bob.get("/node/team").status == node  # that is the person's who runs this machine


def test_team_token_that_has_expired_is_401(host: Host) -> None:
    made = tokens.make(host.node, "human:bob", days=1)
    bob = User(host.port, made.secret)
    assert bob.get("/api/mailbox").status == 200
    past = timestamp(wall_clock() - 1)
    with host.node.store.transaction(CommitPoint.TOKEN) as db:
        db.execute("UPDATE tokens SET expires_at = ? WHERE id = ?", (past, made.token.id))
    assert bob.get("/api/mailbox").status == 401


def test_run_token_is_the_session_while_it_lives_and_401_afterwards(host: Host) -> None:
    task = work_item(host)
    with session(host, task) as run:
        user = host.user(run)
        assert user.send("human:ada")["from"] == run
        assert user.get("/api/threads").status == 403  # a session never decides
        assert user.get("/api/agents/roster").status == 403  # and has no tier
    assert user.get("/api/mailbox").status == 401


def test_agent_token_is_given_once_and_good_once_the_agent_is_approved(host: Host, ada: User) -> None:
    made = ada.post("/api/agents/register", {"name": "bot", "client": "tests"})
    assert made.status == 201
    bot = User(host.port, made.json["token"])
    assert bot.get("/api/mailbox").status == 403  # pending
    assert bot.post("/api/messages", {"to": ["human:ada"], "kind": "message", "body": "x"}).status == 403
    ada.post(f"/api/agents/{quoted('agent:ada/bot')}/approve")
    assert bot.send("human:ada")["from"] == "agent:ada/bot"
    assert bot.get("/api/threads").status == 403  # an agent never decides
    ada.post(f"/api/agents/{quoted('agent:ada/bot')}/revoke")
    assert bot.get("/api/mailbox").status == 401


def test_agent_that_a_binding_reaches_has_no_token_of_this_api(host: Host) -> None:
    client = "agent:ada/a2a.acme"
    with host.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, host.node.random, client, "tests", host.node.me)
        agents.decide(db, client, "approved")
    with pytest.raises(DmpError) as refused:
        tokens.make(host.node, client)
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "for")


def test_agent_token_of_an_earlier_registration_is_good_no_more(host: Host, ada: User) -> None:
    before = host.agent("bot")
    ada.post(f"/api/agents/{quoted('agent:ada/bot')}/revoke")
    after = host.agent("bot")
    assert after.get("/api/mailbox").status == 200
    assert before.get("/api/mailbox").status == 401


def test_agent_token_is_none_of_an_agent_that_moved_to_another_machine(host: Host) -> None:
    bot = host.agent("bot")
    with host.node.store.transaction(CommitPoint.AGENT) as db:
        registers.edit(db, "agent", "agent:ada/bot", {"replica": "ada-00000000"})
    assert bot.get("/api/mailbox").status == 401


def test_shared_agent_token_registers_an_agent_and_neither_sends_nor_reads(host: Host, ada: User) -> None:
    announce.announce(host.root, f"http://127.0.0.1:{host.port}")
    told = announce.announced(host.root)
    assert told is not None
    assert told.url.endswith(str(host.port))
    assert (host.root / "api.json").stat().st_mode & 0o077 == 0
    process = User(host.port, told.token)
    made = process.post("/api/agents/register", {"name": "bot", "client": "tests"})
    assert made.json["agent"]["address"] == "agent:ada/bot"  # the owner's handle
    assert process.get("/api/agents/roster").status == 200
    for method, path in [
        ("POST", "/api/messages"),
        ("GET", "/api/messages/m-x"),
        ("POST", "/api/messages/m-x/reply"),
        ("GET", "/api/messages/m-x/answer"),
        ("GET", "/api/threads"),
        ("GET", "/api/threads/m-x"),
        ("GET", "/api/mailbox"),
        ("POST", "/api/deliveries/d-x/read"),
        ("GET", "/api/channels"),
        ("GET", "/api/decisions/open"),
        ("POST", f"/api/agents/{quoted('agent:ada/bot')}/approve"),
        ("GET", "/node/team"),
    ]:
        assert process.ask(method, path, {} if method == "POST" else None).status == 403, path


def test_shared_agent_token_is_replaced_each_time_it_is_told(host: Host) -> None:
    first = tokens.shared(host.node).secret
    second = tokens.shared(host.node).secret
    assert User(host.port, first).get("/api/agents/roster").status == 401
    assert User(host.port, second).get("/api/agents/roster").status == 200


@pytest.mark.parametrize("token", ["x", "dmp_app_", "dmp_app_" + "A" * 43, "\u00e9"])
def test_an_unknown_token_is_401_with_one_answer(host: Host, ada: User, token: str) -> None:
    got = User(host.port, token.encode().decode("latin-1")).get("/api/mailbox")
    assert (got.status, got.header("WWW-Authenticate")) == (401, "Bearer")
    assert got.comparable == User(host.port, "y").get("/api/mailbox").comparable


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer ", "Basic YTpi"])
def test_no_token_is_401(host: Host, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    got = host.stranger.get("/api/mailbox", headers)
    assert (got.status, got.header("WWW-Authenticate")) == (401, "Bearer")


def test_a_token_is_kept_as_a_hash_alone(host: Host) -> None:
    made = tokens.make(host.node)
    stored = b"".join(path.read_bytes() for path in host.root.glob("state.db*"))
    assert made.secret.encode() not in stored
    assert made.secret.rpartition("_")[2].encode() not in stored


def test_a_token_that_is_revoked_is_good_no_more(host: Host) -> None:
    made = tokens.make(host.node)
    user = User(host.port, made.secret)
    assert user.get("/api/mailbox").status == 200
    with host.node.store.transaction(CommitPoint.TOKEN) as db:
        assert rows.remove(db, made.token.id)
    assert user.get("/api/mailbox").status == 401


def test_a_token_is_made_for_who_may_have_one(host: Host) -> None:
    for address, code in [
        ("run:r-123456", Code.CONFLICT),
        ("agent:ada/nobody", Code.NOT_FOUND),
        ("task:t-123456", Code.INVALID),
        ("channel:x", Code.INVALID),
        ("agent:dispatch", Code.NOT_FOUND),
        ("nobody", Code.INVALID),
    ]:
        with pytest.raises(DmpError) as refused:
            tokens.make(host.node, address)
        assert refused.value.code is code, address
    with host.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, host.node.random, "agent:ada/new", "tests", host.node.me)
    with pytest.raises(DmpError) as refused:
        tokens.make(host.node, "agent:ada/new")
    assert refused.value.code is Code.CONFLICT


def test_a_token_has_the_tier_that_its_holder_may_have(host: Host) -> None:
    host.agent("bot")
    for address, tier in [("human:ada", Tier.REQUEST), ("agent:ada/bot", Tier.DECIDE)]:
        with pytest.raises(DmpError) as refused:
            tokens.make(host.node, address, tier=tier)
        assert refused.value.field == "tier"
    with pytest.raises(DmpError, match="label"):
        tokens.make(host.node, label="two\nlines")


def test_nobody_is_the_system_address_whatever_the_store_says(host: Host) -> None:
    """Section 13.1: only the host's own code sends as the system address."""
    made = tokens.make(host.node)
    with host.node.store.transaction(CommitPoint.TOKEN) as db:
        rows.insert(
            db, replace(made.token, id="tk-forged", kind=Kind.AGENT, address="agent:dispatch"), "secret"
        )
    assert User(host.port, "secret").get("/api/mailbox").status == 401
