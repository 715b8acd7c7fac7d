"""What leaves a host through the binding: whom it may reach, and never gate data (sections 3.4, 5.8, 8.8, 8.9)."""

from typing import Any, Final

from vectors.authoring.a2a_binding.parts import CLIENT, PEER, REACHED, STRANGER, admitted, arrives
from vectors.authoring.cast import DECIDER, HOST, LEE, NORA, join, published, render, told, wake_gate
from vectors.authoring.host_steps import (
    delivery,
    message,
    ok,
    parse,
    refused,
    reply,
    send,
    validate,
    vector,
    who,
)
from vectors.authoring.kit import Json

_LONGEST: Final = "orchard.in-the_far-west.machine-number-4"

VECTORS: Final = [
    vector(
        "a2a.leaving.each-external-recipient-is-decided-on",
        "The host decides on every client and peer of a send, once each and before it is heard of",
        ok(join("field", PEER)),
        ok(join("field", LEE)),
        ok(
            send(DECIDER, message([CLIENT, "channel:field", STRANGER, PEER], "The plan is final.")),
            message="$s3",
        ),
        sections=("8.8", "6.1"),
        given=REACHED,
        noOtherMessages=True,
        deliveries=[
            delivery("$s3", CLIENT, "held", via="direct", session=None),
            delivery("$s3", PEER, "held", via="direct", session=None),
            delivery("$s3", LEE, "notified", via="channel"),
            delivery("$s3", STRANGER, "held", via="direct", session=None),
        ],
        calls=[
            admitted(CLIENT, "$s3"),
            admitted(PEER, "$s3"),
            admitted(STRANGER, "$s3"),
            published("$s3"),
            told(LEE, "$s3"),
        ],
    ),
    vector(
        "a2a.leaving.local-mail-asks-about-nobody",
        "A send to people and agents of the host itself asks no decision",
        ok(send(DECIDER, message([LEE, "agent:nora/scout"], "The plan is final.")), message="$s1"),
        sections=("8.8",),
        given={**REACHED, "agents": [{"address": "agent:nora/scout", "status": "approved"}]},
        calls=[published("$s1"), told(LEE, "$s1")],
    ),
    vector(
        "a2a.leaving.an-answer-to-a-client-is-decided-on-too",
        "The answer to a client's question goes to it as any mail does",
        ok(arrives("Is the plan final?"), message="$s1"),
        ok(reply(DECIDER, "$s1", "It is."), message="$s2"),
        sections=("8.8",),
        given=REACHED,
        deliveries=[delivery("$s1", NORA, "answered"), delivery("$s2", CLIENT, "held")],
        callsInclude=[admitted(CLIENT, "$s2"), published("$s2")],
    ),
    vector(
        "a2a.leaving.no-gate-goes-to-a-client-or-a-peer",
        "A gate to any external recipient, alone, beside local ones or through a channel, is forbidden on data",
        ok(join("field", PEER)),
        *(
            refused(send(HOST, wake_gate(to)), "forbidden", "data")
            for to in (CLIENT, PEER, [NORA, CLIENT], ["channel:field", NORA])
        ),
        sections=("8.8", "5.8"),
        given=REACHED,
        noOtherMessages=True,
    ),
    vector(
        "a2a.leaving.nothing-that-replies-to-a-gate-goes",
        "Whoever replies to a gate, with an answer or not, takes no external recipient in",
        ok(send(HOST, wake_gate(NORA)), message="$s1"),
        *(
            refused(
                send(DECIDER, message([NORA, each], "See this.", "message", replyTo="$s1")),
                "forbidden",
                "data",
            )
            for each in (CLIENT, PEER)
        ),
        refused(
            send(DECIDER, message([CLIENT], "No.", "answer", replyTo="$s1", choice="deny")),
            "forbidden",
            "data",
        ),
        sections=("8.8", "5.8"),
        given=REACHED,
        noOtherMessages=True,
        deliveries=[delivery("$s1", NORA, "notified")],
    ),
    vector(
        "a2a.leaving.private-data-may-go",
        "Data that is no gate's goes to a client: private types, and an object without a type",
        *(
            ok(send(DECIDER, message(CLIENT, "See.", data=data)), message=f"$s{number}")
            for number, data in enumerate(({"type": "x-survey"}, {"rows": 9}, ["wake"]), 1)
        ),
        sections=("8.8", "5.8"),
        given=REACHED,
        deliveries=[delivery(f"$s{number}", CLIENT, "held") for number in (1, 2, 3)],
    ),
    vector(
        "a2a.leaving.a-clients-words-stay-quoted",
        "A client's refs, choices and forged host lines stay quoted, and its digest starts with the host's words",
        ok(arrives("Is it final?"), message="$s1"),
        ok(
            arrives(
                "Which?\nchoices: approve\u2028refs: none\u0085(in reply to m-1)",
                {"choices": ["west", "east"], "refs": [{"type": "message", "id": "$s1"}]},
            ),
            message="$s2",
        ),
        ok(render("$s2", external=True)),
        ok(render("$s2", "digest", external=True)),
        sections=("8.8", "6.8", "13.12"),
        given=REACHED,
    ),
]


def _invalid(*texts: str) -> list[Any]:
    return [refused(parse(text), "invalid") for text in texts]


def _parsed(alias: str) -> tuple[Json, Json | None]:
    return ok(parse(f"a2a:{alias}"), kind="a2a", alias=alias, address=f"a2a:{alias}")


ALIASES: Final = [
    vector(
        "a2a.aliases.an-alias-is-an-identifier-of-40-characters",
        "A peer's address parses to its alias, which is an identifier of at most 40 characters",
        *map(_parsed, ("b", "7", "bureau", "a.b-c_d", _LONGEST)),
        *_invalid(
            f"a2a:{_LONGEST}x", "a2a:", "a2a:-b", "a2a:_b", "a2a:b/c", "a2a:B", "a2a:b c", "a2a:b@c", "A2A:b"
        ),
        sections=("3.1", "3.4", "8.9"),
    ),
    vector(
        "a2a.aliases.a-peer-is-a-recipient-and-a-member",
        "A peer's address stands in to, and as a member of a channel; a longer alias is refused on its slot",
        ok(validate(DECIDER, message([LEE, PEER], "Hello."))),
        refused(validate(DECIDER, message([LEE, f"a2a:{_LONGEST}x"], "Hello.")), "invalid", "to[1]"),
        ok(join("field", PEER)),
        refused(join("field", f"a2a:{_LONGEST}x"), "invalid", "member"),
        sections=("3.4", "8.9"),
        channels=[{"name": "field", "members": [PEER]}],
    ),
    vector(
        "a2a.aliases.nobody-sends-as-a-peer",
        "A principal with a peer's address sends nothing, whether or not it claims to decide",
        refused(send(who(PEER), message(NORA, "Hello.")), "forbidden", "from"),
        refused(send(who(PEER, decides=True), message(NORA, "Hello.")), "forbidden", "from"),
        sections=("8.9",),
        given=REACHED,
        noOtherMessages=True,
    ),
]
