"""The roster comes to the same everywhere, whichever of its ops a replica met first, and in which pull."""

from crypto.op import to_line
from crypto.roster.bodies import CutPoint, Revoke, Role, SetRole
from replica.audit.engine import audit
from replica.audit.from_store import open_store
from replica.audit.scratch import Scratch
from replica.team import commands
from tests.crypto.publisher import Publisher
from tests.replica.forge import Forger
from tests.replica.shared.acts import sign, view_of
from tests.replica.world import World, exchange

HOUR_OF_MAIL = 601
"""One more than an hour's quota."""


def test_a_revocation_that_names_an_op_its_target_never_signed_wins_no_contest(w: World) -> None:
    """Or whoever saw it first would never hear what its target says of its author."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    commands.set_role(ada.pass_(), bob.me, Role.ADMIN)
    exchange(ada, bob, cy)
    seen, head = bob.chain()[-1], ada.chain()[-1]
    sign(bob, Revoke(ada.me, CutPoint(head.seq, "1" * 64), "made up"))
    bob.sync()
    cy.sync()
    assert view_of(cy).members.keys() == {bob.me, cy.me}
    assert f"{bob.me} revoked {ada.me}" in cy.problems()[f"halt:{ada.me}"]
    sign(ada, Revoke(bob.me, CutPoint(seen.seq, seen.hash), "lies"))
    exchange(ada, cy, bob)
    for each in (ada, bob, cy):
        assert view_of(each).members.keys() == {ada.me, cy.me}
        assert f"halt:{ada.me}" not in each.problems()


def test_whom_a_newcomer_lets_in_is_known_to_who_hears_of_both_at_once(w: World) -> None:
    ada, cy = w.team("ada", "cy")
    handle = "aaa"  # its chain is read before that of whoever admits it
    newcomer, desk = w.machine(handle), w.machine(handle, "desk")
    w.admit(ada, newcomer)
    for number in range(12):
        newcomer.node.engine.join("eng", f"human:m{number}")
    newcomer.sync()
    commands.join(desk.pass_(), commands.invite(newcomer.pass_(), handle).encode())
    newcomer.sync()
    assert desk.me in view_of(newcomer).members
    cy.sync()
    assert desk.me in view_of(cy).members


def test_what_is_said_in_answer_to_a_roster_op_comes_after_it(w: World) -> None:
    """A promotion counts before the mail it came with does; a clock that were behind it would void what it allows."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    ada.clock.ms += 4 * 60_000
    ada.sync()
    forger = Forger(ada)
    flood = [forger.mail(bob, body="busy") for _ in range(HOUR_OF_MAIL)]
    forger.publish(*flood, forger.op("roster", body=SetRole(bob.me, Role.ADMIN).to_json()))
    bob.sync()
    commands.revoke(bob.pass_(), cy.me, "lost")
    assert view_of(bob).members.keys() == {ada.me, bob.me}


def test_of_two_key_ops_with_the_same_keys_all_take_the_same_one(w: World) -> None:
    """Whose machine it says it is decides who may admit it."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    stranger = Publisher("bob-0000002b", fill=9)
    both = (stranger.key_op(handle="bob"), stranger.key_op(handle="eve"))
    first, second = sorted(both, key=lambda op: op.hash)
    w.remote.put(stranger.replica, to_line(second))
    cy.sync()
    w.remote.put(stranger.replica, to_line(first))
    exchange(ada, bob, cy)
    for each in (ada, bob, cy):
        team = each.node.team
        assert team is not None
        assert team.keys[stranger.replica].to_json() == first.body


def test_a_newcomer_reads_all_that_whoever_was_let_in_says_though_a_removal_undoes_that(w: World) -> None:
    """What decides a contest may stand far down the log of a machine that is no member without it."""
    ada, bea, ann = w.team("ada", "bea", "ann")
    commands.set_role(ada.pass_(), bea.me, Role.ADMIN)
    exchange(ada, bea, ann)
    before = bea.chain()[-1]
    dee = w.machine("dee")
    w.admit(bea, dee)
    commands.set_role(bea.pass_(), dee.me, Role.ADMIN)
    exchange(ada, bea, ann, dee)
    commands.set_role(ada.pass_(), ann.me, Role.ADMIN)  # so ann ranks below dee
    exchange(ada, bea, ann, dee)
    head = ann.chain()[-1]
    for number in range(12):
        dee.node.engine.join("eng", f"human:m{number}")
    exchange(dee)
    sign(ann, Revoke(bea.me, CutPoint(before.seq, before.hash), "and whom she let in"))
    sign(dee, Revoke(ann.me, CutPoint(head.seq, head.hash), "no"))
    exchange(ada, bea, ann, dee)
    late = w.machine("late")
    w.admit(ada, late)
    exchange(ada, late)
    assert view_of(ada).members.keys() == {ada.me, bea.me, dee.me, late.me}
    assert view_of(late).members.keys() == view_of(ada).members.keys()


def test_a_newcomer_reads_a_revocation_that_rests_on_one_of_two_histories_of_its_target(w: World) -> None:
    """Who published it was let in by the machine it revokes, past the op where that one's two histories part."""
    ada, bea = w.team("ada", "bea")
    commands.set_role(ada.pass_(), bea.me, Role.ADMIN)
    exchange(ada, bea)
    parting = Forger(bea)
    dee = w.machine("dee")
    w.admit(bea, dee)
    commands.set_role(bea.pass_(), dee.me, Role.ADMIN)
    exchange(ada, bea, dee)
    for number in range(12):
        dee.node.engine.join("eng", f"human:m{number}")
    exchange(dee)
    head = bea.chain()[-1]
    sign(dee, Revoke(bea.me, CutPoint(head.seq, head.hash), "two faces"))
    parting.publish(parting.op("channel", body={"channel": "eng", "member": "human:bea", "joined": True}))
    exchange(ada, dee)
    assert view_of(ada).members.keys() == {ada.me, dee.me}
    late = w.machine("late")
    w.admit(ada, late)
    exchange(ada, late)
    assert view_of(late).members.keys() == view_of(ada).members.keys() == {ada.me, dee.me, late.me}
    with Scratch() as scratch, open_store(late.directory.database) as source:
        report = audit(source, scratch, late.clock.ms)
    assert {each.replica: each.status.value for each in report.replicas} == {
        ada.me: "founder",
        bea.me: "revoked",
        dee.me: "admin",
        late.me: "member",
    }
    assert report.verified
