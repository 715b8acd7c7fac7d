"""The op chains, for a page that draws them: one lane a replica, and one op whole."""

from typing import Final

from core.errors import Code, invalid
from crypto.canonical import JsonValue
from crypto.op import ABSENT, Op, read_entry
from replica.api.errors import Refusal
from replica.api.schemas import COUNT, FLAG, MAYBE_TEXT, TEXT, listing, or_null, record
from replica.api.table import Answer, Call, Reply, Route, Who, number
from replica.audit.marks import link_of
from replica.chain.forks import forks, rivals
from replica.host import problems
from replica.host.shapes import message_json
from replica.mail.op_content import Closed, Content, Mail, content_of
from replica.node import DirectoryNode, Node
from replica.records import lanes, ops
from replica.records.about_op import problems_about, waiting_because
from replica.records.lanes import Extent
from replica.team.roster import Team

MAX_PAGE: Final = 5_000

_MOST: Final = 2**53 - 1


def _chains(node: DirectoryNode, _: Call) -> Reply:
    with node.store.reading() as db:
        known, forked, team = ops.positions(db), forks(db), node.team
        found: list[JsonValue] = []
        for extent in lanes.extents(db):
            position = known.get(extent.replica)
            halt = None if position is None else position.cursor.halted
            fork = forked.get(extent.replica)
            first, last = (lanes.op_at(db, extent.replica, seq) for seq in (extent.first, extent.last))
            assert first is not None
            assert last is not None
            found.append(
                {
                    "replica": extent.replica,
                    "me": extent.replica == node.me,
                    **_who(team, extent.replica),
                    "first": extent.first,
                    "last": extent.last,
                    "count": extent.count,
                    "firstMs": first.ms,
                    "lastMs": last.ms,
                    "halted": None
                    if halt is None
                    else {"seq": halt.seq, "reason": halt.reason, "text": halt.text},
                    "fork": None
                    if fork is None
                    else {
                        "seq": fork.seq,
                        "rivals": [
                            {"seq": each.seq, "hash": each.hash, "type": each.type}
                            for each in rivals(db, extent.replica)
                        ],
                    },
                }
            )
    return Reply(200, {"chains": found})


def _who(team: Team | None, replica: str) -> dict[str, JsonValue]:
    """What the roster says of a chain's publisher; `cut` is the op after which nothing it says counts."""
    key = None if team is None else team.keys.get(replica)
    revoked = None if team is None else team.view.revoked.get(replica)
    standing = "unknown"
    if team is not None and replica in team.view.members:
        standing = "member"
    elif revoked is not None:
        standing = "revoked"
    return {
        "handle": None if team is None or not team.knows(replica) else team.handle(replica),
        "device": None if key is None else key.device,
        "standing": standing,
        "cut": None if revoked is None else revoked.point.after_seq,
    }


def _ops(node: DirectoryNode, call: Call) -> Reply:
    replica, limit = call.path["replica"], call.query["limit"]
    with node.store.reading() as db:
        extent = _extent(node, replica)
        start = call.query["from"]
        if call.query["at"] is not None:
            if start is not None:
                raise invalid("at", "say from which seq or from which time on, not both")
            start = lanes.seq_at(db, extent, call.query["at"])
        page = list(lanes.ops_from(db, replica, start or extent.first, limit))
    types: dict[str, int] = {}
    people: dict[tuple[str, ...], int] = {(): 0}
    links: list[JsonValue] = []
    for each in page:
        link = link_of(each.seq, each.type, each.body)
        if link is not None:
            links.append({"kind": link.kind, "seq": link.seq, "replica": link.replica, "toSeq": link.to_seq})
    return Reply(
        200,
        {
            "replica": replica,
            "seqs": [each.seq for each in page],
            "times": [each.ms for each in page],
            "types": [types.setdefault(each.type, len(types)) for each in page],
            "stubs": [int(each.stub) for each in page],
            "recipients": [people.setdefault(each.to, len(people)) for each in page],
            "typeNames": [*types],
            "recipientLists": [[*each] for each in people],
            "links": links,
            "next": page[-1].seq + 1 if page and page[-1].seq < extent.last else None,
        },
    )


def _op(node: DirectoryNode, call: Call) -> Reply:
    replica, seq = call.path["replica"], _seq(call.path["seq"])
    with node.store.reading() as db:
        line = ops.line_at(db, replica, seq)
        if line is None:
            raise _absent()
        entry = read_entry(line)
        body = entry.body if isinstance(entry, Op) else ABSENT
        content = content_of(node, entry) if isinstance(entry, Op) and entry.sealed is not None else None
        noted = [problems.problem_json(each) for each in problems_about(db, replica, seq)]
        waiting = waiting_because(db, replica, seq)
        after = lanes.op_at(db, replica, seq + 1)
    return Reply(
        200,
        {
            "replica": replica,
            "seq": entry.seq,
            "type": entry.type,
            "hlc": str(entry.hlc),
            "ms": entry.hlc.ms,
            "hash": entry.hash,
            "prev": entry.prev,
            "next": None if after is None else after.seq,
            "bodyHash": entry.body_hash,
            "sig": entry.sig,
            "to": None if entry.to is None else [*entry.to],
            "stub": not isinstance(entry, Op),
            "size": len(line),
            "body": None if body is ABSENT else body,
            "content": None if content is None else _content(node, content),
            "waiting": [*waiting],
            "problems": [*noted],
        },
    )


def _content(node: Node, content: Content) -> dict[str, JsonValue]:
    """What a sealed op says here; a message whole only where this machine's person may read it."""
    match content:
        case Closed(reason=reason):
            return {"kind": "closed", "text": reason, "message": None}
        case Mail(message=message, may_read=may_read):
            whole = message_json(node.host, message) if may_read else None
            return {"kind": "mail", "text": "", "message": whole}
    return {"kind": "state", "text": f"{len(content.entries)} reports", "message": None}


def _extent(node: Node, replica: str) -> Extent:
    found = next((each for each in lanes.extents(node.store.db) if each.replica == replica), None)
    if found is None:
        raise Refusal(404, str(Code.NOT_FOUND), "nothing is known here of a chain of that replica")
    return found


def _seq(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:17]) <= _MOST:
        raise _absent()
    return int(text)


def _absent() -> Refusal:
    return Refusal(404, str(Code.NOT_FOUND), "there is no such op here")


_INTS: Final = listing({"type": "integer"})
_CHAIN: Final = record(
    {
        "replica": TEXT,
        "me": FLAG,
        "handle": MAYBE_TEXT,
        "device": MAYBE_TEXT,
        "standing": {"enum": ["member", "revoked", "unknown"]},
        "cut": or_null(COUNT),
        "first": COUNT,
        "last": COUNT,
        "count": COUNT,
        "firstMs": COUNT,
        "lastMs": COUNT,
        "halted": or_null(record({"seq": COUNT, "reason": TEXT, "text": TEXT})),
        "fork": or_null(
            record({"seq": COUNT, "rivals": listing(record({"seq": COUNT, "hash": TEXT, "type": TEXT}))})
        ),
    }
)

ROUTES: Final = (
    Route(
        "GET",
        "/node/chains",
        "listChains",
        Who.OPERATOR,
        "The chains: a lane each, how long they are and how they end",
        _chains,
        {
            200: Answer(
                "Them, by replica. Times are milliseconds since 1970.", record({"chains": listing(_CHAIN)})
            )
        },
        tag="node",
    ),
    Route(
        "GET",
        "/node/chains/{replica}/ops",
        "listOps",
        Who.OPERATOR,
        "A part of a chain, as it is drawn",
        _ops,
        {
            200: Answer(
                "The ops in columns: the first of each belongs to the first op. `types` and `recipients` are places in "
                "`typeNames` and `recipientLists`. `next` is where to go on, null at the end.",
                record(
                    {
                        "replica": TEXT,
                        "seqs": _INTS,
                        "times": _INTS,
                        "types": _INTS,
                        "stubs": _INTS,
                        "recipients": _INTS,
                        "typeNames": listing(TEXT),
                        "recipientLists": listing(listing(TEXT)),
                        "links": listing(
                            record({"kind": TEXT, "seq": COUNT, "replica": TEXT, "toSeq": or_null(COUNT)})
                        ),
                        "next": or_null(COUNT),
                    }
                ),
            )
        },
        query=(
            number("from", "The seq to begin at; else the first.", default=None, lowest=1, highest=_MOST),
            number(
                "at",
                "Instead, begin at the first op of this time or later, in milliseconds since 1970.",
                default=None,
                lowest=0,
                highest=_MOST,
            ),
            number("limit", "How many at most.", default=1_000, lowest=1, highest=MAX_PAGE),
        ),
        refuses={404: "Nothing is known of such a chain."},
        tag="node",
    ),
    Route(
        "GET",
        "/node/chains/{replica}/ops/{seq}",
        "getOp",
        Who.OPERATOR,
        "One op whole",
        _op,
        {
            200: Answer(
                "It; `body` is what it says in the clear, `content` what this machine can read of a sealed one.",
                record(
                    {
                        "replica": TEXT,
                        "seq": COUNT,
                        "type": TEXT,
                        "hlc": TEXT,
                        "ms": COUNT,
                        "hash": TEXT,
                        "prev": TEXT,
                        "next": or_null(COUNT),
                        "bodyHash": TEXT,
                        "sig": TEXT,
                        "to": or_null(listing(TEXT)),
                        "stub": FLAG,
                        "size": COUNT,
                        "body": {},
                        "content": or_null(
                            record(
                                {
                                    "kind": {"enum": ["mail", "state", "closed"]},
                                    "text": TEXT,
                                    "message": or_null({"$ref": "#/components/schemas/Message"}),
                                }
                            )
                        ),
                        "waiting": listing(TEXT),
                        "problems": listing({"type": "object"}),
                    }
                ),
            )
        },
        refuses={404: "There is no such op here."},
        tag="node",
    ),
)
