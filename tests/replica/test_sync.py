"""Passes: what goes out when, what waits, and what is asked of the far side (transports T1, T5; clocks C1)."""

import pytest

from core.errors import Code, DmpError
from crypto.clock import MAX_CLOCK_LEAD_MS
from crypto.op import Op, Stub, read_entry
from replica.chain.clock import MAX_LEAP_MS, accept_wall_clock
from replica.records.commits import CommitPoint
from replica.sync import MAX_REFUSALS
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange
from transports.base import Behind, Refused, Unreachable

MINUTE_MS = 60_000


def published(machine: Machine) -> int:
    """How many lines the machine has on the far side."""
    return len(machine.lane())


def test_a_pass_with_nothing_to_say_publishes_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "hello")
    exchange(ada, bob)
    tip = w.remote.tip
    exchange(ada, bob)
    assert w.remote.tip == tip


def test_mail_waits_while_the_far_side_is_away_and_goes_out_when_it_is_back(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    w.remote.unreachable = True
    for number in range(3):
        ada.send("human:bob", f"offline {number}")
    with pytest.raises(Unreachable):
        ada.sync()
    assert ada.count("outbox") == 3
    w.remote.unreachable = False
    exchange(ada, bob)
    assert bob.bodies() == ["offline 0", "offline 1", "offline 2"]


def test_a_publish_that_is_overtaken_tries_again_and_signs_nothing_twice(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "hello")
    w.remote.reject_next(3)
    report = ada.sync()
    assert report.attempts == 4
    mails = [entry for entry in ada.chain() if entry.type == "mail"]
    assert len(mails) == 1
    bob.sync()
    assert bob.bodies() == ["hello"]


def test_a_publish_that_is_always_overtaken_ends_with_the_time_budget(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    ada.send("human:bob", "hello")
    w.remote.reject_next(10**6)
    seconds = iter(range(0, 10**6, 5))
    with pytest.raises(Behind):
        ada.pass_(monotonic=lambda: float(next(seconds))).run()


@pytest.mark.parametrize(("times", "arrives"), [(MAX_REFUSALS, True), (MAX_REFUSALS + 1, False)])
def test_a_remote_that_refuses_now_and_then_is_tried_again_and_one_that_means_it_is_not(
    w: World, times: int, arrives: bool
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "hello")
    publish, left = ada.transport.publish, iter([Refused("not now")] * times)

    def refuses(*given: object, **more: object) -> None:
        for refusal in left:
            raise refusal
        publish(*given, **more)  # type: ignore[arg-type]

    ada.transport.publish = refuses  # type: ignore[method-assign]
    if arrives:
        ada.sync()
    else:
        with pytest.raises(Refused):
            ada.sync()
    bob.sync()
    assert bob.bodies() == (["hello"] if arrives else [])
    assert ada.count("unpublished") == (0 if arrives else 1)


def test_both_sending_at_once_lose_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    for number in range(5):
        ada.send("human:bob", f"to bob {number}")
        bob.send("human:ada", f"to ada {number}")
        w.remote.reject_next(1)
        ada.sync()
        w.remote.reject_next(1)
        bob.sync()
    exchange(ada, bob)
    assert bob.bodies() == [f"to bob {n}" for n in range(5)]
    assert ada.bodies() == [f"to ada {n}" for n in range(5)]


def test_t5_mail_waiting_when_a_revocation_arrives_is_never_sealed_to_the_revoked(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    bob.send(("human:ada", "human:cy"), "for both")
    commands.revoke(ada.pass_(), cy.me, "laptop stolen")
    bob.sync()
    mails = [entry for entry in bob.chain() if entry.type == "mail"]
    assert [entry.to for entry in mails] == [(ada.me,)]
    ada.sync()
    assert ada.bodies() == ["for both"]


def test_t5_a_signed_op_whose_push_failed_goes_out_as_a_stub_once_a_reader_left(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    bob.send(("human:ada", "human:cy"), "for both")
    publish = bob.transport.publish

    def fails(*_given: object, **_more: object) -> None:
        raise Unreachable("the network went away")

    bob.transport.publish = fails  # type: ignore[method-assign]
    with pytest.raises(Unreachable):
        bob.sync()
    bob.transport.publish = publish  # type: ignore[method-assign]
    commands.revoke(ada.pass_(), cy.me, "laptop stolen")
    bob.sync()
    on_the_branch = [read_entry(line) for line in bob.lane()]
    mails = [entry for entry in on_the_branch if entry.type == "mail"]
    assert isinstance(mails[0], Stub)
    assert mails[0].to == tuple(sorted((ada.me, cy.me)))
    assert isinstance(mails[1], Op)
    assert mails[1].to == (ada.me,)
    exchange(ada, bob)
    assert ada.bodies() == ["for both"]
    assert ada.count("missing") == 0  # ada asked for the stub's content, and was told that it is gone
    assert not any(subject.startswith("missing:") for subject in ada.problems())


def test_t5_who_has_left_publishes_nothing_either_that_is_sealed_to_another_who_left(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    bob.send(("human:ada", "human:cy"), "for both")
    publish = bob.transport.publish

    def fails(*_given: object, **_more: object) -> None:
        raise Unreachable("the network went away")

    bob.transport.publish = fails  # type: ignore[method-assign]
    with pytest.raises(Unreachable):
        bob.sync()
    bob.transport.publish = publish  # type: ignore[method-assign]
    commands.revoke(ada.pass_(), cy.me, "laptop stolen")
    commands.revoke(ada.pass_(), bob.me, "laptop stolen")
    bob.sync()
    mails = [entry for entry in map(read_entry, bob.lane()) if entry.type == "mail"]
    assert all(isinstance(entry, Stub) for entry in mails if cy.me in (entry.to or ()))


def test_a_recipient_whose_last_home_left_is_refused_and_the_sender_told(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    sent = bob.send("human:cy", "for cy alone")
    commands.revoke(ada.pass_(), cy.me, "laptop stolen")
    bob.sync()
    assert bob.row(sent).state == "refused"
    assert [message.kind for message in bob.inbox()] == ["notice"]


def test_someone_with_no_machine_in_the_team_gets_the_mail_here(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    sent = ada.send("human:dora", "are you there?")
    assert ada.count("outbox") == 0
    assert [delivery.recipient for delivery in ada.node.engine.deliveries(sent.id)] == ["human:dora"]


def test_nothing_leaves_before_the_machine_is_admitted(w: World) -> None:
    ada = w.machine("ada")
    commands.found_team(ada.pass_(), "Orchard")
    bob = w.machine("bob")
    commands.join(bob.pass_(), None)
    bob.send("human:ada", "too early")
    bob.sync()
    assert [entry.type for entry in bob.chain()] == ["key"]
    ada.sync()
    assert ada.bodies() == []


def test_a_clock_20_minutes_ahead_makes_its_ops_wait_and_nobody_elses(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    ada.clock.ms += 20 * MINUTE_MS
    ada.send("human:bob", "from the future")
    ada.sync()
    ada.send("human:bob", "and again")
    cy.send("human:bob", "from now")
    ada.sync()
    cy.sync()
    bob.sync()
    assert bob.bodies() == ["from now"]
    assert f"clock:{ada.me}" in bob.problems()
    assert f"lines:{ada.me}" not in bob.problems()  # what follows the held op is no junk
    bob.clock.ms += 20 * MINUTE_MS - MAX_CLOCK_LEAD_MS + 1_000
    bob.sync()
    assert bob.bodies() == ["from now", "from the future", "and again"]
    assert f"clock:{ada.me}" not in bob.problems()


def test_t1_a_held_op_is_pulled_again_by_a_process_that_starts_during_the_hold(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.clock.ms += 20 * MINUTE_MS
    ada.send("human:bob", "held")
    ada.sync()
    bob.sync()
    again = w.open(bob.directory.root, bob.clock)
    bob.node.close()
    again.clock.ms += 20 * MINUTE_MS
    again.sync()
    assert again.bodies() == ["held"]


def test_t1_an_acknowledgement_never_names_an_op_that_is_held(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    before = ada.chain()[-1].seq
    ada.clock.ms += 20 * MINUTE_MS
    ada.send("human:bob", "held")
    ada.sync()
    exchange(bob, ada)
    (through,) = ada.node.store.db.execute(
        "SELECT own_through FROM acks WHERE replica = ?", (bob.me,)
    ).fetchone()
    assert through <= before


def test_c1_a_wall_clock_that_leaps_years_signs_nothing_until_its_owner_says_it_is_right(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.clock.ms += 10 * 365 * 24 * 60 * MINUTE_MS
    with pytest.raises(DmpError) as refused:
        ada.send("human:bob", "from 2036")
    assert refused.value.code is Code.UNAVAILABLE
    assert "dmp resume --clock" in refused.value.message
    assert ada.count("messages") == 0
    with ada.node.store.transaction(CommitPoint.RESUMED) as db:
        accept_wall_clock(db, ada.clock.ms)
    ada.send("human:bob", "it really is 2036")


def test_c1_a_month_of_silence_is_no_leap(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    for machine in (ada, bob):
        machine.clock.ms += MAX_LEAP_MS - MINUTE_MS
    ada.send("human:bob", "back from holiday")
    exchange(ada, bob)
    assert bob.bodies() == ["back from holiday"]


def test_a_clock_behind_still_signs_ops_that_rise(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.clock.ms -= 60 * MINUTE_MS
    ada.send("human:bob", "from the past")
    exchange(ada, bob)
    assert bob.bodies() == ["from the past"]
    readings = [entry.hlc.key for entry in ada.chain()]
    assert readings == sorted(set(readings))


def test_a_full_disk_ends_the_pass_and_loses_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    for number in range(40):
        ada.send("human:bob", f"{number} " + "x" * 20_000)
    ada.sync()
    db = bob.node.store.db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(DmpError) as refused:
        bob.sync()
    assert refused.value.code is Code.UNAVAILABLE
    assert bob.bodies() == []
    db.execute(f"PRAGMA max_page_count = {pages + 100_000}")
    exchange(bob, ada)
    assert [body.split()[0] for body in bob.bodies()] == [str(number) for number in range(40)]


def test_a_broken_lane_stops_no_other(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(ada)
    first, second = forger.mail(bob, body="one"), forger.mail(bob, body="two")
    rival = Forger(ada).mail(bob, body="another one")
    forger.publish(first, rival, second)
    cy.send("human:bob", "all well")
    cy.sync()
    bob.sync()
    assert bob.bodies() == ["all well"]
    row = bob.node.store.db.execute(
        "SELECT text, seq FROM problems WHERE subject = ?", (f"halt:{ada.me}",)
    ).fetchone()
    assert "two ops share this seq" in row[0]
    assert row[1] == first.seq
