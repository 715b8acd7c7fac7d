"""Which remote a replica remembers, and when a wrong one may be tried again."""

import pytest

from core.errors import Code, DmpError
from replica.records.link import Link, remembered
from replica.team import commands
from tests.replica.world import Machine, World, exchange
from transports.base import Unreachable
from transports.memory import MemoryRemote, MemoryTransport

RIGHT = Link("ssh://git@example.org/orchard.git", "dmp-federation")
WRONG = Link("ssh://git@example.org/other.git", "dmp-federation")


def link_of(machine: Machine) -> Link | None:
    return remembered(machine.node.store.db)


def test_founding_and_joining_remember_the_remote(w: World) -> None:
    ada, bob = w.machine("ada"), w.machine("bob")
    commands.found_team(ada.pass_(), "Orchard", RIGHT)
    code = commands.invite(ada.pass_(), "bob")
    commands.join(bob.pass_(), code.encode(), RIGHT)
    assert (link_of(ada), link_of(bob)) == (RIGHT, RIGHT)


def test_a_remote_that_does_not_answer_is_not_remembered(w: World) -> None:
    ada = w.machine("ada")
    w.remote.unreachable = True
    with pytest.raises(Unreachable):
        commands.found_team(ada.pass_(), "Orchard", WRONG)
    assert link_of(ada) is None
    w.remote.unreachable = False
    commands.found_team(ada.pass_(), "Orchard", RIGHT)
    assert link_of(ada) == RIGHT


def test_founding_where_a_team_is_already_does_not_bind_the_next_try(w: World) -> None:
    (other,) = w.team("zoe")
    ada = w.machine("ada")
    with pytest.raises(DmpError) as refused:
        commands.found_team(ada.pass_(), "Orchard", WRONG)
    assert refused.value.code is Code.CONFLICT
    ada.transport = MemoryTransport(MemoryRemote())
    founded = commands.found_team(ada.pass_(), "Orchard", RIGHT)
    assert ada.node.team is not None
    assert founded.team_id == ada.node.team.view.team_id
    assert other.me not in ada.node.team.view.members
    assert link_of(ada) == RIGHT


def test_joining_another_team_by_mistake_does_not_bind_before_anything_is_signed(w: World) -> None:
    (ada,) = w.team("ada")
    elsewhere = World(w.folder / "elsewhere", stack=w.stack, seed=70)
    elsewhere.team("zoe")
    code = commands.invite(ada.pass_(), "bob")
    bob = w.machine("bob")
    bob.transport = MemoryTransport(elsewhere.remote)
    with pytest.raises(DmpError) as refused:
        commands.join(bob.pass_(), code.encode(), WRONG)
    assert refused.value.code is Code.NOT_FOUND
    bob.transport = MemoryTransport(w.remote)
    commands.join(bob.pass_(), code.encode(), RIGHT)
    exchange(ada, bob)
    assert bob.node.team is not None
    assert bob.node.team.ready(bob.me)


def test_a_founding_no_remote_took_is_published_over_another_under_its_first_code(w: World) -> None:
    ada = w.machine("ada")
    w.remote.reject_next(1)
    first = commands.found_team(ada.pass_(budget_seconds=0.0), "Orchard", WRONG)
    assert first.unpublished is not None
    assert first.recovery_code is not None
    ada.transport = MemoryTransport(MemoryRemote())
    again = commands.found_team(ada.pass_(), "Orchard", RIGHT)
    assert (again.team_id, again.recovery_code, again.unpublished) == (first.team_id, None, None)
    assert link_of(ada) == RIGHT
    assert [entry.seq for entry in ada.chain()] == [1, 2, 3]


def test_a_replica_that_published_stays_where_it_is(w: World) -> None:
    (ada,) = w.team("ada")
    bob = w.machine("bob")
    commands.join(bob.pass_(), None, RIGHT)
    with pytest.raises(DmpError) as refused:
        commands.join(bob.pass_(), None, WRONG)
    assert refused.value.code is Code.CONFLICT
    assert link_of(bob) == RIGHT
    commands.join(bob.pass_(), None, RIGHT)
    assert ada.node.team is not None
