"""What is known of a peer (section 8.9)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from core.errors import DmpError, invalid, not_found
from crypto.canonical import JsonValue

SCHEME: Final = "a2a:"
MAX_ALIAS: Final = 40

_ALIAS: Final = re.compile("[a-z0-9][a-z0-9._-]{0,39}")

Binding = Literal["HTTP+JSON", "JSONRPC"]
BINDINGS: Final[tuple[Binding, ...]] = ("HTTP+JSON", "JSONRPC")


class PeerState(StrEnum):
    """Whether a peer receives mail. Only an active one does."""

    ACTIVE = "active"
    NO_CREDENTIAL = "no-credential"
    """It was added, and nothing is there yet to show it who asks."""
    FAILED = "failed"
    """It refused the credential."""
    DISABLED = "disabled"
    """Its owner disabled it, or its card is not what its owner agreed to any more."""


@dataclass(frozen=True, slots=True)
class Interface:
    """Where a peer is called, and how a credential is shown there: as `header`, after `prefix`."""

    url: str
    binding: Binding
    tenant: str
    header: str
    prefix: str
    streaming: bool


@dataclass(frozen=True, slots=True)
class Declared:
    """An extension that a card declares."""

    uri: str
    required: bool
    params: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that a card names."""

    id: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class About:
    """What a card says of its agent: others' words, to be shown quoted."""

    name: str
    description: str
    skills: tuple[Skill, ...] = ()
    extensions: tuple[Declared, ...] = ()


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer. `options` is what its owner set for extensions; `why` says why it is not active.

    Its card is fetched again at `refresh_at`, in milliseconds since 1970.
    """

    alias: str
    card_url: str
    interface: Interface
    about: About
    state: PeerState
    added_at: str
    refresh_at: int
    options: Mapping[str, str] = field(default_factory=dict)
    why: str = ""

    @property
    def address(self) -> str:
        """What mail to it is addressed to."""
        return f"{SCHEME}{self.alias}"


def check_alias(alias: str) -> str:
    """Return a peer's alias. Raises DmpError `invalid` on `alias`."""
    if _ALIAS.fullmatch(alias) is None:
        raise invalid(
            "alias",
            f"an alias is 1 to {MAX_ALIAS} of a-z, 0-9, '.', '_' and '-', starting with a letter or a digit",
        )
    return alias


def alias_of(address: str) -> str:
    """The alias in a peer's address, or what was given as an alias."""
    return address.removeprefix(SCHEME)


def no_such_peer(alias: str) -> DmpError:
    """The refusal of an alias that no peer has."""
    return not_found(
        "alias", f"there is no peer {alias[:MAX_ALIAS]}; `dmp a2a peer list` shows those there are"
    )
