"""How often a watching replica asks."""

from tests.transports.git.repo import FakeTime, GitFarSide
from tests.transports.ops import BOB, Chain
from transports.git import GitTransport
from transports.git.pace import FIRST_SECONDS, Pace
from transports.remotes import Source, parse_remote


def test_waits_grow_to_a_ceiling() -> None:
    pace = Pace(10.0, lambda: 0.0)
    waits = [pace.wait() for _ in range(20)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (FIRST_SECONDS, 10.0)
    pace.restart()
    assert pace.wait() == FIRST_SECONDS


def test_chance_takes_up_to_a_quarter_off_a_wait() -> None:
    assert Pace(10.0, lambda: 1.0).wait() == FIRST_SECONDS * 0.75


def watching(far: GitFarSide, time: FakeTime) -> GitTransport:
    near = GitTransport(
        parse_remote(str(far.bare), Source.TYPED),
        far.folder / "near",
        clock=time.clock,
        sleep=time.sleep,
        random=lambda: 0.5,
    )
    near.refresh()
    return near


def test_a_quiet_remote_is_asked_less_and_less_until_the_time_is_over(far: GitFarSide) -> None:
    time = FakeTime()
    near = watching(far, time)
    assert not near.watch(10)
    assert time.now == 10
    assert time.slept[0] < time.slept[5] <= 1
    near.watch(5)  # it stays quiet: there is no reason to ask more often again
    assert time.slept[-3] > time.slept[0]
    near.close()


def test_after_something_happened_a_remote_is_asked_often_again(far: GitFarSide) -> None:
    time = FakeTime()
    near = watching(far, time)
    near.watch(10)
    far.put(BOB, *Chain(BOB).lines(1))
    assert near.watch(10)
    near.refresh()
    before = len(time.slept)
    near.watch(1)
    assert time.slept[before] == time.slept[0]
    near.close()


def test_a_remote_that_is_away_has_nothing_new_and_is_asked_again(far: GitFarSide) -> None:
    time = FakeTime()
    near = watching(far, time)
    far.cut()
    assert not near.watch(5)
    far.mend()
    far.put(BOB, *Chain(BOB).lines(1))
    assert near.watch(5)
    near.close()


def test_a_ref_whose_name_ends_in_the_branch_s_is_another_one(far: GitFarSide) -> None:
    far.put(BOB, *Chain(BOB).lines(1))
    time = FakeTime()
    near = watching(far, time)
    other = far.git("commit-tree", "-m", "by hand", far.tree({})).decode().strip()
    for place in ("refs/a", "refs/heads", "refs/tags"):
        far.git("update-ref", f"{place}/refs/heads/{far.branch}", other)
    assert not near.watch(5)
    far.put(BOB, *Chain(BOB).lines(1))
    assert near.watch(5)
    near.close()
