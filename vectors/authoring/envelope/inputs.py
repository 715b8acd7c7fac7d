"""The shape of a send input: members, kinds, and what only some kinds may have (sections 4.1, 4.2, 4.5)."""

from typing import Any, Final

from vectors.authoring.host_steps import message, ok, refused, validate, vector, who
from vectors.authoring.kit import Expected, Json

MEI: Final = who("human:mei")
TOMAS: Final = who("human:tomas")


def seeded(id: str, kind: str, **more: Any) -> Json:
    """A stored message of mei's to tomas."""
    return {"id": id, "from": "human:mei", "to": ["human:tomas"], "kind": kind, "body": "Which row?", **more}


ASKED: Final = {
    "store": {
        "messages": [
            seeded("m-plain", "question"),
            seeded("m-choice", "question", choices=["north", "south"]),
            seeded("m-handoff", "handoff", choices=["north", "south"]),
            seeded("m-message", "message"),
            seeded("m-notice", "notice"),
            seeded("m-private", "x-row"),
            seeded("m-answer", "answer", replyTo="m-plain"),
        ]
    }
}


def _as_mei(**members: Any) -> Json:
    """A plain message, with members set or put in place of its own."""
    return validate(MEI, message("human:tomas", "The plums are in.") | members)


def _without(member: str) -> Json:
    given = message("human:tomas", "The plums are in.")
    del given[member]
    return validate(MEI, given)


def _answer(target: str, body: str = "The north one.", **members: Any) -> Json:
    given = message("human:mei", body, "answer", replyTo=target, **members)
    return validate(TOMAS, given, target=target)


def _of(kind: str, **members: Any) -> Json:
    return _as_mei(kind=kind, **members)


def _each(steps: dict[str, Json], code: str = "invalid") -> list[Expected]:
    """Steps that are each refused on the field that names them."""
    return [refused(step, code, field) for field, step in steps.items()]


_VALUES: Final[list[Any]] = [None, True, False, 0, -1.5, "", "rows", [], [None, {}], {}, {"a": []}]

VECTORS: Final = [
    vector(
        "env.inputs.three-members-are-enough",
        "Recipients, a kind and a body make an input; every default may also be written out",
        ok(_as_mei()),
        ok(_as_mei(refs=[], urgent=False, blocking=False, wake="none", replyTo=None)),
        sections=("4.1",),
    ),
    vector(
        "env.inputs.to-kind-and-body-are-required",
        "An input without recipients, without a kind or without a body is refused on the member it lacks",
        *_each({member: _without(member) for member in ("to", "kind", "body")}),
        sections=("4.1", "4.5"),
        structural=True,
    ),
    vector(
        "env.inputs.members-have-their-types",
        "A member of another type than its own is refused on that member",
        refused(_as_mei(to="human:tomas"), "invalid", "to"),
        refused(_as_mei(to=None), "invalid", "to"),
        refused(_as_mei(kind=None), "invalid", "kind"),
        refused(_as_mei(kind=["message"]), "invalid", "kind"),
        refused(_as_mei(body=None), "invalid", "body"),
        refused(_as_mei(body=["The plums are in."]), "invalid", "body"),
        refused(_as_mei(body=0), "invalid", "body"),
        refused(_as_mei(urgent="true"), "invalid", "urgent"),
        refused(_as_mei(urgent=1), "invalid", "urgent"),
        refused(_of("question", blocking=1), "invalid", "blocking"),
        refused(_of("question", choices="north"), "invalid", "choices"),
        refused(_as_mei(wake=True), "invalid", "wake"),
        refused(_as_mei(session=7), "invalid", "session"),
        refused(_as_mei(idempotencyKey=7), "invalid", "idempotencyKey"),
        refused(_as_mei(refs={"type": "file", "id": "rows.csv"}), "invalid", "refs"),
        sections=("4.1", "4.5"),
        structural=True,
    ),
    vector(
        "env.inputs.a-recipient-is-a-string",
        "An entry of to that is no string is refused on its own slot",
        refused(_as_mei(to=["human:tomas", 7]), "invalid", "to[1]"),
        refused(_as_mei(to=[None]), "invalid", "to[0]"),
        refused(_as_mei(to=["human:tomas", ["human:ines"]]), "invalid", "to[1]"),
        sections=("4.1", "4.5", "10.2"),
        structural=True,
    ),
    vector(
        "env.inputs.wake-is-none-or-request",
        "A wake is none or request, spelled exactly",
        ok(_as_mei(wake="none")),
        ok(_as_mei(wake="request")),
        refused(_as_mei(wake="Request"), "invalid", "wake"),
        refused(_as_mei(wake="now"), "invalid", "wake"),
        refused(_as_mei(wake=""), "invalid", "wake"),
        sections=("4.1",),
        structural=True,
    ),
    vector(
        "env.inputs.fields-of-federation-are-ignored",
        "An input's origin and hlc, fields of an appendix, are ignored whatever they hold",
        ok(_as_mei(origin="orchard", hlc="1.0.orchard")),
        ok(_as_mei(origin=7, hlc=None)),
        sections=("4.1", "11.11"),
    ),
    vector(
        "env.inputs.each-built-in-kind",
        "The four kinds that need no reply target are valid on their own, and an answer with one",
        *(ok(_of(kind)) for kind in ("message", "question", "handoff", "notice")),
        ok(_answer("m-plain")),
        given=ASKED,
        sections=("4.2",),
    ),
    vector(
        "env.inputs.any-other-kind-is-refused",
        "A kind that is neither built in nor private is refused: other words, other letters, an empty one",
        *(
            refused(_of(kind), "invalid", "kind")
            for kind in ("", "Message", "NOTICE", "reply", "ask", "gate")
        ),
        *(refused(_of(kind), "invalid", "kind") for kind in (" message", "message ", "messages", "note")),
        sections=("4.2", "4.5"),
        structural=True,
    ),
    vector(
        "env.inputs.private-kinds-have-a-pattern",
        "A private kind is x-, then a lowercase letter or a digit, then those and hyphens, to the end",
        *(ok(_of(kind)) for kind in ("x-a", "x-0", "x-row-count", "x-a-", "x-9--9")),
        *(
            refused(_of(kind), "invalid", "kind")
            for kind in ("x-", "x--a", "x-Row", "X-row", "x-row_count", "x_row")
        ),
        *(
            refused(_of(kind), "invalid", "kind")
            for kind in ("x-row.count", "x-\u00e9", "xrow", "y-row", "ax-row")
        ),
        *(
            refused(_of(kind), "invalid", "kind")
            for kind in ("x-row\n", "x-row count", "x-row/count", "\nx-row")
        ),
        sections=("1.4", "4.2"),
        structural=True,
    ),
    vector(
        "env.inputs.data-is-any-json-value",
        "Data may be an object, a list, a string, a number, a boolean or null",
        *(ok(_as_mei(data=data)) for data in _VALUES),
        ok(_as_mei(data={"type": "x-rows", "count": 3})),
        ok(_as_mei(data={"type": 3})),
        ok(_as_mei(data={"type": None})),
        ok(_as_mei(data={"kind": "wake"})),
        sections=("4.1", "5.1"),
    ),
    vector(
        "env.inputs.only-what-asks-may-block",
        "Blocking is for questions and handoffs; false is always allowed",
        ok(_of("question", blocking=True)),
        ok(_of("handoff", blocking=True)),
        *(ok(_of(kind, blocking=False)) for kind in ("message", "notice", "x-row")),
        *(
            refused(_of(kind, blocking=True), "invalid", "blocking")
            for kind in ("message", "notice", "x-row")
        ),
        refused(_answer("m-plain", blocking=True), "invalid", "blocking"),
        given=ASKED,
        sections=("4.1", "4.5"),
    ),
    vector(
        "env.inputs.only-what-asks-offers-choices",
        "Choices are for questions and handoffs",
        ok(_of("question", choices=["north"])),
        ok(_of("handoff", choices=["north", "south"])),
        *(
            refused(_of(kind, choices=["north"]), "invalid", "choices")
            for kind in ("message", "notice", "x-row")
        ),
        refused(_answer("m-plain", choices=["north"]), "invalid", "choices"),
        given=ASKED,
        sections=("4.5", "4.7"),
    ),
    vector(
        "env.inputs.an-offer-is-not-empty",
        "A list of choices that holds nothing is refused on choices",
        refused(_of("question", choices=[]), "invalid", "choices"),
        refused(_of("handoff", choices=[]), "invalid", "choices"),
        sections=("4.5",),
        structural=True,
    ),
    vector(
        "env.inputs.choices-differ-from-each-other",
        "Two choices that are equal are refused on choices",
        refused(_of("question", choices=["north", "north"]), "invalid", "choices"),
        refused(_of("handoff", choices=["a", "b", "c", "a"]), "invalid", "choices"),
        sections=("4.5",),
        structural=True,
    ),
    vector(
        "env.inputs.choices-differ-by-any-character",
        "Choices that differ in case, in spaces or in how an accent is composed are distinct",
        ok(_of("question", choices=["north", "North", " north", "north ", "no rth"])),
        ok(_of("question", choices=["caf\u00e9", "cafe\u0301"])),
        sections=("4.5",),
    ),
    vector(
        "env.inputs.no-choice-is-blank",
        "An empty choice and one of nothing but white space are refused on choices",
        *(
            refused(_of("question", choices=["north", blank]), "invalid", "choices")
            for blank in ("", " ", "\t", "\u00a0", "\u2003", "\u3000", "\ufeff")
        ),
        ok(_of("question", choices=["\u200b", "\u180e", "."])),
        sections=("1.4", "4.5"),
    ),
    vector(
        "env.inputs.only-an-answer-makes-a-choice",
        "A choice on anything but an answer is refused on choice",
        *(
            refused(_of(kind, choice="north"), "invalid", "choice")
            for kind in ("message", "question", "handoff", "notice", "x-row")
        ),
        refused(
            validate(
                TOMAS,
                message("human:mei", "North.", replyTo="m-choice", choice="north"),
                target="m-choice",
            ),
            "invalid",
            "choice",
        ),
        given=ASKED,
        sections=("4.5", "4.7"),
    ),
    vector(
        "env.inputs.an-answer-names-what-it-answers",
        "An answer without replyTo, or with a null one, is refused on replyTo",
        refused(validate(TOMAS, message("human:mei", "North.", "answer")), "invalid", "replyTo"),
        refused(
            validate(TOMAS, message("human:mei", "North.", "answer", replyTo=None)), "invalid", "replyTo"
        ),
        sections=("4.5",),
    ),
    vector(
        "env.inputs.only-what-asks-is-answered",
        "An answer to a message, a notice, an answer or a message of a private kind is refused on replyTo",
        *(
            refused(_answer(target), "invalid", "replyTo")
            for target in ("m-message", "m-notice", "m-answer", "m-private")
        ),
        ok(_answer("m-plain")),
        ok(_answer("m-handoff", choice="south")),
        given=ASKED,
        sections=("4.5", "4.7"),
    ),
    vector(
        "env.inputs.any-kind-but-an-answer-replies-to-anything",
        "A message, a question, a handoff, a notice and a private kind may reply to any message",
        *(
            ok(validate(TOMAS, message("human:mei", "North.", kind, replyTo=target), target=target))
            for kind in ("message", "question", "handoff", "notice", "x-row")
            for target in ("m-plain", "m-handoff", "m-message", "m-answer")
        ),
        given=ASKED,
        sections=("4.5", "4.6"),
    ),
    vector(
        "env.inputs.a-reply-to-nothing-is-not-found",
        "A replyTo that names no message, or is empty, is not found",
        refused(validate(TOMAS, message("human:mei", "North.", replyTo="m-none")), "not-found", "replyTo"),
        refused(validate(TOMAS, message("human:mei", "North.", replyTo="")), "not-found", "replyTo"),
        refused(
            validate(TOMAS, message("human:mei", "North.", "answer", replyTo="")), "not-found", "replyTo"
        ),
        given=ASKED,
        sections=("4.5", "4.6"),
    ),
]
