"""Every far side here keeps the contract, alone and under faults that come to an end."""

from pathlib import Path

import pytest

from tests.transports.far_sides import FAULTY_PASSES, Directory, Faulty, Git, Memory
from transports.contract import FarSide, TransportContract, WritableContract, WritableFarSide


class UnderFaults(TransportContract):
    tries = FAULTY_PASSES + 3


class TestMemory(WritableContract):
    @pytest.fixture
    def far(self) -> WritableFarSide:
        return Memory()


class TestMemoryUnderFaults(UnderFaults):
    @pytest.fixture
    def far(self) -> FarSide:
        return Faulty(Memory())


class TestDirectory(WritableContract):
    @pytest.fixture
    def far(self, tmp_path: Path) -> WritableFarSide:
        return Directory(tmp_path)


class TestDirectoryUnderFaults(UnderFaults):
    @pytest.fixture
    def far(self, tmp_path: Path) -> FarSide:
        return Faulty(Directory(tmp_path))


class TestGit(WritableContract):
    @pytest.fixture
    def far(self, tmp_path: Path) -> WritableFarSide:
        return Git(tmp_path)


class TestGitUnderFaults(UnderFaults):
    @pytest.fixture
    def far(self, tmp_path: Path) -> FarSide:
        return Faulty(Git(tmp_path))


class TestGitOnABranchSharedWithDispatch(TransportContract):
    @pytest.fixture
    def far(self, tmp_path: Path) -> FarSide:
        far = Git(tmp_path, "dispatch-sync")
        repository = far.repository
        readme = repository.blob(b"# Dispatch board sync\n")
        old = {
            ".keep": ("100644", repository.blob(b"")),
            "old-0000000d.jsonl": ("100644", repository.blob(b"{}\n")),
        }
        repository.write_root({"README.md": ("100644", readme), "ops": ("40000", repository.tree(old))})
        return far
