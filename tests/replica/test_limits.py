"""What one publisher, or whoever can write to the branch, can cost the others (K6)."""

from pathlib import Path

import pytest

from core.errors import Code, DmpError
from core.message import Standing
from crypto.canonical import JsonValue
from crypto.op import MAX_OP_BYTES, ZERO_HASH, Op
from replica.chain.quotas import HOUR_MS, Quotas
from replica.host.config import Config
from replica.mail.payloads import MAX_TEXT, Settle
from replica.mail.settlement import MAX_ANSWERS, MAX_EARLY_SETTLES, apply_settle
from replica.records import problems
from replica.records.commits import CommitPoint
from tests.replica.forge import Forger
from tests.replica.test_settlement import answer_to_all
from tests.replica.test_team import rival_claim
from tests.replica.world import Machine, World, exchange

AT = "2026-09-21T14:13:20.000Z"


def test_k6_one_publishers_answers_do_not_crowd_out_anothers(w: World) -> None:
    ada, bob, cy, mallory = w.team("ada", "bob", "cy", "mallory")
    question = ada.ask("human:bob", "human:cy", "human:mallory")
    exchange(ada, bob, cy, mallory)
    forger = Forger(mallory)
    flood: dict[str, JsonValue] = {
        "kind": "answer",
        "replyTo": question.id,
        "thread": question.id,
        "choice": "no",
    }
    forger.publish(*(forger.mail(bob, **flood) for _ in range(MAX_ANSWERS + 50)))
    bob.sync()
    assert len([each for each in bob.inbox() if each.origin == mallory.me]) == MAX_ANSWERS
    accepted = answer_to_all(cy, question, "yes", "human:ada", "human:bob")
    cy.sync()
    exchange(ada, bob)
    assert bob.message(accepted.id).standing is Standing.ACCEPTED


def test_k6_closes_repeated_for_ever_are_kept_up_to_a_cap(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    forger = Forger(ada)
    closes: list[dict[str, JsonValue]] = [
        {"t": "settle", "question": question.id, "answer": f"m-{n}", "closed": "again", "at": AT}
        for n in range(300)
    ]
    forger.publish(forger.state(bob, *closes))
    bob.sync()
    assert bob.count("messages") <= 1 + MAX_ANSWERS
    answer = bob.node.engine.answer_of(question.id)
    assert answer is not None


def test_k6_settles_of_unknown_questions_give_way_to_later_ones(w: World) -> None:
    """Settlements of questions that went to others come without end from an honest settler too."""
    ada, bob = w.team("ada", "bob")
    with bob.node.store.transaction(CommitPoint.APPLIED) as db:
        for number in range(MAX_EARLY_SETTLES + 5):
            apply_settle(db, bob.node, ada.me, Settle(f"m-{number:06}", "m-answer", None), "0" * 64)
    kept = [
        row[0] for row in bob.node.store.db.execute("SELECT question FROM early_settles ORDER BY question")
    ]
    assert kept[0] == "m-000005"
    assert len(kept) == MAX_EARLY_SETTLES


def names_many(forger: Forger, to: Machine, count: int) -> None:
    """Publish a message to `to` that names so many recipients nobody homes."""
    payload = forger.payload(to)
    payload["targets"] = [
        {"recipient": f"human:nobody{n}", "via": "channel", "homes": []} for n in range(count)
    ]
    forger.publish(forger.op("mail", payload=payload, to=(to,)))


def set_quotas(machine: Machine, quotas: Quotas) -> None:
    """Give a machine these quotas, as its owner's configuration would."""
    machine.node.host._config = Config(quotas=quotas)


def test_k6_recipients_are_taken_in_up_to_an_hours_quota(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    set_quotas(bob, Quotas(recipients=1_000))
    forger = Forger(ada)
    for _ in range(5):
        names_many(forger, bob, 400)
    cy.send("human:bob", "meanwhile")
    cy.sync()
    bob.sync()
    assert bob.count("remote_rows") <= 1_000
    assert f"quota:{ada.me}" in bob.problems()
    assert bob.bodies() == ["meanwhile"]
    bob.clock.ms += HOUR_MS
    bob.sync()
    assert bob.count("messages") == 5


def test_a_message_of_more_recipients_than_an_hours_quota_waits_for_the_next_hour_alone(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    set_quotas(bob, Quotas(recipients=10))
    forger = Forger(ada)
    forger.publish(forger.mail(bob))
    names_many(forger, bob, 20)
    bob.sync()
    assert bob.count("messages") == 1
    bob.clock.ms += HOUR_MS
    bob.sync()
    assert bob.count("messages") == 2


def test_quotas_may_be_turned_off(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    set_quotas(bob, Quotas(mail=None, recipients=None))
    forger = Forger(ada)
    forger.publish(*(forger.mail(bob) for _ in range(700)))
    bob.sync()
    assert bob.count("messages") == 700
    assert not bob.problems()
    assert bob.count("quotas WHERE kind <> 'state'") == 0


def test_k6_shared_state_is_taken_in_up_to_an_hours_quota_and_the_rest_waits(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    set_quotas(bob, Quotas(shared=20))
    forger = Forger(ada)
    forger.publish(*work_items(forger, 30), forger.mail(bob, body="after the flood"))
    bob.sync()
    assert bob.count("task_origins") == 20
    assert "shared state" in bob.problems()[f"quota:{ada.me}"]
    cy.send("human:bob", "meanwhile")
    cy.sync()
    bob.sync()
    assert (bob.count("task_origins"), bob.bodies()) == (20, ["meanwhile"])
    bob.clock.ms += HOUR_MS
    bob.sync()
    assert bob.count("task_origins") == 30
    assert sorted(bob.bodies()) == ["after the flood", "meanwhile"]
    assert f"quota:{ada.me}" not in bob.problems()


def test_shared_state_from_before_a_machine_came_is_taken_in_whole(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(*work_items(forger, 30))
    ada.sync()
    cy = w.machine("cy")
    set_quotas(cy, Quotas(shared=20))
    w.admit(ada, cy)
    assert cy.count("task_origins") == 30
    forger.publish(*work_items(forger, 30, start=30))
    cy.sync()
    assert cy.count("task_origins") == 50


def work_items(forger: Forger, count: int, start: int = 0) -> list[Op]:
    """Ops that make so many work items."""
    made = "2026-09-21T14:13:20.000Z"
    bodies: list[JsonValue] = [
        {"task": f"t-{number:06x}", "kind": "put", "origin": made, "fields": {}}
        for number in range(start, start + count)
    ]
    return [forger.op("task", body=body) for body in bodies]


def test_k6_problems_of_one_replica_leave_room_for_anothers(w: World) -> None:
    (ada,) = w.team("ada")
    with ada.node.store.transaction(CommitPoint.PROBLEM) as db:
        for number in range(5_000):
            problems.note(db, problems.Problem(f"op:x-0000000a:{number}", "parked", "x-0000000a", number))
        problems.note(db, problems.Problem("op:bob-0000000b:1", "parked", "bob-0000000b", 1))
    assert len(ada.problems()) == problems.MAX_PER_REPLICA + 1
    assert "op:bob-0000000b:1" in ada.problems()


def test_k6_strangers_lanes_are_one_problem_however_many_they_are(w: World, tmp_path: Path) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    for number in range(30):
        stranger = f"x-{number:08x}"
        junk = f'{{"replica":"{stranger}","seq":2,"prev":"{ZERO_HASH}","type":"mail"}}'.encode()
        w.remote.put(stranger, b"no line", junk, rival_claim(tmp_path, stranger))
    forger = Forger(bob)
    forger.op("task", body={})
    forger.publish(forger.op("task", body={}))
    for _ in range(5):
        ada.sync()
    of_strangers = [subject for subject in ada.problems() if "x-0000" in subject or "strangers" in subject]
    assert of_strangers == ["transport:strangers"]
    assert f"halt:{bob.me}" in ada.problems()


def test_a_close_that_no_teammate_could_read_is_refused(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    question = ada.ask("human:bob")
    with pytest.raises(DmpError) as refused:
        ada.node.engine.close(question.id, "x" * (MAX_TEXT + 1))
    assert (refused.value.code, refused.value.field) == (Code.INVALID, "reason")
    alone = ada.send("human:ada2", "Only me?", kind="question")
    ada.node.engine.close(alone.id, "x" * (MAX_TEXT + 1))


def test_reports_too_long_for_one_op_go_out_in_several(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    questions = [ada.ask("human:bob") for _ in range(60)]
    exchange(ada, bob)
    for question in questions:
        ada.node.engine.close(question.id, "\x01" * MAX_TEXT)
    exchange(ada, bob)
    assert all(bob.node.engine.answer_of(question.id) for question in questions)
    assert all(len(line) <= MAX_OP_BYTES for line in ada.lane())


def test_a_message_that_fits_no_op_is_refused_and_holds_up_nothing(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    monkeypatch.setattr("crypto.op.MAX_OP_BYTES", 8_000)
    large = ada.send("human:bob", "x" * 10_000)
    ada.send("human:bob", "small")
    exchange(ada, bob)
    assert bob.bodies() == ["small"]
    assert ada.row(large).state == "refused"
    assert [message.kind for message in ada.inbox()] == ["notice"]
