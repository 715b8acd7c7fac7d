"""One answer to a question across replicas (section F.6)."""

import pytest

from core.errors import Code, DmpError
from core.message import Message, Standing, State
from crypto.canonical import JsonValue
from replica.mail.payloads import Settle
from replica.mail.settlement import MAX_EARLY_SETTLES, apply_settle
from replica.records.commits import CommitPoint
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange


def answer_to_all(machine: Machine, question: Message, choice: str, *to: str) -> Message:
    """Answer a question so that others of the thread hear it too."""
    return machine.send(to, f"I say {choice}", kind="answer", replyTo=question.id, choice=choice)


def standings(machine: Machine, question: str) -> dict[str, Standing | None]:
    """What became of each reply that was sent as an answer, by its body."""
    thread = machine.node.engine.thread(question)
    return {message.body: message.standing for message in thread if message.standing is not None}


def test_the_first_answer_at_the_origin_is_accepted_everywhere(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    answer = bob.answer(question, "yes")
    assert answer.standing is Standing.PENDING
    exchange(bob, ada)
    for machine in (ada, bob):
        found = machine.node.engine.answer_of(question.id)
        assert found is not None
        assert (found.id, found.choice, found.standing) == (answer.id, "yes", Standing.ACCEPTED)
    assert ada.row(question).state == "answered"


def test_a_question_to_two_takes_the_first_answer_to_arrive_and_the_other_becomes_a_reply(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    bob.answer(question, "yes")
    answer_to_all(cy, question, "no", "human:ada", "human:bob")
    cy.sync()
    ada.sync()  # cy's answer arrives first
    bob.sync()
    exchange(ada, bob, cy)
    expected = {"I say no": Standing.ACCEPTED, "I say yes": Standing.SUPERSEDED}
    assert standings(ada, question.id) == expected
    assert standings(bob, question.id) == expected
    assert standings(cy, question.id) == {"I say no": Standing.ACCEPTED}  # bob's was for ada alone
    assert ada.node.engine.deliveries(question.id) == []


def test_a_late_answers_author_is_told_it_was_kept_as_a_reply(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    bob.answer(question, "yes")
    cy.answer(question, "no")
    cy.sync()
    ada.sync()
    bob.sync()
    exchange(ada, bob, cy)
    told = [message for message in bob.inbox() if message.kind == "notice"]
    assert len(told) == 1
    assert "already answered" in told[0].body
    assert told[0].sender == "agent:dispatch"
    assert told[0].origin == ada.me


def test_a_second_local_answer_is_a_conflict_while_the_first_is_pending(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    bob.answer(question, "yes")
    with pytest.raises(DmpError) as refused:
        bob.answer(question, "no")
    assert (refused.value.code, refused.value.field) == (Code.CONFLICT, "replyTo")


def test_an_answer_at_the_origin_beats_one_that_was_pending_elsewhere(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob", "human:ada2")
    exchange(ada, bob)
    bob.answer(question, "yes")
    answer_to_all(ada, question, "no", "human:bob")  # before bob's answer arrives
    exchange(bob, ada)
    for machine in (ada, bob):
        assert standings(machine, question.id) == {
            "I say no": Standing.ACCEPTED,
            "I say yes": Standing.SUPERSEDED,
        }


def test_a_settle_before_its_answer_waits_for_it_and_supersedes_nothing(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    cy_answer = answer_to_all(cy, question, "no", "human:ada", "human:bob")
    bob_answer = bob.answer(question, "yes")
    with bob.node.store.transaction(CommitPoint.APPLIED) as db:
        apply_settle(db, bob.node, ada.me, Settle(question.id, cy_answer.id, None), "0" * 64)
    assert standings(bob, question.id) == {"I say yes": Standing.PENDING}
    cy.sync()
    bob.sync()
    assert standings(bob, question.id) == {"I say no": Standing.ACCEPTED, "I say yes": Standing.SUPERSEDED}
    assert bob.message(bob_answer.id).kind == "message"


def test_a_local_answer_to_a_question_known_to_be_settled_is_a_conflict(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    cy.answer(question, "no")  # to ada alone: bob hears of the settlement, not of the answer
    exchange(cy, ada, bob)
    with pytest.raises(DmpError) as refused:
        bob.answer(question, "yes")
    assert (refused.value.code, refused.value.field) == (Code.CONFLICT, "replyTo")
    assert bob.node.engine.answer_of(question.id) is None


def test_an_answer_after_a_settle_that_names_another_is_a_reply_at_once(w: World) -> None:
    """Which of the two comes first does not matter: the settler's choice is known (9.F3)."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    late = answer_to_all(cy, question, "no", "human:ada", "human:bob")
    with bob.node.store.transaction(CommitPoint.APPLIED) as db:
        apply_settle(db, bob.node, ada.me, Settle(question.id, "m-another", None), "0" * 64)
    cy.sync()
    bob.sync()
    assert bob.message(late.id).kind == "message"
    assert bob.node.engine.answer_of(question.id) is None


def test_answers_before_their_question_are_checked_against_it_when_it_comes(w: World) -> None:
    """The first that passes is the answer, and one that is none of the choices waits for the settler (9.F4)."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    question = ada.ask("human:bob", "human:cy")
    asked: dict[str, JsonValue] = {
        "kind": "answer",
        "replyTo": question.id,
        "thread": question.thread,
        "body": "so",
    }
    forger = Forger(cy)
    forger.publish(*[forger.mail(bob, **{**asked, "choice": choice}) for choice in ("perhaps", "no", "yes")])
    bob.sync()
    assert bob.node.engine.answer_of(question.id) is not None  # kept, though nothing of the question is here
    exchange(ada, bob)
    answers = sorted(
        (message.choice or "", str(message.standing))
        for message in bob.node.engine.thread(question.thread)
        if message.reply_to == question.id
    )
    assert answers == [("no", "pending"), ("perhaps", "candidate"), ("yes", "candidate")]


def test_a_settle_before_its_question_is_applied_when_the_question_comes(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    with bob.node.store.transaction(CommitPoint.APPLIED) as db:
        apply_settle(db, bob.node, ada.me, Settle(question.id, "m-close", "not needed any more"), "0" * 64)
    exchange(ada, bob)
    answer = bob.node.engine.answer_of(question.id)
    assert answer is not None
    assert answer.body == "Closed: not needed any more"
    assert bob.node.engine.deliveries(question.id)[0].state is State.ANSWERED


def test_only_the_settler_is_believed(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    mine = bob.answer(question, "yes")
    for machine in (ada, bob):
        with machine.node.store.transaction(CommitPoint.APPLIED) as db:
            assert not apply_settle(db, machine.node, cy.me, Settle(question.id, mine.id, None), "0" * 64)
        assert f"message:{question.id}" in machine.problems()
    assert bob.message(mine.id).standing is Standing.PENDING


def test_a_close_by_the_settler_closes_it_everywhere(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    ada.node.engine.close(question.id, "the session ended")
    exchange(ada, bob)
    answer = bob.node.engine.answer_of(question.id)
    assert answer is not None
    assert (answer.body, answer.origin) == ("Closed: the session ended", ada.me)
    assert bob.node.engine.deliveries(question.id)[0].state is State.ANSWERED


def test_a_replica_that_is_not_the_origin_cannot_close(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    with pytest.raises(DmpError) as refused:
        bob.node.engine.close(question.id, "I do not like it")
    assert refused.value.code is Code.FORBIDDEN


def test_k6_settles_of_unknown_questions_are_kept_up_to_a_cap(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    with bob.node.store.transaction(CommitPoint.APPLIED) as db:
        for number in range(MAX_EARLY_SETTLES + 200):
            apply_settle(db, bob.node, ada.me, Settle(f"m-{number}", "m-answer", None), "0" * 64)
    assert bob.count("early_settles") == MAX_EARLY_SETTLES
