"""Short ways to state the vectors of the class `a2a-binding`, and who they are about.

Nora owns the project; `CLIENT` is an A2A client of hers, approved, and `STRANGER` another one.
"""

from typing import Any, Final

from vectors.authoring.cast import LIMITS, NORA
from vectors.authoring.kit import Json

ENVELOPE: Final = "https://dispatch.foo/a2a/ext/envelope/v1"

CLIENT: Final = "agent:nora/a2a.survey"
STRANGER: Final = "agent:nora/a2a.bureau"
PEER: Final = "a2a:bureau"

UNSEEN: Final = "m-nobodyknows"

REACHED: Final = {
    "agents": [{"address": CLIENT, "status": "approved"}, {"address": STRANGER, "status": "approved"}],
    "external": {CLIENT: "client", STRANGER: "client", PEER: "peer"},
    "owner": NORA,
    "limits": LIMITS,
}
"""A world with two clients and a peer."""


def reads(raw: Any, extension: str = "envelope") -> Json:
    """Check an extension's metadata alone."""
    return {"op": "a2a.validate", "extension": extension, "raw": raw}


def arrives(
    body: Any, envelope: Any = None, *, data: list[Any] | None = None, answers: str | None = None
) -> Json:
    """A client's message arrives; `data` are its data parts, `answers` the question that its task asks."""
    step: Json = {"op": "a2a.inbound", "as": CLIENT, "envelope": envelope, "body": body}
    if data is not None:
        step["parts"] = data
    return step if answers is None else {**step, "answers": answers}


def projected(**facts: Any) -> Json:
    """Decide the state of a task with these facts."""
    return {"op": "a2a.project", "facts": facts}


def admitted(recipient: str, message_id: str) -> Json:
    return {"hook": "admitExternal", "recipient": recipient, "message": message_id}
