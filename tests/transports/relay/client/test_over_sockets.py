"""The client over real sockets: who connects, what is said, and news."""

from pathlib import Path

import pytest
from aiohttp import web

from crypto.acks import Acks, sign_acks
from crypto.ed25519 import verify
from crypto.encoding import unb64u
from tests.transports.ops import ADA, BOB, Chain, seq
from tests.transports.relay.client.me import TEAM, Me, lines, transport_to
from tests.transports.relay.client.standin import NONCE, Logs, StandIn, answered, free_port, hint
from transports.base import Behind, Line, Refused, Transport, Unreachable
from transports.relay import frames
from transports.relay.address import auth_message
from transports.relay.client.transport import PULL_ROUNDS

# Who connects


def test_the_challenge_is_answered_for_this_address_and_team(
    relay: StandIn, logs: Logs, near: Transport
) -> None:
    near.refresh()
    (auth,) = logs.asked
    assert isinstance(auth, frames.Auth)
    message = auth_message(relay.url, TEAM, NONCE)
    assert verify(Me().key.public, message, unb64u(auth.sig, 64))
    assert (auth.replica, auth.key_op) == (ADA, None)


def test_a_machine_that_has_a_key_op_shows_it(relay: StandIn, logs: Logs, tmp_path: Path) -> None:
    key_line = Chain(ADA).next()
    transport = transport_to(relay.url, tmp_path, Me(key_line=key_line))
    transport.refresh()
    transport.close()
    (auth,) = logs.asked
    assert isinstance(auth, frames.Auth)
    assert auth.key_op is not None
    assert auth.key_op.raw == key_line


def test_a_replica_without_a_team_asks_nobody(relay: StandIn, tmp_path: Path) -> None:
    transport = transport_to(relay.url, tmp_path, Me(team_id=None))
    with pytest.raises(Unreachable, match="in no team"):
        transport.refresh()
    transport.close()
    assert relay.connections == 0


def test_t4_a_relay_that_leads_elsewhere_is_not_followed(relay: StandIn, logs: Logs, near: Transport) -> None:
    with_somewhere = StandIn(logs)
    relay.handshake = lambda: web.Response(
        status=307, headers={"Location": f"http://127.0.0.1:{with_somewhere.port}/v1/teams/{TEAM}"}
    )
    with pytest.raises(Unreachable, match="somewhere else"):
        near.refresh()
    with_somewhere.close()
    assert with_somewhere.connections == 0


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (404, "knows no such team"),
        (429, "too many"),
        (503, "shutting down"),
        (200, "no relay"),
        (500, "no relay"),
    ],
)
def test_a_connection_that_is_not_made_says_why(
    relay: StandIn, near: Transport, status: int, told: str
) -> None:
    relay.handshake = lambda: web.Response(status=status)
    with pytest.raises(Unreachable, match=told) as error:
        near.refresh()
    assert error.value.hint


def test_a_relay_that_is_not_there_says_so(tmp_path: Path) -> None:
    transport = transport_to(f"ws://127.0.0.1:{free_port()}", tmp_path)
    with pytest.raises(Unreachable, match=r"does not answer: Connection refused$"):
        transport.refresh()
    transport.close()


@pytest.mark.parametrize("word", list(frames.Why))
def test_a_relay_that_turns_a_replica_away_says_why(
    relay: StandIn, near: Transport, word: frames.Why
) -> None:
    relay.answer = lambda _: [frames.write(frames.Refused(word.reason("\x1b[31mso there")))]
    with pytest.raises(Unreachable, match="so there") as error:
        near.refresh()
    assert error.value.hint
    assert error.value.message.isprintable()


# What it says


def test_lines_travel_byte_for_byte(logs: Logs, near: Transport) -> None:
    wanted = Chain(ADA).lines(3, "a\rb\u2028\u0085c")
    near.refresh()
    near.publish(ADA, wanted)
    near.refresh()
    assert lines(near) == wanted == logs.lanes[ADA]
    assert list(near.lane(ADA, 2)) == [Line(ADA, raw) for raw in wanted[1:]]
    assert list(near.acks()) == []


def test_a_pull_begins_at_the_seq_it_is_given(logs: Logs, near: Transport) -> None:
    logs.lanes = {ADA: Chain(ADA).lines(4), BOB: Chain(BOB).lines(2)}
    near.refresh()
    assert lines(near, {ADA: 3}) == logs.lanes[ADA][2:] + logs.lanes[BOB]
    assert lines(near, {ADA: 5, BOB: 1}) == logs.lanes[BOB]
    assert lines(near, {ADA: 0, BOB: 3}) == logs.lanes[ADA]


def test_a_long_publish_goes_in_several_requests_in_order(logs: Logs, near: Transport) -> None:
    chain = Chain(ADA)
    wanted = chain.lines(2_005) + chain.lines(6, "x" * 900_000)
    near.refresh()
    near.publish(ADA, wanted)
    sent = [frame for frame in logs.asked if isinstance(frame, frames.Publish)]
    assert [each.raw for frame in sent for each in frame.ops] == wanted
    assert max(len(frame.ops) for frame in sent) == frames.FRAME_OPS
    assert max(sum(len(each.raw) for each in frame.ops) for frame in sent) <= frames.PUBLISH_BYTES
    assert len(sent) == 4


def test_a_pull_is_read_in_rounds_and_the_next_goes_on(logs: Logs, near: Transport) -> None:
    logs.at_a_time = 10
    logs.lanes = {ADA: Chain(ADA).lines(10 * PULL_ROUNDS + 5)}
    near.refresh()
    pull = near.pull({})
    first = [line.raw for line in pull]
    assert pull.report.more
    rest = near.pull({ADA: seq(first[-1]) + 1})
    assert first + [line.raw for line in rest] == logs.lanes[ADA]
    assert not rest.report.more
    assert list(near.lane(ADA)) == [Line(ADA, raw) for raw in logs.lanes[ADA]]
    assert [line.raw for line in near.pull({}, budget=None)] == logs.lanes[ADA]


def test_a_pull_asks_no_further_than_it_is_read(logs: Logs, near: Transport) -> None:
    logs.at_a_time = 1
    logs.lanes = {ADA: Chain(ADA).lines(9)}
    near.refresh()
    pull = near.pull({})
    assert [next(pull).raw for _ in range(2)] == logs.lanes[ADA][:2]
    assert sum(isinstance(frame, frames.Pull) for frame in logs.asked) == 2


def test_r4_a_publish_that_does_not_follow_is_behind(relay: StandIn, logs: Logs, near: Transport) -> None:
    relay.answer = answered(logs, lambda frame: refused(frame, frames.Why.BEHIND))
    near.refresh()
    with pytest.raises(Behind):
        near.publish(ADA, Chain(ADA).lines(1))
    assert sum(isinstance(frame, frames.Publish) for frame in logs.asked) == 0


def refused(frame: frames.Frame, word: frames.Why) -> list[str] | None:
    if not isinstance(frame, frames.Publish):
        return None
    return [frames.write(frames.Error(frame.id, word.reason("no")))]


@pytest.mark.parametrize(
    ("word", "error"),
    [
        (frames.Why.INVALID, Refused),
        (frames.Why.REVOKED, Refused),
        (frames.Why.LIMITED, Unreachable),
        (frames.Why.FAILED, Unreachable),
    ],
)
def test_a_publish_that_is_refused_says_whether_to_try_again(
    relay: StandIn, logs: Logs, near: Transport, word: frames.Why, error: type[Exception]
) -> None:
    relay.answer = answered(logs, lambda frame: refused(frame, word))
    near.refresh()
    with pytest.raises(error):
        near.publish(ADA, Chain(ADA).lines(1))


def test_t2_a_relay_that_stored_less_than_it_was_given_is_taken_as_away(
    relay: StandIn, logs: Logs, near: Transport
) -> None:
    def instead(frame: frames.Frame) -> list[str] | None:
        return [frames.write(frames.Stored(frame.id, 2))] if isinstance(frame, frames.Publish) else None

    relay.answer = answered(logs, instead)
    near.refresh()
    with pytest.raises(Unreachable, match="up to 2, but was given op 3"):
        near.publish(ADA, Chain(ADA).lines(3))


# News


def test_equal_tips_mean_that_nothing_changed(relay: StandIn, logs: Logs, near: Transport) -> None:
    ada = Chain(ADA)
    first = near.refresh()
    assert near.refresh() == first
    relay.say(hint(ada.next()))
    assert near.watch(20)
    second = near.refresh()
    assert second != first
    assert near.refresh() == second
    near.publish(ADA, ada.lines(1))
    assert near.refresh() != second


def test_a_push_that_was_lost_is_made_up_for_by_the_next_refresh(logs: Logs, near: Transport) -> None:
    bob = Chain(BOB)
    logs.lanes[BOB] = bob.lines(2)
    first = near.refresh()
    assert lines(near) == logs.lanes[BOB]
    assert near.refresh() == first
    logs.lanes[BOB] += bob.lines(1)
    assert near.refresh() != first


def test_nothing_is_applied_from_a_push(relay: StandIn, near: Transport) -> None:
    near.refresh()
    relay.say(hint(*Chain(BOB).lines(3)))
    assert near.watch(20)
    near.refresh()
    assert lines(near) == []


def test_a_watch_without_news_ends_and_lets_its_caller_interrupt(relay: StandIn, tmp_path: Path) -> None:
    def enough(_: float) -> None:
        raise KeyboardInterrupt

    near = transport_to(relay.url, tmp_path, sleep=enough)
    near.refresh()
    assert not near.watch(0)
    with pytest.raises(KeyboardInterrupt):
        near.watch(60)
    near.close()


def test_a_lost_connection_is_sought_while_watching_and_misses_nothing(
    relay: StandIn, logs: Logs, near: Transport
) -> None:
    first = near.refresh()
    assert lines(near) == []
    relay.hang_up()
    logs.lanes[BOB] = Chain(BOB).lines(2)  # and nobody was told
    assert near.watch(20)
    assert near.refresh() != first
    assert lines(near) == logs.lanes[BOB]
    assert relay.connections == 2


def test_a_relay_that_is_not_back_yet_is_tried_again(relay: StandIn, logs: Logs, near: Transport) -> None:
    near.refresh()
    tried = 0

    def handshake() -> web.Response | None:
        nonlocal tried
        tried += 1
        return web.Response(status=503) if tried < 3 else None

    relay.handshake = handshake
    relay.hang_up()
    assert near.watch(20)
    assert tried == 3


def test_acknowledgements_are_given_and_given_again_to_a_relay_that_may_have_lost_them(
    relay: StandIn, logs: Logs, near: Transport, tmp_path: Path
) -> None:
    def acks(seq: int) -> bytes:
        return sign_acks(Acks(ADA, {BOB: seq}, "2026-01-01T00:00:00.000Z"), Me().key)

    near.refresh()
    near.publish(ADA, [], acks=acks(3))
    near.publish(ADA, [], acks=acks(3))
    assert logs.acks == [{BOB: 3}]
    near.publish(ADA, [], acks=acks(4))
    relay.hang_up()
    near.refresh()
    relay.until(lambda: len(logs.acks) == 3)
    another = transport_to(relay.url, tmp_path)
    another.refresh()
    relay.until(lambda: len(logs.acks) == 4)
    another.close()
    assert logs.acks == [{BOB: 3}, {BOB: 4}, {BOB: 4}, {BOB: 4}]
