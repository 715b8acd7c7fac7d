"""What documents come to, rule by rule, as a pure function of what was said of them (federation wire 8.18, 8.20)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from replica.shared.docs import graph
from replica.shared.docs.bodies import About, Link, Status
from replica.shared.docs.library import MAX_CHAIN, MAX_HELD, Document, library
from replica.shared.docs.rows import NoteRow, RevisionRow, Row
from tests.replica.shared.docs.said import DOC, OTHER, rev

THIRD = "doc-" + "0" * 25 + "C"
BOB, CY = "bob-0000000b", "cy-0000000c"
NO_CLAIMS: frozenset[tuple[str, str]] = frozenset()


def revision(
    name: str,
    *parents: str,
    at: int = 1,
    author: str = "human:bob",
    doc: str = DOC,
    replica: str = BOB,
    approved_by: str | None = None,
) -> RevisionRow:
    return RevisionRow(
        id=rev(name),
        doc=doc,
        place=(0, at, 0, replica, at),
        replica=replica,
        seq=at,
        by=author if approved_by is None else approved_by,
        parents=tuple(rev(parent) for parent in parents),
        title=name,
        size=1,
        hash=name,
        author=author,
        approved_by=approved_by,
        cause="save",
        summary="",
        created_at="2026-01-01T00:00:00.000Z",
        task=None,
    )


def note(
    at: int,
    by: str = "human:bob",
    *,
    doc: str = DOC,
    replica: str = BOB,
    removes: bool = False,
    review: str | None = None,
    slug: str | None = None,
    status: Status | None = None,
    links: tuple[Link, ...] | None = None,
    aliases: tuple[str, ...] = (),
) -> NoteRow:
    about = About(slug, status, links, aliases)
    return NoteRow(
        doc, (0, at, 0, replica, at), replica, by, removes, about, None if review is None else rev(review)
    )


def one(*rows: Row, claims: frozenset[tuple[str, str]] = NO_CLAIMS) -> Document:
    return library(rows, claims).documents[DOC]


def ids(rows: tuple[RevisionRow, ...]) -> list[str]:
    """The short names of revisions, in their order."""
    return [row.id.lstrip("rev-0").lower() for row in rows]


HELPER = "agent:bob/helper"


def test_concurrent_revisions_are_heads_beside_each_other_the_latest_first() -> None:
    found = one(revision("a"), revision("b", "a", at=2), revision("c", "a", at=3))
    assert ids(found.heads) == ["c", "b"]
    assert found.past == {rev("a")}
    joined = one(
        revision("a"), revision("b", "a", at=2), revision("c", "a", at=3), revision("d", "b", "c", at=4)
    )
    assert ids(joined.heads) == ["d"]
    assert joined.title == "d"


def test_a_revision_waits_until_all_it_descends_from_is_there() -> None:
    rows: list[Row] = [revision("a"), revision("b", "a", "x", at=2), revision("c", "b", at=3)]
    found = one(*rows)
    assert (ids(found.heads), ids(found.waiting)) == (["a"], ["b", "c"])
    assert found.standing(rev("c")) == "waiting"
    assert ids(one(*rows, revision("x", at=9)).heads) == ["c"]


def test_revisions_that_descend_from_themselves_wait_for_ever_and_hold_nobody_up() -> None:
    found = one(revision("a", "b"), revision("b", "a", at=2), revision("c", "c", at=3), revision("d", at=4))
    assert (ids(found.heads), ids(found.waiting)) == (["d"], ["a", "b", "c"])


def test_a_document_of_nothing_but_waiting_revisions_is_not_there() -> None:
    found = library([revision("b", "a"), note(2, slug="guide")], NO_CLAIMS)
    assert not found.documents[DOC].is_there
    assert found.find("guide") is None
    assert found.find(DOC) is None


def test_of_two_revisions_with_one_id_the_earlier_counts() -> None:
    early, late = revision("a", at=1, replica=CY), replace(revision("a", at=2), title="late")
    assert one(late, early).title == one(early, late).title == "a"


def test_a_sessions_revision_waits_until_its_publisher_claims_the_session() -> None:
    row = revision("b", "a", at=2, author="run:r-0000aa")
    assert ids(one(revision("a"), row).waiting) == ["b"]
    assert ids(one(revision("a"), row, claims=frozenset({("run:r-0000aa", CY)})).waiting) == ["b"]
    assert ids(one(revision("a"), row, claims=frozenset({("run:r-0000aa", BOB)})).heads) == ["b"]
    approved = revision("b", "a", at=2, author="run:r-0000aa", approved_by="human:bob")
    assert ids(one(revision("a"), approved).waiting) == ["b"]


def test_a_draft_takes_what_anybody_writes_and_an_accepted_document_holds_what_no_person_stands_behind() -> (
    None
):
    rows: list[Row] = [revision("a"), revision("b", "a", at=2, author=HELPER)]
    assert ids(one(*rows).heads) == ["b"]
    accepted = one(*rows, note(3, status="accepted", review="a"))
    assert (ids(accepted.heads), ids(accepted.held)) == (["a"], ["b"])
    assert accepted.standing(rev("b")) == "held"
    again = one(*rows, note(3, status="accepted", review="a"), note(4, status="draft"))
    assert ids(again.heads) == ["b"]


def test_a_held_revision_counts_once_a_person_reviews_it_approves_it_or_builds_on_it() -> None:
    rows: list[Row] = [
        revision("a"),
        revision("b", "a", at=2, author=HELPER),
        note(3, status="accepted", review="a"),
    ]
    assert ids(one(*rows, note(4, "human:cy", review="b", replica=CY)).heads) == ["b"]
    assert ids(one(*rows, note(4, "agent:cy/helper", review="b", replica=CY)).held) == ["b"]
    assert ids(one(*rows, revision("c", "b", at=4)).heads) == ["c"]
    approved = revision("b", "a", at=2, author=HELPER, approved_by="human:bob")
    assert ids(one(rows[0], approved, rows[2]).heads) == ["b"]


def test_a_review_of_a_later_revision_covers_what_it_descends_from() -> None:
    rows: list[Row] = [revision("a"), note(9, status="accepted", review="a")]
    rows += [revision("b", "a", at=2, author=HELPER), revision("c", "b", at=3, author=HELPER)]
    assert ids(one(*rows).held) == ["b", "c"]
    assert ids(one(*rows, note(10, review="c")).heads) == ["c"]
    assert ids(one(*rows, note(10, review="b")).held) == ["c"]


def test_a_rejected_revision_is_past_without_ever_having_been_a_head() -> None:
    rows: list[Row] = [revision("a"), revision("b", "a", at=2, author=HELPER)]
    rows += [note(3, status="accepted", review="a"), revision("r", "a", "b", at=4)]
    found = one(*rows)
    assert (ids(found.heads), found.held) == (["r"], ())
    assert found.past == {rev("a"), rev("b")}


def test_whoever_accepts_without_saying_which_text_means_what_was_there_by_the_clock() -> None:
    rows: list[Row] = [revision("a", at=1, author=HELPER), revision("b", "a", at=5, author=HELPER)]
    found = one(*rows, note(3, status="accepted"))
    assert (ids(found.heads), ids(found.held)) == (["a"], ["b"])


def test_an_acceptance_that_says_which_text_covers_no_other_however_it_is_dated() -> None:
    rows: list[Row] = [revision("a", at=3), revision("x", at=1, author=HELPER, replica=CY)]
    found = one(*rows, note(5, status="accepted", review="a"))
    assert (ids(found.heads), ids(found.held)) == (["a"], ["x"])


def test_an_agent_changes_neither_name_nor_status_nor_what_is_a_spec_or_a_plan() -> None:
    spec, plan, context = (Link("task", "t-1", relation) for relation in ("spec", "plan", "context"))
    found = one(
        revision("a"),
        note(2, slug="guide", links=(spec, context)),
        note(3, HELPER, slug="evil", status="accepted", links=(plan,), aliases=("helped",)),
    )
    assert (found.slug, found.status, found.links) == ("guide", "draft", (spec,))
    assert found.aliases == ("helped",)
    later = Link("task", "t-2", "context")
    assert set(one(revision("a"), note(2, links=(spec, context)), note(3, HELPER, links=(later,))).links) == {
        spec,
        later,
    }


def test_of_names_status_and_links_the_last_word_counts_and_aliases_add_up() -> None:
    found = one(
        revision("a"),
        note(5, slug="later", status="archived", aliases=("x",)),
        note(2, slug="earlier", status="accepted", aliases=("y",)),
    )
    assert (found.slug, found.status, found.aliases) == ("later", "archived", ("x", "y"))


def test_a_removed_document_comes_back_with_a_later_revision_of_a_persons_alone() -> None:
    rows: list[Row] = [revision("a"), note(5, removes=True)]
    assert one(*rows).is_removed
    assert one(*rows, revision("b", "a", at=4)).is_removed
    assert one(*rows, revision("b", "a", at=6, author=HELPER)).is_removed
    assert one(*rows, note(6, status="accepted")).is_removed
    back = one(*rows, revision("b", "a", at=6))
    assert (back.is_there, ids(back.heads)) == (True, ["b"])
    assert one(*rows, revision("b", "missing", at=6)).is_removed


def test_of_one_name_the_lower_id_keeps_it_and_the_others_get_an_end_of_their_ids() -> None:
    rows: list[Row] = [
        *(revision("a", doc=doc) for doc in (DOC, OTHER, THIRD)),
        *(note(number, slug="guide", doc=doc) for number, doc in enumerate((THIRD, OTHER, DOC), 2)),
    ]
    found = library(rows, NO_CLAIMS)
    assert [found.need(name).id for name in ("guide", "guide-00000b", "guide-00000c")] == [DOC, OTHER, THIRD]
    gone = library([*rows, note(9, removes=True)], NO_CLAIMS)
    assert gone.need("guide").id == OTHER


def test_a_name_told_apart_takes_nobody_elses() -> None:
    rows: list[Row] = [
        *(revision("a", doc=doc) for doc in (DOC, OTHER, THIRD)),
        *(note(2, slug="guide", doc=doc) for doc in (DOC, OTHER)),
        note(3, slug="guide-00000b", doc=THIRD),
    ]
    found = library(rows, NO_CLAIMS)
    assert found.need("guide-00000b").id == THIRD
    assert found.need("guide-000000000b").id == OTHER


def test_a_long_name_is_cut_to_make_room_for_the_end_of_an_id() -> None:
    rows: list[Row] = [
        *(revision("a", doc=doc) for doc in (DOC, OTHER)),
        *(note(2, slug="x" * 64, doc=d) for d in (DOC, OTHER)),
    ]
    assert library(rows, NO_CLAIMS).documents[OTHER].slug == "x" * 57 + "-00000b"


def test_a_document_is_found_by_its_id_its_name_and_then_its_aliases() -> None:
    rows: list[Row] = [
        *(revision("a", doc=doc) for doc in (DOC, OTHER)),
        note(2, slug="one", aliases=("two", "old")),
        note(3, slug="two", doc=OTHER, aliases=("old",)),
    ]
    found = library(rows, NO_CLAIMS)
    assert [found.need(name).id for name in (DOC, "one", "two", "old")] == [DOC, DOC, OTHER, DOC]


def test_of_one_publisher_so_many_changes_are_held_over_all_documents_the_earliest_first() -> None:
    rows: list[Row] = []
    for doc in (DOC, OTHER):
        rows += [
            revision("a", doc=doc, replica=CY, author="human:cy"),
            note(1, "human:cy", doc=doc, status="accepted", review="a"),
        ]
        rows += [revision(f"h{n}", "a", at=10 + n, author=HELPER, doc=doc) for n in range(MAX_HELD)]
    rows.append(revision("own", "a", at=900, author="agent:cy/helper", replica=CY))
    found = library(rows, NO_CLAIMS).documents
    held = [row for document in found.values() for row in document.held]
    assert len([row for row in held if row.replica == BOB]) == MAX_HELD
    assert max(row.place[1] for row in held if row.replica == BOB) == 10 + MAX_HELD // 2 - 1
    assert [row.replica for row in held].count(CY) == 1
    assert sum(document.passed_over for document in found.values()) == MAX_HELD
    assert found[DOC].standing(rev(f"h{MAX_HELD - 1}")) == "over"


def test_of_a_chain_of_held_changes_the_first_so_many_are_held() -> None:
    rows: list[Row] = [revision("n0"), note(2, status="accepted", review="n0")]
    rows += [
        revision(f"n{n}", f"n{n - 1}", at=2 + n, author=HELPER, replica=(BOB, CY)[n % 2])
        for n in range(1, MAX_CHAIN + 11)
    ]
    found = one(*rows)
    assert (len(found.held), found.passed_over) == (MAX_CHAIN, 10)
    later = one(*rows, note(500, review="n20"))
    assert (len(later.held), later.passed_over) == (MAX_CHAIN - 10, 0)


@given(edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_a_base_is_a_latest_revision_that_both_sides_descend_from(edges: list[tuple[int, int]]) -> None:
    parents: dict[int, set[int]] = {number: set() for number in range(10)}
    for first, second in edges:
        if first != second:
            parents[max(first, second)].add(min(first, second))
    rows = {
        rev(f"n{number}"): revision(f"n{number}", *(f"n{each}" for each in above), at=number + 1)
        for number, above in parents.items()
    }

    def all_above(number: int) -> set[int]:
        return {number}.union(*(all_above(each) for each in parents[number]))

    assert set(graph.whole(rows)) == rows.keys()
    for ours in range(10):
        common = all_above(ours) & all_above(9)
        found = graph.base(rows, [rev(f"n{ours}")], rev("n9"))
        assert found == (rows[rev(f"n{max(common)}")] if common else None)


def test_long_chains_are_walked_without_recursion() -> None:
    rows: list[Row] = [revision(f"n{n}", *([f"n{n - 1}"] if n else []), at=n + 1) for n in range(5_000)]
    assert ids(one(*rows).heads) == ["n4999"]
