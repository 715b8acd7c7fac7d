"""`python -m tests.served`: tests of the project's for another program, a line of JSON each.

It reads `{"tests": [ID]}`, where an id may be that of a file or folder, and answers `{"failed": ID}`, the first that
fails, or null. Where they cannot be run, as there is none of that id, `wrong` is pytest's exit code. It ends with its
input.
"""

import json
import os
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]

_QUIET: Final = ("-x", "-p", "no:cacheprovider", "-p", "no:terminal", "-o", "addopts=")
_RAN: Final = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class _First:
    """Remembers the first test that fails."""

    def __init__(self) -> None:
        self.failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.failed is None:
            self.failed = report.nodeid


def main() -> None:
    """Answer each line."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
        "1"  # none is needed, and to load them takes longer than a test
    )
    os.environ.pop("PYTEST_ADDOPTS", None)  # what the person wants to see of the run that this one belongs to
    lines, answers = sys.stdin, sys.stdout
    for line in lines:
        wanted = [
            f"{ROOT}/{each}" for each in json.loads(line)["tests"]
        ]  # ids are no paths: `//` may be in them
        first = _First()
        with Path(os.devnull).open("w") as sys.stdout, Path(os.devnull).open() as sys.stdin:
            code = pytest.main([*_QUIET, f"--rootdir={ROOT}", *wanted], [first])
        wrong = None if code in _RAN else int(code)
        print(json.dumps({"failed": first.failed, "wrong": wrong}), file=answers, flush=True)


if __name__ == "__main__":
    main()
