"""Several transports at once: what goes where, what counts, and what one that fails costs (K2, T1, T2, R4)."""

import threading
from collections.abc import Mapping

import pytest

from core.errors import Code, DmpError
from crypto.op import Stub, read_entry, to_line
from replica.abreast import Abreast
from replica.records.meta import Meta, get
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.transports.places import DISK, GIT, Places, own_lines, record, shown
from tests.replica.world import World
from transports.base import PASS_BYTES, Pull, Unreachable
from transports.memory import MemoryRemote, MemoryTransport


def test_what_the_main_transport_has_goes_to_the_others_whole(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(ada, DISK)
    ada.send("human:bob", "hello")
    places.sync(ada)
    assert places.lines(DISK, ada) == places.lines(GIT, ada) == own_lines(ada)
    assert places.lines(DISK, bob) == []


def test_nothing_goes_elsewhere_that_the_main_transport_has_not(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.add(ada, DISK)
    places.sync(ada)
    before = places.lines(DISK, ada)
    ada.send("human:bob", "hello")
    places.at(GIT).unreachable = True
    assert isinstance(places.tried(ada), Unreachable)
    assert places.lines(DISK, ada) == before
    places.at(GIT).unreachable = False
    places.sync(ada)
    assert places.lines(DISK, ada) == own_lines(ada) != before


def test_an_op_seen_on_two_transports_is_one_op(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for machine in (ada, bob):
        places.add(machine, DISK)
    ada.send("human:bob", "once")
    places.sync(ada, bob, ada, bob)
    assert bob.bodies() == ["once"]
    assert not bob.problems()


def test_what_the_main_transport_cannot_bring_another_does(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for machine in (ada, bob):
        places.add(machine, DISK)
    ada.send("human:bob", "by hand")
    places.sync(ada)
    places.at(GIT).unreachable = True
    sync = places.pass_(bob)
    with pytest.raises(Unreachable):
        sync.run()
    assert bob.bodies() == ["by hand"]
    assert sync.besides.applied > 0
    places.at(GIT).unreachable = False
    places.sync(bob)
    assert bob.bodies() == ["by hand"]


def test_acknowledgements_are_published_everywhere(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(bob, DISK)
    ada.send("human:bob", "hello")
    places.sync(ada, bob)
    for address in (GIT, DISK):
        transport = MemoryTransport(places.at(address))
        transport.refresh()
        assert bob.me in {line.replica for line in transport.acks()}


def test_older_acknowledgements_elsewhere_do_not_replace_later_ones(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(bob, DISK)
    places.sync(bob)
    places.at(DISK).unreachable = True
    ada.send("human:bob", "hello")
    places.sync(ada, bob, ada)
    places.at(DISK).unreachable = False
    before = ada.node.store.db.execute("SELECT * FROM acks").fetchall()
    places.add(ada, DISK)
    places.sync(ada)
    assert ada.node.store.db.execute("SELECT * FROM acks").fetchall() == before


def test_one_that_fails_is_told_of_and_keeps_nobody_else_waiting(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for address in ("/media/gone", DISK):
        places.add(ada, address)
    places.at("/media/gone").unreachable = True
    ada.send("human:bob", "hello")
    report = places.sync(ada)
    assert shown(report.faults) == ["/media/gone"]
    assert places.lines(DISK, ada) == own_lines(ada)
    gone = record(ada, "/media/gone")
    assert gone.error == "memory:/media/gone does not answer"
    assert (gone.seen_at, record(ada, DISK).error) == (None, None)
    places.sync(bob)
    assert bob.bodies() == ["hello"]
    places.at("/media/gone").unreachable = False
    places.sync(ada)
    assert record(ada, "/media/gone").error is None
    assert places.lines("/media/gone", ada) == own_lines(ada)


class Hanging(MemoryTransport):
    """Answers nothing until it is let go."""

    def __init__(self, remote: MemoryRemote) -> None:
        super().__init__(remote)
        self.free = threading.Event()
        self.asked = threading.Event()

    def refresh(self) -> str:
        self.asked.set()
        self.free.wait()
        return super().refresh()


def test_one_that_hangs_is_left_alone_after_its_time_and_asked_again_when_it_is_free(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    for address in ("/media/slow", DISK):
        places.add(ada, address)
    slow = Hanging(places.at("/media/slow"))
    places.opened[id(ada.node), "/media/slow"] = slow
    asking = Abreast(seconds=0.05)
    report = places.pass_(ada, asking).run()
    assert shown(report.faults) == ["/media/slow"]
    assert "within" in report.faults[0].error.message
    assert places.lines(DISK, ada) == own_lines(ada)
    report = places.pass_(ada, asking).run()
    assert "busy" in report.faults[0].error.message
    slow.free.set()
    while asking.is_busy(slow):
        slow.asked.wait(0.01)
    report = places.pass_(ada, Abreast()).run()
    assert report.faults == []
    assert places.lines("/media/slow", ada) == own_lines(ada)


def test_others_are_asked_side_by_side(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    meeting = threading.Barrier(2, timeout=30)

    class Meeting(MemoryTransport):
        def refresh(self) -> str:
            meeting.wait()
            return super().refresh()

    for address in ("/media/one", "/media/two"):
        places.add(ada, address)
        places.opened[id(ada.node), address] = Meeting(places.at(address))
    assert places.pass_(ada, Abreast()).run().faults == []


def test_losing_a_race_elsewhere_is_tried_again_in_the_same_pass(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.add(ada, DISK)
    places.at(DISK).reject_next(3)
    assert places.sync(ada).faults == []
    assert places.lines(DISK, ada) == own_lines(ada)


def test_one_that_others_never_let_through_is_a_fault_and_no_more(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.add(ada, DISK)
    places.at(DISK).reject_next(10**6)
    assert shown(places.sync(ada).faults) == [DISK]


def test_k2_a_stub_on_one_and_the_op_on_another_make_it_whole(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(ada, DISK)
    ada.send("human:bob", "whole")
    places.sync(ada)
    git = places.at(GIT)
    state = git.state()
    lane, length = state.lanes[ada.me]
    for at in range(length):
        entry = read_entry(lane.raws[at])
        if entry.type == "mail":
            lane.raws[at] = to_line(entry if isinstance(entry, Stub) else entry.stub())
    places.sync(bob)
    assert bob.bodies() == []
    assert bob.count("missing") == 1
    places.add(bob, DISK)
    places.sync(bob)
    assert bob.bodies() == ["whole"]
    assert bob.count("missing") == 0


def test_r4_an_op_in_the_own_lane_elsewhere_that_was_not_signed_here_stops_this_replica(
    places: Places,
) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(ada, DISK)
    thief = Forger(ada)
    places.at(DISK).put(ada.me, to_line(thief.mail(bob, body="not hers")))
    with pytest.raises(DmpError) as stopped:
        places.sync(ada)
    assert stopped.value.code is Code.CONFLICT
    assert get(ada.node.store.db, Meta.STOPPED) is not None


def test_a_fork_that_only_another_transport_shows_halts_that_log(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for machine in (ada, bob):
        places.add(machine, DISK)
    places.sync(ada, bob)
    rival = Forger(ada).mail(bob, body="another history")
    ada.send("human:bob", "the first history")
    places.sync(ada, bob)
    places.at(DISK).put(ada.me, to_line(rival))  # below what bob has read by now
    places.sync(bob)
    assert f"halt:{ada.me}" in bob.problems()


def test_a_gap_elsewhere_is_no_problem_of_anybodys_log(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(bob, DISK)
    ada.send("human:bob", "one")
    places.sync(ada, bob)
    places.at(DISK).put(ada.me, *own_lines(ada)[-1:])
    ada.send("human:bob", "two")
    places.sync(ada)
    places.at(DISK).put(ada.me, *own_lines(ada)[-1:])
    places.sync(bob)
    assert not bob.problems()


def test_one_that_was_set_back_is_told_of_and_gets_the_own_log_again(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for machine in (ada, bob):
        places.add(machine, DISK)
    ada.send("human:bob", "hello")
    places.sync(ada, bob, ada)
    places.at(DISK).roll_back(100)
    places.sync(bob, ada)
    assert any(subject.startswith("set-back:") for subject in bob.problems())
    assert places.lines(DISK, ada) == own_lines(ada)
    assert bob.bodies() == ["hello"]


def test_another_teams_lanes_elsewhere_make_nobody_wait_to_be_admitted(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    elsewhere = World(places.w.folder / "elsewhere", places.at(DISK), places.w.stack, seed=70)
    strangers = elsewhere.team("zoe", "yan")
    places.add(ada, DISK)
    places.sync(ada, ada)
    assert ada.node.team is not None
    assert ada.node.team.view.pending == ()
    assert not set(ada.node.team.keys) & {stranger.me for stranger in strangers}
    assert record(ada, DISK).tip is not None  # nothing of it is read again and again
    assert places.lines(DISK, ada) == own_lines(ada)


def test_who_proves_an_invite_may_ask_to_be_let_in_over_another_transport(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.add(ada, DISK)
    places.sync(ada)
    code = commands.invite(places.pass_(ada), "cy")
    places.sync(ada)
    cy = places.w.machine("cy")
    cy.transport = MemoryTransport(places.at(DISK))
    commands.join(cy.pass_(), code.encode())
    places.sync(ada, ada)
    cy.sync()
    assert cy.node.team is not None
    assert cy.node.team.ready(cy.me)


def test_adding_one_that_holds_this_teams_lanes_already_changes_nothing(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    ada.send("human:bob", "hello")
    places.sync(ada, bob, ada)
    for machine in (ada, bob):
        places.at(DISK).put(machine.me, *own_lines(machine))
    tip = places.at(DISK).tip
    places.add(ada, DISK)
    report = places.sync(ada)
    assert (report.applied, report.faults) == (0, [])
    assert places.lines(DISK, ada) == own_lines(ada)
    assert places.at(DISK).tip != tip  # acknowledgements were not there


def test_t1_what_is_held_is_read_again_from_the_other_transport(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for machine in (ada, bob):
        places.add(machine, DISK)
    ada.clock.ms += 20 * 60_000
    ada.send("human:bob", "held")
    places.sync(ada)
    places.at(GIT).hidden[ada.me] = ada.chain()[-1].seq
    places.sync(bob)
    assert bob.bodies() == []
    assert record(bob, DISK).tip is None
    bob.clock.ms += 20 * 60_000
    places.sync(bob)
    assert bob.bodies() == ["held"]


def test_t2_one_that_takes_an_op_and_does_not_show_it_is_a_fault_and_gets_it_again(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.add(ada, DISK)
    places.at(DISK).hidden[ada.me] = 2
    report = places.sync(ada)
    assert "does not show it" in report.faults[0].error.message
    assert record(ada, DISK).read_back == 0
    del places.at(DISK).hidden[ada.me]
    assert places.sync(ada).faults == []
    assert record(ada, DISK).read_back == len(own_lines(ada))


def test_t2_the_main_one_has_what_was_read_back_there_and_no_more(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    ada.send("human:bob", "hello")
    places.at(GIT).hidden[ada.me] = len(own_lines(ada)) + 1
    places.sync(ada)
    assert record(ada, GIT).read_back < ada.chain()[-1].seq
    del places.at(GIT).hidden[ada.me]
    places.sync(ada)
    assert record(ada, GIT).read_back == ada.chain()[-1].seq


def test_t5_mail_sealed_to_who_left_goes_elsewhere_as_its_stub(places: Places) -> None:
    ada, bob, cy = places.team("ada", "bob", "cy")
    ada.send(("human:bob", "human:cy"), "for both")
    places.sync(ada)
    commands.revoke(places.pass_(ada), cy.me, "laptop stolen")
    places.add(ada, DISK)
    places.sync(ada)
    mails = [entry for entry in map(read_entry, places.lines(DISK, ada)) if entry.type == "mail"]
    assert mails
    assert all(isinstance(entry, Stub) for entry in mails if cy.me in (entry.to or ()))
    assert places.sync(ada).faults == []  # and it is not published there again and again
    assert len(places.lines(DISK, ada)) == len(own_lines(ada))
    places.sync(bob)
    assert bob.bodies() == ["for both"]


def test_a_paused_replica_leaves_nothing_elsewhere(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.add(ada, DISK)
    marker = ada.node.place.markers.describe(999, "f" * 64)
    ada.node.place.markers.write(ada.me, marker)
    assert places.sync(ada).paused is not None
    assert places.lines(DISK, ada) == []


class Reading(MemoryTransport):
    """Remembers from where it was asked to read."""

    def __init__(self, remote: MemoryRemote) -> None:
        super().__init__(remote)
        self.pulls: list[dict[str, int]] = []

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        self.pulls.append(dict(since))
        return super().pull(since, budget=budget)


def test_t1_a_pull_never_starts_above_the_verified_head(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(ada, DISK)
    for machine in (ada, bob):
        places.at(DISK).put(machine.me, *own_lines(machine))
    reading = Reading(places.at(DISK))
    places.opened[id(ada.node), DISK] = reading
    places.sync(ada)
    head = bob.chain()[-1].seq
    bob.send("human:ada", "hello")
    places.sync(bob)
    places.at(DISK).put(bob.me, *own_lines(bob)[head:])
    places.sync(ada)
    assert reading.pulls[0][bob.me] == 0  # the first visit reads everything
    assert 0 < reading.pulls[-1][bob.me] <= head


def test_a_transport_that_breaks_every_promise_fails_alone(places: Places) -> None:
    class Broken(MemoryTransport):
        def refresh(self) -> str:
            raise KeyError("its author's mistake")

    ada, bob = places.team("ada", "bob")
    places.add(ada, DISK)
    places.opened[id(ada.node), DISK] = Broken(places.at(DISK))
    ada.send("human:bob", "hello")
    (fault,) = places.sync(ada).faults
    assert "KeyError" in fault.error.message
    assert "its author's mistake" not in fault.error.message
    places.sync(bob)
    assert bob.bodies() == ["hello"]


def test_a_replica_that_stopped_for_good_publishes_nowhere(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.add(ada, DISK)
    Forger(ada).publish(Forger(ada).mail(bob, body="not hers"))
    with pytest.raises(DmpError):
        places.sync(ada)
    places.at(GIT).unreachable = True
    assert isinstance(places.tried(ada), Unreachable)
    assert places.lines(DISK, ada) == []
