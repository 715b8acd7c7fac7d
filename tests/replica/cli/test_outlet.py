"""Writing to a reader that may be slow: nobody waits for one that takes nothing once there is nothing to wait for."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from replica.cli.outlet import write
from replica.host.programs import ProgramError


@contextmanager
def piped() -> Iterator[int]:
    """Make standard output a pipe, and give its far end."""
    far, near = os.pipe()
    try:
        with os.fdopen(near, "w", encoding="ascii") as stream, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            yield far
    finally:
        os.close(far)


def test_what_is_written_arrives_whole_however_slowly_it_is_read() -> None:
    text = "ab\n" * 100_000
    got: list[bytes] = []

    def read(far: int) -> None:
        while sum(map(len, got)) < len(text) and (part := os.read(far, 5000)):
            got.append(part)

    with piped() as far:
        reader = threading.Thread(target=read, args=(far,))
        reader.start()
        write(text, lambda: False)
        reader.join(20)
    assert b"".join(got).decode() == text


def test_what_the_stream_cannot_say_is_escaped() -> None:
    with piped() as far:
        write("\u00e9\n", lambda: True)
        assert os.read(far, 100) == b"\\xe9\n"


def test_nobody_waits_for_a_reader_once_it_is_over() -> None:
    with piped(), pytest.raises(ProgramError, match="before this was read"):
        write("x" * 1_000_000, lambda: True)
