"""Why a relay says no, as a person is told (federation wire 7; the words are docs/relay.md's).

What stands after the word is a stranger's text: it is shown without control characters, and cut short.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from transports.base import Behind, Refused, TransportError, Unreachable
from transports.relay.frames import Why, why

_SHOWN_CHARACTERS: Final = 300


class Verdict(Enum):
    """What a refusal means for ops that were to be published."""

    BEHIND = "behind"
    LATER = "later"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One word: what it says, what a person can do, and whether trying again helps."""

    sentence: str
    hint: str
    verdict: Verdict


MEANINGS: Final[Mapping[Why, Meaning]] = {
    Why.BEHIND: Meaning(
        "the relay holds another op of this replica after the ones it was given",
        "the next sync looks at what the relay holds; if it says that this replica's key is used elsewhere, use the "
        "newest copy",
        Verdict.BEHIND,
    ),
    Why.LIMITED: Meaning(
        "the relay takes no more from this replica for now",
        "what is to be published waits here; the next syncs go on",
        Verdict.LATER,
    ),
    Why.INVALID: Meaning(
        "the relay does not take what this replica sent, since it breaks a rule",
        "see `dmp problems` here, and the relay's log; an older relay may not know what this replica says",
        Verdict.NEVER,
    ),
    Why.REVOKED: Meaning(
        "the team has revoked this replica",
        "it says nothing any more; ask an admin, or make a new one with `dmp init` and `dmp join`",
        Verdict.NEVER,
    ),
    Why.UNKNOWN: Meaning(
        "the relay does not know this replica",
        "join the team first, with an invite: `dmp join CODE`",
        Verdict.NEVER,
    ),
    Why.PENDING: Meaning(
        "only members of the team may do that, and this replica waits to be admitted",
        "sync again once an admin, or the machine that made the invite, has admitted it",
        Verdict.LATER,
    ),
    Why.UNINVITED: Meaning(
        "the relay lets in members and machines with an open invite, and this replica is neither",
        "ask for a new invite: one that was used, has expired or is for somebody else opens nothing",
        Verdict.NEVER,
    ),
    Why.UNPROVEN: Meaning(
        "the relay does not believe that this is the replica it says it is",
        "use the address that the relay itself is configured with, to the letter; if it is the same, this is "
        "not the key the team knows, or something between here and the relay changes the address",
        Verdict.NEVER,
    ),
    Why.REPLACED: Meaning(
        "another connection of this same replica took the place of this one",
        "let one `dmp` at a time keep a connection; if no other one runs here, a copy of this directory is used "
        "elsewhere: use the newest copy alone",
        Verdict.LATER,
    ),
    Why.SLOW: Meaning(
        "the relay gave up on this connection, since too little came through",
        "check the network; the next sync goes on from what is here",
        Verdict.LATER,
    ),
    Why.CLOSING: Meaning(
        "the relay is shutting down",
        "mail waits here until it is back",
        Verdict.LATER,
    ),
    Why.FAILED: Meaning(
        "the relay could not do it, for a reason of its own",
        "whoever runs the relay finds it in its log; mail waits here until then",
        Verdict.LATER,
    ),
}
"""What each word means."""

_OTHER: Final = Meaning("the relay said no", "a newer version of this program may know why", Verdict.LATER)


def refusal(reason: str) -> TransportError:
    """What a refused publish raises: Behind, Refused, or Unreachable where later may be better."""
    meaning = _meaning(reason)
    kind = {Verdict.BEHIND: Behind, Verdict.NEVER: Refused, Verdict.LATER: Unreachable}[meaning.verdict]
    return kind(_told(meaning, reason), meaning.hint)


def turned_away(reason: str) -> Unreachable:
    """What anything else raises that a relay refused: a connection, a pull, an acknowledgement."""
    meaning = _meaning(reason)
    return Unreachable(_told(meaning, reason), meaning.hint)


def shown(text: str) -> str:
    """A stranger's text on one line, without control characters and cut short."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text[:_SHOWN_CHARACTERS]).split())
    return f"{line}…" if len(text) > _SHOWN_CHARACTERS else line


def _meaning(reason: str) -> Meaning:
    word = why(reason)
    return _OTHER if word is None else MEANINGS[word]


def _told(meaning: Meaning, reason: str) -> str:
    detail = shown(reason)
    return f"{meaning.sentence} ({detail})" if detail else meaning.sentence
