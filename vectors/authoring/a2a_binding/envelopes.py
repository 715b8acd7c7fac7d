"""What may stand in a client's envelope: each member and limit, and what none may ask for (sections 8.3, 8.4)."""

from typing import Any, Final

from vectors.authoring.a2a_binding.parts import ENVELOPE, reads
from vectors.authoring.host_steps import ok, refused, vector
from vectors.authoring.kit import Expected

_EURO: Final = "\u20ac"
_BREAKS: Final = ("\n", "\r", "\r\n", "\u000b", "\f", "\u0085", "\u2028", "\u2029")


def _invalid(field: str, *raws: Any) -> list[Expected]:
    return [refused(reads(raw), "invalid", field) for raw in raws]


def _with_metadata_of(size: int) -> Any:
    """An envelope that makes the metadata of its message take that many bytes."""
    around = len(f'{{"{ENVELOPE}":{{"note":""}}}}')
    return {"note": "x" * (size - around)}


VECTORS: Final = [
    vector(
        "a2a.envelopes.every-member-at-its-limit-is-read",
        "An envelope whose every member is as long as it may be is read",
        ok(
            reads(
                {
                    "to": ["human:nora", *("t" * 512 for _ in range(49))],
                    "kind": "question",
                    "replyTo": "m-1",
                    "blocking": True,
                    "choices": ["c" * 198 + f"{number:02}" for number in range(20)],
                    "choice": _EURO * 66 + "ab",
                    "refs": [{"type": "task", "id": _EURO * 170 + "ab"}] * 50,
                    "urgent": False,
                    "wake": "none",
                }
            )
        ),
        *(ok(reads({"kind": kind})) for kind in ("message", "question", "answer", "handoff", "notice")),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.what-the-host-assigns-is-not-looked-at",
        "What a client says of the id, the thread and the sender is ignored, whatever it is, as are unknown members",
        ok(reads({"id": 7, "thread": None, "from": ["human:nora"], "moon": {"phase": "new"}})),
        ok(reads({"from": "not an address\n", "id": "", "thread": "m-1"})),
        ok(reads({})),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.nothing-jumps-a-mailbox-or-wakes",
        "Urgency and waking are forbidden to a client, and invalid on their members when garbled",
        refused(reads({"urgent": True, "kind": "message", "to": ["human:nora"]}), "forbidden", "urgent"),
        refused(reads({"wake": "request", "kind": "message", "to": ["human:nora"]}), "forbidden", "wake"),
        *_invalid("urgent", {"urgent": "true"}, {"urgent": 1}, {"urgent": None}),
        *_invalid("wake", {"wake": "later"}, {"wake": True}, {"wake": None}),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.every-private-kind-is-forbidden",
        "Whatever kind begins with x- is forbidden, a well-formed private one or not",
        *(
            refused(reads({"kind": kind}), "forbidden", "kind")
            for kind in ("x-ping", "x-", "x-Ping", "x-a b")
        ),
        sections=("8.4", "4.2"),
    ),
    vector(
        "a2a.envelopes.a-kind-is-spelled-exactly",
        "A kind that is none of the five, or no string, is invalid on kind",
        *_invalid(
            "kind", *({"kind": kind} for kind in ("Question", "X-ping", "", "gate", "question ", 3, None))
        ),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.recipients-are-at-most-50-lines",
        "Recipients are at most 50, each a string of one line and 512 bytes, and else invalid on its slot",
        *_invalid("to", {"to": ["human:nora"] * 51}, {"to": "human:nora"}, {"to": None}),
        *_invalid("to[1]", *({"to": ["human:nora", entry]} for entry in ("t" * 513, _EURO * 171, 4, None))),
        *_invalid("to[0]", *({"to": [f"human:nora{each}human:lee"]} for each in _BREAKS)),
        sections=("8.4", "1.4"),
    ),
    vector(
        "a2a.envelopes.choices-are-at-most-20-lines",
        "A client's choices are at most 20, each a string of one line and 200 bytes, and else invalid on its slot",
        *_invalid("choices", {"choices": [f"c{number}" for number in range(21)]}, {"choices": "yes"}),
        *_invalid("choices[1]", *({"choices": ["yes", entry]} for entry in ("c" * 201, _EURO * 67, False))),
        *_invalid("choices[0]", *({"choices": [f"yes{each}no"]} for each in _BREAKS)),
        sections=("8.4", "1.4"),
    ),
    vector(
        "a2a.envelopes.a-choice-is-one-line",
        "The choice is a string of one line and at most 200 bytes",
        *_invalid("choice", *({"choice": entry} for entry in ("c" * 201, ["yes"], None))),
        *_invalid("choice", *({"choice": f"yes{each}"} for each in _BREAKS)),
        sections=("8.4", "1.4"),
    ),
    vector(
        "a2a.envelopes.blocking-is-a-flag",
        "Blocking is true or false, and nothing that stands for either",
        *_invalid("blocking", *({"blocking": each} for each in (1, 0, "false", None, ["false"]))),
        ok(reads({"blocking": False})),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.refs-are-at-most-50-objects",
        "More than 50 refs are invalid on refs, and one that is no object on its slot",
        *_invalid("refs", {"refs": [{"type": "message", "id": "m-1"}] * 51}, {"refs": {"type": "message"}}),
        *_invalid(
            "refs[1]", *({"refs": [{"type": "task", "id": "t-1"}, each]} for each in ("m-1", None, ["m-1"]))
        ),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.refs-name-tasks-and-messages-alone",
        "A ref of any other type, registered or not, is invalid on its type",
        *_invalid(
            "refs[1].type",
            *(
                {"refs": [{"type": "message", "id": "m-1"}, {"type": type_, "id": "m-1"}]}
                for type_ in ("run", "file", "commit", "doc", "Task", "", 5, None)
            ),
        ),
        *_invalid("refs[0].type", {"refs": [{"id": "m-1"}]}),
        sections=("8.4", "4.3"),
    ),
    vector(
        "a2a.envelopes.refs-have-no-anchor",
        "A ref of a client carries no at, not even an empty one",
        *_invalid(
            "refs[0].at",
            *({"refs": [{"type": "task", "id": "t-1", "at": at}]} for at in ("8f2c01d", "", None)),
        ),
        sections=("8.4",),
    ),
    vector(
        "a2a.envelopes.a-refs-id-is-one-line",
        "The id of a ref is a string of one line and at most 512 bytes",
        *_invalid("refs[0].id", {"refs": [{"type": "task"}]}),
        *_invalid(
            "refs[0].id",
            *({"refs": [{"type": "task", "id": id_}]} for id_ in ("i" * 513, _EURO * 171, 12, None)),
        ),
        *_invalid("refs[0].id", *({"refs": [{"type": "task", "id": f"t{each}1"}]} for each in _BREAKS)),
        sections=("8.4", "1.4"),
    ),
    vector(
        "a2a.envelopes.metadata-is-at-most-64-kib",
        "All metadata of a message takes at most 64 KiB as JSON, the URI that it stands under included",
        ok(reads(_with_metadata_of(64 * 1024))),
        refused(reads(_with_metadata_of(64 * 1024 + 1)), "invalid", "message.metadata"),
        refused(reads({"note": _EURO * 22000}), "invalid", "message.metadata"),
        sections=("8.3",),
    ),
    vector(
        "a2a.envelopes.the-budget-comes-first",
        "Metadata over 64 KiB is refused for that, whatever else is wrong with it",
        refused(reads({"urgent": True, "note": "x" * 65536}), "invalid", "message.metadata"),
        refused(reads({"skill": "sing", "note": "x" * 65536}, "work"), "invalid", "message.metadata"),
        sections=("8.3",),
    ),
]
