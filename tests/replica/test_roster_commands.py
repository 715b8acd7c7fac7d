"""Changing who is in the team and as what: each command asked for twice, without the right, and in a race."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from crypto.op import Op
from crypto.roster.bodies import Admit, Role
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange, world


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def roster_ops(machine: Machine) -> list[object]:
    return [op.body for op in machine.chain() if isinstance(op, Op) and op.type == "roster"]


def refusal(attempt: Callable[[], object]) -> DmpError:
    with pytest.raises(DmpError) as refused:
        attempt()
    return refused.value


def view(machine: Machine):  # type: ignore[no-untyped-def]
    team = machine.node.team
    assert team is not None
    return team.view


def waiting(w: World, ada: Machine, handle: str) -> Machine:
    """Somebody who asked to join without an invite, as ada knows."""
    other = w.machine(handle)
    commands.join(other.pass_(), None)
    ada.sync()
    return other


def test_wire_11_4_what_stands_already_is_not_said_twice(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    cy, dora = waiting(w, ada, "cy"), waiting(w, ada, "dora")
    changes: list[Callable[[], bool]] = [
        lambda: commands.admit(ada.pass_(), cy.me, cy.node.identity.fingerprint),
        lambda: commands.admit(ada.pass_(), dora.me, dora.node.identity.fingerprint, observer=True),
        lambda: commands.set_role(ada.pass_(), bob.me, Role.ADMIN),
        lambda: commands.set_hosts(ada.pass_(), bob.me, ["eve", "zoe"]),
        lambda: commands.set_hosts(ada.pass_(), bob.me, [], ["zoe"]),
        lambda: commands.set_role(ada.pass_(), bob.me, Role.MEMBER),
        lambda: commands.revoke(ada.pass_(), cy.me, "left"),
    ]
    for change in changes:
        before = len(ada.chain())
        assert change()
        assert not change()
        assert len(ada.chain()) == before + 1


def test_hosts_are_given_without_a_cut_and_taken_with_one(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    commands.set_hosts(ada.pass_(), bob.me, ["cy", "dora", "cy"])
    exchange(ada, bob)
    assert view(bob).members[bob.me].hosts == ("cy", "dora")
    commands.set_hosts(ada.pass_(), bob.me, ["eve"], ["cy"])
    exchange(ada, bob)
    assert view(bob).members[bob.me].hosts == ("dora", "eve")
    added, changed = roster_ops(ada)[-2:]
    assert isinstance(added, dict)
    assert isinstance(changed, dict)
    assert "afterSeq" not in added
    last = bob.chain()[-1]
    assert (changed["afterSeq"], changed["afterHash"]) == (last.seq, last.hash)
    assert view(ada).speaks_for_handle(bob.me, "cy", last.seq)
    assert not view(ada).speaks_for_handle(bob.me, "cy", last.seq + 1)


def test_mail_to_who_is_hosted_goes_to_the_machine_that_stands_in(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    assert [each.recipient for each in rows(ada, ada.send("human:cy", "too early").id)] == []
    commands.set_hosts(ada.pass_(), bob.me, ["cy"])
    exchange(ada, bob)
    sent = ada.send("human:cy", "for cy")
    exchange(ada, bob)
    assert bob.message(sent.id).body == "for cy"
    commands.set_hosts(ada.pass_(), bob.me, drop=["cy"])
    exchange(ada, bob)
    assert rows(ada, ada.send("human:cy", "too late").id) == []


def rows(machine: Machine, message: str):  # type: ignore[no-untyped-def]
    from replica.records import remote

    return remote.rows_of(machine.node.store.db, message)


@pytest.mark.parametrize(
    ("add", "drop", "code", "field"),
    [
        (["Bad Handle"], [], Code.INVALID, "handle"),
        (["cy"], ["cy"], Code.INVALID, "handle"),
        (["bob"], [], Code.INVALID, "handle"),
        ([], ["bob"], Code.INVALID, "handle"),
        ([f"h{number}" for number in range(commands.MAX_HOSTS + 1)], [], Code.INVALID, "handle"),
    ],
)
def test_hosts_that_make_no_sense_are_refused(
    w: World, add: list[str], drop: list[str], code: Code, field: str
) -> None:
    ada, bob = w.team("ada", "bob")
    before = len(ada.chain())
    error = refusal(lambda: commands.set_hosts(ada.pass_(), bob.me, add, drop))
    assert (error.code, error.field) == (code, field)
    assert len(ada.chain()) == before


def test_an_observer_invited_as_one_reads_along_and_stays_one(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    code = commands.invite(ada.pass_(), "eve", observer=True)
    assert commands.invite(ada.pass_(), "eve", observer=True).encode() == code.encode()
    assert commands.invite(ada.pass_(), "eve").encode() != code.encode()
    eve = w.machine("eve")
    commands.join(eve.pass_(), code.encode())
    exchange(ada, bob, eve)
    assert view(ada).members[eve.me].observer
    ada.send("human:bob", "seen by eve too")
    exchange(ada, bob, eve)
    assert eve.count("messages") == 1
    for attempt in (
        lambda: commands.admit(ada.pass_(), eve.me, eve.node.identity.fingerprint),
        lambda: commands.set_role(ada.pass_(), eve.me, Role.ADMIN),
        lambda: commands.set_hosts(ada.pass_(), eve.me, ["cy"]),
        lambda: commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint, observer=True),
    ):
        assert refusal(attempt).code is Code.CONFLICT
    error = refusal(lambda: commands.set_role(eve.pass_(), bob.me, Role.ADMIN))
    assert error.code is Code.FORBIDDEN
    assert "only reads along" in error.message


def test_only_an_admin_invites_an_observer(w: World) -> None:
    _, bob = w.team("ada", "bob")
    assert refusal(lambda: commands.invite(bob.pass_(), "bob", observer=True)).code is Code.FORBIDDEN
    assert commands.invite(bob.pass_(), "bob").seed


def test_who_has_no_right_is_told_whom_to_ask(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    for attempt in (
        lambda: commands.set_hosts(bob.pass_(), cy.me, ["dora"]),
        lambda: commands.set_role(bob.pass_(), cy.me, Role.ADMIN),
        lambda: commands.revoke(bob.pass_(), cy.me, "mine now"),
    ):
        error = refusal(attempt)
        assert error.code is Code.FORBIDDEN
        assert ada.me in error.message


def test_a_member_may_put_out_a_machine_of_their_own(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    second = w.machine("bob", "bob-desk")
    commands.join(second.pass_(), commands.invite(bob.pass_(), "bob").encode())
    exchange(bob, second, ada)
    commands.revoke(bob.pass_(), second.me, "stolen")
    exchange(ada, bob)
    assert second.me in view(ada).revoked


def test_machines_that_are_not_in_the_team_are_told_apart(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    cy = waiting(w, ada, "cy")
    commands.revoke(ada.pass_(), bob.me, "left")
    said = {}
    for name, replica in (("nobody", "zoe-0000000e"), ("waiting", cy.me), ("revoked", bob.me)):
        error = refusal(lambda replica=replica: commands.set_role(ada.pass_(), replica, Role.ADMIN))  # type: ignore[misc]
        assert error.field == "replica"
        said[name] = error.code, error.message.partition(" ")[2]
    assert said["nobody"][0] is Code.NOT_FOUND
    assert said["waiting"][0] is said["revoked"][0] is Code.CONFLICT
    assert len({text for _, text in said.values()}) == 3
    error = refusal(lambda: commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint))
    assert error.code is Code.CONFLICT
    assert "never comes back" in error.message


def test_the_last_admin_is_told_to_make_another_one(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    error = refusal(lambda: commands.set_role(ada.pass_(), ada.me, Role.MEMBER))
    assert error.code is Code.CONFLICT
    assert "dmp team role REPLICA admin" in error.message


def test_of_two_admins_who_revoke_each_other_at_once_the_one_who_lost_is_told(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob, cy)
    ahead = ada.pass_()
    pull = bob.transport.publish
    raced = False

    def race(*args, **kwargs):  # type: ignore[no-untyped-def]
        nonlocal raced
        if not raced:
            raced = True
            commands.revoke(ahead, bob.me, "first")
        return pull(*args, **kwargs)

    bob.transport.publish = race  # type: ignore[method-assign]
    error = refusal(lambda: commands.revoke(bob.pass_(), ada.me, "second"))
    assert error.code is Code.CONFLICT
    assert "revoked this machine at the same time" in error.message
    exchange(ada, cy)
    assert view(cy).members.keys() == view(ada).members.keys() == {ada.me, cy.me}


def test_a_change_that_was_signed_and_not_published_is_known_to_be(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    publish = ada.transport.publish

    def fail(*_args, **_kwargs):  # type: ignore[no-untyped-def]
        from transports.base import TransportError

        raise TransportError("away")

    ada.transport.publish = fail  # type: ignore[method-assign]
    with pytest.raises(Exception, match="away"):
        commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    assert commands.unpublished_changes(ada.node)
    ada.transport.publish = publish  # type: ignore[method-assign]
    exchange(ada, bob)
    assert not commands.unpublished_changes(ada.node)
    assert view(bob).is_admin(bob.me)


def test_5_43_a_cut_is_never_before_a_roster_op_that_counts_here(w: World) -> None:
    """A roster op counts from the moment it is verified, while its chain waits for something before it."""
    ada, bob, eve = w.team("ada", "bob", "eve")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob, eve)
    forger = Forger(eve)
    forger.publish(forger.op("roster", body={"rv": 1, "action": "elect"}))  # all chains wait from here on
    ada.sync()
    bob.send("human:ada", "this one waits")
    cy = waiting(w, bob, "cy")
    commands.admit(bob.pass_(), cy.me, cy.node.identity.fingerprint)
    ada.sync()
    assert ada.bodies() == []
    assert cy.me in view(ada).members
    commands.revoke(ada.pass_(), bob.me, "left")
    assert cy.me in view(ada).members
    cut = roster_ops(ada)[-1]
    assert isinstance(cut, dict)
    assert (cut["afterSeq"], cut["afterHash"]) == (bob.chain()[-1].seq, bob.chain()[-1].hash)


def test_5_35_a_pause_holds_everything_and_a_dismissal_ends_it(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob, cy)
    forger = Forger(bob)
    forger.publish(forger.op("roster", body={"rv": 1, "action": "elect", "replica": cy.me}))
    bob_op = bob.lane()[-1]
    ada.sync()
    problem = ada.problems()["team:paused"]
    cy.sync()
    cy.send("human:ada", "does it arrive?")
    cy.sync()
    ada.sync()
    assert ada.bodies() == []
    ada.send("human:cy", "one's own still goes out")
    ada.sync()
    unknown = view(ada).unknown
    assert unknown is not None
    assert f"dmp team dismiss {bob.me} {unknown.seq} {unknown.hash}" in problem
    assert unknown.hash.encode() not in bob_op  # the hash is what to copy from the problem
    error = refusal(lambda: commands.dismiss(ada.pass_(), bob.me, unknown.seq, "0" * 64))
    assert (error.code, error.field) == (Code.NOT_FOUND, "hash")
    assert commands.dismiss(ada.pass_(), bob.me, unknown.seq, unknown.hash)
    assert not commands.dismiss(ada.pass_(), bob.me, unknown.seq, unknown.hash)
    exchange(ada, cy)
    assert ada.bodies() == ["does it arrive?"]
    assert cy.bodies() == ["one's own still goes out"]
    assert "team:paused" not in ada.problems()


def test_5_31_what_can_be_read_is_not_dismissed(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    op = ada.chain()[-1]
    error = refusal(lambda: commands.dismiss(ada.pass_(), ada.me, op.seq, op.hash))
    assert error.code is Code.CONFLICT
    assert "can read" in error.message


def test_m6_a_handle_that_an_admin_made_up_is_quoted(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob)
    eve = waiting(w, bob, "eve")
    forger = Forger(bob)
    name = "ada. Nobody reads this"
    fingerprint = eve.node.identity.fingerprint
    forger.publish(forger.op("roster", body=Admit(eve.me, name, Role.MEMBER, fingerprint).to_json()))
    ada.sync()
    team = ada.node.team
    assert team is not None
    assert team.view.members[eve.me].handle == name
    assert team.describe(eve.me).startswith(f"“{name}”'s ")
