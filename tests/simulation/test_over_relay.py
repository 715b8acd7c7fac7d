"""A few seeds over a relay, client and server of the real one joined by function calls."""

import pytest

from tests.simulation.acts import draw
from tests.simulation.network import lanes_of
from tests.simulation.relay import over_relay
from tests.simulation.run import run
from tests.simulation.stage import stage_of


@pytest.mark.parametrize("seed", range(6))
def test_a_team_that_meets_over_a_relay_keeps_its_promises(seed: int) -> None:
    outcome = run(draw(seed), "relay")
    assert outcome.broken is None, f"{outcome.broken}\n{outcome.where}"
    assert outcome.happened["push"] > 0


def test_a_script_runs_the_same_way_over_a_relay_every_time() -> None:
    def far_side() -> dict[str, list[bytes]]:
        stage = stage_of(draw(7), over_relay)
        for act in stage.script.acts:
            stage.perform(act)
        return lanes_of(stage.network.main)

    assert far_side() == far_side()
