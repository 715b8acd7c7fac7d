"""What git said, read for the three ways in which a remote can fail (base.Unreachable, Behind, Refused).

Git's exit codes tell success from failure and little more; what it prints, in English and for `push` in the
porcelain form, tells the rest. Whatever a remote says is text by strangers: it is shown without control
characters, without credentials, and cut short.
"""

import re
from dataclasses import dataclass
from typing import Final

from transports.base import Behind, Refused, TransportError, Unreachable
from transports.git.run import Done
from transports.remotes import redact

_SHOWN_CHARACTERS: Final = 400


@dataclass(frozen=True, slots=True)
class Trouble:
    """One way in which git fails: what has happened, what a person can do, and the words that tell of it."""

    meaning: str
    hint: str
    signs: re.Pattern[str]


def _trouble(meaning: str, hint: str, *signs: str) -> Trouble:
    return Trouble(meaning, hint, re.compile("|".join(signs), re.IGNORECASE | re.MULTILINE))


_MEMORY: Final = ("out of memory", "cannot allocate memory", "mmap failed")

TROUBLES: Final = (
    _trouble(
        "the ssh host is not known, or shows another key than it did",
        "connect once with ssh yourself and compare the host's key",
        "host key verification failed",
    ),
    _trouble(
        "the certificate of the https host is not one that git trusts",
        "have the host's certificate mended; for a company's own authority set http.sslCAInfo in git",
        *("certificate problem", "certificate verification failed", "server certificate"),
    ),
    _trouble(
        "no password, token or ssh key, or one that is not good any more",
        "git has no credentials that are good for it; try `git ls-remote` with the same address",
        *("authentication failed", "could not read (username|password)", "terminal prompts disabled"),
        *("permission denied", "returned error: 40[13]", "invalid credentials"),
    ),
    _trouble(
        "the repository is a directory of another user's",
        "the repository belongs to another user; see safe.directory in `git help config`",
        "dubious ownership",
    ),
    _trouble(
        "the repository names objects by SHA-256",
        "use a repository with SHA-1, which `git init` makes by default: git cannot join the two yet",
        *("mismatched algorithms", "hash algorithm", "unknown object format"),
    ),
    _trouble(
        "git on this machine is too old",
        "install git 2.34 or newer and make sure it is first in PATH",
        *("unknown (option|switch)", "is not a git command", "^usage: git"),
    ),
    _trouble(
        "the host may be read from, but not written to",
        "let this account push there; with `git daemon`, its owner enables receive-pack",
        *("service not enabled", "access denied or repository not exported", "read-only"),
    ),
    _trouble(
        "there is no such repository, or this account may not see it",
        "check that the repository exists and that this account may read it; the address of a relay begins with "
        "wss://",
        *("does not appear to be a git repository", "repository .*not found", "does not exist"),
        "returned error: 404",
    ),
    _trouble(
        "the host, or git's configuration, leads to another protocol",
        "git was led to a protocol that is not used for this address",
        "transport '.*' not allowed",
    ),
    _trouble(
        "the repository is a partial copy, which has not all of its objects",
        "use the repository that it was copied from",
        *("lazy fetching disabled", "from promisor remote"),
    ),
    _trouble(
        "the host's name is not known",
        "check the address and the network",
        *("could not resolve host", "name or service not known"),
    ),
    _trouble(
        "the branch brings more than is taken in at once",
        "look who pushes to the branch; `git rev-list --disk-usage` shows how large it is",
        "brought more than",
    ),
    _trouble(
        "unpacking the branch takes more memory than git is given",
        "somebody pushed what swells without end, so set the branch back to before that, or use another one: each "
        "machine publishes again what it finds missing of its own",
        *_MEMORY,
    ),
    _trouble(
        "the host does not answer, or too slowly",
        "check the network; what is to be published waits here",
        *("connection refused", "timed out", "connection reset", "network is unreachable"),
        *("no route to host", "unable to access", "did not finish in time"),
    ),
    _trouble(
        "the host's disk is full, or its repository cannot be written to",
        "the remote cannot store anything: look at its disk and its permissions",
        *("^remote:.*no space left", "^remote:.*disk quota", "unpacker error", "remote unpack failed"),
    ),
    _trouble(
        "this machine's disk is full",
        "make room on this machine; nothing is lost meanwhile",
        *("no space left", "disk quota"),
    ),
    _trouble(
        "the branch is protected",
        "let this account push to the branch, or use another branch",
        *("protected branch", "branch is protected"),
    ),
    _trouble(
        "a hook on the host says no",
        "the remote's own rules refuse the push; its administrator can tell why",
        "hook declined",
    ),
    _trouble(
        "the name of another branch begins with this one's, or the other way round",
        "use another branch, or have that one removed: git keeps no `a` beside an `a/b`",
        "exists; cannot create",
    ),
)
"""Each way, in the order in which their words are looked for."""

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
    if re.search("|".join(_MEMORY), here, re.IGNORECASE):
        return False  # whatever else follows from that
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
    in_the_way = "exists; cannot create" in said
    if _MOVED.search(summary) and not in_the_way:
        return Behind(f"somebody else published to {shown} first")
    told = " ".join(line for line in said.splitlines() if line.startswith("remote:"))
    return Refused(f"{shown} refused the push: {_clean(f'{summary} {told}')}", _hint(f"{summary}\n{said}"))


def _gist(said: str) -> str:
    """Pick the lines that say what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(fatal|error|remote|ssh|git):", line, re.IGNORECASE)]
    return _clean("; ".join((telling or lines)[:3])) or "git failed and did not say why"


def _clean(text: str) -> str:
    text = _CONTROL.sub(" ", redact(text)).strip()
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _hint(said: str) -> str:
    return next((trouble.hint for trouble in TROUBLES if trouble.signs.search(said)), "")
