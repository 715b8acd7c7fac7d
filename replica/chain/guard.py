"""What must hold before anything is signed: nobody else uses this key, and nothing published is missing here.

Proof stops a replica for good: an op in its own lane, under its own key, that it did not sign. Words only
pause it, until its owner says `dmp resume`: this machine's marker, or a teammate's signed acknowledgement, that
speaks of a later op than this store has.
"""

from core.errors import Code, DmpError
from replica.chain import restored
from replica.chain.own_lane import LaneReport, check_own_lane, proof_of_twin, stop_text
from replica.home.marker import Verdict, compare
from replica.node import Node
from replica.records import fork_proofs, ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from transports.base import Transport

STOPPED = subjects.OWN_STOPPED.of()
PAUSED = subjects.OWN_PAUSED.of()


def check_chain(node: Node, transport: Transport, *, whole: bool = False) -> LaneReport:
    """Check the own lane after a refresh, from its start with `whole`.

    Raises DmpError `conflict` when this replica has stopped for good, now or earlier.
    """
    stopped = get(node.store.db, Meta.STOPPED)
    if stopped is not None:
        raise DmpError(Code.CONFLICT, stopped)
    return stop_for_stranger(node, check_own_lane(node.store.db, node.identity, transport, whole=whole))


def stop_for_stranger(node: Node, report: LaneReport) -> LaneReport:
    """Return what the own lane shows on a transport.

    Raises DmpError `conflict`, and stops this replica for good, where that is an op that was not signed here.
    """
    if report.stranger is None:
        return report
    stopped, db = stop_text(report.stranger), node.store.db
    with node.store.transaction(CommitPoint.STOPPED):
        put(db, Meta.STOPPED, stopped)
        problems.note(db, problems.Problem(STOPPED, stopped, node.me, report.stranger.seq, node.now()))
        proof = proof_of_twin(db, node.me, report.stranger)
        if proof is not None:
            fork_proofs.keep(db, proof, node.now())
    raise DmpError(Code.CONFLICT, stopped)


def pause_reason(node: Node) -> str | None:
    """Why this replica should sign nothing until its owner says so; None when it may sign."""
    db = node.store.db
    if (waits := restored.reason(db)) is not None:
        return waits
    seq, head_hash = own_head(node)
    allowed = int(get(db, Meta.RESUMED_AT) or 0)
    marker = node.place.markers.read(node.me)
    reason, spoken = None, 0
    if compare(marker, node.place.markers.describe(seq, head_hash)) is Verdict.OLDER and marker is not None:
        spoken = marker.seq
        reason = f"this machine remembers signing op {marker.seq}, but this directory ends at op {seq}"
    for teammate, through in db.execute(
        "SELECT replica, own_through FROM acks WHERE own_through > ?", (seq,)
    ):
        if through > spoken:
            spoken = through
            reason = (
                f"{teammate} acknowledged op {through} of this replica, but this directory ends at op {seq}"
            )
    if reason is None or spoken <= allowed:
        if get(db, Meta.PAUSED) is not None:
            _note_pause(node, None)
        return None
    text = (
        f"{reason}: it looks restored from an older backup, so it signs nothing. Use the newest copy; or, if you "
        "are sure that nothing signed here was lost, run `dmp resume`"
    )
    _note_pause(node, text)
    return text


def resume(node: Node) -> None:
    """Sign again although this machine or a teammate speaks of later ops, on the owner's word.

    Raises DmpError `conflict` when the replica has stopped for good, which no word undoes, and when it was restored
    and has not even looked what it published.
    """
    db = node.store.db
    stopped = get(db, Meta.STOPPED)
    if stopped is not None:
        raise DmpError(Code.CONFLICT, stopped)
    waits = restored.reason(db)
    if waits is not None and not restored.has_read_back(db):
        raise DmpError(Code.CONFLICT, waits)
    marker = node.place.markers.read(node.me)
    (acknowledged,) = db.execute("SELECT coalesce(max(own_through), 0) FROM acks").fetchone()
    with node.store.transaction(CommitPoint.RESUMED):
        put(db, Meta.RESUMED_AT, str(max(int(acknowledged), marker.seq if marker else 0)))
        restored.forget(db)
        problems.clear(db, PAUSED)


def remember_signing(node: Node) -> None:
    """Write the marker for the head as it is now; a machine that cannot keep one goes without."""
    seq, head_hash = own_head(node)
    markers = node.place.markers
    now = markers.describe(seq, head_hash)
    if markers.read(node.me) == now:
        return
    try:
        markers.write(node.me, now)
    except OSError:
        return


def own_head(node: Node) -> tuple[int, str]:
    """The seq and hash of the last own op; (0, "") before the first."""
    known = ops.position(node.store.db, node.me)
    if known is None or known.cursor.head is None:
        return 0, ""
    return known.cursor.head.seq, known.cursor.head.hash


def _note_pause(node: Node, text: str | None) -> None:
    with node.store.transaction(CommitPoint.STOPPED) as db:
        if get(db, Meta.PAUSED) == text:
            return
        put(db, Meta.PAUSED, text)
        if text is None:
            problems.clear(db, PAUSED)
        else:
            problems.note(db, problems.Problem(PAUSED, text, node.me, None, node.now()))
