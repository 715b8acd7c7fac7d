"""The page about git lists every way of failing that is told apart, as the table in the code says it."""

from pathlib import Path

from transports.git.answers import TROUBLES

PAGE = (Path(__file__).parents[3] / "docs" / "git.md").read_text()
HEAD = "| What happened | What to do |\n| --- | --- |\n"


def test_the_page_lists_every_way_of_failing_with_what_helps() -> None:
    _, found, rest = PAGE.partition(HEAD)
    assert found
    without_git, *rows = rest.partition("\n\n")[0].split("\n")
    assert "install git 2.34" in without_git
    assert rows == [f"| {trouble.meaning} | {trouble.hint} |" for trouble in TROUBLES]
