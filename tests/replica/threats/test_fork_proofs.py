"""A replica keeps what proves a fork that it met, and can show it to anybody later, whatever became of the log."""

from pathlib import Path

import pytest

from core.errors import DmpError
from crypto.fork_proof import ForkProof, read_proof
from crypto.op import Op, to_line
from replica.records import fork_proofs, ops
from replica.sync import WHOLE_MS
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange, world


def proofs(machine: Machine) -> list[ForkProof]:
    return [each.proof for each in fork_proofs.kept(machine.node.store.db)]


def show(machine: Machine, *made: Op) -> None:
    """Put ops where everybody looks, as whoever can write to the branch could."""
    machine.transport._remote.put(made[0].replica, *(to_line(op) for op in made))  # type: ignore[attr-defined]


@pytest.mark.parametrize("type_", ["task", "roster", "state"])
def test_a_fork_that_was_met_is_kept_with_its_proof(w: World, type_: str) -> None:
    ada, bob = w.team("ada", "bob")
    one, other = Forger(bob), Forger(bob)
    other.ms += 500
    if type_ == "state":
        first, second = one.state(ada), other.state(ada)
    else:
        first, second = one.op(type_, body={"n": 1}), other.op(type_, body={"n": 2})
    show(ada, first)
    ada.sync()
    assert proofs(ada) == []
    show(ada, second)
    ada.clock.ms += WHOLE_MS
    ada.sync()
    (proof,) = proofs(ada)
    assert {each.hash for each in proof.entries} == {first.hash, second.hash}
    assert (proof.replica, proof.seq) == (bob.me, first.seq)
    assert read_proof(proof.to_bytes()) == proof
    assert proof.key.sign_pub == bob.node.identity.secrets.sign_pub
    assert f"halt:{bob.me}" in ada.problems()


def test_ops_that_follow_one_op_are_a_fork_whatever_their_seqs(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    one, other = Forger(bob), Forger(bob)
    other.ms += 500
    other.seq += 4
    first, second = one.op("task", body={"n": 1}), other.op("task", body={"n": 2})
    show(ada, first, second)
    ada.sync()
    (proof,) = proofs(ada)
    assert (proof.seq, proof.same_seq) == (second.seq, False)


def test_the_proof_outlives_the_ops_it_was_made_from(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    one, other = Forger(bob), Forger(bob)
    other.ms += 500
    show(ada, one.state(ada), other.state(ada))
    ada.sync()
    before = proofs(ada)
    with ada.node.store.transaction("test") as db:
        ops.forget_chain(db, bob.me)
    assert proofs(ada) == before != []


def test_a_copy_of_this_directory_leaves_a_proof_against_its_key(tmp_path: Path) -> None:
    with world(tmp_path) as w:
        ada, bob = w.team("ada", "bob")
        twin = Forger(ada)
        ada.send("human:bob", "from the original")
        exchange(ada, bob)
        twin.ms += 900
        show(bob, twin.op("task", body={"n": "by the copy"}))
        ada.clock.ms += WHOLE_MS
        with pytest.raises(DmpError, match="signed with this replica's key"):
            ada.sync()
        (proof,) = proofs(ada)
        assert proof.replica == ada.me
