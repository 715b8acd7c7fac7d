"""Objects are read within bounds, and a damaged clone is told from odd content."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transports.git.repo import FILE, GitFarSide
from transports.git import Limits
from transports.git.objects import Header, Objects, UnreadableError, UnusableError
from transports.git.run import Runner


@pytest.fixture
def objects(far: GitFarSide) -> Iterator[Objects]:
    opened = Objects(Runner(far.bare, Limits()), 10)
    yield opened
    opened.close()


def test_one_object_after_another_is_read_whole(far: GitFarSide, objects: Objects) -> None:
    for data in (b"", b"\n", b"a\n\nb", bytes(range(256)) * 20_000):
        oid = far.blob(data)
        assert objects.find(oid) == Header(oid, "blob", len(data))
        assert objects.read(oid, "blob", len(data)) == data


def test_t3_an_object_over_the_limit_is_not_taken_and_the_next_one_is(
    far: GitFarSide, objects: Objects
) -> None:
    large, small = far.blob(b"x" * 1_000_000), far.blob(b"small")
    with pytest.raises(UnusableError, match="1000000 bytes"):
        objects.read(large, "blob", 999_999)
    assert objects.read(small, "blob", 5) == b"small"


def test_t3_an_object_of_another_kind_is_not_taken(far: GitFarSide, objects: Objects) -> None:
    blob = far.blob(b"x")
    with pytest.raises(UnusableError, match="is a tree"):
        objects.read(far.tree({"x": (FILE, blob)}), "blob", 1000)
    assert objects.read(blob, "blob", 1) == b"x"


def test_an_object_that_is_missing_or_damaged_is_told(far: GitFarSide, objects: Objects) -> None:
    with pytest.raises(UnreadableError):
        objects.read("1" * 40, "blob", 10)
    assert objects.find("1" * 40) is None
    oid = far.blob(b"x" * 100)
    loose = far.bare / "objects" / oid[:2] / oid[2:]
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[:15] + b"damage")
    with pytest.raises(UnreadableError):
        objects.read(oid, "blob", 1000)
    assert objects.read(far.blob(b"next"), "blob", 10) == b"next"


@pytest.mark.parametrize("name", ["HEAD", "x:../y", "-x", "--batch", "a b c 1", "", "^{/x}", "é"])
def test_k8_a_name_is_never_an_option_or_two_questions(objects: Objects, name: str) -> None:
    assert objects.find(name) is None


def test_a_name_of_two_lines_is_not_asked_for(objects: Objects) -> None:
    with pytest.raises(UnreadableError):
        objects.find("HEAD\nHEAD")


def test_where_there_is_no_repository_nothing_is_read(tmp_path: Path) -> None:
    objects = Objects(Runner(tmp_path / "none.git", Limits()), 10)
    with pytest.raises(UnreadableError):
        objects.find("HEAD")
    objects.close()


def test_t3_objects_of_no_use_by_the_thousand_start_no_new_process(
    far: GitFarSide, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, small = far.blob(b"x" * 1000), far.blob(b"small")
    assert objects.read(small, "blob", 5) == b"small"
    monkeypatch.setattr(Runner, "start_local", None)
    for _ in range(1000):
        with pytest.raises(UnusableError):
            objects.read(large, "blob", 999)
    assert objects.read(small, "blob", 5) == b"small"
