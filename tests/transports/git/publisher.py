"""A process of its own that uses a transport: `publisher <remote> <directory> <replica> <count>`.

It publishes `count` ops one by one, as every replica does: refresh, publish, and again when somebody was faster.
"""

import sys
from contextlib import suppress
from pathlib import Path

from tests.transports.ops import Chain
from transports.base import Behind
from transports.git import GitTransport
from transports.remotes import Source, parse_remote


def main(remote: str, directory: str, replica: str, count: str) -> None:
    transport = GitTransport(parse_remote(remote, Source.TYPED), Path(directory))
    waiting = Chain(replica).lines(int(count))
    while waiting:
        transport.refresh()
        with suppress(Behind):
            transport.publish(replica, waiting[:1])
            del waiting[0]
    transport.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
