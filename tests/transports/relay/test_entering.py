"""Whom a relay lets in, who waits there, and who is sent away, by function calls (wire 7.3, 7.5, 7.6)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crypto.op import to_line
from tests.transports.relay.people import URL, Desk, Line, Person, invited, lines, raws, refused
from transports.relay import frames
from transports.relay.frames import Carried, Why, carried
from transports.relay.server.relay import UnknownTeamError
from transports.relay.server.settings import Settings

# Who comes in


def test_7_3_only_the_holder_of_the_key_comes_in_and_each_nonce_serves_one_connection(desk: Desk) -> None:
    ada = desk.founder
    first, second = Line(desk, ada), Line(desk, ada)
    assert isinstance(first.heard[0], frames.Challenge)
    assert first.heard[0] != second.heard[0]
    sig = ada.prove(desk.team, first.heard[0].nonce)
    assert refused(second.say(frames.Auth(ada.replica, sig))[0]) is Why.UNPROVEN
    assert first.say(frames.Auth(ada.replica, sig))[0] == frames.Ready()
    mallory = Person("ada", 1)
    mallory.secrets = Person("mal", 66).secrets
    assert refused(Line(desk, mallory).enter()) is Why.UNPROVEN


def test_7_3_a_proof_for_another_relay_or_team_does_not_do(desk: Desk) -> None:
    assert refused(Line(desk, desk.founder).enter(url="wss://relay.example.net")) is Why.UNPROVEN
    line = Line(desk, desk.founder)
    assert isinstance(line.heard[0], frames.Challenge)
    sig = desk.founder.prove("f" * 32, line.heard[0].nonce)
    assert refused(line.say(frames.Auth(desk.founder.replica, sig))[0]) is Why.UNPROVEN


def test_7_1_a_team_that_is_not_registered_is_unknown(desk: Desk) -> None:
    with pytest.raises(UnknownTeamError):
        desk.relay.connect("0" * 32, "192.0.2.1")


def test_a_replica_that_the_relay_never_saw_has_to_show_its_key_op(desk: Desk) -> None:
    bob = Person("bob", 2)
    desk.line(desk.founder).publish([desk.founder.admit(bob)])
    assert refused(Line(desk, bob).enter(key=False)) is Why.UNKNOWN
    line = Line(desk, bob)
    assert isinstance(line.heard[0], frames.Challenge)
    damaged = Carried(to_line(bob.key_op()).decode().replace("desk", "disk"))
    auth = frames.Auth(bob.replica, bob.prove(desk.team, line.heard[0].nonce), damaged)
    assert refused(line.say(auth)[0]) is Why.UNKNOWN
    assert Line(desk, bob).enter() == frames.Ready()


def test_an_admitted_replica_comes_in_by_its_key_op_and_is_a_member_at_once(desk: Desk) -> None:
    bob, line = desk.join("bob", 2)
    assert set(raws(line.pull())) == set(lines([*desk.founder.chain, *bob.chain]))


def test_frames_before_auth_and_a_second_auth_end_the_connection(desk: Desk) -> None:
    assert refused(Line(desk, desk.founder).say(frames.Pull(1, {}))[0]) is Why.INVALID
    line = desk.line(desk.founder)
    assert refused(line.say(frames.Auth(desk.founder.replica, "x"))[-1]) is Why.INVALID
    assert line.say(frames.Pull(1, {})) == []


def test_what_is_no_frame_ends_the_connection_and_what_is_of_a_later_version_does_not(desk: Desk) -> None:
    line = desk.line(desk.founder)
    line.listen()
    assert line.say(frames.Unknown("later")) == []
    line.session.receive('{"t":')
    assert refused(line.listen()[0]) is Why.INVALID


def test_who_does_not_say_who_it_is_in_time_is_sent_away(desk: Desk) -> None:
    line, other = Line(desk, desk.founder), desk.line(desk.founder)
    desk.now_ms += desk.settings.auth_ms
    desk.relay.tick()
    assert refused(line.listen()[0]) is Why.SLOW
    assert isinstance(other.pull(), frames.Ops)


def test_a_second_connection_of_a_replica_takes_the_place_of_the_first(desk: Desk) -> None:
    first = desk.line(desk.founder)
    second = desk.line(desk.founder)
    assert refused(first.listen()[-1]) is Why.REPLACED
    assert isinstance(second.publish([desk.founder.task()]), frames.Stored)


# Machines that wait to be admitted


def test_7_6_a_pending_machine_comes_in_by_an_open_invite_alone(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    assert refused(Line(desk, Person("eve", 5)).enter()) is Why.UNINVITED
    ada.publish([desk.founder.invite("bob")])
    assert refused(Line(desk, Person("bob", 2)).enter()) is Why.UNINVITED
    assert refused(Line(desk, invited("eve", 3, desk.team), "192.0.2.2").enter()) is Why.UNINVITED
    assert refused(Line(desk, invited("bob", 3, "0" * 32), "192.0.2.2").enter()) is Why.UNINVITED
    assert Line(desk, invited("bob", 2, desk.team), "192.0.2.3").enter() == frames.Ready()


@pytest.mark.parametrize("expires", ["2020-01-01T00:00:00Z", "never", "2099-01-01T00:00:00"])
def test_7_6_an_invite_that_has_expired_lets_nobody_in(desk: Desk, expires: str) -> None:
    desk.line(desk.founder).publish([desk.founder.invite("bob", expires)])
    assert refused(Line(desk, invited("bob", 2, desk.team)).enter()) is Why.UNINVITED


def test_7_6_an_invite_that_let_somebody_in_is_used_up(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    ada.publish([desk.founder.invite("bob")])
    bob = invited("bob", 2, desk.team)
    desk.line(bob).publish([bob.key_op()])
    ada.publish([desk.founder.admit(bob)])
    assert refused(Line(desk, invited("bob", 3, desk.team)).enter()) is Why.UNINVITED


def test_7_6_a_pending_machine_sees_the_founding_and_stores_its_key_op_and_nothing_else(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    ada.publish([desk.founder.invite("bob"), desk.founder.task()])
    bob = invited("bob", 2, desk.team)
    line = desk.line(bob)
    assert raws(line.pull()) == lines(desk.founder.chain[:2])
    assert refused(line.publish([bob.key_op(), bob.task()])) is Why.PENDING
    assert refused(line.publish([bob.chain[1]])) is Why.PENDING
    assert refused(line.acks({desk.founder.replica: 2})) is Why.PENDING
    assert line.publish([bob.chain[0]]) == frames.Stored(5, 1)
    ada.publish([desk.founder.task()])
    assert line.hints() == []
    assert raws(line.pull()) == [*lines(desk.founder.chain[:2]), to_line(bob.chain[0])]
    assert raws(line.pull({desk.founder.replica: 2})) == [to_line(bob.chain[0])]
    assert to_line(bob.chain[0]) in raws(ada.pull())


def test_a_machine_that_is_admitted_while_it_is_connected_is_told_to_ask(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    ada.publish([desk.founder.invite("bob")])
    bob = invited("bob", 2, desk.team)
    line = desk.line(bob)
    line.publish([bob.key_op()])
    ada.publish([desk.founder.admit(bob)])
    assert frames.Ops(()) in line.listen()
    assert len(line.pull().ops) == 5
    assert line.publish([bob.task()]) == frames.Stored(3, 2)


def test_7_6_pending_machines_are_3_a_minute_from_a_source_and_10_to_a_team(desk: Desk) -> None:
    desk.line(desk.founder).publish([desk.founder.invite("bob")])
    bob = invited("bob", 2, desk.team)
    for source in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        for _ in range(3):
            assert Line(desk, bob, source).enter() == frames.Ready()
        assert refused(Line(desk, bob, source).enter()) is Why.LIMITED
    assert Line(desk, bob, "192.0.2.4").enter() == frames.Ready()
    assert refused(Line(desk, bob, "192.0.2.5").enter()) is Why.LIMITED
    assert Line(desk, desk.founder, "192.0.2.5").enter() == frames.Ready()
    desk.now_ms += 60_000
    assert Line(desk, bob, "192.0.2.5").enter() == frames.Ready()


def test_7_6_machines_without_an_invite_do_not_use_up_what_a_team_has_for_those_with_one(desk: Desk) -> None:
    desk.line(desk.founder).publish([desk.founder.invite("bob")])
    for number in range(12):
        assert refused(Line(desk, Person("eve", 5), f"198.51.100.{number}").enter()) is Why.UNINVITED
    assert Line(desk, invited("bob", 2, desk.team), "192.0.2.1").enter() == frames.Ready()


def test_k6_machines_that_wait_are_remembered_up_to_a_bound(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "relay.db", settings=Settings(URL, difficulty=0, max_pending=2))
    desk.register()
    desk.line(desk.founder).publish([desk.founder.invite("bob")])
    people = [invited("bob", number, desk.team) for number in (2, 3, 4)]
    for number, bob in enumerate(people[:2]):
        desk.line(bob, source=f"192.0.2.{number}").publish([bob.key_op()])
    assert refused(Line(desk, people[2], "192.0.2.9").enter()) is Why.LIMITED
    assert Line(desk, people[1], "192.0.2.9").enter() == frames.Ready()
    desk.store.close()


def test_k6_machines_of_an_invite_that_is_over_keep_nobody_out(tmp_path: Path) -> None:
    """Whoever stole an invite fills the room of those who wait, until it expires."""
    desk = Desk(tmp_path / "relay.db", settings=Settings(URL, difficulty=0, max_pending=2))
    desk.register()
    ada = desk.line(desk.founder)
    expires = datetime.fromtimestamp(desk.now_ms / 1000 + 60, UTC).isoformat()
    ada.publish([desk.founder.invite("bob", expires), desk.founder.invite("cy", seed=b"\x08" * 32)])
    thieves = [invited("bob", number, desk.team) for number in (2, 3)]
    for number, thief in enumerate(thieves):
        desk.line(thief, source=f"192.0.2.{number}").publish([thief.key_op()])
    cy = invited("cy", 7, desk.team, b"\x08" * 32)
    assert refused(Line(desk, cy, "192.0.2.9").enter()) is Why.LIMITED
    desk.now_ms += 61_000
    assert Line(desk, cy, "192.0.2.9").enter() == frames.Ready()
    desk.store.close()


# Who is sent away


def test_7_5_a_revoked_replica_is_refused_and_one_that_is_connected_is_sent_away(desk: Desk) -> None:
    bob, line = desk.join("bob", 2)
    ada = desk.line(desk.founder)
    ada.publish([desk.founder.revoke(bob)])
    assert refused(line.listen()[-1]) is Why.REVOKED
    assert line.say(frames.Publish(9, carried(lines([bob.task()])))) == []
    assert refused(Line(desk, bob).enter()) is Why.REVOKED
    assert len(ada.pull().ops) == len(desk.founder.chain) + 1
