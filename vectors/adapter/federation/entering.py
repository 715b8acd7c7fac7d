"""Steps by which a replica gets into a team, and an admin's that says how others may."""

from collections.abc import Callable, Mapping
from typing import Final

from replica.sync import SyncPass
from replica.team.recovery import new_recovery_key, recover
from replica.team.trust import trust
from vectors.adapter.federation.given_lines import Json
from vectors.adapter.members import Members


def _recover(sync: SyncPass, step: Members) -> Json:
    return {"already": recover(sync, step.text("code")).already}


def _new_code(sync: SyncPass, _step: Members) -> Json:
    return {"code": new_recovery_key(sync).code}


def _trust(sync: SyncPass, step: Members) -> Json:
    return {"already": trust(sync, step.text("fingerprint")).already}


STEPS: Final[Mapping[str, Callable[[SyncPass, Members], Json]]] = {
    "recoverTeam": _recover,
    "newRecoveryCode": _new_code,
    "trustFounder": _trust,
}
