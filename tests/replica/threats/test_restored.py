"""R3, R5: what a restored store lost, it never says again in another way, and what others pruned meanwhile is named."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import DmpError
from core.message import Standing
from crypto.acks import read_acks
from crypto.op import Op, to_line
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, put
from tests.replica.world import Machine, World, exchange


def backup_of(w: World, machine: Machine) -> Path:
    """A copy of a machine's directory as it is now."""
    folder = w.folder / "backup"
    machine.node.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(machine.directory.root, folder)
    return folder


def test_r3_a_settler_that_was_restored_settles_nothing_a_second_time(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    backup = backup_of(w, ada)
    yes = bob.answer(question, "yes")
    exchange(bob, ada, cy)
    assert bob.message(yes.id).standing is Standing.ACCEPTED
    restored = w.open(backup)
    restored.answer(question, "no")
    for _ in range(2):
        with pytest.raises(DmpError):
            restored.sync()
    exchange(bob, cy)
    assert bob.message(yes.id).standing is Standing.ACCEPTED
    assert "I say no" not in {message.body for message in cy.node.engine.thread(question.thread)}


def test_r5_mail_that_others_pruned_after_it_was_read_is_named_by_a_store_from_before(w: World) -> None:
    """Bob read and acknowledged it, then went back to a backup from before; its publisher had dropped it by then."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    backup = backup_of(w, bob)
    ada.send("human:bob", "read, acknowledged and pruned")
    ada.sync()
    bob.transport.publish = _acknowledgements_alone(bob)  # type: ignore[method-assign]
    bob.sync()
    assert bob.bodies() == ["read, acknowledged and pruned"]
    mail = next(entry for entry in ada.chain() if entry.type == "mail")
    assert isinstance(mail, Op)
    assert acknowledged(w, bob)[ada.me] >= mail.seq
    lines = [line for line in ada.lane() if line != to_line(mail)]
    pruned = type(w.remote)("pruned")
    for replica, lane in {ada.me: [*lines, to_line(mail.stub())], bob.me: bob.lane()}.items():
        pruned.put(replica, *lane)
    w.remote = pruned
    restored = w.open(backup)
    with restored.node.store.transaction(CommitPoint.SYNCED) as db:
        put(db, Meta.PAUSED, None)
    restored.sync()
    assert restored.bodies() == []
    assert f"missing:{ada.me}:{mail.seq}" in restored.problems()
    assert (
        restored.me not in w.remote.state().acks
    )  # it holds less than it said, and says nothing new of that


def _acknowledgements_alone(machine: Machine) -> Callable[..., None]:
    """Publishing as it is, that takes no op: the machine had signed nothing when it was lost."""
    publish = machine.transport.publish

    def alone(replica: str, lines: list[bytes], *, acks: bytes | None = None) -> None:
        publish(replica, [], acks=acks)

    return alone


def acknowledged(w: World, machine: Machine) -> dict[str, int]:
    raw = w.remote.state().acks[machine.me]
    public = machine.node.identity.secrets.signer.public
    return dict(read_acks(raw, replica=machine.me, public=public).through)
