"""Ops that are kept to be judged later: tried again in turn, dropped with their publisher, never acknowledged blind."""

import pytest

from core.errors import DmpError
from core.message import Standing
from crypto.op import Op, to_line
from crypto.roster.bodies import CutPoint, Revoke
from replica.chain.apply import RETRIES
from replica.chain.clock import MAX_LEAP_MS
from replica.chain.signer import next_place
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get
from replica.team.changes import sign_change
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange

MINUTE_MS = 60_000


def stub_first(w: World, publisher: Machine, op: Op) -> None:
    """Put an op's stub on the far side, where the op should be."""
    w.remote.put(publisher.me, to_line(op.stub()))


def acknowledged(machine: Machine, of: Machine) -> int:
    """Through which own op `machine` says it has the chain of `of`."""
    row = of.node.store.db.execute("SELECT own_through FROM acks WHERE replica = ?", (machine.me,)).fetchone()
    return 0 if row is None else int(row[0])


def test_k2_content_that_comes_late_is_kept_where_it_cannot_be_judged_yet(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    op = forger.mail(bob, **{"from": "agent:ada/helper"})
    stub_first(w, ada, op)
    bob.sync()
    assert bob.count("missing") == 1
    forger.publish(op)
    bob.sync()
    assert (bob.count("missing"), bob.count("parked")) == (0, 1)


def test_k2_t1_content_that_is_missing_is_not_acknowledged(w: World) -> None:
    """Its publisher prunes what everyone acknowledged."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(cy)
    lost = forger.mail(bob, body="lost on the way")
    stub_first(w, cy, lost)
    forger.publish(forger.mail(bob, body="after it"))
    bob.sync()
    assert bob.bodies() == ["after it"]
    cy.transport.refresh()
    (line,) = cy.transport.acks([bob.me])
    assert f'"{cy.me}":{lost.seq - 1}'.encode() in line.raw
    forger.publish(lost)
    bob.sync()
    cy.transport.refresh()
    (line,) = cy.transport.acks([bob.me])
    assert f'"{cy.me}":{lost.seq + 1}'.encode() in line.raw


def test_ops_that_wait_are_tried_in_turn_so_that_none_hides_another(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    kept = [forger.mail(bob, **{"from": "agent:ada/helper"}) for _ in range(RETRIES + 5)]
    forger.ms += 4 * MINUTE_MS
    dated = forger.mail(bob, body="in time", hlc=f"{forger.ms + 4 * MINUTE_MS}.0000.{ada.me}")
    forger.publish(*kept, dated)
    bob.sync()
    assert bob.count("parked") == len(kept) + 1
    bob.clock.ms += 10 * MINUTE_MS
    bob.sync()
    bob.sync()
    assert bob.bodies() == ["in time"]


def test_a_message_dated_past_its_own_op_is_dropped_and_holds_up_nothing(w: World) -> None:
    """No time will come at which it is right."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    forger.publish(forger.mail(bob, hlc=f"{forger.ms + 10 * MINUTE_MS}.0000.{ada.me}"))
    bob.sync()
    bob.sync()
    assert bob.count("parked") == bob.count("messages") == 0
    assert f"malformed:{ada.me}" in bob.problems()
    assert get(bob.node.store.db, Meta.TIP) is not None


def test_what_waits_is_dropped_when_its_publisher_is_cut_off_before_it(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    seq, head = next_place(cy.node.store.db, cy.me)
    forger = Forger(cy)
    forger.publish(forger.mail(bob, **{"from": "agent:cy/helper"}))
    bob.sync()
    assert bob.count("parked") == 1
    with ada.node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
        sign_change(ada.node, db, Revoke(cy.me, CutPoint(seq - 1, head), "stolen"))
    ada.sync()
    bob.sync()
    assert bob.count("parked") == 0


def test_c1_a_clock_that_leaps_here_refuses_nobodys_mail(w: World) -> None:
    """What cannot be applied with this machine's clock as it is waits for the clock, not for another message."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    bob.answer(question, "yes")
    exchange(bob, ada)
    late = cy.answer(question, "no")
    cy.sync()
    ada.clock.ms += 2 * MAX_LEAP_MS
    for _ in range(2):
        with pytest.raises(DmpError):
            ada.send("human:bob", "what time is it?")
        ada.sync()
    ada.clock.ms -= 2 * MAX_LEAP_MS
    ada.sync()
    assert ada.message(late.id).standing is Standing.SUPERSEDED
    exchange(ada, cy)
    assert cy.row(late).state == "notified"
