"""Which addresses lead to a relay, by where they come from (T4)."""

from pathlib import Path

import pytest

from tests.transports.relay.client.me import Me
from transports.base import TransportError
from transports.opening import Opening, open_transport, read_address
from transports.relay.client.transport import RelayTransport
from transports.remotes import RemoteError, Source


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("wss://relay.example", "wss://relay.example"),
        ("wss://relay.example:8443/dmp/", "wss://relay.example:8443/dmp"),
        ("ws://127.0.0.1:8080", "ws://127.0.0.1:8080"),
        ("ws://[::1]:8080/", "ws://[::1]:8080"),
        ("ws://localhost", "ws://localhost"),
    ],
)
def test_t4_a_typed_address_is_kept_without_slashes_at_its_end(text: str, kept: str) -> None:
    assert read_address(text, Source.TYPED) == kept
    if text.startswith("wss"):
        assert read_address(text, Source.NAMED) == kept


@pytest.mark.parametrize(
    "text",
    [
        "ws://relay.example",
        "ws://10.0.0.1",
        "ws://127.0.0.1.example",
        "wss://ada@relay.example",
        "wss://ada:secret@relay.example",
        "wss://relay.example?x=1",
        "wss://relay.example#x",
        "wss://relay.example:99999",
        "wss://",
        "wss:relay.example",
        "wss://relay.example/\x00",
    ],
)
def test_t4_other_addresses_are_refused_and_no_secret_is_shown(text: str) -> None:
    with pytest.raises(RemoteError) as error:
        read_address(text, Source.TYPED)
    assert "secret" not in str(error.value)


def test_t4_an_invite_or_the_roster_names_no_relay_without_tls() -> None:
    with pytest.raises(RemoteError):
        read_address("ws://127.0.0.1:8080", Source.NAMED)


def test_a_relay_is_opened_for_a_member_and_for_nobody_else(tmp_path: Path) -> None:
    opening = Opening("wss://relay.example", Source.TYPED, tmp_path, member=Me())
    transport = open_transport(opening)
    assert isinstance(transport, RelayTransport)
    assert transport.url == "wss://relay.example"
    transport.close()
    with pytest.raises(TransportError, match="which replica"):
        open_transport(Opening("wss://relay.example", Source.TYPED, tmp_path))
