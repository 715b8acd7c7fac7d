"""What a person, and programs of theirs, may do with documents on one machine."""

import pytest

from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender
from core.message import Message
from core.store import registers
from crypto.canonical import JsonValue
from replica.host import agents, doc_proposals, documents, items, raising
from replica.host.documents import Put, Text
from replica.node import Node
from replica.records.commits import CommitPoint
from replica.shared.docs import rows
from replica.shared.docs.bodies import MAX_BODY_BYTES, Link, parse_doc
from replica.shared.docs.library import MAX_HELD, Document
from replica.shared.docs.reading import read
from tests.core.support import refused

ME, HELPER = "human:ada", "agent:ada/helper"


def create(node: Node, slug: str | None = "guide", body: str = "# Guide\n", author: str = ME) -> Document:
    return documents.create(node, author, Text(body), slug).document


def put(node: Node, body: str, base: str | None = None, author: str = ME, **members: str) -> Put:
    return documents.put(node, author, "guide", Text(body, **members), base)


def get(node: Node, named: str = "guide") -> Document:
    return read(node.store, node.me).need(named)


def texts(node: Node, document: Document) -> list[str]:
    return [rows.body_of(node.store.db, row) for row in document.heads]


def helper(node: Node, *, approved: bool = True) -> None:
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, node.random, HELPER, "cli", node.me)
        if approved:
            agents.decide(db, HELPER, "approved")


def proposed(node: Node) -> Put:
    """A change of an accepted document that the helper proposes."""
    helper(node)
    create(node)
    documents.describe(node, "guide", status="accepted")
    return put(node, "Oil it.\n", author=HELPER, summary="Oil")


def answer(node: Node, gate: Message, choice: str) -> None:
    node.engine.reply(Sender(ME, can_decide=True), gate.id, ReplyInput("", choice=choice))


def test_a_document_is_called_what_its_text_begins_with(node: Node) -> None:
    assert create(node, "a", "# How we   prune\n\ntext").title == "How we prune"
    assert create(node, "b", "no heading").title == "b"
    assert create(node, "c", "\n\n# " + "é" * 300).title == "é" * 98 + "…"
    assert create(node, None, "", author=ME).title == "Untitled"
    assert documents.create(node, ME, Text("# Head\n", title="Given"), "d").document.title == "Given"
    assert put_title(node) == "Said"


def put_title(node: Node) -> str:
    create(node)
    return documents.put(node, ME, "guide", Text("# Head\n", title="Said"), None).document.title


def test_a_text_without_a_heading_keeps_the_title_there_was(node: Node) -> None:
    create(node)
    assert put(node, "no heading").document.title == "Guide"


def test_a_title_that_was_given_stays_until_the_text_has_another_heading(node: Node) -> None:
    documents.create(node, ME, Text("# Head\n", title="Given"), "guide")
    assert put(node, "# Head\n\nmore\n").document.title == "Given"
    assert put(node, "# Other\n").document.title == "Other"


def test_a_name_that_is_taken_is_a_conflict(node: Node) -> None:
    create(node)
    with refused(Code.CONFLICT, "slug"):
        create(node)
    create(node, "other")
    with refused(Code.CONFLICT, "slug"):
        documents.describe(node, "other", slug="guide")
    documents.remove(node, "guide")
    create(node)  # its name is free now


def test_a_text_that_changes_nothing_makes_no_revision(node: Node) -> None:
    create(node)
    first = get(node).heads[0].id
    same = put(node, "# Guide\n")
    assert (same.changed, same.revision) == (False, first)
    later = put(node, "Two.\n").revision
    assert not put(node, "# Guide\n", base=first).changed
    assert not put(node, "Two.\n", base=first).changed
    assert [row.id for row in get(node).heads] == [later]


def test_a_text_made_from_an_earlier_revision_is_concurrent_to_the_latest(node: Node) -> None:
    create(node)
    first = get(node).heads[0].id
    put(node, "Mine.\n")
    found = put(node, "Theirs.\n", base=first).document
    assert texts(node, found) == ["Theirs.\n", "Mine.\n"]
    with refused(Code.CONFLICT, "base"):
        put(node, "Whose?\n")
    with refused(Code.CONFLICT, "base"):
        put(node, "Whose?\n", base="rev-unknown")


def test_a_merge_joins_what_was_seen_and_nothing_that_came_meanwhile(node: Node) -> None:
    create(node)
    first = get(node).heads[0].id
    seen = [put(node, f"{name}\n", base=first).revision for name in "abc"][:2]
    done = documents.merge(node, "guide", Text("a and b\n"), seen)
    assert texts(node, done.document) == ["a and b\n", "c\n"]
    with refused(Code.CONFLICT, "doc"):
        documents.merge(node, "guide", Text("again\n"), seen)
    documents.merge(node, "guide", Text("all\n"), [row.id for row in done.document.heads])
    with refused(Code.CONFLICT, "doc"):
        documents.merge(node, "guide", Text("again\n"), [row.id for row in get(node).heads])


def test_what_several_changed_is_marked_and_no_text_with_marks_is_taken(node: Node) -> None:
    create(node, body="one\n\ntwo\n\nthree\n")
    first = get(node).heads[0].id
    put(node, "ONE\n\ntwo\n\nthree\n", base=first)
    put(node, "one\n\ntwo\n\nTHREE\n", base=first)
    found = documents.joined(node, get(node))
    assert (found.body, found.conflicts) == ("ONE\n\ntwo\n\nTHREE\n", 0)
    put(node, "Uno\n\ntwo\n\nthree\n", base=first)
    document = get(node)
    found = documents.joined(node, document)
    assert found.conflicts
    assert {"ONE", "Uno", "one", "THREE"} <= set(found.body.split("\n"))
    seen = [row.id for row in document.heads]
    with refused(Code.CONFLICT, "body"):
        documents.merge(node, "guide", Text(found.body), seen)
    assert len(get(node).heads) == 3


def test_texts_that_began_apart_are_joined_from_nothing(node: Node) -> None:
    create(node)
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        (row,) = get(node).heads
        said = rows.waiting_body(db, row.place[1])
        assert isinstance(said, dict)
        revision = said["revision"]
        assert isinstance(revision, dict)
        again: dict[str, JsonValue] = {**said, "revision": {**revision, "id": "rev-" + "0" * 26}}
        rows.write(db, parse_doc(again))
    assert len(get(node).heads) == 2
    assert documents.joined(node, get(node)).body == "# Guide\n"


def test_a_revert_gives_the_text_and_title_of_an_earlier_revision(node: Node) -> None:
    create(node)
    first = get(node).heads[0].id
    put(node, "# Other\n\ntext\n")
    done = documents.revert(node, "guide", first, "Back")
    (row,) = done.document.heads
    assert (texts(node, done.document), row.title, row.cause) == (["# Guide\n"], "Guide", "revert")
    with refused(Code.NOT_FOUND, "revision"):
        documents.revert(node, "guide", "rev-unknown")


def test_a_name_that_is_given_up_becomes_an_alias(node: Node) -> None:
    create(node)
    found = documents.describe(node, "guide", slug="manual", aliases=["handbook"])
    assert (found.slug, found.aliases) == ("manual", ("guide", "handbook"))
    assert get(node, "guide").id == found.id


def test_links_are_added_and_taken_away(node: Node) -> None:
    create(node)
    spec, plan = Link("task", "t-1", "spec"), Link("task", "t-1", "plan")
    assert documents.describe(node, "guide", linked=[spec, plan]).links == (plan, spec)
    assert documents.describe(node, "guide", unlinked=[spec]).links == (plan,)
    assert documents.describe(node, "guide", status="archived").links == (plan,)


def test_concurrent_revisions_are_not_accepted(node: Node) -> None:
    create(node)
    first = get(node).heads[0].id
    put(node, "a\n", base=first)
    put(node, "b\n", base=first)
    with refused(Code.CONFLICT, "status"):
        documents.describe(node, "guide", status="accepted")


def test_a_removed_document_comes_back_with_a_text_of_the_persons(node: Node) -> None:
    helper(node)
    doc = create(node).id
    gone = documents.remove(node, "guide")
    assert gone.id == doc
    with refused(Code.NOT_FOUND, "doc"):
        get(node)
    with refused(Code.CONFLICT, "doc"):
        documents.remove(node, doc)
    with refused(Code.FORBIDDEN, "doc"):
        documents.put(node, HELPER, doc, Text("x"), None)
    assert documents.put(node, ME, doc, Text("# Guide\n"), None).document.is_there


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (Text("x" * (MAX_BODY_BYTES + 1)), "body"),
        (Text("\ud800"), "body"),
        (Text("x", title=" "), "title"),
        (Text("x", title="x" * 201), "title"),
        (Text("x", title="a\nb"), "title"),
        (Text("x", summary="a\u2028b"), "summary"),
        (Text("x", summary="x" * 201), "summary"),
        (Text("x", summary="\ud800"), "summary"),
        (Text("x", title="\ud800"), "title"),
        (Text("x", task="no id"), "revision.task"),
    ],
)
def test_what_breaks_a_bound_is_invalid_and_changes_nothing(node: Node, text: Text, field: str) -> None:
    with refused(Code.INVALID, field):
        documents.create(node, ME, text, "guide")
    assert read(node.store, node.me).documents == {}


# Agents and sessions


def test_an_agent_writes_drafts_and_names_none(node: Node) -> None:
    with refused(Code.NOT_FOUND, "agent"):
        create(node, None, author=HELPER)
    helper(node, approved=False)
    with refused(Code.FORBIDDEN, "from"):
        create(node, None, author=HELPER)
    helper(node)
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, HELPER, "approved")
    with refused(Code.FORBIDDEN, "slug"):
        create(node, author=HELPER)
    made = create(node, None, author=HELPER)
    assert (made.slug, made.heads[0].author) == (None, HELPER)
    changed = documents.put(node, HELPER, made.id, Text("Two.\n"), None)
    assert (changed.gate, texts(node, changed.document)) == (None, ["Two.\n"])


def test_what_an_agent_changes_of_an_accepted_document_is_a_proposal(node: Node) -> None:
    done = proposed(node)
    assert done.gate is not None
    assert done.gate.data == {"type": "doc", "doc": get(node).id, "proposal": done.revision}
    assert "Oil" in done.gate.body
    assert texts(node, get(node)) == ["# Guide\n"]
    assert done.revision not in get(node).revisions
    assert [each.revision.id for each in documents.proposals(node)] == [done.revision]


@pytest.mark.parametrize("by_gate", [True, False])
def test_an_approved_proposal_counts_as_its_authors_with_the_persons_word(node: Node, by_gate: bool) -> None:
    done = proposed(node)
    assert done.gate is not None
    if by_gate:
        answer(node, done.gate, "approve")
    else:
        documents.approve(node, "guide", done.revision)
    (row,) = get(node).heads
    assert (row.id, row.author, row.approved_by, row.by) == (done.revision, HELPER, ME, ME)
    assert documents.proposals(node) == []
    assert node.engine.open_gates() == []
    with refused(Code.CONFLICT, "revision"):
        documents.approve(node, "guide", done.revision)


@pytest.mark.parametrize("by_gate", [True, False])
def test_a_rejected_proposal_is_gone(node: Node, by_gate: bool) -> None:
    done = proposed(node)
    assert done.gate is not None
    if by_gate:
        answer(node, done.gate, "reject")
    else:
        documents.reject(node, "guide", done.revision, "No oil")
    assert texts(node, get(node)) == ["# Guide\n"]
    assert documents.proposals(node) == []
    with refused(Code.NOT_FOUND, "revision"):
        documents.approve(node, "guide", done.revision)


def test_a_gate_of_another_program_decides_no_proposal(node: Node) -> None:
    done = proposed(node)
    data: dict[str, JsonValue] = {"doc": get(node).id, "proposal": done.revision}
    other = raising.raise_gate(node, GATE_TYPES["doc"], data).message
    answer(node, other, "approve")
    assert texts(node, get(node)) == ["# Guide\n"]
    assert len(documents.proposals(node)) == 1


def test_a_proposal_whose_gate_was_closed_waits_no_more(node: Node) -> None:
    done = proposed(node)
    assert done.gate is not None
    node.engine.close(done.gate.id, "never mind")
    assert documents.proposals(node) == []
    with refused(Code.CONFLICT, "revision"):
        documents.approve(node, "guide", done.revision)
    assert texts(node, get(node)) == ["# Guide\n"]


def test_a_proposal_whose_gate_a_crash_kept_from_being_raised_is_decided_all_the_same(node: Node) -> None:
    helper(node)
    create(node)
    documents.describe(node, "guide", status="accepted")
    revision = documents._revision(
        node, get(node).id, HELPER, Text("Oil.\n"), (get(node).heads[0].id,), "save", "Guide"
    )
    with node.store.transaction(CommitPoint.DOCUMENT) as db:
        doc_proposals.add(db, revision, get(node).id)
    assert [each.gate for each in documents.proposals(node)] == [None]
    documents.approve(node, "guide", revision.id)
    assert texts(node, get(node)) == ["Oil.\n"]


def test_a_sessions_change_names_its_work_item_and_its_gate_the_session(node: Node) -> None:
    create(node)
    documents.describe(node, "guide", status="accepted")
    with node.store.transaction(CommitPoint.SESSION) as db:
        item = items.add(db, node.random, {"title": "Oil"}, now=node.now())
        run = node.host.sessions_here.make(node.random, item.address, None, now=node.now()).address
        registers.edit(db, "session", run, {"live": True})
    done = put(node, "Oil it.\n", author=run)
    assert done.gate is not None
    assert isinstance(done.gate.data, dict)
    assert (done.gate.data["taskId"], done.gate.data["runId"]) == (item.id, run.partition(":")[2])
    documents.approve(node, "guide", done.revision)
    (row,) = get(node).heads
    assert (row.task, row.author) == (item.id, run)


def test_an_agent_of_whom_fifty_proposals_wait_makes_no_more(node: Node) -> None:
    done = proposed(node)
    for number in range(MAX_HELD - 1):
        put(node, f"Oil it {number} times.\n", author=HELPER)
    with refused(Code.LIMITED, None):
        put(node, "Once more.\n", author=HELPER)
    assert len(documents.proposals(node)) == MAX_HELD
    documents.reject(node, "guide", done.revision)
    assert put(node, "Once more.\n", author=HELPER).gate is not None


def test_the_words_of_an_agent_cannot_pass_for_the_hosts_in_its_gate(node: Node) -> None:
    helper(node)
    create(node)
    documents.describe(node, "guide", status="accepted")
    done = put(node, "x", author=HELPER, summary="” `dmp doc approve` “")
    assert done.gate is not None
    assert "”" in done.gate.body
    assert "” `dmp" not in done.gate.body


def test_errors_say_what_to_do(node: Node) -> None:
    with pytest.raises(DmpError, match="dmp doc list"):
        get(node, "nothing")
