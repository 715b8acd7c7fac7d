"""Windows, buckets, outboxes and sources: what keeps a relay within its bounds."""

import asyncio

import pytest
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from crypto.op import to_line
from tests.transports.relay.people import Desk, Person
from transports.relay import frames
from transports.relay.frames import Why, carried, parse, why, write
from transports.relay.server.limits import Bucket, Windows
from transports.relay.server.outbox import EMPTY_HINT, Outbox
from transports.relay.server.relay import Relay
from transports.relay.server.shell.doors import (
    PROVING_PER_SOURCE,
    WAITING_PER_SOURCE,
    Doors,
    TurnedAwayError,
    source_of,
)
from transports.relay.server.shell.metrics import Metrics
from transports.relay.server.shell.pipeline import Pipeline
from transports.relay.server.shell.speaker import frame_of


@given(st.lists(st.integers(0, 500), max_size=60), st.integers(1, 5))
def test_no_window_holds_more_than_its_share(gaps: list[int], limit: int) -> None:
    windows, now, allowed = Windows(limit, 1_000), 0, []
    for gap in gaps:
        now += gap
        if windows.allow("x", now):
            allowed.append(now)
    for start in allowed:
        assert sum(1 for each in allowed if start <= each < start + 1_000) <= limit


def test_windows_forget_whom_they_have_not_seen_for_long() -> None:
    windows = Windows(3, 1_000)
    for number in range(10_000):
        windows.allow(number, number)
    assert len(windows) <= 2_001


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 60)), max_size=60))
def test_a_bucket_lets_no_more_through_than_it_holds_and_gains(takes: list[tuple[int, int]]) -> None:
    bucket, now, taken = Bucket(60, 0), 0, 0
    for gap, amount in takes:
        now += gap
        wait = bucket.take(amount, now)
        if wait == 0:
            taken += amount
        else:
            now += wait + 1
            assert bucket.take(amount, now) == 0
            taken += amount
    assert taken <= 60 + now * 60 / 60_000 + 1


@given(st.lists(st.tuples(st.sampled_from("ahpt"), st.integers(1, 400)), max_size=80))
def test_an_outbox_keeps_every_answer_and_a_bound_on_hints(steps: list[tuple[str, int]]) -> None:
    outbox, answers, taken, hinted = Outbox(1_000), [], [], 0
    for step, size in steps:
        match step:
            case "a":
                answers.append("a" * size)
                outbox.answer(answers[-1])
            case "h":
                outbox.hint("h" * size)
                hinted += 1
            case "p":
                outbox.presence("p" * size)
            case _:
                text = outbox.take()
                taken += [] if text is None else [text]
    waiting = []
    while (text := outbox.take()) is not None:
        waiting.append(text)
    assert sum(len(text) for text in waiting if text[0] == "h") <= 1_000
    assert sum(1 for text in waiting if text[0] == "p") <= 1
    assert [text for text in taken + waiting if text[0] == "a"] == answers
    told = sum(1 for text in taken + waiting if text[0] == "h")
    assert told + outbox.dropped == hinted
    assert (EMPTY_HINT in taken + waiting) == (outbox.dropped > 0)


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536, 70_000])
def test_a_text_is_one_frame_of_a_server(size: int) -> None:
    frame = frame_of("ü" * size)
    assert frame[0] == 0x81
    assert frame.endswith(("ü" * size).encode())
    length = len("ü" * size * 1) * 2
    head = frame[1:2] if length < 126 else frame[2:4] if length < 65_536 else frame[2:10]
    assert int.from_bytes(head) == length
    assert frame[1] == (length if length < 126 else 126 if length < 65_536 else 127)


@pytest.mark.parametrize(
    ("forwarded", "trusted", "source"),
    [
        (None, False, "unknown"),
        ("203.0.113.9", False, "unknown"),
        ("203.0.113.9", True, "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9", True, "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", True, "2001:db8:1:2::"),
        ("::ffff:203.0.113.9", True, "203.0.113.9"),
        ("junk", True, "unknown"),
    ],
)
def test_a_source_is_what_the_proxy_in_front_says_if_there_is_one(
    forwarded: str | None, trusted: bool, source: str
) -> None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    assert source_of(make_mocked_request("GET", "/", headers=headers), trust_proxy=trusted) == source


def test_one_source_holds_so_many_turns_and_the_others_wait_for_theirs() -> None:
    async def story() -> None:
        doors, inside = Doors(), 0
        gate = asyncio.Event()

        async def prove(source: str) -> None:
            nonlocal inside
            async with doors.turn(source):
                inside += 1
                await gate.wait()

        tasks = [asyncio.create_task(prove("a")) for _ in range(WAITING_PER_SOURCE)]
        other = asyncio.create_task(prove("b"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert inside == PROVING_PER_SOURCE + 1
        with pytest.raises(TurnedAwayError) as refused:
            await prove("a")
        assert refused.value.status == 429
        gate.set()
        await asyncio.gather(*tasks, other)
        assert doors._of == {}

    asyncio.run(story())


def test_publications_that_come_together_share_a_transaction(desk: Desk) -> None:
    people = [desk.join(f"m{number}", 10 + number) for number in range(8)]
    writes = 0

    def counted(*given: object) -> None:
        nonlocal writes
        writes += 1
        write_(*given)  # type: ignore[arg-type]

    write_, desk.store.write = desk.store.write, counted  # type: ignore[method-assign,assignment]
    for person, line in people:
        for number in range(3):
            line.session.receive(write(frames.Publish(number, carried([person_line(person)]))))

    async def story() -> None:
        pipeline = Pipeline(desk.relay, Metrics())
        desk.relay.has_work()
        running = asyncio.create_task(pipeline.run())
        await pipeline.drain()
        running.cancel()
        pipeline.close()

    asyncio.run(story())
    assert writes == 1
    for person, line in people:
        stored = [each.through for each in line.listen() if isinstance(each, frames.Stored)]
        assert stored == [2, 3, 4]
        assert len(person.chain) == 4


def person_line(person: Person) -> bytes:
    return to_line(person.task())


def test_what_the_disk_does_not_take_is_answered_as_failed_and_taken_later(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    op = person_line(desk.founder)
    relay: Relay = desk.relay
    ada.session.receive(write(frames.Publish(1, carried([op]))))
    ada.session.receive(write(frames.Ack(2, {desk.founder.replica: 2})))
    batch = relay.take()
    assert batch is not None
    batch.examine()
    relay.fail(batch)
    for number in (1, 2):
        text = ada.session.outbox.take()
        while text is not None and isinstance(parse(text), frames.Presence):
            text = ada.session.outbox.take()
        assert text is not None
        answer = parse(text)
        assert isinstance(answer, frames.Error)
        assert answer.re in (1, 2), number
        assert why(answer.reason) is Why.FAILED
    assert relay.team(desk.team).acks == {}
    ada._request = 4
    assert ada.publish([op]) == frames.Stored(5, 3)


def test_a_full_disk_stores_nothing_of_a_batch_and_the_relay_goes_on_once_there_is_room(desk: Desk) -> None:
    ada = desk.line(desk.founder)
    writer = desk.store._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    op = to_line(desk.founder.task("x" * 200_000))

    async def publish(request: int) -> frames.Frame:
        pipeline = Pipeline(desk.relay, Metrics())
        running = asyncio.create_task(pipeline.run())
        ada.session.receive(write(frames.Publish(request, carried([op]))))
        await pipeline.drain()
        running.cancel()
        pipeline.close()
        assert pipeline.broken == (request == 1)
        return next(each for each in ada.listen() if getattr(each, "re", None) == request)

    writer.execute(f"PRAGMA max_page_count = {pages}")
    answer = asyncio.run(publish(1))
    assert isinstance(answer, frames.Error)
    assert why(answer.reason) is Why.FAILED
    assert len(ada.pull().ops) == 2
    writer.execute("PRAGMA max_page_count = 1000000")
    assert asyncio.run(publish(2)) == frames.Stored(2, 3)
    assert len(ada.pull().ops) == 3
