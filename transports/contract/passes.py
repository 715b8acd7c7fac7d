"""What a pass over a transport showed, in a form that can be compared."""

from collections.abc import Iterable, Mapping, Sequence

from crypto.canonical import JsonError
from crypto.op import OpError, read_entry, to_line
from transports.base import Line, Transport
from transports.contract.author import Author
from transports.lines import JunkError, seq_of

Lanes = dict[str, list[bytes]]


def news(near: Transport, *authors: Author, since: Mapping[str, int] | None = None) -> Lanes:
    """One pass: what there is of these authors, from what they began with, or from `since` on."""
    near.refresh()
    starts = {author.replica: author.first for author in authors} | dict(since or {})
    return by_lane(near.pull(starts, budget=None), starts)


def lane(near: Transport, author: Author, since: int | None = None) -> list[bytes]:
    """One pass: what reading one lane shows."""
    near.refresh()
    start = author.first if since is None else since
    return by_lane(near.lane(author.replica, start), {author.replica: start}).get(author.replica, [])


def by_lane(lines: Iterable[Line], starts: Mapping[str, int]) -> Lanes:
    """Lines of the lanes that are named, from these seqs on, by lane and in the order of their seqs, each once.

    A transport may hand over more than it was asked for, and the same line again.
    """
    found: Lanes = {}
    for line in lines:
        if line.replica in starts and claimed(line) >= starts[line.replica]:
            found.setdefault(line.replica, []).append(as_signed(line.raw))
    return {
        name: once(sorted(raws, key=lambda raw: claimed(Line(name, raw)))) for name, raws in found.items()
    }


def once(lines: Iterable[bytes]) -> list[bytes]:
    """Lines without those that come again."""
    return list(dict.fromkeys(lines))


def as_signed(raw: bytes) -> bytes:
    """An entry in its canonical form, however its line is written; what is none, as it is."""
    try:
        return to_line(read_entry(raw))
    except (OpError, JsonError, ValueError):
        return raw


def claimed(line: Line) -> int:
    """The seq a line claims; of junk one that is above all."""
    try:
        return seq_of(line.replica, line.raw)
    except JunkError:
        return 2**53


def linked(head: int, wanted: Sequence[bytes], found: Iterable[bytes]) -> int:
    """The seq from which somebody reads on who needs one line after the other, having found some of those wanted."""
    there = set(found)
    for raw in wanted:
        if raw not in there:
            break
        head = max(head, read_entry(raw).seq)
    return head
