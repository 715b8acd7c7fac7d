"""What the vectors of receiving share: who writes to Bob, whose replica it is, and what comes of that."""

from typing import Any, Final

from vectors.authoring.federation.teams import ADA, Team, mid
from vectors.authoring.host_steps import delivery, who, world
from vectors.authoring.kit import Expected, Json, vector

TASK: Final = "task:t-0ddba1"
RUN: Final = "run:r-0dd001"
KILN: Final = "agent:ada/kiln"
M1, M2, M3, M4 = (mid(number) for number in (1, 2, 3, 4))
BEE: Final = who("human:bob")
STARTED: Final = world(startSession={"workItem": TASK.removeprefix("task:"), "session": RUN})


def case(
    id: str,
    title: str,
    team: Team,
    *steps: Expected,
    sections: tuple[str, ...] = ("F.5",),
    profile: str = "core",
    **then: Any,
) -> Json:
    return vector(
        f"receive.{id}", title, *steps, sections=sections, given=team.given, profile=profile, **then
    )


def refused(message_id: str, code: str, origin: str = ADA) -> Json:
    return {"to": [origin], "message": message_id, "code": code}


def at_bobs(message_id: str = M1, state: str = "notified", **more: Any) -> Json:
    return delivery(message_id, "human:bob", state, **more)
