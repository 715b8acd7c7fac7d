"""What no other vector told from a fault that was planted (`vectors/mutants`)."""

from typing import Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE,
    COVE_1,
    LEE,
    SCOUT,
    SCOUT_APPROVED,
    given,
    item,
    published,
)
from vectors.authoring.host_steps import delivery, message, ok, send, vector, who
from vectors.authoring.kit import Json

_EMPTY_AT: Final = [{"type": "file", "id": "plan.md", "at": ""}]

VECTORS: Final[list[Json]] = [
    vector(
        "core.faults.an-agents-request-wakes-no-agent",
        "A session's wake request to an agent install leaves it in its mailbox, and asks the policy nothing",
        ok(send(who(COVE_1), message(SCOUT, "Anything new?", wake="request"))),
        given=given(
            workItems=[item(COVE, COVE_1)],
            agents=[SCOUT_APPROVED],
            owner=LEE,
            rulings={SCOUT: "allow"},
        ),
        deliveries=[delivery("$s1", SCOUT, "held", session=None)],
        calls=[published("$s1")],
        noOtherMessages=True,
        sections=["6.5"],
    ),
    vector(
        "core.faults.an-empty-at-is-kept",
        "A ref's at may be empty, and is stored so",
        ok(send(BYSTANDER, message(COVE, "Have a look.", refs=_EMPTY_AT))),
        given=given(workItems=[item(COVE)]),
        messages=[{"id": "$s1", "refs": _EMPTY_AT}],
        sections=["4.3"],
    ),
]
