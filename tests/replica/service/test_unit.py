"""The systemd unit serves the very directory, whatever its name, and replaces nobody else's."""

import shutil
import subprocess
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from replica.service import unit
from replica.service.unit import Unit

ODD = ["plain", "with space", 'a "quote" and \\', "100% of $HOME and ${x}", "ümläut", "a;b #c 'd'"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_it_is_written_found_and_removed(tmp_path: Path) -> None:
    one = Unit("dmp", tmp_path / "ada")
    assert one.path == tmp_path / "config" / "systemd" / "user" / "dmp.service"
    assert (one.is_installed, one.uninstall()) == (False, False)
    one.install()
    one.install()
    assert one.is_installed
    assert [each.name for each in one.path.parent.iterdir()] == ["dmp.service"]
    assert one.uninstall()
    assert not one.path.exists()


def test_the_unit_of_another_replica_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    Unit("dmp", tmp_path / "ada").install()
    for act in (Unit("dmp", tmp_path / "ad").install, Unit("dmp", tmp_path / "ad").uninstall):
        with pytest.raises(DmpError, match="--name") as refused:
            act()
        assert refused.value.code is Code.CONFLICT
    Unit("other", tmp_path / "ad").install()


def test_a_directory_that_no_unit_can_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DmpError, match="cannot be printed"):
        Unit("dmp", tmp_path / "a\nExecStart=b").install()


@pytest.mark.parametrize("name", ODD)
def test_systemd_takes_the_unit_and_reads_the_directory_as_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / name / "run it"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(unit, "program", lambda: [str(script)])
    one = Unit("dmp", tmp_path / name)
    one.install()
    assert one.is_installed
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd is not here: its own reading of the unit is NOT RUN")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    done = subprocess.run(
        [analyze, "--user", "verify", "--man=no", str(one.path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
