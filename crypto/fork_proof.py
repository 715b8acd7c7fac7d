"""Proof that one key signed two histories, which anyone can check without trusting who shows it.

A **proof** is the key op that announces the key, and two entries that it signed for one place of the chain: with the
same seq, or after the same op, and of different opHash. Nobody without the key can make one, so it says something of
the key's holder and nothing of who shows it. What it does not say is whose the key is: that is for whoever knows
its fingerprint.

The file is the canonical JSON of `{"forkProof": 1, "key": <op>, "entries": [<entry>, <entry>]}`, the entries in the
order of their hashes, so that one proof has one form. An entry is an op or, of the types that may be pruned, its
stub: a signature covers all that a stub keeps.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from crypto.canonical import JsonError, JsonValue, canonical, decode, parse
from crypto.chain import is_signed
from crypto.keys import KeyBody, KeyBodyError, parse_key_body
from crypto.op import (
    ABSENT,
    MAX_OP_BYTES,
    STUB_TYPES,
    ZERO_HASH,
    Entry,
    Op,
    Unreadable,
    Unverified,
    breach,
    read_line,
    read_value,
    tampering,
    to_line,
)

FORMAT: Final = 1
"""Counts the forms of a proof."""

MAX_PROOF_BYTES: Final = 3 * MAX_OP_BYTES + 1024
"""The longest file that is read, in bytes: three ops, and what is around them."""

_MEMBERS: Final = {"forkProof", "key", "entries"}


class ProofError(ValueError):
    """What is no proof; the message says why, and holds no text of others."""


@dataclass(frozen=True, slots=True)
class ForkProof:
    """Two entries that one key signed for one place, and the op that announces the key. It was checked."""

    key_op: Op
    key: KeyBody
    entries: tuple[Entry, Entry]

    @property
    def replica(self) -> str:
        """The replica whose chain forks."""
        return self.key_op.replica

    @property
    def seq(self) -> int:
        """From which op on its log says nothing that counts: the later of two that follow one op."""
        return max(entry.seq for entry in self.entries)

    @property
    def same_seq(self) -> bool:
        """Whether both claim one seq; otherwise they follow one op."""
        first, second = self.entries
        return first.seq == second.seq

    def to_bytes(self) -> bytes:
        """The file, without a line feed at its end."""
        return canonical(
            {
                "forkProof": FORMAT,
                "key": _value(self.key_op),
                "entries": [_value(entry) for entry in self.entries],
            }
        )


def make_proof(key_op: Op, entries: Iterable[Entry]) -> ForkProof:
    """Put a proof together from what one key signed, with stubs of what may be pruned: nobody has to be shown that.

    Raises ProofError where these prove nothing.
    """
    lines = [to_line(_without_content(each)) for each in sorted(entries, key=lambda each: each.hash)]
    return _checked(read_line(to_line(key_op)), [read_line(line) for line in lines])


def find_proof(key_op: Op, entries: Iterable[Entry]) -> ForkProof | None:
    """The first proof there is among entries of one chain, whichever they are; None where they prove nothing."""
    seen: dict[int | str, Entry] = {}
    for entry in sorted(entries, key=lambda each: (each.seq, each.hash)):
        for place in (entry.seq, entry.prev):
            other = seen.setdefault(place, entry)
            if other.hash != entry.hash:
                try:
                    return make_proof(key_op, (other, entry))
                except ProofError:
                    continue
    return None


def read_proof(raw: bytes) -> ForkProof:
    """Read and check a proof from anybody. Raises ProofError with the first reason why it proves nothing."""
    if len(raw) > MAX_PROOF_BYTES:
        raise ProofError(f"longer than {MAX_PROOF_BYTES} bytes")
    text = raw.removesuffix(b"\n")
    try:
        value = parse(decode(text)).value
    except JsonError:
        raise ProofError("not JSON") from None
    if not isinstance(value, dict) or value.keys() != _MEMBERS:
        raise ProofError("not an object with exactly the members forkProof, key and entries")
    if type(value["forkProof"]) is not int or value["forkProof"] != FORMAT:
        raise ProofError("of another form than this program reads")
    entries = value["entries"]
    if not isinstance(entries, list) or len(entries) != 2:
        raise ProofError("not a list of two entries")
    proof = _checked(read_value(value["key"]), [read_value(each) for each in entries])
    if proof.to_bytes() != text:
        raise ProofError("not in canonical form: it was changed on its way")
    return proof


def _checked(announced: Unverified | Unreadable, reads: list[Unverified | Unreadable]) -> ForkProof:
    key_op, key = _key(announced)
    entries = [_entry(read, key_op.replica, key) for read in reads]
    first, second = entries
    if first.hash == second.hash:
        raise ProofError("the same op twice: a stub and its op are one")
    if first.seq != second.seq and first.prev != second.prev:
        raise ProofError("two ops for different places in the chain")
    if first.hash > second.hash:
        raise ProofError("with its entries in another order than that of their hashes")
    return ForkProof(key_op, key, (first, second))


def _key(read: Unverified | Unreadable) -> tuple[Op, KeyBody]:
    if isinstance(read, Unreadable):
        raise ProofError(f"without a key op ({read.reason})")
    if read.type != "key" or read.prev != ZERO_HASH:
        raise ProofError("without a key op")
    try:
        key = parse_key_body(None if read.body is ABSENT else read.body)
    except KeyBodyError:
        raise ProofError("with a key op that announces no key") from None
    entry = _entry(read, read.replica, key)
    assert isinstance(entry, Op)  # a stub of a key op is none
    return entry, key


def _entry(read: Unverified | Unreadable, replica: str, key: KeyBody) -> Entry:
    if isinstance(read, Unreadable):
        raise ProofError(f"with an entry that is no op ({read.reason})")
    if read.replica != replica:
        raise ProofError("with an op of another replica")
    flaw = tampering(read) or breach(read)
    if flaw is not None:
        raise ProofError(f"with an op that does not verify ({flaw})")
    if not is_signed(read, key.sign_key):
        raise ProofError("with an op that another key signed, or none")
    return read.entry()


def _without_content(entry: Entry) -> Entry:
    return entry.stub() if isinstance(entry, Op) and entry.type in STUB_TYPES else entry


def _value(entry: Entry) -> JsonValue:
    return parse(to_line(entry).decode()).value
