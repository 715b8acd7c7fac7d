"""The client against the real relay in a process of its own, over real sockets."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.transports.far_sides import FAULTY_PASSES, Faulty
from tests.transports.relay.client.me import Me, transport_to
from tests.transports.relay.client.served import RelayProcess, ServedFarSide, running
from tests.transports.relay.client.team import Team
from transports.base import Behind, Line, Transport, TransportError, Unreachable
from transports.contract import Author, FarSide, TransportContract
from transports.relay.client.registration import Terms, ask_terms, register


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running(tmp_path_factory.mktemp("relay") / "state") as process:
        yield process


@pytest.fixture
def side(relay: RelayProcess, tmp_path: Path) -> ServedFarSide:
    return ServedFarSide(relay, tmp_path)


@pytest.fixture
def ada(side: ServedFarSide) -> Author:
    return side.author("ada-0000000a")


@pytest.fixture
def bob(side: ServedFarSide) -> Author:
    return side.author("bob-0000000b")


@pytest.fixture
def near(side: ServedFarSide, ada: Author) -> Iterator[Transport]:
    transport = side.open(ada, "first")
    yield transport
    transport.close()


class TestServed(TransportContract):
    @pytest.fixture
    def far(self, side: ServedFarSide) -> FarSide:
        return side


class TestServedUnderFaults(TransportContract):
    tries = FAULTY_PASSES + 3

    @pytest.fixture
    def far(self, side: ServedFarSide) -> FarSide:
        return Faulty(side)


def persist(deed: Callable[[], object]) -> None:
    """Do something until it succeeds."""
    for _ in range(200):
        try:
            deed()
        except TransportError:
            continue
        return
    deed()


def test_a_team_is_registered_once_and_is_then_held_already(relay: RelayProcess) -> None:
    team = Team(Author.new("gus-00000001"))
    for ops in ([], [team.key, team.found]):
        assert register(relay.url, team.key, team.found, ops) == team.id
    assert ask_terms(relay.url) == Terms(4, token_required=False, token_accepted=False)


def test_a_team_that_the_relay_does_not_know_is_told(relay: RelayProcess, tmp_path: Path) -> None:
    near = transport_to(relay.url, tmp_path, Me())
    with pytest.raises(Unreachable, match="knows no such team"):
        near.refresh()
    near.close()


def test_whoever_is_not_in_the_team_is_told(side: ServedFarSide, relay: RelayProcess, tmp_path: Path) -> None:
    stranger = Author.new("sue-00000005")
    team = side.members.team
    near = transport_to(relay.url, tmp_path, team.me(stranger))
    with pytest.raises(Unreachable, match="does not know this replica"):
        near.refresh()
    near.close()
    near = transport_to(relay.url, tmp_path, team.me(stranger, stranger.says()))
    with pytest.raises(Unreachable, match="open invite"):
        near.refresh()
    near.close()


def test_another_key_than_the_team_s_is_not_believed(
    side: ServedFarSide, relay: RelayProcess, ada: Author, tmp_path: Path
) -> None:
    me = side.members.me(ada)
    me.key = Author.new("eve-0000000e").secrets.signer
    near = transport_to(relay.url, tmp_path, me)
    with pytest.raises(Unreachable, match="does not believe"):
        near.refresh()
    near.close()


@pytest.mark.parametrize("step", ["before it is asked", "before a publish", "after a publish"])
def test_t1_a_relay_that_is_killed_between_two_steps_loses_nothing_it_stored(
    relay: RelayProcess, side: ServedFarSide, near: Transport, ada: Author, bob: Author, step: str
) -> None:
    first, second = ada.speech(3), ada.speech(3)
    near.refresh()
    near.publish(ada.replica, first)
    if step == "before it is asked":
        relay.kill()
        relay.start()
    persist(near.refresh)
    if step == "before a publish":
        relay.kill()
        relay.start()
    persist(lambda: near.publish(ada.replica, second, acks=ada.acknowledges({bob.replica: 1})))
    if step == "after a publish":
        relay.kill()
        relay.start()
    reader = side.open(bob, "first")
    reader.refresh()
    assert [line.raw for line in reader.pull({ada.replica: ada.first}) if line.replica == ada.replica] == (
        first + second
    )
    reader.close()


def test_t1_a_reader_misses_nothing_of_a_relay_that_is_killed_again_and_again(
    relay: RelayProcess, side: ServedFarSide, near: Transport, ada: Author, bob: Author
) -> None:
    wanted: list[bytes] = []
    found: list[bytes] = []
    done = threading.Event()
    reader = side.open(bob, "first")

    def read() -> None:
        since = ada.first
        while not (done.is_set() and len(found) == len(wanted)):
            try:
                reader.refresh()
                for line in reader.pull({ada.replica: since}):
                    if line.replica == ada.replica:
                        found.append(line.raw)
                        since += 1
                reader.watch(0.05)
            except TransportError:
                continue

    reading = threading.Thread(target=read)
    reading.start()
    for _ in range(3):
        for _ in range(5):
            wanted += (lines := ada.speech(2))
            persist(near.refresh)
            persist(lambda lines=lines: near.publish(ada.replica, lines))  # type: ignore[misc]
        relay.kill()
        relay.start()
    done.set()
    reading.join(60)
    assert not reading.is_alive()
    assert found == wanted
    reader.close()


def test_r4_a_twin_s_publish_is_behind_and_is_not_tried_for_ever(
    side: ServedFarSide, near: Transport, ada: Author
) -> None:
    twin = ada.twin()
    near.refresh()
    near.publish(ada.replica, mine := ada.speech(1))
    elsewhere = side.open(ada, "twin")
    for _ in range(3):
        elsewhere.refresh()
        with pytest.raises(Behind, match="another op of this replica"):
            elsewhere.publish(ada.replica, twin.speech(1, "of a twin"))
        assert list(elsewhere.lane(ada.replica, ada.first)) == [Line(ada.replica, raw) for raw in mine]
    elsewhere.close()


def test_a_push_wakes_whoever_watches_and_is_read_by_a_pull(
    side: ServedFarSide, near: Transport, ada: Author, bob: Author
) -> None:
    near.refresh()
    list(near.pull({}))
    other = side.open(bob, "first")
    other.refresh()
    saying = threading.Timer(0.2, lambda: other.publish(bob.replica, lines))
    lines = bob.speech(1)
    saying.start()
    assert near.watch(30)
    saying.join()
    near.refresh()
    assert [line.raw for line in near.pull({bob.replica: bob.first}) if line.replica == bob.replica] == lines
    other.close()


def test_a_revoked_replica_that_is_connected_is_told_at_once(
    side: ServedFarSide, relay: RelayProcess, near: Transport, ada: Author, tmp_path: Path
) -> None:
    team = side.members.team
    near.refresh()
    founder = transport_to(relay.url, tmp_path / "founder", team.me(team.founder))
    founder.refresh()
    founder.publish(team.founder.replica, [team.revokes(ada)])
    founder.close()
    assert near.watch(30)
    with pytest.raises(Unreachable, match="has revoked this replica"):
        near.refresh()
