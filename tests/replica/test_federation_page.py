"""The page for whoever runs a team lists every problem there can be, as the table in the code says it."""

from pathlib import Path
from xml.etree import ElementTree

from replica.records.subjects import KINDS, Kind

DOCS = Path(__file__).parents[2] / "docs"
GOES_AWAY = {
    (True, True): "by itself, or once you have seen it",
    (True, False): "once you have seen it",
    (False, True): "by itself",
    (False, False): "when it is mended",
}
"""By whether a person may put it away, and whether it clears by itself."""


def row(kind: Kind) -> str:
    """How the page says a kind of problem."""
    return f"| `{kind.prefix}` | {kind.meaning} | {kind.remedy} | {GOES_AWAY[kind.seen, kind.clears]} |"


def test_the_page_lists_every_problem_with_its_remedy() -> None:
    page = (DOCS / "federation.md").read_text()
    _, found, table = page.partition(
        "| Kind | What it means | What to do | Goes away |\n| --- | --- | --- | --- |\n"
    )
    assert found
    assert table.rstrip("\n").split("\n") == [row(kind) for kind in KINDS]


def test_the_picture_is_one_that_a_browser_reads_and_says_in_words_what_it_shows() -> None:
    picture = ElementTree.parse(DOCS / "readers.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    words = [picture.findtext(f"{{http://www.w3.org/2000/svg}}{name}") for name in ("title", "desc")]
    assert all(words)
    assert "readers.svg" in (DOCS / "federation.md").read_text()
