"""The client over real sockets, against relays that say what none should."""

import json

import pytest

from crypto.op import MAX_SEQ
from tests.transports.ops import ADA, BOB, Chain
from tests.transports.relay.client.me import lines
from tests.transports.relay.client.standin import NONCE, Logs, StandIn, answered
from transports.base import Transport, Unreachable
from transports.relay import frames
from transports.relay.client.transport import PULL_ROUNDS


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
