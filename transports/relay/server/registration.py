"""Registering a team: what it costs, what has to be shown, and the answers as HTTP has them (wire 7.9, 7.11)."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from crypto.canonical import JsonError, JsonValue, Parsed, decode, parse
from crypto.keys import KeyBodyError, parse_key_body, team_id
from crypto.op import ABSENT, MAX_SEQ, Unreadable, Unverified, read_parsed
from crypto.roster import FoundingError, fold
from transports.relay.address import MAX_DIFFICULTY, Stamp
from transports.relay.frames import FRAME_OPS, Carried
from transports.relay.server.limits import Windows
from transports.relay.server.publication import PublicationError, examine
from transports.relay.server.settings import HOUR_MS, Settings
from transports.relay.server.store import Append, NewTeam, Store

BODY_BYTES: Final = 8 * 1024 * 1024
"""The longest request to register a team."""


class Status(IntEnum):
    """What a request to register comes to, as HTTP says it."""

    HELD = 200
    NEW = 201
    BAD = 400
    TOKEN = 401
    PROOF = 403
    RATE = 429
    FULL = 507


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request: the team's id, or a sentence that says what is wrong."""

    status: Status
    team: str = ""
    error: str = ""

    def to_json(self) -> Mapping[str, str]:
        return {"teamId": self.team} if self.team else {"error": self.error}


class _Refusal(Exception):  # noqa: N818 - an answer, not an error of this program
    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status


class Registrar:
    """Registers teams. `register` may run in any thread, one call at a time; `allows` counts the calls."""

    def __init__(self, settings: Settings, store: Store, now: Callable[[], int]) -> None:
        if not 0 <= settings.difficulty <= MAX_DIFFICULTY:
            raise ValueError(f"a difficulty is from 0 to {MAX_DIFFICULTY} bits")
        self._settings = settings
        self._store = store
        self._now = now
        self._sources = Windows(settings.registrations_per_source, HOUR_MS)

    def terms(self) -> Mapping[str, int | bool]:
        """What is asked of a new team."""
        return {
            "difficulty": self._settings.difficulty,
            "tokenRequired": self._settings.token_required,
            "tokenAccepted": bool(self._settings.tokens),
        }

    def allows(self, source: str) -> bool:
        """Count an attempt from a network address, unless it had its share."""
        return self._sources.allow(source, self._now())

    def register(self, body: bytes, token: str | None) -> Answer:
        """Register the team of a founder's chain. `token` is what came with it as Bearer."""
        try:
            return self._register(body, token)
        except _Refusal as refusal:
            return Answer(refusal.status, error=str(refusal))

    def _register(self, body: bytes, token: str | None) -> Answer:
        members = _members(body)
        found = _entry(members, "found")
        team = team_id(found.hash)
        if self._store.found_of(team) == found.hash:
            return Answer(Status.HELD, team)
        self._check_price(members, team, token)
        if self._store.teams() >= self._settings.max_teams:
            raise _Refusal(Status.FULL, "this relay holds as many teams as it may")
        if self._store.used() + len(body) > self._settings.max_bytes:
            raise _Refusal(Status.FULL, "this relay is full")
        append = _founders_chain(members, found)
        self._store.write([NewTeam(team, found.hash, self._now()), append], self._now())
        return Answer(Status.NEW, team)

    def _check_price(self, members: Mapping[str, JsonValue], team: str, token: str | None) -> None:
        settings = self._settings
        if token is not None:
            if not any(hmac.compare_digest(token.encode(), each.encode()) for each in settings.tokens):
                raise _Refusal(Status.TOKEN, "that token does not register teams here")
            return
        if settings.token_required:
            raise _Refusal(Status.TOKEN, "this relay registers teams with a token alone; ask who runs it")
        if settings.difficulty == 0:
            return
        stamp = _stamp(members.get("pow"))
        if stamp.bits(settings.url, team) < settings.difficulty:
            raise _Refusal(
                Status.PROOF,
                f"the proof of work has less than {settings.difficulty} zero bits over {settings.url}",
            )
        now = self._now()
        if abs(now - stamp.t * 1000) > settings.stamp_life_ms:
            raise _Refusal(
                Status.PROOF, "the proof of work is stale: its time is not this relay's; make it anew"
            )
        until = stamp.t * 1000 + settings.stamp_life_ms
        if not self._store.spend(f"{team} {stamp.t} {stamp.nonce}", until, now):
            raise _Refusal(Status.PROOF, "the proof of work served before; make it anew")


def _members(body: bytes) -> Mapping[str, JsonValue]:
    try:
        parsed = parse(decode(body))
    except JsonError as error:
        raise _Refusal(Status.BAD, f"the body cannot be read: {error}") from None
    if not isinstance(parsed.value, dict) or parsed.duplicates:
        raise _Refusal(Status.BAD, "the body is not a JSON object in which no member is repeated")
    return parsed.value


def _entry(members: Mapping[str, JsonValue], name: str) -> Unverified:
    return _read(members.get(name), name)


def _read(value: JsonValue, name: str) -> Unverified:
    read = read_parsed(Parsed(value, plain=False, duplicates=False))
    if isinstance(read, Unreadable):
        raise _Refusal(Status.BAD, f"{name}: {read.reason}")
    return read


def _founders_chain(members: Mapping[str, JsonValue], found: Unverified) -> Append:
    """Verify the founder's chain, from its key op through the founding and what follows it."""
    ops = members.get("ops", [])
    if not isinstance(ops, list) or len(ops) > FRAME_OPS:
        raise _Refusal(Status.BAD, f"ops is not a list of at most {FRAME_OPS}")
    key_op = _entry(members, "key")
    chain: dict[int, tuple[str, JsonValue]] = {}
    for read, value in [
        (key_op, members["key"]),
        (found, members["found"]),
        *((_read(value, "ops"), value) for value in ops),
    ]:
        if chain.setdefault(read.seq, (read.hash, value))[0] != read.hash:
            raise _Refusal(Status.BAD, f"the founder's chain: two ops with seq {read.seq}")
    carried = [
        Carried("", Parsed(value, plain=False, duplicates=False)) for _, (_, value) in sorted(chain.items())
    ]
    try:
        key = parse_key_body(None if key_op.body is ABSENT else key_op.body)
        examined = examine(found.replica, None, key, carried, {})
        founded = [op for op in examined.roster if op.hash == found.hash]
        fold(found.hash, founded, {found.replica: key}, relay=True)
    except (KeyBodyError, PublicationError, FoundingError) as error:
        raise _Refusal(Status.BAD, f"the founder's chain: {error}") from None
    return Append(team_id(found.hash), found.replica, examined.rows)


def _stamp(value: JsonValue) -> Stamp:
    t, nonce = (value.get("t"), value.get("nonce")) if isinstance(value, dict) else (None, None)
    if type(t) is not int or not 0 <= t <= MAX_SEQ // 1000:
        raise _Refusal(Status.PROOF, "this relay asks for a proof of work: pow has a time t and a nonce")
    if isinstance(nonce, str) and nonce.isascii() and nonce.isdigit() and len(nonce) <= 20:
        nonce = int(nonce)
    if type(nonce) is not int or nonce < 0:
        raise _Refusal(Status.PROOF, "the nonce of a proof of work is a whole number")
    return Stamp(t, nonce)
