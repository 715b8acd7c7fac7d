"""One entry: its hashes, and the checks it must pass in their order (section F.1)."""

from typing import Any

from vectors.authoring.federation.author import (
    REMOVED,
    START_MS,
    ZEROS,
    Author,
    b64u,
    content_hash,
    head,
    line,
    op_hash,
    stub,
    unb64u,
)
from vectors.authoring.kit import Expected, Json, ok, refused, vector

ada = Author("ada-0000000a")
bob = Author("bob-0000000b")
KEY_OP = ada.key_op()
TASK = ada.op(KEY_OP, body={"task": "t-4a8cce", "kind": "update", "fields": {"title": "Pick apples"}})
SEALED = {"nonce": "", "ct": "", "keys": {ada.replica: {"enc": "", "ct": ""}}}
MAIL = ada.op(TASK, "mail", to=[ada.replica], sealed=SEALED)

GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


def read(entry: Json, **changes: Any) -> Json:
    return {"op": "readEntry", "line": line(entry, **changes)}


def verify(entry: Json, at: Json | None, key: str = ada.sign_pub, **changes: Any) -> Json:
    at = None if at is None else head(at)
    return {"op": "verifyEntry", "line": line(entry, **changes), "head": at, "signPub": key}


def verifies(entry: Json, at: Json | None, **changes: Any) -> Expected:
    return ok(verify(entry, at, **changes), opHash=op_hash(entry))


def refuses(reason: str, entry: Json, at: Json | None = KEY_OP, **changes: Any) -> Expected:
    return refused(verify(entry, at, **changes), reason)


def with_s_plus_order(sig: str) -> str:
    raw = unb64u(sig)
    return b64u(raw[:32] + (int.from_bytes(raw[32:], "little") + GROUP_ORDER).to_bytes(32, "little"))


def respelled(sig: str) -> str:
    """The signature with set bits past its last byte."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return sig[:-1] + alphabet[alphabet.index(sig[-1]) | 1]


NOT_TRUE: tuple[Any, ...] = (False, None, 1, "true", [])

NO_RECIPIENTS: tuple[Any, ...] = (
    None,
    [],
    [ada.replica, ada.replica],
    [bob.replica, ada.replica],
    ["ada"],
    [1],
    ada.replica,
    {},
    [f"a-{n:08x}" for n in range(257)],
)

VECTORS = [
    vector(
        "entry.hashes",
        "opHash is over the canonical header and the signature, bodyHash over the canonical content",
        ok(read(TASK), opHash=op_hash(TASK), contentHash=TASK["bodyHash"], stub=False),
        ok(read(dict(reversed(TASK.items()))), opHash=op_hash(TASK), contentHash=content_hash(TASK)),
        ok(read(MAIL), opHash=op_hash(MAIL), contentHash=content_hash(MAIL)),
        ok(read(stub(MAIL)), opHash=op_hash(MAIL), stub=True),
    ),
    vector(
        "entry.extra-members-count-in-neither-hash",
        "Members that are not of an op change neither hash, nor the signature",
        ok(read(TASK, note="x", zz=[1.5]), opHash=op_hash(TASK), contentHash=TASK["bodyHash"]),
        verifies(TASK, KEY_OP, note="x"),
    ),
    vector(
        "entry.absent-and-null-content",
        "No content hashes an empty object, and null content is content",
        ok(
            read(ada.op(KEY_OP)),
            contentHash="44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        ),
        ok(read(ada.op(KEY_OP, body=None)), contentHash=content_hash({"body": None})),
        refuses("bodyHash mismatch", ada.op(KEY_OP), body=None),
        refuses("bodyHash mismatch", ada.op(KEY_OP), sealed=None),
    ),
    vector(
        "entry.only-pruned-true-is-a-stub",
        "An entry is a stub when its member pruned is true, and by nothing else",
        ok(read(MAIL, pruned=True), stub=True),
        *(ok(read(MAIL, pruned=other), stub=False) for other in NOT_TRUE),
    ),
    vector(
        "entry.follows",
        "An entry that follows the head verifies, whatever its type, and seq may skip",
        verifies(KEY_OP, None),
        verifies(TASK, KEY_OP),
        verifies(MAIL, TASK),
        verifies(stub(MAIL), TASK),
        verifies(ada.op(TASK, "some-later-type", body=[1]), TASK),
        verifies(ada.op(TASK, seq=2**53 - 1, body={}, hlc=f"{START_MS + 9}.0000.{ada.replica}"), TASK),
        verifies(ada.op(TASK, "mail", body={"forward": MAIL}, to=[ada.replica], sealed=SEALED), TASK),
    ),
    vector(
        "entry.malformed",
        "Without the signature or a hash, as text of the right form, there is no op",
        refuses("malformed op", TASK, sig=REMOVED),
        refuses("malformed op", TASK, sig=None),
        refuses("malformed op", TASK, prev=REMOVED),
        refuses("malformed op", TASK, prev=TASK["prev"].upper()),
        refuses("malformed op", TASK, prev=TASK["prev"] + "\n"),
        refuses("malformed op", TASK, bodyHash=TASK["bodyHash"][:-1]),
        refused({"op": "readEntry", "line": "[]"}, "malformed op"),
        refused({"op": "readEntry", "line": line(TASK)[:-1]}, "malformed op"),
        refused({"op": "readEntry", "line": line(TASK).replace("Pick", "\\ud800")}, "malformed op"),
        refused({"op": "readEntry", "line": line(TASK)[:-1] + ',"x":"\\udc00"}'}, "malformed op"),
        refused(
            {"op": "readEntry", "line": line(TASK)[:-1] + ',"x":' + "[" * 256 + "]" * 256 + "}"},
            "malformed op",
        ),
    ),
    vector(
        "entry.version",
        "The version is the number 2",
        refuses("not a v2 op", TASK, v=1),
        refuses("not a v2 op", TASK, v="2"),
        refuses("not a v2 op", TASK, v=REMOVED),
        ok({"op": "readEntry", "line": line(TASK).replace('"v":2', '"v":2.0')}, opHash=op_hash(TASK)),
    ),
    vector(
        "entry.replica-grammar",
        "A replica id is 1 to 32 letters, digits, dots, underscores or dashes, a dash, and 8 hex digits",
        *(
            refuses("replica id outside the grammar", TASK, replica=name)
            for name in (
                "ada",
                "-0000000a",
                "ada-0000000A",
                "ada-0000000a\n",
                "ada-\u0660000000a",
                "a" * 33 + "-0000000a",
                7,
            )
        ),
    ),
    vector(
        "entry.type-grammar",
        "A type is a small letter and at most 31 small letters, digits or dashes",
        *(refuses("not a v2 op", TASK, type=name) for name in ("", "Task", "1a", "t" * 33, "task\n", None)),
        verifies(ada.op(KEY_OP, "t" + "-" * 31, body={}), KEY_OP),
    ),
    vector(
        "entry.seq",
        "A seq is an integer from 1 to 2^53 - 1",
        *(refuses("seq must rise", TASK, seq=seq) for seq in (0, -1, 1.5, 2**53, True, "2", None, REMOVED)),
        ok({"op": "readEntry", "line": line(TASK).replace('"seq":2', '"seq":20e-1')}, opHash=op_hash(TASK)),
    ),
    vector(
        "entry.hlc",
        "A clock is 13 digits, 4 to 9 digits and the op's own replica id",
        *(
            refuses("hlc outside the grammar", TASK, hlc=hlc)
            for hlc in (
                None,
                "",
                f"{START_MS}.000.{ada.replica}",
                f"{START_MS}.0000000000.{ada.replica}",
                f"179.0000.{ada.replica}",
                f"\u0661790000000000.0000.{ada.replica}",
                f"{START_MS}.0000.",
            )
        ),
        refuses("hlc must name its own replica", TASK, hlc=f"{START_MS}.0000.{bob.replica}"),
        refuses("hlc must name its own replica", TASK, hlc=f"{START_MS}.0000.{ada.replica} "),
    ),
    vector(
        "entry.recipients",
        "The member to, when there, lists 1 to 256 replica ids in ascending order, each once",
        *(refuses("bad recipient list", MAIL, TASK, to=to) for to in NO_RECIPIENTS),
    ),
    vector(
        "entry.size",
        "An entry takes at most 1,048,576 bytes in canonical form, members that nothing signs included",
        ok(read(TASK) | {"padTo": 1_048_576}, opHash=op_hash(TASK)),
        refused(read(TASK) | {"padTo": 1_048_577}, "over MAX_OP_BYTES"),
    ),
    vector(
        "entry.first-is-the-key-op",
        "A log starts with a whole key op whose prev is 64 zeros, and has no second one",
        refuses("a log must start with its key op", TASK, None),
        refuses("a log must start with its key op", ada.op(None, body={}), None),
        refuses("a log must start with its key op", ada.key_op(prev="1" * 64), None),
        refuses("a log must start with its key op", stub(KEY_OP), None),
        refuses("a second key op", ada.op(KEY_OP, "key", body=ada.key)),
    ),
    vector(
        "entry.links",
        "An entry names the head's opHash, and its seq and its clock exceed the head's as numbers",
        refuses("prev does not match", MAIL),
        refuses("prev does not match", ada.op(KEY_OP, prev=ZEROS, body={})),
        refuses("seq must rise", ada.op(KEY_OP, seq=1, body={})),
        refuses("hlc must rise", ada.op(KEY_OP, hlc=KEY_OP["hlc"], body={})),
    ),
    vector(
        "entry.clock-counters-are-numbers",
        "A counter of five digits exceeds one of four, though its text does not",
        verifies(
            ada.op(
                wide := ada.op(KEY_OP, hlc=f"{START_MS + 2}.9999.{ada.replica}", body={}),
                hlc=f"{START_MS + 2}.10000.{ada.replica}",
            ),
            wide,
        ),
        refuses(
            "hlc must rise",
            ada.op(
                wider := ada.op(KEY_OP, hlc=f"{START_MS + 2}.10000.{ada.replica}", body={}),
                hlc=f"{START_MS + 2}.9999.{ada.replica}",
            ),
            wider,
        ),
        verifies(ada.op(KEY_OP, hlc=f"{START_MS + 2}.00007.{ada.replica}", body={}), KEY_OP),
    ),
    vector(
        "entry.signature",
        "The signature is the publisher's, over the header as it stands, in its one spelling",
        refuses("bad signature", bob.op(KEY_OP, replica=ada.replica, hlc=TASK["hlc"], body={})),
        refuses("bad signature", TASK, type="doc"),
        refuses("bad signature", TASK, sig=""),
        refuses("bad signature", TASK, sig=TASK["sig"] + "=="),
        refuses("bad signature", TASK, sig=respelled(TASK["sig"])),
        refuses("bad signature", TASK, sig=TASK["sig"][:-2]),
        refused(verify(TASK, KEY_OP, key=bob.sign_pub), "bad signature"),
    ),
    vector(
        "entry.signature-s-below-the-order",
        "A signature whose S has the group order added to it does not verify",
        refuses("bad signature", TASK, sig=with_s_plus_order(TASK["sig"])),
    ),
    vector(
        "entry.small-order-keys-verify-nothing",
        "Under a public key of small order no signature verifies",
        *(
            refused(
                verify(TASK, KEY_OP, key=b64u(bytes.fromhex(key)), sig=b64u(bytes.fromhex(sig))),
                "bad signature",
            )
            for key, sig in (
                ("01" + "00" * 31, "01" + "00" * 63),
                ("01" + "00" * 30 + "80", "01" + "00" * 63),
                ("ee" + "ff" * 30 + "7f", "01" + "00" * 63),
                ("00" * 32, "01" + "00" * 63),
                ("ec" + "ff" * 30 + "7f", "ec" + "ff" * 30 + "7f" + "00" * 32),
            )
        ),
    ),
    vector(
        "entry.stubs",
        "Only mail, state and presence have stubs, and a stub carries no content",
        verifies(stub(ada.op(KEY_OP, "presence", body={})), KEY_OP),
        refuses("a task op cannot be a stub", stub(TASK)),
        refuses("a roster op cannot be a stub", stub(ada.op(KEY_OP, "roster", body={}))),
        refuses("a stub carries no content", MAIL, TASK, pruned=True),
        refuses("a stub carries no content", stub(MAIL), TASK, body=None),
        refuses("a stub carries no content", stub(MAIL), TASK, sealed=None),
    ),
    vector(
        "entry.content",
        "The content is what bodyHash is the hash of",
        refuses("bodyHash mismatch", TASK, body={"task": "t-4a8cce"}),
        refuses("bodyHash mismatch", TASK, body=REMOVED),
        refuses("bodyHash mismatch", MAIL, TASK, sealed=SEALED | {"ct": "AA"}),
        refuses("bodyHash mismatch", MAIL, TASK, pruned=False, sealed=REMOVED),
    ),
    vector(
        "entry.sealed-content",
        "Mail and state are sealed to exactly those in to, and nothing else is sealed",
        refuses("sealed types carry sealed content", ada.op(KEY_OP, "mail", body={})),
        refuses("sealed types carry sealed content", ada.op(KEY_OP, "state", to=[ada.replica])),
        refuses(
            "state ops carry only sealed content",
            ada.op(KEY_OP, "state", body={}, to=[ada.replica], sealed=SEALED),
        ),
        refuses("only mail and state are sealed", ada.op(KEY_OP, "task", body={}, sealed=SEALED)),
        refuses("only mail and state are sealed", ada.op(KEY_OP, "task", sealed=None)),
        refuses("only mail and state are sealed", ada.op(KEY_OP, "presence", body={}, to=[ada.replica])),
        refuses("keys must equal to", ada.op(KEY_OP, "mail", sealed=SEALED)),
        refuses("keys must equal to", ada.op(KEY_OP, "mail", to=[bob.replica], sealed=SEALED)),
        refuses("keys must equal to", ada.op(KEY_OP, "mail", to=[ada.replica, bob.replica], sealed=SEALED)),
        refuses("keys must equal to", ada.op(KEY_OP, "mail", to=[ada.replica], sealed=None)),
    ),
    vector(
        "entry.order-of-checks",
        "Of several faults the first in the order of the checks is the reason",
        refuses("malformed op", TASK, sig=1, v=1, replica="ada"),
        refuses("not a v2 op", TASK, v=1, replica="ada", type="T"),
        refuses("replica id outside the grammar", TASK, replica="ada", type="T", seq=0),
        refuses("not a v2 op", TASK, type="T", seq=0, hlc=""),
        refuses("seq must rise", TASK, seq=0, hlc="", to=[]),
        refuses("hlc outside the grammar", TASK, hlc="", to=[]),
        refuses("bad recipient list", TASK, to=[], prev="1" * 64),
        refuses("a second key op", KEY_OP, sig="", prev="1" * 64),
        refuses("prev does not match", TASK, MAIL, sig="", body=None),
        refuses("seq must rise", TASK, MAIL, prev=op_hash(MAIL), sig=""),
        refuses("hlc must rise", TASK, MAIL, prev=op_hash(MAIL), seq=9, sig=""),
        refuses("bad signature", TASK, sig="", body=None),
        refuses("bad signature", stub(TASK), sig=""),
        refuses("a task op cannot be a stub", stub(TASK), body=None),
        refuses("bodyHash mismatch", ada.op(KEY_OP, "mail", body={}), body=None),
    ),
]
