"""What `pip install` brings: both commands, and the data that they read."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("core", "crypto", "transports", "replica", "vectors")


def test_a_wheel_has_both_commands_and_every_vector(tmp_path: Path) -> None:
    source = tmp_path / "source"  # building leaves files beside what it builds
    for room in ROOMS:
        shutil.copytree(ROOT / room, source / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = "-m pip wheel --no-deps --no-build-isolation --disable-pip-version-check --verbose"
    built = subprocess.run(
        [sys.executable, *pip.split(), "--wheel-dir", str(tmp_path), str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    assert "importable" not in built.stdout, "setuptools warns of folders of data"
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        [entry_points] = [name for name in names if name.endswith("entry_points.txt")]
        commands = wheel.read(entry_points).decode()
    assert "dmp = " in commands
    assert "dmp-conformance = " in commands
    data = {str(path.relative_to(source)) for path in (source / "vectors").rglob("*.json")}
    assert any(name.startswith("vectors/kit/host-core/") for name in data)
    assert data <= names
    pages = {
        str(path.relative_to(source)) for path in (source / "replica").rglob("*.*") if path.suffix != ".py"
    }
    assert {"replica/web/lanes.js", "replica/audit/page/report.js"} <= pages <= names
