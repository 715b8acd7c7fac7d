"""Making a relay hold a team: one request over HTTP, with work or a token to show for it (federation wire 7.9).

    register("wss://relay.example", key, found, ops)

The relay verifies the founder's chain itself; nothing is believed on this request's word.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import aiohttp

from crypto.canonical import JsonError, JsonValue, decode, parse
from crypto.keys import team_id
from crypto.op import read_entry
from transports.base import Refused, TransportError, Unreachable
from transports.relay.address import MAX_DIFFICULTY, RelayAddress, Stamp
from transports.relay.client.failures import not_made
from transports.relay.client.reasons import shown
from transports.relay.client.tls import trusted
from transports.relay.client.work import stamp

REGISTRATION_SECONDS: Final = 15.0
"""How long one request to a relay may take."""

_ANSWER_BYTES: Final = 64 * 1024

Progress = Callable[[int, int], None]
"""Told how many stamps were tried, and how many it takes on average. What it raises ends the work."""


def _silent(_tried: int, _expected: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a relay asks of a new team: leading zero bits of a stamp, and whether a token serves instead or besides."""

    difficulty: int
    token_required: bool
    token_accepted: bool


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    members: Mapping[str, JsonValue]

    @property
    def said(self) -> str:
        """What the relay says about it, for people."""
        for name in ("reason", "error", "message"):
            text = self.members.get(name)
            if isinstance(text, str) and text:
                return f": {shown(text)}"
        return ""


def ask_terms(url: str) -> Terms:
    """Ask what a relay wants of a new team.

    Raises AddressError for what is no relay's address, Unreachable, and Refused where it is no relay.
    """
    return asyncio.run(_terms(RelayAddress.parse(url)))


def register(
    url: str,
    key: bytes,
    found: bytes,
    ops: Sequence[bytes],
    *,
    token: str | None = None,
    progress: Progress = _silent,
    now: Callable[[], float] = time.time,
) -> str:
    """Let the relay at `url` hold the team that `found` founded, and return the team's id.

    `key` and `found` are the lines of the founder's key op and of its `found` op, `ops` those of the founder's chain
    from the key op on. A relay that holds the team already says so too. `now` is in unix seconds.

    Raises AddressError for what is no relay's address; Unreachable where later may be better; Refused, whose text
    says what the relay wants.
    """
    relay, team = RelayAddress.parse(url), team_id(read_entry(found).hash)
    answer = _Answer(0, {})
    for _ in range(2):  # a stamp may be too old for the relay, or spent by a request whose answer was lost
        terms = asyncio.run(_terms(relay))
        pow_ = _work(relay, team, terms, token, progress, now)
        shown_token = token if terms.token_accepted or terms.token_required else None
        answer = asyncio.run(_post(relay, _body(key, found, ops, pow_), shown_token))
        if answer.status != 403:
            break
    if answer.status not in (200, 201):
        raise _no(relay, answer, token)
    if answer.members.get("teamId") != team:
        raise Refused(f"{relay.url} registered another team than it was asked to", "use another relay")
    return team


def _work(
    relay: RelayAddress,
    team: str,
    terms: Terms,
    token: str | None,
    progress: Progress,
    now: Callable[[], float],
) -> Stamp | None:
    """A stamp, where a token does not do instead. Raises Refused for what is not to be had."""
    if terms.token_required and token is None:
        raise Refused(f"{relay.url} takes new teams only with a token", "ask whoever runs the relay for one")
    if terms.difficulty == 0 or (token is not None and (terms.token_accepted or terms.token_required)):
        return None
    if terms.difficulty > MAX_DIFFICULTY:
        raise Refused(
            f"{relay.url} asks for {terms.difficulty} bits of work, more than the {MAX_DIFFICULTY} that are done",
            "ask whoever runs the relay for a token",
        )
    return stamp(relay.url, team, int(now()), terms.difficulty, progress)


def _body(key: bytes, found: bytes, ops: Sequence[bytes], pow_: Stamp | None) -> bytes:
    chain = b",".join(ops)
    work = b"" if pow_ is None else b',"pow":' + json.dumps({"t": pow_.t, "nonce": pow_.nonce}).encode()
    return b'{"key":' + key + b',"found":' + found + b',"ops":[' + chain + b"]" + work + b"}"


_NO: Final[Mapping[int, tuple[str, str]]] = {
    400: (
        "does not take the founder's chain",
        "see `dmp problems` here; an older relay may not know what the founder signed",
    ),
    401: ("wants a token, or another one", "ask whoever runs the relay for one"),
    402: ("takes only teams with a licence", "use a relay of your own: `dmp relay serve`"),
    403: (
        "does not take the work that was done, twice",
        "compare this machine's clock with the relay's, and the address with the one the relay is configured with",
    ),
    404: ("is there, but is no relay", "check the address, the path in it too"),
    413: ("finds the founder's chain too long", "ask whoever runs the relay for a higher limit"),
}


def _no(relay: RelayAddress, answer: _Answer, token: str | None) -> TransportError:
    """What an answer that is no yes means."""
    if answer.status == 429:
        return Unreachable(f"{relay.url} registers no more teams for now{answer.said}", "try again later")
    if answer.status >= 500:
        return Unreachable(
            f"{relay.url} could not register the team (status {answer.status}){answer.said}",
            "try again later",
        )
    if answer.status == 401 and token is not None:
        return Refused(
            f"{relay.url} does not take this token{answer.said}", "ask whoever runs the relay for another"
        )
    sentence, hint = _NO.get(
        answer.status,
        (f"gave an answer that no relay gives (status {answer.status})", "check the address"),
    )
    return Refused(f"{relay.url} {sentence}{answer.said}", hint)


async def _terms(relay: RelayAddress) -> Terms:
    answer = await _request(relay, "GET", relay.registration)
    difficulty = answer.members.get("difficulty")
    if answer.status == 200 and type(difficulty) is int and difficulty >= 0:
        return Terms(
            difficulty,
            answer.members.get("tokenRequired") is True,
            answer.members.get("tokenAccepted") is True,
        )
    if answer.status in (200, 404):
        raise Refused(f"{relay.url} answers, but is no relay that registers teams", "check the address")
    raise _no(relay, answer, None)


async def _post(relay: RelayAddress, body: bytes, token: str | None) -> _Answer:
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return await _request(relay, "POST", relay.teams, headers, body)


async def _request(
    relay: RelayAddress,
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> _Answer:
    timeout = aiohttp.ClientTimeout(total=REGISTRATION_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(
                method, url, headers=headers, data=body, allow_redirects=False, ssl=trusted(url)
            ) as response,
        ):
            raw = bytearray()
            async for piece in response.content.iter_any():
                raw += piece
                if len(raw) > _ANSWER_BYTES:
                    raise Refused(f"{relay.url} answers, but is no relay", "check the address")
            return _Answer(response.status, _members(bytes(raw)))
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise not_made(relay.url, error) from None


def _members(raw: bytes) -> Mapping[str, JsonValue]:
    try:
        value = parse(decode(raw)).value
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}
