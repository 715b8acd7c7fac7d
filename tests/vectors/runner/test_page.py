"""What docs/conformance.md tells those who write an adapter holds."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.vectors.runner.samples import send, vector, vectors
from vectors.runner.adapter import Adapter
from vectors.runner.observation import read_observation
from vectors.runner.running import Outcome, Run

PAGE = (Path(__file__).parents[3] / "docs" / "conformance.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_first_adapter_runs_and_supports_nothing(tmp_path: Path) -> None:
    (tmp_path / "adapter.py").write_text(block("python"))
    with Run(lambda: Adapter(f"{sys.executable} {tmp_path}/adapter.py", print), 10, ["wake", "scope"]) as run:
        [result] = run.results(vectors(vector()))
        assert (result.outcome, result.reasons) == (Outcome.SKIPPED, ["unsupported: not yet"])
        assert run.bye() is None


def test_the_observation_has_its_shape() -> None:
    shown: Any = json.loads(block("json"))
    assert read_observation(shown, [send()]).created == {1: "m-1"}
