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
    """A header's members in canonical order, cut where the other members of an op come in between."""

    until_replica: str
    replica: str
    seq: str
    rest: str

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
    ) -> "Header":
        recipients = "" if to is None else '"to":["' + '","'.join(to) + '"],'
        return cls(
            f'"bodyHash":"{body_hash}","hlc":"{hlc}","prev":"{prev}",',
            f'"replica":"{replica}",',
            f'"seq":{seq},',
            f'{recipients}"type":"{type}","v":2}}',
        )

    def to_sign(self) -> bytes:
        """Return what a signature covers."""
        return f"{SIGNATURE_TAG}{{{self.until_replica}{self.replica}{self.seq}{self.rest}".encode()

    def with_sig(self, sig: str) -> bytes:
        """Return what the opHash is the hash of. Raises JsonError for a signature that is no text."""
        quoted = f'"{sig}"' if _BASE64URL.fullmatch(sig) else canonical(sig).decode()
        return f'{{{self.until_replica}{self.replica}{self.seq}"sig":{quoted},{self.rest}'.encode()

    def line(self, body: bytes, sealed: bytes, pruned: str, sig: str) -> bytes:
        """Return the whole entry; each member in it ends in a comma, or is empty."""
        before = f"{self.until_replica}{pruned}{self.replica}".encode()
        after = f'{self.seq}"sig":"{sig}",{self.rest}'.encode()
        return b"{" + body + before + sealed + after
