"""Every contest of two and of three removals in which each remover is removed by another (federation wire 5.E').

The founder, an older and a younger admin, an admin who let itself in with the recovery code, and a member remove
each other in turn: each by a revocation, a demotion or a cut of hosts, each sparing nothing of the other's
removal. What should come of it is computed here without a fold, from what takes rights away and who ranks first.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from itertools import combinations, product
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.authoring.author import b64u
from vectors.authoring.kit import Expected, Json, ok, vector
from vectors.authoring.rosters import ADA, BOB, CY, DEE, EVE, Story

_SEED: Final = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"recovery").digest())


class Actor(Enum):
    """Who takes part: its replica, and what it is called. They are listed by rank."""

    FOUNDER = ADA, "founder"
    OLDER = BOB, "older admin"
    YOUNGER = CY, "younger admin"
    RECOVERED = EVE, "recovered admin"
    MEMBER = DEE, "member"

    @property
    def replica(self) -> str:
        """The replica that plays this part."""
        return self.value[0]

    @property
    def words(self) -> str:
        """What it is, in words."""
        return self.value[1]

    @property
    def slug(self) -> str:
        """What it is, in one word."""
        return self.words.split()[0]


class Kind(StrEnum):
    """What a removal does."""

    REVOKE = "revoke"
    DEMOTE = "demote"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Contest:
    """Each of `actors` removes the next one, and the last the first, by the kinds in the same order."""

    actors: tuple[Actor, ...]
    kinds: tuple[Kind, ...]

    @property
    def id(self) -> str:
        """The last part of the vector's id."""
        parts = (f"{actor.slug}-{kind.value}" for actor, kind in zip(self.actors, self.kinds, strict=True))
        return "-".join(parts)

    @property
    def targets(self) -> tuple[Actor, ...]:
        """Whom each of the actors removes."""
        return (*self.actors[1:], self.actors[0])

    @property
    def title(self) -> str:
        """The contest in words."""
        removals = (
            f"{actor.words} {_VERBS[kind]} {target.words}"
            for actor, kind, target in zip(self.actors, self.kinds, self.targets, strict=True)
        )
        return ", ".join(removals)


_VERBS: Final = {Kind.REVOKE: "revokes", Kind.DEMOTE: "demotes", Kind.HOSTS: "cuts the hosts of"}


def circles(size: int) -> Iterator[tuple[Actor, ...]]:
    """Every circle of so many actors, once: the best-ranked first, then round in either direction."""
    for first, *others in combinations(Actor, size):
        yield (first, *others)
        if size > 2:
            yield (first, *reversed(others))


def contests(size: int) -> Iterator[Contest]:
    """Every contest of so many."""
    for actors in circles(size):
        for kinds in product(Kind, repeat=size):
            yield Contest(actors, kinds)


def standing(contest: Contest) -> tuple[bool, ...]:
    """Whether each removal is accepted: a member's never is, and nobody's that an accepted one takes rights from."""
    count = len(contest.actors)
    righted = [actor is not Actor.MEMBER for actor in contest.actors]
    takes = [righted[at] and contest.kinds[at] is not Kind.HOSTS for at in range(count)]
    start = next(
        (at for at in range(count) if not takes[at - 1]), 0
    )  # a full circle begins with the best rank
    accepted = [False] * count
    for step in range(count):
        at = (start + step) % count
        cut = step > 0 and accepted[at - 1] and takes[at - 1]
        accepted[at] = righted[at] and not cut
    return tuple(accepted)


def told(contest: Contest) -> tuple[Story, list[str]]:
    """The contest as ops, and the hashes of its removals."""
    story = Story(recovery_pub=b64u(_SEED.public_key().public_bytes_raw()))
    seqs = {Actor.FOUNDER: 2}
    for actor in Actor:
        if actor not in contest.actors or actor is Actor.FOUNDER:
            continue
        seqs[actor] = 1
        if actor is Actor.RECOVERED:
            story.recovers(actor.replica, _SEED)
            seqs[actor] = 2
        else:
            role = "member" if actor is Actor.MEMBER else "admin"
            story.admits(ADA, actor.replica, role=role, hosts=[f"{actor.slug}s-guest"])
            seqs[Actor.FOUNDER] += 1
    made = []
    for actor, kind, target in zip(contest.actors, contest.kinds, contest.targets, strict=True):
        cut: Json = {"replica": target.replica, "afterSeq": seqs[target], "afterHash": "0" * 64}
        match kind:
            case Kind.REVOKE:
                made.append(story.says(actor.replica, "revoke", reason="quarrel", **cut))
            case Kind.DEMOTE:
                made.append(story.says(actor.replica, "role", role="member", **cut))
            case Kind.HOSTS:
                made.append(story.says(actor.replica, "hosts", hosts=[], **cut))
    return story, made


def keys(contest: Contest) -> Json:
    """The keys of those who take part, and of the founder."""
    return {
        actor.replica: {
            "handle": actor.replica[:-9],
            "fingerprint": f"FP-{actor.replica}",
            "signPub": f"sign-{actor.replica}",
        }
        for actor in Actor
        if actor in contest.actors or actor is Actor.FOUNDER
    }


def fold(contest: Contest) -> Expected:
    """The fold of a contest, told backwards, and what should come of it."""
    story, made = told(contest)
    accepted = [hash_ for hash_, stands in zip(made, standing(contest), strict=True) if stands]
    revoked = [
        {"replica": target.replica, "afterSeq": _after(story, hash_), "by": actor.replica}
        for actor, kind, target, hash_ in zip(
            contest.actors, contest.kinds, contest.targets, made, strict=True
        )
        if kind is Kind.REVOKE and hash_ in accepted
    ]
    return ok(
        {"op": "foldRoster", "found": story.found, "ops": story.ops[::-1], "keys": keys(contest)},
        accepted=sorted(accepted),
        void=sorted(set(made) - set(accepted)),
        revoked=sorted(revoked, key=lambda cut: str(cut["replica"])),
    )


def _after(story: Story, hash_: str) -> int:
    return next(int(op["body"]["afterSeq"]) for op in story.ops if op["opHash"] == hash_)


def _vectors(size: int) -> list[Json]:
    return [
        vector(f"contest{size}.{contest.id}", _capital(contest.title), fold(contest))
        for contest in contests(size)
    ]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


TWO: Final[Sequence[Json]] = _vectors(2)
THREE: Final[Sequence[Json]] = _vectors(3)
