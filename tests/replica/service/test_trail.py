"""The trail tells of every roster change, refusal and halt, also of what is over, and of nobody's mail."""

from replica.records import problems, subjects
from replica.records.commits import CommitPoint
from replica.records.problems import Problem
from replica.service.trail import Entry, Event, entries
from replica.team import commands
from tests.replica.world import Machine, World, exchange


def told(machine: Machine, event: Event) -> list[Entry]:
    return [each for each in entries(machine.node) if each.event is event]


def note(
    machine: Machine, text: str, kind: subjects.Kind = subjects.HALT, at: str = "2026-01-01T00:00:00.000Z"
) -> None:
    with machine.node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, Problem(kind.of("bob-00000000"), text, "bob-00000000", 3, at))


def test_every_roster_change_is_told_in_words_with_who_made_it(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    commands.revoke(ada.pass_(), cy.me, "laptop lost")
    exchange(ada, bob)
    texts = [each.text for each in told(bob, Event.ROSTER)]
    ours = f"ada's ada-laptop ({ada.me})"
    assert texts[0] == f"{ours} founded the team “Orchard”"
    assert f"{ours} let {bob.me} in, of bob, as member" in texts
    assert any(f"{ours} revoked cy's cy-laptop ({cy.me}) after its op" in each for each in texts)
    assert texts[-1].endswith("“laptop lost”")
    assert texts == [each.text for each in told(ada, Event.ROSTER)]


def test_a_problem_is_told_when_it_comes_when_it_changes_and_when_it_is_over(w: World) -> None:
    (ada,) = w.team("ada")
    note(ada, "its chain broke")
    note(ada, "its chain broke")
    note(ada, "its chain broke twice")
    with ada.node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.clear(db, subjects.HALT.of("bob-00000000"))
    halts = sorted((each.text, each.over) for each in told(ada, Event.HALT))
    assert halts == [
        ("its chain broke", False),
        ("its chain broke twice", False),
        ("its chain broke twice", True),
    ]


def test_a_problem_that_somebody_saw_is_not_told_again(w: World) -> None:
    (ada,) = w.team("ada")
    note(ada, "mail was dropped", subjects.MAIL_DROP)
    with ada.node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.acknowledge(db, subjects.MAIL_DROP.of("bob-00000000"))
    assert [each.text for each in told(ada, Event.REFUSAL)] == ["mail was dropped"]


def test_only_what_happened_since_then_is_told(w: World) -> None:
    (ada,) = w.team("ada")
    note(ada, "long ago", at="2020-01-01T00:00:00.000Z")
    assert told(ada, Event.HALT)
    assert not [each for each in entries(ada.node, "2020-01-01T00:00:00.001Z") if each.event is Event.HALT]


def test_the_oldest_problems_are_forgotten_so_that_nobody_fills_the_disk(w: World) -> None:
    (ada,) = w.team("ada")
    with ada.node.store.transaction(CommitPoint.PROBLEM) as db:
        for number in range(10_050):
            problems.note(db, Problem("halt:bob-00000000", f"text {number}", at="2026-01-01T00:00:00.000Z"))
    assert ada.count("trail") == 10_000
    assert "text 10049" in {each.text for each in told(ada, Event.HALT)}


def test_mail_that_a_recipient_does_not_get_is_told_without_what_it_says(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    waiting = ada.send("human:bob", "the walrus sings")
    commands.revoke(ada.pass_(), bob.me, "left")
    exchange(ada)
    (refusal,) = told(ada, Event.REFUSAL)
    assert refusal.text.startswith(f"{bob.me} refused {waiting.id} for human:bob: ")
    assert "walrus" not in str(entries(ada.node))
