"""The simulator finds what it is there to find: each of these faults, planted in the node, within a few seeds."""

from collections.abc import Callable
from typing import Any

import pytest

from replica import sync
from replica.chain.outcome import Outcome
from replica.mail import receive, reports, teammates
from replica.shared import fold
from tests.simulation.acts import draw
from tests.simulation.run import run

SEEDS = 15


def nothing(*_: Any, **__: Any) -> Any:
    return None


def found(words: str) -> bool:
    """Whether some seed breaks a promise in these words."""
    return any(words in (run(draw(seed)).broken or "") for seed in range(SEEDS))


@pytest.mark.parametrize(
    ("room", "name", "instead", "words"),
    [
        (teammates, "refuse_local_only", nothing, "local-only"),
        (sync, "withdraw_from_leavers", nothing, "in the team no more"),
        (receive.Receiver, "receive", lambda *_: Outcome.NOTHING, "is lost on its way"),
        (reports, "apply_settle", lambda *_: False, "has another answer"),
        (reports, "_report", lambda *_: False, "its homes,"),
        (fold, "is_stale", lambda *_: False, "differ in"),
    ],
)
def test_a_planted_fault_is_found(
    monkeypatch: pytest.MonkeyPatch, room: Any, name: str, instead: Callable[..., Any], words: str
) -> None:
    monkeypatch.setattr(room, name, instead)
    assert found(words)
