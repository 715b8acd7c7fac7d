"""What the help of `dmp` says of each command: the first sentence of the command's own help.

It stands here too, so that to list the commands none of them has to be read. A command that is not here is read.
"""

from collections.abc import Mapping
from typing import Final

LINES: Final[Mapping[str, str]] = {
    "init": "Make a replica: keys, an id and an empty store.",
    "team": "Found a team, let people in, see who is in it.",
    "join": "Ask to join a team, with an invite CODE or without one.",
    "send": "Send BODY to one or more addresses, such as human:bob.",
    "reply": "Reply to the sender of a message, or answer a question.",
    "sync": "Publish what waits here, and fetch what teammates sent.",
    "transport": "See, add and remove the places where this machine meets its team.",
    "inbox": "List your mail on this machine, the newest last.",
    "read": "Show a message, and mark it as read.",
    "thread": "Show a thread, and how far each message in it got.",
    "open": "List the blocking questions that nobody has answered.",
    "task": "Work items: what is to be done, by whom, and how far it is.",
    "session": "Be a session that takes a work item's mail, or see which there are.",
    "agent": "Agents of yours: programs that send and receive under a name of their own.",
    "channel": "Channels: mail to one reaches all its members.",
    "doc": "Documents of the team: texts with a history, which everybody may change.",
    "memory": "Memory: what you, your agents and your team keep in mind.",
    "gates": "List the gates that wait for your decision; raise one; wait for one.",
    "answer": "Answer a question, a handoff or a gate.",
    "close": "Close a question, a handoff or a gate that was asked here, without an answer.",
    "problems": "List what is wrong here, where in whose log, and what to do about it.",
    "resume": "Sign again after a pause, on your word.",
    "serve": "Run this replica until it is told to stop: it syncs, delivers, keeps time, and "
    "serves programs and browsers.",
    "mcp": "Serve an agent's tools over the Model Context Protocol, on standard input and output.",
    "service": "See whether a service runs and what it goes by, and let systemd start it.",
    "log": "List what was refused, what came to a halt, and who changed the roster, the newest last.",
    "doctor": "Look at this replica's keys, store, clock, chain, team, transports, disk and settings, and "
    "say what to do.",
    "backup": "Copy all of this replica into FILE, whatever runs meanwhile.",
    "restore": "Make a replica from a backup, in a directory where there is none.",
    "audit": "Verify what a team has signed.",
    "op": "Look at signed ops.",
    "token": "Tokens by which programs use this replica over HTTP, while `dmp serve` runs.",
    "web": "Print a link that opens this replica's page, signed in as you.",
    "export": "Write the log of the team as it is known here to FILE, or to standard output: one op a line.",
    "import": "Take in the log of a team from FILE, or from standard input with `-`.",
    "relay": "Run a relay: a server that keeps teams' ops and passes them on.",
    "completion": "Print what makes SHELL complete what you type of `dmp`.",
}
