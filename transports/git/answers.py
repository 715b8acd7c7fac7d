"""What git said, read for the three ways in which a remote can fail (base.Unreachable, Behind, Refused).

Git's exit codes tell success from failure and little more; what it prints, in English and for `push` in the
porcelain form, tells the rest. Whatever a remote says is text by strangers: it is shown without control
characters, without credentials, and cut short.
"""

import re
from typing import Final

from transports.base import Behind, Refused, TransportError, Unreachable
from transports.git.run import Done
from transports.remotes import redact

_SHOWN_CHARACTERS: Final = 400

_HINTS: Final = tuple(
    (re.compile("|".join(signs), re.IGNORECASE), hint)
    for signs, hint in (
        (
            ("host key verification failed",),
            "connect once with ssh yourself and compare the host's key",
        ),
        (
            (
                *("authentication failed", "could not read (username|password)", "terminal prompts disabled"),
                *("permission denied", "returned error: 40[13]", "invalid credentials"),
            ),
            "git has no credentials that are good for it; try `git ls-remote` with the same address",
        ),
        (
            ("dubious ownership",),
            "the repository belongs to another user; see safe.directory in `git help config`",
        ),
        (
            (
                *("does not appear to be a git repository", "repository .*not found", "does not exist"),
                "returned error: 404",
            ),
            "check that the repository exists and that this account may read it",
        ),
        (
            ("transport '.*' not allowed",),
            "git was led to a protocol that is not used for this address",
        ),
        (
            ("could not resolve host", "name or service not known"),
            "check the address and the network",
        ),
        (
            (
                *("connection refused", "timed out", "connection reset", "network is unreachable"),
                *("no route to host", "unable to access", "did not finish in time"),
            ),
            "check the network; what is to be published waits here",
        ),
        (
            ("no space left", "disk quota", "unpacker error"),
            "the remote cannot store anything: look at its disk and its permissions",
        ),
        (
            ("protected branch", "branch is protected"),
            "let this account push to the branch, or use another branch",
        ),
        (
            ("hook declined",),
            "the remote's own rules refuse the push; its administrator can tell why",
        ),
    )
)

_MOVED: Final = re.compile(
    r"fetch first|non-fast-forward|stale info|needs force|cannot lock ref|failed to update ref|failed to lock"
    r"|already exists|incorrect old value|but expected",
    re.IGNORECASE,
)

_DAMAGED: Final = re.compile(
    r"is corrupt|object file .* is empty|inflate:|bad object|unable to read|unable to find [0-9a-f]{40}"
    r"|could not read [0-9a-f]{40}|failed to read object|packfile .* (cannot be accessed|is far too short)"
    r"|not a git repository: |missing (blob|tree|commit)|unable to resolve reference|invalid sha1 pointer"
    r"|did not send all necessary objects|bad (pack|tree|signature)",
    re.IGNORECASE,
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


def branch_is_missing(said: str) -> bool:
    """Whether a fetch failed only because nobody has published yet."""
    return "couldn't find remote ref" in said.lower()


def speaks_of_damage(said: str) -> bool:
    """Whether a command may have failed because of the clone and not because of the remote."""
    here = "\n".join(line for line in said.splitlines() if not line.startswith("remote:"))
    return _DAMAGED.search(here) is not None


def unreachable(doing: str, said: str) -> Unreachable:
    """Return the error for a remote that did not answer while `doing`, in git's words."""
    message = _gist(said)
    return Unreachable(f"{doing}: {message}", _hint(said))


def check_push(done: Done, shown: str) -> None:
    """Return if a push of one ref was taken. Raises Behind, Refused, Unreachable.

    `shown` names the remote in messages.
    """
    for line in done.out.decode("utf-8", "replace").splitlines():
        flag, *rest = line.split("\t")
        if len(flag) != 1 or len(rest) != 2:
            continue  # "To <url>", "Done"
        if flag != "!":
            return
        raise _rejection(rest[1], done.said, shown)
    raise unreachable(f"publishing to {shown}", done.said)


def _rejection(summary: str, said: str, shown: str) -> TransportError:
    if "remote failure" in summary:
        return unreachable(f"publishing to {shown}", f"{summary}\n{said}")
    if _MOVED.search(summary):
        return Behind(f"somebody else published to {shown} first")
    told = " ".join(line for line in said.splitlines() if line.startswith("remote:"))
    return Refused(f"{shown} refused the push: {_clean(f'{summary} {told}')}", _hint(f"{summary} {told}"))


def _gist(said: str) -> str:
    """Pick the lines that say what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(fatal|error|remote|ssh|git):", line, re.IGNORECASE)]
    return _clean("; ".join((telling or lines)[:3])) or "git failed and did not say why"


def _clean(text: str) -> str:
    text = _CONTROL.sub(" ", redact(text)).strip()
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _hint(said: str) -> str:
    return next((hint for signs, hint in _HINTS if signs.search(said)), "")
