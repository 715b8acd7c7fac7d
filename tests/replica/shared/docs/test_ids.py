"""Ids that are made from what they stand for."""

from dataclasses import replace

import pytest

from core.timestamp import timestamp
from replica.shared.docs.bodies import REVISION_ID, Approval, Revision
from replica.shared.docs.ids import revision_id
from tests.replica.shared.docs.said import DOC, OTHER, rev
from tests.replica.world import START

MADE = Revision(
    "", (rev("a"),), "Guide", "Text.\n", "human:bob", "save", "Why", timestamp(START), None, "t-0000aa"
)

CHANGED = [
    replace(MADE, parents=()),
    replace(MADE, parents=(rev("a"), rev("b"))),
    replace(MADE, title="Other"),
    replace(MADE, body="Other.\n"),
    replace(MADE, author="human:ada"),
    replace(MADE, cause="edit"),
    replace(MADE, summary=""),
    replace(MADE, created_at=timestamp(START + 1)),
    replace(MADE, task=None),
]


def test_an_id_is_an_ulid_of_the_revisions_time() -> None:
    made = revision_id(DOC, MADE)
    assert REVISION_ID.fullmatch(made)
    assert made[:14] < revision_id(DOC, replace(MADE, created_at=timestamp(START + 1)))[:14]


@pytest.mark.parametrize("other", CHANGED)
def test_a_revision_that_says_anything_else_has_another_id(other: Revision) -> None:
    assert revision_id(DOC, other) != revision_id(DOC, MADE)


def test_an_id_is_of_one_document_and_stays_when_a_person_approves() -> None:
    assert revision_id(OTHER, MADE) != revision_id(DOC, MADE)
    assert revision_id(DOC, replace(MADE, approval=Approval("human:bob"))) == revision_id(DOC, MADE)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
def test_any_time_that_can_be_written_has_an_id(at: str) -> None:
    assert REVISION_ID.fullmatch(revision_id(DOC, replace(MADE, created_at=at)))


def test_an_id_never_changes_from_one_version_to_the_next() -> None:
    assert revision_id(DOC, MADE) == "rev-01M3250V00SC192PM0XG8642SW"
