"""What is stored of an input, ids and times included (sections 1.4, 4.1 to 4.4)."""

from typing import Any, Final

from vectors.authoring.cast import HOUR_MS, item
from vectors.authoring.envelope.lines import BREAKS, NO_BREAKS
from vectors.authoring.host_core.worlds import (
    AS_MEI,
    AS_PRUNE_1,
    AS_SHED,
    AS_TOMAS,
    KILN,
    MEI,
    PICK,
    PICK_1,
    PRUNE,
    PRUNE_1,
    SHED,
    TOMAS,
    WEIGH,
    agent,
    orchard,
)
from vectors.authoring.host_steps import delivery, message, ok, reply, send, vector, world

_EVERY_MEMBER: Final = message(
    [TOMAS, PICK, KILN],
    "Which row?\n\n- the **north** one\n- the south one \u2028 and its hedge\t\U0001f351",
    "question",
    refs=[
        {"type": "file", "id": "plans/west.csv", "at": "8f2c01d"},
        {"type": "task", "id": "t-00b002"},
        {"type": "file", "id": "plans/west.csv", "at": "8f2c01d"},
    ],
    data={"type": "x-rows", "n": [1, 2.5, None, True, {"\u00e9": "\u2029"}], "empty": {}},
    urgent=True,
    blocking=True,
    choices=["north", "South", " both "],
    session="shed 2 \u2013 west",
    wake="none",
    replyTo=None,
)

_TEXT: Final = "".join(f"row{text}" for text, _ in BREAKS.values()) + NO_BREAKS

_EMPTY: Final[tuple[Any, ...]] = (None, False, [], 0, "")

VECTORS: Final = [
    vector(
        "core.stored.a-bare-input-gets-every-default",
        "A message of three members is stored with its id as its thread, its sender, its time and every default",
        ok(send(AS_MEI, message(TOMAS, "The plums are in.")), message="$s1", downgraded=False),
        given=orchard(clock="2027-02-28T23:59:59.007Z"),
        sections=("1.4", "4.1"),
        messages=[
            {
                "id": "$s1",
                "thread": "$s1",
                "replyTo": None,
                "from": MEI,
                "to": [TOMAS],
                "kind": "message",
                "body": "The plums are in.",
                "refs": [],
                "urgent": False,
                "blocking": False,
                "wake": "none",
                "createdAt": "2027-02-28T23:59:59.007Z",
            }
        ],
        noOtherMessages=True,
        deliveries=[delivery("$s1", TOMAS, "notified", via="direct", session=None)],
        calls=[
            {"hook": "published", "message": "$s1"},
            {"hook": "notifyHuman", "actor": TOMAS, "message": "$s1"},
        ],
    ),
    vector(
        "core.stored.every-member-is-kept-as-written",
        "Every member of an input is stored as the sender wrote it: order, spaces, repetitions and nulls within data",
        ok(send(AS_SHED, _EVERY_MEMBER), downgraded=False),
        given=orchard(item(PICK), agents=[agent(SHED)]),
        sections=("4.1", "4.3"),
        messages=[{"id": "$s1", "thread": "$s1", "from": SHED, **_EVERY_MEMBER}],
    ),
    vector(
        "core.stored.text-is-kept-to-the-character",
        "A body keeps every line break and control character, and white space at both ends",
        ok(send(AS_MEI, message(TOMAS, f" \n{_TEXT}\r\n\t "))),
        given=orchard(),
        sections=("1.4", "4.1"),
        messages=[{"id": "$s1", "body": f" \n{_TEXT}\r\n\t "}],
    ),
    vector(
        "core.stored.null-data-is-data",
        "Data may be null, false or an empty list, and is stored so",
        *(ok(send(AS_MEI, message(TOMAS, "See there.", data=data))) for data in _EMPTY),
        given=orchard(),
        sections=("4.1",),
        messages=[{"id": f"$s{number}", "data": data} for number, data in enumerate(_EMPTY, 1)],
    ),
    vector(
        "core.stored.a-private-kind-is-mail",
        "A message of a private kind is stored, delivered and replied to as a message is",
        ok(
            send(
                AS_MEI, message([TOMAS, PICK, WEIGH], "Row 7: 12 crates.", "x-row-count", data={"crates": 12})
            )
        ),
        ok(reply(AS_TOMAS, "$s1", "Thank you.")),
        ok({"op": "openBlocking"}, messages=[]),
        given=orchard(item(PICK, PICK_1), item(WEIGH)),
        sections=("4.2", "4.6"),
        messages=[
            {"id": "$s1", "kind": "x-row-count", "data": {"crates": 12}},
            {"id": "$s2", "kind": "message", "replyTo": "$s1", "to": [MEI]},
        ],
        deliveries=[
            delivery("$s1", TOMAS, "notified"),
            delivery("$s1", PICK, "pushed", session=PICK_1),
            delivery("$s1", WEIGH, "held"),
            delivery("$s2", MEI, "notified"),
        ],
    ),
    vector(
        "core.stored.a-notice-is-mail-that-nobody-answers",
        "A notice is delivered as a message is, and a reply to it is a message",
        ok(send(AS_MEI, message([TOMAS, PICK], "Rain at noon.", "notice"))),
        ok(reply(AS_TOMAS, "$s1", "Thank you.")),
        given=orchard(item(PICK, PICK_1)),
        sections=("4.2", "4.6"),
        messages=[{"id": "$s1", "kind": "notice"}, {"id": "$s2", "kind": "message", "replyTo": "$s1"}],
        deliveries=[
            delivery("$s1", TOMAS, "notified"),
            delivery("$s1", PICK, "pushed", session=PICK_1),
            delivery("$s2", MEI, "notified"),
        ],
    ),
    vector(
        "core.stored.a-received-ref-is-kept",
        "A ref of an unknown type that arrived from another host is stored as it came, beside known ones",
        ok(
            send(
                AS_MEI,
                message(
                    TOMAS,
                    "See the orchard book.",
                    refs=[
                        {"type": "orchard.book", "id": "page 7 @ west", "at": "s2"},
                        {"type": "file", "id": "rows.csv"},
                    ],
                ),
                received=True,
            )
        ),
        given=orchard(),
        sections=("4.4",),
        messages=[
            {
                "id": "$s1",
                "refs": [
                    {"type": "orchard.book", "id": "page 7 @ west", "at": "s2"},
                    {"type": "file", "id": "rows.csv"},
                ],
            }
        ],
    ),
    vector(
        "core.stored.an-unknown-ref-stores-nothing",
        "A local send with a ref of an unknown type is refused and leaves no message",
        *(
            (step, {"ok": False, "error": {"code": "invalid", "field": "refs[0].type"}})
            for step in (
                send(AS_MEI, message(TOMAS, "See it.", refs=[{"type": "orchard.book", "id": "page 7"}])),
                send(AS_PRUNE_1, message(TOMAS, "See it.", refs=[{"type": "orchard.book", "id": "page 7"}])),
            )
        ),
        given=orchard(item(PRUNE, PRUNE_1)),
        sections=("4.3", "4.5"),
        noOtherMessages=True,
    ),
    vector(
        "core.stored.ids-rise-within-a-millisecond",
        "Messages of one millisecond have ids in the order they were made, and one time",
        *(
            ok(send(AS_MEI, message(TOMAS, f"Row {number}.")), message=f"$s{number}")
            for number in range(1, 9)
        ),
        given=orchard(clock="2027-03-01T06:00:00.000Z"),
        sections=("1.4", "4.1"),
        messages=[{"id": f"$s{number}", "createdAt": "2027-03-01T06:00:00.000Z"} for number in range(1, 9)],
    ),
    vector(
        "core.stored.ids-rise-while-the-clock-steps-back",
        "When the clock steps back an hour, and a second more, later messages have later ids and their own times",
        ok(send(AS_MEI, message(TOMAS, "Row 1."))),
        world(advanceMs=-HOUR_MS),
        ok(send(AS_MEI, message(TOMAS, "Row 2."))),
        world(advanceMs=-1000),
        ok(send(AS_TOMAS, message(MEI, "Row 3.", replyTo="$s1"))),
        world(advanceMs=HOUR_MS + 2000),
        ok(send(AS_MEI, message(TOMAS, "Row 4.", replyTo="$s1"))),
        given=orchard(clock="2027-03-01T06:00:00.000Z"),
        sections=("1.4", "4.1"),
        messages=[
            {"id": "$s1", "createdAt": "2027-03-01T06:00:00.000Z"},
            {"id": "$s3", "createdAt": "2027-03-01T05:00:00.000Z"},
            {"id": "$s5", "createdAt": "2027-03-01T04:59:59.000Z"},
            {"id": "$s7", "createdAt": "2027-03-01T06:00:01.000Z"},
        ],
    ),
    vector(
        "core.stored.ids-rise-after-an-answer-and-a-close",
        "Answers and closes take their place in the order of ids, while the clock stands behind the last one",
        ok(send(AS_MEI, message(TOMAS, "Which row?", "question"))),
        ok(send(AS_MEI, message(TOMAS, "And when?", "question"))),
        world(advanceMs=-60_000),
        ok(reply(AS_TOMAS, "$s1", "The north one.")),
        ok({"op": "close", "question": "$s2", "reason": "it rains"}),
        given=orchard(),
        sections=("1.4", "4.8"),
        messages=[
            {"id": "$s1"},
            {"id": "$s2"},
            {"id": "$s4", "kind": "answer"},
            {"id": "$s5", "kind": "answer"},
        ],
    ),
]
