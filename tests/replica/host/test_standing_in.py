"""A machine that stands in for somebody: it reads their mail, and writes in their name (section F.3)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import DmpError
from core.inputs import ReplyInput, Sender, SendInput
from replica.host import principals
from replica.team import commands
from tests.replica.world import World, exchange, world


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def test_whoever_a_machine_stands_in_for_reads_and_answers_there(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_hosts(ada.pass_(), bob.me, ["carol"])
    exchange(ada, bob)
    asked = ada.node.engine.send(
        principals.sender(ada.node, None), SendInput(("human:carol",), "question", "Lunch?", choices=("yes",))
    ).message
    exchange(ada, bob)
    assert principals.mailboxes(bob.node, "human:carol") == ("human:carol",)
    carol = principals.correspondent(bob.node, "human:carol")
    answer = bob.node.engine.reply(carol, asked.id, ReplyInput("", choice="yes")).message
    exchange(ada, bob)
    settled = ada.node.engine.answer_of(asked.id)
    assert settled is not None
    assert (settled.id, settled.sender) == (answer.id, "human:carol")


def test_they_decide_nothing_there_and_change_no_memory_or_document(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_hosts(ada.pass_(), bob.me, ["carol"])
    exchange(ada, bob)
    assert principals.correspondent(bob.node, "human:carol") == Sender("human:carol", can_decide=False)
    with pytest.raises(DmpError, match="send as yourself"):
        principals.sender(bob.node, "human:carol")


def test_when_a_machine_stands_in_no_more_it_is_nobody_else_again(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    commands.set_hosts(ada.pass_(), bob.me, ["carol"])
    exchange(ada, bob)
    commands.set_hosts(ada.pass_(), bob.me, [], ["carol"])
    exchange(ada, bob)
    with pytest.raises(DmpError, match="send as yourself"):
        principals.correspondent(bob.node, "human:carol")
    with pytest.raises(DmpError, match="the mail of others"):
        principals.mailboxes(bob.node, "human:carol")
