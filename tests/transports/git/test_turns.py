"""Many replicas on one branch: all of them get through, in a number of tries that is bounded."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.transports.contract import read
from tests.transports.git.repo import FILE, TREE, FakeTime, GitFarSide
from tests.transports.ops import Chain
from transports.base import Behind
from transports.git import GitTransport
from transports.git.turns import LONGEST_SECONDS, MEMORY_SECONDS, Turns
from transports.remotes import Source, parse_remote

MOST_GOES = 20
"""Each of up to eight pushes."""


def turns(random: float = 0.5) -> tuple[Turns, FakeTime]:
    time = FakeTime()
    time.now = 1000.0
    return Turns(time.clock, lambda: random), time


def lose(made: Turns, time: FakeTime, rivals: int = 6, seconds: float = 0.5) -> float:
    """Lose a try that took so long against so many, and return the wait after it."""
    made.begin()
    time.now += seconds
    made.saw([f"x{number}" for number in range(rivals)])
    made.lost()
    return made.wait()


def test_who_meets_nobody_never_waits() -> None:
    made, time = turns()
    for _ in range(3):
        made.begin()
        time.now += 0.5
        made.saw(["x1", "x2"])
        made.won()
        assert made.wait() == 0


def test_who_was_overtaken_waits_the_longer_the_more_others_publish_and_never_for_many() -> None:
    two, few, many = lose(*turns(), rivals=2), lose(*turns(), rivals=3), lose(*turns(), rivals=80)
    assert 0 < two < few == many


def test_who_won_lets_the_others_go_first_as_long_as_there_is_a_crowd() -> None:
    made, time = turns()
    time.now += (lost := lose(made, time, rivals=10))
    assert made.is_crowded
    for _ in range(2):
        made.begin()
        time.now += 0.5
        made.won()
        assert made.wait() > lost
        time.now += made.wait()
    time.now += MEMORY_SECONDS
    assert not made.is_crowded
    made.begin()
    made.won()
    assert made.wait() == 0


def test_t3_lanes_that_somebody_makes_up_do_not_keep_anybody_waiting_for_long() -> None:
    made, time = turns(random=1.0)
    assert lose(made, time, rivals=100_000) <= 1.5 * LONGEST_SECONDS
    time.now += MEMORY_SECONDS + 1
    assert lose(made, time, rivals=0) == 0


def test_each_of_twenty_replicas_publishes_again_and_again(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path)
    names = [f"x{number:02d}-0000000f" for number in range(20)]
    chains = {name: Chain(name) for name in names}
    wanted = {name: chain.lines(1) for name, chain in chains.items()}
    lanes = {
        name: {"000000000001.jsonl": (FILE, far.blob(lines[0] + b"\n"))} for name, lines in wanted.items()
    }
    far.write({name: (TREE, far.tree(lane)) for name, lane in lanes.items()})

    def publish(name: str) -> int:
        """Publish one line after another; in how many goes, at most, one of them was."""
        transport = GitTransport(parse_remote(str(far.bare), Source.TYPED), tmp_path / name)
        most = 0
        for line in chains[name].lines(2):
            wanted[name].append(line)
            goes = 1
            while True:
                transport.refresh()
                try:
                    transport.publish(name, [line])
                    break
                except Behind:
                    goes += 1
                    assert goes <= MOST_GOES, f"{name} starves"
            most = max(most, goes)
        transport.close()
        return most

    with ThreadPoolExecutor(len(names)) as crowd:
        goes = list(crowd.map(publish, names))
    near = far.open()
    near.refresh()
    assert read(near) == wanted
    assert max(goes) <= MOST_GOES
    near.close()
