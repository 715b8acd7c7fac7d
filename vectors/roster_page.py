"""The tables of `docs/roster.md`: every contest of two and of three, with what the fold makes of it.

`python -m vectors.roster_page` writes them into the page.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

from vectors.adapter.federation.rosters import fold_ops
from vectors.authoring.federation.contests import (
    Actor,
    Contest,
    Kind,
    circle,
    circles,
    fold,
    told,
    with_a_third,
)

PAGE: Final = Path(__file__).parent.parent / "docs" / "roster.md"
BEGIN, END = "<!-- tables of {} -->", "<!-- end of the tables of {} -->"

_SHORT: Final = {
    Actor.FOUNDER: "founder",
    Actor.OLDER: "older",
    Actor.YOUNGER: "younger",
    Actor.RECOVERED: "recovered",
    Actor.MEMBER: "member",
}
_DOES: Final = {Kind.REVOKE: "revokes", Kind.DEMOTE: "demotes", Kind.HOSTS: "cuts hosts"}


def stands(contest: Contest) -> str:
    """Whose removals are accepted, in words."""
    step, _ = fold(contest)
    accepted = fold_ops(step)["accepted"]
    _, made = told(contest)
    whose = [_SHORT[actor] for actor, hash_ in zip(contest.actors, made, strict=True) if hash_ in accepted]
    return ", ".join(whose) or "nobody"


def of_two() -> Iterator[str]:
    """The table of every two who remove each other."""
    yield "| | " + " | ".join(f"the other {_DOES[kind]}" for kind in Kind) + " |"
    yield "| --- |" + " --- |" * len(Kind)
    for one, other in circles(2):
        for kind in Kind:
            cells = [stands(circle((one, other), (kind, second))) for second in Kind]
            who = f"the {one.words} {_DOES[kind]}, the other is the {other.words}"
            yield f"| {who} | " + " | ".join(cells) + " |"


def of_three() -> Iterator[str]:
    """A table for every circle of three."""
    for actors in circles(3):
        first, second, third = (_SHORT[actor] for actor in actors)
        yield f"**{first} → {second} → {third} → {first}**"
        yield ""
        yield f"| {first} | {second} | " + " | ".join(f"{third} {_DOES[kind]}" for kind in Kind) + " |"
        yield "| --- | --- |" + " --- |" * len(Kind)
        for kinds in product(Kind, repeat=2):
            cells = [stands(circle(actors, (*kinds, last))) for last in Kind]
            yield f"| {_DOES[kinds[0]]} | {_DOES[kinds[1]]} | " + " | ".join(cells) + " |"
        yield ""


def with_thirds() -> Iterator[str]:
    """The table of every two who remove each other while a third removes one of them."""
    yield "| the two | the third removes | " + " | ".join(f"each {_DOES[kind]}" for kind in Kind) + " |"
    yield "| --- | --- |" + " --- |" * len(Kind)
    for contests in zip(*(with_a_third(kind) for kind in Kind), strict=True):
        one, other, third = (_SHORT[actor] for actor in contests[0].actors)
        target = _SHORT[contests[0].targets[-1]]
        cells = " | ".join(stands(contest) for contest in contests)
        yield f"| {one}, {other} | {third} → {target} | {cells} |"


def filled(page: str) -> str:
    """A page with its tables as the fold has them."""
    for name, lines in (("two", of_two()), ("three", of_three()), ("a third", with_thirds())):
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n\n" + "\n".join(lines).rstrip() + f"\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
