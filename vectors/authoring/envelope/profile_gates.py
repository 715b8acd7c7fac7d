"""The gate types of the Dispatch profile: who raises them, their shape, their choices and answers (section C.3)."""

from typing import Any, Final

from vectors.authoring.cast import (
    AUX,
    BYSTANDER,
    COVE_1,
    DECIDER,
    HOST,
    LEE,
    NORA,
    SCOUT,
    bound,
    row,
    stored,
    wake_data,
)
from vectors.authoring.envelope.gate_data import AGENT, SESSION
from vectors.authoring.host_steps import message, ok, refused, validate, vector, who
from vectors.authoring.kit import Expected, Json

TOOL: Final = {
    "type": "tool-approval",
    "requestId": "req-7",
    "runId": "r-c0c0c0",
    "tool": "Shell",
    "input": {"command": "make"},
    "floor": False,
}
SCOPE: Final = {"type": "scope", "paths": ["docs/plan.md"], "reason": "The plan needs a new page."}
REGISTRATION: Final = {
    "type": "agent-registration",
    "agent": SCOUT,
    "client": "scout-cli",
    "requestedBy": LEE,
}
ACTION: Final = {
    "type": "overseer-action",
    "conversation": "talk-3",
    "actionId": "act-9",
    "summary": "Close two stale items",
}

CHOICES: Final = {
    "wake": ["approve", "deny"],
    "tool-approval": ["approve", "approve-session", "deny"],
    "scope": ["grant", "deny"],
    "agent-registration": ["approve", "deny"],
    "overseer-action": ["confirm", "cancel"],
}


def gate(data: Json, to: str | list[str] = NORA, **changes: Any) -> Json:
    """The input of a gate in the shape its type asks for, except for what is changed."""
    return {
        **message(
            to, "Shall it happen?", "question", blocking=True, choices=CHOICES[data["type"]], data=data
        ),
        **changes,
    }


def without(value: Json, name: str) -> Json:
    return {member: item for member, item in value.items() if member != name}


def bad_data(data: Json, *changes: Json, missing: tuple[str, ...] = ()) -> list[Expected]:
    """Refusals of a gate whose data lacks a member, or has one that is not what its type says."""
    broken = [without(data, name) for name in missing] + [data | change for change in changes]
    return [refused(validate(HOST, gate(each)), "invalid") for each in broken]


def bad_scope(field: str, *inputs: Json) -> list[Expected]:
    return [refused(validate(SESSION, each), "invalid", field) for each in inputs]


def _stored(data: Json, sender: str = "$system") -> Json:
    choices = CHOICES[data["type"]]
    return {
        "store": stored(
            [
                row(
                    "m-gate",
                    sender,
                    NORA,
                    "Shall it happen?",
                    "question",
                    blocking=True,
                    choices=choices,
                    data=data,
                )
            ],
            [bound("d-gate", "m-gate", NORA, "notified")],
        )
    }


def answered(id: str, title: str, data: Json, foreign: str, sender: str = "$system") -> Json:
    """A vector that answers a gate with each of its choices, with another type's, and without authority."""

    def chooses(by: Json, **more: Any) -> Json:
        return validate(by, message(sender, "", "answer", replyTo="m-gate", **more), target="m-gate")

    return vector(
        f"env.profile-answer.{id}",
        title,
        *(ok(chooses(DECIDER, choice=choice)) for choice in CHOICES[data["type"]]),
        refused(chooses(DECIDER, choice=foreign), "invalid", "choice"),
        refused(
            validate(DECIDER, message(sender, "fine", "answer", replyTo="m-gate"), target="m-gate"),
            "invalid",
            "choice",
        ),
        *(
            refused(chooses(by, choice=CHOICES[data["type"]][0]), "forbidden", "replyTo")
            for by in (BYSTANDER, AGENT, SESSION)
        ),
        given=_stored(data, sender),
        profile="dispatch",
        sections=["4.7", "5.4", "C.3"],
    )


def _raised_by_system(id: str, title: str, *inputs: Json) -> Json:
    return vector(
        f"env.profile-gate.{id}",
        title,
        *(
            refused(validate(sender, inputs[0]), "forbidden", "data")
            for sender in (DECIDER, BYSTANDER, AGENT, SESSION, who(AUX))
        ),
        *(ok(validate(HOST, each)) for each in inputs),
        profile="dispatch",
        sections=["5.3", "13.3", "C.3"],
    )


VECTORS: Final = [
    _raised_by_system(
        "tool-approval-is-the-systems-alone",
        "Only the system raises a tool-approval gate, for a session's call or a conversation's, whole or cut",
        gate(TOOL),
        gate({**without(TOOL, "runId"), "conversation": "talk-3"}),
        gate({**TOOL, "input": '{"command":"ma', "truncated": True, "floor": True}),
        gate({**TOOL, "input": [1, "two"]}),
    ),
    vector(
        "env.profile-gate.tool-approval-names-its-call",
        "A tool-approval gate without its request, its tool or the floor's ruling, or with a bad one, is refused",
        *bad_data(
            TOOL,
            {"requestId": 7},
            {"tool": ["Shell"]},
            {"floor": "no"},
            {"runId": 7},
            missing=("requestId", "tool", "floor"),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.profile-gate.tool-approval-previews-8-kib",
        "A tool-approval gate's input is at most 8 KiB of JSON, or of text where it was cut",
        *(
            step
            for preview, cut in (
                (lambda size: {"command": "m" * (size - len('{"command":""}'))}, False),
                (
                    lambda size: {"command": "é" * ((size - len('{"command":""}')) // 2) + "m" * (size % 2)},
                    False,
                ),
                (lambda size: "m" * size, True),
            )
            for step in (
                ok(
                    validate(
                        HOST, gate({**TOOL, "input": preview(8192), **({"truncated": True} if cut else {})})
                    )
                ),
                refused(
                    validate(
                        HOST, gate({**TOOL, "input": preview(8193), **({"truncated": True} if cut else {})})
                    ),
                    "invalid",
                ),
            )
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.profile-gate.the-systems-gates-offer-their-own-choices",
        "A gate of the profile's types that offers another type's choices is refused",
        *(
            refused(validate(HOST, gate(data, choices=choices)), "invalid")
            for data, choices in (
                (TOOL, ["approve", "deny"]),
                (TOOL, ["confirm", "cancel"]),
                (REGISTRATION, ["approve", "approve-session", "deny"]),
                (REGISTRATION, ["grant", "deny"]),
                (ACTION, ["approve", "deny"]),
            )
        ),
        profile="dispatch",
        sections=["5.1", "5.3", "C.3"],
    ),
    _raised_by_system(
        "agent-registration-is-the-systems-alone",
        "Only the system raises an agent-registration gate, with or without the human who asked",
        gate(REGISTRATION),
        gate(without(REGISTRATION, "requestedBy")),
    ),
    vector(
        "env.profile-gate.agent-registration-names-the-agent",
        "An agent-registration gate whose agent is missing or no address, or whose client is missing, is refused",
        *bad_data(
            REGISTRATION,
            {"agent": "scout"},
            {"agent": 7},
            {"client": 7},
            {"requestedBy": "lee"},
            missing=("agent", "client"),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    _raised_by_system(
        "overseer-action-is-the-systems-alone", "Only the system raises an overseer-action gate", gate(ACTION)
    ),
    vector(
        "env.profile-gate.overseer-action-says-what-it-does",
        "An overseer-action gate whose conversation, action or summary is missing or no string is refused",
        *bad_data(
            ACTION,
            {"conversation": 7},
            {"actionId": {"id": "act-9"}},
            {"summary": None},
            missing=("conversation", "actionId", "summary"),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.profile-gate.scope-is-a-sessions-alone",
        "Only a session raises a scope gate, auxiliary or not: neither a human, an agent nor the system does",
        *(
            refused(validate(sender, gate(SCOPE)), "forbidden", "data")
            for sender in (HOST, DECIDER, BYSTANDER, AGENT)
        ),
        ok(validate(SESSION, gate(SCOPE))),
        ok(validate(who(AUX), gate({**SCOPE, "paths": ["a", "docs/plan.md", "src/"]}))),
        profile="dispatch",
        sections=["5.3", "13.3", "C.3"],
    ),
    vector(
        "env.profile-gate.scope-is-a-blocking-question",
        "A scope gate that is a handoff, or does not block, is refused on data",
        *bad_scope(
            "data",
            gate(SCOPE, kind="handoff"),
            gate(SCOPE, blocking=False),
            without(gate(SCOPE), "blocking"),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.profile-gate.scope-offers-grant-then-deny",
        "A scope gate whose choices are missing, turned round, fewer, more or others is refused on data",
        *bad_scope(
            "data",
            without(gate(SCOPE), "choices"),
            *(
                gate(SCOPE, choices=choices)
                for choices in (
                    ["deny", "grant"],
                    ["grant"],
                    ["grant", "deny", "later"],
                    ["approve", "deny"],
                    ["Grant", "Deny"],
                )
            ),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.profile-gate.scope-names-paths",
        "A scope gate's paths are a list of strings, neither it nor any of them empty; else refused on data.paths",
        *bad_scope(
            "data.paths",
            gate(without(SCOPE, "paths")),
            *(
                gate({**SCOPE, "paths": paths})
                for paths in (
                    [],
                    "docs/plan.md",
                    None,
                    {"0": "a"},
                    [""],
                    ["a", ""],
                    ["a", 7],
                    ["a", None],
                    [["a"]],
                )
            ),
        ),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
    vector(
        "env.profile-gate.scope-gives-a-reason",
        "A scope gate's reason is a string that is not blank; else it is refused on data.reason",
        *bad_scope(
            "data.reason",
            gate(without(SCOPE, "reason")),
            *(
                gate({**SCOPE, "reason": reason})
                for reason in ("", " \t\n", "\u00a0\u2003\ufeff", 7, None, ["why"])
            ),
        ),
        ok(validate(SESSION, gate({**SCOPE, "reason": "\u0085"}))),
        profile="dispatch",
        sections=["1.4", "5.3", "C.3"],
    ),
    answered(
        "tool-approval-takes-one-of-three",
        "A tool-approval gate is answered with approve, approve-session or deny, by a deciding principal alone",
        TOOL,
        "grant",
    ),
    answered(
        "scope-takes-grant-or-deny",
        "A scope gate is answered with grant or deny, by a deciding principal and never by the session that raised it",
        SCOPE,
        "approve",
        COVE_1,
    ),
    answered(
        "agent-registration-takes-approve-or-deny",
        "An agent-registration gate is answered with approve or deny, by a deciding principal alone",
        REGISTRATION,
        "approve-session",
    ),
    answered(
        "overseer-action-takes-confirm-or-cancel",
        "An overseer-action gate is answered with confirm or cancel, by a deciding principal alone",
        ACTION,
        "approve",
    ),
    vector(
        "env.profile-gate.a-stored-scope-gate-is-one-from-anybody",
        "A stored scope gate is decide-only whoever sent it, since the profile knows its type",
        refused(
            validate(
                BYSTANDER, message(SCOUT, "", "answer", replyTo="m-gate", choice="grant"), target="m-gate"
            ),
            "forbidden",
            "replyTo",
        ),
        given=_stored(SCOPE, SCOUT),
        profile="dispatch",
        sections=["5.1", "5.4", "C.3"],
    ),
    vector(
        "env.profile-gate.the-profiles-types-do-not-travel-on-notices",
        "Gate data of the profile's types is refused on data.type on a message or a notice, even from who may raise it",
        *(
            refused(validate(HOST, message(NORA, "fyi", kind, data=data)), "invalid", "data.type")
            for kind in ("message", "notice")
            for data in (TOOL, REGISTRATION, ACTION, wake_data())
        ),
        refused(validate(SESSION, message(NORA, "fyi", "notice", data=SCOPE)), "invalid", "data.type"),
        profile="dispatch",
        sections=["5.3", "C.3"],
    ),
]
