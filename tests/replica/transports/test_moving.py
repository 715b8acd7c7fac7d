"""Moving the team to a relay and back: who goes when, and what goes wrong on the way (federation wire 7.8)."""

from collections.abc import Callable

import pytest

from core.errors import Code, DmpError
from crypto.roster.bodies import Role as InTeam
from crypto.roster.bodies import SetTransport, TransportKind
from replica.records.commits import CommitPoint
from replica.records.link import Link, Role
from replica.team import commands
from replica.team.changes import sign_change
from replica.team.transport import DISCLOSURE, use_git, use_relay
from tests.replica.transports.places import (
    DISK,
    GIT,
    RELAY,
    SECOND_RELAY,
    Places,
    main_of,
    own_lines,
    record,
    roles,
)
from tests.replica.world import Machine
from transports.base import Refused, Unreachable


def problem(machine: Machine) -> str | None:
    return machine.problems().get("move")


def test_every_machine_goes_to_the_relay_with_its_whole_log_and_mail_goes_on(places: Places) -> None:
    ada, bob, cy = places.team("ada", "bob", "cy")
    ada.send("human:bob", "before")
    assert places.to_relay(ada)
    bob.send("human:cy", "meanwhile")
    places.sync(ada, bob, cy, rounds=3)
    for machine in (ada, bob, cy):
        assert main_of(machine) == RELAY
        assert places.lines(RELAY, machine) == own_lines(machine)
        assert not machine.problems()
        assert roles(machine) == {RELAY: Role.MAIN, GIT: Role.FORMER}
    cy.send("human:bob", "after")
    places.sync(cy, bob)
    assert bob.bodies() == ["before", "after"]
    assert cy.bodies() == ["meanwhile"]
    assert len(places.lines(GIT, cy)) < len(places.lines(RELAY, cy))  # nothing new goes to the place before


def test_moving_there_again_changes_nothing(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    assert places.to_relay(ada)
    places.sync(ada)
    assert not places.to_relay(ada)
    assert not places.to_relay(ada, RELAY + "/")


def test_the_team_goes_back_to_where_each_machine_met_it_before(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    bob.send("human:ada", "over the relay")
    places.sync(bob, ada)
    assert places.to_git(ada)
    places.sync(ada, bob, rounds=3)
    for machine in (ada, bob):
        assert main_of(machine) == GIT
        assert places.lines(GIT, machine) == own_lines(machine)
        assert not machine.problems()
    ada.send("human:bob", "back again")
    places.sync(ada, bob)
    assert bob.bodies() == ["back again"]


def test_a_machine_that_was_away_says_what_waited_where_it_was_and_then_follows(places: Places) -> None:
    ada, bob, cy = places.team("ada", "bob", "cy")
    cy.send("human:bob", "written on a train")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    ada.send("human:cy", "we moved")
    places.sync(ada, bob, rounds=2)
    sync = places.pass_(cy)
    sync.run()
    assert main_of(cy) == RELAY
    assert places.lines(GIT, cy)[-1] == own_lines(cy)[-1]
    assert sync.transport.url == f"memory:{RELAY}"
    places.sync(cy, bob)
    assert cy.bodies() == ["we moved"]
    assert bob.bodies() == ["written on a train"]
    assert not bob.problems()  # what is not on the relay yet is not said to be withheld


def test_what_a_machine_that_has_not_moved_says_is_read_where_it_is(places: Places) -> None:
    ada, bob, cy = places.team("ada", "bob", "cy")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=2)
    cy.send("human:bob", "still here")
    cy.sync()  # a version that does not follow
    places.sync(bob)
    assert bob.bodies() == ["still here"]


def test_once_everybody_was_seen_the_place_before_is_not_read_any_more(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    places.at(GIT).unreachable = True
    assert places.sync(ada).faults == []
    assert places.sync(bob).faults == []


def test_of_two_admins_who_move_the_team_at_once_one_place_wins_everywhere(places: Places) -> None:
    ada, bob, cy = places.team("ada", "bob", "cy")
    commands.set_role(places.pass_(ada), bob.me, InTeam.ADMIN)
    places.sync(ada, bob, cy, rounds=2)
    places.to_relay(ada)
    places.sync(cy)
    assert main_of(cy) == RELAY
    # Bob's machine had not heard of it yet: its word is signed on top of what it knew, and published after.
    places.registered.add(SECOND_RELAY)
    bob.clock.ms += 60_000
    with bob.node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
        sign_change(bob.node, db, SetTransport(TransportKind.RELAY, SECOND_RELAY))
    ada.send("human:cy", "where are you?")
    places.sync(bob, ada, cy, rounds=4)
    for machine in (ada, bob, cy):
        assert main_of(machine) == SECOND_RELAY
        assert places.lines(SECOND_RELAY, machine) == own_lines(machine)
    assert cy.bodies() == ["where are you?"]
    bob.send("human:ada", "here")
    places.sync(bob, ada)
    assert ada.bodies() == ["here"]


@pytest.mark.parametrize("away", [True, False], ids=["unreachable", "refuses"])
def test_a_relay_that_cannot_be_used_keeps_a_machine_where_it_is_and_says_why(
    places: Places, away: bool
) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.at(RELAY).unreachable = away
    if not away:
        places.registered.clear()
    bob.send("human:ada", "hello")
    places.sync(bob)
    assert main_of(bob) == GIT
    told = problem(bob)
    assert told is not None
    assert ("does not answer" if away else "knows no such team") in told
    places.at(RELAY).unreachable = False
    places.registered.add(RELAY)
    places.sync(bob, ada, bob, ada)
    assert (main_of(ada), main_of(bob)) == (RELAY, RELAY)
    assert ada.bodies() == ["hello"]
    assert problem(bob) is None


def test_a_relay_that_does_not_take_the_team_is_not_named(places: Places) -> None:
    ada, _ = places.team("ada", "bob")

    asked = []

    def refuses(url: str, *_given: object) -> None:
        asked.append(url)
        raise Refused("it takes new teams only with a token")

    with pytest.raises(Refused):
        use_relay(places.pass_(ada), RELAY, refuses, confirmed=True)
    assert asked == [RELAY]  # once: each time may take a minute's work, and counts against a limit
    assert ada.node.team is not None
    assert ada.node.team.view.transport.kind is TransportKind.GIT
    assert ada.count("unpublished") == 0


def test_a_relay_that_loses_what_it_takes_is_not_moved_to(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.at(RELAY).hidden[bob.me] = 1
    places.sync(bob)
    assert main_of(bob) == GIT
    assert "does not show it" in (problem(bob) or "")


def test_where_a_relay_is_gone_for_good_the_way_back_is_heard_where_the_team_was(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    places.at(RELAY).unreachable = True
    bob.send("human:ada", "is anybody there?")
    with pytest.raises(Unreachable):
        places.sync(bob)
    back_by_hand(places, ada, GIT)
    assert places.to_git(ada)
    assert isinstance(places.tried(bob), Unreachable)  # and it went there all the same
    places.sync(bob, ada, bob, ada)
    assert (main_of(ada), main_of(bob)) == (GIT, GIT)
    assert ada.bodies() == ["is anybody there?"]
    assert not bob.problems()


def back_by_hand(places: Places, machine: Machine, address: str) -> None:
    from replica.moving import carry, settle

    carry(machine.node, machine.node.team, places.open_for(machine)(Link(address)))
    settle(machine.node, machine.node.team, Link(address))


def test_a_place_that_was_typed_here_holds_until_the_roster_says_something_new(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    back_by_hand(places, ada, DISK)
    places.sync(ada)
    assert main_of(ada) == DISK
    places.sync(ada)
    assert main_of(ada) == DISK


def test_another_transport_that_becomes_the_main_one_is_one_transport(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.registered.add(RELAY)
    places.add(ada, RELAY)
    places.sync(ada)
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    assert roles(ada) == {RELAY: Role.MAIN, GIT: Role.FORMER}
    assert record(ada, RELAY).read_back == ada.chain()[-1].seq


def test_a_machine_that_waits_to_be_admitted_follows_too(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    code = commands.invite(places.pass_(ada), "cy")
    cy = places.w.machine("cy")
    places.to_relay(ada)
    places.sync(ada)
    commands.join(places.pass_(cy), code.encode(), Link(GIT))
    places.sync(cy)
    assert main_of(cy) == RELAY
    places.sync(ada, cy)
    assert cy.node.team is not None
    assert cy.node.team.ready(cy.me)


# What is refused


def cannot(what: Callable[[], object]) -> DmpError:
    with pytest.raises(DmpError) as refused:
        what()
    return refused.value


def stays(ada: Machine) -> None:
    assert ada.node.team is not None
    assert ada.node.team.view.transport.kind is TransportKind.GIT


def test_no_move_before_a_person_confirmed_what_the_relay_can_read(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    refused = cannot(lambda: use_relay(places.pass_(ada), RELAY, places.register, confirmed=False))
    assert refused.code is Code.FORBIDDEN
    assert places.registered == set()
    stays(ada)


def test_what_is_confirmed_says_what_whoever_runs_the_relay_can_read_and_what_not() -> None:
    for word in (
        "not sealed",
        "board",
        "memory",
        "documents",
        "roster",
        "presence",
        "who messaged whom and when",
    ):
        assert word in DISCLOSURE
    assert "cannot read what messages say" in DISCLOSURE


@pytest.mark.parametrize(
    "url", ["ws://relay.example", "https://relay.example", "wss://", "relay.example", "wss://a b", "-wss://x"]
)
def test_no_move_to_an_address_that_is_not_wss(places: Places, url: str) -> None:
    ada, _ = places.team("ada", "bob")
    refused = cannot(lambda: places.to_relay(ada, url))
    assert (refused.code, refused.field) == (Code.INVALID, "url")
    assert places.registered == set()
    stays(ada)


@pytest.mark.parametrize("url", ["ws://localhost:8080", "ws://127.0.0.1:9", "ws://[::1]:9"])
def test_ws_leads_to_this_machine_itself(places: Places, url: str) -> None:
    ada, _ = places.team("ada", "bob")
    assert places.to_relay(ada, url)


def test_no_move_by_a_plain_member(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    for what in (lambda: places.to_relay(bob), lambda: places.to_git(bob, "https://example.org/x.git")):
        assert cannot(what).code is Code.FORBIDDEN
    assert places.registered == set()
    stays(ada)


def test_no_move_while_a_member_does_not_know_relays(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    (ada,) = places.team("ada")
    old = places.w.machine("bob")
    with monkeypatch.context() as patch:
        patch.setattr("replica.team.entering.CAPS", ())
        patch.setattr("replica.shared.publish.CAPS", ())
        code = commands.invite(places.pass_(ada), "bob")
        commands.join(places.pass_(old), code.encode(), Link(GIT))
        places.sync(ada, old, ada)
        refused = cannot(lambda: places.to_relay(ada))
    assert refused.code is Code.CONFLICT
    assert old.me in refused.message
    assert places.registered == set()
    stays(ada)
    places.sync(old, ada)  # upgraded, which its presence says
    assert [entry.type for entry in old.chain()][-1] == "presence"
    assert places.to_relay(ada)
    length = len(old.chain())
    places.sync(old)
    assert len(old.chain()) == length


def test_no_move_while_the_legacy_window_is_open(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    ada, _ = places.team("ada", "bob")
    team = ada.node.team
    assert team is not None
    open_ = replace(team, view=replace(team.view, legacy_closed=False))
    monkeypatch.setattr(type(ada.node.reader), "read", lambda _self, _db: open_)
    for what in (lambda: places.to_relay(ada), lambda: places.to_git(ada, "https://example.org/x.git")):
        refused = cannot(what)
        assert refused.code is Code.CONFLICT
        assert "unsigned logs" in refused.message
    assert places.registered == set()


@pytest.mark.parametrize("url", ["/srv/other.git", "ext::sh -c id", "file:///srv/x.git", "dir:/media/x"])
def test_no_move_to_a_repository_that_the_roster_may_not_name(places: Places, url: str) -> None:
    ada, _ = places.team("ada", "bob")
    assert cannot(lambda: places.to_git(ada, url)).code is Code.INVALID


def test_no_move_back_to_git_where_this_machine_knows_no_repository(places: Places) -> None:
    ada, _ = places.team("ada", "bob")
    places.to_relay(ada)
    places.sync(ada)
    with ada.node.store.transaction(CommitPoint.MOVED) as db:
        db.execute("DELETE FROM transports WHERE role = 'former'")
    assert cannot(lambda: use_git(places.pass_(ada), None)).code is Code.CONFLICT
    assert use_git(places.pass_(ada), "https://example.org/orchard.git")


def test_who_knows_no_repository_is_told_to_say_where(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.sync(ada, bob, rounds=3)
    with bob.node.store.transaction(CommitPoint.MOVED) as db:
        db.execute("DELETE FROM transports WHERE role = 'former'")
    places.to_git(ada)
    places.sync(ada, bob)
    assert "dmp transport add REMOTE --main" in (problem(bob) or "")
    assert main_of(bob) == RELAY


def test_a_key_that_is_used_elsewhere_is_noticed_at_the_new_place(places: Places) -> None:
    from crypto.op import to_line
    from tests.replica.forge import Forger

    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    places.at(RELAY).put(bob.me, to_line(Forger(bob).mail(ada, body="not his")))
    assert cannot(lambda: places.sync(bob)).code is Code.CONFLICT
    assert main_of(bob) == GIT


def test_a_replica_that_is_paused_goes_nowhere(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    places.to_relay(ada)
    bob.node.place.markers.write(bob.me, bob.node.place.markers.describe(999, "f" * 64))
    places.sync(bob)
    assert main_of(bob) == GIT
    assert places.lines(RELAY, bob) == []


def test_an_address_in_the_roster_that_is_not_used_is_told_of(places: Places) -> None:
    ada, bob = places.team("ada", "bob")
    with ada.node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
        sign_change(ada.node, db, SetTransport(TransportKind.GIT, "ext::sh -c id"))
    places.sync(ada, bob)
    assert main_of(bob) == GIT
    assert "which this machine cannot use" in (problem(bob) or "")
