"""A relay as a transport (transports.base, federation wire 7).

A relay keeps one log of each replica and takes an op only after the one before it, so a publish that is refused as
`Behind` means that this replica's own key was used elsewhere. It keeps acknowledgements to itself: `acks` has none,
and that something arrived is known by reading it back.

A push only says that there is news. What a pull hands over begins where the caller says, so that nothing published
meanwhile is missed, whatever became of the connection.
"""

import itertools
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from crypto.canonical import JsonError, canonical
from crypto.keys import REPLICA_ID
from crypto.op import MAX_SEQ
from transports.base import ACKS_BYTES, LINE_BYTES, PASS_BYTES, Line, Pull, PullReport, Skipped, Unreachable
from transports.lines import seq_of
from transports.opening import Member
from transports.relay import frames
from transports.relay.address import RelayAddress
from transports.relay.client.chunks import chunks
from transports.relay.client.conversation import Answer, Login, Request
from transports.relay.client.failures import LostError
from transports.relay.client.link import Link, Mark
from transports.relay.client.reasons import refusal, turned_away

PULL_ROUNDS: Final = 20
"""Requests that one pull makes at most; what is left then is for the next (federation wire 7.4)."""

LANE_BYTES: Final = 256 * 1024 * 1024
"""What is read of one lane at most, in bytes: a relay could make it up without end."""

_STEP_SECONDS: Final = 0.02
"""How often a wait for news lets its caller look whether something changed here."""

_LOOK_SECONDS: Final = 0.001


class RelayTransport:
    """The relay at an address, for one replica of one team (transports.base.Transport).

    `directory` keeps the acknowledgements last given, for a relay that was restored from an older backup.
    """

    def __init__(
        self,
        relay: RelayAddress,
        member: Member,
        directory: Path,
        link: Link,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`sleep` and `clock` (seconds) serve `watch`."""
        self.url = relay.url
        self._member = member
        self._kept_acks = directory / "acks.json"
        self._link = link
        self._sleep = sleep
        self._clock = clock
        self._ids = itertools.count(1)
        self._seen: Mark | None = None
        self._changes = 0
        self._heads: dict[str, int] | None = None
        self._acknowledged: dict[str, int] = {}

    def refresh(self) -> str:
        """Be connected, and ask whether anything was stored that no pull on this connection has shown.

        Each connection has tips of its own, so after another one everything above the caller's heads is read.
        """
        self._connect()
        mark, seen = self._link.mark(), self._seen
        if seen is not None and seen.connection == mark.connection:
            if mark == seen and self._heads is not None:
                self._changes += self._is_ahead(self._heads)
            else:
                self._ask_whether_it_is_there()
        self._seen = self._link.mark()
        return f"{self._seen.connection}-{self._seen.news}-{self._changes}"

    def pull(self, since: Mapping[str, int], *, budget: int | None = PASS_BYTES) -> Pull:
        report = PullReport()
        return Pull(self._pull(since, budget, report), report)

    def lane(self, replica: str, since: int = 0) -> Iterator[Line]:
        above = {replica: since - 1} if since > 1 else {}
        left = LANE_BYTES
        reading = _Reading(above, PullReport(), only=replica)
        while left > 0:
            ops = self._ops(reading.request(next(self._ids)))
            for line, seq in reading.lines(ops):
                left -= len(line.raw)
                if seq >= since:
                    yield line
            if not ops.more or not reading.moved:
                return

    def acks(self, replicas: Collection[str] | None = None) -> Iterator[Line]:  # noqa: ARG002 - it tells nobody's
        return iter(())

    def publish(self, replica: str, lines: Sequence[bytes], *, acks: bytes | None = None) -> None:
        """Store these lines, in several requests where they are many: some may be stored when a later one is not.

        Raises Unreachable also where the relay says that it stored less than it was given.
        """
        if replica != self._member.replica:
            raise ValueError(f"{self._member.replica} cannot publish for {replica!r}")
        if not lines and acks is None:
            return
        self._connect()
        for chunk in chunks(lines):
            self._store(replica, chunk)
        if acks is not None:
            self._acknowledge(acks)

    def watch(self, timeout: float) -> bool:
        """Wait for a push. Where the connection is gone, another is sought, and made, which counts as news."""
        deadline = self._clock() + timeout
        seen = self._seen or self._link.mark()
        while self._link.mark() == seen:
            left = deadline - self._clock()
            if left <= 0:
                return False
            self._link.wait(seen, min(left, _STEP_SECONDS))
            self._sleep(min(left, _LOOK_SECONDS))
        return True

    def close(self) -> None:
        self._link.close()

    def _connect(self) -> None:
        """Be connected. What a relay may have lost of acknowledgements since the last time, it is told again."""
        team = self._member.team()
        if team is None:
            raise Unreachable(
                f"this replica is in no team yet that {self.url} could have", "join one with an invite"
            )
        member = self._member
        before = self._link.mark().connection
        self._link.connect(Login(self.url, team, member.replica, member.sign, member.key_op()))
        if self._link.mark().connection != before:
            self._heads = None
            self._acknowledged = {}
            if kept := self._remembered_acks():
                self._link.tell(frames.Ack(next(self._ids), kept))
                self._acknowledged = kept

    def _is_ahead(self, heads: Mapping[str, int]) -> bool:
        """Whether the relay holds what no pull on this connection has shown: a push may have been lost."""
        return bool(self._ops(frames.Pull(next(self._ids), heads)).ops)

    def _ask_whether_it_is_there(self) -> None:
        """Ask what has no answer but that the relay is there."""
        me = self._member.replica
        self._ops(frames.Pull(next(self._ids), {me: MAX_SEQ}, (me,)))

    def _pull(self, since: Mapping[str, int], budget: int | None, report: PullReport) -> Iterator[Line]:
        """Read what is above, in rounds. A relay begins each answer with another lane, so none keeps others waiting."""
        reading = _Reading({lane: seq - 1 for lane, seq in since.items() if seq > 1}, report)
        for _ in itertools.count() if budget is None else range(PULL_ROUNDS):
            ops = self._ops(reading.request(next(self._ids)))
            for line, seq in reading.lines(ops):
                if seq < since.get(line.replica, 0):
                    continue
                if budget is not None:
                    if budget <= 0:
                        report.more = True
                        return
                    budget -= len(line.raw)
                yield line
            if not ops.more:
                self._heads = dict(reading.above)
                return
            if not reading.moved:
                break
        report.more = True

    def _ops(self, request: frames.Pull) -> frames.Ops:
        answer = self._ask(request)
        assert isinstance(answer, frames.Ops)
        return answer

    def _ask(self, request: Request) -> Answer:
        """Ask for what a relay holds, once more where the connection turns out to be gone. Raises Unreachable."""
        self._connect()
        try:
            answer = self._link.ask(request)
        except LostError:
            self._connect()
            answer = self._link.ask(request)
        if isinstance(answer, frames.Error):
            raise turned_away(answer.reason)
        return answer

    def _store(self, replica: str, lines: Sequence[bytes]) -> None:
        top = max(seq_of(replica, line) for line in lines)
        answer = self._link.ask(frames.Publish(next(self._ids), frames.carried(lines)))
        if isinstance(answer, frames.Error):
            raise refusal(answer.reason)
        assert isinstance(answer, frames.Stored)
        if answer.through < top:
            raise Unreachable(
                f"{self.url} says that it stored this replica's ops up to {answer.through}, but was given op {top}",
                "the next sync gives it the rest again; if this goes on, whoever runs the relay should know",
            )
        self._changes += 1
        if self._heads is not None:
            self._heads[replica] = max(answer.through, self._heads.get(replica, 0))

    def _acknowledge(self, acks: bytes) -> None:
        through = _through(acks, self._member.replica)
        if through is not None and through != self._acknowledged:
            self._remember_acks(acks)
            answer = self._link.ask(frames.Ack(next(self._ids), through))
            if isinstance(answer, frames.Error):
                raise turned_away(answer.reason)
            self._acknowledged = through

    def _remembered_acks(self) -> dict[str, int]:
        try:
            raw = self._kept_acks.read_bytes()
        except OSError:
            return {}
        return _through(raw, self._member.replica) or {}

    def _remember_acks(self, acks: bytes) -> None:
        with suppress(OSError):  # without them a restored relay only keeps ops for longer
            self._kept_acks.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._kept_acks.with_suffix(".new")
            fresh.write_bytes(acks)
            fresh.replace(self._kept_acks)


class _Reading:
    """Rounds of one pull: what was handed over, and where to go on.

    `above` has the seq to go on from, by lane; `moved` tells whether the last round went on at all.
    """

    def __init__(self, above: dict[str, int], report: PullReport, only: str | None = None) -> None:
        self.above = above
        self.moved = False
        self._report = report
        self._only = only

    def request(self, id_: int) -> frames.Pull:
        self.moved = False
        return frames.Pull(id_, dict(self.above), None if self._only is None else (self._only,))

    def lines(self, ops: frames.Ops) -> Iterator[tuple[Line, int]]:
        """The lines of an answer with their seqs; what is none, or was not asked for, is passed over."""
        junk = 0
        for each in ops.ops:
            found = self._line(each)
            if found is None:
                junk += 1
                continue
            line, seq = found
            if self._only not in (None, line.replica):
                continue
            if seq > self.above.get(line.replica, 0):
                self.above[line.replica] = seq
                self.moved = True
            yield found
        if junk:
            reason = "no op of a replica, or longer than 1 MiB"
            self._report.skipped.append(Skipped("", "the relay", 0, junk, reason))

    def _line(self, each: frames.Carried) -> tuple[Line, int] | None:
        value = None if each.parsed is None else each.parsed.value
        if not isinstance(value, dict):
            return None
        lane, seq = value.get("replica"), value.get("seq")
        if not isinstance(lane, str) or type(seq) is not int or not 0 <= seq <= MAX_SEQ:
            return None
        if lane not in self.above and (len(self.above) >= frames.MAX_LANES or not REPLICA_ID.fullmatch(lane)):
            return None
        try:
            raw = canonical(value) if "\n" in each.text else each.raw
        except JsonError:
            return None
        return None if len(raw) > LINE_BYTES else (Line(lane, raw), seq)


def _through(acks: bytes, replica: str) -> dict[str, int] | None:
    """What acknowledgements of this replica say; None where they are none."""
    try:
        value = json.loads(acks) if len(acks) <= ACKS_BYTES else None
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("replica") != replica:
        return None
    through = value.get("through")
    if not isinstance(through, dict):
        return None
    return {str(lane): seq for lane, seq in through.items() if type(seq) is int and 0 <= seq <= MAX_SEQ}
