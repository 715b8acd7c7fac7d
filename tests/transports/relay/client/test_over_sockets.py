"""The client over real sockets, against relays that do what a test says and networks that break."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from aiohttp import web

from crypto.acks import Acks, sign_acks
from crypto.ed25519 import verify
from crypto.encoding import unb64u
from crypto.op import MAX_SEQ
from tests.transports.ops import ADA, BOB, Chain, seq
from tests.transports.relay.client.me import TEAM, Me, transport_to
from tests.transports.relay.client.standin import NONCE, Logs, Network, StandIn, free_port
from transports.base import Behind, Line, Refused, Transport, Unreachable
from transports.relay import frames
from transports.relay.address import auth_message
from transports.relay.client.transport import PULL_ROUNDS, RelayTransport


@pytest.fixture
def logs() -> Logs:
    return Logs()


@pytest.fixture
def relay(logs: Logs) -> Iterator[StandIn]:
    standin = StandIn(logs)
    yield standin
    standin.close()


@pytest.fixture
def near(relay: StandIn, tmp_path: Path) -> Iterator[RelayTransport]:
    transport = transport_to(relay.url, tmp_path)
    yield transport
    transport.close()


@pytest.fixture
def impatient(relay: StandIn, tmp_path: Path) -> Iterator[RelayTransport]:
    """A transport that gives a relay a quarter of a second."""
    transport = transport_to(relay.url, tmp_path, request_seconds=0.25)
    yield transport
    transport.close()


def lines(transport: Transport, since: dict[str, int] | None = None) -> list[bytes]:
    return [line.raw for line in transport.pull(since or {})]


def answered(
    logs: Logs, instead: Callable[[frames.Frame], Iterable[str] | None]
) -> Callable[..., Iterable[str]]:
    """What an honest relay answers, but for what a test has answered otherwise."""

    def answer(frame: frames.Frame) -> Iterable[str]:
        other = instead(frame)
        return logs(frame) if other is None else other

    return answer


def hint(*raws: bytes) -> str:
    return frames.write(frames.Ops(frames.carried(raws)))


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


# Connections that end


@pytest.fixture
def network(relay: StandIn) -> Iterator[Network]:
    made = Network(relay.port)
    yield made
    made.close()


def test_a_cut_connection_is_made_again_by_the_next_call(
    network: Network, logs: Logs, tmp_path: Path
) -> None:
    near = transport_to(network.url, tmp_path)
    near.refresh()
    ada = Chain(ADA)
    near.publish(ADA, ada.lines(1))
    network.cut()
    for _ in range(2):  # the cut may be noticed only by the first one
        try:
            near.refresh()
            break
        except Unreachable:
            continue
    near.publish(ADA, ada.lines(1))
    assert [seq(raw) for raw in logs.lanes[ADA]] == [1, 2]
    near.close()


def test_a_half_open_connection_is_found_out_by_a_question(network: Network, tmp_path: Path) -> None:
    near = transport_to(network.url, tmp_path, request_seconds=0.25)
    near.refresh()
    network.hold()
    with pytest.raises(Unreachable, match="no answer within"):
        near.refresh()
    near.close()


def test_a_half_open_connection_is_found_out_by_silence(
    network: Network, relay: StandIn, tmp_path: Path
) -> None:
    near = transport_to(network.url, tmp_path, heartbeat_seconds=0.2, request_seconds=0.5)
    near.refresh()
    network.hold()
    assert near.watch(20)  # nobody asked anything, and there is another connection
    near.refresh()
    near.close()


def test_a_slow_relay_is_given_up_and_its_late_answer_is_nobody_s(
    relay: StandIn, logs: Logs, impatient: Transport
) -> None:
    impatient.refresh()
    relay.answer = answered(logs, lambda frame: [] if isinstance(frame, frames.Pull) else None)
    with pytest.raises(Unreachable, match="no answer"):
        impatient.refresh()
    relay.answer = logs
    impatient.refresh()
    assert lines(impatient) == []


def test_a_replaced_connection_comes_back_once_and_then_holds_back(relay: StandIn, tmp_path: Path) -> None:
    near = transport_to(relay.url, tmp_path, random=lambda: 60.0)  # pauses of a minute
    replaced = frames.write(frames.Refused(frames.Why.REPLACED.reason("by a later connection")))
    near.refresh()
    relay.say(replaced)
    assert near.watch(20)
    near.refresh()
    assert relay.connections == 2
    relay.say(replaced)
    assert not near.watch(0.2)
    with pytest.raises(Unreachable, match="another connection of this same replica") as error:
        near.refresh()
    assert "one `dmp` at a time" in error.value.hint
    assert relay.connections == 2
    near.close()


def test_being_revoked_while_connected_is_told(relay: StandIn, logs: Logs, near: Transport) -> None:
    near.refresh()
    gone = frames.write(frames.Refused(frames.Why.REVOKED.reason("by ada")))
    relay.answer = answered(logs, lambda frame: [gone] if isinstance(frame, frames.Auth) else None)
    relay.say(gone)
    assert near.watch(20)
    with pytest.raises(Unreachable, match="revoked this replica"):
        near.refresh()


# Hostile relays


@pytest.mark.parametrize(
    "text",
    [
        "junk",
        "{}",
        "[]",
        '{"t":"ops","ops":{}}',
        frames.write(frames.Ready()),
        frames.write(frames.Challenge(NONCE)),
        '{"t":"stored","re":1,"through":-1}',
    ],
)
def test_a_frame_that_no_relay_sends_ends_the_connection(
    relay: StandIn, logs: Logs, near: Transport, text: str
) -> None:
    near.refresh()
    relay.answer = answered(logs, lambda frame: [text] if isinstance(frame, frames.Pull) else None)
    with pytest.raises(Unreachable, match="no relay sends"):
        near.refresh()
    relay.answer = logs
    near.refresh()


@pytest.mark.parametrize("text", [frames.write(frames.Ready()), "junk", frames.write(frames.Stored(1, 1))])
def test_a_connection_begins_with_a_challenge(relay: StandIn, near: Transport, text: str) -> None:
    relay.first = lambda: [text]
    with pytest.raises(Unreachable, match="no relay sends"):
        near.refresh()


def test_frames_of_unknown_kinds_are_passed_over(relay: StandIn, near: Transport) -> None:
    relay.first = lambda: ['{"t":"welcome"}', frames.write(frames.Challenge(NONCE))]
    near.refresh()
    relay.say('{"t":"weather","is":[1]}')
    near.refresh()


def test_a_huge_frame_ends_the_connection(relay: StandIn, logs: Logs, near: Transport) -> None:
    near.refresh()
    huge = f'{{"t":"x","x":"{"x" * frames.FRAME_CHARACTERS}"}}'
    relay.answer = answered(logs, lambda frame: [huge] if isinstance(frame, frames.Pull) else None)
    with pytest.raises(Unreachable, match="too long"):
        near.refresh()


def test_an_answer_to_what_was_not_asked_is_nobody_s(
    relay: StandIn, logs: Logs, impatient: Transport
) -> None:
    impatient.refresh()

    def instead(frame: frames.Frame) -> list[str] | None:
        return [frames.write(frames.Ops((), 999))] if isinstance(frame, frames.Pull) else None

    relay.answer = answered(logs, instead)
    with pytest.raises(Unreachable, match="no answer"):
        impatient.refresh()


def test_an_answer_of_another_kind_ends_the_connection(relay: StandIn, logs: Logs, near: Transport) -> None:
    near.refresh()

    def instead(frame: frames.Frame) -> list[str] | None:
        return [frames.write(frames.Stored(frame.id, 9))] if isinstance(frame, frames.Pull) else None

    relay.answer = answered(logs, instead)
    with pytest.raises(Unreachable, match="no relay sends"):
        near.refresh()


def test_ops_of_other_lanes_are_not_read_as_one_s_own(relay: StandIn, logs: Logs, near: Transport) -> None:
    near.refresh()
    mine, others = Chain(ADA).lines(2), Chain(BOB).lines(2)

    def instead(frame: frames.Frame) -> list[str] | None:
        if not isinstance(frame, frames.Pull):
            return None
        return [frames.write(frames.Ops(frames.carried([*others, *mine]), frame.id))]

    relay.answer = answered(logs, instead)
    assert [line.raw for line in near.lane(ADA)] == mine


def test_what_is_no_op_is_skipped_and_reported(relay: StandIn, logs: Logs, near: Transport) -> None:
    good = Chain(ADA).next()
    junk = [
        "null",
        "[]",
        "{}",
        '{"replica":"../x","seq":1}',
        f'{{"replica":"{ADA}","seq":"1"}}',
        f'{{"replica":"{ADA}","seq":true}}',
    ]
    long = f'{{"replica":"{ADA}","seq":7,"x":"{"x" * 1024 * 1024}"}}'
    near.refresh()

    def instead(frame: frames.Frame) -> list[str] | None:
        if not isinstance(frame, frames.Pull):
            return None
        text = ",".join([*junk, long, good.decode()])
        return [f'{{"t":"ops","re":{frame.id},"ops":[{text}]}}']

    relay.answer = answered(logs, instead)
    pull = near.pull({})
    assert [line.raw for line in pull] == [good]
    assert sum(each.count for each in pull.report.skipped) == len(junk) + 1


def test_an_op_written_over_several_lines_becomes_one(relay: StandIn, logs: Logs, near: Transport) -> None:
    good = Chain(ADA).next()
    near.refresh()

    def instead(frame: frames.Frame) -> list[str] | None:
        if not isinstance(frame, frames.Pull):
            return None
        return [f'{{"t":"ops","re":{frame.id},"ops":[{json.dumps(json.loads(good), indent=1)}]}}']

    relay.answer = answered(logs, instead)
    assert lines(near) == [good]


@pytest.mark.parametrize("moving", [False, True])
def test_a_relay_that_has_more_without_end_does_not_hold_a_pass_up(
    relay: StandIn, logs: Logs, near: Transport, moving: bool
) -> None:
    near.refresh()
    chain, asked = Chain(ADA), []
    one = chain.next()

    def instead(frame: frames.Frame) -> list[str] | None:
        if not isinstance(frame, frames.Pull):
            return None
        asked.append(frame)
        return [
            frames.write(frames.Ops(frames.carried([chain.next() if moving else one]), frame.id, more=True))
        ]

    relay.answer = answered(logs, instead)
    pull = near.pull({})
    found = list(pull)
    assert pull.report.more
    assert len(asked) == len(found) == (PULL_ROUNDS if moving else 2)


def test_a_seq_beyond_all_others_hides_nothing_from_the_next_pull(
    relay: StandIn, logs: Logs, near: Transport
) -> None:
    logs.lanes[BOB] = Chain(BOB).lines(3)
    near.refresh()
    forged = json.loads(logs.lanes[BOB][0]) | {"seq": MAX_SEQ}

    def instead(frame: frames.Frame) -> list[str] | None:
        if not isinstance(frame, frames.Pull):
            return None
        return [f'{{"t":"ops","re":{frame.id},"ops":[{json.dumps(forged)}]}}']

    relay.answer = answered(logs, instead)
    assert len(lines(near)) == 1
    relay.answer = logs
    near.refresh()
    assert lines(near, {BOB: 1}) == logs.lanes[BOB]
