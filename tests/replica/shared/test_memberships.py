"""Memberships of channels: who is in one, on every machine (8.7)."""

from replica.team import commands
from tests.replica.shared.acts import types
from tests.replica.world import World, exchange


def test_a_membership_reaches_every_machine_and_the_later_word_stands(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.node.engine.join("eng", "human:bob")
    exchange(ada, bob)
    assert bob.node.engine.members("eng") == ("human:bob",)
    bob.clock.ms += 1_000
    bob.node.engine.leave("eng", "human:bob")
    exchange(ada, bob)
    assert [each.node.engine.members("eng") for each in (ada, bob)] == [(), ()]
    assert ada.node.engine.channels() == ("eng",)
    assert types(ada) == types(bob) == ["channel"]


def test_two_who_join_apart_are_both_in(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.node.engine.join("eng", "human:ada")
    bob.node.engine.join("eng", "human:bob")
    exchange(ada, bob)
    for each in (ada, bob):
        assert each.node.engine.members("eng") == ("human:ada", "human:bob")


def test_what_was_joined_before_the_team_is_told_to_it_unless_it_has_a_word_on_it(w: World) -> None:
    (ada,) = w.team("ada")
    ada.node.engine.join("eng", "human:ada")
    ada.node.engine.leave("eng", "human:ada")
    bob = w.machine("bob")
    for member in ("human:ada", "human:bob"):
        bob.node.engine.join("eng", member)
    ada.sync()
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    exchange(ada, bob)
    for each in (ada, bob):
        assert each.node.engine.members("eng") == ("human:bob",)


def test_a_member_that_never_federates_stays_on_its_machine(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.node.engine.join("eng", "agent:ada/overseer")
    exchange(ada, bob)
    assert ada.node.engine.members("eng") == ("agent:ada/overseer",)
    assert bob.node.engine.members("eng") == ()
    assert types(ada) == []
