"""Memory is a pure function of the ops that count: any order of arrival gives the same entries (F.7, wire 8.15)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.store import Store
from core.store.database import IN_MEMORY
from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.op import ZERO_HASH, Op, make_op
from crypto.roster.view import View
from replica.records import ops
from replica.records.schema import MIGRATIONS
from replica.shared import fold
from replica.shared.memory import writes
from replica.shared.memory.bodies import CONTENT, Trust
from replica.shared.memory.entries import Decision, Decisions, Entry, Standing, entry_of
from tests.replica.shared.memory_acts import MEM
from tests.replica.shared.test_fold import HANDLES, SIGNER, cut
from tests.replica.world import START, world

OTHER = f"mem-01KE{'1' * 22}"
PEOPLE = st.sampled_from([f"human:{handle}" for handle in HANDLES])
WRITERS = st.one_of(PEOPLE, st.sampled_from([f"agent:{handle}/helper" for handle in HANDLES]))

fields = st.fixed_dictionaries(
    {},
    optional={
        "title": st.sampled_from(["One", "Two"]),
        "body": st.sampled_from(["This.", "That."]),
        "kind": st.sampled_from(["fact", "hazard"]),
        "pinned": st.booleans(),
        "status": st.sampled_from(["active", "retired"]),
        "author": WRITERS,
        "decidedBy": st.one_of(st.none(), PEOPLE),
        "mood": st.just("sunny"),
    },
)
bodies = st.fixed_dictionaries(
    {
        "memory": st.sampled_from([MEM, OTHER]),
        "kind": st.sampled_from(["put", "put", "put", "remove"]),
        "trust": st.sampled_from(["human", "confirmed", "agent", "agent", "bogus"]),
        "fields": fields,
    },
    optional={"by": WRITERS},
)
Drawn: TypeAlias = tuple[int, int, int, dict[str, JsonValue]]
said = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(9_998, 10_001), bodies),
    max_size=10,
    unique_by=lambda each: each[:3],
)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    """The roster of ada, bob and cy."""
    folder: Path = tmp_path_factory.mktemp("roster")
    with pytest.MonkeyPatch.context() as patch, world(folder / "machines") as w:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        team = w.team(*HANDLES)[0].node.team
        assert team is not None
        yield team.view


def made(view: View, drawn: Sequence[Drawn]) -> list[Op]:
    names = {member.handle: member.replica for member in view.members.values()}
    seqs: dict[str, int] = {}
    found = []
    for who, ms, counter, body in sorted(drawn, key=lambda each: each[:3]):
        replica = names[HANDLES[who]]
        seqs[replica] = seqs.get(replica, 1) + 1
        found.append(
            make_op(
                replica=replica,
                seq=seqs[replica],
                prev=ZERO_HASH,
                hlc=Reading(START + ms, counter, replica),
                type="memory",
                signer=SIGNER,
                body=dict(body),
                sealed=None,
            )
        )
    return found


def entries(arrival: Sequence[Op], *views: View, decided: Decisions | None = None) -> dict[str, Entry]:
    """What is held by a replica that is nobody's after ops arrived, and other rosters were learned of."""
    store = Store.open(IN_MEMORY, MIGRATIONS)
    try:
        fold.refold(store, views[0], "now")
        for op in arrival:
            with store.transaction("applied") as db:
                ops.insert(db, op)
                fold.apply(db, views[0], op)
        for view in views[1:]:
            if fold.is_stale(store.db, view):
                fold.refold(store, view, "now")
        found = dict(writes.all_writes(store.db))
        assert all(writes.writes_of(store.db, memory) == each for memory, each in found.items())
    finally:
        store.close()
    last = views[-1]

    def speaks(replica: str, handle: str, seq: int | None) -> bool:
        return last.speaks_for_handle(replica, handle, seq or 0)

    return {name: entry_of(name, each, "me", speaks, decided or {}) for name, each in found.items()}


@settings(max_examples=120, deadline=None)
@given(drawn=said, data=st.data())
def test_any_order_of_arrival_gives_the_same_entries(
    view: View, drawn: list[Drawn], data: st.DataObject
) -> None:
    ordered = made(view, drawn)
    shuffled = data.draw(st.permutations(ordered))
    assert entries(shuffled, view) == entries(ordered, view)


@settings(max_examples=60, deadline=None)
@given(drawn=said, data=st.data())
def test_an_op_that_arrives_twice_is_one(view: View, drawn: list[Drawn], data: st.DataObject) -> None:
    ordered = made(view, drawn)
    again = [*ordered, *data.draw(st.lists(st.sampled_from(ordered), max_size=4) if ordered else st.just([]))]
    assert entries(again, view) == entries(ordered, view)


@settings(max_examples=60, deadline=None)
@given(drawn=said, data=st.data(), after=st.integers(1, 6))
def test_after_a_cut_memory_is_what_the_ops_before_it_come_to(
    view: View, drawn: list[Drawn], data: st.DataObject, after: int
) -> None:
    ordered = made(view, drawn)
    shuffled = data.draw(st.permutations(ordered))
    without = cut(view, "cy", after)
    counting = [op for op in ordered if op.seq <= after or not op.replica.startswith("cy-")]
    assert entries(shuffled, view, without) == entries(counting, without)


@settings(max_examples=120, deadline=None)
@given(drawn=said, data=st.data())
def test_the_value_that_counts_is_the_latest_that_was_let_in(
    view: View, drawn: list[Drawn], data: st.DataObject
) -> None:
    ordered = made(view, drawn)
    places: list[tuple[str, int | None]] = [(op.replica, op.seq) for op in ordered]
    decided = (
        data.draw(st.dictionaries(st.sampled_from(places), st.sampled_from(list(Decision)))) if places else {}
    )
    for entry in entries(ordered, view, decided=decided).values():
        counting = [each for each in entry.revisions if each.standing is Standing.COUNTS]
        for name, value in entry.values.items():
            assert [each.fields[name] for each in counting if name in each.fields][-1] == value
        content = [index for index, each in enumerate(counting) if each.write.is_content]
        since = counting[content[-1] :] if content else counting
        assert entry.trust == max((each.trust for each in since), key=list(Trust).index, default=Trust.AGENT)


@settings(max_examples=120, deadline=None)
@given(drawn=said)
def test_nobody_is_named_as_trusted_but_by_a_replica_that_speaks_for_them(
    view: View, drawn: list[Drawn]
) -> None:
    """However ops are mixed: an entry that reads as a human's was called so by that human's own machine."""
    replica_of = {f"human:{member.handle}": member.replica for member in view.members.values()}
    for entry in entries(made(view, drawn), view).values():
        counting = [each.write for each in entry.revisions if each.standing is Standing.COUNTS]
        if entry.trust is Trust.HUMAN:
            own = [write for write in counting if write.replica == replica_of[entry.author or ""]]
            assert any(write.claim is Trust.HUMAN or "author" in write.fields for write in own)
        if entry.trust is Trust.CONFIRMED and entry.decided_by is not None:
            assert any(write.replica == replica_of[entry.decided_by] for write in counting)
        assert not any(each.trust is not Trust.AGENT for each in entry.held)


def test_content_is_what_the_wire_says_it_is() -> None:
    assert {"title", "body", "kind", "refs"} == CONTENT
