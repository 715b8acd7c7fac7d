"""Faults are read from a file, and a file that says something else is refused."""

from pathlib import Path

import pytest

from tests.transports.ops import ADA, BOB, Chain
from transports.fault_spec import FaultSpec, SpecError, read_faults
from transports.faults import Fault, Step, drawn_steps
from transports.memory import MemoryRemote, MemoryTransport


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def spec(folder: Path, text: str) -> FaultSpec:
    path = folder / "faults.toml"
    path.write_text(text)
    return read_faults(path)


def test_a_step_may_name_nothing_but_its_faults(folder: Path) -> None:
    found = spec(folder, '[[step]]\nfaults = ["drop", "reorder"]\n')
    assert found == FaultSpec(0, (Step(frozenset((Fault.DROP, Fault.REORDER))),))


def test_a_step_may_say_when_where_and_how_often(folder: Path) -> None:
    found = spec(
        folder,
        f"""
        seed = 7
        [[step]]
        faults = ["withhold"]
        from = 2
        until = 4
        count = 1
        lanes = ["{ADA}"]
        share = 1
        [[step]]
        faults = ["refuse"]
        """,
    )
    withhold = Step(frozenset((Fault.WITHHOLD,)), 2, 4, 1, frozenset((ADA,)), 1.0)
    assert found == FaultSpec(7, (withhold, Step(frozenset((Fault.REFUSE,)))))


def test_faults_are_drawn_from_a_seed_for_so_many_passes(folder: Path) -> None:
    assert spec(folder, "seed = 7\npasses = 20") == FaultSpec(7, tuple(drawn_steps(7, 20)))


def test_a_fork_goes_on_with_the_lines_of_a_file_beside(folder: Path) -> None:
    rival, other = Chain(ADA).lines(2, "rival"), Chain(BOB).lines(1)
    (folder / "rival.jsonl").write_bytes(b"".join(raw + b"\n" for raw in (*rival, *other)))
    found = spec(folder, '[[step]]\nfaults = ["fork"]\nversion = "rival.jsonl"\n')
    assert found.steps[0].versions == {ADA: rival, BOB: other}
    remote = MemoryRemote()
    remote.put(ADA, *Chain(ADA).lines(3))
    near = found.around(MemoryTransport(remote), BOB)
    near.refresh()
    assert [line.raw for line in near.lane(ADA)] == rival


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "give either"),
        ("seed = 1", "give either"),
        ('passes = 2\n[[step]]\nfaults = ["drop"]', "give either"),
        ("= 1", "no TOML"),
        ("pass = 3", "`pass` means nothing here; what does is passes, seed, step"),
        ("step = 3", r"begins with \[\[step\]\]"),
        ("step = [3]", r"begins with \[\[step\]\]"),
        ("[[step]]", "`faults` is missing"),
        ('[[step]]\nfaults = "drop"', "`faults` is a list of texts"),
        (
            '[[step]]\nfaults = ["drop"]\n[[step]]\nfaults = ["dorp"]',
            "step 2: no such fault: dorp; there are drop,",
        ),
        ('[[step]]\nfaults = ["drop"]\nlane = ["x"]', "`lane` means nothing here"),
        ('[[step]]\nfaults = ["drop"]\nlanes = "x"', "`lanes` is a list of texts"),
        ('[[step]]\nfaults = ["drop"]\nfrom = 0', "`from` is a whole number, at least 1"),
        ('[[step]]\nfaults = ["drop"]\nfrom = 3\nuntil = 2', "`until` is a whole number, at least 3"),
        ('[[step]]\nfaults = ["drop"]\ncount = true', "`count` is a whole number"),
        ('[[step]]\nfaults = ["drop"]\nshare = 0', "`share` is a number above 0"),
        ('[[step]]\nfaults = ["drop"]\nshare = true', "`share` is a number above 0"),
        ('[[step]]\nfaults = ["fork"]', "name their file as `version`"),
        ('[[step]]\nfaults = ["drop"]\nversion = "x"', "only for a fork"),
        ("seed = -1\npasses = 1", "`seed` is a whole number, at least 0"),
        ("passes = 1.5", "`passes` is a whole number, at least 1"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place(folder: Path, text: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        spec(folder, text)


def test_a_file_with_other_lines_than_a_lane_s_is_no_version_of_one(folder: Path) -> None:
    (folder / "rival.jsonl").write_bytes(Chain(ADA).next() + b"\n{}\n")
    with pytest.raises(SpecError, match="line 2 is no line of a lane"):
        spec(folder, '[[step]]\nfaults = ["fork"]\nversion = "rival.jsonl"\n')


def test_a_file_that_is_not_there_is_an_error_of_the_system(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_faults(folder / "none.toml")
