"""Bodies of doc ops, as teammates publish them."""

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from replica.shared.docs.bodies import body_hash
from tests.replica.world import START

DOC, OTHER = "doc-" + "0" * 25 + "A", "doc-" + "0" * 25 + "B"


def rev(name: str) -> str:
    """The id of a revision, by a short name."""
    return f"rev-{name.upper():0>26}"


def revision(
    name: str, *parents: str, author: str = "human:bob", **changes: JsonValue
) -> dict[str, JsonValue]:
    """A revision, by its name and those of its parents."""
    body = changes.get("body", f"The text of {name}.\n")
    assert isinstance(body, str)
    return {
        "id": rev(name),
        "parents": [rev(parent) for parent in parents],
        "title": "Guide",
        "body": body,
        "hash": body_hash(body),
        "author": author,
        "cause": "save",
        "summary": "",
        "createdAt": timestamp(START),
        **changes,
    }


def put(by: str = "human:bob", doc: str = DOC, **members: JsonValue) -> dict[str, JsonValue]:
    """The body of an op that changes a document."""
    return {"doc": doc, "kind": "put", "by": by, **members}


def text(
    name: str, *parents: str, by: str = "human:bob", doc: str = DOC, **changes: JsonValue
) -> dict[str, JsonValue]:
    """The body of an op that carries a revision."""
    return put(by, doc, revision=revision(name, *parents, author=by, **changes))


def remove(by: str = "human:bob", doc: str = DOC) -> dict[str, JsonValue]:
    """The body of an op that removes a document."""
    return {"doc": doc, "kind": "remove", "by": by}
