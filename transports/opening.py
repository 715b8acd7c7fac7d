"""Which transport an address is opened with: the one its scheme names.

Whoever writes a transport says so with an entry point in the group `dmp.transports`, named as the scheme of its
addresses and leading to a `Kind`; those of this package are found the same way. `scheme://…` always means that
scheme. `scheme:…` does where a transport is known for it, git's own schemes left out, and is git's `host:path`
otherwise; anything else is the path of a git repository. Git's form hides a mistyped scheme, so an address that a
person has just typed is looked at once more (`typed_address`).
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, Protocol

from transports.base import Transport, TransportError
from transports.remotes import DEFAULT_BRANCH, RemoteError, Source, check_text, redact

GROUP: Final = "dmp.transports"

NAMED_SCHEMES: Final = frozenset({"https", "ssh", "wss"})
"""What an invite or the roster may lead to (T4). Everything else has to be typed by this replica's owner."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?", re.ASCII)
_GIT: Final = frozenset({"file", "git", "http", "https", "ssh"})
_SLASHED: Final = frozenset({"file", "http", "https", "ssh", "ws", "wss"})
"""Schemes that two slashes follow. `git:` is left out: it is what many call their git host."""

_LIKENESS: Final = 0.85
"""How alike a word and a scheme are of which it is taken for a typing error: `dirs` of `dir`, and `memo` of none."""

_OURS: Final = "transports."


class Member(Protocol):
    """This replica, as a far side that wants to know who is there gets to know it."""

    @property
    def replica(self) -> str:
        """Its id."""

    def sign(self, data: bytes) -> bytes:
        """Sign with its key (Ed25519, 64 bytes). May be called from any thread."""

    def team(self) -> str | None:
        """The id of the team, None while none is followed. For the thread that uses the transport."""

    def key_op(self) -> bytes | None:
        """The line of its own key op, None before it is signed. For the thread that uses the transport."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a transport is opened with.

    A kind's `open` gets the `address` as its `read` returned it; it may hold credentials. `directory` is the
    transport's own, for whatever it keeps on this machine; it need not exist, and may be gone the next time.
    `branch` tells apart what is at one address; where there can be only one, it means nothing. `watch` waits with
    `sleep` (seconds), in steps as long as it likes, and lets through what that raises: so does a caller stop
    waiting.
    """

    address: str = field(repr=False)
    source: Source
    directory: Path
    branch: str = DEFAULT_BRANCH
    member: Member | None = None
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of transport, as an entry point names it.

    `read` checks an address of this kind by where it came from and returns it as it is kept: complete, so that it
    means the same in every working directory. It asks nobody, and raises RemoteError. `open` opens a transport;
    it raises RemoteError and TransportError, and need not reach the far side for it. `lasts` tells whether what is
    left there is there after this process has ended, without which no team can meet there.
    """

    read: Callable[[str, Source], str]
    open: Callable[[Opening], Transport]
    lasts: bool = True


def read_address(text: str, source: Source) -> str:
    """Check the address of a transport of any kind, and return it as it is kept.

    Raises RemoteError, and TransportError where the package that brings its transport cannot be loaded.
    """
    check_text(text)
    scheme = scheme_of(text)
    if source is Source.NAMED and scheme not in NAMED_SCHEMES:
        raise RemoteError(
            f"an invite or the roster may only name an https, ssh or wss address, not {redact(text)}"
        )
    return kind_of(scheme, text).read(text, source)


def typed_address(text: str) -> str:
    """Read an address that a person has just typed, as `read_address` does.

    Raises as that, and RemoteError for git's `host:path` where the host is rather a scheme that was mistyped.
    """
    check_text(text)
    found = _SCHEME.match(text)
    if found is not None and scheme_of(text) == "ssh" and not found[2]:
        _check_host(found[1], text)
    return read_address(text, Source.TYPED)


def _check_host(word: str, text: str) -> None:
    """Refuse a host whose name is a scheme, or nearly one. Raises RemoteError."""
    scheme, path = word.lower(), text[len(word) + 1 :]
    if scheme in _SLASHED:
        meant = f"{scheme}://{'/' if scheme == 'file' else ''}{path.lstrip('/')}"
        problem = f"two slashes come after {scheme}:, as in {redact(meant)}."
    elif scheme == "git" or not (close := _mistyped(scheme)):
        return
    else:
        meant = f"{close}://" if close in _SLASHED else f"{close}:"
        problem = f"there is no transport {scheme}:, did you mean {meant}?"
    # What follows `host:` begins in the home directory there, unless it is a whole path.
    host = f"ssh://{word}{path}" if path.startswith("/") else f"ssh://{word}/~/{path}"
    raise RemoteError(f"{problem} A repository on a host of that name is {redact(host)}")


def _mistyped(word: str) -> str | None:
    """The scheme that a word may be, mistyped."""
    known = [scheme for scheme in schemes() if scheme != "git"]
    swapped = [scheme for scheme in known if len(scheme) > 2 and sorted(scheme) == sorted(word)]
    return next(iter(swapped or get_close_matches(word, known, 1, _LIKENESS)), None)


def open_transport(opening: Opening) -> Transport:
    """Open the transport an address names. Raises as `read_address` and `Kind.open`."""
    address = read_address(opening.address, opening.source)
    return kind_of(scheme_of(address), address).open(replace(opening, address=address))


def scheme_of(text: str) -> str:
    """Return the scheme of an address in small letters: of a path `file`, of git's `host:path` `ssh`."""
    found = _SCHEME.match(text)
    if found is not None:
        scheme = found[1].lower()
        if found[2] or (scheme not in _GIT and scheme in _entries()):
            return scheme
    return "ssh" if ":" in text.split("/", 1)[0] else "file"


def directory_of(address: str) -> Path | None:
    """The directory of this machine that an address names by its path, as `read_address` returned it; or None."""
    is_path = scheme_of(address) in ("dir", "file") and "://" not in address
    return Path(address.removeprefix("dir:")) if is_path else None


def schemes() -> list[str]:
    """Return the schemes that have a transport here, in their order."""
    return sorted(_entries())


def kind_of(scheme: str, text: str) -> Kind:
    """Load the kind of transport a scheme names; `text` is the address, for messages.

    Raises RemoteError for a scheme nobody serves, TransportError where whoever does cannot be loaded.
    """
    entry = _entries().get(scheme)
    if entry is None:
        close = _mistyped(scheme)
        raise RemoteError(
            f"no transport is installed for {redact(text)}; there are some for {', '.join(schemes())}"
            + (f". Did you mean {close}?" if close else "")
        )
    try:
        kind = entry.load()
    except Exception as error:  # whatever another package's import raises
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(kind, Kind):
        raise _broken(entry, f"{entry.value} is no transports.opening.Kind")
    return kind


def _entries() -> dict[str, EntryPoint]:
    """Who serves which scheme: this package its own, and of others the first by what it names."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(
        entry_points(group=GROUP), key=lambda one: (not one.value.startswith(_OURS), one.value)
    ):
        found.setdefault(entry.name.lower(), entry)
    return found


def _broken(entry: EntryPoint, reason: str) -> TransportError:
    source = f" {entry.dist.name}" if entry.dist is not None else ""
    return TransportError(
        f"the transport for {entry.name}: cannot be loaded ({reason})",
        f"install the package{source} again, which brings it",
    )
