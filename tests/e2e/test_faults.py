"""Faults on demand: `dmp sync --faults`."""

from pathlib import Path

import pytest

from tests.e2e.people import Person


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "faults.toml"


def test_what_is_withheld_arrives_with_the_next_sync_without_faults(
    ada: Person, bob: Person, script: Path
) -> None:
    script.write_text(f'[[step]]\nfaults = ["withhold"]\nlanes = ["{ada.replica}"]\nshare = 1\n')
    ada.dmp("send", "human:bob", "Hello.")
    ada.dmp("sync")
    bob.dmp("sync", "--faults", str(script))
    assert bob.bodies() == []
    bob.dmp("sync")
    assert bob.bodies() == ["Hello."]


def test_a_publish_whose_answer_is_lost_is_read_back_and_not_repeated(
    ada: Person, bob: Person, script: Path
) -> None:
    script.write_text('[[step]]\nfaults = ["lose-answer"]\ncount = 1\n')
    ada.dmp("send", "human:bob", "Once.")
    assert "does not answer" in ada.refused("sync", "--faults", str(script))
    bob.dmp("sync")
    assert bob.bodies() == ["Once."]
    assert ada.json("sync")["published"] == 0
    bob.dmp("sync")
    assert bob.bodies() == ["Once."]


def test_a_file_that_says_something_else_is_refused_before_anything_is_done(
    ada: Person, script: Path
) -> None:
    script.write_text('[[step]]\nfaults = ["dorp"]\n')
    told = ada.refused("sync", "--faults", str(script), code=2)
    assert "step 1: no such fault: dorp; there are drop," in told
