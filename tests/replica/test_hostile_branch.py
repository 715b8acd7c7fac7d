"""A branch anyone can write to: whatever becomes of one lane, the others' mail arrives, and people are told."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from crypto.op import read_line
from replica.records import ops, problems
from tests.replica.world import Machine, World, exchange, world
from transports.memory import MemoryRemote

Change = Callable[[list[bytes]], list[bytes]]


@dataclass
class Scene:
    """A team in which ada and cy wrote to bob, who has not looked yet."""

    made: World
    bob: Path
    ada_id: str
    cy_id: str
    ada_lines: list[bytes]
    first_new: int
    others: dict[str, list[bytes]]
    tried: int = 0

    def bob_reads(self, ada_lines: list[bytes]) -> Machine:
        """Bob, as he was, on a branch where ada's lane is as given."""
        self.tried += 1
        root = self.bob.parent / f"bob-{self.tried}"
        shutil.copytree(self.bob, root)
        self.made.remote = MemoryRemote(f"branch {self.tried}")
        for replica, lines in self.others.items():
            self.made.remote.put(replica, *lines)
        self.made.remote.put(self.ada_id, *ada_lines)
        bob = self.made.open(root)
        bob.sync()
        return bob


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("scene")
    with pytest.MonkeyPatch.context() as patch, world(folder) as made:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        ada, bob, cy = made.team("ada", "bob", "cy")
        exchange(ada, bob, cy)
        first_new = ada.chain()[-1].seq + 1
        for number in range(3):
            ada.send("human:bob", f"from ada {number}")
        cy.send("human:bob", "from cy")
        ada.sync()
        cy.sync()
        bob.node.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        others = {each.me: each.lane() for each in (bob, cy)}
        yield Scene(made, bob.directory.root, ada.me, cy.me, ada.lane(), first_new, others)


@pytest.fixture(autouse=True)
def one_state_home(scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each copy of bob's directory is a machine of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def told_about(bob: Machine, replica: str) -> list[problems.Problem]:
    return [each for each in problems.all_problems(bob.node.store.db) if each.replica == replica]


def seq_of(line: bytes) -> int:
    found = read_line(line).seq
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(40))
def test_any_byte_changed_is_caught_at_its_op_and_stops_nobody_else(scene: Scene, seed: int) -> None:
    chance = Random(seed)
    new = [at for at, line in enumerate(scene.ada_lines) if seq_of(line) >= scene.first_new]
    at = chance.choice(new)
    line = bytearray(scene.ada_lines[at])
    place = chance.randrange(len(line))
    line[place] = chance.choice([value for value in range(256) if value not in (line[place], 10)])
    bob = scene.bob_reads([*scene.ada_lines[:at], bytes(line), *scene.ada_lines[at + 1 :]])
    assert "from cy" in bob.bodies()
    seqs = [seq for seq, _ in ops.lines_of(bob.node.store.db, scene.ada_id)]
    assert max(seqs) == seq_of(scene.ada_lines[at]) - 1
    assert told_about(bob, scene.ada_id)
    assert len([body for body in bob.bodies() if body.startswith("from ada")]) <= at - new[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[::-1],
        lambda lines: [line for line in lines for _ in range(3)],
        lambda lines: [*lines, b"", b"junk", b"{}", b"[" * 5_000, b"\xff" * 100],
        lambda lines: [b"x" * (2 * 1024 * 1024), *lines],
        lambda lines: Random(5).sample(lines, len(lines)),
        lambda lines: [*lines, *(line[: len(line) // 2] for line in lines)],
        lambda lines: [line.replace(b'"sig"', b'"extra":"\xe2\x80\xa8","sig"', 1) for line in lines],
    ],
    ids=["reversed", "tripled", "junk added", "a huge line", "shuffled", "torn copies", "members added"],
)
def test_lines_in_any_order_with_anything_between_them_say_the_same(scene: Scene, change: Change) -> None:
    bob = scene.bob_reads(change(scene.ada_lines))
    assert sorted(bob.bodies()) == ["from ada 0", "from ada 1", "from ada 2", "from cy"]


def test_a_log_cut_short_is_read_as_far_as_it_goes(scene: Scene) -> None:
    whole = sorted(scene.ada_lines, key=seq_of)
    bob = scene.bob_reads([*whole[:-1], whole[-1][:-20]])
    assert sorted(bob.bodies()) == ["from ada 0", "from ada 1", "from cy"]


def test_a_missing_op_is_noticed_by_what_comes_after_it(scene: Scene) -> None:
    whole = sorted(scene.ada_lines, key=seq_of)
    bob = scene.bob_reads([*whole[:-2], whole[-1]])
    assert sorted(bob.bodies()) == ["from ada 0", "from cy"]
    assert told_about(bob, scene.ada_id)


def test_a_damaged_log_goes_on_once_it_is_whole_again(scene: Scene) -> None:
    whole = sorted(scene.ada_lines, key=seq_of)
    bob = scene.bob_reads([*whole[:-1], whole[-1].replace(b"ct", b"cT", 1)])
    assert f"halt:{scene.ada_id}" in bob.problems()
    scene.made.remote.put(scene.ada_id, *whole)
    bob.sync()
    assert sorted(bob.bodies()) == ["from ada 0", "from ada 1", "from ada 2", "from cy"]
    assert f"halt:{scene.ada_id}" not in bob.problems()


def test_p6_a_respelled_signature_frames_nobody(scene: Scene) -> None:
    """The last character of a signature has spellings that decode alike; only one is read, none is a fork."""
    whole = sorted(scene.ada_lines, key=seq_of)
    spellings = []
    for character in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        at = whole[-1].index(b'"sig":"') + 7 + 85
        spellings.append(whole[-1][:at] + bytes([character]) + whole[-1][at + 1 :])
    bob = scene.bob_reads([*spellings, *whole])
    assert sorted(bob.bodies()) == ["from ada 0", "from ada 1", "from ada 2", "from cy"]
    assert f"halt:{scene.ada_id}" not in bob.problems()
