"""Which remotes may be reached, by where their address came from.

An address a person typed may name nearly anything git can reach without running a program for it. One that
came in an invite or from the roster was chosen by somebody else, so it may only lead to https and ssh.
Helpers (`ext::`, `fd::` and every other `name::`), which run programs, and anything git could take for an
option are refused from everywhere.
"""

import re
from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

DEFAULT_BRANCH: Final = "dmp-federation"


class Source(Enum):
    """Where an address came from."""

    TYPED = "typed"
    """By the person who runs this replica: on the command line or in its own configuration."""

    NAMED = "named"
    """By somebody else: an invite, the roster."""


class RemoteError(ValueError):
    """An address or a branch that is not used; the text says why and what would be."""


@dataclass(frozen=True, slots=True)
class Remote:
    """An address that may be given to git.

    `url` may hold credentials: show `shown`. `protocols` are those git may speak for it, redirects and the
    person's own rewriting of addresses included, as GIT_ALLOW_PROTOCOL takes them. `local` means a directory
    of this machine.
    """

    url: str
    protocols: str
    local: bool

    @property
    def shown(self) -> str:
        """The address without credentials."""
        return redact(self.url)


_PROTOCOLS: Final = {
    "file": "file",
    "http": "http",
    "https": "https:ssh",
    "ssh": "https:ssh",
    "git": "git:https:ssh",
}
_NAMED: Final = frozenset({"https", "ssh"})
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9A-Fa-f:.]+", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9._~%+][A-Za-z0-9._~%+-]*", re.ASCII)
_SCP = re.compile(
    r"(?:[A-Za-z0-9._+][A-Za-z0-9._+-]*@)?(?:[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\]):[^-].*", re.ASCII
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def parse_remote(text: str, source: Source, base: Path | None = None) -> Remote:
    """Read the address of a git remote: a path, `host:path`, or an ssh, https, http, git or file URL.

    A relative path is taken from `base`, the working directory by default. Raises RemoteError.
    """
    check_text(text)
    scheme, remote = _read(text, base)
    if source is Source.NAMED and scheme not in _NAMED:
        raise RemoteError(f"an invite or the roster may only name an https or ssh remote, not {redact(text)}")
    if source is Source.NAMED and redact(text) != text:
        raise RemoteError("an invite or the roster may not name a remote with credentials in its address")
    return remote


def check_text(text: str) -> None:
    """Refuse what is no address of any kind, whoever it came from. Raises RemoteError."""
    if not text or text != text.strip() or _CONTROL.search(text):
        raise RemoteError("an address is one line of text in UTF-8, without spaces around it")
    if text.startswith("-"):
        raise RemoteError(f"an address cannot begin with '-': {redact(text)}")
    if _HELPER.match(text):
        raise RemoteError(f"addresses that run a helper program are never used: {redact(text)}")


def check_branch(name: str) -> str:
    """Return a branch name that may be used as it is. Raises RemoteError for any other.

    Stricter than git: letters, digits, `.`, `_`, `-` and `/`, no component that begins with `.` or `-`.
    """
    components = name.split("/")
    if len(name) > 200 or not all(_BRANCH_PART.fullmatch(part) for part in components):
        raise RemoteError(f"not the name of a branch: {name!r}")
    if any(".." in part or part.endswith((".", ".lock")) for part in components) or components[0] == "refs":
        raise RemoteError(f"not the name of a branch: {name!r}")
    return name


_BRANCH_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)


def redact(text: str) -> str:
    """Strip credentials from every URL in a text: user and password of http(s), the password of others."""
    text = re.sub(r"(?i)(https?://)[^/\s]*@", r"\1", text)
    return re.sub(r"(?i)([a-z][a-z0-9+.-]*://[^/\s:@]*):[^/\s]*@", r"\1@", text)


def _read(text: str, base: Path | None) -> tuple[str, Remote]:
    if found := _SCHEME.match(text):
        scheme = found[1].lower()
        if scheme not in _PROTOCOLS:
            raise RemoteError(f"a git remote is a path or an ssh, https or git address, not {redact(text)}")
        _check_url(scheme, text)
        return scheme, Remote(text, _PROTOCOLS[scheme], local=scheme == "file")
    if ":" in text.split("/", 1)[0]:  # git's own rule for host:path
        if not _SCP.fullmatch(text):
            raise RemoteError(f"not an address of the form host:path: {text}")
        return "ssh", Remote(text, _PROTOCOLS["ssh"], local=False)
    try:
        path = ((base or Path.cwd()) / Path(text).expanduser()).absolute()
    except RuntimeError:
        raise RemoteError(f"no such home directory: {text}") from None
    return "file", Remote(str(path), _PROTOCOLS["file"], local=True)


def _check_url(scheme: str, text: str) -> None:
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise RemoteError(f"not an address: {redact(text)}") from None
    if url.query or url.fragment or " " in text or "\\" in text:
        raise RemoteError(f"not the address of a repository: {redact(text)}")
    if scheme == "file":
        if url.netloc or not url.path.startswith("/"):
            raise RemoteError("a file address is file:///an/absolute/path")
        return
    if not _HOST.fullmatch(host) or not url.path.strip("/"):
        raise RemoteError(
            f"an address names a host and a repository there: {redact(text)}{_or_relay(scheme)}"
        )
    if url.username is not None and not _USER.fullmatch(url.username):
        raise RemoteError(f"not a user name that can be in an address: {redact(text)}")
    if scheme == "http" and not _is_loopback(url):
        raise RemoteError(
            f"http is only used to this machine itself; use the https address{_or_relay('https')}"
        )


def _or_relay(scheme: str) -> str:
    """What to type for somebody who means a relay, which is shown by its web address in a browser."""
    relay = {"http": "ws://", "https": "wss://"}.get(scheme)
    return "" if relay is None else f" (the address of a relay begins with {relay})"


def _is_loopback(url: SplitResult) -> bool:
    if url.hostname == "localhost":
        return True
    try:
        return ip_address(url.hostname or "").is_loopback
    except ValueError:
        return False
