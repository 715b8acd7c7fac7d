"""A relay proves who it is, to an authority of the user's own too."""

from pathlib import Path

import pytest

from tests.transports.relay.client.authority import Authority
from tests.transports.relay.client.me import transport_to
from tests.transports.relay.client.standin import Logs, StandIn
from transports.base import Unreachable
from transports.relay.client.registration import ask_terms


def test_an_authority_of_one_s_own_is_named_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path / "authority.pem")
    relay = StandIn(Logs(), authority.server(tmp_path))
    near = transport_to(relay.url, tmp_path / "here")
    with pytest.raises(Unreachable, match="does not prove") as error:
        near.refresh()
    assert "SSL_CERT_FILE" in error.value.hint
    with pytest.raises(Unreachable, match="does not prove"):
        ask_terms(relay.url)
    assert relay.connections == 0
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    near.refresh()
    assert relay.connections == 1
    near.close()
    relay.close()


def test_a_certificate_for_somewhere_else_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    relay = StandIn(Logs(), authority.server(tmp_path, "127.0.0.2"))
    near = transport_to(relay.url, tmp_path / "here")
    with pytest.raises(Unreachable, match="does not prove"):
        near.refresh()
    near.close()
    relay.close()
