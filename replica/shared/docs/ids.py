"""Ids of revisions made here say what they stand for, so that no other revision can take their place.

An id is a ULID (wire 8.17), the time in it that of the revision. What is random in other ULIDs is here a hash of the
revision, as far as everybody has it alike. Of two revisions that claim one id, the one that it was made from is meant;
other implementations make ids at random, and for those nothing can be proved.
"""

import hashlib
from typing import Final, Protocol

from core.timestamp import milliseconds
from crypto.canonical import JsonValue, canonical
from replica.shared.ids import new_id

_TAG: Final = b"dmp-revision-v1\n"
_LAST_MS: Final = 2**48 - 1


class Content(Protocol):
    """What an id is made from."""

    @property
    def parents(self) -> tuple[str, ...]: ...
    @property
    def title(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def author(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def created_at(self) -> str: ...
    @property
    def task(self) -> str | None: ...


def revision_id(doc: str, content: Content) -> str:
    """The id of a revision of a document."""
    said: dict[str, JsonValue] = {
        "doc": doc,
        "parents": [*content.parents],
        "title": content.title,
        "hash": content.hash,
        "author": content.author,
        "cause": content.cause,
        "summary": content.summary,
        "createdAt": content.created_at,
        "task": content.task,
    }
    digest = hashlib.sha256(_TAG + canonical(said)).digest()
    at = min(max(milliseconds(content.created_at), 0), _LAST_MS)
    return new_id("rev-", lambda size: digest[:size], at)
