"""The orchard that the vectors of the host core happen in."""

from typing import Any, Final

from vectors.authoring.cast import LIMITS
from vectors.authoring.host_steps import SYSTEM, who
from vectors.authoring.kit import Json

MEI: Final = "human:mei"
TOMAS: Final = "human:tomas"
INES: Final = "human:ines"

PRUNE: Final = "task:t-00b001"
PRUNE_1: Final = "run:r-00b011"
PRUNE_2: Final = "run:r-00b012"
PICK: Final = "task:t-00b002"
PICK_1: Final = "run:r-00b021"
PICK_2: Final = "run:r-00b022"
WEIGH: Final = "task:t-00b003"
WEIGH_1: Final = "run:r-00b031"
AUX: Final = "run:r-00b0a1"
STRANGE: Final = "run:r-00b0ff"
"""A session of no work item that nobody ever started."""

SHED: Final = "agent:mei/shed"
KILN: Final = "agent:tomas/kiln"

AS_MEI: Final = who(MEI)
AS_TOMAS: Final = who(TOMAS)
AS_INES: Final = who(INES)
DECIDER: Final = who(INES, decides=True)
AS_SYSTEM: Final = who(SYSTEM)
AS_PRUNE_1: Final = who(PRUNE_1)
AS_PRUNE_2: Final = who(PRUNE_2)
AS_PICK_1: Final = who(PICK_1)
AS_AUX: Final = who(AUX)
AS_SHED: Final = who(SHED)
AS_KILN: Final = who(KILN)


def agent(address: str, status: str = "approved", **more: Any) -> Json:
    return {"address": address, "status": status, **more}


def channel(name: str, *members: str) -> Json:
    return {"name": name, "members": list(members)}


def orchard(*items: Json, **more: Any) -> Json:
    """A world with these work items, and whatever else is given; its limits are explicit (section 12.3)."""
    found: Json = {"workItems": list(items)} if items else {}
    return {**found, **more, "limits": more.get("limits", LIMITS)}
