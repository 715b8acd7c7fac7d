"""Limits at the last value that is valid and the first that is not, counted in bytes (sections 1.4, 4.3, 4.5)."""

from collections.abc import Iterator
from typing import Final

from vectors.authoring.envelope.inputs import MEI, TOMAS, seeded
from vectors.authoring.host_steps import message, ok, refused, validate, vector
from vectors.authoring.kit import Expected, Json

KIB_64: Final = 64 * 1024

PLUM: Final = "\U0001f351"
"""Four bytes, two UTF-16 units and one code point."""


def texts(limit: int) -> Iterator[tuple[str, str]]:
    """Texts of exactly `limit` bytes and one byte more, in characters of one to four bytes each.

    The longer ones of two, three and four bytes are within the limit when characters are counted, and each
    pair has a character that straddles the limit.
    """
    for character in ("p", "\u00e9", "\u20ac", PLUM):
        size = len(character.encode())
        many, rest = divmod(limit, size)
        yield "p" * rest + character * many, "p" * (rest + 1) + character * many


def _input(**members: object) -> Json:
    return validate(MEI, message("human:tomas", "The plums are in.") | members)


def _asks(*choices: str) -> Json:
    return validate(MEI, message("human:tomas", "Which row?", "question", choices=list(choices)))


def _chooses(choice: str) -> Json:
    given = message("human:mei", "That one.", "answer", replyTo="m-choice", choice=choice)
    return validate(TOMAS, given, target="m-choice")


def _member(name: str, limit: int) -> list[Expected]:
    steps: list[Expected] = []
    for longest, over in texts(limit):
        steps += [ok(_input(**{name: longest})), refused(_input(**{name: over}), "invalid", name)]
    return steps


def _ref(name: str) -> list[Expected]:
    steps: list[Expected] = []
    for longest, over in texts(512):
        for text, field in ((longest, None), (over, f"refs[1].{name}")):
            step = _input(
                refs=[{"type": "task", "id": "t-0c0ffee"}, {"type": "file", "id": "rows.csv", name: text}]
            )
            steps.append(ok(step) if field is None else refused(step, "invalid", field))
    return steps


def _data(size: int) -> Json:
    """Data whose canonical form has that many bytes, and whose usual spellings have more or fewer.

    Written out, 1.0 and 1e21 are other lengths than `1` and `1e+21`; escapes, accents and spaces differ too.
    """
    numbers = [1.0, 100.0, 1e21, 1e-7, 123456789012345680000.0, 0.000001, -0.0, 4.50]
    canonical = (1, 3, 5, 4, 21, 8, 1, 3)
    data = {
        "type": "x-rows",
        "text": '"\\/\b\f\n\r\t\x01\x7f\u2028\u00e9\u20ac' + PLUM,
        "numbers": numbers,
        "\u20ac": {"b": [True, False, None], "a": ""},
    }
    text_size = len('"') + 4 + 1 + 10 + 6 + 1 + 3 + 2 + 3 + 4 + len('"')
    numbers_size = len("[]") + sum(canonical) + len(canonical) - 1
    nested = len('{"a":"","b":[true,false,null]}')
    so_far = len('{"type":"x-rows","text":,"numbers":,"":,"pad":""}') + text_size + numbers_size + 3 + nested
    return {**data, "pad": "p" * (size - so_far)}


QUESTION: Final = {
    "store": {
        "messages": [
            seeded("m-choice", "question", choices=[text for pair in texts(200) for text in pair]),
        ]
    }
}

VECTORS: Final = [
    vector(
        "env.limits.a-send-has-1-to-50-recipients",
        "Fifty recipients are valid; none, and fifty-one, are refused on to, even when they repeat one address",
        ok(_input(to=[f"human:picker-{number}" for number in range(50)])),
        ok(_input(to=["human:tomas"] * 50)),
        refused(_input(to=[]), "invalid", "to"),
        refused(_input(to=[f"human:picker-{number}" for number in range(51)]), "invalid", "to"),
        refused(_input(to=["human:tomas"] * 51), "invalid", "to"),
        sections=("4.5", "13.13"),
        structural=True,
    ),
    vector(
        "env.limits.a-message-has-at-most-50-refs",
        "A message may be about fifty things, and one about fifty-one is refused on refs",
        ok(_input(refs=[{"type": "file", "id": f"row-{number}.csv"} for number in range(50)])),
        refused(
            _input(refs=[{"type": "file", "id": f"row-{number}.csv"} for number in range(51)]),
            "invalid",
            "refs",
        ),
        sections=("4.5", "13.13"),
        structural=True,
    ),
    vector(
        "env.limits.a-question-offers-at-most-20-choices",
        "One choice and twenty are valid; twenty-one are refused on choices",
        ok(_asks("north")),
        ok(_asks(*(f"row {number}" for number in range(20)))),
        refused(_asks(*(f"row {number}" for number in range(21))), "invalid", "choices"),
        sections=("4.5", "13.13"),
        structural=True,
    ),
    vector(
        "env.limits.a-session-is-200-bytes",
        "A session of 200 bytes is valid and one of 201 is refused, whatever their characters take",
        *_member("session", 200),
        sections=("1.4", "4.5", "13.13"),
    ),
    vector(
        "env.limits.a-key-is-200-bytes",
        "An idempotency key of 200 bytes is valid and one of 201 is refused, whatever their characters take",
        *_member("idempotencyKey", 200),
        sections=("1.4", "4.5", "4.9", "13.13"),
    ),
    vector(
        "env.limits.an-offered-choice-is-200-bytes",
        "A choice of 200 bytes may be offered and one of 201 is refused on its entry",
        *(
            step
            for longest, over in texts(200)
            for step in (
                ok(_asks("north", longest)),
                refused(_asks("north", "south", over), "invalid", "choices[2]"),
            )
        ),
        sections=("1.4", "4.5", "10.2", "13.13"),
    ),
    vector(
        "env.limits.a-made-choice-is-200-bytes",
        "An answer may choose 200 bytes and not 201, even where a stored question offers them",
        *(
            step
            for longest, over in texts(200)
            for step in (ok(_chooses(longest)), refused(_chooses(over), "invalid", "choice"))
        ),
        given=QUESTION,
        sections=("1.4", "4.5", "13.13"),
    ),
    vector(
        "env.limits.a-ref-id-is-512-bytes",
        "A ref id of 512 bytes is valid and one of 513 is refused on its entry",
        *_ref("id"),
        sections=("1.4", "4.3", "4.5", "13.13"),
    ),
    vector(
        "env.limits.a-ref-at-is-512-bytes",
        "A ref at of 512 bytes is valid and one of 513 is refused on its entry",
        *_ref("at"),
        sections=("1.4", "4.3", "4.5", "13.13"),
    ),
    vector(
        "env.limits.a-body-is-64-kib-of-ascii",
        "A body of 65536 ASCII characters is valid and one of 65537 is refused",
        ok(_input(body="p" * KIB_64)),
        refused(_input(body="p" * (KIB_64 + 1)), "invalid", "body"),
        sections=("1.4", "4.5", "13.13"),
    ),
    vector(
        "env.limits.a-body-is-counted-in-bytes",
        "A body of 64 KiB in characters of four bytes is valid; a byte more is refused, few as the characters are",
        ok(_input(body=PLUM * (KIB_64 // 4))),
        refused(_input(body="p" + PLUM * (KIB_64 // 4)), "invalid", "body"),
        sections=("1.4", "4.5", "13.13"),
    ),
    vector(
        "env.limits.data-is-counted-in-canonical-form",
        "Data of 64 KiB in canonical form is valid and a byte more is refused, however its text is written",
        ok(_input(data=_data(KIB_64))),
        refused(_input(data=_data(KIB_64 + 1)), "invalid", "data"),
        sections=("1.4", "4.5", "13.13"),
    ),
    vector(
        "env.limits.data-that-is-a-string-counts-its-quotes",
        "Data that is one string has its two quotes and its escapes counted",
        ok(_input(data="p" * (KIB_64 - 2))),
        refused(_input(data="p" * (KIB_64 - 1)), "invalid", "data"),
        ok(_input(data="\n" * (KIB_64 // 2 - 1))),
        refused(_input(data="\n" * (KIB_64 // 2 - 1) + "p"), "invalid", "data"),
        sections=("1.4", "4.5", "13.13"),
    ),
]
