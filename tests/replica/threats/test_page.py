"""docs/security.md names a test for each attack, and each of them is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| (?P<id>[A-Z]?\d?) ?\| .* \| `(?P<test>test_\w+)` \|$", re.MULTILINE)


def rows() -> list[tuple[str, str]]:
    text = (ROOT / "docs" / "security.md").read_text()
    table = text.partition("## Attacks and failures\n")[2].partition("\n## ")[0]
    found = [(row["id"], row["test"]) for row in ROW.finditer(table)]
    assert len(found) == table.count("\n| ") - 2  # the head and the line below it
    return found


def test_every_attack_of_the_page_has_a_test_that_is_there() -> None:
    named = {test for _, test in rows()}
    defined: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        defined.update(re.findall(r"^\s*def (test_\w+)", path.read_text(), re.MULTILINE))
    assert named - defined == set()


def test_every_kind_of_attack_is_on_the_page() -> None:
    ids = {id_ for id_, _ in rows()} - {""}
    expected = {
        f"{letter}{n}"
        for letter, last in zip("PKCRTM", (8, 8, 3, 6, 5, 8), strict=True)
        for n in range(1, last + 1)
    }
    assert ids == expected
