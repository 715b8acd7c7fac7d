"""What does not fit the bound in memory goes to a file that has no name."""

from pathlib import Path

from crypto.side import Waiting
from replica.audit.scratch import Scratch


def temporary_files() -> set[str]:
    """The files this process has open that are in no folder any more."""
    found = set()
    for handle in Path("/proc/self/fd").iterdir():
        try:
            target = str(handle.readlink())
        except OSError:
            continue
        if target.endswith("(deleted)"):
            found.add(target)
    return found


def test_little_stays_in_memory_and_much_goes_to_an_unnamed_file() -> None:
    before = temporary_files()
    with Scratch(look_ahead_kib=64) as scratch:
        scratch.side.put(Waiting(1, "a", "b", b"x" * 1000))
        assert temporary_files() == before
        for seq in range(1000):
            scratch.side.put(Waiting(seq, "a", "b", b"x" * 1000))
        assert len(temporary_files() - before) == 1
        assert sum(1 for _ in scratch.side.waiting()) == 1001
    assert temporary_files() == before
