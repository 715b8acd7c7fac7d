"""What an entry is to the head it claims to follow, in a place where anybody may write (federation wire 2.3).

An entry is **authentic** when it is signed under the key and its content is what was signed. Whatever else is
wrong with an authentic entry is its publisher's doing; whatever is wrong with any other may be somebody else's.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

from crypto.chain import BAD_SIGNATURE, Head, announced_key, is_signed, link_flaw
from crypto.keys import KeyBody
from crypto.op import OpError, Unreadable, Unverified, breach, tampering

CUT_MISMATCH: Final = "another history than its revocation names"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a lane is held to.

    `key` is the key decided for its replica. An op whose clock is past `horizon_ms` waits, and the log with
    it. `cut` is the seq and opHash that a revocation names as the last op it leaves standing; seq 0 for none.
    `wanted` are hashes of stubs accepted earlier, whose content is welcome.
    """

    key: KeyBody
    horizon_ms: int | None = None
    cut: tuple[int, str] | None = None
    wanted: Collection[str] = frozenset()


class SignatureMemory:
    """Signatures that were checked before, so that junk costs its verification once and not in every pass.

    Keeps the last `limit` answers, by key and opHash.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self._answers: dict[tuple[bytes, str], bool] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def holds(self, read: Unverified, key: bytes) -> bool:
        """Whether an entry is signed under this key. Of itself this remembers refusals alone."""
        holds = self.recall(read, key)
        if holds is None:
            holds = is_signed(read, key)
            if not holds:
                self.keep(read, key, holds)
        return holds

    def recall(self, read: Unverified, key: bytes) -> bool | None:
        """Return the answer for an entry, None where there is none."""
        return self._answers.get((key, read.hash))

    def keep(self, read: Unverified, key: bytes, holds: bool) -> None:
        """Remember an answer."""
        if len(self._answers) >= self._limit:
            del self._answers[next(iter(self._answers))]
        self._answers[key, read.hash] = holds


class Standing(Enum):
    """What an entry is to the head it is judged by."""

    FOLLOWS = auto()
    AHEAD = auto()
    """It would follow, were its clock not past the horizon."""
    BREACH = auto()
    """It is authentic and breaks a rule."""
    FORGED = auto()
    """Its publisher did not write it, as it is."""


class Judgement(NamedTuple):
    """A standing, and the first reason against it in the order of federation wire 2.1."""

    standing: Standing
    reason: str


FOLLOWS: Final = Judgement(Standing.FOLLOWS, "")
AHEAD: Final = Judgement(Standing.AHEAD, "")


class Judge:
    """Judges the entries of one lane by its rules."""

    def __init__(self, rules: Rules, memory: SignatureMemory) -> None:
        self._rules = rules
        self._memory = memory
        self._key = rules.key.sign_key
        self._vouched: set[str] = set()

    def check_signatures(self, reads: Iterable[Unverified | Unreadable], tip: str, below: int) -> None:
        """Check ahead what is soon judged: the entries that follow one another from `tip` to the seq `below`."""
        self._vouched.clear()
        for read in reads:
            if read.prev != tip or isinstance(read, Unreadable) or read.seq >= below:
                continue
            if self._memory.holds(read, self._key):
                self._vouched.add(read.hash)
                tip = read.hash

    def judge(self, read: Unverified, head: Head | Unverified | None) -> Judgement:
        """Judge an entry that claims to follow the head."""
        link = link_flaw(read, head)
        if not self.is_signed(read):
            return Judgement(Standing.FORGED, link or BAD_SIGNATURE)
        tampered = tampering(read)
        if tampered is not None:
            # One good signature over any number of contents is checked once.
            self._memory.keep(read, self._key, True)
            return Judgement(Standing.FORGED, link or tampered)
        flaw = link or breach(read)
        if flaw is None and head is None:
            flaw = self._key_flaw(read)
        if flaw is None and self._rules.cut is not None:
            flaw = _cut_flaw(read, 0 if head is None else head.seq, *self._rules.cut)
        if flaw is not None:
            return Judgement(Standing.BREACH, flaw)
        horizon = self._rules.horizon_ms
        return AHEAD if horizon is not None and read.hlc.ms > horizon else FOLLOWS

    def may_start(self, read: Unverified) -> bool:
        """Whether a log without a head has any business with an entry: not with the claims of other keys."""
        if read.type != "key":
            return False
        own = isinstance(read.body, dict) and read.body.get("signPub") == self._rules.key.sign_pub
        return own or self.is_signed(read)

    def is_authentic(self, read: Unverified) -> bool:
        """Whether its publisher wrote an entry as it is."""
        return tampering(read) is None and self.is_signed(read)

    def is_signed(self, read: Unverified) -> bool:
        """Whether its publisher signed an entry's header."""
        return read.hash in self._vouched or self._memory.holds(read, self._key)

    def was_checked(self, read: Unverified) -> bool:
        """Whether the answer of `is_signed` costs nothing."""
        return self._memory.recall(read, self._key) is not None

    def _key_flaw(self, read: Unverified) -> str | None:
        try:
            announced_key(read, self._rules.key)
        except OpError as error:
            return str(error)
        return None


def _cut_flaw(read: Unverified, head_seq: int, seq: int, hash_: str) -> str | None:
    """Hold a chain to the op its revocation names, which it may not pass by either."""
    if seq == 0 or read.seq < seq or head_seq >= seq:
        return None
    return None if (read.seq, read.hash) == (seq, hash_) else CUT_MISMATCH
