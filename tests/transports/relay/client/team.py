"""A team on a relay, whose founder lets in whoever a test names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crypto.canonical import JsonValue
from crypto.clock import Reading
from crypto.encoding import b64u
from crypto.keys import KeyBody, team_id
from crypto.op import make_op, read_entry, to_line
from crypto.roster.bodies import Admit, CutPoint, Found, Revoke, Role
from tests.transports.relay.client.me import Me
from transports.base import Transport
from transports.contract import Author


def announces(author: Author) -> bytes:
    """Sign the key op of a replica, and return its line."""
    return _signs(author, "key", _key(author).to_json())


def _key(author: Author) -> KeyBody:
    keys = author.secrets.sign_pub, author.secrets.seal_pub
    return KeyBody("author", "device", "0", *keys, caps=("relay",))


def _signs(author: Author, type_: str, body: JsonValue) -> bytes:
    author.seq += 1
    author.clock += 1
    op = make_op(
        replica=author.replica,
        seq=author.seq,
        prev=author.prev,
        hlc=Reading(author.clock, 0, author.replica),
        type=type_,
        signer=author.secrets.signer,
        body=body,
    )
    author.prev = op.hash
    return to_line(op)


@dataclass
class Team:
    """A founder and the first ops of its chain."""

    founder: Author = field(default_factory=lambda: Author.new("fay-0000000f"))

    def __post_init__(self) -> None:
        self.key = announces(self.founder)
        self.found = _signs(self.founder, "roster", Found("Orchard", (), b64u(bytes(32))).to_json())
        self.id = team_id(read_entry(self.found).hash)
        self.admitted: dict[str, Author] = {}

    def admits(self, author: Author) -> bytes:
        """Let somebody in, and return the founder's line."""
        keys = author.secrets.sign_pub, author.secrets.seal_pub
        admit = Admit(author.replica, "author", Role.MEMBER, KeyBody("a", "d", "0", *keys).fingerprint)
        return _signs(self.founder, "roster", admit.to_json())

    def revokes(self, author: Author) -> bytes:
        """Put somebody out, from where its chain stands, and return the founder's line."""
        revoke = Revoke(author.replica, CutPoint(author.seq, author.prev), "it is over")
        return _signs(self.founder, "roster", revoke.to_json())

    def me(self, author: Author, key_line: bytes | None = None) -> Me:
        """An author as a transport knows it."""
        return Me(author.replica, author.secrets.signer, key_line, self.id)


@dataclass
class Members:
    """Lets authors in, over the transports that `open` makes."""

    team: Team
    open: Callable[[Me, Path], Transport]
    folder: Path
    _known: dict[str, tuple[Author, bytes]] = field(default_factory=dict)

    def author(self, replica: str) -> Author:
        """A replica that the founder has let in, and that has published its key op."""
        author = Author.new(replica)
        self._publish(self.team.me(self.team.founder), [self.team.admits(author)])
        key_line = announces(author)
        self._publish(self.team.me(author, key_line), [key_line])
        author = replace(author)  # what it says from here on is its first word
        self._known[replica] = author, key_line
        return author

    def me(self, author: Author) -> Me:
        return self.team.me(author, self._known[author.replica][1])

    def transport(self, author: Author, machine: str) -> Transport:
        return self.open(self.me(author), self.folder / f"{author.replica}-{machine}")

    def _publish(self, me: Me, lines: Sequence[bytes]) -> None:
        transport = self.open(me, self.folder / f"{me.replica}-beginning")
        transport.refresh()
        transport.publish(me.replica, lines)
        transport.close()
