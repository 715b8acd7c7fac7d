"""An instance behind someone else's gateway, as a peer: what its owner sets, and what goes with each message."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bindings.a2a.peers import extensions
from bindings.a2a.peers.peer import About, Declared, Interface, Peer, PeerState
from bindings.instance_routing.extension import URI
from bindings.instance_routing.peer import EXTENSION
from bindings.instance_routing.request import extensions_of, read
from core.errors import DmpError

REQUEST: dict[str, Any] = {
    "message": {
        "messageId": "m-1",
        "role": "ROLE_USER",
        "parts": [{"text": "Hello"}],
        "extensions": ["urn:other"],
    },
    "metadata": {"urn:other": 1},
}


def a_peer(**options: str) -> Peer:
    return Peer(
        alias="acme",
        card_url="https://acme.example/card",
        interface=Interface("https://acme.example", "HTTP+JSON", "", "Authorization", "Bearer ", False),
        about=About("Acme", "", (), (Declared(URI, True),)),
        state=PeerState.ACTIVE,
        added_at="2026-09-23T11:00:00.000Z",
        refresh_at=0,
        options=options,
    )


def shaped(peer: Peer) -> tuple[Any, dict[str, str]]:
    headers = {"A2A-Extensions": "urn:other"}
    return asyncio.run(EXTENSION.shape(Path(), peer, {}, REQUEST, headers)), headers


def test_a_gateway_is_found_by_its_extension() -> None:
    assert [extension.uri for extension, _ in extensions.of(a_peer())] == [URI]


def test_a_message_carries_the_extension_where_a_gateway_reads_it() -> None:
    request, headers = shaped(a_peer(recipientInstanceId="i-7", deliveryMode="wake", wakeBacklog="true"))
    found = read(request, extensions_of(headers["A2A-Extensions"]))
    assert (found.instance, found.mode, found.id) == ("i-7", "wake", "m-1")
    assert request["metadata"] == {
        "urn:other": 1,
        URI: {"recipientInstanceId": "i-7", "deliveryMode": "wake", "wakeBacklog": True},
    }
    assert request["message"]["extensions"] == ["urn:other", URI]
    assert extensions_of(headers["A2A-Extensions"]) == {"urn:other", URI}


def test_each_try_of_a_message_has_the_same_contents() -> None:
    peer = a_peer(recipientInstanceId="i-7")
    (first, headers), (second, _) = shaped(peer), shaped(peer)
    named = extensions_of(headers["A2A-Extensions"])
    assert read(first, named).digest == read(second, named).digest
    assert REQUEST["message"]["extensions"] == ["urn:other"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({}, "recipientInstanceId"),
        ({"recipientInstanceId": "x" * 201}, "recipientInstanceId"),
        ({"recipientInstanceId": "a\nb"}, "recipientInstanceId"),
        ({"recipientInstanceId": "i-7", "deliveryMode": "push"}, "deliveryMode"),
        ({"recipientInstanceId": "i-7", "wakeBacklog": "yes"}, "wakeBacklog"),
    ],
)
def test_what_the_owner_sets_is_looked_at_before_the_peer_is_added(
    options: dict[str, str], field: str
) -> None:
    with pytest.raises(DmpError) as caught:
        extensions.check(a_peer(**options))
    assert caught.value.field == field


def test_a_gateway_with_an_instance_named_is_fine() -> None:
    extensions.check(a_peer(recipientInstanceId="i-7"))
