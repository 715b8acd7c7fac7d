"""A branch of a real bare repository keeps the contract."""

from pathlib import Path

import pytest

from tests.transports.contract import FarSide, TransportContract
from tests.transports.git.repo import GitFarSide


class TestGit(TransportContract):
    @pytest.fixture
    def far(self, tmp_path: Path) -> FarSide:
        return GitFarSide(tmp_path)


class TestGitOnABranchSharedWithDispatch(TransportContract):
    @pytest.fixture
    def far(self, tmp_path: Path) -> FarSide:
        far = GitFarSide(tmp_path, "dispatch-sync")
        readme = far.blob(b"# Dispatch board sync\n")
        keep = far.tree(
            {".keep": ("100644", far.blob(b"")), "old-0000000d.jsonl": ("100644", far.blob(b"{}\n"))}
        )
        far.write_root({"README.md": ("100644", readme), "ops": ("40000", keep)})
        return far
