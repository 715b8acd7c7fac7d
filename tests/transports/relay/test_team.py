"""What a relay takes, keeps, shows and passes on, by function calls (wire 7.5-7.7, 7.11)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crypto.keys import team_id
from crypto.op import Op, to_line
from tests.transports.relay.people import URL, Desk, Line, Person, body_of, found, invited, lines
from transports.relay import frames
from transports.relay.frames import Carried, Frame, Why, carried, why
from transports.relay.server import team as team_module
from transports.relay.server.relay import UnknownTeamError
from transports.relay.server.settings import DAY_MS, Settings


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "relay.db")
    desk.register()
    yield desk
    desk.store.close()


def refused(frame: Frame) -> Why | None:
    assert isinstance(frame, frames.Error | frames.Refused), frame
    return why(frame.reason)


def raws(answer: frames.Ops) -> list[bytes]:
    return [op.raw for op in answer.ops]


def stub(op: Op) -> bytes:
    return to_line(op.stub())


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


# Publishing


def test_7_5_what_is_stored_is_never_replaced_and_a_repeat_is_acknowledged(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    op = desk.founder.task("one")
    assert ada.publish([op]) == frames.Stored(1, 3)
    assert ada.publish([op]) == frames.Stored(2, 3)
    later = desk.founder.task("two")
    assert ada.publish([*desk.founder.chain[1:3], later]) == frames.Stored(3, 4)
    rival = desk.founder.sign("task", {"title": "other"}, after=desk.founder.chain[1])
    answer = ada.publish([rival])
    assert refused(answer) is Why.BEHIND
    assert isinstance(answer, frames.Error)
    assert "fork" in answer.reason
    assert raws(ada.pull()) == lines(desk.founder.chain)


def test_a_publication_that_is_sent_again_before_the_first_is_answered_is_taken_once(desk: Desk) -> None:
    first = desk.line(desk.founder)
    raw = carried(lines([desk.founder.task(), desk.founder.task()]))
    first.session.receive(frames.write(frames.Publish(1, raw)))
    first.session.receive(frames.write(frames.Publish(2, raw)))
    first.session.receive(frames.write(frames.Publish(3, raw[1:])))
    answers = [each for each in first.listen() if isinstance(each, frames.Stored)]
    assert answers == [frames.Stored(1, 4), frames.Stored(2, 4), frames.Stored(3, 4)]
    assert len(first.pull().ops) == 4


def test_r4_what_does_not_follow_the_stored_head_is_refused_as_behind(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    desk.founder.task()
    assert refused(ada.publish([desk.founder.task()])) is Why.BEHIND
    gap = desk.founder.sign("task", {}, after=desk.founder.chain[1], seq=9)
    assert ada.publish([gap]) == frames.Stored(2, 9)
    assert refused(ada.publish([desk.founder.chain[2]])) is Why.BEHIND


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("one", "two"), "bodyHash mismatch"),
        (lambda text: text.replace('"sig":"', '"sig":"AA'), "bad signature"),
        (lambda text: text.replace('"v":2', '"v":3'), "not a v2 op"),
        (lambda text: text.replace('"v":2', '"v":2,"\\u0076":2'), "repeats"),
        (lambda text: text.replace('"body":{"title":"one"},', '"pruned":true,'), "stub"),
        (lambda text: "[]", "malformed op"),
    ],
)
def test_7_5_every_op_is_verified_before_it_is_stored(
    desk: Desk, change: Callable[[str], str], reason: str
) -> None:
    ada = desk.line(desk.founder)
    line = change(to_line(desk.founder.task("one")).decode()).encode()
    answer = ada.publish([line])
    assert refused(answer) is Why.INVALID
    assert isinstance(answer, frames.Error)
    assert reason in answer.reason
    assert ada.publish([desk.founder.chain[-1]]) == frames.Stored(2, 3)


def test_a_publication_is_taken_whole_or_not_at_all(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    good, bad = desk.founder.task("one"), to_line(desk.founder.task("two")).replace(b"two", b"2wo")
    assert refused(ada.publish([to_line(good), bad])) is Why.INVALID
    assert len(ada.pull().ops) == 2


def test_nobody_publishes_for_another(desk: Desk) -> None:
    _, line = desk.join("bob", 2)
    assert refused(line.publish([desk.founder.task()])) is Why.INVALID


def test_a_frame_carries_1000_ops_and_4_mib(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    many = carried([to_line(desk.founder.chain[0])] * 1_001)
    assert refused(ada.ask(frames.Publish(ada.next_id(), many))) is Why.LIMITED
    large = carried([b'"' + b"x" * 2**22 + b'"'])
    assert refused(ada.ask(frames.Publish(ada.next_id(), large))) is Why.LIMITED
    assert ada.ask(frames.Publish(ada.next_id(), ())) == frames.Stored(3, 0)


def test_7_5_a_replica_publishes_1000_ops_a_minute(desk: Desk) -> None:
    desk.founder.clock_ms = desk.now_ms
    ada = desk.line(desk.founder)
    many = [desk.founder.task() for _ in range(1_001)]
    assert ada.publish(many[:1000]) == frames.Stored(1, 1002)
    answer = ada.publish(many[1000:])
    assert refused(answer) is Why.LIMITED
    assert refused(desk.line(desk.founder).publish(many[1000:])) is Why.LIMITED
    assert desk.line(desk.founder).publish(many[:1000]) == frames.Stored(1, 1002)
    desk.now_ms += 60
    assert desk.line(desk.founder).publish(many[1000:]) == frames.Stored(1, 1003)


def test_7_11_what_came_before_the_move_to_the_relay_is_uploaded_at_any_rate(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "relay.db", settings=Settings(URL, difficulty=0, ops_per_minute=5))
    desk.register()
    ada, bob = desk.founder, Person("bob", 2)
    ada.admit(bob)
    for _ in range(30):
        ada.task()
    bob.key_op()
    for _ in range(30):
        bob.task()
    ada.clock_ms = desk.now_ms
    ada.move()
    line = desk.line(ada)
    assert line.publish(ada.chain[2:20]) == frames.Stored(1, 20)
    assert line.publish(ada.chain[20:]) == frames.Stored(2, len(ada.chain))
    other = desk.line(bob)
    assert other.publish(bob.chain) == frames.Stored(1, len(bob.chain))
    bob.clock_ms = desk.now_ms + 1
    assert other.publish([bob.task() for _ in range(5)]) == frames.Stored(2, len(bob.chain))
    assert refused(other.publish([bob.task()])) is Why.LIMITED
    assert line.publish([ada.task() for _ in range(4)]) == frames.Stored(3, len(ada.chain))
    assert refused(line.publish([ada.task()])) is Why.LIMITED
    desk.store.close()


# Reading


def test_7_7_sealed_ops_are_whole_for_their_recipients_and_stubs_for_everybody_else(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    _, cys = desk.join("cy", 3)
    ada = desk.line(desk.founder)
    bobs.listen()
    cys.listen()
    mail = desk.founder.mail(bob)
    ada.publish([mail])
    assert bobs.hints() == [to_line(mail)]
    assert cys.hints() == [stub(mail)]
    since = {desk.founder.replica: mail.seq - 1}
    for line, expected in ((bobs, to_line(mail)), (cys, stub(mail)), (ada, to_line(mail))):
        assert raws(line.pull(since, desk.founder.replica)) == [expected]
    assert ada.hints() == []


def test_a_pull_is_exclusive_in_order_and_says_when_there_is_more(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    for _ in range(3):
        ada.publish([desk.founder.task() for _ in range(500)])
        desk.now_ms += 60_000
    first = ada.pull()
    assert raws(first) == lines(desk.founder.chain[:1000])
    assert first.more
    rest = ada.pull({desk.founder.replica: 1000})
    assert raws(rest) == lines(desk.founder.chain[1000:])
    assert not rest.more
    assert raws(ada.pull({desk.founder.replica: 1502})) == []
    assert raws(ada.pull({}, "eve-00000009")) == []


def test_a_pull_stays_within_4_mib_and_always_goes_on(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    for _ in range(6):
        ada.publish([desk.founder.task("x" * 1_000_000)])
    since = 0
    while True:
        answer = ada.pull({desk.founder.replica: since})
        assert sum(len(op.text) for op in answer.ops) <= frames.PUBLISH_BYTES
        since += len(answer.ops)
        if not answer.more:
            break
        assert answer.ops
    assert since == len(desk.founder.chain)


def test_t1_one_lane_with_much_to_say_keeps_no_other_waiting(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    ada = desk.line(desk.founder)
    for _ in range(2):
        ada.publish([desk.founder.task() for _ in range(900)])
        desk.now_ms += 60_000
    bobs.publish([bob.task()])
    assert to_line(bob.chain[-1]) in raws(ada.pull())


def test_much_at_once_is_hinted_at_without_ops(desk: Desk) -> None:
    _, bobs = desk.join("bob", 2)
    ada = desk.line(desk.founder)
    bobs.listen()
    ada.publish([desk.founder.task() for _ in range(300)])
    assert frames.Ops(()) in bobs.listen()


def test_who_does_not_read_is_told_to_ask_and_nothing_piles_up(desk: Desk) -> None:
    _, bobs = desk.join("bob", 2)
    ada = desk.line(desk.founder)
    bobs.listen()
    for _ in range(40):
        ada.publish([desk.founder.task("x" * 50_000)])
    waiting: list[str] = []
    while (text := bobs.session.outbox.take()) is not None:
        waiting.append(text)
    assert sum(map(len, waiting)) <= desk.settings.outbox_bytes
    assert frames.Ops(()) in map(frames.parse, waiting)


# Acknowledging and forgetting


def test_7_7_mail_is_a_stub_for_all_once_every_recipient_has_acknowledged_it(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    cy, cys = desk.join("cy", 3)
    ada = desk.line(desk.founder)
    desk.founder.clock_ms = desk.now_ms
    mails = [desk.founder.mail(bob, cy), desk.founder.mail(bob), desk.founder.mail(cy, Person("eve", 9))]
    ada.publish(mails)
    me = desk.founder.replica
    since = {me: mails[0].seq - 1}
    assert bobs.acks({me: mails[-1].seq}) == frames.Acknowledged(2)
    assert raws(ada.pull(since, me)) == [to_line(mails[0]), stub(mails[1]), to_line(mails[2])]
    cys.acks({me: mails[0].seq})
    assert raws(ada.pull(since, me)) == [stub(mails[0]), stub(mails[1]), to_line(mails[2])]
    cys.acks({me: mails[2].seq})
    assert raws(ada.pull(since, me)) == [stub(each) for each in mails]
    assert raws(bobs.pull(since, me)) == [stub(each) for each in mails]
    assert ada.publish(mails) == frames.Stored(ada._request, mails[-1].seq)


def test_one_acknowledgement_looks_at_so_much_and_the_next_goes_on_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_module, "PRUNE_OPS", 2)
    bob, bobs = desk.join("bob", 2)
    cy, cys = desk.join("cy", 3)
    ada = desk.line(desk.founder)
    for person, line in ((desk.founder, ada), (cy, cys)):
        line.publish([person.mail(bob) for _ in range(3)])

    def whole() -> int:
        return sum(b'"sealed"' in op.raw for op in bobs.pull().ops)

    everything = {desk.founder.replica: desk.founder.chain[-1].seq, cy.replica: cy.chain[-1].seq}
    left = [whole()]
    while left[-1] and len(left) < 10:
        bobs.acks(everything)
        left.append(whole())
    assert left == [6, 4, 2, 0]


def test_k6_a_team_acknowledges_in_so_many_pairs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_module, "ACK_PAIRS", 1)
    bob, bobs = desk.join("bob", 2)
    assert isinstance(bobs.acks({desk.founder.replica: 2, bob.replica: 1}), frames.Acknowledged)
    assert isinstance(bobs.acks({desk.founder.replica: 3}), frames.Acknowledged)
    assert desk.relay.team(desk.team).acks == {bob.replica: {desk.founder.replica: 3}}


def test_acknowledgements_only_rise_and_outlive_a_restart(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    cy, _ = desk.join("cy", 3)
    ada = desk.line(desk.founder)
    mail = desk.founder.mail(bob, cy)
    ada.publish([mail])
    me = desk.founder.replica
    bobs.acks({me: mail.seq, "eve-00000009": 3})
    bobs.acks({me: 1})
    desk.store.close()
    desk.open()
    desk.line(cy).acks({me: mail.seq})
    assert raws(desk.line(desk.founder).pull({me: mail.seq - 1}, me)) == [stub(mail)]


def test_7_7_a_revoked_recipient_counts_as_having_acknowledged(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    cy, _ = desk.join("cy", 3)
    ada = desk.line(desk.founder)
    mail = desk.founder.mail(bob, cy)
    ada.publish([mail])
    me = desk.founder.replica
    bobs.acks({me: mail.seq})
    ada.publish([desk.founder.revoke(cy)])
    assert raws(ada.pull({me: mail.seq - 1}, me))[0] == stub(mail)


def test_mail_from_before_the_move_waits_for_a_recipient_who_is_not_admitted_here_yet(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    late = Person("dee", 4)
    ada = desk.line(desk.founder)
    old = desk.founder.mail(bob, late)
    desk.founder.clock_ms = desk.now_ms
    desk.founder.move()
    new = desk.founder.mail(bob, late)
    ada.publish(desk.founder.chain[3:])
    me = desk.founder.replica
    bobs.acks({me: new.seq})
    assert raws(ada.pull({me: old.seq - 1}, me))[0] == to_line(old)
    assert raws(ada.pull({me: new.seq - 1}, me))[0] == stub(new)


def test_7_7_mail_is_a_stub_after_30_days_whoever_has_it(desk: Desk) -> None:
    bob, _ = desk.join("bob", 2)
    ada = desk.line(desk.founder)
    mail = desk.founder.mail(bob)
    ada.publish([mail])
    me = desk.founder.replica
    desk.now_ms += 30 * DAY_MS - 1
    assert not desk.relay.expire()
    assert raws(ada.pull({me: mail.seq - 1}, me)) == [to_line(mail)]
    desk.now_ms += 2
    desk.relay.expire()
    assert raws(ada.pull({me: mail.seq - 1}, me)) == [stub(mail)]


def test_7_7_of_presence_the_latest_of_each_run_and_replica_is_whole_and_the_first_claim_of_a_run(
    desk: Desk,
) -> None:
    ada = desk.founder
    line = desk.line(ada)
    news = [
        ada.run("r-000001"),
        ada.sign("presence", {"kind": "replica", "build": "1", "device": "d", "wall": 1}),
        ada.run("r-000002"),
        ada.run("r-000001", live=False),
        ada.run("r-000001"),
        ada.sign("presence", {"kind": "replica", "build": "1", "device": "d", "wall": 2}),
        ada.sign("presence", {"kind": "resolve", "run": "r-000001", "replica": ada.replica}),
    ]
    for op in news:
        line.publish([op])
    old = {1, 3}
    expected = [stub(op) if place in old else to_line(op) for place, op in enumerate(news)]
    assert raws(line.pull({ada.replica: news[0].seq - 1})) == expected


# Presence of connections


def test_members_are_told_who_is_connected(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    ada = desk.line(desk.founder)
    desk.relay.tick()
    told = [each for each in ada.listen() if isinstance(each, frames.Presence)]
    assert {each.replica for each in told[-1].online} == {desk.founder.replica, bob.replica}
    assert all(each.since.endswith("Z") for each in told[-1].online)
    bobs.session.closed()
    desk.relay.tick()
    told = [each for each in ada.listen() if isinstance(each, frames.Presence)]
    assert [each.replica for each in told[-1].online] == [desk.founder.replica]


# Over time


def test_everything_is_there_after_a_restart(desk: Desk) -> None:
    bob, bobs = desk.join("bob", 2)
    bobs.publish([bob.task()])
    desk.line(desk.founder).publish([desk.founder.invite("cy"), desk.founder.mail(bob)])
    before = raws(bobs.pull())
    desk.relay.close()
    assert refused(bobs.listen()[-1]) is Why.CLOSING
    desk.store.close()
    desk.open()
    line = desk.line(bob, key=False)
    assert raws(line.pull()) == before
    assert line.publish([bob.task()]) == frames.Stored(2, 3)
    assert Line(desk, invited("cy", 7, desk.team)).enter() == frames.Ready()


def test_a_team_that_nobody_is_connected_to_leaves_memory(desk: Desk) -> None:
    line = desk.line(desk.founder)
    desk.now_ms += 3_600_000
    desk.relay.tick()
    assert desk.relay.teams
    line.session.closed()
    desk.now_ms += 3_600_000
    desk.relay.tick()
    assert not desk.relay.teams
    assert desk.line(desk.founder).publish([desk.founder.task()]) == frames.Stored(1, 3)


def test_two_teams_share_nothing(desk: Desk) -> None:
    other = Person("zoe", 8)
    team = found(other)
    assert team == team_id(other.chain[1].hash)
    assert desk.registrar.register(body_of(other), None).team == team
    desk.line(desk.founder).publish([desk.founder.task()])
    desk.team = team
    assert raws(desk.line(other).pull()) == lines(other.chain)
    assert refused(Line(desk, desk.founder).enter()) is Why.UNINVITED
