"""`make demo` tells the whole story, and touches nothing outside its temporary folder."""

import subprocess
import sys
from pathlib import Path

from tests.e2e.people import PATIENCE, environment

ROOT = Path(__file__).parents[2]


def test_the_demo_tells_its_story_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.demo"],
        cwd=ROOT,
        env={**environment(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "Founded “Orchard”",
        "They are the same, so nobody stands between them.",
        "is in the team now",
        "settled: “yes” by human:bob",
        "not found.",
        "All 2 chains verify.",
        "bodyHash mismatch",
    ):
        assert words in done.stdout
    assert list(temporary.iterdir()) == []
    assert list(home.iterdir()) == []
