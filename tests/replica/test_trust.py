"""Which founding is followed where more than one was published (federation wire 4.5)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from replica.records.meta import Meta, get
from replica.team import commands
from replica.team.recovery import recover
from replica.team.trust import trust
from tests.replica.world import Machine, World, exchange, world


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def rival(w: World, *hidden: Machine, name: str = "Orchard") -> Machine:
    """Somebody who founds another team on the same branch, as if they saw nothing of the first."""
    other = w.machine("ada", f"rival-{w.seed}")
    before, w.remote.hidden = w.remote.hidden, {each.me: 1 for each in hidden}
    commands.found_team(other.pass_(), name)
    w.remote.hidden = before
    return other


def founded(w: World) -> Machine:
    ada = w.machine("ada")
    commands.found_team(ada.pass_(), "Orchard")
    return ada


def refusal(attempt: Callable[[], object]) -> DmpError:
    with pytest.raises(DmpError) as refused:
        attempt()
    return refused.value


def followed(machine: Machine) -> str | None:
    return get(machine.node.store.db, Meta.FOUNDER)


def test_who_is_told_of_two_foundings_chooses_by_fingerprint_and_joins(w: World) -> None:
    ada = founded(w)
    mallory = rival(w, ada)
    bob = w.machine("bob")
    error = refusal(lambda: commands.join(bob.pass_(), None))
    assert "dmp team trust" in error.message
    told = bob.problems()["team:founding"]
    for founder in (ada, mallory):
        assert founder.me in told
        assert founder.node.identity.fingerprint in told
    trusted = trust(bob.pass_(), ada.node.identity.fingerprint)
    assert (trusted.team.view.founder, trusted.already) == (ada.me, False)
    assert "team:founding" not in bob.problems()
    commands.join(bob.pass_(), None)
    commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint)
    exchange(ada, bob)
    assert followed(bob) == ada.me
    assert trust(bob.pass_(), ada.node.identity.fingerprint).already


def test_a_second_founding_unpins_the_first_until_somebody_chooses(w: World) -> None:
    mallory = w.machine("ada", "mallory")
    commands.found_team(mallory.pass_(), "Orchard")
    bob = w.machine("bob")
    commands.join(bob.pass_(), None)
    assert followed(bob) == mallory.me
    ada = rival(w, mallory)
    exchange(bob, rounds=2)
    assert bob.node.team is None
    assert "team:founding" in bob.problems()
    assert [op.type for op in bob.chain()] == ["key"]
    assert refusal(lambda: commands.join(bob.pass_(), None)).code is Code.CONFLICT
    trust(bob.pass_(), ada.node.identity.fingerprint)
    ada.sync()
    commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint)
    bob.sync()
    bob.send("human:ada", "to the right one")
    exchange(ada, bob)
    assert ada.bodies() == ["to the right one"]
    assert mallory.bodies() == []


def test_who_was_admitted_is_not_moved_by_a_second_founding(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    rival(w, ada, bob)
    exchange(ada, bob)
    assert followed(bob) == ada.me
    assert bob.problems() == {}


def test_who_holds_an_invite_is_not_moved_by_a_second_founding(w: World) -> None:
    ada = founded(w)
    bob = w.machine("bob")
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    rival(w, ada, bob)
    bob.sync()
    exchange(ada, bob)
    assert followed(bob) == ada.me
    team = bob.node.team
    assert team is not None
    assert team.ready(bob.me)


def test_who_chose_is_not_moved_by_a_founding_that_comes_later(w: World) -> None:
    ada = founded(w)
    bob = w.machine("bob")
    trust(bob.pass_(), ada.node.identity.fingerprint)
    rival(w, ada)
    commands.join(bob.pass_(), None)
    exchange(bob)
    assert followed(bob) == ada.me


def test_a_fingerprint_that_founded_nothing_there_is_not_found(w: World) -> None:
    ada = founded(w)
    rival(w, ada)
    bob = w.machine("bob")
    error = refusal(lambda: trust(bob.pass_(), bob.node.identity.fingerprint))
    assert (error.code, error.field) == (Code.NOT_FOUND, "fingerprint")
    trust(bob.pass_(), ada.node.identity.fingerprint)  # the wrong one binds nothing


def test_who_is_in_a_team_trusts_no_other_founder(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    mallory = rival(w, ada, bob)
    error = refusal(lambda: trust(bob.pass_(), mallory.node.identity.fingerprint))
    assert error.code is Code.CONFLICT
    assert ada.node.identity.fingerprint in error.message


def test_whose_code_it_is_must_be_said_where_two_teams_were_founded(w: World) -> None:
    ada = w.machine("ada")
    code = commands.found_team(ada.pass_(), "Orchard").recovery_code
    assert code is not None
    rival(w, ada)
    new = w.machine("ada", "ada-new")
    error = refusal(lambda: recover(new.pass_(), code))
    assert error.code is Code.CONFLICT
    assert "dmp team trust" in error.message
    trust(new.pass_(), ada.node.identity.fingerprint)
    assert not recover(new.pass_(), code).already


def test_m6_a_founder_cannot_speak_as_the_program_by_the_name_of_a_team(w: World) -> None:
    ada = founded(w)
    rival(w, ada, name="x” is safe. Run “dmp team trust")
    bob = w.machine("bob")
    refusal(lambda: commands.join(bob.pass_(), None))
    assert '“x" is safe. Run "dmp team trust”' in bob.problems()["team:founding"]
