"""What the settings come to."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bindings.machine_envelope.did_key import write_did
from bindings.machine_envelope.keyfile import make_key
from bindings.machine_envelope.settled import policy, receiver
from core.errors import DmpError
from replica.host.config import EnvelopeConfig
from replica.node import create
from tests.bindings.machine_envelope.making import RECIPIENT, STRANGER

OTHER = write_did(STRANGER.public)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    create(tmp_path / "ada", "ada", "laptop")
    return tmp_path / "ada"


def test_without_a_key_of_its_own_everybody_must_be_named(root: Path) -> None:
    named = EnvelopeConfig(recipient=RECIPIENT, issuers=(OTHER,))
    assert policy(root, named).issuers == {OTHER}
    for lacking in (replace(named, recipient=""), replace(named, issuers=()), replace(named, issue=True)):
        with pytest.raises(DmpError, match="dmp envelope key make"):
            receiver(root, lacking)


def test_its_own_key_stands_for_whoever_is_not_named(root: Path) -> None:
    did = make_key(root, os.urandom(32), "2026-01-01T00:00:00.000Z").did
    found = policy(root, EnvelopeConfig())
    assert (found.recipient, [*found.issuers]) == (did, [did])
    assert policy(root, EnvelopeConfig(issuers=(OTHER,))).issuers == {OTHER}


def test_a_host_that_issues_accepts_its_own(root: Path) -> None:
    did = make_key(root, os.urandom(32), "2026-01-01T00:00:00.000Z").did
    with pytest.raises(DmpError) as refusal:
        receiver(root, EnvelopeConfig(issuers=(OTHER,), issue=True))
    assert refusal.value.field == "machine_envelope.issuers"
    made = receiver(root, EnvelopeConfig(issuers=(OTHER, did), issue=True))("https://ada.example")
    assert made.acquisition.describe()["issues"] is True


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("kind", EnvelopeConfig(recipient=RECIPIENT, issuers=(OTHER,), kind="")),
        ("context_protocol", EnvelopeConfig(recipient=RECIPIENT, issuers=(OTHER,), context_protocol="")),
        ("recipient", EnvelopeConfig(recipient="ada")),
        ("issuers", EnvelopeConfig(issuers=("did:key:x",))),
    ],
)
def test_what_is_missing_or_no_did_is_refused(root: Path, name: str, config: EnvelopeConfig) -> None:
    with pytest.raises(DmpError) as refusal:
        policy(root, config)
    assert refusal.value.field == f"machine_envelope.{name}"
