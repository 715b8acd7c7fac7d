"""Processes that dispatch at the same time: threads that race, and a real process that is killed (5.5, 6.3)."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from core.message import Message, State
from tests.core.support import ADA, TASK, World, draft, world
from tests.core.test_gates import raise_wake
from tests.core.test_owners import DENY, Named, pushed, reaches_nothing
from tests.core.test_voiding import answered_gate


class Pids:
    """Real processes: a name is a process id that nobody reuses in the length of a test."""

    def me(self) -> str:
        return str(os.getpid())

    def lives(self, name: str) -> bool:
        try:
            os.kill(int(name), 0)
        except ProcessLookupError:
            return False
        return True


@pytest.mark.parametrize("attempt", range(3))
def test_threads_that_take_up_the_same_mail_push_each_of_it_once(tmp_path: Path, attempt: int) -> None:
    path, living = tmp_path / "dmp.db", set[str]()
    sender = world(path, dispatchers=Named("sender", living))
    reaches_nothing(sender)
    ids = {sender.engine.send(ADA, draft(TASK, body=str(n))).message.id for n in range(20)}
    barrier, results = threading.Barrier(3), list[list[str]]()

    def takes(name: str) -> None:
        one = world(path, dispatchers=Named(name, living))
        barrier.wait()
        while one.engine.dispatch_waiting() or one.engine.recover().retried:
            pass
        results.append(pushed(one))
        one.store.close()

    threads = [threading.Thread(target=takes, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(message for found in results for message in found) == sorted(ids)
    states = sender.store.db.execute("SELECT DISTINCT state, owner FROM deliveries").fetchall()
    assert states == [("pushed", None)]
    sender.store.close()


@pytest.mark.parametrize("attempt", range(3))
def test_threads_that_answer_and_recover_at_once_apply_each_effect_once(tmp_path: Path, attempt: int) -> None:
    path, living = tmp_path / "dmp.db", set[str]()
    first = world(path, dispatchers=Named("first", living), owner="human:ada")
    gates = [raise_wake(first).id for _ in range(10)]
    barrier, calls = threading.Barrier(3), list[str]()

    def process(name: str, act: Callable[[World], object]) -> None:
        one = world(path, dispatchers=Named(name, living), owner="human:ada")
        one.host.apply_effect = lambda gate, answer: calls.append(gate.id)  # type: ignore[method-assign]
        barrier.wait()
        act(one)
        one.store.close()

    def answers(one: World) -> None:
        for gate in gates:
            one.engine.reply(ADA, gate, DENY)

    def recovers(one: World) -> None:
        while len(one.engine.effects_applied()) < len(gates):
            one.engine.recover()

    acts = {"answers": answers, "recovers": recovers, "recovers too": recovers}
    threads = [threading.Thread(target=process, args=each) for each in acts.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(calls) == sorted(gates)
    first.store.close()


@pytest.mark.parametrize("attempt", range(3))
def test_threads_that_find_one_answer_to_set_aside_do_it_once(tmp_path: Path, attempt: int) -> None:
    path, living = tmp_path / "dmp.db", set[str]()
    first = world(path, dispatchers=Named("first", living), owner="human:owner")
    answered_gate(first)
    barrier, voided = threading.Barrier(3), list[int]()

    def recovers(name: str) -> None:
        one = world(path, dispatchers=Named(name, living), owner="human:owner")
        barrier.wait()
        voided.append(one.engine.recover().voided)
        one.store.close()

    threads = [threading.Thread(target=recovers, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(voided) == [0, 0, 1]
    assert len(first.engine.inbox("human:owner")) == 1
    first.store.close()


def _pushes_and_hangs(path: Path, pipe: Connection) -> None:
    """A process that takes up what waits, says so in the middle of its push, and stays there until it is told."""
    one = world(path, dispatchers=Pids())

    def push(session: str, message: Message) -> None:
        pipe.send(message.id)
        pipe.recv()

    one.host.push = push  # type: ignore[method-assign]
    one.engine.dispatch_waiting()
    one.store.close()


@pytest.mark.parametrize("ends", ["killed", "well"])
def test_a_real_process_keeps_its_delivery_while_it_lives_and_loses_it_when_it_is_killed(
    tmp_path: Path, ends: str
) -> None:
    path = tmp_path / "dmp.db"
    one = world(path, dispatchers=Pids())
    reaches = one.host.reaches
    reaches_nothing(one)
    message = one.engine.send(ADA, draft(TASK)).message
    one.host.reaches = reaches  # type: ignore[method-assign]
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_pushes_and_hangs, args=(path, there))
    process.start()
    try:
        assert here.recv() == message.id
        assert one.engine.dispatch_waiting() == ()
        assert one.engine.recover().retried == 0
        if ends == "killed":
            process.kill()
        else:
            here.send("go on")
        process.join()
        assert one.engine.recover().retried == (ends == "killed")
        assert len(pushed(one)) == (ends == "killed")
        assert one.engine.deliveries(message.id)[0].state is State.PUSHED
    finally:
        process.kill()
        process.join()
        process.close()
        here.close()
        there.close()
        one.store.close()
