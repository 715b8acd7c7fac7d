"""Comparing and joining texts by git: exactly, whatever they hold and whatever git is set to."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Code
from replica.host import doc_text
from replica.host.doc_text import Side, diff, is_undecided, join
from tests.core.support import refused

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\x0c\n", "@@ x\n", "\\ y\n", "d"]), max_size=3).map(
    "".join
)


def patched(old: str, lines: list[str]) -> str:
    """What a unified diff of all of a text makes of it."""
    if not lines:
        return old
    parts: list[str] = []
    for line in lines[3:]:
        if line.startswith("\\"):
            parts[-1] = parts[-1][0] + parts[-1][1:].removesuffix("\n")
        else:
            parts.append(f"{line}\n")
    return "".join(part[1:] for part in parts if part[0] in " +")


@settings(max_examples=30, deadline=None)
@given(old=texts, new=texts)
def test_a_diff_says_how_one_text_becomes_the_other(old: str, new: str) -> None:
    lines = diff(old, new, "one", "two")
    assert patched(old, lines) == new
    assert (lines[:2] == ["--- one", "+++ two"]) == (old != new)


@settings(max_examples=20, deadline=None)
@given(base=texts, theirs=texts)
def test_what_one_side_alone_changed_is_taken(base: str, theirs: str) -> None:
    found = join(Side("base", base), Side("ours", base), Side("theirs", theirs))
    assert (found.body, found.conflicts) == (theirs, 0)


def test_what_both_changed_is_marked_with_what_it_was() -> None:
    found = join(Side("rev-0", "a\n"), Side("rev-1", "b\n"), Side("rev-2", "c\n"))
    assert found.conflicts == 1
    assert found.body == "<<<<<<< rev-1\nb\n||||||| rev-0\na\n=======\nc\n>>>>>>> rev-2\n"
    assert is_undecided(found.body, ["rev-1", "rev-2"])
    assert is_undecided(found.body.replace("\n", "\r\n"), ["rev-2"])


def test_marks_that_a_text_holds_of_its_own_are_no_conflict() -> None:
    body = "<<<<<<< HEAD\nhow git marks\n=======\nconflicts\n>>>>>>> branch\n"
    assert not is_undecided(body, ["rev-1", "rev-2"])


def test_a_text_with_nul_is_not_joined_by_parts_and_is_compared() -> None:
    with refused(Code.INVALID, "doc"):
        join(Side("base", ""), Side("ours", "a\0"), Side("theirs", "b"))
    assert "+b\0" in diff("a\0\n", "b\0\n", "one", "two")


def test_no_configuration_or_attribute_of_anybodys_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text(
        "[diff]\nexternal = false\nnoprefix = false\n[color]\nui = always\n[x\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u0")
    assert diff("a\nb\n", "a\nc\n", "one", "two") == [
        "--- one",
        "+++ two",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]


def test_a_machine_without_git_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with refused(Code.UNAVAILABLE, None):
        diff("a", "b", "one", "two")


def test_git_is_given_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doc_text, "TEXT_SECONDS", 0.0)
    with refused(Code.UNAVAILABLE, None):
        diff("a", "b", "one", "two")
