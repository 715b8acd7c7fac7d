"""Which lines a transport hands over (federation wire 6.5).

Bytes are split at line feeds alone, and each line is read once, by the rules every op is read by, to learn
which lane and seq it claims. Nothing else of it is looked at: whether it verifies is the reader's to say.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from crypto.canonical import JsonError, JsonValue, decode, parse
from transports.base import LINE_BYTES, Line, PullReport, Skipped

MAX_SEQ: Final = 2**53 - 1


class JunkError(ValueError):
    """A line that is no line of its lane; the text says why."""


def seq_of(replica: str, raw: bytes) -> int:
    """Return the seq a line of this lane claims. Raises JunkError for a line that is none of the lane's."""
    seq, _ = claims(replica, raw)
    return seq


def claims(replica: str, raw: bytes) -> tuple[int, Mapping[str, JsonValue]]:
    """Return the seq a line of this lane claims, and all its members. Raises as `seq_of`."""
    if len(raw) > LINE_BYTES:
        raise JunkError("longer than 1 MiB")
    try:
        value = parse(decode(raw)).value
    except JsonError:
        raise JunkError("not JSON") from None
    if not isinstance(value, dict):
        raise JunkError("not a JSON object")
    if value.get("replica") != replica:
        raise JunkError("names another replica")
    seq = value.get("seq")
    if type(seq) is not int or not 0 <= seq <= MAX_SEQ:
        raise JunkError("has no seq that can be used")
    return seq, value


def lane_of(raw: bytes) -> str | None:
    """Return the lane a line says it is of, or None for what is no line of any."""
    try:
        value = parse(decode(raw)).value
        replica = value.get("replica") if isinstance(value, dict) else None
        if isinstance(replica, str):
            seq_of(replica, raw)
            return replica
    except (JsonError, JunkError):
        pass
    return None


def complete_lines(data: bytes, start: int = 0) -> Iterator[bytes]:
    """Cut what begins at `start` at its line feeds. What follows the last one is torn, and left out."""
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1


def read_lines(
    replica: str, place: str, data: bytes, since: int, report: PullReport | None = None
) -> Iterator[Line]:
    """Hand over the lines of a lane in the bytes of a file, those whose seq is at least `since`.

    What else is in it goes to the report, with the file's `place`.
    """
    others: dict[str, tuple[int, int]] = {}
    number = 0
    for number, raw in enumerate(complete_lines(data), 1):
        try:
            if not is_blank(raw) and seq_of(replica, raw) >= since:
                yield Line(replica, raw)
        except JunkError as error:
            first, count = others.get(str(error), (number, 0))
            others[str(error)] = (first, count + 1)
    if data and not data.endswith(b"\n"):
        others["has no line feed at its end"] = (number + 1, 1)
    if report is not None:
        report.skipped += [Skipped(replica, place, at, count, why) for why, (at, count) in others.items()]


def is_blank(raw: bytes) -> bool:
    """Whether a line holds nothing but JSON's white space."""
    return not raw.strip(b" \t\r")
