"""What the relay's helper does (`helper`), which runs as `python -m transports.relay.server.shell.helping`."""

import pickle
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final, TypeAlias

from transports.relay.server.publication import Sound, sound

LENGTH: Final = 4
"""Bytes of the length before each message."""

Question: TypeAlias = list[tuple[str, bytes, str]]
"""Of each op the replica it should be of, that replica's signing key, and the text."""

Answer: TypeAlias = list[Sound | None]


def message(said: Question | Answer) -> bytes:
    """Write what goes through the socket. Both ends are one program, and nobody else holds either."""
    body = pickle.dumps(said, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH) + body


def answers(stream: BinaryIO) -> Iterator[bytes]:
    """Say that it is there, and answer what the relay asks until it is gone."""
    yield b"\0"
    while len(length := stream.read(LENGTH)) == LENGTH:
        body = stream.read(size := int.from_bytes(length))
        if len(body) < size:
            return
        question: Question = pickle.loads(body)
        yield message([sound(*each) for each in question])


def main() -> None:
    """Be the helper; standard input is the socket to the relay."""
    for each in (signal.SIGINT, signal.SIGTERM):  # the relay is told too, and ends this when it has finished
        signal.signal(each, signal.SIG_IGN)
    with socket.socket(fileno=0) as relay, relay.makefile("rb") as stream, suppress(OSError):
        for answer in answers(stream):
            relay.sendall(answer)


if __name__ == "__main__":
    main()
