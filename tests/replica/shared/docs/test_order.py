"""The same doc ops give the same documents, heads, slugs and held changes, in any order of arrival."""

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from core.store import Store
from core.store.database import IN_MEMORY
from crypto.canonical import JsonValue
from crypto.op import Op
from crypto.roster.view import View
from replica.records import ops
from replica.records.schema import MIGRATIONS
from replica.shared import fold
from replica.shared.docs.library import Document, Library
from replica.shared.docs.reading import read
from tests.replica.shared.docs.said import DOC, OTHER, put, remove, rev, text
from tests.replica.shared.test_fold import HANDLES, cut, made, view

__all__ = ["view"]  # a fixture

Drawn: TypeAlias = list[tuple[int, int, int, tuple[str, JsonValue]]]

NAMES = ("a", "b", "c", "d", "e")
documents = st.sampled_from([DOC, OTHER])
writers = st.sampled_from(
    [f"{kind}:{name}" for name in HANDLES for kind in ("human",)] + ["run:r-0000aa"]
) | (st.sampled_from([f"agent:{name}/helper" for name in HANDLES]))


def drawn_text(name: str, parents: list[str], by: str, doc: str, approved: str | None) -> JsonValue:
    approval: dict[str, JsonValue] = {} if approved is None else {"approval": {"by": f"human:{approved}"}}
    return text(name, *parents, by=by, doc=doc, **approval)


def drawn_note(by: str, doc: str, meta: dict[str, JsonValue], review: str | None) -> JsonValue:
    reviewed: dict[str, JsonValue] = {} if review is None else {"review": {"rev": rev(review)}}
    return put(by, doc, meta=meta, **reviewed)


texts = st.builds(
    drawn_text,
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    writers,
    documents,
    st.none() | st.sampled_from(HANDLES),
)
about = st.fixed_dictionaries(
    {},
    optional={
        "slug": st.sampled_from(["guide", "guide-00000b"]),
        "status": st.sampled_from(["draft", "accepted", "accepted", "archived"]),
        "aliases": st.lists(st.sampled_from(["old", "older"]), max_size=2),
        "links": st.lists(
            st.builds(
                lambda rel, id_: {"target": {"type": "task", "id": id_}, "rel": rel},
                st.sampled_from(["spec", "context"]),
                st.sampled_from(["t-1", "t-2"]),
            ),
            max_size=2,
        ),
    },
)
notes = st.builds(drawn_note, writers, documents, about, st.none() | st.sampled_from(NAMES))
claims = st.fixed_dictionaries(
    {
        "kind": st.just("run"),
        "run": st.just("r-0000aa"),
        "task": st.none(),
        "runKind": st.just("execute"),
        "live": st.booleans(),
    }
)
bodies: st.SearchStrategy[tuple[str, JsonValue]] = st.one_of(
    st.tuples(st.just("doc"), texts),
    st.tuples(st.just("doc"), texts),
    st.tuples(st.just("doc"), notes),
    st.tuples(st.just("doc"), st.builds(remove, writers, documents)),
    st.tuples(st.just("presence"), claims),
)
said = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 9), st.just(0), bodies),
    max_size=16,
    unique_by=lambda each: each[:3],
)


def folded(arrival: Sequence[Op], *views: View) -> tuple[Library, list[Document]]:
    """The documents after ops arrived under the first roster, and the others were learned of."""
    store = Store.open(IN_MEMORY, MIGRATIONS)
    try:
        fold.refold(store, views[0], "now")
        for op in arrival:
            with store.transaction("applied") as db:
                ops.insert(db, op)
                fold.apply(db, views[0], op)
        for known in views:
            if fold.is_stale(store.db, known):
                fold.refold(store, known, "now")
        found = read(store, "nobody-00000000")
        return found, list(found.there())
    finally:
        store.close()


@settings(max_examples=100, deadline=None)
@given(drawn=said, data=st.data())
def test_the_same_ops_give_the_same_documents_in_any_order_of_arrival(
    view: View, drawn: Drawn, data: st.DataObject
) -> None:
    ordered = made(view, drawn)
    shuffled = data.draw(st.permutations(ordered))
    assert folded(shuffled, view) == folded(ordered, view)


@settings(max_examples=50, deadline=None)
@given(drawn=said, data=st.data(), after=st.integers(1, 6))
def test_a_cut_leaves_the_documents_that_the_ops_before_it_come_to(
    view: View, drawn: Drawn, data: st.DataObject, after: int
) -> None:
    ordered = made(view, drawn)
    shuffled = data.draw(st.permutations(ordered))
    without = cut(view, "cy", after)
    counting = [op for op in ordered if op.seq <= after or not op.replica.startswith("cy-")]
    assert folded(shuffled, view, without) == folded(counting, without)


@settings(max_examples=25, deadline=None)
@given(drawn=said, after=st.integers(1, 6))
def test_a_cut_that_turns_out_void_leaves_no_trace_in_documents(view: View, drawn: Drawn, after: int) -> None:
    ordered = made(view, drawn)
    assert folded(ordered, view, cut(view, "bob", after), view) == folded(ordered, view)


@settings(max_examples=100, deadline=None)
@given(drawn=said)
def test_what_was_said_comes_to_documents_that_hold_together(view: View, drawn: Drawn) -> None:
    library, there = folded(made(view, drawn), view)
    names = [document.slug for document in there if document.slug is not None]
    assert len(names) == len(set(names))
    for document in library.documents.values():
        heads, held = {row.id for row in document.heads}, {row.id for row in document.held}
        waiting = {row.id for row in document.waiting}
        assert len(document.revisions) == len(heads) + len(document.past) + len(held) + len(waiting)
        for id_ in heads | document.past | held:
            assert all(parent in heads | document.past | held for parent in document.revisions[id_].parents)
        for head in document.heads:
            assert not any(head.id in document.revisions[id_].parents for id_ in document.past | heads)
        if document.status != "accepted":
            assert not held
        assert not any(document.revisions[id_].is_a_persons for id_ in held)
        assert {document.standing(id_) for id_ in document.revisions} <= {"head", "past", "held", "waiting"}
