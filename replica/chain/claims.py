"""Whose a lane is: the key claims of a pull that are kept, and the recoveries that decide one (federation wire 2.4).

Anybody who writes to a branch can announce a key for any id, by the thousand. So what is kept of those whom nobody let
in is bounded, and whoever an admission, an invite or a recovery code speaks for is never crowded out.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from core.store import Store
from crypto.chain import Cursor
from crypto.key_claims import MAX_KEY_CLAIMS, Claim, key_claims
from crypto.op import read_entry, to_line
from crypto.roster.claims import recovery_keys
from crypto.roster.ops import RosterOp
from replica.chain import forks
from replica.chain.let_in import ever_let_in, proves_recovery
from replica.chain.pinning import Lanes
from replica.records import ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get
from replica.team.roster import Team, TeamReader, fold_team

MAX_NEW_IDS: Final = 8
"""Unknown ids whose claims one pass takes in (federation wire 6.13)."""

MAX_WAITING_IDS: Final = 1000
"""Ids with a claim that were never admitted: no more are kept, so ids made by the thousand cost nothing."""

MAX_GUESTS: Final = 4
"""Ids that prove one invite and are kept however many strangers wait: one of them is the guest."""

_INVITE: Final = b'"invite"'


class Claims:
    """Takes in the claims of one pull. `held` tells that some of them are left for a later pass."""

    def __init__(
        self, store: Store, reader: TeamReader, asked: Mapping[str, str], *, strangers: bool
    ) -> None:
        """Take in for a verifier: see `Verifier` for `asked` and `strangers`."""
        self._store = store
        self._reader = reader
        self._asked = asked
        self._strangers = strangers
        self._new_ids = 0
        self.held = False

    def take(self, lanes: Lanes) -> None:
        """Keep the self-signed key ops of ids whose key is not bound yet.

        The founder and ids that an admission names come first and without limit; of others a pass takes MAX_NEW_IDS,
        and no more than MAX_WAITING_IDS are kept at a time, and MAX_GUESTS more for an invite.
        """
        db = self._store.db
        team = self._reader.read(db)
        bound = set() if team is None else team.keys.keys() & {*team.view.members, *team.view.revoked}
        known: dict[str, dict[str, bytes]] = {}
        for replica, fingerprint, line in db.execute("SELECT replica, fingerprint, line FROM claims"):
            known.setdefault(replica, {})[fingerprint] = bytes(line)
        named = self._named(team, lanes)
        room = MAX_WAITING_IDS - len(known.keys() - bound)
        guests = self._guests(team) if room <= 0 else Counter[str]()
        fresh: list[tuple[str, str, bytes]] = []
        for replica in sorted(lanes.keys() - (bound - forks.forks(db).keys())):
            wanted, have = named.get(replica, set()), known.get(replica, {})
            if not have and not wanted:
                asks = room <= 0 or not self._strangers
                invite = self._invite_of(team, replica, lanes[replica]) if asks else None
                if invite is None and not self._strangers:
                    continue
                if invite is not None:
                    guests[invite] += 1
                if room <= 0 and (invite is None or guests[invite] > MAX_GUESTS):
                    continue
                if team is not None and self._new_ids >= MAX_NEW_IDS:
                    self.held = True
                    continue
            claims = key_claims(replica, lanes[replica], named=wanted)
            better = [each for each in claims if _is_better(each, have.get(each.fingerprint))]
            claims = [each for each in claims if each.fingerprint not in have]
            claims = [
                each
                for at, each in enumerate(claims, len(have))
                if at < MAX_KEY_CLAIMS or each.fingerprint in wanted
            ]
            if claims and not have:
                self._new_ids += 1
                room -= 1
            lines = {claim.fingerprint: to_line(claim.op) for claim in [*claims, *better]}
            known.setdefault(replica, {}).update(lines)
            fresh.extend((replica, *each) for each in lines.items())
        if fresh:
            with self._store.transaction(CommitPoint.CLAIMED):
                db.executemany(
                    "DELETE FROM claims WHERE replica = ? AND fingerprint = ?", [each[:2] for each in fresh]
                )
                db.executemany("INSERT INTO claims (replica, fingerprint, line) VALUES (?, ?, ?)", fresh)
        self._note_claimed(
            {*bound}, {replica for replica, have in known.items() if len(have) >= MAX_KEY_CLAIMS}
        )

    def _note_claimed(self, bound: Collection[str], crowded: Collection[str]) -> None:
        """Record the ids that as many keys claim as are kept; forget those whose key is decided (12.1)."""
        db = self._store.db
        noted = {each.subject for each in problems.all_problems(db) if subjects.KEY.covers(each.subject)}
        over = {subjects.KEY.of(replica) for replica in bound} & noted
        fresh = [replica for replica in sorted(crowded) if replica not in bound]
        fresh = [replica for replica in fresh if subjects.KEY.of(replica) not in noted]
        if not over and not fresh:
            return
        with self._store.transaction(CommitPoint.PROBLEM):
            for subject in over:
                problems.clear(db, subject)
            for replica in fresh:
                text = f"{MAX_KEY_CLAIMS} keys or more claim the id {replica}; one at most is its owner's"
                problems.note(db, problems.Problem(subjects.KEY.of(replica), text))

    def _invite_of(self, team: Team | None, replica: str, lines: Sequence[bytes]) -> str | None:
        """The id of the invite that a machine proves, which no crowd of strangers takes from it."""
        if team is None or not any(_INVITE in raw for raw in lines):
            return None
        invites = (team.view.invited_by(replica, claim.key) for claim in key_claims(replica, lines))
        return next((invite.id for invite in invites if invite is not None), None)

    def _guests(self, team: Team | None) -> Counter[str]:
        """By the id of an invite, how many machines that wait prove it."""
        found = Counter[str]()
        if team is None:
            return found
        for replica in team.view.pending:
            key = team.keys.get(replica)
            invite = None if key is None else team.view.invited_by(replica, key)
            if invite is not None:
                found[invite.id] += 1
        return found

    def _named(self, team: Team | None, lanes: Lanes) -> dict[str, set[str]]:
        """The keys asked for, the founder's, and those that admissions name whose publishers may have had a right."""
        db, named = self._store.db, {replica: {fingerprint} for replica, fingerprint in self._asked.items()}
        founder, fingerprint = get(db, Meta.FOUNDER), get(db, Meta.FOUNDER_FINGERPRINT)
        if founder is not None and fingerprint is not None:
            named.setdefault(founder, set()).add(fingerprint)
        if team is None:
            return named
        for replica, fingerprints in ever_let_in(db, team, self._reader.ops(db), lanes).items():
            named.setdefault(replica, set()).update(fingerprints)
        return named

    def bind_recovered(self, team: Team, lanes: Lanes) -> bool:
        """Keep the recovery that decides what a replica's key is, and that key; True where there is one.

        The chain of an undecided id is not read, so the recovery has to be looked for at its beginning (2.4). Nor are
        all keys kept that are announced, but nobody can crowd out who holds the recovery code.
        """
        db = self._store.db
        undecided = sorted(lanes.keys() - team.keys.keys())
        if not undecided:
            return False
        pubs = recovery_keys(self._reader.ops(db))
        for replica in undecided:
            for claim in key_claims(replica, lanes[replica]):
                if claim.roster_op is None:
                    continue
                op = RosterOp.of(claim.roster_op, claim.fingerprint)
                if not proves_recovery(team, pubs, op, claim.key):
                    continue
                with self._store.transaction(CommitPoint.CLAIMED):
                    db.execute("SAVEPOINT recovery")
                    if self._lets_in(op, claim):
                        ops.insert(db, claim.roster_op)
                        ops.set_position(db, replica, ops.Position(claim.fingerprint, Cursor()))
                        return True
                    db.execute("ROLLBACK TO recovery")
        return False

    def _lets_in(self, op: RosterOp, claim: Claim) -> bool:
        """Whether a recovery lets in its publisher, whose key is kept to see it, inside an open transaction."""
        db = self._store.db
        db.execute(
            "INSERT OR IGNORE INTO claims (replica, fingerprint, line) VALUES (?, ?, ?)",
            (op.replica, claim.fingerprint, to_line(claim.op)),
        )
        folded = fold_team(db, [op])
        member = None if folded is None else folded.view.members.get(op.replica)
        return member is not None and member.fingerprint == claim.fingerprint


def _is_better(claim: Claim, kept: bytes | None) -> bool:
    """Whether a key op is to be kept in the place of another that announced the same keys: the smaller hash is."""
    return kept is not None and to_line(claim.op) != kept and claim.hash < read_entry(kept).hash
