"""The team an audit is about: which founding, and the roster its ops come to.

A replica folds the roster as ops arrive. An audit has them all, and reads to the fixed point: the founder's
chain first, then the chain of everyone whom somebody let in, be it undone or not, and of everyone who proves a
recovery code, until nobody new is let in. Ops of others have no effect on it. A roster op counts from the
moment it verifies, as it does for a replica, so chains are walked here without the cuts that the roster sets: a
cut takes rights away from later ops, and never an op out of the fold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from core.text import shown
from crypto.invites import verify_recovery
from crypto.keys import KeyBody
from crypto.lane import verified_entries
from crypto.op import Op
from crypto.roster.bodies import Admit, Body
from crypto.roster.claims import recovery_keys
from crypto.roster.ops import RosterOp
from crypto.roster.view import View
from replica.audit.chains import Chains, Walked
from replica.audit.forked import Forked
from replica.audit.source import Source, SourceError
from replica.audit.survey import Announced, FoundingClaim, Survey
from replica.chain.forks import Fork, is_fork
from replica.chain.let_in import let_in_by
from replica.team.roster import fold_histories

MAX_FOUNDINGS: Final = 16
"""Foundings that are looked at. Anyone who can write to a branch can found teams there."""


@dataclass(frozen=True, slots=True)
class Team:
    """A team, the keys the roster decided, and the walks that went into it, made without any cut."""

    view: View
    keys: Mapping[str, KeyBody]
    walked: dict[str, Walked]
    along: Mapping[str, Sequence[bytes]]
    """The lines of the history that counts, of those who signed two and whose revocation says which."""
    ops: Sequence[RosterOp]
    """Every roster op that was read, whether it counts or not, in no order to be relied upon."""
    forks: Mapping[str, Fork]
    """Where the two histories part, of those who signed two; also where a revocation says which counts."""


@dataclass(frozen=True, slots=True)
class Founding:
    """The founding of the team to audit, and the walk along its founder's chain that accepted it."""

    claim: FoundingClaim
    walked: Walked


def choose_founding(
    survey: Survey, chains: Chains, *, wanted: str | None, followed: str | None
) -> Founding | None:
    """Return the founding of the team to audit, None where no team was founded.

    `wanted` is a team id, the beginning of one, or a team's name; `followed` the opHash of the founding that
    the owner of the source follows, which is taken where nothing is wanted. Raises SourceError where that
    leaves several, or none.
    """
    meant = (each for each in survey.foundings() if _is_meant(each, wanted, followed))
    claims = list(islice(meant, MAX_FOUNDINGS + 1))
    if len(claims) > MAX_FOUNDINGS:
        raise _several(claims)
    standing = [found for each in claims if (found := _founding(each, chains)) is not None]
    if len(standing) > 1:
        raise _several([each.claim for each in standing])
    if not standing and wanted is not None:
        raise SourceError(f"no team {shown(wanted)} was founded there")
    return standing[0] if standing else None


def _is_meant(claim: FoundingClaim, wanted: str | None, followed: str | None) -> bool:
    if wanted is None:
        return followed is None or claim.hash == followed
    return bool(wanted) and (claim.name == wanted or claim.team_id.startswith(wanted))


def _founding(claim: FoundingClaim, chains: Chains) -> Founding | None:
    """A founding counts where it is on its chain, and the first thing said there of a roster."""
    walked = chains.walk(claim.replica, claim.key, keep_roster=True)
    return Founding(claim, walked) if walked.tally.opening == claim.hash else None


def _several(claims: Sequence[FoundingClaim]) -> SourceError:
    named = [f"{each.team_id} {shown(each.name)} by {each.replica}" for each in claims[:MAX_FOUNDINGS]]
    count = str(len(claims)) if len(claims) <= MAX_FOUNDINGS else f"more than {MAX_FOUNDINGS}"
    return SourceError(
        f"{count} teams were founded there: {'; '.join(named)}",
        "say which with --team and the beginning of its id",
    )


def read_team(founding: Founding, survey: Survey, chains: Chains, source: Source) -> Team:
    """Fold the roster of a team."""
    return _TeamReader(founding, survey, chains, source).read()


class _TeamReader:
    def __init__(self, founding: Founding, survey: Survey, chains: Chains, source: Source) -> None:
        self._founding = founding.claim
        self._survey = survey
        self._chains = chains
        self._source = source
        self._walked: dict[str, Walked] = {}
        self._ops: list[RosterOp] = []
        self._forked: dict[str, Forked] = {}
        self._recovering: set[tuple[str, str]] = set()
        """By replica and fingerprint, the chains that were read since a `recover` in them proves a code."""
        self._take(founding.claim.replica, founding.claim.key, founding.walked)

    def read(self) -> Team:
        while True:
            view, keys = self._fold()
            new = sorted((self._ever_let_in() & keys.keys()) - self._walked.keys())
            if not new and not self._recover() and not self._look_for_ends(view):
                along = {replica: each.along for replica, each in self._forked.items() if each.counts(view)}
                forks = {replica: each.fork for replica, each in self._forked.items()}
                return Team(view, keys, self._walked, along, self._all_ops(), forks)
            for replica in new:
                walked = self._chains.walk(replica, keys[replica], keep_roster=True)
                self._take(replica, keys[replica], walked)

    def _ever_let_in(self) -> set[str]:
        """Everyone who may have had a right: what they say may decide which removals stand."""
        recovering = {replica for replica, _ in self._recovering}
        elsewhere = {replica: each.admissions for replica, each in self._forked.items()}
        return {*let_in_by({self._founding.replica, *recovering}, self._ops, elsewhere)}

    def _fold(self) -> tuple[View, Mapping[str, KeyBody]]:
        """Fold what is known, as a replica does that knows of the same forks."""
        ops = self._all_ops()
        forks = {replica: each.fork for replica, each in self._forked.items()}
        parting = {replica: each.parting for replica, each in self._forked.items()}
        return fold_histories(self._founding.hash, self._claims(), ops, forks, parting)

    def _look_for_ends(self, view: View) -> bool:
        """Read the histories that revocations name of those who signed two; True where another one may count."""
        ops = self._all_ops()
        return any(each.read_on(view, ops) for each in self._forked.values())

    def _all_ops(self) -> list[RosterOp]:
        return [*self._ops, *(op for each in self._forked.values() for op in each.roster)]

    def _take(self, replica: str, key: KeyBody, walked: Walked) -> None:
        self._walked[replica] = walked
        halted = walked.outcome.halt
        if halted is not None and is_fork(halted):
            lines = [*self._chains.lines(replica), *self._source.ahead(replica)]
            fork, horizon_ms = Fork(halted.seq, halted.reason), self._chains.horizon_ms
            self._forked[replica] = Forked(replica, key, lines, fork, horizon_ms=horizon_ms)
        self._keep_roster_ops(replica, key, walked)

    def _recover(self) -> bool:
        """Take in the roster ops of those who prove a recovery code; True when there was another one.

        Whether that code counted there is for the fold to say.
        """
        pubs = recovery_keys(self._ops)
        before = len(self._recovering)
        for claim in self._survey.recoveries():
            chain = claim.replica, claim.key.fingerprint
            if claim.replica in self._walked or chain in self._recovering:
                continue
            claimed = {
                "team": self._founding.team_id,
                "replica": claim.replica,
                "sign_pub": claim.key.sign_pub,
            }
            if any(verify_recovery(pub, claim.proof, **claimed) for pub in pubs):
                self._recovering.add(chain)
                walked = self._chains.walk(claim.replica, claim.key, keep_roster=True)
                self._keep_roster_ops(claim.replica, claim.key, walked)
        return len(self._recovering) > before

    def _keep_roster_ops(self, replica: str, key: KeyBody, walked: Walked) -> None:
        self._ops += walked.tally.roster
        walked.tally.roster.clear()
        for entry in verified_entries(replica, self._source.ahead(replica), key.sign_key):
            if isinstance(entry, Op) and entry.type == "roster":
                self._ops.append(RosterOp.of(entry, key.fingerprint))

    def _claims(self) -> dict[str, tuple[Announced, ...]]:
        """The keys announced for the founder and for whomever the roster speaks of."""
        bodies: list[Body] = [op.body for op in self._all_ops()]
        for each in self._forked.values():
            bodies += [op.body for op in each.parting]
            bodies += each.admissions
        named = {body.fingerprint for body in bodies if isinstance(body, Admit)}
        named.add(self._founding.key.fingerprint)
        named.update(fingerprint for _, fingerprint in self._recovering)
        recovering = {replica for replica, _ in self._recovering}
        replicas = {self._founding.replica, *recovering, *_spoken_of(bodies)}
        return {each: found for each in replicas if (found := self._survey.announced(each, named))}


def _spoken_of(bodies: Iterable[Body]) -> set[str]:
    return {replica for body in bodies if isinstance(replica := getattr(body, "replica", None), str)}
