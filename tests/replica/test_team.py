"""Founding, inviting, joining, admitting, revoking (federation wire 4, 5)."""

from pathlib import Path

import pytest

from core.errors import Code, DmpError
from crypto.key_claims import MAX_KEY_CLAIMS
from crypto.op import to_line
from crypto.roster.bodies import Admit, Role
from replica.chain import claims
from replica.node import create, opened
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, put
from replica.team import commands
from replica.team.changes import sign_change
from tests.crypto.publisher import Publisher
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange
from transports.memory import MemoryRemote, MemoryTransport

DAY_MS = 24 * 3_600_000


def founded(w: World) -> Machine:
    ada = w.machine("ada")
    commands.found_team(ada.pass_(), "Orchard")
    return ada


def members(machine: Machine) -> dict[str, str]:
    team = machine.node.team
    assert team is not None
    return {member.handle: member.role.value for member in team.view.members.values()}


def test_a_founder_publishes_its_key_the_founding_and_a_closed_legacy_window(w: World) -> None:
    ada = founded(w)
    assert [entry.type for entry in ada.chain()] == ["key", "roster", "roster"]
    assert members(ada) == {"ada": "admin"}
    assert ada.node.team is not None
    assert ada.node.team.view.legacy_closed


def test_an_invited_machine_is_admitted_by_its_inviter_without_a_word(w: World) -> None:
    ada = founded(w)
    code = commands.invite(ada.pass_(), "bob")
    bob = w.machine("bob")
    commands.join(bob.pass_(), code.encode())
    exchange(ada, bob)
    assert members(bob) == {"ada": "admin", "bob": "member"}


def test_an_invite_admits_one_machine_and_no_second(w: World) -> None:
    ada = founded(w)
    code = commands.invite(ada.pass_(), "bob")
    bob, other = w.machine("bob"), w.machine("bob", "other")
    commands.join(bob.pass_(), code.encode())
    exchange(ada, bob)
    commands.join(other.pass_(), code.encode())
    exchange(ada, other)
    assert ada.node.team is not None
    assert other.me not in ada.node.team.view.members
    assert any(subject.startswith("invite:") for subject in ada.problems())


def test_two_claimants_of_one_invite_both_wait_for_a_person(w: World) -> None:
    ada = founded(w)
    code = commands.invite(ada.pass_(), "bob")
    for name in ("bob", "other"):
        commands.join(w.machine("bob", name).pass_(), code.encode())
    ada.sync()
    assert members(ada) == {"ada": "admin"}
    assert any(subject.startswith("invite:") for subject in ada.problems())


def test_an_expired_invite_admits_nobody(w: World) -> None:
    ada = founded(w)
    code = commands.invite(ada.pass_(), "bob")
    bob = w.machine("bob")
    ada.clock.ms += 8 * DAY_MS
    commands.join(bob.pass_(), code.encode())
    ada.sync()
    assert members(ada) == {"ada": "admin"}


def test_an_invite_for_another_handle_admits_nobody(w: World) -> None:
    ada = founded(w)
    code = commands.invite(ada.pass_(), "bob")
    mallory = w.machine("mallory")
    commands.join(mallory.pass_(), code.encode())
    ada.sync()
    assert members(ada) == {"ada": "admin"}


def test_an_invite_repeated_at_once_is_the_same_code(w: World) -> None:
    ada = founded(w)
    first = commands.invite(ada.pass_(), "bob")
    assert commands.invite(ada.pass_(), "bob") == first
    ada.clock.ms += 10 * 60_000
    assert commands.invite(ada.pass_(), "bob") != first


def test_a_machine_without_an_invite_is_admitted_by_its_fingerprint_alone(w: World) -> None:
    ada = founded(w)
    bob = w.machine("bob")
    commands.join(bob.pass_(), None)
    with pytest.raises(DmpError) as refused:
        commands.admit(ada.pass_(), bob.me, "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA")
    assert (refused.value.code, refused.value.field) == (Code.CONFLICT, "fingerprint")
    commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint.lower())
    exchange(ada, bob)
    assert members(bob) == {"ada": "admin", "bob": "member"}


def test_an_id_withrival_claims_is_admitted_by_the_right_fingerprint(w: World, tmp_path: Path) -> None:
    """Anyone who can write to the branch can claim bob's id with another key; the fingerprint decides."""
    ada = founded(w)
    bob = w.machine("bob")
    commands.join(bob.pass_(), None)
    w.remote.put(bob.me, rival_claim(tmp_path, bob.me))
    with pytest.raises(DmpError):
        commands.admit(ada.pass_(), bob.me, "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA")
    commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint)
    exchange(ada, bob)
    bob.send("human:ada", "the real bob")
    exchange(bob, ada)
    assert ada.bodies() == ["the real bob"]


def test_wire_12_1_an_id_that_as_many_keys_claim_as_are_kept_is_a_problem_until_one_is_admitted(
    w: World, tmp_path: Path
) -> None:
    ada = founded(w)
    bob = w.machine("bob")
    commands.join(bob.pass_(), None)
    for number in range(MAX_KEY_CLAIMS):
        w.remote.put(bob.me, rival_claim(tmp_path / str(number), bob.me))
    ada.sync()
    assert bob.me in ada.problems()[f"key:{bob.me}"]
    commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint)
    exchange(ada, bob)
    assert f"key:{bob.me}" not in ada.problems()
    assert members(ada)["bob"] == "member"


def test_a_member_may_not_admit_revoke_or_raise(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    before = len(bob.chain())
    for attempt in (
        lambda: commands.revoke(bob.pass_(), cy.me, "mine now"),
        lambda: commands.set_role(bob.pass_(), bob.me, Role.ADMIN),
        lambda: commands.invite(bob.pass_(), "eve"),
    ):
        with pytest.raises(DmpError) as refused:
            attempt()
        assert refused.value.code is Code.FORBIDDEN
    assert len(bob.chain()) == before  # a change the fold would ignore is never signed


def test_the_last_admin_stays(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    with pytest.raises(DmpError) as refused:
        commands.set_role(ada.pass_(), ada.me, Role.MEMBER)
    assert refused.value.code in (Code.CONFLICT, Code.FORBIDDEN)
    assert members(ada)["ada"] == "admin"


def test_an_admin_made_by_an_admin_may_admit(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    code = commands.invite(bob.pass_(), "cy")
    cy = w.machine("cy")
    commands.join(cy.pass_(), code.encode())
    exchange(bob, cy, ada)
    assert members(ada) == {"ada": "admin", "bob": "admin", "cy": "member"}


def test_k5_a_key_that_was_published_serves_no_second_team(w: World) -> None:
    ada = founded(w)
    elsewhere = MemoryTransport(MemoryRemote("elsewhere"))
    ada.transport = elsewhere
    with pytest.raises(DmpError) as refused:
        commands.found_team(ada.pass_(), "Second")
    assert refused.value.code is Code.CONFLICT
    with pytest.raises(DmpError):
        commands.join(ada.pass_(), None)


def test_k5_a_chain_copied_to_another_teams_branch_brings_its_owner_nowhere(w: World, tmp_path: Path) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    other = World(tmp_path / "other", stack=w.stack, seed=500)
    cy, dora = other.team("cy", "dora")
    other.remote.put(ada.me, *ada.lane())
    other.remote.put(bob.me, *bob.lane())
    exchange(cy, dora)
    assert members(dora) == {"cy": "admin", "dora": "member"}


def test_founding_where_a_team_is_already_is_refused(w: World) -> None:
    founded(w)
    bob = w.machine("bob")
    with pytest.raises(DmpError) as refused:
        commands.found_team(bob.pass_(), "Mine")
    assert refused.value.code is Code.CONFLICT
    assert bob.chain() == []


def test_where_two_teams_were_founded_an_invite_says_which_to_join(w: World) -> None:
    ada = founded(w)
    rival = w.machine("rival")
    hidden, w.remote.hidden = w.remote.hidden, {ada.me: 1}
    commands.found_team(rival.pass_(), "Other")
    w.remote.hidden = hidden
    bob = w.machine("bob")
    with pytest.raises(DmpError) as unclear:
        commands.join(bob.pass_(), None)
    assert unclear.value.code is Code.NOT_FOUND
    assert "team:founding" in bob.problems()
    code = commands.invite(ada.pass_(), "bob")
    commands.join(bob.pass_(), code.encode())
    exchange(ada, bob)
    assert members(bob) == {"ada": "admin", "bob": "member"}


def test_a_damaged_code_is_refused_before_anything_is_signed(w: World) -> None:
    founded(w)
    bob = w.machine("bob")
    for code in ("", "di1", "di1.x.y.", "dispatch-team:abc"):
        with pytest.raises(DmpError) as refused:
            commands.join(bob.pass_(), code)
        assert (refused.value.code, refused.value.field) == (Code.INVALID, "code")
    assert bob.chain() == []


def test_joining_again_only_asks_for_news(w: World) -> None:
    ada = founded(w)
    bob = w.machine("bob")
    commands.join(bob.pass_(), None)
    commands.join(bob.pass_(), None)
    assert [entry.type for entry in bob.chain()] == ["key"]
    commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint)
    commands.join(bob.pass_(), None)
    assert members(bob)["bob"] == "member"


def test_a_big_team_is_known_at_once_to_whoever_joins_it(w: World) -> None:
    """Ids that admissions name are not strangers: no pass leaves some of them for later."""
    handles = [f"member-{number}" for number in range(12)]
    ada, *others = w.team("ada", *handles)
    late = w.machine("late")
    commands.join(late.pass_(), commands.invite(ada.pass_(), "late").encode())
    ada.sync()
    late.sync()
    assert set(members(late)) == {"ada", "late", *handles}
    assert len(others) == 12


def test_k6_ids_made_by_the_thousand_are_kept_up_to_a_cap_and_stop_nobody(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    monkeypatch.setattr(claims, "MAX_WAITING_IDS", 12)
    for number in range(40):
        stranger = Publisher(f"flood-{number:08x}", fill=9)
        w.remote.put(stranger.replica, to_line(stranger.key_op()))
    ada.send("human:bob", "through the flood")
    exchange(ada, bob)
    assert bob.bodies() == ["through the flood"]
    assert bob.count("claims") == 2 + 12


@pytest.mark.parametrize("replica", ["..-0000000a", "-x-0000000a", "--upload-pack-0000000a", "Bob-0000000a"])
def test_k8_an_id_is_never_a_path_or_an_option(w: World, tmp_path: Path, replica: str) -> None:
    """Ids that look like paths or options, or differ from another in case alone, are names and nothing else."""
    ada, bob = w.team("ada", "bob")
    w.remote.put(replica, rival_claim(tmp_path, replica))
    ada.send("human:bob", "hello")
    exchange(ada, bob)
    assert bob.bodies() == ["hello"]
    assert not (tmp_path / "machines" / replica).exists()


def test_removed_ids_never_come_back(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.revoke(ada.pass_(), bob.me, "lost")
    with pytest.raises(DmpError):
        commands.admit(ada.pass_(), bob.me, bob.node.identity.fingerprint)
    assert members(ada) == {"ada": "admin"}


def test_an_invite_whose_machine_may_not_be_admitted_holds_up_nobodys_mail(w: World) -> None:
    """Whoever invited is no admin any more, or the machine is not what the invite was for."""
    ada, bob = w.team("ada", "bob")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    code = commands.invite(bob.pass_(), "cy")
    commands.set_role(ada.pass_(), bob.me, Role.MEMBER)
    cy = w.machine("cy")
    commands.join(cy.pass_(), code.encode())
    bob.send("human:ada", "hello")
    exchange(bob, ada)
    assert ada.bodies() == ["hello"]
    assert members(ada) == {"ada": "admin", "bob": "member"}
    (subject,) = [subject for subject in bob.problems() if subject.startswith("invite:")]
    assert cy.me in bob.problems()[subject]
    commands.admit(ada.pass_(), cy.me, cy.node.identity.fingerprint)
    exchange(bob, ada)
    assert subject not in bob.problems()


def test_m6_a_device_name_is_quoted_where_it_could_pass_for_the_programs_words(w: World) -> None:
    ada = founded(w)
    eve = w.machine("eve")
    with eve.node.store.transaction(CommitPoint.PROBLEM) as db:
        put(db, Meta.DEVICE, "laptop” (ada-0000000a) is safe. \u202eRun")
    commands.join(eve.pass_(), commands.invite(ada.pass_(), "eve").encode())
    exchange(ada, eve)
    team = ada.node.team
    assert team is not None
    assert team.describe(eve.me) == f"eve's “laptop\" (ada-0000000a) is safe.  Run” ({eve.me})"
    assert team.describe(ada.me) == f"ada's ada-laptop ({ada.me})"


def test_an_observer_says_nothing_that_others_would_drop(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    eve = w.machine("eve")
    commands.join(eve.pass_(), None)
    ada.sync()
    with ada.node.store.transaction(CommitPoint.ADMITTED) as db:
        key = eve.node.identity.fingerprint
        sign_change(ada.node, db, Admit(eve.me, "eve", Role.MEMBER, key, observer=True))
    ada.send("human:bob", "seen by eve too")
    exchange(ada, bob, eve)
    assert eve.count("messages") == 1
    with pytest.raises(DmpError) as refused:
        eve.send("human:bob", "hello")
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "to[0]")
    forger = Forger(ada)
    forger.publish(forger.mail(eve, body="not hers", kind="answer"))
    exchange(eve, bob)
    assert eve.problems()
    assert {entry.type for entry in eve.chain()} == {"key"}
    assert eve.count("outbox") == 0


def rival_claim(folder: Path, replica: str) -> bytes:
    """A key op of `replica` that a stranger's own key signed."""
    from crypto.clock import Reading
    from crypto.keys import KeyBody
    from crypto.op import ZERO_HASH, make_op, to_line

    root = folder / f"stranger-{abs(hash(replica))}"
    create(root, "mallory", wall=lambda: 1_790_000_000_000)
    with opened(root) as node:
        secrets = node.identity.secrets
        body = KeyBody("bob", "rival", "x", secrets.sign_pub, secrets.seal_pub)
        op = make_op(
            replica=replica,
            seq=1,
            prev=ZERO_HASH,
            hlc=Reading(1_790_000_000_000, 0, replica),
            type="key",
            signer=secrets.signer,
            body=body.to_json(),
        )
        return to_line(op)
