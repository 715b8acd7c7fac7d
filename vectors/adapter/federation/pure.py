"""The steps of the class `federation` that need no replica."""

from typing import Final

from vectors.adapter.federation import chains, keys, rosters
from vectors.adapter.federation.given_lines import Json, StepError

PURE: Final = {**chains.STEPS, **keys.STEPS, **rosters.STEPS}


def outcome(step: Json) -> Json:
    """Run one of them."""
    try:
        return {"ok": True, "result": PURE[step["op"]](step)}
    except StepError as refusal:
        reason = {} if refusal.reason is None else {"reason": refusal.reason}
        return {"ok": False, "error": {"code": "invalid", **reason}}
