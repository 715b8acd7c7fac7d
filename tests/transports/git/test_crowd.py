"""Replicas that send at once over one branch: everything arrives, and nobody is left out."""

from pathlib import Path

import pytest

from tests.bench.crowd import crowd


def test_whatever_a_crowd_on_one_branch_sends_arrives_and_nobody_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = crowd(tmp_path, 6, seconds=4, every=0.5)
    assert sum(each.sent for each in found) == sum(each.received for each in found) == 48
    assert all(each.publishes for each in found)
    assert all(len(each.to_branch) == each.sent for each in found)
