"""What docs/transports.md shows is what there is."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

from transports.fault_spec import read_faults
from transports.faults import Fault
from transports.opening import schemes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "transports.md").read_text()
BLOCKS = re.findall(r"^ *```([a-z]+)\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)


def blocks(language: str, word: str) -> list[str]:
    """The blocks of a language in which a word is."""
    return [dedent(text) for name, text in BLOCKS if name == language and word in text]


def test_the_pieces_of_the_directory_transport_are_in_it() -> None:
    source = dedent((ROOT / "transports" / "directory.py").read_text())
    pieces = [text for name, text in BLOCKS if name == "python" and "dmp_loft" not in text]
    assert len(pieces) == 3
    lines = [line.strip() for line in source.splitlines()]
    for piece in pieces:
        wanted = [line.strip() for line in piece.splitlines()]
        assert any(lines[at : at + len(wanted)] == wanted for at in range(len(lines))), piece


def test_the_file_of_faults_can_be_used(tmp_path: Path) -> None:
    (shown,) = blocks("toml", "[[step]]")
    path = tmp_path / "faults.toml"
    path.write_text(shown)
    assert len(read_faults(path).steps) == 3


def test_every_fault_is_on_the_page() -> None:
    assert [fault for fault in Fault if f"`{fault}`" not in PAGE] == []


def test_every_scheme_is_on_the_page() -> None:
    named = {"file": "a path", "ssh": "`ssh:", "http": "`https:", "ws": "`wss:"}
    assert [scheme for scheme in schemes() if named.get(scheme, f"`{scheme}:") not in PAGE] == []


def test_a_package_made_after_the_page_is_found_and_passes_the_contract(tmp_path: Path) -> None:
    """The transport of the package is that of this one, so that what is tried out is how it is brought in."""
    (project,) = blocks("toml", "dmp.transports")
    (tests,) = blocks("python", "dmp_loft")
    (tmp_path / "dmp_loft.py").write_text(
        "from pathlib import Path\n"
        "from transports.directory import DirectoryTransport as LoftTransport\n"
        "from transports.opening import Kind\n"
        "KIND = Kind(lambda text, source: text, lambda opening: LoftTransport(Path(opening.address[5:])))\n"
    )
    about = tmp_path / "dmp_loft-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dmp-loft\nVersion: 1.0\n")
    points = tomllib.loads(project)["project"]["entry-points"]["dmp.transports"]
    entries = "".join(f"{name} = {value}\n" for name, value in points.items())
    (about / "entry_points.txt").write_text(f"[dmp.transports]\n{entries}")
    found = (
        "\n\ndef test_found(tmp_path):\n"
        "    from transports.opening import Opening, open_transport\n"
        "    from transports.remotes import Source\n"
        "    opening = Opening(f'loft:{tmp_path}', Source.TYPED, tmp_path)\n"
        "    assert isinstance(open_transport(opening), LoftTransport)\n"
    )
    (tmp_path / "test_loft.py").write_text(tests + found)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "test_loft.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d\d passed, 1 skipped", done.stdout, re.MULTILINE), done.stdout
