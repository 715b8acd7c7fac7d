"""`dmp doctor`: what can be wrong with a replica, looked at one by one, and what to do about each.

A check changes nothing. One that cannot be made says why, and keeps none of the others from being made.
"""

import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Final

from core.errors import DmpError
from core.timestamp import milliseconds
from crypto.lane import verified_entries
from replica.abreast import Abreast
from replica.chain.clock import MAX_LEAP_MS, last_reading
from replica.chain.guard import own_head
from replica.chain.own_lane import check_own_lane, published_head, stop_text
from replica.home.directory import Directory
from replica.home.keyfile import read_key_file
from replica.home.marker import Verdict as Marked
from replica.home.marker import compare as marked
from replica.host.config import Config, read_config
from replica.host.problems import all_problems
from replica.node import DirectoryNode, opened, wall_clock
from replica.records import ops, transports
from replica.records.link import Link, Role
from replica.records.meta import Meta, get
from replica.records.problems import Problem
from replica.records.schema import MIGRATIONS
from replica.records.transports import Record
from replica.service.lock import Holder, holder
from replica.sync import waiting_to_publish
from replica.ways import Ways
from transports.base import Transport, TransportError
from transports.remotes import RemoteError

LEAD_MS: Final = 5 * 60_000
"""How far ahead of a teammate's clock an op is not applied any more (section F.1)."""

SCARCE_BYTES: Final = 1 << 30
FULL_BYTES: Final = 100 << 20
"""Free bytes on the disk below which there is something to look at, and below which nothing is safe."""

STORE_SECONDS: Final = 60.0
"""How long the store is looked through for damage: one of many gigabytes would take longer than anybody waits."""

_STEPS: Final = 10_000
"""Instructions of SQLite between two looks at the time."""

LOCK_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 30.0
SILENT_SYNCS: Final = 10
"""After how many intervals without a sync a service that runs is said to have trouble."""


class Verdict(IntEnum):
    """How a check came out; the worst is the highest."""

    OK = 0
    WARNING = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: its name, how it came out, what is so, and what to do; nothing where all is well."""

    check: str
    verdict: Verdict
    text: str
    remedy: str = ""


def examine(root: Path) -> Iterator[Finding]:
    """Make every check of the replica at `root`, in an order in which one explains the next.

    Raises DmpError `not-found` where there is none.
    """
    directory = Directory(root)
    if not (directory.exists or directory.database.exists()):
        read_key_file(directory.key_file)
    yield from _checked("keys", lambda: _keys(directory))
    config = read_config(directory.config_file)
    yield from _checked("config", lambda: _config(config))
    yield from _checked("disk", lambda: _disk(root))
    serves = holder(directory.service_lock)
    yield _service(serves)
    yield from _checked("store", lambda: _store(directory))
    try:
        with opened(root) as node:
            yield from _checked("clock", lambda: _clock(node))
            yield from _checked("chain", lambda: _chain(node))
            yield from _checked("roster", lambda: _roster(node))
            yield from _transports(node, config, serves)
            yield from _checked("problems", lambda: _problems(all_problems(node)))
    except (DmpError, OSError, sqlite3.Error) as error:
        text = error.message if isinstance(error, DmpError) else f"the store cannot be used: {error}"
        yield Finding("replica", Verdict.FAILURE, text, "mend what is said above; see docs/operating.md")


def _checked(name: str, check: Callable[[], Iterator[Finding] | Finding]) -> Iterator[Finding]:
    try:
        found = check()
        yield from [found] if isinstance(found, Finding) else found
    except DmpError as error:
        yield Finding(name, Verdict.FAILURE, error.message)
    except (OSError, sqlite3.Error) as error:
        yield Finding(name, Verdict.FAILURE, f"it cannot be looked at: {error}")


def _keys(directory: Directory) -> Iterator[Finding]:
    read_key_file(directory.key_file)
    yield Finding("keys", Verdict.OK, "the keys are whole, and their owner's alone")
    mode = directory.root.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Finding(
            "directory",
            Verdict.WARNING,
            f"others may look into {directory.root}, where your mail is",
            f"chmod 700 {directory.root}",
        )


def _config(config: Config) -> Finding:
    if config.fault is not None:
        return Finding(
            "config", Verdict.FAILURE, config.fault, "mend it; `dmp service config` shows what may be set"
        )
    return Finding("config", Verdict.OK, "what is set can be read")


def _disk(root: Path) -> Finding:
    free = shutil.disk_usage(root).free
    text = f"{free / (1 << 30):.1f} GiB are free where {root} is"
    if free >= SCARCE_BYTES:
        return Finding("disk", Verdict.OK, text)
    verdict = Verdict.WARNING if free >= FULL_BYTES else Verdict.FAILURE
    return Finding("disk", verdict, text, "make room: a full disk keeps mail from being stored and sent")


def _service(serves: Holder | None) -> Finding:
    if serves is None:
        return Finding(
            "service", Verdict.OK, "no service runs; commands work without one, and `dmp sync` syncs"
        )
    where = "" if serves.url is None else f", at {serves.url}"
    return Finding(
        "service", Verdict.OK, f"process {serves.pid} serves this directory{where}, since {serves.since}"
    )


def _store(directory: Directory) -> Finding:
    db = sqlite3.connect(f"{directory.database.absolute().as_uri()}?mode=ro", uri=True)
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        sound = _sound(db)
    finally:
        db.close()
    if sound not in (None, "ok"):
        return Finding(
            "store", Verdict.FAILURE, "the store is damaged", "restore the newest backup: docs/operating.md"
        )
    if version > len(MIGRATIONS):
        return Finding("store", Verdict.FAILURE, "a newer version of dmp wrote the store", "upgrade dmp")
    if sound is None:
        text = (
            f"no damage was found in the {STORE_SECONDS:.0f} seconds for which the store was looked through, "
            f"which is not all of it; it is at schema {version}"
        )
        return Finding("store", Verdict.OK, text)
    return Finding("store", Verdict.OK, f"the store is whole, at schema {version}")


def _sound(db: sqlite3.Connection) -> str | None:
    """What SQLite says of a store it looked through, `ok` where it is whole; None where that takes too long."""
    until = time.monotonic() + STORE_SECONDS
    db.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        return str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError:
        if time.monotonic() > until:
            return None
        raise


def _clock(node: DirectoryNode) -> Finding:
    last, now = last_reading(node.store.db), node.wall()
    if last is None:
        return Finding(
            "clock", Verdict.OK, "nothing was signed or received yet that the clock could be compared with"
        )
    accepted = int(get(node.store.db, Meta.CLOCK_ACCEPTED) or 0)
    if now > max(last.ms, accepted) + MAX_LEAP_MS:
        days = (now - last.ms) // 86_400_000
        return Finding(
            "clock",
            Verdict.FAILURE,
            f"this machine's clock is {days} days past all that was signed or received here, so nothing is signed",
            "set the clock; or, if it is right, `dmp resume --clock`",
        )
    ahead = last.ms - now
    if ahead > 0:
        verdict = Verdict.FAILURE if ahead > LEAD_MS else Verdict.WARNING if ahead > 1_000 else Verdict.OK
        if verdict is not Verdict.OK:
            return Finding(
                "clock",
                verdict,
                f"this machine's clock is {ahead / 1000:.0f} seconds behind what was signed or received here",
                "set the clock, by NTP if you can; others wait with what is more than 5 minutes ahead of theirs",
            )
    return Finding("clock", Verdict.OK, "this machine's clock goes with what teammates signed")


def _chain(node: DirectoryNode) -> Finding:
    db = node.store.db
    stopped = get(db, Meta.STOPPED)
    if stopped is not None:
        remedy = "make a new replica in another directory, join with it, and have this one revoked"
        return Finding("chain", Verdict.FAILURE, stopped, remedy)
    lines = [line for _, line in ops.lines_of(db, node.me)]
    head, prev, count = own_head(node), None, 0
    for entry in verified_entries(node.me, lines, node.identity.secrets.signer.public):
        count += 1
        if entry.seq != count or (prev is not None and entry.prev != prev):
            break
        prev = entry.hash
    if count != len(lines) or (count, prev or "") != head:
        return Finding(
            "chain",
            Verdict.FAILURE,
            f"the own chain does not verify at op {count}: something else changed the store",
            "restore the newest backup: docs/operating.md",
        )
    if (paused := get(db, Meta.PAUSED)) is not None:
        return Finding("chain", Verdict.FAILURE, paused)
    markers = node.place.markers
    if marked(markers.read(node.me), markers.describe(*head)) is Marked.OLDER:
        text = "this machine remembers a later op than this directory has: it looks restored from an older backup"
        return Finding("chain", Verdict.FAILURE, text, "use the newest copy; `dmp sync` says more")
    waiting = waiting_to_publish(node)
    text = f"the own chain verifies, up to op {count}, of which {published_head(db, node.me)} are published"
    return Finding("chain", Verdict.OK, text if not waiting else f"{text}; {waiting} things wait to be")


def _roster(node: DirectoryNode) -> Iterator[Finding]:
    team = node.team
    if team is None:
        yield Finding(
            *("roster", Verdict.WARNING, "this machine is in no team"),
            "found one with `dmp team found`, or join one with `dmp join`",
        )
        return
    view = team.view
    if node.me in view.revoked:
        yield Finding(
            *("roster", Verdict.FAILURE, "this machine was revoked"),
            "make a new replica in another directory, and join with it",
        )
    elif not team.ready(node.me):
        yield Finding(
            *("roster", Verdict.WARNING, "this machine waits to be admitted"),
            "ask an admin; they see it in `dmp team pending`",
        )
    else:
        admins = sum(view.is_admin(each) for each in view.members)
        text = f"this machine is in the team; machines: {len(view.members)}, of admins: {admins}"
        yield Finding("roster", Verdict.OK, text)
    if view.is_admin(node.me) and view.pending:
        yield Finding(
            *("pending", Verdict.WARNING, f"{len(view.pending)} machines wait to be admitted"),
            "`dmp team pending`",
        )


def _transports(node: DirectoryNode, config: Config, serves: Holder | None) -> Iterator[Finding]:
    """Ask each transport, side by side; but while a service is connected, what its last sync found."""
    used = [each for each in transports.records(node.store.db) if each.role is not Role.FORMER]
    if serves is not None:
        yield from (_visited(each, config.serve.interval) for each in used)
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(node.directory.sync_lock(LOCK_SECONDS))
        except DmpError:
            yield from (_visited(each, config.serve.interval) for each in used)
            return
        ways = stack.enter_context(Ways(node))
        asking = Abreast(ANSWER_SECONDS)
        asked = [(each, _begin(ways, asking, each.link)) for each in used]
        for each, answer in asked:
            yield from _checked(_name(each), partial(_reached, node, each, answer))


def _begin(ways: Ways, asking: Abreast, link: Link) -> Callable[[], Transport]:
    try:
        transport = ways.open(link)
    except (TransportError, RemoteError) as error:
        failed = error

        def fail() -> Transport:
            raise failed

        return fail

    def ask() -> Transport:
        transport.refresh()
        return transport

    return asking.begin(transport, ask)


def _name(record: Record) -> str:
    return f"transport {record.link.shown}"


def _reached(node: DirectoryNode, record: Record, answer: Callable[[], Transport]) -> Finding:
    name = _name(record)
    try:
        lane = check_own_lane(node.store.db, node.identity, answer())
    except TransportError as error:
        return Finding(name, Verdict.FAILURE, error.message, error.hint)
    except RemoteError as error:
        return Finding(name, Verdict.FAILURE, str(error))
    if lane.stranger is not None:
        return Finding(
            name,
            Verdict.FAILURE,
            stop_text(lane.stranger),
        )
    if lane.lacking:
        count = len(lane.lacking)
        return Finding(
            name,
            Verdict.WARNING,
            f"it can be reached, but lacks {count} of the ops that this replica published",
            "`dmp sync` publishes them there again",
        )
    return Finding(name, Verdict.OK, "it can be reached, and has what this replica published")


def _visited(record: Record, interval: int) -> Finding:
    name = _name(record)
    if record.error is not None:
        return Finding(
            name, Verdict.FAILURE, f"the last sync failed: {record.error}", "see docs/operating.md"
        )
    if record.seen_at is None:
        return Finding(name, Verdict.WARNING, "it was not visited yet", "wait for the next sync")
    ago = (wall_clock() - milliseconds(record.seen_at)) // 1000
    if ago > SILENT_SYNCS * interval + 60:
        return Finding(
            *(name, Verdict.WARNING, f"it was last reached {ago} seconds ago, although a service runs"),
            "look at the service's log",
        )
    return Finding(name, Verdict.OK, f"a sync reached it {max(ago, 0)} seconds ago")


def _problems(found: list[Problem]) -> Finding:
    if not found:
        return Finding("problems", Verdict.OK, "there is nothing that you have not seen")
    kinds = sorted({each.subject.partition(":")[0] for each in found})
    return Finding(
        "problems",
        Verdict.WARNING,
        f"there are {len(found)}: {', '.join(kinds)}",
        "`dmp problems` says of each what to do",
    )
