"""Each envelope is accepted once, and is remembered until well after it expired."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bindings.machine_envelope.credential import Credential
from bindings.machine_envelope.issuing import LIFETIME_MS, issue
from bindings.machine_envelope.spending import KEPT_MS, spend
from bindings.machine_envelope.verifying import Reason, RejectedError, verify
from replica.node import DirectoryNode, create, opened
from tests.bindings.machine_envelope.making import (
    ISSUER,
    NOW,
    POLICY,
    envelope,
    message,
    nonce,
    signed,
    terms,
)

MOST = 3


@pytest.fixture
def node(tmp_path: Path) -> Iterator[DirectoryNode]:
    create(tmp_path / "ada", "ada", "laptop")
    with opened(tmp_path / "ada") as found:
        found.wall = lambda: NOW
        yield found


def good(value: dict[str, Any]) -> Credential:
    return verify(value, message(), POLICY, NOW)


def numbered(number: int) -> Credential:
    return good(issue(ISSUER, terms(message()), NOW, lambda size: number.to_bytes(size)))


def refused(node: DirectoryNode, credential: Credential) -> Reason:
    with pytest.raises(RejectedError) as refusal:
        spend(node, credential, MOST)
    return refusal.value.reason


def kept(node: DirectoryNode) -> int:
    return int(node.store.db.execute("SELECT count(*) FROM machine_envelopes").fetchone()[0])


def test_an_envelope_is_spent_once_also_after_a_restart(tmp_path: Path, node: DirectoryNode) -> None:
    spend(node, numbered(1), MOST)
    assert refused(node, numbered(1)) is Reason.REPLAYED
    with opened(tmp_path / "ada") as again:
        again.wall = lambda: NOW
        assert refused(again, numbered(1)) is Reason.REPLAYED


def test_another_envelope_with_the_same_nonce_is_the_same(node: DirectoryNode) -> None:
    made = envelope(message())
    spend(node, good(made), MOST)
    other = signed({**made, "id": f"urn:sha256:{'a' * 64}"})
    assert refused(node, good(other)) is Reason.REPLAYED


def test_another_envelope_with_the_same_id_is_the_same(node: DirectoryNode) -> None:
    made = envelope(message())
    spend(node, good(made), MOST)
    other = signed({**made, "message": {**made["message"], "nonce": "another"}})
    assert refused(node, good(other)) is Reason.REPLAYED


def test_a_full_store_refuses_and_forgets_nothing_that_has_not_expired(node: DirectoryNode) -> None:
    for number in range(MOST):
        spend(node, numbered(number), MOST)
    assert refused(node, numbered(MOST)) is Reason.REPLAY_STORE_FULL
    assert [refused(node, numbered(number)) for number in range(MOST)] == [Reason.REPLAYED] * MOST


def test_what_expired_is_forgotten_some_time_after(node: DirectoryNode) -> None:
    for number in range(MOST):
        spend(node, numbered(number), MOST)
    late = NOW + LIFETIME_MS + KEPT_MS
    fresh = verify(issue(ISSUER, terms(message()), late, nonce), message(), POLICY, late)
    node.wall = lambda: late
    assert refused(node, fresh) is Reason.REPLAY_STORE_FULL
    node.wall = lambda: late + 1
    spend(node, fresh, MOST)
    assert kept(node) == 1


def test_an_envelope_that_expires_while_it_waits_is_not_spent(node: DirectoryNode) -> None:
    node.wall = lambda: NOW + LIFETIME_MS + 1
    assert refused(node, numbered(1)) is Reason.EXPIRED
    assert kept(node) == 0
