"""A publish that lost its race goes on top of the winner's commit where reading first would change nothing (R4, T5)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.contract import read
from tests.transports.git.repo import FILE, LINK, TREE, FakeTime, GitFarSide
from tests.transports.ops import ADA, BOB, CAL, Chain
from transports.base import Behind, Line, Refused, Unreachable
from transports.git import GitTransport, Limits
from transports.git.far import FarSide
from transports.git.overtaken import COMMITS, SEGMENTS
from transports.git.transport import RACE_PUSHES, RACE_SECONDS
from transports.remotes import Source, parse_remote


class Race:
    """Ada is about to publish one more op on a branch where she and Bob have some. She has read all of it."""

    def __init__(self, far: GitFarSide) -> None:
        self.far = far
        self.ada, self.bob = Chain(ADA), Chain(BOB)
        self.adas, self.bobs = self.ada.lines(2), self.bob.lines(2)
        far.put(ADA, *self.adas)
        far.put(BOB, *self.bobs)
        self.near = far.open("near")
        self.near.refresh()
        assert read(self.near) == {ADA: self.adas, BOB: self.bobs}
        self.read_tip = far.tip()
        self.line = self.ada.next()

    def publish(self) -> None:
        self.near.publish(ADA, [self.line])

    def is_published(self) -> bool:
        return any(self.line in self.far.content(path) for path in self.far.files() if ADA in path)

    def bob_says(self, *raws: bytes) -> None:
        """Let Bob continue his first segment, as everybody does."""
        self.bobs += raws
        self._write_bobs("000000000001.jsonl", b"".join(raw + b"\n" for raw in self.bobs))

    def bob_goes_on(self) -> None:
        """Let Bob continue whatever segment is his last, or begin one."""
        self.bobs.append(raw := self.bob.next())
        segments = sorted(path for path in self.far.files() if path.startswith(f"fed/{BOB}/0"))
        last = segments[-1].rpartition("/")[2] if segments else "000000000001.jsonl"
        before = self.far.content(segments[-1]) if segments else b""
        self._write_bobs(last, before + raw + b"\n")

    def _write_bobs(self, name: str, content: bytes) -> None:
        lane = self.far.entries_at(f"fed/{BOB}") | {name: (FILE, self.far.blob(content))}
        self.far.write(self.far.entries_at("fed") | {BOB: (TREE, self.far.tree(lane))})


@pytest.fixture
def race(far: GitFarSide) -> Iterator[Race]:
    made = Race(far)
    yield made
    made.near.close()


def roster_op(chain: Chain) -> bytes:
    """A line that claims to be the roster op after those of the chain."""
    return chain.next().replace(b'"type":"task"', b'"type":"roster"')


@contextmanager
def before_each_fetch(near: GitTransport, deed: Callable[[], object]) -> Iterator[None]:
    """Let somebody do something whenever this transport is about to fetch."""
    with pytest.MonkeyPatch.context() as patch:
        fetch = FarSide.fetch

        def after_that(side: FarSide, ref: str) -> bool:
            if side is near._far:
                deed()
            return fetch(side, ref)

        patch.setattr(FarSide, "fetch", after_that)
        yield


# It may go on top


def test_a_publish_that_lost_the_race_goes_on_top_of_the_winner_at_once(race: Race) -> None:
    race.bob_says(more := race.bob.next())
    winner = race.far.tip()
    race.publish()
    assert f"parent {winner}\n".encode() in race.far.git("cat-file", "commit", race.far.tip())
    assert read(race.near) == {ADA: [*race.adas, race.line], BOB: race.bobs}
    assert more in race.bobs


def test_a_publish_goes_on_top_of_segments_and_commits_that_are_new(race: Race) -> None:
    for _ in range(3):
        race.far.put(BOB, *race.bob.lines(2))
    race.publish()
    assert race.is_published()


def test_acknowledgements_of_others_and_files_that_are_no_lanes_keep_nobody_from_publishing(
    race: Race,
) -> None:
    blob = race.far.blob(b"anything")
    lane = race.far.entries_at(f"fed/{BOB}") | {"acks.json": (FILE, blob), "notes": (FILE, blob)}
    race.far.write(race.far.entries_at("fed") | {BOB: (TREE, race.far.tree(lane))}, other=(LINK, blob))
    race.publish()
    assert race.is_published()
    assert race.far.entries(race.far.tip())["other"] == (LINK, blob)
    assert list(race.near.acks([BOB])) == [Line(BOB, b"anything")]


def test_lines_that_nobody_reads_keep_nobody_from_publishing(race: Race) -> None:
    race.far.put(BOB, b"junk", b"", Chain(CAL).next(), race.bob.next())
    race.publish()
    assert race.is_published()


def test_what_goes_out_after_a_race_is_published_once_with_its_acknowledgements(race: Race) -> None:
    race.bob_says(race.bob.next())
    race.near.publish(ADA, [race.line, *race.ada.lines(2)], acks=b"acks")
    assert [line.raw for line in race.near.lane(ADA)].count(race.line) == 1
    assert list(race.near.acks([ADA])) == [Line(ADA, b"acks")]


def test_what_came_in_between_is_news_until_it_is_asked_for(race: Race) -> None:
    race.publish()
    assert not race.near.watch(1)
    race.bob_says(race.bob.next())
    race.near.publish(ADA, [race.ada.next()])
    assert race.near.watch(1)
    race.near.refresh()
    assert not race.near.watch(1)


def test_a_replica_that_has_read_nothing_yet_may_be_overtaken_too(far: GitFarSide) -> None:
    ada, bob = Chain(ADA), Chain(BOB)
    far.put(ADA, *ada.lines(2))
    far.put(BOB, *bob.lines(2))
    near = far.open()
    near.refresh()
    far.put(BOB, *bob.lines(2))
    near.publish(ADA, [line := ada.next()])
    assert line in read(near)[ADA]
    near.close()


# It must be read first


def changed_roster(race: Race) -> None:
    race.bob_says(race.bob.next(), roster_op(race.bob), race.bob.next())


def changed_key(race: Race) -> None:
    race.far.put(CAL, *Chain(CAL).lines(1))


def own_lane_grew(race: Race) -> None:
    race.far.put(ADA, Chain(ADA, race.ada.seq, race.ada.prev).next("of a twin"))


def own_acknowledgements(race: Race) -> None:
    lane = race.far.entries_at(f"fed/{ADA}") | {"acks.json": (FILE, race.far.blob(b"of a twin"))}
    race.far.write(race.far.entries_at("fed") | {ADA: (TREE, race.far.tree(lane))})


def own_lane_gone(race: Race) -> None:
    fed = race.far.entries_at("fed")
    del fed[ADA]
    race.far.write(fed)


def other_lane_gone(race: Race) -> None:
    fed = race.far.entries_at("fed")
    del fed[BOB]
    race.far.write(fed)


def segment_gone(race: Race) -> None:
    blob = race.far.blob(race.bob.next() + b"\n")
    race.far.write(
        race.far.entries_at("fed") | {BOB: (TREE, race.far.tree({"000000000003.jsonl": (FILE, blob)}))}
    )


def segment_rewritten(race: Race) -> None:
    race.bobs[0] = race.bobs[0][:-1] + b" }"
    race.bob_says(race.bob.next())


def rival_of_a_line(race: Race) -> None:
    race.far.put(BOB, Chain(BOB, 1, "0" * 63 + "1").next("rival"))


def two_rivals(race: Race) -> None:
    fork = Chain(BOB, race.bob.seq, race.bob.prev)
    race.far.put(BOB, race.bob.next(), fork.next("rival"))


def deleted(race: Race) -> None:
    race.far.git("update-ref", "-d", f"refs/heads/{race.far.branch}")


def set_back(race: Race) -> None:
    """Somebody forces the branch to what it was before Ada read it."""
    race.far.git("update-ref", f"refs/heads/{race.far.branch}", f"{race.read_tip}~1")


def set_back_and_gone_on(race: Race) -> None:
    set_back(race)
    race.far.put("dan-0000000d", b"junk")


def replaced(race: Race) -> None:
    """Somebody forces a branch with the same tree and no history over it."""
    tree = race.far.git("rev-parse", f"{race.far.tip()}^{{tree}}").decode().strip()
    commit = race.far.git("commit-tree", "-m", "by hand", tree).decode().strip()
    race.far.git("update-ref", f"refs/heads/{race.far.branch}", commit)


def fed_became_a_file(race: Race) -> None:
    race.far.write_root({"fed": (FILE, race.far.blob(b"notes"))})


def many_segments(race: Race) -> None:
    blob = race.far.blob(b"junk\n")
    names = {f"{9000 + number:012d}.jsonl": (FILE, blob) for number in range(SEGMENTS + 1)}
    lane = race.far.entries_at(f"fed/{BOB}") | names
    race.far.write(race.far.entries_at("fed") | {BOB: (TREE, race.far.tree(lane))})


def many_commits(race: Race) -> None:
    tree = race.far.git("rev-parse", f"{race.far.tip()}^{{tree}}").decode().strip()
    ref = f"refs/heads/{race.far.branch}"
    commits = f"reset {ref}\nfrom {race.far.tip()}\n\n" + (
        f"commit {ref}\ncommitter a <a@example.invalid> 1 +0000\ndata 0\nM 040000 {tree} \n" * (COMMITS + 1)
    )
    race.far.git("fast-import", "--quiet", stdin=commits.encode())


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        (changed_roster, "the team has changed"),
        (changed_key, "the team has changed"),
        (own_lane_grew, "own lane"),
        (own_acknowledgements, "own lane"),
        (own_lane_gone, "own lane"),
        (other_lane_gone, "a lane is gone"),
        (segment_gone, "a segment is gone"),
        (segment_rewritten, "rewritten"),
        (rival_of_a_line, "only go on"),
        (two_rivals, "only go on"),
        (replaced, "does not go on"),
        (set_back_and_gone_on, "does not go on"),
        (fed_became_a_file, "own lane"),
        (many_segments, "too much is new"),
        (many_commits, "does not go on"),
    ],
)
def test_what_must_be_read_first_is_not_overtaken(
    race: Race, meanwhile: Callable[[Race], None], said: str
) -> None:
    meanwhile(race)
    tip = race.far.tip()
    with pytest.raises(Behind, match=said):
        race.publish()
    assert race.far.tip() == tip


@pytest.mark.parametrize("meanwhile", [deleted, set_back])
def test_a_branch_that_was_set_back_in_between_may_get_what_it_had_again_or_be_read_first(
    race: Race, meanwhile: Callable[[Race], None]
) -> None:
    before = race.far.tip()
    meanwhile(race)
    race.publish()  # git takes it: the commit follows what the branch is now
    assert race.is_published()
    assert before.encode() in race.far.git("rev-list", race.far.tip())


def test_a_branch_that_is_deleted_during_a_race_is_read_first(race: Race) -> None:
    race.bob_says(race.bob.next())
    with before_each_fetch(race.near, lambda: deleted(race)), pytest.raises(Behind, match="does not go on"):
        race.publish()
    assert race.far.tip() == race.near.refresh() == ""


def test_t5_a_roster_op_in_a_line_that_was_torn_is_read_first(far: GitFarSide) -> None:
    ada, bob = Chain(ADA), Chain(BOB)
    far.put(ADA, *ada.lines(1))
    whole = bob.next() + b"\n" + roster_op(bob)
    far.write(
        far.entries_at("fed") | {BOB: (TREE, far.tree({"000000000001.jsonl": (FILE, far.blob(whole))}))}
    )
    near = far.open()
    near.refresh()
    assert len(read(near)[BOB]) == 1
    far.write(
        far.entries_at("fed")
        | {BOB: (TREE, far.tree({"000000000001.jsonl": (FILE, far.blob(whole + b"\n"))}))}
    )
    with pytest.raises(Behind, match="the team has changed"):
        near.publish(ADA, [ada.next()])
    near.close()


@pytest.mark.parametrize("has_read", [True, False])
def test_t3_more_than_is_read_in_a_race_is_read_first(tmp_path: Path, has_read: bool) -> None:
    far = GitFarSide(tmp_path, limits=Limits(overtaken_bytes=5_000))
    ada, bob = Chain(ADA), Chain(BOB)
    far.put(ADA, *ada.lines(1))
    far.put(BOB, *bob.lines(1 if has_read else 20))
    near = far.open()
    near.refresh()
    if has_read:
        read(near)
    far.put(BOB, *bob.lines(20 if has_read else 1))
    with pytest.raises(Behind):
        near.publish(ADA, [line := ada.next()])
    near.refresh()
    near.publish(ADA, [line])
    near.close()


def test_r4_a_push_whose_answer_was_lost_is_read_back_and_not_repeated(race: Race) -> None:
    push = FarSide.push

    def unanswered(side: FarSide, commit: str) -> None:
        push(side, commit)
        raise Unreachable("no answer")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FarSide, "push", unanswered)
        with pytest.raises(Unreachable):
            race.publish()
    race.bob_says(race.bob.next())
    with pytest.raises(Behind, match="own lane"):
        race.publish()
    race.near.refresh()
    assert read(race.near) == {ADA: [*race.adas, race.line], BOB: race.bobs}


# How long a race goes on


def test_who_is_overtaken_again_and_again_gives_up_after_some_pushes(race: Race) -> None:
    pushed = []

    def too_late(side: FarSide, commit: str) -> None:
        pushed.append(commit)
        race.bob_says(race.bob.next())
        push(side, commit)

    push = FarSide.push
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FarSide, "push", too_late)
        with pytest.raises(Behind):
            race.publish()
    assert len(pushed) == RACE_PUSHES
    race.near.refresh()
    race.publish()
    assert read(race.near) == {ADA: [*race.adas, race.line], BOB: race.bobs}


def test_who_is_overtaken_gives_up_when_the_time_is_over(race: Race) -> None:
    time = FakeTime()
    near = GitTransport(
        parse_remote(str(race.far.bare), Source.TYPED),
        race.far.folder / "slow",
        clock=time.clock,
        rest=time.sleep,
        random=lambda: 0.5,
    )
    near.refresh()
    read(near)
    pushed = []

    def slowly(side: FarSide, commit: str) -> None:
        pushed.append(commit)
        time.now += 0.4 * RACE_SECONDS
        race.bob_says(race.bob.next())
        push(side, commit)

    push = FarSide.push
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FarSide, "push", slowly)
        with pytest.raises(Behind):
            near.publish(ADA, [race.line])
    assert 1 < len(pushed) <= 3
    near.close()


def test_acknowledgements_by_themselves_are_not_worth_a_race(race: Race) -> None:
    race.bob_says(race.bob.next())
    with pytest.raises(Behind):
        race.near.publish(ADA, [], acks=b"acks")
    assert list(race.near.acks([ADA])) == []


def test_a_hook_that_says_no_ends_a_race(race: Race) -> None:
    race.bob_says(race.bob.next())
    race.far.hook("pre-receive", "echo 'not today' >&2; exit 1")
    with pytest.raises(Refused, match="not today"):
        race.publish()
    (race.far.bare / "hooks" / "pre-receive").unlink()
    race.publish()  # once more in the same pass: what refresh saw is still what was read
    assert race.is_published()


def test_a_clone_that_is_damaged_in_a_race_is_fetched_anew(race: Race) -> None:
    race.bob_says(race.bob.next())

    def damage() -> None:
        for path in (race.far.folder / "near/clone.git/objects").rglob("*"):
            if path.is_file():
                path.chmod(0o644)
                path.write_bytes(b"")

    with before_each_fetch(race.near, damage), pytest.raises(Unreachable):
        race.publish()
    race.near.refresh()
    race.publish()
    assert read(race.near) == {ADA: [*race.adas, race.line], BOB: race.bobs}


HARMLESS = {
    "goes on": lambda race: race.bob_goes_on(),
    "new segment": lambda race: race.far.put(BOB, race.bob.next()),
    "junk": lambda race: race.far.put(BOB, b"{", b"[]"),
}
HARMFUL = {
    "roster": changed_roster,
    "twin": own_lane_grew,
    "newcomer": changed_key,
    "rival": rival_of_a_line,
    "set back": set_back_and_gone_on,
}


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(HARMLESS)), max_size=3),
    st.none() | st.sampled_from(sorted(HARMFUL)),
    st.lists(st.sampled_from(sorted(HARMLESS)), max_size=2),
)
def test_whatever_else_came_in_between_it_goes_out_at_once_or_after_reading(
    before: list[str], harm: str | None, after: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        race = Race(GitFarSide(Path(folder)))
        for name in before:
            HARMLESS[name](race)
        if harm is not None:
            HARMFUL[harm](race)
            race.bobs = [
                line for line in race.bobs if any(line in race.far.content(p) for p in race.far.files())
            ]
        for name in after:
            HARMLESS[name](race)
        if harm is None:
            race.publish()
            assert race.is_published()
        else:
            with pytest.raises(Behind):
                race.publish()
            assert not race.is_published()
        race.near.close()
