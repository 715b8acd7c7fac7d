"""The canonical form of an op's header: what is signed of it, and what its hash is taken of (section F.1).

By their grammars the members of a header hold nothing that JSON would escape, so their canonical form is a
template, filled in.
"""

import re
from typing import Final, NamedTuple

from crypto.canonical import canonical

SIGNATURE_TAG: Final = "dispatch-op-v2\n"

_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


class Header(NamedTuple):
    """The canonical form of a header, cut where the other members of an op go in.

    Sealed content goes in after `start`, which has no brace before it, and the signature before `end`, which has one
    after it.
    """

    start: str
    seq: str
    end: str

    @classmethod
    def write(
        cls,
        replica: str,
        seq: int,
        prev: str,
        hlc: str,
        type: str,
        to: tuple[str, ...] | None,
        body_hash: str,
        *,
        pruned: str = "",
    ) -> "Header":
        """Fill in the members in their order. `pruned` goes in where an entry has it."""
        recipients = "" if to is None else '"to":["' + '","'.join(to) + '"],'
        return cls(
            f'"bodyHash":"{body_hash}","hlc":"{hlc}","prev":"{prev}",{pruned}"replica":"{replica}",',
            f'"seq":{seq},',
            f'{recipients}"type":"{type}","v":2}}',
        )

    def to_sign(self) -> bytes:
        """Return what a signature covers."""
        return f"{SIGNATURE_TAG}{{{self.start}{self.seq}{self.end}".encode()

    def with_sig(self, sig: str) -> bytes:
        """Return what the opHash is the hash of. Raises JsonError for a signature that is no text."""
        quoted = f'"{sig}"' if _BASE64URL.fullmatch(sig) else canonical(sig).decode()
        return f'{{{self.start}{self.seq}"sig":{quoted},{self.end}'.encode()
