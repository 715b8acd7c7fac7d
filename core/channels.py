"""Channels: named groups, and who is in them (sections 3.6, 7.2, 7.3).

Explicit members are registers of the kind `channel`: the subject is the channel's bare name, the field a
member's address, the value whether it is one. So a channel exists from its first join, even when all have left.
Functions that write assume an open transaction.
"""

import sqlite3
from collections.abc import Mapping
from typing import Final

from core.address import Grammar, parse_address
from core.errors import invalid
from core.host import Host
from core.store import registers
from crypto.canonical import JsonValue

REGISTERS: Final = "channel"
MEMBER_SCHEMES: Final = ("task", "human", "agent", "a2a")


def join(db: sqlite3.Connection, grammar: Grammar, channel: str, member: str) -> None:
    """Make an address a member; joining again changes nothing.

    Raises DmpError `invalid`: on `channel` for no name of a channel, on `member` for what is no member's address.
    """
    _check_name(channel, grammar)
    if parse_address(member, "member", grammar).kind not in MEMBER_SCHEMES:
        raise invalid(
            "member", "a work item, a human, an agent or a peer joins; a session joins as its work item"
        )
    if member not in members(db, channel):
        registers.edit(db, REGISTERS, channel, {member: True})


def leave(db: sqlite3.Connection, grammar: Grammar, channel: str, member: str) -> bool:
    """Remove an explicit member; return whether there was one. One that the host computes stays.

    Raises DmpError `invalid` on `channel` or `member` for what is no name or no address.
    """
    _check_name(channel, grammar)
    parse_address(member, "member", grammar)
    if member not in members(db, channel):
        return False
    registers.edit(db, REGISTERS, channel, {member: False})
    return True


def members(db: sqlite3.Connection, channel: str) -> tuple[str, ...]:
    """Return a channel's explicit members, in the order of their addresses; none of one that is unknown."""
    return _joined(registers.fields_of(db, REGISTERS, channel))


def channels(db: sqlite3.Connection) -> tuple[str, ...]:
    """Return the bare names of the channels that somebody ever joined, in their order."""
    return tuple(registers.subjects(db, REGISTERS))


def recipients(db: sqlite3.Connection, host: Host, channel: str) -> tuple[str, ...] | None:
    """Return whom a message to a channel reaches: explicit members, then the host's (section 3.5, step 3).

    A stored member that is a channel is none of them. None for a channel that is unknown.
    """
    fields, computed = registers.fields_of(db, REGISTERS, channel), host.implicit_members(channel)
    if not fields and not computed:
        return None
    found = dict.fromkeys((*_joined(fields), *computed))
    return tuple(member for member in found if not member.startswith("channel:"))


def _joined(fields: Mapping[str, JsonValue]) -> tuple[str, ...]:
    return tuple(member for member, joined in fields.items() if joined is True)


def _check_name(channel: str, grammar: Grammar) -> None:
    parse_address(f"channel:{channel}", "channel", grammar)
