"""Steps that write here what the team shares: memory and documents, as a person or a program of theirs does it."""

from collections.abc import Callable, Mapping
from typing import Final

from replica.host import documents, memory, memory_gates, memory_merging
from replica.host.documents import Put, Text
from replica.host.memory import Made
from replica.node import Node
from replica.shared.docs.bodies import STATUSES
from replica.shared.memory.proposals import SCOPES, Proposal
from vectors.adapter.federation.given_lines import Json
from vectors.adapter.members import Members
from vectors.adapter.steps import principal


def _put_memory(node: Node, step: Members) -> Json:
    scope = step.one_of("scope", *SCOPES) if "scope" in step else "team"
    fields = dict(step.object("fields").as_mapping())
    made = memory.put(node, principal(step), scope, fields, supersedes=step.texts("supersedes"))
    return _wrote(node, made)


def _edit_memory(node: Node, step: Members) -> Json:
    fields = dict(step.object("fields").as_mapping())
    return _wrote(node, memory.edit(node, principal(step), step.text("memory"), fields))


def _share_memory(node: Node, step: Members) -> Json:
    return _wrote(node, memory.share(node, principal(step), step.text("memory")))


def _take_memory(node: Node, step: Members) -> Json:
    revision = step.object("revision")
    name = f"{revision.text('replica')}/{revision.number('seq')}"
    made = memory_merging.take(node, principal(step), step.text("memory"), name, step.texts("fields"))
    return _wrote(node, made)


def _join_memories(node: Node, step: Members) -> Json:
    fields = dict(step.object("fields").as_mapping())
    return _wrote(node, memory_merging.join(node, principal(step), step.texts("memories"), fields))


def _wrote(node: Node, made: Made) -> Json:
    """What was written, or proposed, of which its person is asked at once."""
    if isinstance(made, Proposal):
        memory_gates.judge(node)
        return {"memory": made.memory, "proposed": True}
    return {"memory": made.entry.id, "proposed": False}


def _put_document(node: Node, step: Members) -> Json:
    author = principal(step).address
    if "document" not in step:
        return _put(documents.create(node, author, _text(step), _given(step, "slug")))
    return _put(documents.put(node, author, step.text("document"), _text(step), _given(step, "base")))


def _merge_document(node: Node, step: Members) -> Json:
    return _put(documents.merge(node, step.text("document"), _text(step), step.texts("seen")))


def _revert_document(node: Node, step: Members) -> Json:
    return _put(documents.revert(node, step.text("document"), step.text("revision")))


def _describe_document(node: Node, step: Members) -> Json:
    status = step.one_of("status", *STATUSES) if "status" in step else None
    documents.describe(node, step.text("document"), slug=_given(step, "slug"), status=status)
    return {}


def _remove_document(node: Node, step: Members) -> Json:
    documents.remove(node, step.text("document"))
    return {}


def _decide_revision(node: Node, step: Members) -> Json:
    decide = documents.approve if step.flag("approve") else documents.reject
    document = decide(node, step.text("document"), step.text("revision"))
    return {"revision": document.heads[0].id}


def _text(step: Members) -> Text:
    return Text(step.text("body"), _given(step, "title"))


def _given(step: Members, name: str) -> str | None:
    return step.text(name) if name in step else None


def _put(put: Put) -> Json:
    return {
        "document": put.document.id,
        "revision": put.revision,
        "changed": put.changed,
        "proposed": put.gate is not None,
    }


STEPS: Final[Mapping[str, Callable[[Node, Members], Json]]] = {
    "putMemory": _put_memory,
    "editMemory": _edit_memory,
    "shareMemory": _share_memory,
    "takeMemory": _take_memory,
    "joinMemories": _join_memories,
    "putDocument": _put_document,
    "mergeDocument": _merge_document,
    "revertDocument": _revert_document,
    "describeDocument": _describe_document,
    "removeDocument": _remove_document,
    "decideRevision": _decide_revision,
}
