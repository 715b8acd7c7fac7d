"""What a person should know of this replica: what was noted, and what is so as long as it is so."""

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.node import Node
from replica.records import problems as records
from replica.records import subjects
from replica.records.commits import CommitPoint


def all_problems(node: Node, *, seen: bool = False) -> list[records.Problem]:
    """What is wrong; with `seen`, also what somebody here has seen."""
    return [*_derived(node), *(each for each in records.all_problems(node.store.db) if seen or not each.seen)]


def acknowledge(node: Node, subject: str) -> bool:
    """Show a problem no more until its text changes; False where that was said before.

    Raises DmpError on `subject`: `not-found`; `conflict` for what can only be mended.
    """
    with node.store.transaction(CommitPoint.PROBLEM) as db:
        _refuse_derived(node, subject)
        return records.acknowledge(db, subject)


def problem_json(problem: records.Problem) -> dict[str, JsonValue]:
    """A problem for programs, with what to do about it."""
    return {
        "subject": problem.subject,
        "text": problem.text,
        "replica": problem.replica,
        "seq": problem.seq,
        "at": problem.at,
        "remedy": problem.kind.remedy,
        "mayBeSeen": problem.kind.seen,
        "seen": problem.seen,
    }


def _derived(node: Node) -> list[records.Problem]:
    """What is wrong as long as it is so: a configuration that counts for nothing, and what the roster says."""
    fault, team = node.host.config.fault, node.team
    own = [] if fault is None else [records.Problem(subjects.CONFIG.of(), fault)]
    # What strangers published concerns nobody, and anybody could make thousands of them.
    notes = [] if team is None else [each for each in team.view.problems if team.knows(each.replica or "")]
    return [*own, *(records.Problem(each.subject, each.text, each.replica, each.seq) for each in notes)]


def _refuse_derived(node: Node, subject: str) -> None:
    """Raise DmpError `conflict` for what goes away only when it is so no more."""
    for each in _derived(node):
        if each.subject == subject:
            raise DmpError(
                Code.CONFLICT, f"that goes away only when it is mended: {each.kind.remedy}", "subject"
            )
