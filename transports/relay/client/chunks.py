"""Cutting what is to be published into frames (federation wire 7.4)."""

from collections.abc import Iterator, Sequence

from transports.relay.frames import FRAME_OPS, PUBLISH_BYTES


def chunks(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Cut lines, in their order, into runs of at most 1,000 lines and 4 MiB, of one line at least."""
    start = size = 0
    for at, line in enumerate(lines):
        written = len(line) + 1  # a comma follows it
        if at > start and (at - start == FRAME_OPS or size + written > PUBLISH_BYTES):
            yield lines[start:at]
            start, size = at, 0
        size += written
    if start < len(lines):
        yield lines[start:]
