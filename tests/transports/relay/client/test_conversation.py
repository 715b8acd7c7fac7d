"""One connection, frame by frame, without I/O."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.ops import ADA, Chain
from tests.transports.relay.client.me import TEAM, Me
from transports.relay import frames
from transports.relay.client.chunks import chunks
from transports.relay.client.conversation import (
    Answered,
    Conversation,
    Hinted,
    Login,
    Opened,
    Send,
    State,
    TurnedAway,
)

CHALLENGE = frames.write(frames.Challenge("nonce"))
READY = frames.write(frames.Ready())


def conversation(*texts: str) -> Conversation:
    made = Conversation(Login("wss://relay.example", TEAM, ADA, Me().sign, None))
    for text in texts:
        made.receive(text)
    return made


def test_it_begins_with_a_challenge_and_its_answer() -> None:
    made = conversation()
    sent = made.receive(CHALLENGE)
    assert isinstance(sent, Send)
    assert isinstance(frames.parse(sent.text), frames.Auth)
    assert made.receive(READY) == Opened()
    assert made.state is State.READY


@pytest.mark.parametrize("before", [(), (CHALLENGE,), (CHALLENGE, READY)])
def test_a_relay_may_turn_a_replica_away_at_any_time(before: Sequence[str]) -> None:
    made = conversation(*before)
    assert made.receive(frames.write(frames.Refused("revoked: gone"))) == TurnedAway("revoked: gone")
    assert made.state is State.OVER


def test_answers_find_their_requests_in_any_order() -> None:
    made = conversation(CHALLENGE, READY)
    made.ask(frames.Pull(1, {}))
    made.ask(frames.Publish(2, frames.carried(Chain(ADA).lines(1))))
    stored, ops = frames.Stored(2, 1), frames.Ops((), 1)
    assert made.receive(frames.write(stored)) == Answered(2, stored)
    assert made.receive(frames.write(ops)) == Answered(1, ops)
    assert made.receive(frames.write(ops)) is None


def test_a_push_is_a_hint_and_no_answer() -> None:
    made = conversation(CHALLENGE, READY)
    made.ask(frames.Pull(1, {}))
    assert made.receive(frames.write(frames.Ops(frames.carried(Chain(ADA).lines(1))))) == Hinted()


@pytest.mark.parametrize("before", [(), (CHALLENGE,), (CHALLENGE, READY)], ids=["new", "proving", "ready"])
@pytest.mark.parametrize(
    "frame",
    [
        frames.Challenge("nonce"),
        frames.Ready(),
        frames.Stored(1, 1),
        frames.Ops((), 1),
        frames.Ops(()),
        frames.Acknowledged(1),
        frames.Error(1, "failed: x"),
    ],
)
def test_nothing_comes_out_of_turn(before: Sequence[str], frame: frames.Frame) -> None:
    made = conversation(*before)
    is_turn = {
        0: isinstance(frame, frames.Challenge),
        1: isinstance(frame, frames.Ready),
        2: not isinstance(frame, frames.Challenge | frames.Ready),
    }[len(before)]
    if is_turn:
        made.receive(frames.write(frame))
    else:
        with pytest.raises(frames.FrameError):
            made.receive(frames.write(frame))


@given(
    st.lists(
        st.sampled_from([CHALLENGE, READY, "{}", '{"t":"x"}', "[", frames.write(frames.Stored(1, 1))])
        | st.text()
    )
)
def test_whatever_arrives_is_a_frame_or_an_error(texts: list[str]) -> None:
    made = conversation()
    for text in texts:
        try:
            made.receive(text)
        except frames.FrameError:
            return


@settings(max_examples=25)
@given(st.lists(st.sampled_from([1, 100, 1_000_000, 3_000_000, 5_000_000]), max_size=10))
def test_chunks_are_all_of_it_in_order_and_within_limits(sizes: list[int]) -> None:
    made = [bytes([at]) + bytes(size - 1) for at, size in enumerate(sizes)]
    cut = list(chunks(made))
    assert [line for chunk in cut for line in chunk] == made
    for chunk in cut:
        assert chunk
        assert len(chunk) == 1 or sum(map(len, chunk)) <= frames.PUBLISH_BYTES


@given(st.integers(0, 4_000))
def test_chunks_hold_a_thousand_lines_at_most(count: int) -> None:
    cut = [len(chunk) for chunk in chunks([b"{}"] * count)]
    assert cut == [1_000] * (count // 1_000) + [count % 1_000] * (count % 1_000 > 0)
