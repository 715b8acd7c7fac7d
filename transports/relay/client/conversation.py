"""One connection to a relay as a replica sees it, without I/O (federation wire 7.2 to 7.4).

    relay                      replica
    challenge  ->              NEW
               <- auth         PROVING
    ready      ->              READY        requests and answers, hints, presence
    refused    ->              OVER         at any time

Whoever moves the frames gives each text that arrives to `receive` and acts on what that returns. A request is made
with `ask`; its answer comes as `Answered`. A frame that no relay sends in the state there is raises FrameError,
and ends the connection.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, TypeAlias

from crypto.encoding import b64u
from transports.relay.address import auth_message
from transports.relay.frames import (
    FRAME_CHARACTERS,
    Ack,
    Acknowledged,
    Auth,
    Carried,
    Challenge,
    Error,
    Frame,
    FrameError,
    Ops,
    Presence,
    Publish,
    Pull,
    Ready,
    Refused,
    RequestId,
    Stored,
    parse,
    write,
)


@dataclass(frozen=True, slots=True)
class Login:
    """Who connects to what: the relay's `url` to the letter, the team's id, and this replica.

    `key_op` is the line of its own key op, None while it has none; it serves a relay that has not seen it.
    """

    url: str
    team: str
    replica: str
    sign: Callable[[bytes], bytes]
    key_op: bytes | None


class State(Enum):
    """How far a connection got."""

    NEW = auto()
    PROVING = auto()
    READY = auto()
    OVER = auto()


# What a frame that arrived comes to


@dataclass(frozen=True, slots=True)
class Send:
    """Send this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The relay knows who is here: requests may be made."""


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """The relay wants no more of this connection, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to the request of this id."""

    id: RequestId
    answer: "Answer"


@dataclass(frozen=True, slots=True)
class Hinted:
    """Something was stored."""


Answer: TypeAlias = Stored | Ops | Acknowledged | Error
Request: TypeAlias = Publish | Pull | Ack
Event: TypeAlias = Send | Opened | TurnedAway | Answered | Hinted

_ANSWERS: Final[dict[type[Request], type[Answer]]] = {Publish: Stored, Pull: Ops, Ack: Acknowledged}


@dataclass(slots=True)
class Conversation:
    """One connection, from its first frame to its end."""

    login: Login
    state: State = State.NEW
    _asked: dict[RequestId, type[Answer]] = field(default_factory=dict)

    def ask(self, request: Request) -> str:
        """Return the text of a request, whose id is not that of another one on this connection."""
        assert self.state is State.READY
        self._asked[request.id] = _ANSWERS[type(request)]
        return write(request)

    def receive(self, text: str) -> Event | None:
        """Take in one text. Raises FrameError for what no relay sends now: the connection is of no use then."""
        if len(text) > FRAME_CHARACTERS:
            raise FrameError("a frame is too long")
        frame = parse(text)
        match self.state, frame:
            case _, Refused(reason):
                self.state = State.OVER
                return TurnedAway(reason)
            case State.NEW, Challenge(nonce):
                self.state = State.PROVING
                return Send(write(self._auth(nonce)))
            case State.PROVING, Ready():
                self.state = State.READY
                return Opened()
            case State.READY, Ops(re=None):
                return Hinted()
            case State.READY, Stored() | Ops() | Acknowledged() | Error():
                return self._answered(frame)
            case _, Presence():
                return None
            case _, Challenge() | Ready() | Stored() | Ops() | Acknowledged() | Error():
                raise FrameError("a frame came out of turn")
        return None

    def _auth(self, nonce: str) -> Auth:
        login = self.login
        sig = b64u(login.sign(auth_message(login.url, login.team, nonce)))
        return Auth(login.replica, sig, None if login.key_op is None else Carried.line(login.key_op))

    def _answered(self, frame: Frame) -> Answered | None:
        """The answer to something that was asked; one to nothing that was asked is passed over."""
        assert isinstance(frame, Stored | Ops | Acknowledged | Error)
        re = frame.re
        if re is None or (wanted := self._asked.pop(re, None)) is None:
            return None
        if not isinstance(frame, wanted | Error):
            raise FrameError("an answer is of another kind than its request")
        return Answered(re, frame)
