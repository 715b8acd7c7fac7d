"""Frames are read as they were written, and nothing else that is sent is more than refused (wire 7.2)."""

import json
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.op import Unverified, read_parsed
from tests.transports.ops import ADA, BOB, Chain
from transports.relay import frames
from transports.relay.frames import Carried, Frame, FrameError, Why, carried, parse, why, write

LINES = Chain(ADA).lines(3, text="brackets ]} and \u2028 and \\u0000")
OPS = carried(LINES)

FRAMES: list[Frame] = [
    frames.Challenge("bm9uY2U"),
    frames.Ready(),
    frames.Refused("closing: the relay shuts down"),
    frames.Stored(7, 3),
    frames.Ops(OPS),
    frames.Ops((), "a", more=True),
    frames.Acknowledged("x"),
    frames.Presence((frames.Online(ADA, "2026-01-01T00:00:00Z"), frames.Online(BOB, ""))),
    frames.Error(3, "limited: later"),
    frames.Auth(ADA, "c2ln"),
    frames.Auth(ADA, "c2ln", OPS[0]),
    frames.Publish(1, OPS),
    frames.Pull(2, {}),
    frames.Pull(2, {ADA: 4}, (ADA, BOB)),
    frames.Pull(2, {ADA: 4}, ()),
    frames.Ack("y", {ADA: 0, BOB: 2**53 - 1}),
]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    assert parse(write(frame)) == frame
    assert (
        parse(json.dumps(json.loads(write(frame)), indent=2) if not has_ops(frame) else write(frame)) == frame
    )


def has_ops(frame: Frame) -> bool:
    return isinstance(frame, frames.Ops | frames.Publish | frames.Auth)


def test_the_text_of_an_op_is_kept_and_what_it_says_is_read_once() -> None:
    publish = parse(write(frames.Publish(1, OPS)))
    assert isinstance(publish, frames.Publish)
    assert [each.raw for each in publish.ops] == LINES
    for each in publish.ops:
        assert each.parsed is not None
        assert isinstance(read_parsed(each.parsed), Unverified)


def test_p4_a_repeated_key_in_one_op_is_told_of_that_op_alone() -> None:
    text = '{"t":"publish","id":1,"ops":[{"a":1},{"a":1,"\\u0061":2},{"b":[{"c":1,"c":1}]}]}'
    publish = parse(text)
    assert isinstance(publish, frames.Publish)
    assert [each.parsed is not None and each.parsed.duplicates for each in publish.ops] == [False, True, True]


def test_frames_of_other_kinds_and_members_of_later_versions_are_passed_over() -> None:
    assert parse('{"t":"later","x":[1,{"y":2}]}') == frames.Unknown("later")
    assert parse('{"more":"yes","t":"ready","ops":3,"keyOp":[]}') == frames.Ready()
    assert parse(' {"t" : "stored" ,\n"re":1,"through":2,"extra":{} }\r\n') == frames.Stored(1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        '{"t":1}',
        '{"t":"ready"',
        '{"t":"ready"}x',
        '{"t":"ready",}',
        '{"t":"ready" "a":1}',
        '{t:"ready"}',
        '{1:2,"t":"ready"}',
        '{"t":"ready","t":"pull"}',
        "{'t':'ready'}",
        '{"t":"pull","since":{}}',
        '{"t":"pull","id":1}',
        '{"t":"pull","id":true,"since":{}}',
        '{"t":"pull","id":1.5,"since":{}}',
        '{"t":"pull","id":1,"since":{"../x":1}}',
        f'{{"t":"pull","id":1,"since":{{"{ADA}":-1}}}}',
        f'{{"t":"pull","id":1,"since":{{"{ADA}":true}}}}',
        f'{{"t":"pull","id":1,"since":{{"{ADA}":9007199254740992}}}}',
        f'{{"t":"pull","id":1,"since":{{}},"replicas":"{ADA}"}}',
        '{"t":"pull","id":1,"since":{},"replicas":[1]}',
        '{"t":"pull","id":1,"since":{},"replicas":null}',
        '{"t":"publish","id":1}',
        '{"t":"publish","id":1,"ops":{}}',
        '{"t":"publish","id":1,"ops":[1,]}',
        '{"t":"publish","id":1,"ops":[1 2]}',
        '{"t":"publish","id":1,"ops":[1',
        '{"t":"publish","id":1,"ops":["\\u00zz"]}',
        '{"t":"publish","id":1,"ops":[1e999]}',
        '{"t":"auth","replica":"ada","sig":"x"}',
        f'{{"t":"auth","replica":"{ADA}"}}',
        '{"t":"ack","id":1,"through":[]}',
        '{"t":"presence","online":[1]}',
        '{"t":"error","re":null,"reason":"x"}',
        '{"t":"error","re":1,"reason":"' + "x" * 9000 + '"}',
        '{"t":"challenge","nonce":3}',
        '{"t":"x","y":' + "[" * 257 + "]" * 257 + "}",
        '{"t":"publish","id":1,"ops":[' + "[" * 257 + "]" * 257 + "]}",
        '{"t":"publish","id":1,"ops":' + "[" * 200_000,
        '{"t":' * 200_000,
    ],
)
def test_what_is_no_frame_is_refused(text: str) -> None:
    with pytest.raises(FrameError):
        parse(text)


def test_more_lanes_than_there_may_be_are_refused() -> None:
    named = {f"r-{number:08x}": 1 for number in range(frames.MAX_LANES + 1)}
    with pytest.raises(FrameError):
        parse(write(frames.Ack(1, named)))


def test_a_reason_begins_with_a_word_that_programs_know() -> None:
    assert why(Why.BEHIND.reason("somebody was first")) is Why.BEHIND
    assert why("behind") is None
    assert why("later: a word of another version") is None


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_frame_or_refused(text: str) -> None:
    with suppress(FrameError):
        parse(text)


def test_20000_damaged_frames_are_read_or_refused_and_what_is_read_can_be_written() -> None:
    rng = random.Random(7)
    texts = [write(frame) for frame in FRAMES]
    pieces = [
        '"',
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "-1",
        "1e999",
        "\ud800",
        "\x00",
        '"ops":[',
        '"t":',
    ]
    read = 0
    for _ in range(20_000):
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 3)):
            at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
            match rng.randrange(4):
                case 0:
                    text = text[:at] + rng.choice(pieces) + text[at:]
                case 1:
                    text = text[:at] + text[at + rng.randint(1, 4) :]
                case 2:
                    text = (
                        text[:at]
                        + chr(rng.choice((rng.randrange(128), rng.randrange(0xD800))))
                        + text[at + 1 :]
                    )
                case _:
                    text = text[:at] + text[to:]
        try:
            frame = parse(text)
        except FrameError:
            continue
        read += 1
        again = parse(write(frame))
        assert again == frame or isinstance(frame, frames.Auth)
    assert 1_000 < read < 19_000
    assert Carried.line(b"\xff").raw == "\ufffd".encode()
