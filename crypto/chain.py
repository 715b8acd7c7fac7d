"""Verifying a chain: each op follows the one before it, under one key (section F.1, federation wire 2).

`verify_entry` is one step, `verify_log` a whole log whose entries are all its publisher's own words, such as
what a relay is handed. A log that fails **halts**: nothing after the op that failed is ever accepted under
that key. What a log from an open place needs before it can be judged so is in `lane`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from crypto.clock import Reading
from crypto.ed25519 import SIGNATURE_BYTES, verify
from crypto.encoding import EncodingError, unb64u
from crypto.keys import KeyBody, KeyBodyError, parse_key_body
from crypto.op import ABSENT, ZERO_HASH, Entry, OpError, Unreadable, Unverified, breach, tampering

SHARED_SEQ: Final = "two ops share this seq"
PREV_MISMATCH: Final = "prev does not match"
BAD_SIGNATURE: Final = "bad signature"
NO_KEY_OP: Final = "a log must start with its key op"
MALFORMED_KEY: Final = "malformed key op"
OTHER_KEY: Final = "its key op shows another key than the one pinned"


@dataclass(frozen=True, slots=True)
class Head:
    """The last op of a chain that was accepted."""

    seq: int
    hash: str
    hlc: Reading


@dataclass(frozen=True, slots=True)
class Halt:
    """Where a log halted, the reason as federation wire 2.1 words it, and a sentence for people."""

    seq: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a chain was read: its head (None before its key op) and its halt, past which nothing counts."""

    head: Head | None = None
    halted: Halt | None = None


@dataclass(frozen=True, slots=True)
class LogResult:
    """What `verify_log` accepted, in chain order, where the log stands now, and the key its key op announced.

    `key` is the pinned key where there was one.
    """

    accepted: tuple[Entry, ...]
    cursor: Cursor
    key: KeyBody | None


class Link(Protocol):
    """What places an entry in its chain."""

    @property
    def seq(self) -> int: ...
    @property
    def prev(self) -> str: ...
    @property
    def hlc(self) -> Reading: ...
    @property
    def type(self) -> str: ...
    @property
    def pruned(self) -> bool: ...


def link_flaw(read: Link, head: Head | Unverified | None) -> str | None:
    """Return why an entry does not follow `head`, or None: checks 10 to 14 of federation wire 2.1.

    The head may be given as the entry it is.
    """
    if head is None:
        starts = not read.pruned and read.type == "key" and read.prev == ZERO_HASH
        return None if starts else NO_KEY_OP
    if read.type == "key":
        return "a second key op"
    if read.prev != head.hash:
        return PREV_MISMATCH
    if read.seq <= head.seq:
        return "seq must rise"
    if read.hlc.key <= head.hlc.key:
        return "hlc must rise"
    return None


def is_signed(read: Unverified, key: bytes) -> bool:
    """Whether an entry's header carries the signature of this Ed25519 public key."""
    try:
        signature = unb64u(read.sig, SIGNATURE_BYTES)
    except EncodingError:
        return False
    return verify(key, read.signed, signature)


def verify_entry(read: Unverified, head: Head | None, key: bytes) -> Entry:
    """Verify that an entry follows `head` and is its publisher's, under an Ed25519 public key.

    Raises OpError with the first reason against it, in the order of federation wire 2.1.
    """
    flaw = link_flaw(read, head) or (None if is_signed(read, key) else BAD_SIGNATURE)
    flaw = flaw or tampering(read) or breach(read)
    if flaw is not None:
        raise OpError(flaw)
    return read.entry()


def announced_key(read: Unverified, pinned: KeyBody | None) -> KeyBody:
    """Return the key that a verified key op announces: step 6 of federation wire 2.2.

    Raises OpError with the reason when it announces none, or another than the one pinned.
    """
    try:
        body = parse_key_body(None if read.body is ABSENT else read.body)
    except KeyBodyError:
        raise OpError(MALFORMED_KEY) from None
    if pinned is not None and pinned != body:
        raise OpError(OTHER_KEY)
    return body


def halt(replica: str, seq: int, reason: str) -> Halt:
    """Return a halt with the sentence that tells a person what happened and what helps."""
    remedy = (
        "its owner has to join afresh under a new id, and this one should be revoked"
        if reason == OTHER_KEY
        else f"revoke {replica} if its machine or key cannot be trusted; if only the copy here was damaged, "
        "have its owner push its log again"
    )
    return Halt(seq, reason, f"the log of {replica} halts at seq {seq} ({reason}); {remedy}")


def verify_log(
    replica: str, entries: Iterable[Unverified | Unreadable], cursor: Cursor, pinned: KeyBody | None
) -> LogResult:
    """Verify a log from its cursor on, as federation wire 2.2 says; the order of `entries` means nothing.

    `pinned` is the key this replica is known by; None while its key op has not been seen. The first entry
    that fails halts the log, so only entries that its publisher vouched for belong here.
    """
    if cursor.halted is not None:
        return LogResult((), cursor, pinned)
    by_seq, fork_at = _one_per_seq(replica, entries)
    head, key, accepted = cursor.head, pinned, list[Entry]()
    if head is None and not any(read.type == "key" for read in by_seq.values()):
        return LogResult((), cursor, pinned)  # it waits for its key op
    stop: Halt | None = None
    for seq, read in sorted(by_seq.items()):
        if fork_at is not None and seq >= fork_at:
            stop = halt(replica, fork_at, SHARED_SEQ)
            break
        if head is not None and seq <= head.seq:
            if seq == head.seq and read.hash != head.hash:
                stop = halt(replica, seq, SHARED_SEQ)
                break
            continue
        try:
            entry, key = _next(read, head, key)
        except OpError as error:
            stop = halt(replica, seq, str(error))
            break
        accepted.append(entry)
        head = Head(entry.seq, entry.hash, entry.hlc)
    return LogResult(tuple(accepted), Cursor(head, stop), key)


def _one_per_seq(
    replica: str, entries: Iterable[Unverified | Unreadable]
) -> tuple[dict[int, Unverified | Unreadable], int | None]:
    """Return the entry to judge at each seq, and the lowest seq that two different ops share."""
    by_seq: dict[int, Unverified | Unreadable] = {}
    shared: list[int] = []
    for read in entries:
        if read.replica != replica or read.seq is None:
            continue
        other = by_seq.setdefault(read.seq, read)
        if other is read:
            continue
        if other.hash is None or other.hash != read.hash:
            shared.append(read.seq)
        by_seq[read.seq] = min(other, read, key=_preference)
    return by_seq, min(shared, default=None)


def _preference(read: Unverified | Unreadable) -> tuple[bool, bool, bool]:
    """Order entries of one opHash: what can be read first, then what was not tampered with, then content."""
    if isinstance(read, Unreadable):
        return True, True, True
    return False, tampering(read) is not None, read.pruned


def _next(
    read: Unverified | Unreadable, head: Head | None, key: KeyBody | None
) -> tuple[Entry, KeyBody | None]:
    """Verify the entry that comes next. Raises OpError with the reason the log halts for."""
    if isinstance(read, Unreadable):
        raise OpError(read.reason)
    if head is not None:
        if key is None:
            raise ValueError("a log that was begun needs the key that began it")
        return verify_entry(read, head, key.sign_key), key
    flaw = link_flaw(read, None)
    if flaw is not None:
        raise OpError(flaw)
    entry = verify_entry(read, None, _own_sign_key(read))
    return entry, announced_key(read, key)


def _own_sign_key(read: Unverified) -> bytes:
    """Return the signing key that a key op's own body carries."""
    sign_pub = read.body.get("signPub") if isinstance(read.body, dict) else None
    if not isinstance(sign_pub, str):
        raise OpError(MALFORMED_KEY)
    try:
        return unb64u(sign_pub)
    except EncodingError:
        raise OpError(BAD_SIGNATURE) from None
