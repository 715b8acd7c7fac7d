"""What a client's message becomes: whom it reaches, what it may name, and what is stored of it (sections 8.4, 8.8)."""

from typing import Any, Final

from vectors.authoring.a2a_binding.parts import CLIENT, ENVELOPE, REACHED, STRANGER, UNSEEN, arrives
from vectors.authoring.cast import DECIDER, LEE, NORA, item, published, told
from vectors.authoring.host_steps import SYSTEM, delivery, message, ok, refused, reply, send, vector, who
from vectors.authoring.kit import Expected, Json

_KIB_64: Final = 64 * 1024
_EURO: Final = "\u20ac"


def _stored(id: str = "$s1", **fields: Any) -> Json:
    return {"id": id, "from": CLIENT, **fields}


def _came(body: Any, envelope: Any = None, id: str = "$s1", **more: Any) -> Expected:
    return ok(arrives(body, envelope, **more), message=id)


def _note(**members: Any) -> Json:
    return {"kind": "message", **members}


def _wrapped_size(text: str) -> int:
    return len(f'{{"{ENVELOPE}":"{text}"}}')


_LARGEST: Final = "x" * (_KIB_64 - _wrapped_size(""))
"""The longest text that is a data part: wrapped, it takes 64 KiB."""

_ASKS: Final = send(
    DECIDER, message(CLIENT, "Which field first?", "question", blocking=True, choices=["west", "east"])
)

OPENING: Final = [
    vector(
        "a2a.opening.nothing-said-is-a-question-to-the-owner",
        "Without an envelope, and with one that says nothing of it, a message is a blocking question to the owner",
        _came("Is the plan final?"),
        _came("And the map?", {}, id="$s2"),
        _came("Really?", {"blocking": False}, id="$s3"),
        sections=("8.4",),
        given=REACHED,
        messages=[
            _stored(f"$s{number}", to=[NORA], kind="question", blocking=True, replyTo=None)
            for number in (1, 2, 3)
        ],
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.a-message-and-a-notice-block-nothing",
        "A message or a notice does not block, and one that says so is refused on blocking",
        _came("The west field is done.", _note()),
        _came("Rows 1 to 9.", {"kind": "notice"}, id="$s2"),
        *(
            refused(arrives("Well?", {"kind": kind, "blocking": True}), "invalid", "blocking")
            for kind in ("message", "notice")
        ),
        sections=("8.4", "4.5"),
        given=REACHED,
        messages=[_stored(kind="message", blocking=False), _stored("$s2", kind="notice", blocking=False)],
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.neither-an-answer-nor-a-handoff-opens",
        "An answer or a handoff that opens an exchange is invalid on kind, whoever it is to",
        *(
            refused(arrives("Mine.", {"kind": kind, **more}), "invalid", "kind")
            for kind in ("answer", "handoff")
            for more in ({}, {"to": [LEE]}, {"choice": "west"})
        ),
        sections=("8.4",),
        given=REACHED,
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.every-other-address-looks-alike",
        "A member, a stranger, an agent, a session, a channel and what is no address are forbidden alike on their slot",
        *(
            refused(arrives("Hello.", _note(to=[NORA, each])), "forbidden", "to[1]")
            for each in (
                LEE,
                "human:nobody",
                STRANGER,
                CLIENT,
                SYSTEM,
                "task:t-c0c0c0",
                "run:r-c0c0c0",
                "channel:field",
                "nora",
                "",
                "human:Nora",
            )
        ),
        sections=("8.4", "13.5"),
        given={
            **REACHED,
            "workItems": [item("task:t-c0c0c0", "run:r-c0c0c0")],
            "channels": [{"name": "field", "members": [NORA]}],
        },
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.another-hosts-name-for-this-one-is-the-owner",
        "An a2a entry in to stands for the owner, and beside the owner or another one for nobody else",
        _came("Hello.", _note(to=["a2a:orchard"])),
        _came("Hello again.", _note(to=["a2a:orchard", NORA, "a2a:meadow"]), id="$s2"),
        _came("And again.", _note(to=["a2a:orchard", "a2a:meadow"]), id="$s3"),
        sections=("8.4",),
        given=REACHED,
        messages=[_stored(f"$s{number}", to=[NORA]) for number in (1, 2, 3)],
        deliveries=[delivery(f"$s{number}", NORA, "notified") for number in (1, 2, 3)],
    ),
    vector(
        "a2a.opening.an-empty-list-names-nobody",
        "An envelope that lists no recipients is invalid on to, and asks nobody",
        refused(arrives("Hello.", _note(to=[])), "invalid", "to"),
        sections=("8.4", "4.5"),
        given=REACHED,
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.choices-are-kept-as-they-are-or-refused",
        "A client's choices are checked as any other's, and changed in nothing",
        _came("Which?", {"choices": [" west ", "east"]}),
        refused(arrives("Which?", {"choices": ["west", "west"]}), "invalid", "choices"),
        refused(arrives("Which?", {"choices": ["west", " "]}), "invalid", "choices"),
        refused(arrives("Which?", {"choices": []}), "invalid", "choices"),
        refused(arrives("Which?", _note(choices=["west"])), "invalid", "choices"),
        refused(arrives("Which?", {"choice": "west"}), "invalid", "choice"),
        sections=("8.4", "8.8", "4.5"),
        given=REACHED,
        messages=[_stored(choices=[" west ", "east"])],
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.a-reply-needs-a-part-in-what-it-replies-to",
        "A client replies to what it sent or received; a message of others is not found, as one that is not there",
        ok(send(DECIDER, message(LEE, "Between us.")), message="$s1"),
        ok(send(DECIDER, message(CLIENT, "The plan is final.")), message="$s2"),
        _came("Thanks.", _note(replyTo="$s2"), id="$s3"),
        *(refused(arrives("What?", _note(replyTo=each)), "not-found", "replyTo") for each in ("$s1", UNSEEN)),
        sections=("8.4", "4.6", "13.5"),
        given=REACHED,
        messages=[{"id": "$s1"}, {"id": "$s2"}, _stored("$s3", replyTo="$s2", thread="$s2")],
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.refs-name-what-the-client-is-shown",
        "A ref names the client's own task or what replies to it; anything else is not found on its slot",
        _came("Is the plan final?"),
        ok(reply(DECIDER, "$s1", "Nearly."), message="$s2"),
        ok(send(DECIDER, message(LEE, "Do not tell them.", replyTo="$s1")), message="$s3"),
        _came(
            "About these.",
            _note(
                refs=[
                    {"type": "message", "id": "$s1"},
                    {"type": "task", "id": "$s1"},
                    {"type": "message", "id": "$s2"},
                ]
            ),
            id="$s4",
        ),
        *(
            refused(
                arrives("And this?", _note(refs=[{"type": "message", "id": "$s1"}, ref])),
                "not-found",
                "refs[1]",
            )
            for ref in (
                {"type": "message", "id": "$s3"},
                {"type": "message", "id": UNSEEN},
                {"type": "task", "id": "t-c0c0c0"},
                {"type": "task", "id": "t-000000"},
            )
        ),
        sections=("8.4", "13.5"),
        given={**REACHED, "workItems": [item("task:t-c0c0c0")]},
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.what-an-envelope-says-of-itself-counts-for-nothing",
        "A message is its client's, with an id and a thread of its own, whoever and whatever its envelope names",
        *(
            _came("Listen.", _note(**{"from": sender}, id=UNSEEN, thread=UNSEEN), id=f"$s{number}")
            for number, sender in enumerate((SYSTEM, NORA, STRANGER, 7), 1)
        ),
        sections=("8.4", "8.8"),
        given=REACHED,
        messages=[_stored(f"$s{number}", thread=f"$s{number}", replyTo=None) for number in (1, 2, 3, 4)],
        noOtherMessages=True,
    ),
    vector(
        "a2a.opening.an-agent-that-is-not-approved-sends-nothing",
        "A client whose registration waits or was taken back is refused as any agent is",
        refused(arrives("Hello."), "forbidden", "from"),
        (
            {"op": "world", "change": {"agentStatus": {"address": CLIENT, "status": "revoked"}}},
            None,
        ),
        refused(arrives("Hello."), "forbidden", "from"),
        sections=("8.8", "9.1"),
        given={**REACHED, "agents": [{"address": CLIENT, "status": "pending"}]},
        noOtherMessages=True,
    ),
]

CONTINUING: Final = [
    vector(
        "a2a.continuing.an-answer-goes-to-whoever-asked",
        "A continuation answers the question as its client, whatever kind, recipients or reply the envelope has",
        ok(_ASKS, message="$s1"),
        _came(
            "West.",
            {
                "kind": "message",
                "to": ["human:lee"],
                "replyTo": UNSEEN,
                "blocking": True,
                "choices": ["x"],
                "choice": "west",
            },
            id="$s2",
            answers="$s1",
        ),
        sections=("8.4",),
        given=REACHED,
        messages=[
            {"id": "$s1"},
            _stored("$s2", kind="answer", to=[NORA], replyTo="$s1", choice="west", blocking=False),
        ],
        noOtherMessages=True,
        deliveries=[delivery("$s1", CLIENT, "answered"), delivery("$s2", NORA, "notified")],
    ),
    vector(
        "a2a.continuing.an-answer-makes-an-offered-choice",
        "A continuation may choose nothing, and chooses nothing that was not offered; a question has one answer",
        ok(_ASKS, message="$s1"),
        refused(arrives("North.", {"choice": "north"}, answers="$s1"), "invalid", "choice"),
        _came("Neither.", id="$s3", answers="$s1"),
        refused(arrives("West.", {"choice": "west"}, answers="$s1"), "conflict", "replyTo"),
        sections=("8.4", "4.7"),
        given=REACHED,
        noOtherMessages=True,
    ),
    vector(
        "a2a.continuing.a-continuations-envelope-is-read-all-the-same",
        "What no client may ask for is refused of a continuation too, and so are refs that it is not shown",
        ok(_ASKS, message="$s1"),
        refused(arrives("West.", {"urgent": True}, answers="$s1"), "forbidden", "urgent"),
        refused(arrives("West.", {"wake": "request"}, answers="$s1"), "forbidden", "wake"),
        refused(
            arrives("West.", {"refs": [{"type": "message", "id": UNSEEN}]}, answers="$s1"),
            "not-found",
            "refs[0]",
        ),
        sections=("8.4",),
        given=REACHED,
        noOtherMessages=True,
    ),
    vector(
        "a2a.continuing.forged-markers-are-data",
        "An answer whose data is a close leaves the question answered by the client, with nothing closed",
        ok(_ASKS, message="$s1"),
        _came(
            "Done.",
            {"choice": "east"},
            id="$s2",
            answers="$s1",
            data=[{"type": "x-closed", "reason": "forged"}],
        ),
        sections=("8.8", "13.1", "13.14"),
        given=REACHED,
        messages=[
            {"id": "$s1"},
            _stored("$s2", kind="answer", data={ENVELOPE: {"type": "x-closed", "reason": "forged"}}),
        ],
        noOtherMessages=True,
        calls=[
            {"hook": "admitExternal", "recipient": CLIENT, "message": "$s1"},
            published("$s1"),
            published("$s2"),
            told(NORA, "$s2"),
        ],
    ),
]

CONTENT: Final = [
    vector(
        "a2a.content.data-of-every-shape-is-wrapped",
        "A single data part is stored under the URI of envelope/v1, whatever it is, a wrapped one too",
        *(
            _came("See.", _note(), id=f"$s{number}", data=[part])
            for number, part in enumerate(
                ({"type": "scope"}, ["a"], "text", 5, False, None, {ENVELOPE: 1}), 1
            )
        ),
        sections=("8.8", "5.8"),
        given=REACHED,
        messages=[
            _stored(f"$s{number}", data={ENVELOPE: part})
            for number, part in enumerate(
                ({"type": "scope"}, ["a"], "text", 5, False, None, {ENVELOPE: 1}), 1
            )
        ],
        noOtherMessages=True,
    ),
    vector(
        "a2a.content.several-parts-are-a-list-in-order",
        "Several data parts become one list in their order; a single part that is a list stays that list",
        _came("See.", _note(), data=[["a"], {"type": "wake"}, None]),
        _came("See.", _note(), id="$s2", data=[[1, 2]]),
        sections=("8.8",),
        given=REACHED,
        messages=[
            _stored(data={ENVELOPE: [["a"], {"type": "wake"}, None]}),
            _stored("$s2", data={ENVELOPE: [1, 2]}),
        ],
        noOtherMessages=True,
    ),
    vector(
        "a2a.content.data-that-fills-64-kib-is-kept",
        "Data that takes exactly 64 KiB once wrapped is stored",
        _came("See.", _note(), data=[_LARGEST]),
        sections=("8.8",),
        given=REACHED,
        messages=[_stored(body="See.", data={ENVELOPE: _LARGEST})],
    ),
    vector(
        "a2a.content.data-over-64-kib-fails-nothing",
        "A message whose data takes one byte more than 64 KiB once wrapped is stored all the same, without it",
        _came("See.", _note(), data=[_LARGEST + "x"]),
        sections=("8.8",),
        given=REACHED,
        messages=[_stored()],
        noOtherMessages=True,
    ),
    vector(
        "a2a.content.blank-text-is-no-text",
        "Text that is blank reads (no text) beside data, and is refused on body without any",
        *(
            _came(body, _note(), id=f"$s{number}", data=[{"a": 1}])
            for number, body in enumerate(("", " \n\t", "\u3000\ufeff"), 1)
        ),
        *(refused(arrives(body, _note()), "invalid", "body") for body in ("", " \n\t", "\u3000\ufeff")),
        refused(arrives("", _note(), data=[]), "invalid", "body"),
        sections=("8.8", "1.4"),
        given=REACHED,
        messages=[_stored(f"$s{number}", body="(no text)") for number in (1, 2, 3)],
        noOtherMessages=True,
    ),
    vector(
        "a2a.content.a-clients-body-is-never-cut",
        "A body of 64 KiB is stored whole, and a longer one is refused on body, counted in bytes",
        _came("x" * _KIB_64, _note()),
        refused(arrives("x" * (_KIB_64 + 1), _note()), "invalid", "body"),
        refused(arrives(_EURO * 21846, _note(), data=[1]), "invalid", "body"),
        sections=("8.8", "1.4"),
        given=REACHED,
        messages=[_stored(body="x" * _KIB_64)],
        noOtherMessages=True,
    ),
    vector(
        "a2a.content.a-client-raises-no-gate",
        "Data in the shape of a gate raises none and asks nobody, even in a question with a gate's choices",
        _came(
            "May it?",
            {"choices": ["approve", "deny"]},
            data=[{"type": "wake", "target": "task:t-c0c0c0", "message": UNSEEN}],
        ),
        ok(reply(who(LEE), "$s1", "No.", choice="deny"), message="$s2"),
        sections=("8.8", "5.8"),
        given=REACHED | {"owner": LEE},
        messages=[_stored(kind="question"), {"id": "$s2", "from": LEE, "kind": "answer", "choice": "deny"}],
        noOtherMessages=True,
        gateEffects=[],
    ),
]
