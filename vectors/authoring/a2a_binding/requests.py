"""What a client may ask of a host's work: each member of work/v1 and each of its limits (section 8.6)."""

from typing import Any, Final

from vectors.authoring.a2a_binding.parts import reads
from vectors.authoring.host_steps import ok, refused, vector
from vectors.authoring.kit import Expected, Json

_EURO: Final = "\u20ac"


def _work(raw: Any) -> Json:
    return reads(raw, "work")


def _handoff(**members: Any) -> Json:
    return _work({"skill": "handoff", "title": "Map the west field", **members})


def _invalid(field: str, *steps: Json) -> list[Expected]:
    return [refused(step, "invalid", field) for step in steps]


VECTORS: Final = [
    vector(
        "a2a.work.a-handoff-at-its-limits-is-read",
        "A handoff whose every member is as long as it may be is read, and so is one of a title alone",
        ok(
            _work(
                {
                    "skill": "handoff",
                    "title": _EURO * 66 + "ab",
                    "acceptance": ["a" * 500, *("The rows meet." for _ in range(19))],
                    "writes": [
                        "w" * 512,
                        "plans/**/*.csv",
                        "a..b/...",
                        ".github",
                        *("rows" for _ in range(46)),
                    ],
                    "priority": "urgent",
                    "labels": [_EURO * 16 + "ab", *(f"l{number}" for number in range(9))],
                }
            )
        ),
        ok(_handoff()),
        *(ok(_handoff(priority=each)) for each in ("urgent", "high", "medium", "low", "none")),
        ok(_handoff(acceptance=[], writes=[], labels=[], moon="new")),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.status-asks-of-one-task-or-of-all",
        "A status request names a task or none; the task is a string",
        ok(_work({"skill": "status"})),
        ok(_work({"skill": "status", "task": "m-1"})),
        *_invalid("work.task", *(_work({"skill": "status", "task": task}) for task in (7, ["m-1"], "m\n1"))),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.nothing-asks",
        "A message without work/v1 asks",
        ok(_work(None)),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.a-request-is-an-object",
        "A request that is no object is invalid on work",
        *_invalid("work", *(_work(raw) for raw in ("status", ["handoff"], 3, True))),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.a-skill-is-one-of-two",
        "A request has a skill, which is handoff or status",
        *_invalid(
            "work.skill",
            *(_work({"skill": skill, "title": "x"}) for skill in ("ask", "Handoff", "", 1, None)),
        ),
        *_invalid("work.skill", _work({}), _work({"title": "Map the west field"})),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.a-title-is-one-line-that-says-something",
        "A handoff has a title of one line and at most 200 bytes that is not blank",
        *_invalid("work.title", _work({"skill": "handoff"})),
        *_invalid(
            "work.title",
            *(
                _work({"skill": "handoff", "title": title})
                for title in ("", " \t\u00a0\ufeff", "a\nb", "a\u2028b", "t" * 201, _EURO * 67, 5, None)
            ),
        ),
        sections=("8.6", "1.4"),
    ),
    vector(
        "a2a.work.acceptance-is-at-most-20-lines",
        "A handoff has at most 20 criteria, each one line of at most 500 bytes",
        *_invalid("work.acceptance", _handoff(acceptance=["a"] * 21), _handoff(acceptance="a")),
        *_invalid(
            "work.acceptance[1]",
            *(_handoff(acceptance=["a", each]) for each in ("a" * 501, _EURO * 167, "a\nb", "a\u0085b", 4)),
        ),
        sections=("8.6", "1.4"),
    ),
    vector(
        "a2a.work.writes-are-at-most-50",
        "A handoff has at most 50 writes, each a string of at most 512 bytes",
        *_invalid("work.writes", _handoff(writes=["w"] * 51), _handoff(writes={"0": "w"})),
        *_invalid(
            "work.writes[1]", *(_handoff(writes=["w", each]) for each in ("w" * 513, _EURO * 171, None))
        ),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.writes-stay-in-the-repository",
        "A write that is absolute, names a drive, holds a backslash or steps up is refused",
        *_invalid(
            "work.writes[1]",
            *(
                _handoff(writes=["plans", each])
                for each in (
                    "/etc/rows",
                    "C:rows",
                    "c:/rows",
                    "plans\\rows",
                    "..",
                    "../rows",
                    "plans/../../rows",
                    "plans/..",
                )
            ),
        ),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.a-priority-is-one-of-five",
        "A priority that is none of the five is invalid",
        *_invalid("work.priority", *(_handoff(priority=each) for each in ("highest", "High", "", 1, None))),
        sections=("8.6",),
    ),
    vector(
        "a2a.work.labels-are-at-most-10",
        "A handoff has at most 10 labels, each a string of at most 50 bytes",
        *_invalid("work.labels", _handoff(labels=["l"] * 11), _handoff(labels="l")),
        *_invalid("work.labels[1]", *(_handoff(labels=["l", each]) for each in ("l" * 51, _EURO * 17, 9))),
        sections=("8.6",),
    ),
]
