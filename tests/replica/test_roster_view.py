"""What replicas make of recoveries and of changes of hosts (federation wire 5.12, 5.15, 9.1)."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crypto.canonical import JsonValue
from crypto.invites import (
    invite_id,
    invite_proof,
    public_of,
    recovery_code,
    recovery_proof,
    recovery_seed,
)
from crypto.op import to_line
from crypto.roster.bodies import Action, Recover, Role, SetHosts, SetRecoveryKey
from replica.chain import claims
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.crypto.publisher import Publisher
from tests.replica.shared.acts import view_of
from tests.replica.test_team import rival_claim
from tests.replica.world import Machine, World, exchange


def say(machine: Machine, body: Action) -> None:
    """Sign a roster op whatever the roster thinks of it, and publish it."""
    with machine.node.store.transaction(CommitPoint.ADMITTED) as db:
        machine.node.signer.append(db, "roster", body.to_json())
    machine.sync()


def recovery(machine: Machine, team: str, code: str) -> Recover:
    return Recover(
        recovery_proof(
            recovery_seed(code),
            team=team,
            replica=machine.me,
            sign_pub=machine.node.identity.secrets.sign_pub,
        )
    )


def test_who_holds_the_recovery_code_lets_itself_in_everywhere(w: World) -> None:
    ada = w.machine("ada")
    founded = commands.found_team(ada.pass_(), "Orchard")
    assert founded.recovery_code is not None
    lost = w.machine("ada", "new")
    commands.join(lost.pass_(), None)
    ada.sync()
    assert ada.node.team is not None
    say(lost, recovery(lost, ada.node.team.view.team_id, founded.recovery_code))
    exchange(ada, lost)
    for machine in (ada, lost):
        team = machine.node.team
        assert team is not None
        assert team.view.is_admin(lost.me)
        assert team.view.members[lost.me].recovered
        assert team.view.replicas_of("ada") == tuple(sorted((ada.me, lost.me)))


@contextmanager
def crowded(w: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """More ids that wait to be admitted than are kept, all of which come before the ids of honest machines."""
    for number in range(6):
        stranger = Publisher(f"aaa-{number:08x}", fill=9)
        w.remote.put(stranger.replica, to_line(stranger.key_op()))
    with monkeypatch.context() as patch:
        patch.setattr(claims, "MAX_WAITING_IDS", 4)
        yield


def test_k6_strangers_cannot_crowd_out_who_holds_the_recovery_code(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = w.machine("ada")
    code = commands.found_team(ada.pass_(), "Orchard").recovery_code
    assert code is not None
    bob = w.machine("bob")
    w.admit(ada, bob)
    lost = w.machine("ada", "new")
    with crowded(w, monkeypatch):
        exchange(ada, bob)
        assert bob.count("claims") == 2 + 4
        commands.join(lost.pass_(), None)
        say(lost, recovery(lost, view_of(ada).team_id, code))
        exchange(ada, bob)
    for machine in (ada, bob):
        assert view_of(machine).is_admin(lost.me)


def test_k6_strangers_cannot_crowd_out_a_guest_nor_the_founder_nor_whom_a_revoked_admin_had_admitted(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob)
    dee = w.machine("dee")
    w.admit(bob, dee)
    exchange(ada, dee)
    commands.revoke(ada.pass_(), bob.me, "left")
    with crowded(w, monkeypatch):
        exchange(ada)
        assert len(view_of(ada).pending) == 4
    late = w.machine("late")
    code = commands.invite(ada.pass_(), "late").encode()
    with crowded(w, monkeypatch):
        commands.join(late.pass_(), code)
        ada.sync()
        late.sync()
    assert view_of(late).members.keys() == view_of(ada).members.keys() == {ada.me, dee.me, late.me}


def test_k6_a_guest_who_makes_ids_by_the_thousand_is_kept_a_few_times(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = w.machine("ada")
    commands.found_team(ada.pass_(), "Orchard")
    code = commands.invite(ada.pass_(), "eve")
    with crowded(w, monkeypatch):
        ada.sync()
        for number in range(10):
            eve = Publisher(f"eve-{number:08x}", fill=9)
            proof = invite_proof(
                code.seed, team=code.team, replica=eve.replica, sign_pub=eve.secrets.sign_pub
            )
            known: JsonValue = {"id": invite_id(public_of(code.seed)), "sig": proof}
            w.remote.put(eve.replica, to_line(eve.key_op(handle="eve", invite=known)))
        for _ in range(3):
            ada.sync()
        assert len(view_of(ada).pending) == 4 + claims.MAX_GUESTS


def test_of_two_keys_for_one_id_the_one_that_proves_the_recovery_code_is_its_key(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    seed = b"s" * 32
    say(ada, SetRecoveryKey(public_of(seed)))
    lost = w.machine("ada", "new")
    commands.join(lost.pass_(), None)
    w.remote.put(lost.me, rival_claim(w.folder, lost.me))
    exchange(ada, bob)
    for machine in (ada, bob):
        assert machine.node.team is not None
        assert lost.me not in machine.node.team.keys
    assert ada.node.team is not None
    say(lost, recovery(lost, ada.node.team.view.team_id, recovery_code(seed)))
    exchange(ada, bob)
    for machine in (ada, bob):
        team = machine.node.team
        assert team is not None
        assert team.view.is_admin(lost.me)
        assert team.keys[lost.me].fingerprint == lost.node.identity.fingerprint


def test_a_host_gets_the_mail_of_the_handles_it_hosts_while_it_does(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    say(ada, SetHosts(bob.me, ("carl",)))
    exchange(ada, bob)
    ada.send("human:carl", "to carl, at bob's")
    exchange(ada, bob)
    assert bob.count("messages") == 1
    for machine in (ada, bob):
        assert machine.node.team is not None
        assert machine.node.team.view.replicas_of("carl") == (bob.me,)
