"""What a relay takes, keeps, shows and passes on, by function calls (wire 7.5, 7.7, 7.11)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crypto.keys import team_id
from crypto.op import to_line
from tests.transports.relay.people import (
    URL,
    Desk,
    Line,
    Person,
    body_of,
    found,
    invited,
    lines,
    raws,
    refused,
    stub,
)
from transports.relay import frames
from transports.relay.frames import Why, carried
from transports.relay.server import team as team_module
from transports.relay.server.settings import DAY_MS, Settings

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
