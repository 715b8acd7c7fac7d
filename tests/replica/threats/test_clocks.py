"""C2, C3: a clock that its author sets as it likes misorders nothing and wins nothing."""

import pytest

from crypto.clock import MAX_COUNTER
from replica.host import items
from replica.shared import runs
from tests.replica.forge import Forger
from tests.replica.shared.acts import edit_task, put_body, run_body, title_of
from tests.replica.world import START, World, exchange


def test_c2_a_counter_at_its_maximum_is_past_every_other_of_its_moment_and_stops_nobodys_edits(
    w: World,
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    made = forger.op("task", body=put_body("t-0000aa", "2026-09-21T14:13:20.000Z", title="counter 0"))
    forger.ms -= 1
    forger.counter = MAX_COUNTER
    last = forger.op("task", body=put_body("t-0000aa", title="the highest counter"))
    forger.publish(made, last)
    ada.clock.ms = last.hlc.ms
    ada.sync()
    assert title_of(ada) == "the highest counter"
    edit_task(ada, "task:t-0000aa", title="edited after it")
    ada.sync()
    assert ada.chain()[-1].hlc.key > last.hlc.key
    assert title_of(ada) == "edited after it"


@pytest.mark.parametrize(("one", "other"), [(9_999, 10_000), (2, 10), (99_999, 100_000)])
def test_c2_counters_are_compared_as_numbers_where_edits_meet(w: World, one: int, other: int) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    made = Forger(bob)
    first = made.op("task", body=put_body("t-0000aa", "2026-09-21T14:13:20.000Z", title="at first"))
    made.counter = one
    lower = made.op("task", body=put_body("t-0000aa", title="lower"))
    rival = Forger(cy)
    rival.ms, rival.counter = lower.hlc.ms, other
    higher = rival.op("task", body=put_body("t-0000aa", title="higher"))
    rival.publish(higher)
    ada.sync()
    made.publish(first, lower)
    ada.sync()
    assert title_of(ada) == "higher"


@pytest.mark.parametrize("backdated_first", [False, True])
def test_c3_a_backdated_claim_wins_no_session_whichever_came_first(w: World, backdated_first: bool) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    honest, thief = Forger(bob), Forger(cy)
    honest.ms += 60_000
    thief.ms = max(START, cy.chain()[-1].hlc.ms) + 1
    claim = honest.op("presence", body=run_body("r-0000aa", None))
    stolen = thief.op("presence", body=run_body("r-0000aa", None))
    assert stolen.hlc.key < claim.hlc.key
    for who, op in sorted(
        [(honest, claim), (thief, stolen)], key=lambda each: (each[0] is honest) is backdated_first
    ):
        who.publish(op)
        ada.sync()
    assert runs.binding(ada.node.store.db, "run:r-0000aa").contested


def test_c3_a_backdated_reply_is_shown_after_its_question_on_every_machine(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    question = ada.ask("human:bob")
    exchange(ada, bob)
    liar = Forger(bob)
    early = f"{START - 1_000_000}.0000.{bob.me}"
    liar.publish(
        liar.mail(
            ada, id="m-early", thread=question.thread, replyTo=question.id, body="said before", hlc=early
        )
    )
    ada.sync()
    assert [message.id for message in ada.node.engine.thread(question.thread)] == [question.id, "m-early"]


def test_c3_a_backdated_edit_loses_to_a_later_one_and_takes_nothing_back(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    made = forger.op("task", body=put_body("t-0000aa", "2026-09-21T14:13:20.000Z", title="at first"))
    old = forger.op("task", body=put_body("t-0000aa", title="backdated"))
    forger.publish(made)
    ada.clock.ms += 120_000
    ada.sync()
    edit_task(ada, "task:t-0000aa", title="ada's word")
    ada.sync()
    forger.publish(old)
    ada.sync()
    assert title_of(ada) == "ada's word"
    assert items.find(ada.node.store.db, "task:t-0000aa") is not None
