"""What a node knows of its team: the fold grows with what is added to the store, and comes to what all of it does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crypto.op import Op
from crypto.roster.bodies import Role
from replica.records import ops
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.team import commands
from replica.team.roster import Team, TeamReader, fold_team
from tests.replica.world import Machine, World, exchange, world


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def same(known: Team | None, machine: Machine) -> bool:
    """Whether a team is what the whole store comes to."""
    whole = fold_team(machine.node.store.db)
    if known is None or whole is None:
        return known is whole
    return (known.founding, known.firm, known.view, dict(known.keys)) == (
        whole.founding,
        whole.firm,
        whole.view,
        dict(whole.keys),
    )


def test_what_grew_is_what_all_of_it_comes_to(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    reader = TeamReader()
    assert same(reader.read(cy.node.store.db), cy)
    late = w.machine("late")
    steps = (
        lambda: commands.set_role(ada.pass_(), bob.me, Role.ADMIN),
        lambda: commands.join(late.pass_(), None),
        lambda: commands.set_hosts(ada.pass_(), cy.me, ["eve"]),
        lambda: commands.join(w.machine("mallory").pass_(), None),
        lambda: (bob.sync(), commands.admit(bob.pass_(), late.me, late.node.identity.fingerprint)),
        lambda: commands.set_hosts(bob.pass_(), cy.me, [], ["eve"]),
        lambda: commands.revoke(ada.pass_(), bob.me, "left"),
        lambda: commands.set_role(ada.pass_(), late.me, Role.ADMIN),
    )
    for step in steps:
        step()
        cy.sync()
        assert same(reader.read(cy.node.store.db), cy)


def test_nothing_is_folded_anew_for_what_is_added(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    reader = TeamReader()
    reader.read(bob.node.store.db)
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    commands.join(w.machine("cy").pass_(), commands.invite(ada.pass_(), "cy").encode())
    exchange(ada, bob)
    with monkeypatch.context() as patched:
        patched.setattr(TeamReader, "_begin", lambda *_: pytest.fail("all was read again"))
        known = reader.read(bob.node.store.db)
    assert known is not None
    assert known.view.is_admin(bob.me)
    assert same(known, bob)


def test_what_was_never_committed_is_forgotten(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    db = ada.node.store.db
    reader = TeamReader()
    reader.read(db)
    own = [op for op in ada.chain() if isinstance(op, Op) and op.type == "roster"][-1]

    def undone() -> None:
        with ada.node.store.transaction(CommitPoint.CLAIMED):
            db.execute("DELETE FROM ops WHERE replica = ? AND seq = ?", (ada.me, own.seq))
            read_inside = reader.read(db)
            assert read_inside is not None
            assert bob.me not in read_inside.view.members
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert same(reader.read(db), ada)
    assert bob.me in reader.read(db).view.members  # type: ignore[union-attr]


def test_a_chain_that_is_forgotten_counts_no_more(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    bob.sync()
    commands.revoke(bob.pass_(), cy.me, "left")
    ada.sync()
    db = ada.node.store.db
    reader = TeamReader()
    assert cy.me in reader.read(db).view.revoked  # type: ignore[union-attr]
    with ada.node.store.transaction(CommitPoint.CLAIMED):
        ops.forget_chain(db, bob.me)
    known = reader.read(db)
    assert known is not None
    assert cy.me in known.view.members
    assert same(known, ada)


def test_which_founding_is_followed_is_always_what_the_store_says(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    db = ada.node.store.db
    reader = TeamReader()
    first = reader.read(db)
    founding = get(db, Meta.FOUNDING)
    for name in (Meta.FIRM, Meta.FOUNDING):
        before = get(db, name)
        with ada.node.store.transaction(CommitPoint.PINNED):
            put(db, name, None)
        assert same(reader.read(db), ada)
        with ada.node.store.transaction(CommitPoint.PINNED):
            put(db, name, before)
        assert same(reader.read(db), ada)
    assert reader.read(db) == first
    assert founding is not None


def test_another_process_sees_what_this_one_adds(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    beside = w.open(w.folder / "ada")
    assert same(beside.node.team, ada)
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    assert same(beside.node.team, ada)
