"""Addresses that mean something of their own to this host and its teammates' (sections 2.3, F.5)."""

from typing import Final

from core.errors import invalid
from crypto.keys import HANDLE

SYSTEM_ADDRESS: Final = "agent:dispatch"
"""The system address every replica's host announces (2.3); another replica's is an ordinary agent here."""


def check_handle(handle: str) -> None:
    """Raise DmpError `invalid` on `handle` for what cannot be a person's name in a team."""
    if HANDLE.fullmatch(handle) is None:
        raise invalid(
            "handle", "a handle is 1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit"
        )


def never_federates(address: str) -> bool:
    """Whether an address takes part in nothing that leaves its host: the overseer, A2A clients and peers (9.1)."""
    scheme, _, name = address.partition(":")
    last = name.rpartition("/")[2]
    return scheme == "a2a" or (scheme == "agent" and (last == "overseer" or last.startswith("a2a.")))
