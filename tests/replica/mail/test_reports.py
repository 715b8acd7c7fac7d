"""State ops: what one carries, who is told, and what a report counts for (federation wire 9.E)."""

from collections.abc import Mapping

import pytest

from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from core.store import registers
from crypto.canonical import JsonValue
from crypto.op import Op
from replica.chain.quotas import HOUR_MS
from replica.mail import opened
from replica.mail.payloads import MAX_ENTRIES
from replica.records import outbox, remote
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import register
from tests.replica.world import Machine, World, exchange

AT = "2026-09-21T14:13:20.000Z"


def state_ops(machine: Machine) -> list[Op]:
    return [entry for entry in machine.chain() if isinstance(entry, Op) and entry.type == "state"]


def says(machine: Machine, op: Op) -> list[Mapping[str, JsonValue]]:
    """The entries of a state op, as one of its readers reads it."""
    content = opened.open_op(machine.node, op)
    assert isinstance(content, dict)
    entries = content["entries"]
    assert isinstance(entries, list)
    return [entry for entry in entries if isinstance(entry, dict)]


def report(message: Message, state: str, recipient: str = "human:bob") -> dict[str, JsonValue]:
    return {"t": "delivery", "message": message.id, "recipient": recipient, "state": state, "at": AT}


def queue(machine: Machine, *rows: tuple[str, tuple[Machine, ...]]) -> None:
    """Queue a state entry each, which names an id, for its readers."""
    with machine.node.store.transaction(CommitPoint.APPLIED) as db:
        for name, readers in rows:
            entry = {"t": "refused", "message": name, "reason": "no", "at": AT}
            outbox.add(db, outbox.Kind.STATE, entry, [reader.me for reader in readers])


def names(machine: Machine, op: Op) -> list[JsonValue]:
    return [entry["message"] for entry in says(machine, op)]


def test_entries_for_the_same_readers_go_out_in_one_op_in_their_order(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    queue(ada, ("m-1", (bob,)), ("m-2", (bob, cy)), ("m-3", (bob,)), ("m-4", (cy, bob)), ("m-5", (cy,)))
    ada.sync()
    sent = state_ops(ada)
    assert [op.to for op in sent] == [(bob.me,), (bob.me, cy.me), (cy.me,)]
    assert [names(bob, op) for op in sent[:2]] == [["m-1", "m-3"], ["m-2", "m-4"]]


def test_an_op_carries_at_most_500_entries(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    queue(ada, *((f"m-{number}", (bob,)) for number in range(1_100)))
    ada.sync()
    assert [len(names(bob, op)) for op in state_ops(ada)] == [MAX_ENTRIES, MAX_ENTRIES, 100]
    assert MAX_ENTRIES == 500


def test_a_report_of_mail_sent_here_never_comes_before_that_mail(w: World) -> None:
    """Whoever hears of a delivery of a message that is not there passes it over."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    queue(ada, ("m-1", (bob, cy)))
    register(ada, "agent:ada/helper")
    given = SendInput(to=("human:ada", "human:bob", "human:cy"), kind="message", body="all of you")
    sent = ada.node.engine.send(Sender("agent:ada/helper"), given).message
    exchange(ada, bob, cy)
    assert row(bob, sent, "human:ada").state == "notified"


def row(machine: Machine, message: Message, recipient: str) -> remote.RemoteRow:
    found = remote.row_of(machine.node.store.db, message.id, recipient)
    assert found is not None
    return found


def test_every_home_of_a_message_and_its_origin_hear_of_each_delivery(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    sent = ada.send(("human:bob", "human:cy"), "both of you")
    exchange(ada, bob, cy)
    (delivery, _) = bob.node.engine.inbox("human:bob")[0]
    bob.node.engine.mark_read(delivery.id)
    exchange(bob, ada, cy)
    assert row(ada, sent, "human:bob").state == row(cy, sent, "human:bob").state == "read"
    assert all(op.to == (ada.me, cy.me) for op in state_ops(bob))
    states = [entry["state"] for op in state_ops(bob) for entry in says(ada, op)]
    assert states == ["notified", "read"]  # each step, not the last alone


def test_a_refusal_is_for_the_origin_alone(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(ada)
    payload = forger.payload(bob, body="")
    forger.publish(forger.op("mail", payload=payload, to=(bob, cy)))
    exchange(bob, cy, rounds=2)
    (op,) = state_ops(bob)
    assert op.to == (ada.me,)
    (entry,) = says(ada, op)
    assert entry["t"] == "refused"
    assert str(entry["reason"]).startswith("invalid on body")


def test_a_report_for_who_is_left_out_of_the_readers_goes_to_the_others(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    commands.revoke(ada.pass_(), cy.me, "left")
    queue(ada, ("m-1", (bob, cy)), ("m-2", (cy,)))
    ada.sync()
    (op,) = state_ops(ada)
    assert (op.to, names(bob, op)) == ((bob.me,), ["m-1"])
    assert ada.count("outbox") == 0


def test_a_report_counts_from_who_was_sent_the_message_and_homes_its_recipient_alone(w: World) -> None:
    ada, bob, cy, mallory = w.team("ada", "bob", "cy", "mallory")
    exchange(ada, bob, cy, mallory)
    sent = ada.send(("human:bob", "human:cy"), "both of you")
    ada.sync()
    for liar in (mallory, cy):
        forger = Forger(liar)
        forger.publish(forger.state(ada, report(sent, "read")))
    ada.sync()
    assert row(ada, sent, "human:bob").state == "forwarded"
    forger = Forger(bob)
    forger.publish(forger.state(ada, report(sent, "read")))
    ada.sync()
    assert (row(ada, sent, "human:bob").state, row(ada, sent, "human:cy").state) == ("read", "forwarded")


def test_a_refusal_counts_from_a_home_alone(w: World) -> None:
    ada, bob, cy, mallory = w.team("ada", "bob", "cy", "mallory")
    exchange(ada, bob, cy, mallory)
    sent = ada.send(("human:bob", "human:cy"), "both of you")
    ada.sync()
    forger = Forger(mallory)
    forger.publish(forger.state(ada, {"t": "refused", "message": sent.id, "reason": "no", "at": AT}))
    ada.sync()
    assert not row(ada, sent, "human:bob").refused
    forger = Forger(bob)
    forger.publish(forger.state(ada, {"t": "refused", "message": sent.id, "reason": "no", "at": AT}))
    ada.sync()
    assert row(ada, sent, "human:bob").state == "refused"
    assert row(ada, sent, "human:cy").state == "forwarded"


def test_a_row_is_refused_once_every_home_refused_and_the_sender_told_then_by_whom(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    desk = w.machine("bob", "desk")
    w.admit(ada, desk)
    exchange(ada, bob, desk)
    sent = ada.send("human:bob", "hello")
    ada.sync()
    assert row(ada, sent, "human:bob").homes == tuple(sorted((bob.me, desk.me)))
    for machine, state, told in ((bob, "forwarded", 0), (desk, "refused", 1)):
        forger = Forger(machine)
        refusal = {"t": "refused", "message": sent.id, "reason": "limited: later", "at": AT}
        forger.publish(forger.state(ada, refusal))
        ada.sync()
        assert (row(ada, sent, "human:bob").state, len(ada.inbox())) == (state, told)
    assert "desk-laptop" in ada.bodies()[0]
    forger.publish(forger.state(ada, report(sent, "notified")))
    ada.sync()
    assert row(ada, sent, "human:bob").state == "notified"  # any later report replaces it
    assert list(row(ada, sent, "human:bob").refused) == [bob.me]


def test_state_ops_beyond_an_hours_quota_wait_and_none_is_lost(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    sent = ada.send("human:bob", "hello")
    ada.sync()
    forger = Forger(bob)
    forger.publish(*(forger.state(ada, report(sent, "held")) for _ in range(600)))
    forger.publish(forger.state(ada, report(sent, "read")))
    ada.sync()
    assert row(ada, sent, "human:bob").state == "held"
    assert "state" in ada.problems()[f"quota:{bob.me}"]
    ada.clock.ms += HOUR_MS
    ada.sync()
    assert row(ada, sent, "human:bob").state == "read"


@pytest.mark.parametrize("bad", [{"t": "delivery"}, {"t": "gossip", "at": AT}, "entry"])
def test_one_bad_entry_makes_a_state_op_malformed(w: World, bad: JsonValue) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    sent = ada.send("human:bob", "hello")
    ada.sync()
    forger = Forger(bob)
    entries: list[JsonValue] = [report(sent, "read"), bad]
    forger.publish(forger.op("state", payload={"entries": entries}, to=(ada,)))
    ada.sync()
    assert row(ada, sent, "human:bob").state == "forwarded"
    assert f"malformed:{bob.me}" in ada.problems()


def test_an_op_of_more_than_500_entries_is_malformed(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    sent = ada.send("human:bob", "hello")
    ada.sync()
    forger = Forger(bob)
    forger.publish(forger.state(ada, *[report(sent, "read")] * 501))
    ada.sync()
    assert row(ada, sent, "human:bob").state == "forwarded"


def test_an_answer_that_fails_against_its_question_when_that_comes_is_refused_to_its_origin(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    question = ada.ask("human:bob", "human:cy")
    asked: dict[str, JsonValue] = {"kind": "answer", "replyTo": question.id, "thread": question.thread}
    forger = Forger(cy)
    forger.publish(*(forger.mail(bob, **{**asked, "choice": choice}) for choice in ("perhaps", "yes")))
    bob.sync()
    exchange(ada, bob)
    told = [entry for op in state_ops(bob) if op.to == (cy.me,) for entry in says(cy, op)]
    (refused,) = [entry for entry in told if entry["t"] == "refused"]
    assert str(refused["reason"]).startswith("invalid on choice")
    first = [message for message in bob.node.engine.thread(question.thread) if message.choice == "perhaps"]
    assert refused["message"] == first[0].id


def test_a_settle_that_names_what_is_no_answer_to_its_question_is_passed_over(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question, other = ada.ask("human:bob"), ada.send("human:bob", "no question")
    exchange(ada, bob)
    forger = Forger(ada)
    for closed in ({}, {"closed": "over"}):
        settle = {"t": "settle", "question": question.id, "answer": other.id, "at": AT, **closed}
        forger.publish(forger.state(bob, settle))
    bob.sync()
    answer = bob.node.engine.reply(Sender("human:bob", True), question.id, ReplyInput(body="", choice="yes"))
    assert answer.message.kind == "answer"


def test_an_answer_the_settler_refused_puts_the_question_back_before_a_work_item(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    with ada.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        registers.edit(
            db, "task", "task:t-0000aa", {"title": "Prune", "assignee": "human:bob", "status": "ready"}
        )
    exchange(ada, bob)
    question = ada.ask("task:t-0000aa")
    exchange(ada, bob)
    answer = bob.answer(question, "yes")
    (delivery,) = bob.node.engine.deliveries(question.id)
    assert (delivery.recipient, delivery.state) == ("task:t-0000aa", "answered")
    forger = Forger(ada)
    forger.publish(forger.state(bob, {"t": "refused", "message": answer.id, "reason": "no", "at": AT}))
    bob.sync()
    assert bob.node.engine.deliveries(question.id)[0].state == "held"
    assert bob.message(answer.id).standing == "superseded"
