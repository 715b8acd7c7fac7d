"""Three hundred seeds: every promise is kept, and everything that can go wrong went wrong often."""

import fcntl
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.simulation.acts import CRASHES, FAULTS, FEWEST, FEWEST_ACTS, MOST, Act, Script, draw
from tests.simulation.network import lanes_of
from tests.simulation.registry import DEEDS
from tests.simulation.run import run
from tests.simulation.shrink import as_code, shrink
from tests.simulation.stage import stage_of

SEEDS = 300
AT_A_TIME = 10
OFTEN = 20


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all processes of this test run."""
    return tmp_path_factory.getbasetemp().parent / "simulation"


@contextmanager
def held(path: Path) -> Iterator[None]:
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_group(folder: Path, group: int) -> tuple[Counter[str], list[str]]:
    """Run ten seeds, unless another process did: what happened, and what was broken."""
    kept = folder / f"{group}.json"
    with held(folder / f"{group}.lock"):
        if not kept.exists():
            happened: Counter[str] = Counter()
            broken = []
            for seed in range(group * AT_A_TIME, (group + 1) * AT_A_TIME):
                outcome = run(draw(seed))
                happened += outcome.happened
                if outcome.broken is not None:
                    broken.append(f"seed {seed}: {outcome.broken}\n{outcome.where or ''}")
            kept.write_text(json.dumps([happened, broken]))
        found = json.loads(kept.read_text())
    return Counter(found[0]), found[1]


@pytest.mark.parametrize("group", range(SEEDS // AT_A_TIME))
def test_a_team_keeps_its_promises_whatever_happens_to_it(folder: Path, group: int) -> None:
    _, broken = run_group(folder, group)
    assert not broken, "\n".join([*broken, "to see it again: python -m tests.simulation --seed SEED"])


def test_every_act_fault_and_crash_happened_often(folder: Path) -> None:
    happened: Counter[str] = Counter()
    for group in range(SEEDS // AT_A_TIME):
        happened += run_group(folder, group)[0]
    seldom = {what: happened[what] for what in DEEDS if happened[what] < OFTEN}
    seldom |= {
        f"fault {each}": happened[f"fault {each}"] for each in FAULTS if happened[f"fault {each}"] < OFTEN
    }
    assert not seldom
    died = {(point, when) for point in CRASHES for when in ("before", "after")}
    never = {at for at in died if not happened[f"crash {at[0]} {at[1]}"]}
    assert len(never) < len(died) / 4, (
        f"test_crashes visits each; here machines seldom die at {sorted(never)}"
    )


@pytest.mark.parametrize("seed", [0, 1, 10_000])
def test_a_seed_draws_the_same_script_every_time(seed: int) -> None:
    script = draw(seed)
    assert script == draw(seed) != draw(seed + 1)
    assert len(script.acts) >= FEWEST_ACTS
    assert FEWEST <= script.size <= MOST


@pytest.mark.parametrize("seed", [7, 8])
def test_a_script_runs_the_same_way_every_time(seed: int) -> None:
    def far_side() -> dict[str, list[bytes]]:
        stage = stage_of(draw(seed))
        for act in stage.script.acts:
            stage.perform(act)
        return lanes_of(stage.network.main)

    assert far_side() == far_side()


def test_a_failing_script_is_shrunk_to_the_acts_it_needs() -> None:
    script = draw(3)
    needed = script.acts[5], script.acts[40]

    def fails(tried: Script) -> bool:
        return all(any(act.seed == each.seed for act in tried.acts) for each in needed)

    found = shrink(script, fails)
    assert [act.seed for act in found.acts] == [act.seed for act in needed]
    assert all(not act.faults and act.crash is None for act in found.acts)


def test_the_code_of_a_script_makes_it_again() -> None:
    script = draw(11)
    code = as_code(script)
    made = code[code.index("Script(seed") : code.index("\n)))")] + "\n))"
    again = eval(made, {"Act": Act, "Script": Script})
    assert again == script
