"""A team at random: sends, questions, answers, closes and deaths in any order, then everyone syncs until quiet.

What must hold then does not depend on the order: whatever was stored at its origin is held by every replica it
went to, once, and by no other; every home delivered it; and no two replicas that hold a question and the
answer its settler accepted disagree about it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

import pytest

from core.errors import DmpError
from core.message import Message, Standing, State
from core.received import same_message
from core.store.messages import answers_to
from crypto.chain import Cursor
from crypto.key_claims import key_claims
from crypto.lane import read_lane
from replica.records import remote
from replica.shared.homes import homes
from replica.team import commands
from tests.replica.world import Machine, World, world
from transports.base import TransportError

STEPS = 70
ROUNDS = 12
"""Rounds of syncing within which a team of four has said everything."""


class DiedError(BaseException):
    """The machine died."""


@dataclass
class Fuse:
    """Lets a machine die at the commit that is so many from now, before it or after it."""

    left: int
    when: Literal["before", "after"]

    def __call__(self, _point: str, when: Literal["before", "after"]) -> None:
        if when == self.when:
            self.left -= 1
            if self.left == 0:
                raise DiedError


@dataclass
class Company:
    """Four machines of three people, and what chance makes them do."""

    w: World
    machines: list[Machine]
    random: Random
    said: int = field(default=0)

    def step(self) -> None:
        machine = self.random.choice(self.machines)
        machine.clock.ms += self.random.randrange(5_000)
        act = self.random.choices(
            [self.sync, self.send, self.ask, self.answer, self.reply, self.close, self.read],
            [8, 3, 3, 5, 2, 1, 2],
        )[0]
        if self.random.random() < 0.15:
            machine.node.store.observer = Fuse(
                self.random.randrange(1, 6), self.random.choice(("before", "after"))
            )
        if self.random.random() < 0.1:
            self.w.remote.reject_next(1)
        try:
            act(machine)
        except DiedError:
            self.reopen(machine)
        except (DmpError, TransportError):
            pass  # refused to its sender's face: nothing was said
        machine.node.store.observer = None

    def reopen(self, machine: Machine) -> None:
        again = self.w.open(machine.directory.root, machine.clock)
        machine.node.close()
        machine.node, machine.transport = again.node, again.transport

    def sync(self, machine: Machine) -> None:
        machine.sync()

    def send(self, machine: Machine) -> None:
        machine.send(self.people(machine), self.words())

    def ask(self, machine: Machine) -> None:
        machine.ask(*self.people(machine), body=self.words())

    def answer(self, machine: Machine) -> None:
        """Answer a question of the mailbox, to its sender and perhaps to others."""
        questions = [message for message in machine.inbox() if message.takes_answer]
        if questions:
            question = self.random.choice(questions)
            to = tuple({question.sender, *self.people(machine)} - {machine.node.address})
            choice = self.random.choice(("yes", "no"))
            machine.send(to, self.words(), kind="answer", replyTo=question.id, choice=choice)

    def reply(self, machine: Machine) -> None:
        messages = [message for message in machine.inbox() if message.sender.startswith("human:")]
        if messages:
            message = self.random.choice(messages)
            machine.send(message.sender, self.words(), replyTo=message.id)

    def close(self, machine: Machine) -> None:
        rows = machine.node.store.db.execute(
            "SELECT id FROM messages WHERE kind = 'question' AND origin IS NULL"
        )
        questions = [question for (question,) in rows]
        if questions:
            machine.node.engine.close(self.random.choice(questions), self.words())

    def read(self, machine: Machine) -> None:
        deliveries = [delivery for delivery, _ in machine.node.engine.inbox(machine.node.address)]
        if deliveries:
            machine.node.engine.mark_read(self.random.choice(deliveries).id)

    def people(self, machine: Machine) -> tuple[str, ...]:
        others = sorted({each.node.address for each in self.machines} - {machine.node.address})
        return tuple(self.random.sample(others, self.random.randint(1, len(others))))

    def words(self) -> str:
        self.said += 1
        return f"words {self.said}"

    def settle_down(self) -> None:
        """Everyone syncs until nobody has anything left to say."""
        for _ in range(ROUNDS):
            before = self.w.remote.tip
            for machine in self.random.sample(self.machines, len(self.machines)):
                machine.clock.ms = max(each.clock.ms for each in self.machines)
                machine.sync()
            if self.w.remote.tip == before:
                break
        else:
            pytest.fail("the team never comes to rest")
        for machine in self.machines:
            assert machine.count("outbox") == machine.count("unpublished") == machine.count("parked") == 0


def stored(machine: Machine) -> dict[str, Message]:
    """Every message a machine holds."""
    rows = machine.node.store.db.execute("SELECT id FROM messages")
    return {message_id: machine.message(message_id) for (message_id,) in rows.fetchall()}


def assert_everything_arrived_once(machines: list[Machine]) -> None:
    held = {machine.me: stored(machine) for machine in machines}
    for origin in machines:
        for message in held[origin.me].values():
            if message.origin is not None:
                assert message.id in held[message.origin] or message.data == close_data(message)
                continue
            readers = set(remote.readers_of(origin.node.store.db, message.id))
            for machine in machines:
                copy = held[machine.me].get(message.id)
                if machine.me in readers:
                    assert copy is not None, f"{message.body} is lost on its way to {machine.me}"
                    assert same_message(copy, message)
                    assert_delivered(machine, message, readers | {origin.me})
                elif machine is not origin:
                    assert copy is None or is_close(message), f"{message.body} leaked to {machine.me}"


def close_data(message: Message) -> object:
    return message.data if is_close(message) else None


def is_close(message: Message) -> bool:
    return message.sender == "agent:dispatch" and message.body.startswith("Closed: ")


def assert_delivered(machine: Machine, message: Message, reached: set[str]) -> None:
    """A machine has one delivery to its own person when that is a recipient, and a row for everyone else."""
    team = machine.node.team
    assert team is not None
    mine = [each.recipient for each in machine.node.engine.deliveries(message.id)]
    for address in message.to:
        at = homes(machine.node.store.db, team.view, address)
        assert mine.count(address) == int(machine.me in at)
        assert set(at) <= reached


def assert_reports_arrived(machines: list[Machine]) -> None:
    """The origin's remote row shows the furthest state that a home of the recipient has."""
    by_id = {machine.me: machine for machine in machines}
    for origin in machines:
        for message in stored(origin).values():
            if message.origin is not None:
                continue
            for row in remote.rows_of(origin.node.store.db, message.id):
                states = [
                    delivery.state
                    for home in row.homes
                    for delivery in by_id[home].node.engine.deliveries(message.id)
                    if delivery.recipient == row.recipient
                ]
                furthest = max(remote.RANK[state] for state in states)
                assert remote.RANK[row.state] == furthest


def assert_agreement(machines: list[Machine]) -> None:
    by_id = {machine.me: machine for machine in machines}
    for machine in machines:
        for question in stored(machine).values():
            if not question.takes_answer:
                continue
            settler = by_id[question.origin or machine.me]
            accepted = settler.node.engine.answer_of(question.id)
            here = machine.node.engine.answer_of(question.id)
            if accepted is None:
                assert here is None, "an answer the settler never saw"
                continue
            assert accepted.standing is Standing.ACCEPTED
            if machine.node.engine.message(accepted.id) is None:
                continue  # it went to others; the settlement waits for it here
            assert here is not None
            assert (here.id, here.standing) == (accepted.id, Standing.ACCEPTED)
            losers = [each for each in answers_to(machine.node.store.db, question.id) if each.id != here.id]
            assert {each.standing for each in losers} <= {Standing.SUPERSEDED}
            for delivery in machine.node.engine.deliveries(question.id):
                assert delivery.state is State.ANSWERED


def assert_chains_verify(machines: list[Machine]) -> None:
    for machine in machines:
        lines = machine.lane()
        (claim,) = key_claims(machine.me, lines)
        read = read_lane(machine.me, lines, Cursor(), claim.key)
        assert (read.cursor.halted, read.stall, read.gap) == (None, None, None)
        assert [entry.hash for entry in read.entries] == [entry.hash for entry in machine.chain()]


def company(w: World, random: Random) -> Company:
    """Ada with two machines, bob and cy."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    second = w.machine("ada", "ada-too")
    code = commands.invite(ada.pass_(), "ada")
    commands.join(second.pass_(), code.encode())
    machines = [ada, bob, cy, second]
    made = Company(w, machines, random)
    made.settle_down()
    assert all(len(machine.node.team.view.members) == 4 for machine in machines if machine.node.team)
    return made


@pytest.mark.parametrize("seed", range(10))
def test_a_team_at_random_loses_nothing_doubles_nothing_and_agrees(tmp_path: Path, seed: int) -> None:
    with world(tmp_path / "machines") as w:
        team = company(w, Random(seed))
        for _ in range(STEPS):
            team.step()
        team.settle_down()
        assert_everything_arrived_once(team.machines)
        assert_reports_arrived(team.machines)
        assert_agreement(team.machines)
        assert_chains_verify(team.machines)
