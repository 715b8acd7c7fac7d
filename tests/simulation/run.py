"""Running one script from its first act to its last check."""

import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.simulation import branch, hostile, knowledge, mail, team, trouble, work
from tests.simulation.acts import Script
from tests.simulation.carried import over_directory, over_git
from tests.simulation.checks import check
from tests.simulation.relay import over_relay
from tests.simulation.sharing import shared_answers
from tests.simulation.stage import FoundError, Making, Stage, over_memory, stage_of

DEEDS = (mail, work, knowledge, team, trouble, hostile, branch)
"""The rooms of acts, each of which adds its own to the registry by being imported."""


@dataclass(frozen=True)
class Outcome:
    """What came of a script: how often each thing happened, and the promise that was broken, if one was."""

    script: Script
    happened: Counter[str]
    broken: str | None = None
    where: str | None = None
    """Where in the code a broken promise showed."""


NETWORKS: Final[Mapping[str, Making]] = {
    "memory": over_memory,
    "dir": over_directory,
    "git": over_git,
    "relay": over_relay,
}
"""What teams may meet over, by name."""


def run(script: Script, over: str = "memory") -> Outcome:
    """Perform a script over one of NETWORKS, heal the team and check it."""
    stage = stage_of(script, NETWORKS[over])
    try:
        with shared_answers():
            _perform(stage)
    except FoundError as found:
        return Outcome(script, stage.happened, f"{found}")
    except Exception as error:  # noqa: BLE001 - any other exception of the node is a broken promise too
        where = "".join(traceback.format_exception(error)[-6:])
        return Outcome(script, stage.happened, f"{type(error).__name__}: {error}", where)
    finally:
        for machine in stage.machines:
            machine.store.close()
    return Outcome(script, stage.happened)


def _perform(stage: Stage) -> None:
    for act in stage.script.acts:
        stage.perform(act)
    stage.heal()
    check(stage)
