"""What goes to peers whose cards require the extension, and what is believed of their answers."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bindings.a2a.peers import extensions
from bindings.a2a.peers.peer import About, Declared, Interface, Peer, PeerState
from bindings.a2a.peers.wire import PeerError
from bindings.machine_envelope.extension import HEADER, METADATA_KEY, URI, Params
from bindings.machine_envelope.keyfile import make_key
from bindings.machine_envelope.peer import EXTENSION
from bindings.machine_envelope.verifying import Policy, verify
from core.errors import DmpError
from replica.node import create, wall_clock
from tests.bindings.machine_envelope.host import ACME, KIND, Host, served
from tests.bindings.machine_envelope.making import RECIPIENT
from tests.e2e.people import PATIENCE, Person, Town

PARAMS = Params(RECIPIENT, KIND, "a2a-message/send@0.3.0", "http://127.0.0.1:9/acquire")
REQUEST: dict[str, Any] = {
    "message": {
        "messageId": "m-1",
        "role": "ROLE_USER",
        "parts": [{"text": "Hello"}],
        "metadata": {"urn:other": 1},
        "extensions": ["urn:other"],
    },
    "configuration": {"returnImmediately": True},
}


def a_peer(params: Mapping[str, Any] = PARAMS.to_json(), **options: str) -> Peer:
    return Peer(
        alias="acme",
        card_url="https://acme.example/card",
        interface=Interface("https://acme.example", "JSONRPC", "", "Authorization", "Bearer ", False),
        about=About("Acme", "", (), (Declared(URI, True, params),)),
        state=PeerState.ACTIVE,
        added_at="2026-09-23T11:00:00.000Z",
        refresh_at=0,
        options=options,
    )


def shaped(root: Path, peer: Peer) -> tuple[Any, dict[str, str]]:
    headers = {HEADER: "urn:other", "Authorization": "Bearer hunter2"}
    return asyncio.run(EXTENSION.shape(root, peer, PARAMS.to_json(), REQUEST, headers)), headers


def test_a_message_is_signed_as_it_is_sent(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    own = make_key(tmp_path / "ada", os.urandom(32), "2026-01-01T00:00:00.000Z")
    request, headers = shaped(tmp_path / "ada", a_peer())
    assert headers[HEADER] == f"urn:other, {URI}"
    message = request["message"]
    assert message["extensions"] == ["urn:other", URI]
    policy = Policy(frozenset((own.did,)), RECIPIENT, KIND, PARAMS.context_protocol)
    found = verify(message["metadata"][METADATA_KEY], message, policy, wall_clock())
    assert found.sender == own.did
    assert REQUEST["message"]["extensions"] == ["urn:other"]
    assert METADATA_KEY not in REQUEST["message"]["metadata"]


def test_without_a_key_nothing_is_sent(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    with pytest.raises(PeerError) as refusal:
        shaped(tmp_path / "ada", a_peer())
    assert refusal.value.failure == "refused"
    assert "dmp envelope key make" in refusal.value.text


def test_an_envelope_is_acquired_from_public_addresses_alone(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    make_key(tmp_path / "ada", os.urandom(32), "2026-01-01T00:00:00.000Z")
    with pytest.raises(PeerError, match="https") as refusal:
        shaped(tmp_path / "ada", a_peer(envelope="acquire"))
    assert refusal.value.failure == "refused"


@pytest.mark.parametrize("headers", [{}, {"a2a-extensions": "urn:other"}, {"a2a-extensions": f"{URI}/"}])
def test_an_answer_without_the_echo_is_not_trusted(headers: dict[str, str]) -> None:
    with pytest.raises(PeerError) as refusal:
        EXTENSION.hear(headers)
    assert refusal.value.failure == "refused"
    EXTENSION.hear({"a2a-extensions": f"urn:other, {URI}"})


@pytest.mark.parametrize("missing", ["recipient", "kind", "context_protocol", "acquisition"])
def test_a_card_that_leaves_something_out_cannot_be_satisfied(missing: str) -> None:
    for value in ("", None, 1, "a\nb", "x" * 3_000):
        with pytest.raises(DmpError) as refusal:
            extensions.check(a_peer({**PARAMS.to_json(), missing: value}))
        assert refusal.value.field == "card"


def test_what_the_owner_sets_is_looked_at_before_the_peer_is_added() -> None:
    extensions.check(a_peer())
    extensions.check(a_peer(envelope="acquire"))
    with pytest.raises(DmpError) as refusal:
        extensions.check(a_peer(envelope="other"))
    assert refusal.value.field == "options.envelope"


def waited(look: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("way", ["own", "acquire"])
def test_two_hosts_meet_with_envelopes_as_real_processes(ada: Host, tmp_path: Path, way: str) -> None:
    bob: Person = Town(tmp_path).person("bob")
    (bob.root / "config.toml").write_text('[a2a]\nprivate_hosts = "127.0.0.1"\n')
    did = bob.json("envelope", "key", "make")["did"]
    settings = {"ISSUERS": did} if way == "own" else {"ISSUE": "true"}
    with served(ada, **settings) as url:
        bob.dmp("a2a", "peer", "add", "ada", f"{url}/.well-known/agent-card.json", "--set", f"envelope={way}")
        bob.dmp("a2a", "peer", "credential", "ada", stdin=f"{ada.secrets[ACME]}\n")
        with bob.running("serve", "--listen", "127.0.0.1:0", "--json") as service:
            service.told('"url"')
            bob.dmp("send", "a2a:ada", "Twelve crates?", "--kind", "question", "--blocking")
            waited(lambda: len(ada.inbox()) == 1)
    assert ada.spent() == 1
