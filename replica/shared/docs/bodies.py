"""The body of a doc op, parsed once into typed values (federation wire 8.17).

It comes from a teammate, who may be hostile: what does not parse is refused with the member at fault. Members
nobody knows are passed over, since a later version may add some; an optional one may be null.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from core.errors import invalid
from core.text import utf8_len
from core.timestamp import milliseconds
from crypto.canonical import JsonValue, canonical_size
from crypto.op import Absent

DOC_ID: Final = re.compile("doc-[0-9A-Z]{26}")
REVISION_ID: Final = re.compile("rev-[0-9A-Z]{26}")
AUTHOR: Final = re.compile("(human|agent|run):[A-Za-z0-9._/@:-]{1,128}")
MAX_SLUG: Final = 64
SLUG: Final = re.compile(f"[A-Za-z0-9][A-Za-z0-9._/-]{{0,{MAX_SLUG - 1}}}")
"""What a document may be called."""

_TARGET: Final = re.compile("[A-Za-z0-9._/@:-]{1,128}")

MAX_PARENTS: Final = 16
MAX_TITLE_BYTES: Final = 200
MAX_SUMMARY_BYTES: Final = 200
MAX_BODY_BYTES: Final = 768 * 1024
"""Bytes of a revision's body as it is."""

MAX_BODY_JSON_BYTES: Final = 960 * 1024
"""Bytes of a revision's body as JSON writes it, so that the op that carries it fits."""

MAX_ALIASES: Final = 50
"""Aliases of one op. The wire names no bound."""

MAX_LINKS: Final = 200
MAX_RUNG: Final = 10

Status = Literal["draft", "accepted", "archived"]
STATUSES: Final[tuple[Status, ...]] = ("draft", "accepted", "archived")
CAUSES: Final = (
    *("create", "save", "edit", "merge", "revert", "import", "restore"),
    *("proposal", "approve", "reject", "sync"),
)
LINK_TYPES: Final = ("task", "run", "thread", "memory", "doc")
CONTEXT: Final = "context"
RELATIONS: Final = ("spec", "plan", CONTEXT)


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approved a revision, and the rung of the policy that did it in their name, where one did."""

    by: str
    rung: int | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a document, whole."""

    id: str
    parents: tuple[str, ...]
    title: str
    body: str
    author: str
    cause: str
    summary: str
    created_at: str
    approval: Approval | None = None
    task: str | None = None

    @property
    def hash(self) -> str:
        """SHA-256 of the body, in hex."""
        return body_hash(self.body)

    def to_json(self) -> dict[str, JsonValue]:
        """The revision as an op carries it."""
        content: dict[str, JsonValue] = {
            "id": self.id,
            "parents": [*self.parents],
            "title": self.title,
            "body": self.body,
            "hash": self.hash,
            "author": self.author,
            "cause": self.cause,
            "summary": self.summary,
            "createdAt": self.created_at,
        }
        if self.approval is not None:
            policy: dict[str, JsonValue] = {} if self.approval.rung is None else {"rung": self.approval.rung}
            content["approval"] = {"by": self.approval.by, **({"policy": policy} if policy else {})}
        if self.task is not None:
            content["task"] = self.task
        return content


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """What a document is to something else, which `type` and `id` name: its spec, its plan or its context."""

    type: str
    id: str
    relation: str

    def to_json(self) -> dict[str, JsonValue]:
        """The link as an op carries it."""
        return {"target": {"type": self.type, "id": self.id}, "rel": self.relation}


@dataclass(frozen=True, slots=True)
class About:
    """What an op says of a document beside its text. None where it says nothing."""

    slug: str | None = None
    status: Status | None = None
    links: tuple[Link, ...] | None = None
    aliases: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """What is said, as an op carries it."""
        content: dict[str, JsonValue] = {}
        if self.slug is not None:
            content["slug"] = self.slug
        if self.status is not None:
            content["status"] = self.status
        if self.links is not None:
            content["links"] = [link.to_json() for link in self.links]
        if self.aliases:
            content["aliases"] = [*self.aliases]
        return content


@dataclass(frozen=True, slots=True)
class DocPut:
    """A change of a document: a revision, what is said of it, a revision that a person has approved of."""

    doc: str
    by: str
    revision: Revision | None = None
    about: About = About()
    review: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The body of the op."""
        content: dict[str, JsonValue] = {"doc": self.doc, "kind": "put", "by": self.by}
        if self.revision is not None:
            content["revision"] = self.revision.to_json()
        if self.about != About():
            content["meta"] = self.about.to_json()
        if self.review is not None:
            content["review"] = {"rev": self.review}
        return content


@dataclass(frozen=True, slots=True)
class DocRemove:
    """A document taken away."""

    doc: str
    by: str

    def to_json(self) -> dict[str, JsonValue]:
        """The body of the op."""
        return {"doc": self.doc, "kind": "remove", "by": self.by}


def body_hash(body: str) -> str:
    """SHA-256 of a body, in hex."""
    return hashlib.sha256(body.encode()).hexdigest()


def check_body(body: str, field: str = "body") -> None:
    """Check that a body is text and fits an op. Raises DmpError `invalid`."""
    size = _bytes_of(body, field)
    if size > MAX_BODY_BYTES:
        raise invalid(field, f"a document takes at most {MAX_BODY_BYTES} bytes; this one has {size}")
    if canonical_size(body) > MAX_BODY_JSON_BYTES:
        raise invalid(
            field,
            f"a document takes at most {MAX_BODY_JSON_BYTES} bytes as JSON writes it; this one has too many control "
            "characters or quotation marks",
        )


def parse_doc(body: JsonValue | Absent) -> DocPut | DocRemove:
    """Read a doc op's body. Raises DmpError `invalid` naming the member at fault."""
    content = _object(body, "body")
    doc = _form(content, "doc", DOC_ID, "the id of a document: doc- and 26 digits or capital letters")
    by = _author(content, "by")
    match content.get("kind"):
        case "remove":
            return DocRemove(doc, by)
        case "put":
            revision, about, review = (content.get(name) for name in ("revision", "meta", "review"))
            return DocPut(
                doc,
                by,
                None if revision is None else _revision(_object(revision, "revision")),
                About() if about is None else _about(_object(about, "meta")),
                None if review is None else _revision_id(_object(review, "review").get("rev"), "review.rev"),
            )
    raise invalid("kind", "must be put or remove")


def _revision(content: Mapping[str, JsonValue]) -> Revision:
    where = "revision"
    parents = content.get("parents")
    if not isinstance(parents, list) or len(parents) > MAX_PARENTS:
        raise invalid(f"{where}.parents", f"must be a list of at most {MAX_PARENTS}")
    body = content.get("body")
    if not isinstance(body, str):
        raise invalid(f"{where}.body", "must be a text")
    check_body(body, f"{where}.body")
    if content.get("hash") != body_hash(body):
        raise invalid(f"{where}.hash", "is not the hash of the body")
    cause = content.get("cause")
    if cause not in CAUSES:
        raise invalid(f"{where}.cause", f"must be one of {', '.join(CAUSES)}")
    approval, task = content.get("approval"), content.get("task")
    return Revision(
        id=_revision_id(content.get("id"), f"{where}.id"),
        parents=tuple(dict.fromkeys(_revision_id(each, f"{where}.parents") for each in parents)),
        title=_text(content, where, "title", MAX_TITLE_BYTES),
        body=body,
        author=_author(content, "author", f"{where}."),
        cause=str(cause),
        summary=_text(content, where, "summary", MAX_SUMMARY_BYTES, optional=True),
        created_at=_moment(content.get("createdAt"), f"{where}.createdAt"),
        approval=None if approval is None else _approval(_object(approval, f"{where}.approval")),
        task=None if task is None else _form(content, "task", _TARGET, "an id", f"{where}."),
    )


def _approval(content: Mapping[str, JsonValue]) -> Approval:
    policy = content.get("policy")
    rung = None if policy is None else _object(policy, "revision.approval.policy").get("rung")
    if policy is not None and (
        isinstance(rung, bool) or not isinstance(rung, int) or not 0 <= rung <= MAX_RUNG
    ):
        raise invalid("revision.approval.policy", f"names a rung from 0 to {MAX_RUNG}")
    return Approval(_author(content, "by", "revision.approval."), cast("int | None", rung))


def _about(content: Mapping[str, JsonValue]) -> About:
    slug, status = content.get("slug"), content.get("status")
    if status is not None and status not in STATUSES:
        raise invalid("meta.status", f"must be one of {', '.join(STATUSES)}")
    if content.get("title") is not None:  # a document is called what its latest revision is
        _text(content, "meta", "title", MAX_TITLE_BYTES)
    links, aliases = content.get("links"), content.get("aliases")
    if aliases is not None and (not isinstance(aliases, list) or len(aliases) > MAX_ALIASES):
        raise invalid("meta.aliases", f"must be a list of at most {MAX_ALIASES}")
    if links is not None and (not isinstance(links, list) or len(links) > MAX_LINKS):
        raise invalid("meta.links", f"must be a list of at most {MAX_LINKS}")
    return About(
        slug=None if slug is None else as_slug(slug, "meta.slug"),
        status=status,
        links=None if links is None else tuple(sorted({parse_link(each) for each in links})),
        aliases=() if aliases is None else tuple(as_slug(each, "meta.aliases") for each in aliases),
    )


def as_slug(value: JsonValue, field: str) -> str:
    """Read a name of a document. Raises DmpError `invalid`."""
    if not isinstance(value, str) or SLUG.fullmatch(value) is None:
        raise invalid(
            field, "must be 1 to 64 letters, digits, '.', '_', '-' and '/', starting with a letter or digit"
        )
    if DOC_ID.fullmatch(value) is not None:
        raise invalid(field, "may not look like the id of a document")
    return value


def parse_link(value: JsonValue) -> Link:
    """Read a link. Raises DmpError `invalid`."""
    content = _object(value, "meta.links")
    target = _object(content.get("target"), "meta.links.target")
    type_, relation = target.get("type"), content.get("rel")
    if type_ not in LINK_TYPES:
        raise invalid("meta.links.target.type", f"must be one of {', '.join(LINK_TYPES)}")
    if relation not in RELATIONS:
        raise invalid("meta.links.rel", f"must be one of {', '.join(RELATIONS)}")
    return Link(str(type_), _form(target, "id", _TARGET, "an id", "meta.links.target."), str(relation))


def _revision_id(value: JsonValue, field: str) -> str:
    if not isinstance(value, str) or REVISION_ID.fullmatch(value) is None:
        raise invalid(field, "must be the id of a revision: rev- and 26 digits or capital letters")
    return value


def _author(content: Mapping[str, JsonValue], name: str, where: str = "") -> str:
    return _form(content, name, AUTHOR, "the address of a human, an agent or a session", where)


def _form(
    content: Mapping[str, JsonValue], name: str, form: re.Pattern[str], what: str, where: str = ""
) -> str:
    value = content.get(name)
    if not isinstance(value, str) or form.fullmatch(value) is None:
        raise invalid(f"{where}{name}", f"must be {what}")
    return value


def _text(
    content: Mapping[str, JsonValue], where: str, name: str, limit: int, *, optional: bool = False
) -> str:
    value = content.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str) or _bytes_of(value, f"{where}.{name}") > limit:
        raise invalid(f"{where}.{name}", f"must be a text of at most {limit} bytes")
    return value


def _bytes_of(text: str, field: str) -> int:
    try:
        return utf8_len(text)
    except UnicodeEncodeError:
        raise invalid(field, "must be whole characters") from None


def _moment(value: JsonValue, field: str) -> str:
    try:
        milliseconds(value if isinstance(value, str) else "")
    except ValueError:
        raise invalid(field, "must be a time, as 2026-01-31T12:00:00.000Z") from None
    return str(value)


def _object(value: object, field: str) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise invalid(field, "must be an object")
    return value
