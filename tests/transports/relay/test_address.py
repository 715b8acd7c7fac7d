"""Addresses of relays, and stamps (wire 7.1, 7.3, 7.9)."""

from hashlib import sha256

import pytest

from transports.relay.address import AddressError, RelayAddress, Stamp, auth_message, solve

TEAM = "0123456789abcdef" * 2
URL = "wss://relay.example.org/dmp"


def test_slashes_at_the_end_are_no_part_of_an_address() -> None:
    address = RelayAddress.parse(URL + "//")
    assert address.url == URL
    assert address.team(TEAM) == f"{URL}/v1/teams/{TEAM}"
    assert address.teams == "https://relay.example.org/dmp/v1/teams"
    assert RelayAddress.parse("ws://127.0.0.1:8080").registration == "http://127.0.0.1:8080/v1/registration"


@pytest.mark.parametrize(
    "text",
    ["ws://localhost", "ws://[::1]:80", "ws://127.0.0.9:1", "wss://a.b:4443/x/y", "wss://[2001:db8::1]"],
)
def test_addresses_that_are_used(text: str) -> None:
    assert RelayAddress.parse(text).url == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "wss://",
        "https://relay.example.org",
        "ws://relay.example.org",
        "ws://127.0.0.1.example.org",
        "wss://ada:secret@relay.example.org",
        "wss://relay.example.org?x=1",
        "wss://relay.example.org#x",
        "wss://relay.example.org:99999",
        "wss://relay.example.org:x",
        "wss://relay example.org",
        "wss://relay.example.org\n",
        "WSS://relay.example.org",
        "wss://[::1",
    ],
)
def test_what_is_no_relays_address_is_refused(text: str) -> None:
    with pytest.raises(AddressError):
        RelayAddress.parse(text)


def test_the_answer_to_a_challenge_names_relay_team_and_nonce() -> None:
    assert auth_message(URL, TEAM, "n") == f"dispatch-relay-v1\n{URL}\n{TEAM}\nn".encode()


def test_a_stamp_is_found_and_counts_for_its_team_relay_and_time_alone() -> None:
    stamp = solve(URL, TEAM, 1_790_000_000, 12)
    assert stamp.bits(URL, TEAM) >= 12
    text = f"dispatch-relay-reg-v1\n{TEAM}\n{URL}\n1790000000\n{stamp.nonce}"
    assert sha256(text.encode()).hexdigest().startswith("000")
    others = [
        stamp.bits(URL + "x", TEAM),
        stamp.bits(URL, TEAM[::-1]),
        Stamp(stamp.t + 1, stamp.nonce).bits(URL, TEAM),
    ]
    assert max(others) < 12
