"""Channels and who is in them (sections 7.2, 7.3, A.2)."""

from core.errors import Code, invalid
from core.message import Absent
from replica.api.acting import may_act_for
from replica.api.errors import Refusal
from replica.api.schemas import given, listing, record, ref
from replica.api.table import Answer, Call, Reply, Route, Who, Work
from replica.host import groups
from replica.host.boxes import member_of
from replica.node import DirectoryNode, Node


def _list(node: DirectoryNode, _: Call) -> Reply:
    return Reply(200, {"channels": groups.every_json(node)})


def _join(node: DirectoryNode, call: Call) -> Reply:
    node.engine.join(call.path["name"], _member(node, call, _named(call)))
    return Reply(204)


def _leave(node: DirectoryNode, call: Call) -> Reply:
    if not node.engine.leave(call.path["name"], _member(node, call, call.path.get("addr"))):
        raise Refusal(404, str(Code.NOT_FOUND), "not a member of that channel", "member")
    return Reply(204)


def _named(call: Call) -> str | None:
    """Whom the body names. Raises DmpError `invalid` on `member`."""
    if isinstance(call.body, Absent):
        return None
    if not isinstance(call.body, dict):
        raise invalid(None, "the input must be a JSON object")
    named = call.body.get("member")
    if "member" in call.body and not isinstance(named, str):
        raise invalid("member", "member must be an address")
    return named if isinstance(named, str) else None


def _member(node: Node, call: Call, named: str | None) -> str:
    """Who joins or leaves: the caller, a session as its work item, or one whom the caller acts for."""
    own = call.caller.sender.address
    if named is None:
        return member_of(node.host, own)
    if not may_act_for(node, call.caller, named):
        raise Refusal(403, str(Code.FORBIDDEN), "you do not act for that address", "member")
    return named


_MEMBER = "The caller does not act for that address."

ROUTES = (
    Route(
        "GET",
        "/api/channels",
        "listChannels",
        Who.PRINCIPAL,
        "List the channels and their members, those of epics too",
        _list,
        {
            200: Answer(
                "Them, by name; `implicit` are members by being work items of the epic.",
                record(
                    {
                        "channels": listing(
                            record(
                                {
                                    "channel": {"type": "string"},
                                    "members": listing(ref("Address")),
                                    "implicit": listing(ref("Address")),
                                }
                            )
                        )
                    }
                ),
            )
        },
        tag="channels",
    ),
    Route(
        "POST",
        "/api/channels/{name}/members",
        "joinChannel",
        Who.PRINCIPAL,
        "Join a channel; a session joins as its work item",
        _join,
        {204: Answer("A member now, whether before or not.")},
        work=Work.WRITE,
        takes=given({}, {"member": ref("Address")}),
        needs_body=False,
        refuses={403: _MEMBER},
        tag="channels",
    ),
    Route(
        "DELETE",
        "/api/channels/{name}/members",
        "leaveChannel",
        Who.PRINCIPAL,
        "Leave a channel; a session leaves as its work item",
        _leave,
        {204: Answer("A member no more.")},
        work=Work.WRITE,
        refuses={404: "The caller is no member."},
        tag="channels",
    ),
    Route(
        "DELETE",
        "/api/channels/{name}/members/{addr}",
        "removeFromChannel",
        Who.PRINCIPAL,
        "Take somebody out of a channel whom the caller acts for",
        _leave,
        {204: Answer("A member no more.")},
        work=Work.WRITE,
        refuses={403: _MEMBER, 404: "That is no member."},
        tag="channels",
    ),
)
