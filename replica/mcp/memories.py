"""What the memory tools do: what a person, a project and a team keep in mind, as an agent reads and writes it (F.7)."""

from typing import Final

from core.errors import Code, DmpError, conflict, invalid
from core.text import cut, first_line, is_blank, is_one_line, utf8_len
from crypto.canonical import JsonValue
from replica.host import items, memory, memory_gates, memory_merging
from replica.host.memory import Kept, Made
from replica.host.memory_shapes import entry_json, proposal_json, revision_json
from replica.mcp.call import Call, Result
from replica.node import Node
from replica.shared.memory import proposals
from replica.shared.memory.bodies import KINDS
from replica.shared.memory.proposals import SCOPES, Proposal, State

MAX_HITS: Final = 50

MAX_REASON_BYTES: Final = 500

_HANDLE_CHARACTERS: Final = 6
_EXCERPT: Final = 200

PROPOSED: Final = "A human is asked whether this counts. Until it is approved, nothing has changed."


def memory_search(node: Node, call: Call) -> Result:
    """List entries in which all words are: pinned ones and new ones first, stale ones last."""
    words = call.given.need_text("query").casefold().split()
    scope, kind = call.given.one_of("scope", SCOPES), call.given.one_of("kind", KINDS)
    limit = call.given.count("limit", MAX_HITS, MAX_HITS)
    with_stale = call.given.flag("includeStale", True)
    found = [
        each
        for each in memory.every(node)
        if scope in (None, each.scope)
        and kind in (None, each.entry.kind)
        and (each.entry.is_active or (with_stale and _is_stale(each)))
        and all(word in _searched(each) for word in words)
    ]
    found.sort(key=_is_stale)
    return {"memories": [_hit_json(each) for each in found[:limit]], "more": len(found) > limit}


def memory_read(node: Node, call: Call) -> Result:
    """Show an entry: what it says, whose word it is, how far it is trusted, and its revisions."""
    kept = _need(node, call.given.need_text("id"), "id")
    return {
        "memory": _entry_json(kept),
        "revisions": [revision_json(*each) for each in memory_merging.names(kept.entry)],
        "proposals": [proposal_json(each) for each in proposals.of_memory(node.store.db, kept.entry.id)],
    }


def memory_save(node: Node, call: Call) -> Result:
    """Keep something in mind: a personal entry at once, any other when a human decides so, or a policy."""
    given = call.given
    scope = next(each for each in SCOPES if each == given.need_one_of("scope", SCOPES))
    if given.flag("projectOnly", False) and scope == "team":
        raise invalid(
            "projectOnly",
            "what is the team's is on every machine of the team; keep it with the scope project",
        )
    fields: dict[str, JsonValue] = {
        "kind": given.need_one_of("kind", KINDS),
        "title": given.need_text("title"),
        "body": given.need_text("body"),
        "refs": [*_refs(given.texts("refs") or ())],
        "appliesTo": [*(given.texts("appliesTo") or ())],
    }
    epic = given.text("epic")
    if epic is not None:
        fields["epic"] = items.epic_id(epic, "epic")
    old = [_need(node, each, "supersedes").entry.id for each in given.texts("supersedes") or ()]
    made = memory.put(node, call.sender, scope, fields, supersedes=old, key=call.key)
    return _made(node, made)


def memory_forget(node: Node, call: Call) -> Result:
    """Let an entry count no more; forgetting it again is forgetting it once."""
    kept, reason = _need(node, call.given.need_text("id"), "id"), call.given.need_text("reason")
    if is_blank(reason) or not is_one_line(reason) or utf8_len(reason) > MAX_REASON_BYTES:
        raise invalid("reason", f"say why in one line of at most {MAX_REASON_BYTES} bytes")
    if not kept.entry.is_active:
        return _made(node, kept)
    asked = _asked_before(node, call.sender.address, kept.entry.id)
    if asked is not None:
        return _made(node, asked)
    try:
        made = memory.retire(node, call.sender, kept.entry.id, "forgotten")
    except DmpError as error:
        if error.code is not Code.CONFLICT:
            raise
        made = memory.need(node, kept.entry.id)  # somebody retired it meanwhile
    if isinstance(made, Proposal):
        memory_gates.raise_gate(node, made, reason)
    return _made(node, made)


def _asked_before(node: Node, address: str, entry: str) -> Proposal | None:
    """The open proposal by which somebody asked already that an entry be retired."""
    known = proposals.of_memory(node.store.db, entry)
    return next(
        (
            each
            for each in known
            if each.state is State.OPEN and each.action == "retire" and each.by == address
        ),
        None,
    )


def _made(node: Node, made: Made) -> Result:
    """What came of a wish to write."""
    if isinstance(made, Kept):
        return {"memory": _entry_json(made), "proposal": None}
    memory_gates.judge(node)
    proposal = proposals.find(node.store.db, made.id) or made
    waits: Result = {"note": PROPOSED} if proposal.state is State.OPEN else {}
    return {"memory": None, "proposal": proposal_json(proposal), **waits}


def _need(node: Node, named: str, field: str) -> Kept:
    """The entry of an id or a handle. Raises DmpError `not-found` on the field, `conflict` for a handle of several."""
    if len(named) != len("mem-") + _HANDLE_CHARACTERS:
        return memory.need(node, named, field)
    found = [each for each in memory.every(node) if _handle(each.entry.id) == named.lower()]
    if len(found) > 1:
        raise conflict(field, "several entries have that handle; name the one that is meant by its id")
    return found[0] if found else memory.need(node, named, field)


def _handle(entry: str) -> str:
    """A short name of an entry: its end, which is random."""
    return f"mem-{entry[-_HANDLE_CHARACTERS:].lower()}"


def _is_stale(kept: Kept) -> bool:
    """Whether another entry took an entry's place. One that was forgotten or undone is not found at all."""
    return not kept.entry.is_active and kept.entry.values.get("statusReason") == "superseded"


def _entry_json(kept: Kept) -> dict[str, JsonValue]:
    return {"handle": _handle(kept.entry.id), "stale": _is_stale(kept), **entry_json(kept)}


def _hit_json(kept: Kept) -> JsonValue:
    """An entry as a search shows it: without its body, but for how that begins."""
    found = _entry_json(kept)
    del found["body"]
    return {**found, "excerpt": cut(first_line(kept.entry.body), _EXCERPT)}


def _searched(kept: Kept) -> str:
    refs = kept.entry.values.get("refs")
    texts = [kept.entry.title, kept.entry.body, kept.entry.kind, *(refs if isinstance(refs, list) else ())]
    return "\n".join(map(str, texts)).casefold()


def _refs(given: tuple[str, ...]) -> tuple[str, ...]:
    for index, ref in enumerate(given):
        kind, colon, id_ = ref.partition(":")
        if not (kind and colon and id_):
            raise invalid(f"refs[{index}]", "a ref is TYPE:ID, such as commit:1a2b3c")
    return given
