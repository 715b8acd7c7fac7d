"""Contests by brute force: every outcome looked at by a walk of its own, as the definition reads (5.26)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from crypto.roster.rights import Removal
from crypto.roster.walk import Walk


class Reference:
    """Judges outcomes, which are sets of op hashes, over given grants."""

    def __init__(self, ranked: Sequence[Removal], evaluate: Callable[[Sequence[Removal]], Walk]) -> None:
        self.ranked = ranked
        self._evaluate = evaluate
        self._walks: dict[frozenset[str], Walk] = {}

    def walk(self, accepted: frozenset[str]) -> Walk:
        if accepted not in self._walks:
            self._walks[accepted] = self._evaluate([each for each in self.ranked if each.hash in accepted])
        return self._walks[accepted]

    def holds(self, removal: Removal, accepted: frozenset[str]) -> bool:
        return self.walk(accepted - {removal.hash}).holds(removal)

    def stable(self) -> Iterator[frozenset[str]]:
        """The stable outcomes, in the order in which they are tried."""
        for choice in product((True, False), repeat=len(self.ranked)):
            accepted = frozenset(
                each.hash for each, chosen in zip(self.ranked, choice, strict=True) if chosen
            )
            if self._is_stable(accepted):
                yield accepted

    def _is_stable(self, accepted: frozenset[str]) -> bool:
        return (
            bool(self.walk(accepted).admins())
            and all(self.holds(each, accepted) for each in self.ranked if each.hash in accepted)
            and self._is_grounded(accepted)
            and all(
                self._is_excused(each, accepted)
                for each in self.ranked
                if each.hash not in accepted and self.holds(each, accepted)
            )
        )

    def _is_grounded(self, accepted: frozenset[str]) -> bool:
        reached = {frozenset[str]()}
        for _ in accepted:
            reached = {
                before | {each.hash}
                for before in reached
                for each in self.ranked
                if each.hash in accepted - before and self.holds(each, before)
            }
        return accepted in reached

    def _is_excused(self, void: Removal, accepted: frozenset[str]) -> bool:
        left = accepted | {void.hash}
        while True:
            kept = frozenset(
                each.hash for each in self.ranked if each.hash in left and self.holds(each, left)
            )
            if kept == left:
                return void.hash not in left or not self.walk(left).admins()
            left = kept
