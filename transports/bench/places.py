"""Where transports are measured: a place of its own at each address, which is gone afterwards.

What is at the address already is neither read nor changed.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final

from transports.base import Transport, TransportError
from transports.bench.author import Author, Founding, found
from transports.git.clone import Clone
from transports.git.limits import Limits
from transports.git.transport import GitTransport
from transports.opening import Opening, kind_of, open_transport, read_address, scheme_of
from transports.remotes import DEFAULT_BRANCH, RemoteError, Source, parse_remote, redact

Sleep = Callable[[float], None]

_TEAM: Final = 2


@dataclass(frozen=True, slots=True)
class _Member:
    """An author, as a relay gets to know it (transports.opening.Member)."""

    author: Author
    key: bytes
    team_id: str

    @property
    def replica(self) -> str:
        return self.author.replica

    def sign(self, data: bytes) -> bytes:
        return self.author.secrets.signer.sign(data)

    def team(self) -> str | None:
        return self.team_id

    def key_op(self) -> bytes | None:
        return self.key


@dataclass(frozen=True, slots=True)
class Place:
    """A team of two, and where it meets. `writer` has founded it, and both have signed their key ops."""

    address: str
    shown: str
    branch: str
    folder: Path
    founding: Founding
    reader_key: bytes

    @property
    def writer(self) -> Author:
        return self.founding.authors[0]

    @property
    def reader(self) -> Author:
        return self.founding.authors[1]

    def open(self, author: Author, sleep: Sleep = time.sleep) -> Transport:
        """Open the transport of one of them, on a machine of its own. Raises TransportError."""
        key = self.founding.key if author is self.writer else self.reader_key
        member = _Member(author, key, self.founding.team)
        opening = Opening(
            self.address, Source.TYPED, self.folder / author.replica, self.branch, member, sleep
        )
        return open_transport(opening)

    def stored_bytes(self, seen_by: Transport) -> int | None:
        """How much the far side holds, as far as that can be seen from here; None where it cannot."""
        if isinstance(seen_by, GitTransport):
            return seen_by.stored_bytes()
        if self.address.startswith("dir:"):
            return sum(each.stat().st_size for each in Path(self.address[4:]).rglob("*") if each.is_file())
        return None


@contextmanager
def place(url: str, folder: Path, token: str | None, progress: Callable[[str], None]) -> Iterator[Place]:
    """Make a place at an address for the length of a `with` block.

    `folder` is for local files; `token` is what a relay may ask for. Raises RemoteError, TransportError.
    """
    address = read_address(url, Source.TYPED)
    kind, scheme, name = kind_of(scheme_of(address), address), scheme_of(address), f"dmp-bench-{token_hex(4)}"
    founding = found(_TEAM, hours=-24)
    branch = DEFAULT_BRANCH
    with ExitStack() as ending:
        match kind.read.__module__:
            case "transports.memory":
                address = f"{address}-{name}"
            case "transports.directory":
                address = str(_folder(Path(address.removeprefix("dir:")), name, ending))
            case "transports.git.kind":
                branch = name
                ending.callback(_delete, address, branch, folder / "clean")
            case "transports.relay.client.kind":
                _register(address, founding, token, progress)
            case _:
                raise RemoteError(f"nothing is known here of how to measure {scheme}: without leaving traces")
        yield Place(address, redact(url), branch, folder, founding, founding.authors[1].announces())


def _folder(parent: Path, name: str, ending: ExitStack) -> str:
    made = parent / name
    try:
        made.mkdir()
    except OSError as error:
        raise TransportError(
            f"dir:{parent}: {error.strerror}", "is it there, and may you write to it?"
        ) from None
    ending.callback(shutil.rmtree, made, ignore_errors=True)
    return f"dir:{made}"


def _delete(address: str, branch: str, folder: Path) -> None:
    """Remove a branch that was made here."""
    folder.mkdir(parents=True, exist_ok=True)
    remote, limits = parse_remote(address, Source.TYPED), Limits()
    clone = Clone(folder, limits)
    with (
        suppress(TransportError, OSError),
        clone.locked(),
    ):  # whoever keeps branches from being deleted keeps it
        clone.runner.network(
            remote.protocols,
            *("push", "--quiet", "--no-verify", "--", remote.url, f":refs/heads/{branch}"),
            seconds=limits.question_seconds,
        )


def _register(url: str, founding: Founding, token: str | None, progress: Callable[[str], None]) -> None:
    from transports.relay.client.registration import register

    def told(tried: int, expected: int) -> None:
        progress(f"{url} asks for work: {tried:,} of about {expected:,} tries")

    register(url, founding.key, founding.found, founding.chain, token=token, progress=told)
