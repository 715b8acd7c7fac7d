"""The fold: the same ops give the same state, in any order of arrival, under any roster they are folded for."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.store import Store
from core.store.database import IN_MEMORY
from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.keys import Secrets
from crypto.op import ZERO_HASH, Op, make_op
from crypto.roster.bodies import CutPoint, Role
from crypto.roster.view import Cut, View
from replica.chain.outcome import Verdict
from replica.records import ops
from replica.records.schema import MIGRATIONS
from replica.shared import fold
from replica.shared.homes import homes
from tests.replica.world import START, world

State: TypeAlias = dict[str, list[tuple[object, ...]]]

SIGNER = Secrets.generate(lambda size: bytes([7]) * size).signer

HANDLES = ("ada", "bob", "cy")
TASKS, RUNS = ("t-0000aa", "e-0000bb"), ("r-0000aa", "r-0000bb")
VALUES = st.sampled_from(["a", "b", None, "human:bob"])

bodies: st.SearchStrategy[tuple[str, JsonValue]] = st.one_of(
    st.tuples(
        st.just("channel"),
        st.fixed_dictionaries(
            {
                "channel": st.just("eng"),
                "member": st.sampled_from(["human:ada", "task:t-0000aa"]),
                "joined": st.booleans(),
            }
        ),
    ),
    st.tuples(
        st.just("task"),
        st.fixed_dictionaries(
            {"task": st.sampled_from(TASKS), "kind": st.just("put")},
            optional={
                "origin": st.sampled_from(["one", "two"]),
                "activity": st.lists(st.sampled_from(["x", "y"]), max_size=2),
                "fields": st.dictionaries(st.sampled_from(["title", "assignee", "new"]), VALUES, max_size=2),
            },
        ),
    ),
    st.tuples(
        st.just("task"), st.fixed_dictionaries({"task": st.sampled_from(TASKS), "kind": st.just("remove")})
    ),
    st.tuples(
        st.just("agent"),
        st.fixed_dictionaries(
            {
                "address": st.sampled_from([f"agent:{handle}/helper" for handle in HANDLES]),
                "displayName": st.sampled_from(["a", "b"]),
                "client": st.just("cli"),
                "status": st.sampled_from(["pending", "approved", "revoked"]),
            }
        ),
    ),
    st.tuples(
        st.just("presence"),
        st.one_of(
            st.fixed_dictionaries(
                {
                    "kind": st.just("run"),
                    "run": st.sampled_from(RUNS),
                    "task": st.sampled_from([None, *TASKS]),
                    "runKind": st.just("execute"),
                    "live": st.booleans(),
                }
            ),
            st.fixed_dictionaries(
                {
                    "kind": st.just("resolve"),
                    "run": st.sampled_from(RUNS),
                    "replica": st.sampled_from(HANDLES),
                }
            ),
            st.fixed_dictionaries(
                {
                    "kind": st.just("replica"),
                    "build": st.just("b"),
                    "device": st.just("d"),
                    "wall": st.integers(0, 9),
                }
            ),
        ),
    ),
)

said = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(9_998, 10_001), bodies),
    max_size=14,
    unique_by=lambda each: each[:3],
)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    """The roster of ada, who is an admin, bob and cy."""
    folder: Path = tmp_path_factory.mktemp("roster")
    with pytest.MonkeyPatch.context() as patch, world(folder / "machines") as w:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        ada, *_ = w.team(*HANDLES)
        team = ada.node.team
        assert team is not None
        yield team.view


def made(view: View, drawn: Sequence[tuple[int, int, int, tuple[str, JsonValue]]]) -> list[Op]:
    """Ops as drawn, of each publisher in the order of its clock."""
    names = {member.handle: member.replica for member in view.members.values()}
    seqs: dict[str, int] = {}
    found = []
    for who, ms, counter, (type_, body) in sorted(drawn, key=lambda each: each[:3]):
        replica = names[HANDLES[who]]
        seq = seqs[replica] = seqs.get(replica, 1) + 1
        if isinstance(body, dict) and body.get("kind") == "resolve":
            body = body | {"replica": names[str(body["replica"])]}
        found.append(
            make_op(
                replica=replica,
                seq=seq,
                prev=ZERO_HASH,
                hlc=Reading(START + ms, counter, replica),
                type=type_,
                signer=SIGNER,
                body=body,
                sealed=None,
            )
        )
    return found


def cut(view: View, handle: str, after_seq: int) -> View:
    """The roster with a member revoked from a seq on."""
    member = next(each for each in view.members.values() if each.handle == handle)
    point = Cut(
        replica=member.replica,
        point=CutPoint(after_seq, ZERO_HASH),
        reason="",
        by="",
        handle=member.handle,
        fingerprint=member.fingerprint,
        hosts=(),
        observer=False,
    )
    left = {name: each for name, each in view.members.items() if name != member.replica}
    return replace(view, members=left, revoked={member.replica: point})


def folded(arrival: Sequence[Op], *views: View) -> State:
    """The state after ops arrived under the first roster, and the others were learned of, as a pass does it."""
    store = Store.open(IN_MEMORY, MIGRATIONS)
    try:
        fold.refold(store, views[0], "now")
        for op in arrival:
            with store.transaction("applied") as db:
                ops.insert(db, op)
                outcome = fold.apply(db, views[0], op)
                assert outcome.verdict in (Verdict.APPLIED, Verdict.NOTHING, Verdict.DROPPED)
        for known in views:
            if fold.is_stale(store.db, known):
                fold.refold(store, known, "now")
        return state(store.db, views[-1])
    finally:
        store.close()


def state(db: sqlite3.Connection, view: View) -> State:
    """All that was folded, and the homes that follow from it."""
    tables = ("registers", "run_claims", "devices", "task_origins")
    found: State = {
        table: sorted(db.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in tables
    }
    addresses = (*(f"task:{task}" for task in TASKS), *(f"agent:{handle}/helper" for handle in HANDLES))
    found["homes"] = [(address, homes(db, view, address)) for address in addresses]
    return found


@settings(max_examples=200, deadline=None)
@given(drawn=said, data=st.data())
def test_the_same_ops_give_the_same_state_in_any_order_of_arrival(
    view: View, drawn: list[tuple[int, int, int, tuple[str, JsonValue]]], data: st.DataObject
) -> None:
    ordered = made(view, drawn)
    shuffled = data.draw(st.permutations(ordered))
    assert folded(shuffled, view) == folded(ordered, view)


@settings(max_examples=100, deadline=None)
@given(drawn=said, data=st.data(), after=st.integers(1, 6))
def test_a_cut_leaves_what_the_ops_before_it_come_to(
    view: View, drawn: list[tuple[int, int, int, tuple[str, JsonValue]]], data: st.DataObject, after: int
) -> None:
    ordered = made(view, drawn)
    shuffled = data.draw(st.permutations(ordered))
    without = cut(view, "cy", after)
    counting = [op for op in ordered if op.seq <= after or not op.replica.startswith("cy-")]
    assert folded(shuffled, view, without) == folded(counting, without)


@settings(max_examples=50, deadline=None)
@given(drawn=said, data=st.data(), after=st.integers(1, 6))
def test_rosters_that_come_and_go_while_ops_arrive_leave_no_trace(
    view: View, drawn: list[tuple[int, int, int, tuple[str, JsonValue]]], data: st.DataObject, after: int
) -> None:
    (bob,) = (each for each in view.members.values() if each.handle == "bob")
    rosters = st.sampled_from(
        [
            view,
            cut(view, "ada", after),  # who alone is an admin
            cut(view, "bob", after),
            replace(view, members={**view.members, bob.replica: replace(bob, observer=True)}),
            replace(
                view, members={**view.members, bob.replica: replace(bob, role=Role.ADMIN, hosts=("cy",))}
            ),
        ]
    )
    ordered = made(view, drawn)
    store = Store.open(IN_MEMORY, MIGRATIONS)
    try:
        for op in data.draw(st.permutations(ordered)):
            known = data.draw(rosters)
            if fold.is_stale(store.db, known):
                fold.refold(store, known, "now")
            with store.transaction("applied") as db:
                ops.insert(db, op)
                fold.apply(db, known, op)
        last = data.draw(rosters)
        if fold.is_stale(store.db, last):
            fold.refold(store, last, "now")
        assert state(store.db, last) == folded(ordered, last)
    finally:
        store.close()


def test_what_a_process_folds_that_has_not_heard_of_a_cut_is_folded_anew(view: View) -> None:
    ordered = made(view, [(2, ms, 9_998, ("channel", _joined(ms == 0))) for ms in range(2)])
    without = cut(view, "cy", ordered[0].seq)
    store = Store.open(IN_MEMORY, MIGRATIONS)
    try:
        fold.refold(store, without, "now")
        for op, known in zip(ordered, (without, view), strict=True):
            with store.transaction("applied") as db:
                ops.insert(db, op)
                fold.apply(db, known, op)
        assert fold.is_stale(store.db, without)
        fold.refold(store, without, "now")
        assert state(store.db, without) == folded(ordered, without)
    finally:
        store.close()


def _joined(joined: bool) -> JsonValue:
    return {"channel": "eng", "member": "human:ada", "joined": joined}


@settings(max_examples=50, deadline=None)
@given(drawn=said, after=st.integers(1, 6))
def test_a_cut_that_turns_out_void_leaves_no_trace(
    view: View, drawn: list[tuple[int, int, int, tuple[str, JsonValue]]], after: int
) -> None:
    ordered = made(view, drawn)
    assert folded(ordered, view, cut(view, "bob", after), view) == folded(ordered, view)
