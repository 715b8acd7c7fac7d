"""Of each key that forked, the first proof that was met is kept, and found by whose it is."""

from crypto.fork_proof import make_proof
from replica.records import fork_proofs
from replica.records.commits import CommitPoint
from tests.crypto.publisher import ADA, BOB, Publisher
from tests.replica.world import World

FIRST, LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"


def test_of_a_key_the_first_proof_is_kept_and_each_is_found_by_whose_it_is(w: World) -> None:
    store = w.machine("cy").node.store
    made = []
    for publisher in (Publisher(ADA, 1), Publisher(ADA, 2), Publisher(BOB, 3)):
        key = publisher.key_op()
        rivals = [publisher.sign(key, body={"n": number}) for number in range(3)]
        made.append([make_proof(key, rivals[:2]), make_proof(key, rivals[1:])])
    with store.transaction(CommitPoint.PROBLEM) as db:
        for proof, at in [(each[0], FIRST) for each in made] + [(each[1], LATER) for each in made]:
            fork_proofs.keep(db, proof, at)
    kept = fork_proofs.kept(store.db)
    assert {each.at for each in kept} == {FIRST}
    assert [each.proof.to_bytes() for each in kept] == [
        each[0].to_bytes()
        for each in sorted(made, key=lambda each: (each[0].replica, each[0].key.fingerprint))
    ]
    assert {name: len(fork_proofs.kept(store.db, name)) for name in (ADA, BOB)} == {ADA: 2, BOB: 1}
