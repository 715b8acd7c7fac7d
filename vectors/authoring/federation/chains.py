"""Logs whose entries are their publisher's, and lanes whose lines are anybody's (section F.1)."""

from typing import Any

from vectors.authoring.federation.author import REMOVED, START_MS, ZEROS, Author, head, line, op_hash, stub
from vectors.authoring.federation.entries import SEALED, respelled
from vectors.authoring.kit import Expected, Json, ok, vector

ada = Author("ada-0000000a")
eve = Author("ada-0000000a", keys="eve")
KEY_OP = ada.key_op()
SECOND = ada.op(KEY_OP, body={"n": 2})
THIRD = ada.op(SECOND, body={"n": 3})
MAIL = ada.op(THIRD, "mail", to=[ada.replica], sealed=SEALED)
FIFTH = ada.op(MAIL, body={"n": 5})
CHAIN = [KEY_OP, SECOND, THIRD, MAIL, FIFTH]
RIVAL = ada.op(SECOND, body="another story")

SHARED = "two ops share this seq"
PREV = "prev does not match"


def written(entries: list[Any]) -> list[Any]:
    """Entries as lines; what is a line already, as text or in hex, stays."""
    return [line(each) if isinstance(each, dict) and "sig" in each else each for each in entries]


def took(entries: list[Json]) -> list[Json]:
    """The accepted entries, as a result names them."""
    return [{"seq": each["seq"], "opHash": op_hash(each), "stub": "pruned" in each} for each in entries]


def log(
    entries: list[Any], accepted: list[Json], halted: tuple[int, str] | None = None, **step: Any
) -> Expected:
    """A log read from its start, or from a `head`."""
    return ok(
        {"op": "verifyLog", "replica": ada.replica, "lines": written(entries)} | step,
        accepted=took(accepted),
        halted=None if halted is None else {"seq": halted[0], "reason": halted[1]},
    )


def lane(entries: list[Any], accepted: list[Json], step: Json | None = None, **result: Any) -> Expected:
    """A lane read from its start, or as `step` says, that ends without a reason unless `result` has one."""
    quiet: Json = {"halted": None, "stalled": None, "gap": None, "held": None}
    return ok(
        {"op": "readLane", "replica": ada.replica, "lines": written(entries), "key": ada.key} | (step or {}),
        accepted=took(accepted),
        **(quiet | result),
    )


def halt(seq: int, reason: str) -> Json:
    return {"seq": seq, "reason": reason}


def went_before(*entries: Json) -> Json:
    """A step's head, at the last of these entries, and all of them remembered."""
    remembered = [{"seq": each["seq"], "prev": each["prev"], "opHash": op_hash(each)} for each in entries]
    return {"head": head(entries[-1]), "remembered": remembered}


LOGS = [
    vector(
        "log.order-means-nothing",
        "A log is the same in any order of its entries, with repeated ones and those of other replicas among them",
        log(CHAIN, CHAIN),
        log([FIFTH, SECOND, SECOND, KEY_OP, MAIL, THIRD, Author("bob-0000000b").key_op()], CHAIN),
    ),
    vector(
        "log.goes-on-from-its-head",
        "What is not past the head is passed over, and another op at the head halts",
        log(CHAIN, [MAIL, FIFTH], head=head(THIRD), pinned=ada.key),
        log([RIVAL], [], head=head(MAIL), pinned=ada.key),
        log([RIVAL], [], (3, SHARED), head=head(THIRD), pinned=ada.key),
    ),
    vector(
        "log.waits-for-its-key-op",
        "Without a head and without any key op a log waits, and a key op that is not first halts it",
        log(CHAIN[1:], []),
        log([ada.op(None, body={}), ada.key_op(seq=2)], [], (1, "a log must start with its key op")),
    ),
    vector(
        "log.a-failed-entry-halts",
        "The first entry that fails halts the log at its seq, and what came before stands",
        log([KEY_OP, SECOND, line(THIRD, body=0), MAIL], [KEY_OP, SECOND], (3, "bodyHash mismatch")),
        log([KEY_OP, SECOND, line(THIRD, type="T"), MAIL], [KEY_OP, SECOND], (3, "not a v2 op")),
        log([KEY_OP, SECOND, MAIL], [KEY_OP, SECOND], (4, PREV)),
        log([KEY_OP, eve.op(KEY_OP, body={})], [KEY_OP], (2, "bad signature")),
    ),
    vector(
        "log.a-shared-seq-halts",
        "Two entries at the lowest seq that differ in opHash halt the log there; an op and its stub do not",
        log([*CHAIN, RIVAL], [KEY_OP, SECOND], (3, SHARED)),
        log([RIVAL, *reversed(CHAIN), ada.op(MAIL, body="also")], [KEY_OP, SECOND], (3, SHARED)),
        log([*CHAIN, stub(MAIL)], CHAIN),
        log([*CHAIN[:3], stub(MAIL), FIFTH], [*CHAIN[:3], stub(MAIL), FIFTH]),
    ),
    vector(
        "log.halted-stays-halted",
        "A log that halted takes nothing more",
        ok(
            {
                "op": "verifyLog",
                "replica": ada.replica,
                "lines": written(CHAIN),
                "head": head(SECOND),
                "pinned": ada.key,
                "halted": halt(3, "bad signature"),
            },
            accepted=[],
            halted=halt(3, "bad signature"),
        ),
    ),
    vector(
        "log.key-op",
        "The key op announces a key by its rules, signed with it, and the pinned one if there is one",
        log([ada.op(None, "key", body={})], [], (1, "malformed key op")),
        log([ada.op(None, "key")], [], (1, "malformed key op")),
        log([ada.op(None, "key", body=ada.key | {"device": ""})], [], (1, "malformed key op")),
        log([eve.op(None, "key", body=ada.key)], [], (1, "bad signature")),
        log([KEY_OP], [KEY_OP], pinned=ada.key),
        ok(
            {
                "op": "verifyLog",
                "replica": ada.replica,
                "lines": written([KEY_OP]),
                "pinned": ada.key | {"build": "2.0"},
            },
            accepted=[],
            halted={"seq": 1},
        ),
    ),
]

LANES = [
    vector(
        "lane.order-means-nothing",
        "A lane is the same in any order of its lines, repeated ones included, and seq may skip",
        lane(CHAIN, CHAIN),
        lane([FIFTH, MAIL, SECOND, THIRD, THIRD, KEY_OP], CHAIN),
        lane([skip := ada.op(KEY_OP, seq=900, body={}), KEY_OP], [KEY_OP, skip]),
    ),
    vector(
        "lane.goes-on-from-its-head",
        "A lane goes on from the head, which may be among the lines",
        lane([FIFTH, MAIL, THIRD], [MAIL, FIFTH], {"head": head(THIRD)}),
    ),
    vector(
        "lane.junk-is-skipped",
        "What is no op of the replica is skipped, and neither halts nor stops the log",
        lane(
            [
                "",
                "junk",
                line(SECOND)[:-9],
                {"hex": "fffe00"},
                "[" * 300,
                '{"replica":"ada-0000000a","seq":2}',
                line(SECOND, replica="bob-0000000b"),
                line(SECOND, v=1),
                *CHAIN,
            ],
            CHAIN,
        ),
    ),
    vector(
        "lane.forged-rivals-do-not-stop-the-log",
        "Lines that claim the place of an op, and that its publisher did not sign, are skipped",
        lane([eve.op(KEY_OP, body="forged"), line(SECOND, body=0), line(SECOND, seq=9), *CHAIN], CHAIN),
        lane([*CHAIN, eve.op(KEY_OP, body="forged"), line(SECOND, pruned=True, body=REMOVED)], CHAIN),
    ),
    vector(
        "lane.a-damaged-op-stalls",
        "Where something follows the head and nothing of it is authentic, the log stalls and does not halt",
        lane([KEY_OP, line(SECOND, body=0), THIRD], [KEY_OP], stalled=halt(2, "bodyHash mismatch")),
        lane([KEY_OP, line(SECOND, hlc=THIRD["hlc"]), THIRD], [KEY_OP], stalled=halt(2, "bad signature")),
        lane([KEY_OP, line(SECOND, type="T"), THIRD], [KEY_OP], stalled=halt(2, "not a v2 op")),
        lane([KEY_OP, line(stub(SECOND)), THIRD], [KEY_OP], stalled=halt(2, "a task op cannot be a stub")),
        lane(
            [KEY_OP, line(SECOND, seq=7), line(SECOND, body=0)],
            [KEY_OP],
            stalled=halt(2, "bodyHash mismatch"),
        ),
    ),
    vector(
        "lane.a-stalled-log-goes-on",
        "Once the op is there undamaged the log goes on",
        lane([line(SECOND, body=0), THIRD, SECOND], [SECOND, THIRD], {"head": head(KEY_OP)}),
    ),
    vector(
        "lane.a-missing-op-is-a-gap",
        "Where an op is missing the log ends, and what its publisher signed beyond tells so",
        lane([KEY_OP, SECOND, MAIL, FIFTH], [KEY_OP, SECOND], gap=4),
        lane([KEY_OP, SECOND, line(THIRD)[:-1], MAIL], [KEY_OP, SECOND], gap=4),
        lane([KEY_OP, SECOND, eve.op(THIRD, body="forged")], [KEY_OP, SECOND], gap=None),
    ),
    vector(
        "lane.a-signed-breach-halts",
        "What the publisher signed after the head and that breaks a rule halts the log",
        lane(
            [KEY_OP, SECOND, ada.op(SECOND, hlc=SECOND["hlc"], body=0)],
            [KEY_OP, SECOND],
            halted=halt(3, "hlc must rise"),
        ),
        lane([KEY_OP, ada.op(KEY_OP, "key", body=ada.key)], [KEY_OP], halted=halt(2, "a second key op")),
        lane(
            [KEY_OP, ada.op(KEY_OP, "state", body={}, to=[ada.replica], sealed=SEALED)],
            [KEY_OP],
            halted=halt(2, "state ops carry only sealed content"),
        ),
    ),
    vector(
        "lane.a-fork-by-seq-halts",
        "Two authentic ops at one seq halt the log there, in whichever order they come",
        lane([*CHAIN, RIVAL], [KEY_OP, SECOND], halted=halt(3, SHARED)),
        lane([RIVAL, *reversed(CHAIN)], [KEY_OP, SECOND], halted=halt(3, SHARED)),
    ),
    vector(
        "lane.a-fork-by-prev-halts",
        "Of two authentic ops after one op the lower seq goes on, and the log halts at the other",
        lane(
            [KEY_OP, high := ada.op(KEY_OP, seq=8, body="high"), low := ada.op(KEY_OP, seq=5, body="low")],
            [KEY_OP, low],
            halted=halt(8, PREV),
        ),
        lane([low, high, ada.op(high, body=0), KEY_OP], [KEY_OP, low], halted=halt(8, PREV)),
    ),
    vector(
        "lane.a-rival-of-an-accepted-op-halts",
        "An authentic op that shares its seq or its prev with an op accepted earlier halts the log",
        lane([RIVAL], [], went_before(*CHAIN), halted=halt(3, SHARED)),
        lane([ada.op(MAIL, body="two")], [], went_before(*CHAIN), halted=halt(5, SHARED)),
        lane([ada.op(SECOND, seq=77, body="two")], [], went_before(*CHAIN), halted=halt(77, PREV)),
        lane([low], [], went_before(KEY_OP, high), halted=halt(5, PREV)),
        lane([THIRD, MAIL, FIFTH, stub(MAIL)], [], went_before(*CHAIN)),
    ),
    vector(
        "lane.only-authentic-entries-fork",
        "A damaged copy of a rival, or a stub its type may not have, proves no fork",
        lane([*CHAIN, line(RIVAL, body="third story"), stub(RIVAL)], CHAIN),
        lane([line(RIVAL, body="third story")], [], went_before(*CHAIN)),
    ),
    vector(
        "lane.respelled-signatures-fork-nothing",
        "Another spelling of a signature is another opHash, and verifies nowhere",
        lane([*CHAIN, line(FIFTH, sig=respelled(FIFTH["sig"]))], CHAIN),
        lane([line(FIFTH, sig=respelled(FIFTH["sig"]))], [], went_before(*CHAIN)),
        lane(
            [*CHAIN[:4], line(FIFTH, sig=respelled(FIFTH["sig"]))],
            CHAIN[:4],
            stalled=halt(5, "bad signature"),
        ),
    ),
    vector(
        "lane.stubs",
        "A stub stands for its op in the chain, the op is preferred to it, and its content is taken later",
        lane([*CHAIN[:3], stub(MAIL), FIFTH], [*CHAIN[:3], stub(MAIL), FIFTH]),
        lane([stub(MAIL), *CHAIN], CHAIN),
        lane([*CHAIN, stub(MAIL)], CHAIN),
        lane([MAIL], [], went_before(*CHAIN) | {"wanted": [op_hash(MAIL)]}, restored=[op_hash(MAIL)]),
        lane(
            [line(MAIL, sealed=SEALED | {"ct": "AA"})],
            [],
            went_before(*CHAIN) | {"wanted": [op_hash(MAIL)]},
            restored=[],
        ),
    ),
    vector(
        "lane.reads-every-line-alike",
        "Line breaks, invalid UTF-8, numbers and repeated keys are read as everybody reads them",
        lane([KEY_OP, breaks := ada.op(KEY_OP, body="\r \u000b \f \u0085 \u2028 \u2029")], [KEY_OP, breaks]),
        lane(
            [
                KEY_OP,
                {
                    "hex": line(broken := ada.op(KEY_OP, body="a\ufffdb"))
                    .replace("\ufffd", "~")
                    .encode()
                    .hex()
                    .replace("7e", "ff")
                },
            ],
            [KEY_OP, broken],
        ),
        lane(
            [
                KEY_OP,
                line(numbers := ada.op(KEY_OP, body=[1e16, 5])).replace(
                    "[1e+16,5]", "[10000000000000000,5.0]"
                ),
            ],
            [KEY_OP, numbers],
        ),
        lane([KEY_OP, '{"body":0,' + line(SECOND)[1:]], [KEY_OP, SECOND], repeatedKeys=[2]),
        lane([KEY_OP, '{"\\u0062ody":0,' + line(SECOND)[1:], SECOND], [KEY_OP, SECOND], repeatedKeys=[]),
    ),
    vector(
        "lane.null-is-not-absent",
        "Null in place of recipients, content or the mark of a stub is not its absence",
        lane([KEY_OP, line(SECOND, to=None)], [KEY_OP], stalled=halt(2, "bad recipient list")),
        lane([KEY_OP, line(SECOND, sealed=None)], [KEY_OP], stalled=halt(2, "bodyHash mismatch")),
        lane([*CHAIN[:3], line(MAIL, body=None)], CHAIN[:3], stalled=halt(4, "bodyHash mismatch")),
        lane([*CHAIN[:3], line(MAIL, pruned=None)], CHAIN[:4]),
    ),
    vector(
        "lane.starts-under-its-key",
        "A log is read under the key decided for it; the claims of other keys are not its business",
        lane([rival := eve.key_op(), eve.op(rival, body="rival"), *CHAIN], CHAIN),
        lane([rival, *CHAIN[1:]], [], gap=2),
        lane([KEY_OP, ada.key_op(hlc=f"{START_MS}.0000.{ada.replica}")], [], halted=halt(1, SHARED)),
        lane([ada.op(None, "key", body=ada.key | {"caps": 1})], [], halted=halt(1, "malformed key op")),
        lane([line(KEY_OP, body=ada.key | {"build": "2"})], [], stalled=halt(1, "bodyHash mismatch")),
    ),
    vector(
        "lane.a-fast-clock-waits",
        "An op whose clock is past the reader's horizon waits, and the log with it",
        lane(CHAIN, [KEY_OP, SECOND], {"horizonMs": START_MS + 2}, held=THIRD["hlc"]),
        lane(CHAIN, CHAIN, {"horizonMs": START_MS + 5}),
    ),
    vector(
        "lane.keeps-to-its-cut",
        "A revoked log passes through the op its revocation names, or halts",
        lane(CHAIN, CHAIN, {"cut": {"afterSeq": 3, "afterHash": op_hash(THIRD)}}),
        lane(CHAIN, CHAIN, {"cut": {"afterSeq": 0, "afterHash": ZEROS}}),
        lane(CHAIN, [KEY_OP, SECOND], {"cut": {"afterSeq": 3, "afterHash": "1" * 64}}, halted={"seq": 3}),
    ),
]


def claims(entries: list[Any], claimed: list[tuple[Author, Json | None]], **step: Any) -> Expected:
    """The claims of a lane, each with the first roster op of its chain."""
    return ok(
        {"op": "keyClaims", "replica": ada.replica, "lines": written(entries)} | step,
        claims=[
            {
                "fingerprint": author.fingerprint,
                "opHash": op_hash(author.key_op()),
                "rosterOp": None if roster_op is None else op_hash(roster_op),
            }
            for author, roster_op in claimed
        ],
    )


CROWD = sorted(
    (Author("ada-0000000a", keys=f"crowd {n}") for n in range(6)), key=lambda author: author.fingerprint
)
LAST_KEY = CROWD[5].key_op()
FOUND = CROWD[5].op(LAST_KEY, "roster", body={"rv": 1, "action": "found"})

CLAIMS = [
    vector(
        "claims.self-signed-key-ops",
        "A claim is a key op by its rules, signed with the key that it announces",
        claims(
            [eve.op(None, "key", body=ada.key), ada.op(None, "key", body=ada.key | {"handle": "A"}), KEY_OP],
            [(ada, None)],
        ),
        claims([stub(KEY_OP), line(KEY_OP, body=eve.key), *CHAIN[1:]], []),
    ),
    vector(
        "claims.a-stolen-key",
        "A key op that announces a key it is not signed with makes no claim",
        claims([eve.op(None, "key", body=ada.key)], []),
    ),
    vector(
        "claims.at-most-four-in-order",
        "Four claims of an id are kept, by ascending fingerprint, in whatever order they come",
        claims([each.key_op() for each in CROWD], [(each, None) for each in CROWD[:4]]),
        claims([each.key_op() for each in reversed(CROWD)], [(each, None) for each in CROWD[:4]]),
    ),
    vector(
        "claims.kept-beyond-four",
        "A claim that an admission names, or whose chain soon founds, is kept beyond the four",
        claims(
            [each.key_op() for each in CROWD],
            [*((each, None) for each in CROWD[:4]), (CROWD[4], None)],
            named=[CROWD[4].fingerprint],
        ),
        claims(
            [FOUND, *(each.key_op() for each in CROWD)],
            [*((each, None) for each in CROWD[:4]), (CROWD[5], FOUND)],
        ),
    ),
]

VECTORS = LOGS + LANES + CLAIMS
