"""The tools: their names and parameters, exactly those of sections B.1 and B.3, and what each says of itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.message import State
from replica.mcp import mail, memories
from replica.mcp.call import Call, Result, Waits
from replica.node import Node
from replica.shared.memory.bodies import KINDS
from replica.shared.memory.proposals import SCOPES

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `writes` when it changes anything, `again` when doing it again changes nothing more."""

    name: str
    title: str
    text: str
    run: Callable[[Node, Call], Result | Waits]
    required: Mapping[str, Schema]
    optional: Mapping[str, Schema]
    writes: bool = True
    again: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {**self.required, **self.optional},
            "required": [*self.required],
            "additionalProperties": False,
        }


def _text(says: str, **more: Any) -> Schema:
    return {"type": "string", "description": says, **more}


def _flag(says: str, default: bool) -> Schema:
    return {"type": "boolean", "description": says, "default": default}


def _texts(says: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": says}


def _count(says: str, default: int, highest: int) -> Schema:
    return {"type": "integer", "minimum": 1, "maximum": highest, "default": default, "description": says}


_REFS: Final[Schema] = {
    "type": "array",
    "description": "What it is about.",
    "items": {
        "type": "object",
        "properties": {
            "type": _text("task, run, file, commit or message."),
            "id": _text("Its id; of a file its path."),
            "at": _text("Of a file, the commit it is read at."),
        },
        "required": ["type", "id"],
    },
}

_DATA: Final[Schema] = {
    "description": 'Data for programs: an object whose "type" starts with x-. A session that wants to write outside '
    'its paths asks its human with {"type": "scope", "paths": [...], "reason": "..."}, as a blocking question with the '
    "choices grant and deny.",
}

_MEMBER: Final = _text("The address that does; yours by default.")
_CHANNEL: Final = _text("The channel's name, without channel: before it.")
_MEMORY: Final = _text("The entry's id or handle.")

TOOLS: Final = (
    Tool(
        "msg_send",
        "Send a message",
        "Send a message to people, agents, work items, sessions or channels. With blocking true, a question or a "
        "handoff waits for its answer: up to 30 minutes for a human, shorter for anybody else.",
        mail.msg_send,
        {
            "to": _texts(
                "Addresses: human:ada, agent:ada/claude, task:t-4a8cce, run:r-9f2c01, channel:logins."
            ),
            "kind": _text("message, question, answer, handoff, notice, or a private one such as x-ping."),
            "body": _text("What to say, in Markdown."),
        },
        {
            "refs": _REFS,
            "data": _DATA,
            "urgent": _flag("Push it also to those a channel reaches. Few an hour are allowed.", False),
            "blocking": _flag("Wait for the answer. For questions and handoffs.", False),
            "choices": _texts("The answers that a question or a handoff offers."),
            "wake": _text(
                "request asks to have a session started for a work item that has none.",
                enum=["none", "request"],
                default="none",
            ),
        },
    ),
    Tool(
        "msg_reply",
        "Reply to a message",
        "Reply to a message: the answer to a question or a handoff, else a plain message to its sender.",
        mail.msg_reply,
        {"messageId": _text("The message to reply to."), "body": _text("What to say, in Markdown.")},
        {"choice": _text("The choice made, where the question offers some.")},
    ),
    Tool(
        "inbox_read",
        "Read your mailbox",
        "Read your mailbox, the newest first; unread mail alone unless a state is named. What is returned is marked "
        "read unless markRead is false.",
        mail.inbox_read,
        {},
        {
            "state": _text("Only mail in this state.", enum=[str(each) for each in State]),
            "limit": _count("How many messages at most.", mail.PAGE, mail.MAX_PAGE),
            "markRead": _flag("Whether to mark what is returned read.", True),
        },
    ),
    Tool(
        "thread_read",
        "Read a thread",
        "Read the messages of a thread, each with how far it got.",
        mail.thread_read,
        {"threadId": _text("The thread's id; a message names its own in thread.")},
        {},
        writes=False,
        again=True,
    ),
    Tool(
        "channel_join",
        "Join a channel",
        "Join a channel, which that creates. A session joins as its work item.",
        mail.channel_join,
        {"name": _CHANNEL},
        {"member": _MEMBER},
        again=True,
    ),
    Tool(
        "channel_leave",
        "Leave a channel",
        "Leave a channel.",
        mail.channel_leave,
        {"name": _CHANNEL},
        {"member": _MEMBER},
        again=True,
    ),
    Tool(
        "channel_list",
        "List the channels",
        "List every channel with its members. The work items of an epic are the implicit members of epic/ and its id.",
        mail.channel_list,
        {},
        {},
        writes=False,
        again=True,
    ),
    Tool(
        "memory_search",
        "Search memory",
        "Search what is kept in mind for you, this project and the team. All words of the query must be in an entry; "
        "an empty one returns the top entries. How far an entry is trusted stands in trust: human, confirmed or agent.",
        memories.memory_search,
        {"query": _text("Words to look for; may be empty.")},
        {
            "scope": _text("Only entries of one scope.", enum=[*SCOPES]),
            "kind": _text("Only entries of one kind.", enum=[*KINDS]),
            "includeStale": _flag("Also entries that others took the place of, marked stale.", True),
            "limit": _count("How many entries at most.", memories.MAX_HITS, memories.MAX_HITS),
        },
        writes=False,
        again=True,
    ),
    Tool(
        "memory_read",
        "Read an entry of memory",
        "Read one entry: what it says, who wrote it, how far it is trusted, and its revisions.",
        memories.memory_read,
        {"id": _MEMORY},
        {},
        writes=False,
        again=True,
    ),
    Tool(
        "memory_save",
        "Save to memory",
        "Keep something in mind. A personal entry counts at once; a human is asked about one of the project or the "
        "team.",
        memories.memory_save,
        {
            "scope": _text("Whose it is. What is the team's leaves this machine.", enum=[*SCOPES]),
            "kind": _text("What kind of thing it is.", enum=[*KINDS]),
            "title": _text("What it is about, in one line of at most 200 bytes."),
            "body": _text("What to remember, at most 8 KiB."),
        },
        {
            "refs": _texts("What it is about, each as TYPE:ID, such as commit:1a2b3c."),
            "epic": _text("The epic it belongs to, e-…"),
            "appliesTo": _texts("The paths it is for, such as src/**."),
            "supersedes": _texts("Entries in whose place it is, by their ids or handles."),
            "projectOnly": _flag("Keep it on this machine, for this project alone.", False),
        },
    ),
    Tool(
        "memory_forget",
        "Forget an entry of memory",
        "Let an entry count no more. A personal one is forgotten at once; a human is asked about any other.",
        memories.memory_forget,
        {"id": _MEMORY, "reason": _text("Why, in one line. Whoever decides reads it.")},
        {},
        again=True,
    ),
)
"""Every tool, in the order of the specification."""

BY_NAME: Final[Mapping[str, Tool]] = {each.name: each for each in TOOLS}
