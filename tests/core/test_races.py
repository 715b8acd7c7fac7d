"""Two connections on one database, as two processes have them (section 6.3)."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from core.inputs import ReplyInput
from core.message import Message, State
from core.store import Store
from core.store.schema import MIGRATIONS
from tests.core.support import ADA, BOB, LATER_RUN, RUN, TASK, World, draft, world


def at_once(path: Path, *acts: Callable[[World], object]) -> list[object]:
    """Run each act on a host of its own in a thread of its own, all at the same time."""
    barrier, results = threading.Barrier(len(acts)), [object()] * len(acts)

    def run(index: int, act: Callable[[World], object]) -> None:
        one = world(path)
        barrier.wait()
        try:
            results[index] = act(one)
        except DmpError as error:
            results[index] = error.code
        finally:
            one.store.close()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("attempt", range(5))
def test_of_two_answers_at_once_one_is_the_answer_and_the_other_a_conflict(
    tmp_path: Path, attempt: int
) -> None:
    one = world(tmp_path / "dmp.db")
    question = one.engine.send(BOB, draft("human:ada", kind="question")).message
    results = at_once(
        tmp_path / "dmp.db",
        lambda host: host.engine.reply(ADA, question.id, ReplyInput("one")).message,
        lambda host: host.engine.close(question.id, "two"),
    )
    assert results.count(Code.CONFLICT) == 1
    assert one.engine.answer_of(question.id) in results
    one.store.close()


def test_of_two_sends_with_one_key_at_once_one_stores_and_the_other_replays(tmp_path: Path) -> None:
    world(tmp_path / "dmp.db").store.close()
    given = draft("human:ada", idempotency_key="k")
    sent = at_once(tmp_path / "dmp.db", *[lambda host: host.engine.send(BOB, given).message] * 3)
    assert len({message.id for message in sent if isinstance(message, Message)}) == 1


def test_ids_rise_in_creation_order_over_several_hosts_on_one_store(tmp_path: Path) -> None:
    def sends(host: World) -> None:
        for _ in range(20):
            host.engine.send(BOB, draft("human:ada", "human:eve"))

    world(tmp_path / "dmp.db").store.close()
    at_once(tmp_path / "dmp.db", *[sends] * 4)
    store = Store.open(tmp_path / "dmp.db", MIGRATIONS)
    for table in ("messages", "deliveries"):
        ids = [row[0] for row in store.db.execute(f"SELECT id FROM {table} ORDER BY position")]
        assert ids == sorted(set(ids))
    store.close()


def test_one_session_start_claims_a_delivery_and_the_other_finds_nothing(tmp_path: Path) -> None:
    one = world(tmp_path / "dmp.db")
    one.host.failing = {RUN}
    one.engine.send(ADA, draft(TASK))
    claims = at_once(
        tmp_path / "dmp.db", *[lambda host: len(host.engine.session_started(LATER_RUN, TASK))] * 2
    )
    assert sorted(claims, key=str) == [0, 1]
    one.store.close()


def test_a_delivery_another_process_moved_meanwhile_is_left_where_it_went(tmp_path: Path) -> None:
    one, other = world(tmp_path / "dmp.db"), world(tmp_path / "dmp.db")

    def pushes(session: str, message: Message) -> None:
        (delivery,) = other.engine.deliveries(message.id)
        other.engine.mark_read(delivery.id)

    one.host.push = pushes  # type: ignore[method-assign]
    (delivery,) = one.engine.send(ADA, draft(TASK)).deliveries
    assert delivery.state is State.READ
    one.store.close()
    other.store.close()


def test_several_hosts_may_create_one_store_at_once(tmp_path: Path) -> None:
    sent = at_once(tmp_path / "dmp.db", *[lambda host: host.engine.send(BOB, draft("human:ada")).message] * 4)
    assert all(isinstance(message, Message) for message in sent)
