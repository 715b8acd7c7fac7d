"""The gate types that join the profile after it: memory, task-proposal and doc (sections 11.6, 8.6 and C.3)."""

from typing import Any, Final

from vectors.authoring.cast import BYSTANDER, DECIDER, HOST, LEE, NORA, bound, row, stored
from vectors.authoring.envelope.gate_data import AGENT, SESSION
from vectors.authoring.envelope.profile_gates import without
from vectors.authoring.host_steps import message, ok, refused, validate, vector
from vectors.authoring.kit import Expected, Json

_ULID: Final = "01K7ZZXWVTSRQPNMKJHGFEDCBA"

MEMORY: Final = {
    "type": "memory",
    "proposalId": f"mp-{_ULID}",
    "action": "add",
    "scope": "project",
    "kind": "hazard",
}
PROPOSAL: Final = {
    "type": "task-proposal",
    "task": "t-de11de",
    "proposedBy": "agent:nora/a2a.lab",
    "message": "m-ask",
}
DOC: Final = {
    "type": "doc",
    "doc": f"doc-{_ULID.lower()}",
    "proposal": f"rev-{_ULID.lower()}",
    "taskId": "t-c0c0c0",
    "runId": "r-c0c0c0",
}
_CHOICES: Final = {
    "memory": ["approve", "reject"],
    "task-proposal": ["approve", "decline"],
    "doc": ["approve", "reject"],
}


def _gate(data: Json, **changes: Any) -> Json:
    choices = _CHOICES[data["type"]]
    return {
        **message(NORA, "Shall it stand?", "question", blocking=True, choices=choices, data=data),
        **changes,
    }


def _bad(field: str | None, *inputs: Json) -> list[Expected]:
    return [refused(validate(HOST, each), "invalid", field) for each in inputs]


def _shape(id: str, title: str, data: Json) -> Json:
    """A vector for a type whose gates are blocking questions that offer its choices in order."""
    first, second = _CHOICES[data["type"]]
    return vector(
        f"env.provisional-gate.{id}",
        title,
        *_bad(
            "data",
            _gate(data, kind="handoff"),
            _gate(data, blocking=False),
            without(_gate(data), "choices"),
            *(
                _gate(data, choices=choices)
                for choices in ([second, first], [first], [first, second, "later"], [first, "deny"])
            ),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    )


def _answered(id: str, title: str, data: Json, foreign: str, *, sections: list[str]) -> Json:
    choices = _CHOICES[data["type"]]

    def chooses(by: Json, choice: str) -> Json:
        return validate(
            by, message("$system", "", "answer", replyTo="m-gate", choice=choice), target="m-gate"
        )

    return vector(
        f"env.provisional-gate.{id}",
        title,
        *(ok(chooses(DECIDER, choice)) for choice in choices),
        refused(chooses(DECIDER, foreign), "invalid", "choice"),
        *(refused(chooses(by, choices[1]), "forbidden", "replyTo") for by in (BYSTANDER, AGENT, SESSION)),
        given={
            "store": stored(
                [
                    row(
                        "m-gate",
                        "$system",
                        LEE,
                        "Shall it?",
                        "question",
                        blocking=True,
                        choices=choices,
                        data=data,
                    )
                ],
                [bound("d-gate", "m-gate", LEE, "notified")],
            )
        },
        profile="dispatch",
        sections=sections,
    )


VECTORS: Final = [
    vector(
        "env.provisional-gate.memory-is-for-the-system-or-a-decider",
        "The system and a deciding human raise a memory gate; another human, an agent and a session do not",
        ok(validate(HOST, _gate(MEMORY))),
        ok(validate(DECIDER, _gate(MEMORY))),
        *(refused(validate(by, _gate(MEMORY)), "forbidden", "data") for by in (BYSTANDER, AGENT, SESSION)),
        profile="dispatch",
        sections=["5.3", "13.3", "C.3"],
    ),
    _shape(
        "memory-has-a-fixed-shape",
        "A memory gate is a blocking question that offers approve then reject; any other shape is refused on data",
        MEMORY,
    ),
    vector(
        "env.provisional-gate.memory-names-its-proposal",
        "A memory gate's proposal is mp- and an upper-case ULID; another is refused on data.proposalId",
        *_bad(
            "data.proposalId",
            _gate(without(MEMORY, "proposalId")),
            *(
                _gate({**MEMORY, "proposalId": name})
                for name in (
                    _ULID,
                    f"mp-{_ULID.lower()}",
                    f"mp-{_ULID[:-1]}",
                    f"mp-{_ULID}0",
                    f"mp-{_ULID[:-1]}U",
                    f"mp-{_ULID}\n",
                    7,
                )
            ),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.provisional-gate.memory-says-what-it-changes",
        "A memory gate's action, scope and kind are among those listed; another is refused on its own member",
        *(
            ok(validate(HOST, _gate({**MEMORY, "action": action})))
            for action in ("add", "supersede", "retire")
        ),
        *(ok(validate(HOST, _gate({**MEMORY, "scope": scope}))) for scope in ("project", "team")),
        *(
            ok(validate(HOST, _gate({**MEMORY, "kind": kind})))
            for kind in ("preference", "convention", "constraint", "hazard", "decision", "fact", "reference")
        ),
        *(
            step
            for member, others in (
                ("action", ("delete", "Add", "", None)),
                ("scope", ("personal", "task", ["team"])),
                ("kind", ("rumour", "memory", 7)),
            )
            for step in _bad(
                f"data.{member}",
                _gate(without(MEMORY, member)),
                *(_gate({**MEMORY, member: other}) for other in others),
            )
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    _answered(
        "memory-takes-approve-or-reject",
        "A memory gate is answered with approve or reject, by a deciding principal alone",
        MEMORY,
        "deny",
        sections=["4.7", "5.4", "C.3"],
    ),
    vector(
        "env.provisional-gate.task-proposal-is-the-systems-alone",
        "Only the system raises a task-proposal gate",
        *(
            refused(validate(by, _gate(PROPOSAL)), "forbidden", "data")
            for by in (DECIDER, BYSTANDER, AGENT, SESSION)
        ),
        ok(validate(HOST, _gate(PROPOSAL))),
        profile="dispatch",
        sections=["5.3", "8.6", "13.3", "C.3"],
    ),
    vector(
        "env.provisional-gate.task-proposal-names-what-is-proposed",
        "A task-proposal gate without its work item, its client or its message, or with a bad one, is refused",
        *_bad(
            None,
            *(_gate(without(PROPOSAL, member)) for member in ("task", "proposedBy", "message")),
            _gate({**PROPOSAL, "task": 7}),
            _gate({**PROPOSAL, "proposedBy": "lab"}),
            _gate({**PROPOSAL, "message": None}),
        ),
        profile="dispatch",
        sections=["5.3", "8.6", "C.3"],
    ),
    _answered(
        "task-proposal-takes-approve-or-decline",
        "A task-proposal gate is answered with approve or decline, by a deciding principal alone",
        PROPOSAL,
        "reject",
        sections=["4.7", "5.4", "8.6", "C.3"],
    ),
    vector(
        "env.provisional-gate.doc-is-the-systems-alone",
        "Only the system raises a doc gate, with or without the work item and the session it came from",
        *(
            refused(validate(by, _gate(DOC)), "forbidden", "data")
            for by in (DECIDER, BYSTANDER, AGENT, SESSION)
        ),
        ok(validate(HOST, _gate(DOC))),
        ok(validate(HOST, _gate(without(without(DOC, "taskId"), "runId")))),
        profile="dispatch",
        sections=["5.3", "13.3", "C.3"],
    ),
    _shape(
        "doc-has-a-fixed-shape",
        "A doc gate is a blocking question that offers approve then reject; any other shape is refused on data",
        DOC,
    ),
    vector(
        "env.provisional-gate.doc-names-its-document-and-proposal",
        "A doc gate whose doc or proposal is missing or has another prefix is refused on that member",
        *_bad(
            "data.doc",
            *(
                _gate(each)
                for each in (without(DOC, "doc"), {**DOC, "doc": DOC["proposal"]}, {**DOC, "doc": 7})
            ),
        ),
        *_bad(
            "data.proposal",
            *(
                _gate(each)
                for each in (
                    without(DOC, "proposal"),
                    {**DOC, "proposal": DOC["doc"]},
                    {**DOC, "proposal": None},
                )
            ),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    _answered(
        "doc-takes-approve-or-reject",
        "A doc gate is answered with approve or reject, by a deciding principal alone",
        DOC,
        "decline",
        sections=["4.7", "5.4", "C.3"],
    ),
]
