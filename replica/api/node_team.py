"""The team, its transports and what is wrong, for the page of the person who runs this machine."""

from collections.abc import Callable
from typing import Final

from core.errors import Code, DmpError, invalid
from crypto.roster.bodies import Role
from replica.api.schemas import COUNT, FLAG, MAYBE_TEXT, TEXT, given, listing, or_null, record, ref
from replica.api.table import Answer, Call, Reply, Route, Schema, Who, Work
from replica.host import problems
from replica.moving import arriving
from replica.node import DirectoryNode
from replica.passes import sync_pass
from replica.records import transports
from replica.records.link import remembered
from replica.records.meta import Meta, get
from replica.sync import SyncPass
from replica.team import commands, shown
from replica.ways import Ways
from transports.base import TransportError

TAG: Final = "node"


def _team(node: DirectoryNode, _: Call) -> Reply:
    own = {"replica": node.me, "handle": node.handle, "fingerprint": node.identity.fingerprint}
    if node.team is None:
        return Reply(200, {"me": {**own}, "team": None, "pending": []})
    return Reply(200, {"me": {**own}, "team": shown.roster(node), "pending": [*shown.pending(node)]})


def _admit(node: DirectoryNode, call: Call) -> Reply:
    replica, fingerprint = _text(call, "replica"), _text(call, "fingerprint")
    role, observer = _optional(call, "role") or "member", _flag(call, "observer")
    if role not in tuple(Role):
        raise invalid("role", f"role must be one of {', '.join(Role)}")
    if observer and role != Role.MEMBER:
        raise invalid("role", "an observer has no other role")
    return _change(
        node, lambda sync: commands.admit(sync, replica, fingerprint, Role(role), observer=observer)
    )


def _revoke(node: DirectoryNode, call: Call) -> Reply:
    replica, reason = _text(call, "replica"), _text(call, "reason")
    return _change(node, lambda sync: commands.revoke(sync, replica, reason))


def _change(node: DirectoryNode, what: Callable[[SyncPass], bool]) -> Reply:
    """Change the roster over the main transport. Raises DmpError, TransportError."""
    link = remembered(node.store.db)
    if link is None:
        raise DmpError(Code.CONFLICT, "this replica is in no team yet; found or join one with `dmp`")
    with Ways(node) as ways, sync_pass(node, ways.open(link)) as sync:
        try:
            changed = what(sync)
        except TransportError as error:
            if not commands.unpublished_changes(node):
                raise
            said = f"{error.message.rstrip('.')}. The change is signed, but nobody can see it yet; the next sync tells"
            raise DmpError(Code.UNAVAILABLE, said) from None
    return Reply(200, {"done": True, "already": not changed})


def _transports(node: DirectoryNode, _: Call) -> Reply:
    found = [shown.transport_json(node, each) for each in transports.records(node.store.db)]
    team = node.team
    absent = [] if team is None else [team.describe(replica) for replica in sorted(arriving(node))]
    return Reply(
        200,
        {
            "transports": [*found],
            "absent": [*absent],
            "syncedAt": get(node.store.db, Meta.SYNCED_AT),
            "stopped": get(node.store.db, Meta.STOPPED),
            "paused": get(node.store.db, Meta.PAUSED),
        },
    )


def _problems(node: DirectoryNode, _: Call) -> Reply:
    found = problems.all_problems(node, seen=True)
    return Reply(200, {"problems": [problems.problem_json(each) for each in found]})


def _see(node: DirectoryNode, call: Call) -> Reply:
    done = problems.acknowledge(node, _text(call, "subject"))
    return Reply(200, {"done": True, "already": not done})


def _text(call: Call, name: str) -> str:
    found = _optional(call, name)
    if found is None:
        raise invalid(name, f"{name} must be a string")
    return found


def _optional(call: Call, name: str) -> str | None:
    if not isinstance(call.body, dict):
        raise invalid(None, "the input must be a JSON object")
    found = call.body.get(name)
    if name in call.body and not isinstance(found, str):
        raise invalid(name, f"{name} must be a string")
    return found if isinstance(found, str) else None


def _flag(call: Call, name: str) -> bool:
    found = call.body.get(name, False) if isinstance(call.body, dict) else False
    if not isinstance(found, bool):
        raise invalid(name, f"{name} must be true or false")
    return found


_DONE: Final = record({"done": FLAG, "already": FLAG})
_MEMBER: Final = record(
    {
        "replica": TEXT,
        "handle": TEXT,
        "device": MAYBE_TEXT,
        "role": TEXT,
        "rank": or_null(COUNT),
        "recovered": FLAG,
        "hosts": listing(TEXT),
        "observer": FLAG,
        "fingerprint": TEXT,
        "lastHeard": or_null(ref("Timestamp")),
    }
)
_TEAM: Final = record(
    {
        "team": TEXT,
        "name": TEXT,
        "founder": TEXT,
        "members": listing(_MEMBER),
        "revoked": listing(record({"replica": TEXT, "handle": MAYBE_TEXT, "reason": TEXT, "by": TEXT})),
        "pending": listing(TEXT),
        "people": listing(TEXT),
        "seats": COUNT,
        "syncedAt": or_null(ref("Timestamp")),
    }
)
_PENDING: Final = record(
    {"replica": TEXT, "handle": TEXT, "device": TEXT, "fingerprint": TEXT, "by": MAYBE_TEXT}
)
_TRANSPORT: Final = record(
    {
        "address": TEXT,
        "branch": TEXT,
        "use": {"enum": ["main", "other", "former main"]},
        "reachable": {"type": ["boolean", "null"]},
        "seenAt": or_null(ref("Timestamp")),
        "waiting": or_null(COUNT),
        "failedAt": or_null(ref("Timestamp")),
        "error": MAYBE_TEXT,
    }
)
_PROBLEM: Final = record(
    {
        "subject": TEXT,
        "text": TEXT,
        "replica": MAYBE_TEXT,
        "seq": or_null(COUNT),
        "at": TEXT,
        "remedy": TEXT,
        "mayBeSeen": FLAG,
        "seen": FLAG,
    }
)
_ROSTER_REFUSALS: Final = {
    403: "Not the person who runs this machine, or it has no right to.",
    404: "No such machine, or no team.",
    409: "It is not so that this could be done; the text says why.",
    503: "The team cannot be reached.",
}


def _get(
    path: str, name: str, summary: str, handler: Callable[[DirectoryNode, Call], Reply], schema: Schema
) -> Route:
    return Route(
        "GET", path, name, Who.OPERATOR, summary, handler, {200: Answer("So it is.", schema)}, tag=TAG
    )


def _post(
    path: str,
    name: str,
    summary: str,
    handler: Callable[[DirectoryNode, Call], Reply],
    takes: Schema,
    *,
    work: Work = Work.FAR,
) -> Route:
    return Route(
        "POST",
        path,
        name,
        Who.OPERATOR,
        summary,
        handler,
        {200: Answer("Done; `already` where it was so before.", _DONE)},
        work=work,
        takes=takes,
        refuses=_ROSTER_REFUSALS,
        tag=TAG,
    )


ROUTES: Final = (
    _get(
        "/node/team",
        "getTeam",
        "Who is in the team, and which machines wait to be admitted, with their fingerprints",
        _team,
        record(
            {
                "me": record({"replica": TEXT, "handle": TEXT, "fingerprint": TEXT}),
                "team": or_null(_TEAM),
                "pending": listing(_PENDING),
            }
        ),
    ),
    _post(
        "/node/team/admit",
        "admitMachine",
        "Admit a machine whose fingerprint its owner read out",
        _admit,
        given(
            {"replica": TEXT, "fingerprint": TEXT}, {"role": {"enum": [*map(str, Role)]}, "observer": FLAG}
        ),
    ),
    _post(
        "/node/team/revoke",
        "revokeMachine",
        "Put a machine out of the team",
        _revoke,
        given({"replica": TEXT, "reason": TEXT}),
    ),
    _get(
        "/node/transports",
        "listTransports",
        "Where this machine meets its team, and how each place fared last",
        _transports,
        record(
            {
                "transports": listing(_TRANSPORT),
                "absent": listing(TEXT),
                "syncedAt": or_null(ref("Timestamp")),
                "stopped": MAYBE_TEXT,
                "paused": MAYBE_TEXT,
            }
        ),
    ),
    _get(
        "/node/problems",
        "listProblems",
        "What is wrong here, and what to do about it",
        _problems,
        record({"problems": listing(_PROBLEM)}),
    ),
    _post(
        "/node/problems/seen",
        "seeProblem",
        "Show a problem no more until its text changes",
        _see,
        given({"subject": TEXT}),
        work=Work.WRITE,
    ),
)
