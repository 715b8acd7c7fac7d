"""A wake that a client asks for: the host's policy decides, and the owner where it asks."""

import asyncio
from pathlib import Path

import pytest

from bindings.instance_routing import desk, waking
from bindings.instance_routing.extension import URI
from bindings.instance_routing.request import read
from bindings.instance_routing.tasks import Task
from core.gate_data import data_type
from core.inputs import ReplyInput, Sender
from core.message import Message
from replica.host import items
from replica.node import opened
from replica.records.commits import CommitPoint
from tests.bindings.instance_routing.gateway import (
    ACME,
    HEADERS,
    Machine,
    a_request,
    run,
    served,
)


def with_item(ada: Machine, status: str = "ready") -> str:
    """The work item that the instance's wakes are for now."""
    with ada.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        item = items.add(
            db, ada.node.random, {"title": "Scribble", "status": status}, now=ada.node.now()
        ).address
    ada.expose(wakes=item)
    return item


def configure(ada: Machine, text: str) -> None:
    (ada.root / "config.toml").write_text(text)
    ada.node.host._config = None  # as a process that starts now has it


def sent(ada: Machine, mode: str = "wake", id_: str = "m1") -> Task:
    request = read(a_request(ada.scribe.id, id_=id_, deliveryMode=mode), {URI})
    return desk.send(ada.node, ACME, request)


def told(ada: Machine, task: Task) -> str:
    shown = desk.show(ada.node, ACME, task.id, {})
    status = shown["status"]
    assert isinstance(status, dict)
    message = status["message"]
    assert isinstance(message, dict)
    parts = message["parts"]
    assert isinstance(parts, list)
    part = parts[0]
    assert isinstance(part, dict)
    return str(part["text"])


def gates(ada: Machine) -> list[Message]:
    found = [ada.node.engine.message(each) for each in ada.node.engine.open_gates()]
    return [each for each in found if each is not None and data_type(each.data) == "wake"]


def command(tmp_path: Path, *, fails: bool = False) -> tuple[str, Path]:
    """A wake command that writes down whom it is to wake."""
    log = tmp_path / "woken"
    end = "; echo no room >&2; exit 1" if fails else ""
    return f"wake.command = \"echo $DMP_TARGET $DMP_MESSAGE >> '{log}'{end}\"\n", log


def test_a_message_to_the_inbox_asks_for_no_wake(ada: Machine) -> None:
    with_item(ada)
    sent(ada, "inbox")
    assert not waking.look(ada.node)


def test_a_message_itself_never_asks_the_core_for_a_wake(ada: Machine) -> None:
    with_item(ada)
    assert sent(ada).root.wake == "none"


def test_an_instance_that_its_owner_let_nobody_wake_is_not_woken_and_keeps_its_mail(ada: Machine) -> None:
    task = sent(ada)
    assert waking.look(ada.node)
    assert "Waking it is not allowed." in told(ada, task)
    assert gates(ada) == []
    assert len(ada.inbox()) == 1


def test_where_the_policy_asks_the_owner_has_a_gate_once(ada: Machine) -> None:
    item = with_item(ada)
    task = sent(ada)
    assert waking.look(ada.node)
    assert not waking.look(ada.node)
    (gate,) = gates(ada)
    assert gate.data == {"type": "wake", "target": item, "message": task.root.id}
    assert gate.to == ("human:ada",)
    assert "Its owner is asked whether to wake it." in told(ada, task)


@pytest.mark.parametrize(("choice", "said"), [("approve", "It was woken."), ("deny", "not allowed")])
def test_what_the_owner_decides_is_done_and_told(
    ada: Machine, tmp_path: Path, choice: str, said: str
) -> None:
    line, log = command(tmp_path)
    configure(ada, line)
    with_item(ada)
    task = sent(ada)
    waking.look(ada.node)
    (gate,) = gates(ada)
    ada.node.engine.reply(Sender("human:ada", can_decide=True), gate.id, ReplyInput("", choice=choice))
    assert log.exists() is (choice == "approve")
    assert said in told(ada, task)


def test_where_the_policy_allows_it_the_command_is_run_once(ada: Machine, tmp_path: Path) -> None:
    line, log = command(tmp_path)
    configure(ada, line + 'wake.policy = "allow"\n')
    item = with_item(ada)
    task = sent(ada)
    sent(ada)
    while waking.look(ada.node):
        pass
    assert log.read_text() == f"{item} {task.root.id}\n"
    assert "It was woken." in told(ada, task)


def test_a_wake_that_does_not_work_is_told_without_the_hosts_words(ada: Machine, tmp_path: Path) -> None:
    line, _ = command(tmp_path, fails=True)
    configure(ada, line + 'wake.policy = "allow"\n')
    with_item(ada)
    task = sent(ada)
    waking.look(ada.node)
    assert told(ada, task).endswith("It could not be woken.")


def test_a_work_item_that_is_over_is_woken_for_nobody(ada: Machine) -> None:
    with_item(ada, "landed")
    task = sent(ada)
    waking.look(ada.node)
    assert "not allowed" in told(ada, task)
    assert gates(ada) == []


def test_nobody_is_woken_for_a_task_that_is_over(ada: Machine) -> None:
    with_item(ada)
    task = sent(ada)
    desk.cancel(ada.node, ACME, task.id)
    assert waking.look(ada.node)
    assert gates(ada) == []


def test_the_running_gateway_looks_at_wakes_also_at_those_of_before(ada: Machine) -> None:
    with_item(ada)
    sent(ada)

    async def work() -> None:
        async with served(ada) as gateway:
            await gateway.client().send(
                a_request(ada.scribe.id, id_="m2", deliveryMode="wake"), headers=HEADERS
            )
            with opened(ada.root) as node:
                while len(node.engine.open_gates()) < 2:
                    await asyncio.sleep(0.01)

    run(work())
