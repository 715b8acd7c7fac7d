"""A few seeds over real far sides: what the machines of a team read and publish went through files, or through git."""

import gc

import pytest

from tests.simulation.acts import draw
from tests.simulation.carried import CarriedNetwork
from tests.simulation.network import lanes_of
from tests.simulation.run import NETWORKS, run
from tests.simulation.stage import stage_of


@pytest.mark.parametrize(
    ("over", "seed"), [("dir", 100), ("dir", 101), ("dir", 102), ("dir", 103), ("git", 100)]
)
def test_a_team_that_meets_over_a_real_far_side_keeps_its_promises(over: str, seed: int) -> None:
    outcome = run(draw(seed), over)
    assert outcome.broken is None, f"{outcome.broken}\n{outcome.where}"
    assert outcome.happened["push"] > 0


def test_what_machines_publish_is_on_the_real_far_side_and_what_acts_do_is_shown_there() -> None:
    stage = stage_of(draw(100), NETWORKS["dir"])
    machine = stage.machines[0]
    near = stage.network.transport_of(machine)
    assert isinstance(stage.network, CarriedNetwork)
    near.refresh()
    held = lanes_of(stage.network.main)
    assert {line.replica: [] for line in near.pull({}, budget=None)}.keys() == held.keys()
    (folder,) = stage.network.folder.iterdir()
    assert {path.name for path in (folder / "shared" / "fed").iterdir()} == held.keys()
    stage.network.main.hidden[machine.me] = 2
    near.refresh()
    assert len(list(near.lane(machine.me))) == 1
    for each in stage.machines:
        each.store.close()


def test_nothing_of_a_real_far_side_is_left_behind() -> None:
    stage = stage_of(draw(100), NETWORKS["dir"])
    assert isinstance(stage.network, CarriedNetwork)
    stage.network.transport_of(stage.machines[0]).refresh()
    folder = stage.network.folder
    assert folder.exists()
    for each in stage.machines:
        each.store.close()
    del stage, each
    gc.collect()
    assert not folder.exists()
