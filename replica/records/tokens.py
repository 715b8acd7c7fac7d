"""Tokens of the host API: who may use it, and as whom (section A.1). Of a secret its hash alone is kept.

Functions that write assume an open transaction.
"""

import hashlib
import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a token is, and so whom it stands for."""

    APP = "app"
    """The person's, for programs that act for them."""
    TEAM = "team"
    """That of another person whom this machine stands in for."""
    RUN = "run"
    """A session's, while it lives."""
    AGENT = "agent"
    """An agent's, while it is approved."""
    SHARED = "shared"
    """Nobody's: whoever can read this machine's files may ask to be let in."""
    PAGE = "page"
    """A browser's, kept in a cookie."""
    CODE = "code"
    """One that a browser gives for one of its own, once."""


class Tier(StrEnum):
    """How much a person's token lets do; each holds those before it."""

    REQUEST = "request"
    DECIDE = "decide"
    OPERATOR = "operator"

    def holds(self, other: "Tier") -> bool:
        """Whether it lets do what `other` does."""
        return _LADDER.index(self) >= _LADDER.index(other)


_LADDER: Final = tuple(Tier)
_COLUMNS: Final = "id, kind, address, tier, label, made_at, expires_at"


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token. `address` is whose it is, None for nobody's; `expires_at` None for one that stays."""

    id: str
    kind: Kind
    address: str | None
    tier: Tier | None
    label: str
    made_at: str
    expires_at: str | None = None


def hash_of(secret: str) -> str:
    """What is kept of a secret. It holds 256 random bits, so that its hash tells nothing of it."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def insert(db: sqlite3.Connection, token: Token, secret: str) -> None:
    """Keep a new token."""
    db.execute(
        f"INSERT INTO tokens (hash, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            hash_of(secret),
            token.id,
            token.kind,
            token.address,
            token.tier,
            token.label,
            token.made_at,
            token.expires_at,
        ),
    )


def find(db: sqlite3.Connection, secret: str) -> Token | None:
    """The token of a secret, whether it is still good or not."""
    row = db.execute(f"SELECT {_COLUMNS} FROM tokens WHERE hash = ?", (hash_of(secret),)).fetchone()
    return None if row is None else _token(row)


def by_id(db: sqlite3.Connection, token_id: str) -> Token | None:
    """The token of an id."""
    row = db.execute(f"SELECT {_COLUMNS} FROM tokens WHERE id = ?", (token_id,)).fetchone()
    return None if row is None else _token(row)


def every(db: sqlite3.Connection) -> list[Token]:
    """All tokens, the oldest first."""
    return [_token(row) for row in db.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY made_at, id")]


def remove(db: sqlite3.Connection, token_id: str) -> bool:
    """Let a token be good no more; whether there was one."""
    return db.execute("DELETE FROM tokens WHERE id = ?", (token_id,)).rowcount > 0


def remove_of(db: sqlite3.Connection, address: str) -> None:
    """Let all tokens of an address be good no more."""
    db.execute("DELETE FROM tokens WHERE address = ?", (address,))


def remove_kind(db: sqlite3.Connection, kind: Kind) -> None:
    """Let all tokens of a kind be good no more."""
    db.execute("DELETE FROM tokens WHERE kind = ?", (kind,))


def remove_expired(db: sqlite3.Connection, now: str) -> None:
    """Forget those whose time is over."""
    db.execute("DELETE FROM tokens WHERE expires_at <= ?", (now,))


def _token(row: tuple[str, str, str | None, str | None, str, str, str | None]) -> Token:
    id_, kind, address, tier, label, made_at, expires_at = row
    return Token(id_, Kind(kind), address, None if tier is None else Tier(tier), label, made_at, expires_at)
