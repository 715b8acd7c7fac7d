"""Letting oneself in with the recovery code where every admin's machine is lost, and replacing that code."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from crypto.roster.bodies import Role
from replica.records.link import Link
from replica.team import commands
from replica.team.recovery import new_recovery_key, recover
from replica.team.trust import trust
from tests.replica.world import Machine, World, exchange, world
from transports.base import TransportError


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def founded(w: World) -> tuple[Machine, str]:
    """Ada, who founded a team, and its recovery code."""
    ada = w.machine("ada")
    code = commands.found_team(ada.pass_(), "Orchard").recovery_code
    assert code is not None
    return ada, code


def joined(w: World, ada: Machine, handle: str) -> Machine:
    other = w.machine(handle)
    commands.join(other.pass_(), commands.invite(ada.pass_(), handle).encode())
    exchange(ada, other, rounds=2)
    return other


def refusal(attempt: Callable[[], object]) -> DmpError:
    with pytest.raises(DmpError) as refused:
        attempt()
    return refused.value


def test_4_6_the_code_lets_a_new_machine_in_as_an_admin_where_all_others_are_lost(w: World) -> None:
    ada, code = founded(w)
    bob = joined(w, ada, "bob")
    new = w.machine("ada", "ada-new")
    assert not recover(new.pass_(), code).already
    team = new.node.team
    assert team is not None
    assert team.ready(new.me)
    member = team.view.members[new.me]
    assert (member.role, member.recovered, member.handle) == (Role.ADMIN, True, "ada")
    commands.revoke(new.pass_(), ada.me, "lost")
    bob.sync()
    bob.send("human:ada", "welcome back")
    exchange(bob, new)
    assert new.bodies() == ["welcome back"]


@pytest.mark.parametrize(
    "spelling",
    [str.lower, lambda code: code.replace("-", ""), lambda code: f"  {code.replace('-', ' ')}\n"],
)
def test_4_6_a_code_is_read_however_it_was_written_down(w: World, spelling: Callable[[str], str]) -> None:
    _, code = founded(w)
    new = w.machine("ada", "ada-new")
    assert not recover(new.pass_(), spelling(code)).already


def test_5_15_a_code_lets_in_one_machine_once(w: World) -> None:
    _, code = founded(w)
    first, second = w.machine("ada", "first"), w.machine("mallory", "second")
    recover(first.pass_(), code)
    assert recover(first.pass_(), code).already
    assert len([op for op in first.chain() if op.type == "roster"]) == 1
    error = refusal(lambda: recover(second.pass_(), code))
    assert (error.code, error.field) == (Code.FORBIDDEN, "code")
    assert first.me in error.message
    assert second.chain() == []


def test_a_wrong_code_signs_nothing_and_costs_nothing(w: World) -> None:
    ada, code = founded(w)
    new = w.machine("ada", "ada-new")
    other, wrong = founded_elsewhere(w)
    for typed, expected in (
        ("", Code.INVALID),
        ("not a code", Code.INVALID),
        (code[:-1], Code.INVALID),
        (code + "0", Code.INVALID),
        (wrong, Code.FORBIDDEN),
    ):
        error = refusal(lambda typed=typed: recover(new.pass_(), typed))  # type: ignore[misc]
        assert (error.code, error.field) == (expected, "code")
        assert new.chain() == []
    assert not recover(new.pass_(), code).already
    assert ada.me != other.me


def founded_elsewhere(w: World) -> tuple[Machine, str]:
    other = World(w.folder / "elsewhere", stack=w.stack, seed=500)
    return founded(other)


def test_a_machine_that_waits_to_be_admitted_may_recover(w: World) -> None:
    _, code = founded(w)
    new = w.machine("ada", "ada-new")
    commands.join(new.pass_(), None)
    assert not recover(new.pass_(), code).already
    assert [op.type for op in new.chain()] == ["key", "roster"]


def test_who_is_in_the_team_or_was_does_not_recover(w: World) -> None:
    ada, code = founded(w)
    bob = joined(w, ada, "bob")
    assert refusal(lambda: recover(bob.pass_(), code)).code is Code.CONFLICT
    commands.revoke(ada.pass_(), bob.me, "left")
    bob.sync()
    error = refusal(lambda: recover(bob.pass_(), code))
    assert error.code is Code.CONFLICT
    assert "never comes back" in error.message


def test_where_no_team_is_there_is_nothing_to_recover(w: World) -> None:
    _, code = founded_elsewhere(w)
    new = w.machine("ada", "ada-new")
    assert refusal(lambda: recover(new.pass_(), code)).code is Code.NOT_FOUND
    assert new.chain() == []


def test_a_new_code_replaces_the_one_before(w: World) -> None:
    ada, old = founded(w)
    made = new_recovery_key(ada.pass_())
    assert made.unpublished is None
    new = w.machine("ada", "ada-new")
    error = refusal(lambda: recover(new.pass_(), old))
    assert (error.code, error.field) == (Code.FORBIDDEN, "code")
    assert "replaced" in error.message
    assert not recover(new.pass_(), made.code).already


def test_after_a_recovery_a_new_code_recovers_again(w: World) -> None:
    _, code = founded(w)
    first, second = w.machine("ada", "first"), w.machine("ada", "second")
    recover(first.pass_(), code)
    recover(second.pass_(), new_recovery_key(first.pass_()).code)
    team = second.node.team
    assert team is not None
    assert [team.view.members[each.me].rank for each in (first, second)] == [1, 2]


def test_only_an_admin_makes_a_new_code(w: World) -> None:
    ada, _ = founded(w)
    bob = joined(w, ada, "bob")
    assert refusal(lambda: new_recovery_key(bob.pass_())).code is Code.FORBIDDEN


def test_a_code_that_was_signed_is_shown_though_the_far_side_is_away(w: World) -> None:
    """Signed, it counts as soon as it is published: nobody would have the code."""
    ada, old = founded(w)
    publish = ada.transport.publish

    def away(*_args: object, **_changes: object) -> None:
        raise TransportError("away")

    ada.transport.publish = away  # type: ignore[method-assign]
    made = new_recovery_key(ada.pass_())
    assert made.unpublished is not None
    ada.transport.publish = publish  # type: ignore[method-assign]
    ada.sync()
    new = w.machine("ada", "ada-new")
    assert refusal(lambda: recover(new.pass_(), old)).code is Code.FORBIDDEN
    assert not recover(new.pass_(), made.code).already


def test_a_recovery_that_was_not_published_is_taken_up_by_the_next_try(w: World) -> None:
    ada, code = founded(w)
    new = w.machine("ada", "ada-new")
    publish = new.transport.publish

    def away(*_args: object, **_changes: object) -> None:
        raise TransportError("away")

    new.transport.publish = away  # type: ignore[method-assign]
    with pytest.raises(TransportError):
        recover(new.pass_(), code)
    new.transport.publish = publish  # type: ignore[method-assign]
    assert recover(new.pass_(), code).already
    ada.sync()
    team = ada.node.team
    assert team is not None
    assert team.view.members[new.me].recovered


def test_of_two_who_recover_at_once_the_second_is_told(w: World) -> None:
    _, code = founded(w)
    first, second = w.machine("ada", "first"), w.machine("mallory", "second")
    publish = second.transport.publish
    raced = False

    def race(*given: object, **changes: object) -> object:
        nonlocal raced
        if not raced:
            raced = True
            recover(first.pass_(), code)
        return publish(*given, **changes)  # type: ignore[arg-type]

    second.transport.publish = race  # type: ignore[method-assign,assignment]
    second.clock.ms += 10
    error = refusal(lambda: recover(second.pass_(), code))
    assert error.code is Code.CONFLICT
    exchange(first, second)
    team = first.node.team
    assert team is not None
    assert second.me not in team.view.members


def test_k5_a_machine_of_another_team_does_not_recover_this_one(w: World) -> None:
    _, code = founded(w)
    stranger, _ = founded_elsewhere(w)
    stranger.transport = w.machine("zoe").transport
    error = refusal(lambda: recover(stranger.pass_(), code))
    assert error.code is Code.CONFLICT


def test_k5_a_machine_that_asked_to_join_recovers_over_the_same_remote_alone(w: World) -> None:
    """Its key is published there: over another remote it would be published to another team."""
    _, code = founded(w)
    new = w.machine("ada", "ada-new")
    commands.join(new.pass_(), None, Link("/one.git", "dmp-federation"))
    elsewhere = Link("/two.git", "dmp-federation")
    assert refusal(lambda: recover(new.pass_(), code, elsewhere)).code is Code.CONFLICT
    assert refusal(lambda: trust(new.pass_(), new.node.identity.fingerprint, elsewhere)).code is Code.CONFLICT
    assert not recover(new.pass_(), code, Link("/one.git", "dmp-federation")).already
    assert refusal(lambda: recover(new.pass_(), code, elsewhere)).code is Code.CONFLICT
