"""Two processes of two threads on one store, for half a minute: nothing is lost, doubled or out of order."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from tests.core.hammer import CHANNEL, MAILBOXES, Hammer

SECONDS = 30

TRANSITIONS = {  # section 6.1
    ("sending", "pushed"),
    ("sending", "notified"),
    ("sending", "held"),
    ("held", "sending"),
    *((before, "read") for before in ("held", "sending", "pushed", "notified")),
    *((before, "answered") for before in ("held", "sending", "pushed", "notified", "read")),
}


@pytest.fixture(scope="module")
def hammered(tmp_path_factory: pytest.TempPathFactory) -> "tuple[Hammer, list[dict[str, object]]]":
    """The store after the hammering, and what its processes were told."""
    folder = tmp_path_factory.mktemp("hammer")
    path = folder / "dmp.db"
    one = Hammer(path, "parent")
    for member in MAILBOXES:
        one.engine.join(CHANNEL, member)
    logs = [folder / f"{number}.jsonl" for number in range(2)]
    command = [sys.executable, "-m", "tests.core.hammer", str(path)]
    processes = [
        subprocess.Popen([*command, str(log), str(SECONDS)], stderr=subprocess.PIPE, text=True)
        for log in logs
    ]
    for process in processes:
        _, errors = process.communicate(timeout=SECONDS + 120)
        assert process.returncode == 0, errors
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    return one, lines


def test_every_question_has_one_answer_and_its_deliveries_are_answered(
    hammered: "tuple[Hammer, list[dict[str, object]]]",
) -> None:
    one, told = hammered
    answers = {line["answered"]: line["by"] for line in told if "answered" in line}
    assert len(answers) == sum("answered" in line for line in told), "two callers were told of one question"
    assert len(answers) > 20
    for question, answer in answers.items():
        found = one.engine.answer_of(str(question))
        assert found is not None
        assert found.id == answer
        assert {each.state for each in one.engine.deliveries(str(question))} <= {"answered"}
    open_ones = {message.id for message in one.engine.open_blocking()}
    assert not open_ones & answers.keys()


def test_every_transition_is_one_the_table_allows(
    hammered: "tuple[Hammer, list[dict[str, object]]]",
) -> None:
    seen = set(hammered[0].store.db.execute("SELECT DISTINCT before, after FROM transitions"))
    assert seen <= TRANSITIONS
    assert {("held", "sending"), ("sending", "pushed"), ("sending", "notified")} <= seen


def test_no_delivery_is_lost_or_doubled(hammered: "tuple[Hammer, list[dict[str, object]]]") -> None:
    one, told = hammered
    sent = [line for line in told if "sent" in line]
    assert len(sent) > 100
    for line in sent:
        stored = sorted(each.recipient for each in one.engine.deliveries(str(line["sent"])))
        assert stored == line["recipients"]
    known = {line["sent"] for line in sent} | {line["by"] for line in told if "answered" in line}
    stored_ids = {str(row[0]) for row in one.store.db.execute("SELECT id FROM messages")}
    assert stored_ids == known


def test_no_message_is_handed_to_a_session_twice(hammered: "tuple[Hammer, list[dict[str, object]]]") -> None:
    one, told = hammered
    handed = Counter(str(line["handed"]) for line in told if "handed" in line)
    bound = Counter(
        str(message)
        for (message,) in one.store.db.execute(
            "SELECT message FROM deliveries WHERE recipient LIKE 'task:%' OR recipient LIKE 'run:%'"
        )
    )
    assert all(count <= bound[message] for message, count in handed.items())
    pushed = one.store.db.execute("SELECT message FROM deliveries WHERE state = 'pushed'").fetchall()
    assert {str(message) for (message,) in pushed} <= handed.keys()


def test_every_gate_that_was_answered_had_its_effect(
    hammered: "tuple[Hammer, list[dict[str, object]]]",
) -> None:
    one, told = hammered
    one.engine.recover()  # of what the deadline interrupted
    effects = {line["effect"] for line in told if "effect" in line}
    decided = [
        gate
        for (gate,) in one.store.db.execute(
            "SELECT gate.id FROM messages AS gate JOIN messages AS answer ON answer.reply_to = gate.id"
            " WHERE gate.sender = 'agent:dispatch' AND answer.kind = 'answer' AND answer.sender LIKE 'human:%'"
        )
    ]
    assert len(decided) > 5
    assert set(decided) <= effects


def test_recovery_leaves_nothing_in_between(hammered: "tuple[Hammer, list[dict[str, object]]]") -> None:
    one, _ = hammered
    one.engine.recover()
    assert one.store.db.execute("SELECT count(*) FROM deliveries WHERE state = 'sending'").fetchone() == (0,)
