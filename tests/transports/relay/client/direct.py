"""Client and relay joined by function calls: what one says the other hears at once, and nothing else happens."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Final, Protocol

from tests.transports.relay.client.team import Team
from transports.base import Unreachable
from transports.opening import Member
from transports.relay.address import RelayAddress
from transports.relay.client import failures
from transports.relay.client.conversation import (
    Answer,
    Answered,
    Conversation,
    Event,
    Hinted,
    Login,
    Opened,
    Request,
    Send,
    TurnedAway,
)
from transports.relay.client.link import Mark
from transports.relay.client.transport import RelayTransport
from transports.relay.frames import FrameError, Why, why
from transports.relay.server.registration import Registrar
from transports.relay.server.relay import Relay
from transports.relay.server.session import Session, State
from transports.relay.server.settings import Settings
from transports.relay.server.sqlite import SqliteStore, backup

SOME_TIME: Final = 1_800_000_000_000
"""What a relay takes for the time, in milliseconds."""

_CONNECTIONS = count(1)
"""Numbers of connections: each is another one, in whatever process or link it is made."""


class Pipe(Protocol):
    """A relay's end of one connection."""

    def receive(self, text: str) -> None:
        """Hear a text."""

    def take(self) -> str | None:
        """What is said next; None while there is nothing."""

    @property
    def is_over(self) -> bool:
        """Whether the relay has ended the connection; what it said before can still be taken."""


class DirectLink:
    """Connections by function calls (transports.relay.client.link.Link)."""

    def __init__(self, reach: Callable[[Login], Pipe]) -> None:
        """`reach` makes a connection; it raises Unreachable where the relay is away."""
        self._reach = reach
        self._connection = ""
        self._news = 0
        self._pipe: Pipe | None = None
        self._conversation: Conversation | None = None
        self._answers: dict[object, Answer] = {}
        self._error: Unreachable | None = None

    def connect(self, login: Login) -> None:
        self._hear()
        if self._pipe is not None and self._conversation is not None and self._conversation.login == login:
            return
        self._pipe = self._reach(login)
        self._conversation, self._error = Conversation(login), None
        if not any(isinstance(event, Opened) for event in self._hear()):
            self._pipe = None
            raise self._error or failures.lost(login.url, "it says nothing")
        self._connection = str(next(_CONNECTIONS))

    def ask(self, request: Request) -> Answer:
        self.tell(request)
        self._hear()
        answer = self._answers.pop(request.id, None)
        if answer is None:
            raise self._error or failures.lost("the relay", "there was no answer")
        return answer

    def tell(self, request: Request) -> None:
        self._hear()
        if self._pipe is None or self._conversation is None:
            raise self._error or ValueError("nothing can be asked before `connect`")
        self._pipe.receive(self._conversation.ask(request))

    def mark(self) -> Mark:
        self._hear()
        return Mark(self._connection, self._news)

    def wait(self, mark: Mark, seconds: float) -> None:
        """Nothing happens by itself, so there is nothing to wait for."""

    def close(self) -> None:
        self._pipe = None

    def _hear(self) -> list[Event]:
        """Take in everything that was said, and whether the relay has ended it."""
        heard: list[Event] = []
        while self._pipe is not None and self._conversation is not None:
            text = self._pipe.take()
            if text is None:
                if self._pipe.is_over:
                    self._over(failures.lost(self._conversation.login.url, "the relay closed it"))
                break
            try:
                event = self._conversation.receive(text)
            except FrameError as error:
                self._over(failures.given_up(self._conversation.login.url, str(error)))
                break
            match event:
                case Send(text):
                    self._pipe.receive(text)
                case Answered(id_, answer):
                    self._answers[id_] = answer
                case Hinted():
                    self._news += 1
                case TurnedAway(reason) if why(reason) is Why.REPLACED:
                    self._over(failures.replaced(reason))
                case TurnedAway(reason):
                    self._over(failures.refused(reason))
                case _:
                    pass
            if event is not None:
                heard.append(event)
        return heard

    def _over(self, error: Unreachable) -> None:
        self._pipe, self._error = None, error
        self._news += 1


class SessionPipe:
    """A session of the relay as a pipe."""

    def __init__(self, relay: Relay, session: Session) -> None:
        self._relay = relay
        self._session = session

    def receive(self, text: str) -> None:
        self._session.receive(text)
        self._relay.work()

    def take(self) -> str | None:
        return self._session.outbox.take()

    @property
    def is_over(self) -> bool:
        return self._session.state is State.ENDED


class DirectRelay:
    """A relay with a store on the disk and without sockets, which a test can cut off and put back."""

    url = "wss://relay.example"

    def __init__(self, store: Path, team: Team, now: Callable[[], int] = lambda: SOME_TIME) -> None:
        self._file = store
        self._now = now
        self._settings = Settings(self.url, difficulty=0)
        self._is_away = False
        self._start()
        body = b'{"key":%s,"found":%s,"ops":[]}' % (team.key, team.found)
        answer = Registrar(self._settings, self._store, now).register(body, None)
        assert answer.team == team.id, answer.error

    def transport(self, me: Member, directory: Path) -> RelayTransport:
        """A replica's transport to it."""
        link = DirectLink(self._reach)
        return RelayTransport(RelayAddress.parse(self.url), me, directory, link, sleep=lambda _: None)

    def cut(self) -> None:
        """Be away: every connection ends."""
        for session in list(self.relay.sessions):
            session.closed()
        self._is_away = True

    def mend(self) -> None:
        self._is_away = False

    def backup(self) -> Callable[[], None]:
        """Take a copy of the store, and return what puts it back, into a relay that is started again."""
        copy = self._file.with_suffix(f".{next(_CONNECTIONS)}")
        backup(self._file, copy)

        def restore() -> None:
            self.cut()
            self.close()
            for file in self._file.parent.glob(f"{self._file.name}*"):
                file.unlink()
            copy.replace(self._file)
            self._start()
            self.mend()

        return restore

    def close(self) -> None:
        self._store.close()

    def _start(self) -> None:
        self._store = SqliteStore(self._file)
        self.relay = Relay(self._settings, self._store, now=self._now, random=Random(0).randbytes)

    def _reach(self, login: Login) -> Pipe:
        if self._is_away:
            raise failures.lost(self.url, "it is away")
        return SessionPipe(self.relay, self.relay.connect(login.team, "here"))
