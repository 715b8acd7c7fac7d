"""K4: a replica that tells two stories comes to one thing everywhere, once both are known, whatever came first."""

from collections.abc import Callable

import pytest

from crypto.op import Op, to_line
from crypto.roster.bodies import CutPoint, Revoke, Role, SetRole
from replica.sync import WHOLE_MS
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import put_body, sign, title_of, view_of
from tests.replica.world import Machine, World, exchange
from transports.memory import MemoryRemote, MemoryTransport


class Liar:
    """An admin that signs two continuations of its own log, and shows each where it likes."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.one, self.other = Forger(machine), Forger(machine)
        self.other.ms += 500

    def show(self, *made: Op, to: Machine) -> None:
        """Put ops where one machine alone looks: its remote is a copy of the far side as it was then."""
        transport = to.transport
        assert isinstance(transport, MemoryTransport)
        transport._remote.put(self.machine.me, *(to_line(op) for op in made))
        to.sync()


def copy_of(remote: MemoryRemote) -> MemoryRemote:
    """A far side that holds what another one does now."""
    made, state = MemoryRemote("copy"), remote.state()
    for replica, raws in lines_of(remote).items():
        made._append(replica, raws, state.acks.get(replica))
    return made


def lines_of(remote: MemoryRemote) -> dict[str, list[bytes]]:
    return {replica: lane.raws[:length] for replica, (lane, length) in remote.state().lanes.items()}


def split(w: World, *machines: Machine) -> Callable[[], None]:
    """Give each machine a far side of its own, with what is there now; what is returned brings them together."""
    together = w.remote
    for each in machines:
        each.transport = MemoryTransport(copy_of(together))

    def heal() -> None:
        for each in machines:
            own = each.transport
            assert isinstance(own, MemoryTransport)
            for replica, lines in lines_of(own._remote).items():
                have = set(lines_of(together).get(replica, ()))
                together.put(replica, *(line for line in lines if line not in have))
        for each in machines:
            each.transport = MemoryTransport(together)
            each.clock.ms += WHOLE_MS

    return heal


def team_with_a_liar(w: World) -> list[Machine]:
    """Ada the founder, bob and cy who listen, and mal, an admin."""
    machines = w.team("ada", "bob", "cy", "mal")
    ada, *_, mal = machines
    commands.set_role(ada.pass_(), mal.me, Role.ADMIN)
    exchange(*machines)
    return machines


def agree(*machines: Machine) -> None:
    """All see one roster and one state."""
    first, *others = machines
    for each in others:
        ours, theirs = view_of(first), view_of(each)
        assert ours.members == theirs.members
        assert ours.revoked == theirs.revoked
        assert ours.forks == theirs.forks
        assert ours.ignored == theirs.ignored
        assert title_of(first) == title_of(each)


@pytest.mark.parametrize("mirrored", [False, True])
def test_two_roster_ops_at_one_seq_come_to_the_smaller_hash_everywhere(w: World, mirrored: bool) -> None:
    ada, bob, cy, mal = team_with_a_liar(w)
    liar = Liar(mal)
    cut = commands.last_verified(ada.node, mal.me)
    assert cut.after_seq
    one = liar.one.op("roster", body=SetRole(bob.me, Role.ADMIN).to_json())
    other = liar.other.op("roster", body=SetRole(cy.me, Role.ADMIN).to_json())
    heal = split(w, bob, cy)
    liar.show(other if mirrored else one, to=bob)
    liar.show(one if mirrored else other, to=cy)
    assert view_of(bob).members != view_of(cy).members
    heal()
    exchange(ada, bob, cy)
    agree(ada, bob, cy)
    chosen = bob if one.hash < other.hash else cy
    for each in (ada, bob, cy):
        assert view_of(each).is_admin(chosen.me)
        assert view_of(each).is_admin(bob.me) is not view_of(each).is_admin(cy.me)
        assert f"halt:{mal.me}" in each.problems()


def test_what_follows_a_fork_is_taken_back_where_it_was_believed(w: World) -> None:
    ada, bob, cy, mal = team_with_a_liar(w)
    liar = Liar(mal)
    task = {"origin": "2026-09-21T14:13:20.000Z"}
    first = liar.one.op("task", body=put_body("t-0000aa", title="for bob", **task))
    then = liar.one.op("roster", body=SetRole(bob.me, Role.ADMIN).to_json())
    other = liar.other.op("task", body=put_body("t-0000aa", title="for cy", **task))
    heal = split(w, bob, cy)
    liar.show(first, then, to=bob)
    liar.show(other, to=cy)
    assert title_of(bob) == "for bob"
    assert title_of(cy) == "for cy"
    assert view_of(bob).is_admin(bob.me)
    heal()
    exchange(bob, cy, ada)
    agree(ada, bob, cy)
    for each in (ada, bob, cy):
        assert title_of(each) is None
        assert not view_of(each).is_admin(bob.me)


def test_a_fork_below_another_one_moves_the_end_down_for_everybody(w: World) -> None:
    ada, bob, cy, mal = team_with_a_liar(w)
    early = Forger(mal)
    early.ms += 700
    liar = Liar(mal)
    first = liar.one.op("task", body=put_body("t-0000aa", title="kept by some"))
    liar.other.seq, liar.other.prev, liar.other.ms = liar.one.seq, liar.one.prev, liar.one.ms + 500
    heal = split(w, bob, cy)
    liar.show(first, liar.one.op("roster", body=SetRole(bob.me, Role.ADMIN).to_json()), to=bob)
    liar.show(first, liar.other.op("roster", body=SetRole(cy.me, Role.ADMIN).to_json()), to=cy)
    heal()
    exchange(ada, bob, cy)
    agree(ada, bob, cy)
    assert view_of(ada).forks == {mal.me: first.seq + 1}
    early.publish(early.op("roster", body=SetRole(ada.me, Role.ADMIN).to_json()))
    for each in (ada, bob, cy):
        each.clock.ms += WHOLE_MS
    exchange(cy, bob, ada)
    agree(ada, bob, cy)
    assert view_of(ada).forks == {mal.me: first.seq}
    late = w.machine("dan")
    late.clock.ms = ada.clock.ms
    code = commands.invite(ada.pass_(), "dan")
    commands.join(late.pass_(), code.encode())
    exchange(ada, late)
    agree(ada, late)


def test_a_gap_filled_beside_the_history_one_knew_is_one_place_for_all(w: World) -> None:
    """Two ops after one, of different seqs: who read the later one first ends where all others do."""
    ada, bob, cy, mal = team_with_a_liar(w)
    liar = Liar(mal)
    liar.other.seq += 2
    task = {"origin": "2026-09-21T14:13:20.000Z"}
    lower = liar.one.op("task", body=put_body("t-0000aa", title="lower", **task))
    higher = liar.other.op("task", body=put_body("t-0000aa", title="higher", **task))
    heal = split(w, bob, cy)
    liar.show(lower, to=bob)
    liar.show(higher, to=cy)
    heal()
    exchange(ada, bob, cy)
    agree(ada, bob, cy)
    assert title_of(ada) == "lower"
    assert view_of(cy).forks == {mal.me: higher.seq}


@pytest.mark.parametrize("revoked_first", [False, True])
def test_a_revoked_replica_cannot_undo_or_add_to_what_its_revocation_left(
    w: World, revoked_first: bool
) -> None:
    """A thief has the key of a machine that let dan in: neither dan nor the thief's own friend is touched by a fork."""
    ada, bob, cy, mal = team_with_a_liar(w)
    thief = Forger(mal)
    thief.ms += 500
    dan = w.machine("dan")
    code = commands.invite(mal.pass_(), "dan")
    commands.join(dan.pass_(), code.encode())
    exchange(mal, dan, ada, bob, cy)
    assert dan.me in view_of(ada).members
    rival = thief.op("roster", body=SetRole(cy.me, Role.ADMIN).to_json())
    revoke = Revoke(mal.me, commands.last_verified(ada.node, mal.me), "laptop stolen")
    if revoked_first:
        sign(ada, revoke)
        exchange(ada, bob)
        thief.publish(rival)
    else:
        thief.publish(rival)
        bob.clock.ms += WHOLE_MS
        bob.sync()
        assert dan.me not in view_of(bob).members
        sign(ada, revoke)
    for each in (ada, bob, cy):
        each.clock.ms += WHOLE_MS
    exchange(ada, bob, cy)
    late = w.machine("eve")
    late.clock.ms = ada.clock.ms
    code = commands.invite(ada.pass_(), "eve")
    commands.join(late.pass_(), code.encode())
    exchange(ada, late, bob, cy)
    agree(ada, bob, cy, late)
    for each in (ada, bob, cy, late):
        assert dan.me in view_of(each).members
        assert not view_of(each).is_admin(cy.me)
        assert view_of(each).forks == {}


def test_a_machine_that_was_let_in_by_the_thief_keeps_its_say_over_it(w: World) -> None:
    """Bob is an admin by mal's word alone, and revokes mal: no fork of mal's below that takes bob's word away."""
    ada, bob, cy, mal = team_with_a_liar(w)
    thief = Forger(mal)
    thief.ms += 500
    commands.set_role(mal.pass_(), bob.me, Role.ADMIN)
    exchange(mal, bob, ada, cy)
    commands.revoke(bob.pass_(), mal.me, "laptop stolen")
    thief.publish(thief.op("roster", body=Revoke(bob.me, CutPoint(0, "0" * 64), "ha").to_json()))
    for each in (ada, bob, cy):
        each.clock.ms += WHOLE_MS
    exchange(ada, bob, cy)
    agree(ada, bob, cy)
    for each in (ada, bob, cy):
        assert mal.me in view_of(each).revoked
        assert view_of(each).is_admin(bob.me)


def test_who_told_two_stories_is_revoked_as_of_before_they_part(w: World) -> None:
    ada, bob, cy, mal = team_with_a_liar(w)
    liar = Liar(mal)
    before = commands.last_verified(ada.node, mal.me)
    heal = split(w, ada, cy)
    liar.show(liar.one.op("task", body=put_body("t-0000aa", title="for ada")), to=ada)
    liar.show(liar.other.op("task", body=put_body("t-0000aa", title="for cy")), to=cy)
    heal()
    bob.clock.ms = ada.clock.ms
    exchange(cy, ada, bob)
    commands.revoke(ada.pass_(), mal.me, "tells two stories")
    exchange(cy, bob, ada)
    agree(ada, bob, cy)
    assert view_of(cy).revoked[mal.me].point == before
    assert title_of(cy) is None


def test_a_revocation_that_names_an_end_beyond_a_fork_says_which_history_is_meant(w: World) -> None:
    """What follows that end counts nowhere, and is told of nowhere, whoever had read it before."""
    ada, bob, cy, mal = team_with_a_liar(w)
    liar = Liar(mal)
    task = {"origin": "2026-09-21T14:13:20.000Z"}
    raised = liar.one.op("roster", body=SetRole(bob.me, Role.ADMIN).to_json())
    end = liar.one.op("task", body=put_body("t-0000aa", title="meant", **task))
    beyond = liar.one.op("roster", body=SetRole(cy.me, Role.ADMIN).to_json())
    other = liar.other.op("task", body=put_body("t-0000aa", title="not meant", **task))
    heal = split(w, cy, bob)
    liar.show(raised, end, beyond, to=cy)
    liar.show(other, to=bob)
    heal()
    ada.clock.ms = bob.clock.ms
    exchange(bob, cy, ada)
    assert view_of(bob).forks == {mal.me: raised.seq}
    sign(ada, Revoke(mal.me, CutPoint(end.seq, end.hash), "tells two stories"))
    exchange(ada, bob, cy)
    agree(ada, bob, cy)
    for each in (ada, bob, cy):
        assert view_of(each).forks == {}
        assert view_of(each).is_admin(bob.me)
        assert not view_of(each).is_admin(cy.me)
        assert title_of(each) == "meant"


def test_what_was_folded_of_another_history_goes_when_the_meant_one_is_read_after_its_revocation(
    w: World,
) -> None:
    ada, bob, cy, mal = team_with_a_liar(w)
    liar = Liar(mal)
    raised = liar.one.op("roster", body=SetRole(bob.me, Role.ADMIN).to_json())
    end = liar.one.op("task", body=put_body("t-0000bb", title="meant"))
    other = liar.other.op("task", body=put_body("t-0000aa", title="not meant"))
    heal = split(w, cy)
    liar.show(other, to=cy)
    assert title_of(cy) == "not meant"
    w.remote.put(mal.me, to_line(raised), to_line(end))
    exchange(ada, bob)
    sign(ada, Revoke(mal.me, CutPoint(end.seq, end.hash), "tells two stories"))
    ada.sync()
    alone = cy.transport
    assert isinstance(alone, MemoryTransport)
    alone._remote.put(ada.me, *ada.lane())
    cy.sync()
    assert mal.me in view_of(cy).revoked
    heal()
    ada.clock.ms = bob.clock.ms = cy.clock.ms
    exchange(cy, ada, bob, cy)
    agree(ada, bob, cy)
    assert title_of(cy) is None


def test_content_that_was_missing_below_a_fork_comes_once_it_is_there(w: World) -> None:
    """K2 and K4 together: bob was shown a stub, and then that the log goes two ways."""
    ada, bob, cy, mal = team_with_a_liar(w)
    before = Forger(mal)
    letter = before.mail(bob, body="whole")
    one = before.op("task", body=put_body("t-0000aa", title="one"))
    heal = split(w, bob)
    transport = bob.transport
    assert isinstance(transport, MemoryTransport)
    transport._remote.put(mal.me, to_line(letter.stub()), to_line(one))
    bob.sync()
    before.seq, before.prev = one.seq, letter.hash
    other = before.op("task", body=put_body("t-0000aa", title="other"))
    transport._remote.put(mal.me, to_line(other))
    bob.clock.ms += WHOLE_MS
    bob.sync()
    assert f"halt:{mal.me}" in bob.problems()
    assert bob.bodies() == []
    w.remote.put(mal.me, *(to_line(op) for op in (letter, one, other)))
    commands.set_role(ada.pass_(), cy.me, Role.ADMIN)  # for which bob reads all logs once more
    heal()
    bob.sync()
    assert view_of(bob).is_admin(cy.me)
    assert bob.bodies() == ["whole"]
    assert bob.count("missing") == 0
