"""What a replica does with mail that its teammates' keys signed, honest or not (section F.5)."""

import json

import pytest

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from crypto.op import Op, to_line
from replica.chain.quotas import Quotas
from replica.mail.missing import TIMES_AGAIN
from replica.mail.refusals import NOTICES
from replica.mail.settlement import MAX_ANSWERS
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.world import World, exchange

HOUR_MS = 3_600_000


def test_mail_arrives_once_however_often_its_op_is_replayed(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "hello")
    ada.sync()
    for _ in range(3):
        w.remote.put(ada.me, *ada.lane())
        bob.sync()
    assert bob.bodies() == ["hello"]


def test_a_message_under_a_teammates_address_is_dropped_and_recorded_with_its_op(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(cy)
    forged = forger.mail(bob, **{"from": "human:ada", "body": "send me the keys"})
    honest = forger.mail(bob, body="it is me, cy")
    forger.publish(forged, honest)
    bob.sync()
    assert bob.bodies() == ["it is me, cy"]
    row = bob.node.store.db.execute(
        "SELECT replica, seq FROM problems WHERE subject = ?", (f"speaks-for:{cy.me}",)
    ).fetchone()
    assert row == (cy.me, forged.seq)


def test_another_hosts_system_address_is_never_the_system(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    forger = Forger(bob)
    fake_close: JsonValue = {"type": "x-closed", "reason": "because"}
    forger.publish(
        forger.mail(
            ada,
            **{"from": "agent:dispatch", "kind": "answer", "replyTo": question.id, "thread": question.id},
            data=fake_close,
            body="Closed: because",
        ),
        forger.mail(ada, **{"from": "agent:dispatch", "kind": "notice", "body": "pay the invoice"}),
    )
    ada.sync()
    assert ada.node.engine.answer_of(question.id) is None
    assert "pay the invoice" not in ada.bodies()


def test_a_notice_of_another_hosts_system_address_names_messages_that_were_exchanged(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    sent = ada.send("human:bob", "hello")
    exchange(ada, bob)
    forger = Forger(bob)
    known: list[JsonValue] = [{"type": "message", "id": sent.id}]
    unknown: list[JsonValue] = [{"type": "message", "id": "m-unknown"}]
    data: JsonValue = {"type": "x-mine"}
    system = {"from": "agent:dispatch", "kind": "notice"}
    forger.publish(
        forger.mail(ada, body="about your message", refs=known, **system),
        forger.mail(ada, body="about nothing", refs=unknown, **system),
        forger.mail(ada, body="with data", refs=known, data=data, **system),
    )
    ada.sync()
    assert ada.bodies() == ["about your message"]


def test_a_sealed_op_moved_into_another_op_does_not_open(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(ada)
    genuine = forger.mail(bob, body="for bob alone")
    thief = Forger(cy)
    thief.publish(thief.steal(genuine.sealed))
    bob.sync()
    assert bob.bodies() == []
    assert f"malformed:{cy.me}" in bob.problems()


def test_mail_from_a_revoked_replica_after_its_cut_is_not_applied(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    cy.send("human:bob", "before")
    exchange(ada, bob, cy)
    commands.revoke(ada.pass_(), cy.me, "laptop stolen")
    forger = Forger(cy)
    forger.publish(forger.mail(bob, body="after"))
    exchange(ada, bob)
    assert bob.bodies() == ["before"]
    assert f"cut:{cy.me}" in bob.problems()


def test_mail_up_to_the_cut_still_arrives_when_it_comes_late(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    cy.send("human:bob", "sent in time")
    cy.sync()
    commands.revoke(ada.pass_(), cy.me, "left the team")  # pulls first, so the cut is past that mail
    bob.sync()
    assert bob.bodies() == ["sent in time"]


def test_one_message_id_with_two_contents_is_refused_and_its_origin_is_told(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    sent = ada.send("human:bob", "first words")
    exchange(ada, bob)
    forger = Forger(ada)
    forger.publish(forger.mail(bob, id=sent.id, thread=sent.id, body="other words"))
    bob.sync()
    assert bob.bodies() == ["first words"]
    assert ada.me in bob.problems()[f"collision:{sent.id}"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"data": {"type": "tool-approval"}}, "forbidden"),
        ({"data": {"type": "x-closed", "reason": "r"}}, "forbidden"),
        ({"to": []}, "invalid"),
        ({"body": " "}, "invalid"),
        ({"kind": "x-Bad"}, "invalid"),
        ({"kind": "answer"}, "invalid"),
        ({"replyTo": "m-forged-self", "id": "m-forged-self"}, "invalid"),
    ],
    ids=[
        "gate data",
        "a marker",
        "no recipients",
        "blank",
        "bad kind",
        "answer to nothing",
        "reply to itself",
    ],
)
def test_what_may_not_be_received_is_refused_and_nothing_is_stored(
    w: World, changes: dict[str, JsonValue], code: str
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    forger.publish(forger.mail(bob, **changes), forger.mail(bob, body="and this one is fine"))
    bob.sync()
    assert bob.bodies() == ["and this one is fine"]
    assert bob.count("messages") == 1
    assert bob.problems()[f"mail-drop:{ada.me}"].startswith(code)


@pytest.mark.parametrize("payload", [None, [], {"message": 1}, {"message": {}, "targets": []}, "text"])
def test_a_payload_that_is_no_payload_stops_nothing(w: World, payload: JsonValue) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    forger.publish(
        forger.op("mail", payload=payload, to=(bob,)),
        forger.op("state", payload=payload, to=(bob,)),
        forger.mail(bob, body="still here"),
    )
    bob.sync()
    assert bob.bodies() == ["still here"]
    assert f"malformed:{ada.me}" in bob.problems()


def test_a_reply_needs_a_participant_when_its_target_is_here(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    private = bob.send(("human:bob", "human:ada"), "between us")
    exchange(ada, bob, cy)
    forger = Forger(cy)
    forger.publish(forger.mail(bob, replyTo=private.id, thread=private.id, body="I was never in this"))
    bob.sync()
    assert "I was never in this" not in bob.bodies()
    assert bob.problems()[f"mail-drop:{cy.me}"].startswith("not-found")


def test_a_sender_cannot_make_a_machine_deliver_for_someone_it_does_not_home(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    payload = forger.payload(bob)
    payload["targets"] = [{"recipient": "human:cy", "via": "direct", "homes": [bob.me]}]
    forger.publish(forger.op("mail", payload=payload, to=(bob,)))
    bob.sync()
    assert bob.node.engine.inbox("human:cy") == []


def test_a_delivery_report_counts_only_from_a_home_of_the_recipient(w: World) -> None:
    ada, _, cy = w.team("ada", "bob", "cy")
    sent = ada.send("human:bob", "hello")
    ada.sync()
    forger = Forger(cy)
    report = {"t": "delivery", "message": sent.id, "recipient": "human:bob", "state": "read", "at": "now"}
    forger.publish(forger.state(ada, report))
    ada.sync()
    assert ada.row(sent).state == "forwarded"


def test_a_remote_rows_state_only_rises(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    sent = ada.send("human:bob", "hello")
    exchange(ada, bob)
    delivery = bob.node.engine.deliveries(sent.id)[0]
    bob.node.engine.mark_read(delivery.id)
    exchange(bob, ada)
    assert ada.row(sent).state == "read"
    forger = Forger(bob)
    report = {"t": "delivery", "message": sent.id, "recipient": "human:bob", "state": "held", "at": "late"}
    forger.publish(forger.state(ada, report))
    ada.sync()
    assert ada.row(sent).state == "read"


def test_a_message_every_home_refused_is_marked_and_its_sender_told(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    sent = ada.send("human:bob", "hello")
    ada.sync()
    forger = Forger(bob)
    refusal = {"t": "refused", "message": sent.id, "reason": "limited: slow” down\nnow", "at": "now"}
    forger.publish(forger.state(ada, refusal, refusal))
    ada.sync()
    assert ada.row(sent).state == "refused"
    (told,) = ada.inbox()
    assert told.kind == "notice"
    assert told.body.endswith('“limited: slow" down now”')


def test_an_answer_the_settler_refused_becomes_a_reply_and_reopens_the_question(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    answer = bob.answer(question, "yes")
    forger = Forger(ada)
    forger.publish(forger.state(bob, {"t": "refused", "message": answer.id, "reason": "no", "at": "now"}))
    bob.sync()
    assert bob.message(answer.id).kind == "message"
    assert bob.node.engine.answer_of(question.id) is None
    assert bob.node.engine.deliveries(question.id)[0].state == "notified"


def test_an_hours_quota_makes_the_rest_wait_and_never_loses_it(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger, limit = Forger(ada), Quotas().mail
    assert limit == 600
    forger.publish(*[forger.mail(bob, body=f"flood {n}") for n in range(limit + 5)])
    cy.send("human:bob", "meanwhile")
    cy.sync()
    bob.sync()
    assert len(bob.bodies()) == limit + 1
    assert "meanwhile" in bob.bodies()
    assert f"quota:{ada.me}" in bob.problems()
    bob.clock.ms += HOUR_MS
    bob.sync()
    assert len(bob.bodies()) == limit + 6
    assert f"quota:{ada.me}" not in bob.problems()


def test_mail_of_an_agent_is_kept_until_its_registration_can_be_read(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    forger.publish(forger.mail(bob, **{"from": "agent:ada/helper"}), forger.mail(bob, body="from a person"))
    bob.sync()
    assert bob.bodies() == ["from a person"]
    assert bob.count("parked") == 1


def test_an_op_of_a_type_this_build_does_not_know_is_verified_and_kept(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    forger.publish(forger.op("zebra", body={"stripes": 9}), forger.mail(bob, body="after it"))
    bob.sync()
    assert bob.bodies() == ["after it"]
    kept = bob.node.store.db.execute("SELECT line, settled FROM ops WHERE type = 'zebra'").fetchone()
    assert json.loads(kept[0])["body"] == {"stripes": 9}
    assert kept[1] == 0


def test_a_thread_that_began_where_nothing_leaves_takes_no_teammate_in(w: World) -> None:
    """A local-only root makes all of its thread local-only, both ways (F.5)."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    root = ada.send("agent:ada/overseer", "between us")
    with pytest.raises(DmpError) as refused:
        ada.send("human:bob", "he said", replyTo=root.id)
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "to[0]")
    assert ada.send("human:ada2", "for one of us", replyTo=root.id)
    forger = Forger(bob)
    forger.publish(forger.mail(ada, replyTo="m-unknown", thread=root.id))
    ada.sync()
    assert ada.inbox() == []
    assert "forbidden" in ada.problems()[f"mail-drop:{bob.me}"]


def test_another_hosts_system_address_takes_no_part_in_this_ones_notices(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob", "human:ada2")
    exchange(ada, bob)
    bob.answer(question, "yes")
    ada.send("human:bob", "I say no", kind="answer", replyTo=question.id, choice="no")
    exchange(bob, ada, bob)
    (told,) = [message for message in bob.inbox() if message.kind == "notice"]
    forger = Forger(bob)
    refs: list[JsonValue] = [{"type": "message", "id": told.id}]
    said: dict[str, JsonValue] = {"from": "agent:dispatch", "kind": "notice", "refs": refs}
    forger.publish(forger.mail(ada, **said, replyTo=told.id, thread=told.id))
    ada.sync()
    assert "not-found" in ada.problems()[f"mail-drop:{bob.me}"]


def test_a_stub_in_place_of_mail_is_remembered_and_filled_by_the_op_when_it_comes(w: World) -> None:
    """K2: a branch writer swaps mail for its stub; the publisher hears of it and publishes again."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "do not lose me")
    ada.sync()
    mail = next(entry for entry in reversed(ada.chain()) if entry.type == "mail")
    assert isinstance(mail, Op)
    lines = ada.lane()
    w.remote.roll_back()
    w.remote.put(ada.me, *lines[len(lines) :], to_line(mail.stub()))
    bob.sync()
    assert bob.bodies() == []
    assert f"missing:{ada.me}:{mail.seq}" in bob.problems()
    exchange(ada, bob)
    assert bob.bodies() == ["do not lose me"]
    assert bob.count("missing") == 0
    assert f"missing:{ada.me}:{mail.seq}" not in bob.problems()


def test_k6_answers_to_one_question_are_kept_up_to_a_cap(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    answers = [
        forger.mail(bob, kind="answer", replyTo="m-not-here", thread="m-not-here", body=f"candidate {number}")
        for number in range(MAX_ANSWERS + 50)
    ]
    forger.publish(*answers, forger.mail(bob, body="after the flood"))
    bob.sync()
    assert bob.bodies()[-1] == "after the flood"
    assert bob.count("messages") == MAX_ANSWERS + 1


def test_k6_refusals_repeated_for_ever_tell_the_sender_a_few_times(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    sent = ada.send("human:bob", "hello")
    exchange(ada, bob)
    forger = Forger(bob)
    refused: dict[str, JsonValue] = {"t": "refused", "message": sent.id, "reason": "no", "at": "now"}
    held: dict[str, JsonValue] = {
        "t": "delivery",
        "message": sent.id,
        "recipient": "human:bob",
        "state": "held",
        "at": "now",
    }
    forger.publish(*(forger.state(ada, refused, held) for _ in range(100)))
    ada.sync()
    assert len(ada.inbox()) <= NOTICES


def test_k2_a_teammate_cannot_make_an_op_be_published_again_without_end(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "hello")
    exchange(ada, bob)
    seq = next(entry.seq for entry in ada.chain() if entry.type == "mail")
    forger = Forger(bob)
    missing: dict[str, JsonValue] = {"t": "refused", "message": f"op-{seq}", "reason": "again", "at": "now"}
    for _ in range(2 * TIMES_AGAIN):
        forger.publish(forger.state(ada, missing))
        ada.sync()
    copies = sum(1 for line in ada.lane() if f'"seq":{seq},'.encode() in line)
    assert copies == 1 + TIMES_AGAIN
