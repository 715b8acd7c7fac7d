"""Signing what waits in the outbox.

Rows become signed ops in one short transaction, without network: seq, clock and prev are taken, the content is
sealed, the op is signed, appended to the own log and marked unpublished. A crash before the commit leaves the
rows; a crash after it leaves an op that the next pass publishes as it is.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from core.store.messages import message_by_id
from crypto.canonical import JsonValue
from crypto.op import OpError
from crypto.sealing import MAX_RECIPIENTS, can_seal_to
from replica.mail.carried import FORWARD
from replica.mail.hand_on import forward_of
from replica.mail.notices import Announcement, announce
from replica.mail.refusals import home_refused
from replica.node import Node
from replica.records import outbox
from replica.records.commits import CommitPoint
from replica.team.roster import Team

MAX_STATE_ENTRIES: Final = 500
"""Entries of one state op (F.1)."""

MAX_STATE_BYTES: Final = 512 * 1024
"""JSON of the entries of one state op: sealed to as many as may read it, it still fits an op."""

OPS_AT_A_TIME: Final = 64
"""Ops signed in one transaction, so that senders are not kept waiting."""

TOO_LARGE: Final = "invalid: the message does not fit an op"

LEFT: Final = "unavailable: that machine is no longer in the team, or its key cannot be sealed to"


def sign_outbox(node: Node, team: Team) -> int:
    """Turn every outbox row into ops; return how many ops were signed."""
    signed = 0
    while outbox.waiting(node.store.db):
        announcements: list[Announcement] = []
        with node.store.transaction(CommitPoint.SIGNED) as db:
            rows = outbox.first(db, MAX_STATE_ENTRIES)
            for group in islice(_groups(rows), OPS_AT_A_TIME):
                signed += _sign_group(db, node, team, group, announcements)
                outbox.remove(db, [row.id for row in group])
        announce(node.engine, announcements)
    return signed


def _groups(rows: Sequence[outbox.Row]) -> Iterator[list[outbox.Row]]:
    """Each mail row alone; of the state rows between two of them those for the same readers together, in their order,
    as many as fit an op (9.E2). A report of mail sent here never comes before that mail."""
    groups: dict[tuple[str, ...], list[outbox.Row]] = {}
    sizes: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        if row.kind is not outbox.Kind.STATE:
            yield from groups.values()
            groups.clear()
            sizes.clear()
            yield [row]
            continue
        added = len(json.dumps(row.content))
        if row.readers in groups and sizes[row.readers] + added > MAX_STATE_BYTES:
            yield groups.pop(row.readers)
            del sizes[row.readers]
        groups.setdefault(row.readers, []).append(row)
        sizes[row.readers] += added
    yield from groups.values()


def _sign_group(
    db: sqlite3.Connection,
    node: Node,
    team: Team,
    group: Sequence[outbox.Row],
    announcements: list[Announcement],
) -> int:
    row = group[0]
    recipients = _still_readers(node, team, row.readers)
    if row.kind is outbox.Kind.STATE:
        return _append(db, node, recipients, {"entries": [entry.content for entry in group]}, group)
    if row.kind is outbox.Kind.FORWARD:
        return _sign_forward(db, node, recipients, row)
    message = message_by_id(db, row.content["message"])
    assert message is not None
    payload: JsonValue = {"message": message.as_sent().to_json(), "targets": row.content["targets"]}
    for lost in sorted(set(row.readers) - recipients.keys()):
        home_refused(db, node, team, message, lost, LEFT, announcements)
    try:
        return _append(db, node, recipients, payload, group)
    except OpError:  # which nothing can mend, and which must not hold up what comes after it
        for reader in sorted(recipients):
            home_refused(db, node, team, message, reader, TOO_LARGE, announcements)
        return 0


def _sign_forward(
    db: sqlite3.Connection, node: Node, recipients: Mapping[str, bytes], row: outbox.Row
) -> int:
    """Sign the forward of one message for one replica; none where what brought it is gone, or fits no op."""
    found = forward_of(db, node, row.content["message"])
    if found is None or len(recipients) != 1:
        return 0
    original, key = found
    payload: JsonValue = {"target": row.content["target"], "key": key}
    try:
        node.signer.append_sealed(db, "mail", payload, dict(recipients), [row], body={FORWARD: original})
    except OpError:
        return 0
    return 1


def _append(
    db: sqlite3.Connection,
    node: Node,
    recipients: Mapping[str, bytes],
    payload: JsonValue,
    group: Sequence[outbox.Row],
) -> int:
    """Sign as many ops as the recipients need; return how many. Raises OpError for a payload that fits none."""
    names = sorted(recipients)
    for start in range(0, len(names), MAX_RECIPIENTS):
        some = {name: recipients[name] for name in names[start : start + MAX_RECIPIENTS]}
        node.signer.append_sealed(db, group[0].kind.value, payload, some, group)
    return -(-len(names) // MAX_RECIPIENTS)


def _still_readers(node: Node, team: Team, readers: Sequence[str]) -> dict[str, bytes]:
    """Who of `readers` may still read: publishing only takes readers away, it never adds one.

    Nobody, where this replica observes: everyone would drop what it says.
    """
    if team.view.members[node.me].observer:
        return {}
    return {
        name: team.keys[name].seal_key
        for name in readers
        if name in team.view.members and name in team.keys and can_seal_to(team.keys[name].seal_key)
    }
