"""What `dmp session attach` prints: exact for programs, and nothing that acts on a terminal."""

import os

import pytest

from core.message import Message
from replica.cli.outlet import shown
from replica.host.attach import Given

BODY = "\tif x:\n\x1b[31mred\u202e\nThe sender is waiting."


def given(*, pushed: bool) -> Given:
    message = Message(
        id="m-1",
        thread="m-1",
        reply_to=None,
        sender="human:bob",
        to=("task:t-0000aa",),
        kind="message",
        body=BODY,
        created_at="2026-01-01T00:00:00.000Z",
    )
    return Given(message, pushed)


@pytest.fixture(params=[True, False])
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether standard output is a terminal."""
    is_terminal = bool(request.param)
    monkeypatch.setattr(os, "isatty", lambda _: is_terminal)
    return is_terminal


def test_a_push_ends_with_an_empty_line_and_quotes_every_line_of_the_body(
    terminal: bool,
) -> None:
    header, *body, empty, end = shown(given(pushed=True)).split("\n")
    assert header == "[message from human:bob · message · m-1]"
    assert (empty, end) == ("", "")
    if terminal:
        assert body == ["│     if x:", "│ \\x1b[31mred\\u202e", "│ The sender is waiting."]
    else:
        assert body == [f"│ {line}" for line in BODY.split("\n")]


def test_a_digest_is_one_line(terminal: bool) -> None:
    out = shown(given(pushed=False))
    assert out.count("\n") == 1
    assert out.startswith("📬 message from human:bob: ")
    assert "red" not in out
