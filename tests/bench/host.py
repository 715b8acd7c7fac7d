"""What the host core costs beside the disk, and as its store grows: `python -m tests.bench.host`.

- A local send to one recipient whose mail is held, beside commits of the very same rows into the same tables
  and indexes by bare SQLite. The target is 0.5. Both take turns, so that a slow moment of the disk hits both.
- A page of 50 from anywhere in a mailbox of 100,000 deliveries, in one state and in all, beside one from a
  mailbox of 1,000. The target is at most 1.5.
- Any thread of 100 messages in a store of 100,000, beside one of the same length in a store of 1,000. The target
  is at most 1.5.

Nothing fails here.
"""

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from core.engine import Engine
from core.ids import Ulids
from core.inputs import Sender, SendInput
from core.message import Delivery, Message, State, Via
from core.store import Store
from core.store.deliveries import insert_deliveries
from core.store.messages import insert_message
from core.store.schema import MIGRATIONS
from core.timestamp import timestamp
from tests.bench.send import commit, rows_of_tables
from tests.core.quiet import QuietHost

SEND_TARGET: Final = 0.5
READ_TARGET: Final = 1.5
SMALL, LARGE = 1_000, 100_000
PAGE: Final = 50
THREAD: Final = 100
START: Final = 1_790_000_000_000
ADA: Final = Sender("human:ada", can_decide=True)
TASK: Final = "task:t-000001"
BODY: Final = "Ship it? The build is green and the notes are written. " * 4


def engine(path: Path) -> Engine:
    """A host on a fresh store, whose clock moves on by a millisecond whenever it is read."""
    ticks = iter(range(START, START * 2))
    return Engine(Store.open(path, MIGRATIONS), QuietHost(), lambda: next(ticks), Ulids(os.urandom))


def send_ratio(folder: Path, count: int, rounds: int) -> None:
    """Measure sends against bare commits, and print the ratio."""
    host, bare = engine(folder / "send.db"), Store.open(folder / "bare.db", MIGRATIONS)
    given = SendInput(to=(TASK,), kind="message", body=BODY)
    ratios, sends, commits = [], 0.0, 0.0
    for _ in range(rounds):
        start, made = time.perf_counter(), [host.send(ADA, given).message.id for _ in range(count)]
        sending = time.perf_counter() - start
        rows = [
            rows_of_tables(host.store.db, each, {"messages": "id", "deliveries": "message"}) for each in made
        ]
        committing = commit(bare.db, rows)
        ratios.append(committing / sending)
        sends, commits = sends + sending, commits + committing
    total = count * rounds
    print(
        f"host: {total / sends:,.0f} local sends/s; bare commits of the same rows: {total / commits:,.0f}/s"
    )
    print(f"host: send ratio {median(ratios):.2f} (target {SEND_TARGET}), median of {rounds} rounds")
    host.store.close()
    bare.close()


def filled(path: Path, size: int) -> Engine:
    """A host whose store holds `size` messages in threads of `THREAD`, all to one mailbox."""
    host = engine(path)
    fill(host.store, size, TASK)
    return host


def fill(store: Store, size: int, recipient: str) -> None:
    """Store `size` messages in threads of `THREAD`, all to one mailbox; every tenth of them is unread."""
    ids = Ulids(os.urandom)
    message_id = delivery_id = thread = None
    with store.transaction("fill") as db:
        for number in range(size):
            now = START + number
            message_id = ids.after("m-", message_id, now)
            delivery_id = ids.after("d-", delivery_id, now)
            thread = message_id if number % THREAD == 0 or thread is None else thread
            message = Message(
                id=message_id,
                thread=thread,
                reply_to=None if thread == message_id else thread,
                sender=ADA.address,
                to=(recipient,),
                kind="message",
                body=BODY,
                created_at=timestamp(now),
            )
            insert_message(db, message)
            state = State.HELD if number % 10 == 0 else State.READ
            delivery = Delivery(delivery_id, message_id, recipient, Via.DIRECT, state, None, timestamp(now))
            insert_deliveries(db, [delivery])


def read_ratios(folder: Path, times: int) -> None:
    """Measure the reads of a large store against a small one's, and print each ratio."""
    small, large = filled(folder / "small.db", SMALL), filled(folder / "large.db", LARGE)

    pick = Random(1)

    def pages(host: Engine, states: tuple[State, ...] | None) -> Iterator[object]:
        box = [delivery.id for delivery, _ in host.inbox(TASK, states)][:-PAGE]
        while True:
            yield host.inbox(TASK, states, after=pick.choice(box), limit=PAGE)

    def threads(host: Engine) -> Iterator[object]:
        names = sorted({message.thread for _, message in host.inbox(TASK)})
        while True:
            yield host.thread(pick.choice(names))

    reads = {
        f"a thread of {THREAD}": (threads(small), threads(large)),
        f"a page of {PAGE}": (pages(small, None), pages(large, None)),
        f"a page of {PAGE} held": (pages(small, (State.HELD,)), pages(large, (State.HELD,))),
    }
    for title, (of_small, of_large) in reads.items():
        both = [(timed(of_large), timed(of_small)) for _ in range(times)]  # in turns: a busy moment hits both
        ratio = median(each[0] for each in both) / median(each[1] for each in both)
        print(
            f"host: {title} of {LARGE:,}: {ratio:.2f} of the same from {SMALL:,} "
            f"(target at most {READ_TARGET}), medians of {times}"
        )
    small.store.close()
    large.store.close()


def timed(reads: Iterator[object]) -> float:
    """The seconds the next read takes."""
    start = time.perf_counter()
    next(reads)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="messages in one round of sends")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--times", type=int, default=201, help="how often each read is measured")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        send_ratio(Path(folder), options.count, options.rounds)
        read_ratios(Path(folder), options.times)


if __name__ == "__main__":
    main()
