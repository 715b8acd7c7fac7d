"""The grammar and the limits of addresses (sections 1.4, 3.1 to 3.4)."""

from typing import Final

from vectors.authoring.host_steps import message, ok, parse, refused, validate, vector, who
from vectors.authoring.kit import Expected, Json

MEI: Final = who("human:mei")


def _refused(*texts: str) -> list[Expected]:
    return [refused(parse(text), "invalid") for text in texts]


def _parsed(*texts: str) -> list[Expected]:
    return [ok(parse(text), address=text) for text in texts]


def _to(*to: str) -> Json:
    return validate(MEI, message(to, "The plums are in."))


VECTORS: Final = [
    vector(
        "env.addresses.every-form-has-its-parts",
        "Every form of address reports its kind, its parts by name and itself",
        ok(parse("human:mei.rossi-2"), kind="human", handle="mei.rossi-2", address="human:mei.rossi-2"),
        ok(parse("agent:shed"), kind="agent", operator=None, handle="shed", address="agent:shed"),
        ok(
            parse("agent:mei/pruner_1.shed"),
            kind="agent",
            operator="mei",
            handle="pruner_1.shed",
            address="agent:mei/pruner_1.shed",
        ),
        ok(parse("task:t-0c0ffee"), kind="task", id="t-0c0ffee", address="task:t-0c0ffee"),
        ok(parse("run:r-0b5e55ed"), kind="run", id="r-0b5e55ed", address="run:r-0b5e55ed"),
        ok(
            parse("channel:harvest/plums/2.late"),
            kind="channel",
            name="harvest/plums/2.late",
            address="channel:harvest/plums/2.late",
        ),
        sections=("3.1", "3.4"),
    ),
    vector(
        "env.addresses.a-scheme-and-a-colon-come-first",
        "A string without a colon, or with nothing before its first one, is no address",
        *_refused("", ":", "mei", "human", "human/mei", ":mei", ":human:mei"),
        sections=("3.1",),
    ),
    vector(
        "env.addresses.a-part-follows-the-colon",
        "An address whose part is empty is refused in every scheme",
        *_refused("human:", "agent:", "task:", "run:", "channel:"),
        sections=("3.1",),
    ),
    vector(
        "env.addresses.schemes-are-spelled-exactly",
        "A scheme that is unknown, or a known one in other letters, is refused",
        *_refused(
            "mailto:mei", "Human:mei", "HUMAN:mei", " human:mei", "human :mei", "x-human:mei", "user:mei"
        ),
        sections=("3.1", "3.4"),
    ),
    vector(
        "env.addresses.an-identifier-starts-with-a-letter-or-a-digit",
        "A dot, an underscore or a hyphen may follow the first character of an identifier, and never be it",
        *_parsed("human:0", "human:m", "human:0._-", "human:m..m", "channel:9/a-", "agent:7/7"),
        *_refused("human:.mei", "human:_mei", "human:-mei", "agent:mei/-shed", "channel:harvest/.plums"),
        sections=("1.4", "3.1"),
    ),
    vector(
        "env.addresses.an-identifier-has-lowercase-ascii-alone",
        "Capitals, other alphabets, full-width digits, spaces and other signs are no part of an identifier",
        *_refused("human:Mei", "human:mEi", "human:m\u00e9i", "human:\u043c\u0435\u0438", "human:mei\uff12"),
        *_refused(
            "human:mei rossi", "human:mei+rossi", "human:mei:rossi", "human:mei,rossi", "channel:plums#1"
        ),
        sections=("1.4", "3.1"),
    ),
    vector(
        "env.addresses.an-address-is-matched-whole",
        "White space or a line break before or after an address is not overlooked",
        *_refused(
            "human:mei\n", "\nhuman:mei", "human:mei ", "human: mei", "human:mei\r\n", "channel:plums\n"
        ),
        *_refused(
            "agent:mei/shed\n", "agent:mei\n/shed", "human:mei\u2028", "task:t-0c0ffee\n", "run:r-0b5e55ed\n"
        ),
        sections=("1.4", "3.1"),
    ),
    vector(
        "env.addresses.a-slash-only-where-the-scheme-has-one",
        "Only an agent has an operator before a slash, and never two",
        *_refused("human:mei/shed", "task:t-0c0ffee/1", "run:r-0b5e55ed/1", "agent:mei/shed/west"),
        *_refused("agent:mei/", "agent:/shed", "agent:/", "agent://shed", "human:/mei", "human:mei/"),
        sections=("3.1",),
    ),
    vector(
        "env.addresses.a-channel-has-no-empty-segment",
        "A channel name is segments joined by single slashes, each of them an identifier",
        *_parsed("channel:plums", "channel:a/b/c/d/e/f"),
        *_refused(
            "channel:/plums", "channel:plums/", "channel:harvest//plums", "channel:/", "channel:harvest/Plums"
        ),
        sections=("3.1",),
    ),
    vector(
        "env.addresses.narrowed-ids-keep-their-forms",
        "In the profile a work item is t- or e- and a session r-, followed by 6 to 12 lowercase hex digits",
        *_parsed("task:t-0c0ffe", "task:e-0123456789ab", "run:r-0b5e55", "run:r-0123456789ab"),
        *_refused("task:t-0c0ff", "task:t-0123456789abc", "task:t-0c0ffg", "task:r-0c0ffe", "task:t0c0ffee"),
        *_refused(
            "run:r-0b5e5", "run:r-0123456789abc", "run:r-0b5e5g", "run:t-0b5e55", "run:r_0b5e55", "run:late"
        ),
        profile="dispatch",
        sections=("3.1", "C.1"),
    ),
    vector(
        "env.addresses.a-narrowed-id-is-refused-on-its-slot",
        "A recipient whose id is outside the profile's grammar is refused on its own to[i]",
        refused(_to("human:tomas", "task:late-plums"), "invalid", "to[1]"),
        refused(_to("run:r-west", "human:tomas"), "invalid", "to[0]"),
        ok(_to("task:e-0c0ffe", "run:r-0b5e55")),
        profile="dispatch",
        sections=("3.1", "4.5", "10.2", "C.1"),
    ),
    vector(
        "env.addresses.a-bad-recipient-is-named-by-its-slot",
        "The one entry of to that is no address is named by its place in the list the sender wrote",
        refused(_to("mei"), "invalid", "to[0]"),
        refused(_to("human:tomas", "human:tomas", "human:"), "invalid", "to[2]"),
        refused(_to(*(f"human:picker-{number}" for number in range(49)), "human:Tomas"), "invalid", "to[49]"),
        refused(_to("human:tomas", "pruner:shed", "human:ines"), "invalid", "to[1]"),
        sections=("3.1", "4.5", "10.2"),
    ),
    vector(
        "env.addresses.each-part-is-at-most-64-bytes",
        "A handle, an operator and a segment of 64 bytes are valid; each part of 65 bytes is refused",
        *_parsed(f"human:{'m' * 64}", f"agent:{'s' * 64}", f"agent:{'m' * 64}/{'s' * 64}"),
        *_parsed(f"channel:{'p' * 64}", f"channel:{'p' * 64}/{'q' * 64}/{'r' * 64}"),
        *_refused(
            f"human:{'m' * 65}", f"agent:{'s' * 65}", f"agent:{'m' * 65}/shed", f"agent:mei/{'s' * 65}"
        ),
        *_refused(
            f"task:t-{'0' * 63}", f"run:r-{'0' * 63}", f"channel:{'p' * 65}", f"channel:a/{'p' * 65}/b"
        ),
        sections=("1.4", "3.2", "13.13"),
    ),
    vector(
        "env.addresses.an-address-is-at-most-256-bytes",
        "A channel of 256 bytes is valid and one of 257 is refused, though no segment of it is too long",
        *_parsed(f"channel:{'p' * 64}/{'q' * 64}/{'r' * 64}/{'s' * 53}"),
        *_refused(f"channel:{'p' * 64}/{'q' * 64}/{'r' * 64}/{'s' * 54}"),
        *_parsed(f"channel:{'p/' * 123}qq"),
        *_refused(f"channel:{'p/' * 123}qqq", f"channel:{'p/' * 124}q"),
        sections=("3.2", "13.13"),
    ),
    vector(
        "env.addresses.a-long-recipient-is-named-by-its-slot",
        "A recipient over a limit of section 3.2 is refused on its own to[i]",
        refused(_to("human:tomas", f"human:{'m' * 65}"), "invalid", "to[1]"),
        refused(_to(f"channel:{'p' * 64}/{'q' * 64}/{'r' * 64}/{'s' * 54}"), "invalid", "to[0]"),
        sections=("3.2", "4.5", "10.2", "13.13"),
    ),
    vector(
        "env.addresses.the-at-sign-stands-nowhere",
        "An address that holds an at sign anywhere is refused",
        *_refused(
            "human:mei@orchard",
            "human:@mei",
            "human:mei@",
            "agent:mei@orchard/shed",
            "agent:mei/shed@orchard",
        ),
        *_refused(
            "task:t-0c0ffee@orchard",
            "run:r-0b5e55ed@orchard",
            "channel:plums@orchard",
            "@human:mei",
            "human@o:mei",
        ),
        refused(_to("human:tomas", "human:mei@orchard"), "invalid", "to[1]"),
        sections=("3.3", "11.2"),
    ),
]
