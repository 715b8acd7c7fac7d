"""What the vectors of settlement share: questions that Bob asked, or that Ada asked, and their answers."""

from collections.abc import Sequence
from typing import Any, Final

from vectors.authoring.federation.author import START_MS
from vectors.authoring.federation.teams import ADA, BOB, CY, Team, mid, target
from vectors.authoring.host_steps import who
from vectors.authoring.kit import Expected, Json, vector

Q: Final = mid(1)
"""The question."""

A1, A2, A3 = (mid(number) for number in (2, 3, 4))
CLOSE: Final = mid(9)
BEE: Final = who("human:bob")


def case(
    id: str,
    title: str,
    team: Team,
    *steps: Expected,
    sections: tuple[str, ...] = ("F.6",),
    **then: Any,
) -> Json:
    return vector(f"settlement.{id}", title, *steps, sections=sections, given=team.given, **then)


def done(step: Json) -> Expected:
    return step, {"ok": True}


def asked_here(kind: str = "question", to: Sequence[str] = ("human:ada", "human:cy")) -> Team:
    """Bob asked Ada and Cy, and is the settler."""
    row = {
        "id": Q,
        "from": "human:bob",
        "to": list(to),
        "kind": kind,
        "body": "Ship it?",
        "choices": ["yes", "no"],
        "blocking": True,
        "hlc": f"{START_MS}.0000.{BOB}",
    }
    homes = {"human:ada": ADA, "human:cy": CY}
    remote = [
        {"message": Q, "recipient": each, "via": "direct", "homes": [homes[each]], "state": "notified"}
        for each in to
        if each in homes
    ]
    here = [
        {"id": f"d-{at}", "message": Q, "recipient": each, "state": "notified"}
        for at, each in enumerate(to)
        if each not in homes
    ]
    return Team(BOB).begin(store={"messages": [row], "deliveries": here}, remote=remote)


def asked_by_ada(*, at_once: bool = True, **members: Any) -> tuple[Team, Expected]:
    """Ada asked Bob and Cy, and it arrives at Bob's with the first step, unless it is held back."""
    team = Team(BOB).begin()
    asked: Json = {"kind": "question", "choices": ["yes", "no"], "blocking": True, **members}
    team.ada.mail([team.bob, team.cy], team.ada.message(1, ["human:bob", "human:cy"], **asked))
    return team, (team.sync() if at_once else ({"op": "sync"}, None))


def answer(team: Team, by: str, id: int, choice: str = "yes", **members: Any) -> None:
    """Someone answers the question, to its origin and everyone else in it."""
    mate = team.mates[by]
    asker = members.pop("asker", "human:bob")
    said: Json = {
        "kind": "answer",
        "replyTo": Q,
        "thread": Q,
        "choice": choice,
        "body": f"{mate.address} says {choice}.",
        **members,
    }
    readers = [each for each in (team.ada, team.bob, team.cy) if each is not mate]
    homes = {each.address: each for each in (team.ada, team.bob, team.cy)}
    targets = [target(asker, homes[asker])] if asker in homes else None
    mate.mail(readers, mate.message(id, asker, **said), targets)
