"""The body of a doc op: its bounds, and that what a hostile teammate writes there is refused with its member."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, DmpError
from crypto.canonical import JsonValue, canonical
from crypto.op import ABSENT
from replica.shared.docs.bodies import (
    MAX_BODY_BYTES,
    MAX_BODY_JSON_BYTES,
    About,
    Approval,
    DocPut,
    DocRemove,
    Link,
    body_hash,
    parse_doc,
)
from tests.replica.shared.docs.said import DOC, put, remove, rev, revision, text

FULL = put(
    "agent:bob/helper",
    revision=revision(
        "b",
        "a",
        author="agent:bob/helper",
        cause="proposal",
        summary="Why",
        approval={"by": "human:bob", "policy": {"rung": 3}},
        task="t-0000aa",
    ),
    meta={
        "slug": "guides/setup",
        "aliases": ["old"],
        "status": "accepted",
        "links": [{"target": {"type": "task", "id": "t-0000aa"}, "rel": "spec"}],
    },
    review={"rev": rev("a")},
)


def test_every_member_is_read_and_written_again() -> None:
    said = parse_doc(FULL)
    assert isinstance(said, DocPut)
    assert said.about == About("guides/setup", "accepted", (Link("task", "t-0000aa", "spec"),), ("old",))
    assert said.revision is not None
    assert (said.revision.parents, said.revision.approval) == ((rev("a"),), Approval("human:bob", 3))
    assert said.to_json() == FULL
    assert parse_doc(remove()) == DocRemove(DOC, "human:bob")
    assert parse_doc(put()) == DocPut(DOC, "human:bob")


def test_what_is_optional_may_be_null_and_what_nobody_knows_is_passed_over() -> None:
    assert parse_doc(put(revision=None, meta=None, review=None, later=1)) == DocPut(DOC, "human:bob")
    said = parse_doc(text("a", summary=None, approval=None, task=None, later=[]))
    assert isinstance(said, DocPut)
    assert said.revision is not None
    assert (said.revision.summary, said.revision.approval, said.revision.task) == ("", None, None)


LONG = "x" * 201
BAD: list[tuple[JsonValue, str]] = [
    ([], "body"),
    ({**remove(), "kind": "drop"}, "kind"),
    ({**remove(), "doc": "doc-1"}, "doc"),
    ({**remove(), "doc": DOC + "\n"}, "doc"),
    ({**remove(), "doc": DOC.lower()}, "doc"),
    (put("bob"), "by"),
    (put("channel:eng"), "by"),
    (put("human:bob\n"), "by"),
    (put(revision=[]), "revision"),
    (put(meta="x"), "meta"),
    (put(review={"rev": "rev-1"}), "review.rev"),
    (text("a", id="rev-1"), "revision.id"),
    (text("a", parents=rev("b")), "revision.parents"),
    (text("a", parents=["rev-1"]), "revision.parents"),
    (text("a", *(f"p{n}" for n in range(17))), "revision.parents"),
    (text("a", title=LONG), "revision.title"),
    (text("a", title=None), "revision.title"),
    (text("a", title="é" * 101), "revision.title"),
    (text("a", title="\ud800"), "revision.title"),
    (text("a", summary=LONG), "revision.summary"),
    (text("a", hash=body_hash("another")), "revision.hash"),
    (text("a", cause="because"), "revision.cause"),
    (text("a", createdAt=1), "revision.createdAt"),
    (text("a", createdAt="2026-02-30T00:00:00.000Z"), "revision.createdAt"),
    (text("a", approval={"by": "bob"}), "revision.approval.by"),
    (text("a", approval={"by": "human:bob", "policy": {"rung": 11}}), "revision.approval.policy"),
    (text("a", approval={"by": "human:bob", "policy": {"rung": True}}), "revision.approval.policy"),
    (text("a", task="a task"), "revision.task"),
    (put(meta={"slug": "a b"}), "meta.slug"),
    (put(meta={"slug": "x" * 65}), "meta.slug"),
    (put(meta={"slug": DOC}), "meta.slug"),
    (put(meta={"aliases": ["x"] * 51}), "meta.aliases"),
    (put(meta={"aliases": ["-x"]}), "meta.aliases"),
    (put(meta={"title": LONG}), "meta.title"),
    (put(meta={"status": "done"}), "meta.status"),
    (put(meta={"links": [{}]}), "meta.links.target"),
    (put(meta={"links": [{"target": {"type": "x", "id": "1"}, "rel": "spec"}]}), "meta.links.target.type"),
    (put(meta={"links": [{"target": {"type": "task", "id": "1"}, "rel": "x"}]}), "meta.links.rel"),
    (put(meta={"links": [{"target": {"type": "task", "id": ""}, "rel": "spec"}]}), "meta.links.target.id"),
    (put(meta={"links": [{"target": {"type": "task", "id": "1"}, "rel": "spec"}] * 201}), "meta.links"),
]


@pytest.mark.parametrize(("body", "field"), BAD)
def test_what_breaks_a_bound_is_invalid_on_its_member(body: JsonValue, field: str) -> None:
    with pytest.raises(DmpError) as refused:
        parse_doc(body)
    assert (refused.value.code, refused.value.field) == (Code.INVALID, field)


def test_a_body_is_bounded_as_it_is_and_as_json_writes_it() -> None:
    assert parse_doc(text("a", body="x" * MAX_BODY_BYTES))
    for body in ("x" * (MAX_BODY_BYTES + 1), "\x01" * (MAX_BODY_JSON_BYTES // 6), "\ud800"):
        with pytest.raises(DmpError) as refused:
            parse_doc({**text("a"), "revision": {**revision("a"), "body": body, "hash": "0" * 64}})
        assert refused.value.field == "revision.body"


def test_the_largest_that_parses_fits_an_op() -> None:
    link: JsonValue = {"target": {"type": "thread", "id": "x" * 128}, "rel": "context"}
    body = put(
        "run:" + "x" * 128,
        revision=revision(
            "a",
            *(f"p{n}" for n in range(16)),
            author="agent:" + "x" * 128,
            body='"' * (MAX_BODY_JSON_BYTES // 2 - 1),
            title="\x01" * 200,
            summary="\x01" * 200,
        ),
        meta={"slug": "x" * 64, "aliases": ["x" * 64] * 50, "links": [link] * 200},
    )
    assert parse_doc(body)
    assert len(canonical(body)) < 1024 * 1024 - 1024


def test_an_op_without_a_body_is_invalid() -> None:
    with pytest.raises(DmpError):
        parse_doc(ABSENT)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data(), value=json_values)
def test_any_member_replaced_by_anything_is_read_or_refused(data: st.DataObject, value: JsonValue) -> None:
    body = json.loads(json.dumps(FULL))
    place = data.draw(
        st.sampled_from(
            [
                *((name,) for name in body),
                *(("revision", name) for name in body["revision"]),
                *(("meta", name) for name in body["meta"]),
            ]
        )
    )
    inner = body
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    try:
        said = parse_doc(body)
    except DmpError:
        return
    assert parse_doc(said.to_json()) == said
