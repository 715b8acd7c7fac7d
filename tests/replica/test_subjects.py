"""The table of problems: no place in the code notes one that is not in it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from core.store import Store
from replica.records import problems, subjects
from replica.records.commits import CommitPoint
from replica.records.problems import Problem
from replica.records.schema import MIGRATIONS
from replica.shared.fold import HANDLERS

ROOT = Path(__file__).parents[2]
NOTING = {
    "Problem",
    "dropped",
    "refused",
    "parked",
    "wait",
    "note",
    "clear",
    "_problem",
    "_keep_or_clear",
    "Note",
}
"""Whatever takes a subject, by its name."""

ACKNOWLEDGED_BY_THE_WIRE = (
    *("transport", "observer", "message", "run-conflict", "agent", "channel"),
    *("malformed", "mail-drop", "invite"),
)
MENDED_ALONE = (
    *("halt", "clock", "op", "replica", "team:founding"),
    *("team:paused", "own:paused", "own:stopped", "own:restored"),
)


def typed_subjects() -> Iterator[tuple[str, str]]:
    """Every subject that is written out in the code, up to what is filled in, and where."""
    for path in sorted([*(ROOT / "replica").rglob("*.py"), *(ROOT / "crypto" / "roster").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name not in NOTING:
                continue
            for argument in node.args[:2]:
                match argument:
                    case ast.Constant(value=str(text)) if " " not in text and text:
                        yield text, f"{path.relative_to(ROOT)}:{node.lineno}"
                    case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]) if text.endswith(":"):
                        yield text, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_subject_that_is_written_out_is_of_a_kind_in_the_table() -> None:
    unknown = [
        (text, place)
        for text, place in typed_subjects()
        if not any(kind.covers(text.rstrip(":")) or kind.covers(text) for kind in subjects.KINDS)
    ]
    assert unknown == [], "add their kinds to replica/records/subjects.py"


def test_every_type_of_shared_state_has_a_kind() -> None:
    assert [type_ for type_ in HANDLERS if subjects.of_type(type_) not in subjects.KINDS] == []


def test_every_kind_is_noted_somewhere_and_has_a_meaning_and_a_remedy() -> None:
    code = "".join(
        path.read_text()
        for path in sorted((ROOT / "replica").rglob("*.py"))
        if path.name not in ("subjects.py",)
    )
    of_types = {subjects.of_type(type_) for type_ in (*HANDLERS, "memory", "doc")}
    from_the_roster = {subjects.OP, subjects.ROSTER, subjects.REPLICA}
    names = {value: name for name, value in vars(subjects).items() if isinstance(value, subjects.Kind)}
    for kind in subjects.KINDS:
        assert kind.meaning, kind.prefix
        assert kind.remedy, kind.prefix
        assert f"subjects.{names[kind]}" in code or kind in of_types | from_the_roster, kind.prefix


def test_no_kind_hides_another() -> None:
    prefixes = [kind.prefix for kind in subjects.KINDS]
    assert len(set(prefixes)) == len(prefixes)
    for kind in subjects.KINDS:
        assert subjects.kind_of(kind.of("x")) is kind
    assert subjects.kind_of("ops:ada-0000000a").prefix == ""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "state.db", MIGRATIONS)
    yield opened
    opened.close()


def noted(store: Store, subject: str, text: str = "as it was") -> None:
    with store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, Problem(subject, text, at="2026-11-30T12:00:00.000Z"))


def seen(store: Store, subject: str) -> bool:
    with store.transaction(CommitPoint.PROBLEM) as db:
        return problems.acknowledge(db, subject)


@pytest.mark.parametrize("prefix", ACKNOWLEDGED_BY_THE_WIRE)
def test_wire_12_2_what_a_person_may_put_away_comes_back_when_its_text_changes(
    store: Store, prefix: str
) -> None:
    subject = f"{prefix}:x"
    noted(store, subject)
    assert seen(store, subject)
    assert not seen(store, subject)  # once is enough
    noted(store, subject)
    assert [each.seen for each in problems.all_problems(store.db)] == [True]
    noted(store, subject, "something new")
    assert [each.seen for each in problems.all_problems(store.db)] == [False]


@pytest.mark.parametrize("prefix", MENDED_ALONE)
def test_wire_12_2_what_would_go_on_hurting_cannot_be_put_away(store: Store, prefix: str) -> None:
    noted(store, f"{prefix}:x")
    with pytest.raises(DmpError) as refused:
        seen(store, f"{prefix}:x")
    assert refused.value.code is Code.CONFLICT
    assert subjects.kind_of(prefix).remedy in refused.value.message
    assert [each.seen for each in problems.all_problems(store.db)] == [False]


def test_what_is_put_away_and_comes_anew_is_shown(store: Store) -> None:
    noted(store, "invite:x")
    seen(store, "invite:x")
    with store.transaction(CommitPoint.PROBLEM) as db:
        problems.clear(db, "invite:x")
    noted(store, "invite:x")
    assert [each.seen for each in problems.all_problems(store.db)] == [False]


def test_a_subject_that_is_no_problem_cannot_be_put_away(store: Store) -> None:
    with pytest.raises(DmpError) as refused:
        seen(store, "invite:x")
    assert (refused.value.code, refused.value.field) == (Code.NOT_FOUND, "subject")
