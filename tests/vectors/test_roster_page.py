"""The page for operators says what the fold does, and each contest it lists is a vector."""

import json
from pathlib import Path

import pytest

from vectors.authoring.federation.contests import Kind, contests, with_a_third
from vectors.roster_page import PAGE, filled

FOLDER = Path(__file__).parents[2] / "vectors" / "federation"


def test_the_tables_are_what_the_fold_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page


def test_a_wrong_cell_would_be_noticed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page.replace("| founder |", "| nobody |", 1)) == page
    assert page.replace("| founder |", "| nobody |", 1) != page


@pytest.mark.parametrize(("size", "name", "count"), [(2, "two", 90), (3, "three", 540)])
def test_every_contest_is_a_vector(size: int, name: str, count: int) -> None:
    file = json.loads((FOLDER / f"contests-of-{name}.json").read_text(encoding="utf-8"))
    ids = {vector["id"] for vector in file["vectors"]}
    assert ids == {f"fed.contest{size}.{contest.id}" for contest in contests(size)}
    assert len(ids) == count


def test_every_quarrel_with_a_third_is_a_vector() -> None:
    file = json.loads((FOLDER / "contests-with-a-third.json").read_text(encoding="utf-8"))
    ids = {vector["id"] for vector in file["vectors"]}
    assert ids == {f"fed.contest-third.{each.id}" for kind in Kind for each in with_a_third(kind)}
    assert len(ids) == 180
