"""Ids are ULIDs that rise whatever the clock does (sections 1.4, 13.7)."""

import os
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import Ulids
from core.store.deliveries import insert_deliveries
from core.store.messages import insert_message
from tests.core.support import ADA, OTHER_TASK, draft, world

FORM = re.compile("m-[0-7][0-9a-hjkmnp-tv-z]{25}")
clocks = st.integers(0, 2**47)


@given(st.lists(clocks, min_size=2, max_size=20), st.binary(min_size=10, max_size=10))
@settings(max_examples=100)
def test_ids_rise_in_creation_order_with_any_clock_and_any_randomness(
    times: list[int], entropy: bytes
) -> None:
    ids, made = Ulids(lambda count: entropy[:count]), [""]
    for now in times:
        made.append(ids.after("m-", made[-1] or None, now))
        assert made[-2] < made[-1]
        assert FORM.fullmatch(made[-1])


def test_a_new_millisecond_takes_80_random_bits() -> None:
    ids = Ulids(lambda count: b"\xff" * count)
    first = ids.after("m-", None, 1_000)
    assert first.endswith("z" * 16)
    # Counting up from the last of a millisecond carries over into the next one.
    assert ids.after("m-", first, 1_000) == ids.after("m-", None, 1_001)[:-16] + "0" * 16


def test_an_id_of_another_form_counts_as_none() -> None:
    ids = Ulids(bytes)
    assert ids.after("m-", "m-seed-1", 5) == ids.after("m-", None, 5)


def test_ids_go_on_rising_after_a_restart_with_the_clock_set_back() -> None:
    one = world()
    before = one.engine.send(ADA, draft("human:bob", OTHER_TASK))
    one.now -= 3_600_000
    after = one.engine.send(ADA, draft("human:bob", OTHER_TASK))
    assert before.message.id < after.message.id
    assert max(d.id for d in before.deliveries) < min(d.id for d in after.deliveries)


def test_another_replicas_ids_do_not_push_this_hosts_own_ahead() -> None:
    one = world()
    before = one.engine.send(ADA, draft("human:bob")).message
    future = Ulids(os.urandom).after("m-", None, one.now + 10**9)
    with one.store.transaction("test") as db:
        insert_message(db, replace(before, id=future, thread=future, origin="bob-00000002"))
    assert before.id < one.engine.send(ADA, draft("human:bob")).message.id < future


def test_ids_of_an_older_build_that_sort_after_ours_do_not_stop_them_from_rising() -> None:
    one = world()
    before = one.engine.send(ADA, draft("human:bob"))
    with one.store.transaction("test") as db:
        insert_message(db, replace(before.message, id="m-1", thread="m-1"))
        insert_deliveries(db, [replace(before.deliveries[0], id="d-1", message="m-1")])
    sent = [one.engine.send(ADA, draft("human:bob")) for _ in range(20)]
    messages = [before.message.id, *(each.message.id for each in sent)]
    deliveries = [before.deliveries[0].id, *(each.deliveries[0].id for each in sent)]
    assert messages == sorted(messages)
    assert deliveries == sorted(deliveries)
    assert all(FORM.fullmatch(made) for made in messages)
