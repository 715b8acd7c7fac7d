"""The contests of two and of three who remove each other (federation wire 5.E').

The founder, an older and a younger admin, an admin who let itself in with the recovery code, and a member remove
each other: each by a revocation, a demotion or a cut of hosts, each sparing nothing of the other's removal. Two
remove each other, or three in a circle, or two each other and a third one of them. What should come of it is
computed here without a fold, from what takes rights away and who ranks first.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from itertools import combinations, product
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.authoring.federation.author import b64u
from vectors.authoring.federation.rosters import ADA, BOB, CY, DEE, EVE, Story
from vectors.authoring.kit import Expected, Json, ok, vector

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
    """Each of `actors` removes the one of `targets`, by the one of `kinds`, in the same order."""

    actors: tuple[Actor, ...]
    targets: tuple[Actor, ...]
    kinds: tuple[Kind, ...]

    @property
    def id(self) -> str:
        """The last part of the vector's id."""
        parts = [f"{actor.slug}-{kind.value}" for actor, kind in zip(self.actors, self.kinds, strict=True)]
        if self.targets != _next(self.actors):
            parts.append(self.targets[-1].slug)
        return "-".join(parts)

    @property
    def title(self) -> str:
        """The contest in words."""
        removals = (
            f"{actor.words} {_VERBS[kind]} {target.words}"
            for actor, kind, target in zip(self.actors, self.kinds, self.targets, strict=True)
        )
        return ", ".join(removals)


_VERBS: Final = {Kind.REVOKE: "revokes", Kind.DEMOTE: "demotes", Kind.HOSTS: "cuts the hosts of"}


def _next(actors: tuple[Actor, ...]) -> tuple[Actor, ...]:
    return (*actors[1:], actors[0])


def circle(actors: tuple[Actor, ...], kinds: tuple[Kind, ...]) -> Contest:
    """Each removes the next one, and the last the first."""
    return Contest(actors, _next(actors), kinds)


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
            yield circle(actors, kinds)


def with_a_third(kind: Kind) -> Iterator[Contest]:
    """Every two who remove each other while a third removes one of them, all by the same kind."""
    for one, other in combinations(Actor, 2):
        for third in Actor:
            for target in (one, other) if third not in (one, other) else ():
                yield Contest((one, other, third), (other, one, target), (kind,) * 3)


def standing(contest: Contest) -> tuple[bool, ...]:
    """Whether each removal is accepted: a member's never is, and nobody's that an accepted one takes rights from.

    Whoever nobody left can take rights from is decided first; where all that are left go round in a circle, the
    best-ranked is accepted.
    """
    takes: dict[Actor, Actor] = {
        actor: target
        for actor, target, kind in zip(contest.actors, contest.targets, contest.kinds, strict=True)
        if actor is not Actor.MEMBER and kind is not Kind.HOSTS
    }
    left: list[Actor] = [actor for actor in Actor if actor in contest.actors and actor is not Actor.MEMBER]
    accepted: set[Actor] = set()
    while left:
        free = (each for each in left if each not in {takes.get(other) for other in left})
        stands = next(free, left[0])
        left.remove(stands)
        accepted.add(stands)
        if takes.get(stands) in left:
            left.remove(takes[stands])
    return tuple(actor in accepted for actor in contest.actors)


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
    revoked: dict[str, Json] = {}
    for actor, kind, target, hash_ in zip(contest.actors, contest.kinds, contest.targets, made, strict=True):
        if kind is Kind.REVOKE and hash_ in accepted:
            cut = {"replica": target.replica, "afterSeq": _after(story, hash_), "by": actor.replica}
            revoked.setdefault(target.replica, cut)
    return ok(
        {"op": "foldRoster", "found": story.found, "ops": story.ops[::-1], "keys": keys(contest)},
        accepted=sorted(accepted),
        void=sorted(set(made) - set(accepted)),
        revoked=[revoked[replica] for replica in sorted(revoked)],
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
THIRDS: Final[Sequence[Json]] = [
    vector(f"contest-third.{contest.id}", _capital(contest.title), fold(contest))
    for kind in Kind
    for contest in with_a_third(kind)
]
