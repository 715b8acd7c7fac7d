"""Many replicas on one branch: all of them get through, in a number of tries that is bounded."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.transports.contract import read
from tests.transports.git.repo import FakeTime, GitFarSide
from tests.transports.ops import Chain
from transports.base import Behind
from transports.git import GitTransport
from transports.git.turns import LONGEST_SECONDS, MEMORY_SECONDS, Turns
from transports.remotes import Source, parse_remote


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


def test_who_was_overtaken_waits_the_longer_the_more_others_publish_and_the_shorter_the_more_often() -> None:
    few, many = lose(*turns(), rivals=2), lose(*turns(), rivals=8)
    assert 0 < few < many
    made, time = turns()
    waits = []
    for _ in range(10):
        waits.append(lose(made, time))
        time.now += waits[-1]
    assert waits == sorted(waits, reverse=True)
    assert waits[-1] > waits[0] / 4


def test_who_won_after_losses_lets_the_others_go_first_once() -> None:
    made, time = turns()
    time.now += lose(made, time)
    made.begin()
    made.won()
    assert made.wait() > 0
    time.now += made.wait()
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
    wanted = {name: Chain(name).lines(2) for name in names}

    def publish(name: str) -> int:
        """Publish one line after another; the most tries that one of them took."""
        transport = GitTransport(parse_remote(str(far.bare), Source.TYPED), tmp_path / name)
        most = 0
        for line in wanted[name]:
            tries = 1
            while True:
                transport.refresh()
                try:
                    transport.publish(name, [line])
                    break
                except Behind:
                    tries += 1
                    assert tries <= 60, f"{name} starves"
            most = max(most, tries)
        transport.close()
        return most

    with ThreadPoolExecutor(len(names)) as crowd:
        tries = list(crowd.map(publish, names))
    near = far.open()
    near.refresh()
    assert read(near) == wanted
    assert max(tries) <= 60
    near.close()
