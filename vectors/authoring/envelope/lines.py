"""What one line is, and what is blank (section 1.4), in every member those rules are for."""

from typing import Final

from vectors.authoring.envelope.inputs import MEI, TOMAS, seeded
from vectors.authoring.host_steps import message, ok, refused, validate, vector
from vectors.authoring.kit import Expected, Json

BREAKS: Final = {
    "crlf": ("\r\n", "CR LF"),
    "lf": ("\n", "LF"),
    "cr": ("\r", "CR"),
    "vt": ("\x0b", "VT"),
    "ff": ("\x0c", "FF"),
    "nel": ("\x85", "NEL"),
    "line-separator": ("\u2028", "LINE SEPARATOR"),
    "paragraph-separator": ("\u2029", "PARAGRAPH SEPARATOR"),
}

NO_BREAKS: Final = "\t\x00\x08\x0e\x1b\x1c\x1d\x1e\x1f\x7f\x84\x86\u00a0\u200b\u2027\u202a\ufeff"
"""Characters that break no line, some of which other definitions of a line break at."""

TRIMMED: Final = (
    *"\t\n\x0b\x0c\r \u00a0\u1680",
    *(chr(code) for code in range(0x2000, 0x200B)),
    *"\u2028\u2029\u202f\u205f\u3000\ufeff",
)
"""The characters that a blank text may consist of: those of ECMAScript's trim."""

KEPT: Final = "\x00\x08\x0e\x1c\x1d\x1e\x1f\x85\u180e\u200b\u200c\u2060\u2800"
"""Characters that look like nothing, and that no blank text holds."""


def _input(**members: object) -> Json:
    return validate(MEI, message("human:tomas", "The plums are in.") | members)


def _asks(*choices: str) -> Json:
    return validate(MEI, message("human:tomas", "Which row?", "question", choices=list(choices)))


def _chooses(choice: str, target: str) -> Json:
    given = message("human:mei", "", "answer", replyTo=target, choice=choice)
    return validate(TOMAS, given, target=target)


def _everywhere(text: str, target: str) -> dict[str, Json]:
    """A step for each member that holds one line, by the field an error names."""
    return {
        "session": _input(session=text),
        "idempotencyKey": _input(idempotencyKey=text),
        "refs[0].id": _input(refs=[{"type": "file", "id": text}]),
        "refs[1].at": _input(
            refs=[{"type": "commit", "id": "0c0ffee"}, {"type": "file", "id": "rows.csv", "at": text}]
        ),
        "choices[1]": _asks("north", text),
        "choice": _chooses(text, target),
    }


def _breaks(text: str) -> list[Expected]:
    """A line break at the start, within and at the end of the text, in each of those members."""
    return [
        refused(step, "invalid", field)
        for line in _broken(text)
        for field, step in _everywhere(line, "m-choice").items()
    ]


def _broken(text: str) -> list[str]:
    return [f"{text}row 7", f"row{text}7", f"row 7{text}"]


VECTORS: Final = [
    *(
        vector(
            f"env.lines.{name}-breaks-a-line",
            f"{spelled} is refused at the start, within and at the end of every member that holds one line",
            *_breaks(text),
            given={"store": {"messages": [seeded("m-choice", "question", choices=_broken(text))]}},
            sections=("1.4", "4.3", "4.5"),
        )
        for name, (text, spelled) in BREAKS.items()
    ),
    vector(
        "env.lines.nothing-else-breaks-a-line",
        "Tabs, other control characters and invisible ones are allowed in every member that holds one line",
        *(ok(step) for step in _everywhere(f"row{NO_BREAKS}7", "m-choice").values()),
        given={"store": {"messages": [seeded("m-choice", "question", choices=["6", f"row{NO_BREAKS}7"])]}},
        sections=("1.4", "4.3", "4.5"),
    ),
    vector(
        "env.lines.a-body-has-as-many-lines-as-it-likes",
        "A body may hold every line break, and every other control character",
        ok(_input(body="".join(f"row{text}" for text, _ in BREAKS.values()) + NO_BREAKS)),
        ok(_input(body=f"{chr(10) * 1000}.")),
        sections=("1.4", "4.5"),
    ),
    vector(
        "env.lines.data-may-hold-line-breaks",
        "Strings and names within data may hold every line break",
        *(ok(_input(data={"type": "x-rows", f"a{text}b": f"c{text}d"})) for text, _ in BREAKS.values()),
        sections=("1.4", "4.5"),
    ),
    vector(
        "env.lines.an-empty-body-is-blank",
        "An empty body is refused on body, whatever the kind",
        *(
            refused(_input(body="", kind=kind), "invalid", "body")
            for kind in ("message", "question", "handoff")
        ),
        *(refused(_input(body="", kind=kind), "invalid", "body") for kind in ("notice", "x-row")),
        sections=("1.4", "4.5"),
    ),
    vector(
        "env.lines.white-space-alone-is-blank",
        "A body of each of the characters that trimming removes, and one of all of them, is blank",
        *(refused(_input(body=character), "invalid", "body") for character in TRIMMED),
        refused(_input(body="".join(TRIMMED) * 2), "invalid", "body"),
        sections=("1.4", "4.5"),
    ),
    vector(
        "env.lines.only-what-trimming-removes-is-blank",
        "NEL, zero-width characters and control characters are no white space: a body of one is not blank",
        *(ok(_input(body=character)) for character in KEPT),
        ok(_input(body=f" \n{KEPT[0]}\n ")),
        sections=("1.4", "4.5"),
    ),
    vector(
        "env.lines.an-answer-that-chooses-may-be-blank",
        "A blank body is valid on an answer that makes a choice, and on no other answer",
        ok(_chooses("row 7", "m-choice")),
        ok(
            validate(
                TOMAS,
                message("human:mei", " \n\u3000", "answer", replyTo="m-choice", choice="row 7"),
                target="m-choice",
            )
        ),
        refused(
            validate(TOMAS, message("human:mei", "", "answer", replyTo="m-choice"), target="m-choice"),
            "invalid",
            "body",
        ),
        refused(
            validate(TOMAS, message("human:mei", " \t", "answer", replyTo="m-plain"), target="m-plain"),
            "invalid",
            "body",
        ),
        given={
            "store": {
                "messages": [
                    seeded("m-choice", "question", choices=["row 6", "row 7"]),
                    seeded("m-plain", "question"),
                ]
            }
        },
        sections=("1.4", "4.5", "4.7"),
    ),
]
